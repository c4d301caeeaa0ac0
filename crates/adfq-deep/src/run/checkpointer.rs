//! When a run is saved and which files stay: the observer that takes checkpoints, and what becomes of them on the threads
//! that write. A checkpoint counts once its file has its name: the logs and the segments that it needs are on disk by then,
//! and only after that are older ones removed.

use super::checkpoint::{LogLengths, SegmentEntry, Snapshot, write_segment};
use super::folder::{
    EVALUATIONS, EVENTS, METRICS, RESULT, STEP, best_name, is_for_good, is_ours, is_segment, kept_name,
};
use super::writer::{Room, Writer};
use super::{Best, Run, Summary};
use crate::evaluate::Evaluation;
use crate::replay::Segment;
use crate::trainer::Observer;
use crate::{Error, Result};
use adfq_files::{Folder, Lock, Syncer};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many checkpoints are kept: should the last one not be readable, there is one before it.
const KEPT: usize = 2;

/// A checkpoint that is there, or will be.
pub(super) struct Kept {
    name: String,
    /// The segments that it needs.
    segments: Vec<SegmentEntry>,
    /// The best checkpoint that it knows of.
    best: Option<String>,
}

impl Kept {
    pub fn new(name: String, segments: &[SegmentEntry], run: &Run) -> Self {
        Self { name, segments: segments.to_vec(), best: run.best.map(|best| best_name(best.step)) }
    }

    /// The files that must stay for it.
    fn files(&self) -> impl Iterator<Item = String> {
        let segments = self.segments.iter().map(SegmentEntry::file_name);
        segments.chain([self.name.clone()]).chain(self.best.clone())
    }
}

/// Takes checkpoints, keeps the last two, and writes `result.json` at the end.
pub(super) struct Checkpointer {
    /// Dropped before the lock: what it has yet to write belongs to who holds the folder.
    writer: Writer,
    lock: Lock,
    files: Arc<Files>,
    /// Up to which slot the replay memory of each environment is on disk, or on its way there.
    saved: Vec<u64>,
    segments: Vec<SegmentEntry>,
    /// The task that writes the last checkpoint.
    last: u64,
    keeps_replay: bool,
}

impl Checkpointer {
    /// For a run of so many environments whose folder is held, and whose replay memory is in these segments.
    pub fn new(
        lock: Lock,
        files: Files,
        segments: Vec<SegmentEntry>,
        envs: usize,
        keeps_replay: bool,
    ) -> Self {
        let mut saved = vec![0; envs];
        for entry in &segments {
            saved[entry.env] = saved[entry.env].max(entry.end());
        }
        Self {
            writer: Writer::default(),
            lock,
            files: Arc::new(files),
            saved,
            segments,
            last: 0,
            keeps_replay,
        }
    }

    /// Has the slots written that are new since the last checkpoint.
    fn add_new_segments(&mut self, run: &Run) -> Result<()> {
        for env in 0..self.saved.len() {
            let mut room = Room::take(run.replay.bytes_since(env, self.saved[env])?);
            let segment = run.replay.since(env, self.saved[env])?;
            if segment.count > 0 {
                room.shrink(segment.stored_bytes());
                let entry = SegmentEntry { env, first: segment.first, count: segment.count, step: run.step };
                self.saved[env] = entry.end();
                self.segments.push(entry.clone());
                let files = self.files.clone();
                self.writer.add(room, move || {
                    files.run.check_there()?;
                    let segment = Segment { frames: segment.frames.compressed(), ..segment };
                    write_segment(&files.checkpoints, &entry, &segment)
                });
            }
            let oldest = run.replay.kept(env)?.start;
            self.segments.retain(|entry| entry.env != env || entry.end() > oldest);
        }
        Ok(())
    }

    /// Has a checkpoint written to look at, from which nothing goes on.
    fn add_without_memory(&mut self, run: &Run, name: String) -> Result<()> {
        let room = Room::take(Snapshot::bytes(run));
        let snapshot = Snapshot::without_memory(run, self.log_lengths()?)?;
        let files = self.files.clone();
        self.writer.add(room, move || {
            files.run.check_there()?;
            snapshot.write(&files.checkpoints, &name)
        });
        Ok(())
    }

    fn log_lengths(&self) -> Result<LogLengths> {
        let length = |name: &str| self.lock.folder().len_of(name).map(Option::unwrap_or_default);
        Ok(LogLengths {
            metrics: length(METRICS)?,
            evaluations: length(EVALUATIONS)?,
            events: length(EVENTS)?,
        })
    }

    /// A file that cannot be removed is left: the run is finished all the same.
    fn give_replay_back(&mut self) -> Result<()> {
        let folder = &self.files.checkpoints;
        for name in folder.names()?.iter().filter(|name| is_ours(name) && is_segment(name)) {
            let _ = folder.remove(name);
        }
        Ok(())
    }
}

impl Observer for Checkpointer {
    /// Tells of a checkpoint that could not be written.
    fn stepped(&mut self, _: &Run) -> Result<()> {
        self.writer.check()
    }

    /// The best checkpoint needs no replay memory: nothing goes on from it.
    fn evaluated(&mut self, run: &Run, evaluation: &Evaluation) -> Result<()> {
        let Some(Best { step, .. }) = run.best.filter(|best| best.step == evaluation.step) else {
            return Ok(());
        };
        self.lock.folder().check_there()?;
        self.add_without_memory(run, best_name(step))
    }

    /// One checkpoint may be on its way to the disk. The next one waits for it.
    fn about_to_save(&mut self, _: &Run) -> Result<()> {
        self.writer.wait_for(self.last)
    }

    fn checkpoint(&mut self, run: &Run) -> Result<()> {
        self.about_to_save(run)?;
        self.lock.folder().check_there()?;
        if is_to_keep(run) {
            self.add_without_memory(run, kept_name(run.step))?;
        }
        let logs = self.log_lengths()?;
        self.add_new_segments(run)?;
        let room = Room::take(Snapshot::bytes(run));
        let snapshot = Snapshot::of(run, &self.segments, logs)?;
        let kept = Kept::new(format!("{STEP}{:012}.adfq", run.step), &self.segments, run);
        let files = self.files.clone();
        self.last = self.writer.add(room, move || files.add(&snapshot, kept));
        // The next checkpoint need not wait for this.
        let files = self.files.clone();
        self.writer.add(Room::take(0), move || files.prune());
        Ok(())
    }

    fn settle(&mut self) -> Result<()> {
        self.writer.wait()
    }

    fn finished(&mut self, _: &Run, summary: &Summary) -> Result<()> {
        self.writer.wait()?;
        let unfit = |error: serde_json::Error| Error::State(error.to_string());
        let mut json = serde_json::to_vec_pretty(summary).map_err(unfit)?;
        json.push(b'\n');
        self.lock.folder().write(RESULT, &json)?;
        if self.keeps_replay { Ok(()) } else { self.give_replay_back() }
    }
}

/// Whether what was learned by now stays for good.
fn is_to_keep(run: &Run) -> bool {
    let (every, before) = (run.config.logging.keep, run.step.saturating_sub(run.config.envs as u64));
    every > 0 && run.step / every != before / every
}

/// The files of a run, as the threads that write see them.
pub(super) struct Files {
    /// The run folder.
    run: Folder,
    checkpoints: Folder,
    logs: Vec<Syncer>,
    /// Kept checkpoints, oldest first.
    kept: Mutex<Vec<Kept>>,
}

impl Files {
    /// The run folder, that of the checkpoints in it, its logs, and the checkpoints that are there.
    pub fn new(run: Folder, checkpoints: Folder, logs: Vec<Syncer>, kept: Vec<Kept>) -> Self {
        Self { run, checkpoints, logs, kept: Mutex::new(kept) }
    }

    /// Writes a checkpoint whose segments are written.
    fn add(&self, snapshot: &Snapshot, new: Kept) -> Result<()> {
        self.run.check_there()?;
        self.logs.iter().try_for_each(Syncer::sync)?;
        self.checkpoints.sync_names()?;
        snapshot.write(&self.checkpoints, &new.name)?;
        let mut kept = self.kept();
        kept.retain(|kept| kept.name != new.name);
        kept.push(new);
        Ok(())
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes what no kept checkpoint needs. A file that cannot be removed is left for the next time.
    fn prune(&self) -> Result<()> {
        let mut kept = self.kept();
        // After a resume only one checkpoint is known; the one before it stays until there is another.
        let Some(surplus) = kept.len().checked_sub(KEPT) else { return Ok(()) };
        kept.drain(..surplus);
        let needed: Vec<String> = kept.iter().flat_map(Kept::files).collect();
        for name in self.checkpoints.names()? {
            if is_ours(&name) && !is_for_good(&name) && !needed.iter().any(|needed| name == needed.as_str()) {
                let _ = self.checkpoints.remove(&name);
            }
        }
        Ok(())
    }
}

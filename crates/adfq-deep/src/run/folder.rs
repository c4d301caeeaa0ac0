//! A run folder: what a training run leaves on disk, and how it is taken up again.
//!
//! ```text
//! config.toml           all that decides the run
//! metrics.csv           a row every so many steps
//! evaluations.csv       every evaluation episode
//! events.out.tfevents…  the same for TensorBoard
//! checkpoints/          the last two checkpoints and the replay segments they need
//! result.json           written at the end
//! ```

use super::checkpoint::{self, LogLengths, Restored, SegmentEntry};
use super::logs::{Clock, CsvLogs, TensorBoard};
use super::{Run, Summary};
use crate::learner::Learner;
use crate::trainer::{Observer, Observers};
use crate::{Config, Error, Host, Result};
use adfq_files::{Lock, create_folder, write_atomic};
use std::fs;
use std::path::{Path, PathBuf};

/// The file that says what is run.
pub const CONFIG: &str = "config.toml";
/// The file with a row of metrics every so many steps.
pub const METRICS: &str = "metrics.csv";
/// The file with a row for each evaluation episode.
pub const EVALUATIONS: &str = "evaluations.csv";
/// Its first line.
pub const EVALUATIONS_HEADER: &str = "step,episode,return,clipped_return,length";
pub(super) const EVENTS: &str = "events.out.tfevents.0.adfq";
const RESULT: &str = "result.json";
const CHECKPOINTS: &str = "checkpoints";
/// What a run that was killed at its very start may leave behind.
const LEFT_BEHIND: [&str; 2] = [".lock", ".adfq-partial"];
/// How many checkpoints are kept: should the last one not be readable, there is one before it.
const KEPT: usize = 2;

/// A run folder that this process holds.
pub struct RunFolder {
    folder: PathBuf,
    lock: Lock,
    logs: LogLengths,
    segments: Vec<SegmentEntry>,
    kept: Vec<(PathBuf, Vec<SegmentEntry>)>,
}

impl RunFolder {
    /// The folder of a run before its first step; it must hold no run yet.
    pub fn create(folder: &Path, run: &Run) -> Result<Self> {
        create_folder(folder)?;
        if folder.join(CONFIG).exists() {
            return Err(Error::RunExists { path: folder.to_owned() });
        }
        // What is there belongs to somebody: a log of the same name would be lost.
        let left_behind =
            |path: &PathBuf| LEFT_BEHIND.iter().any(|end| path.to_string_lossy().ends_with(end));
        if let Some(found) = files(folder)?.into_iter().find(|path| !left_behind(path)) {
            return Err(Error::NotEmpty { path: folder.to_owned(), found });
        }
        let lock = Lock::acquire(folder)?;
        write_atomic(folder.join(CONFIG), run.config().to_toml()?.as_bytes())?;
        create_folder(&folder.join(CHECKPOINTS))?;
        Ok(Self::open(folder, lock, LogLengths::default(), vec![], vec![]))
    }

    /// Takes up a run where its last good checkpoint left it, or from the start if there is none yet. Checkpoints that
    /// could not be used are named in the list of warnings; if there are only such, that is an error and nothing changes.
    pub fn resume(folder: &Path, host: &Host) -> Result<(Self, Run, Vec<String>)> {
        let config = read_config(folder)?;
        let lock = Lock::acquire(folder)?;
        create_folder(&folder.join(CHECKPOINTS))?;
        let mut unusable: Vec<Error> = vec![];
        for path in checkpoints(folder)?.into_iter().rev() {
            match restore(&path, &config, host) {
                Ok(Restored { run, segments, logs }) => {
                    let kept = vec![(path, segments.clone())];
                    let warn = |error: Error| format!("{error}; an earlier checkpoint is used");
                    let warnings = unusable.into_iter().map(warn).collect();
                    return Ok((Self::open(folder, lock, logs, segments, kept), run, warnings));
                }
                // A memory that is too small, say, or an environment that cannot be made is no fault of the file.
                Err(error @ (Error::File(_) | Error::Checkpoint { .. } | Error::Replay(_))) => {
                    unusable.push(error);
                }
                Err(error) => return Err(error),
            }
        }
        if let Some(error) = unusable.into_iter().next() {
            return Err(error);
        }
        let run = Run::new(&config, host)?;
        Ok((Self::open(folder, lock, LogLengths::default(), vec![], vec![]), run, vec![]))
    }

    fn open(
        folder: &Path,
        lock: Lock,
        logs: LogLengths,
        segments: Vec<SegmentEntry>,
        kept: Vec<(PathBuf, Vec<SegmentEntry>)>,
    ) -> Self {
        Self { folder: folder.to_owned(), lock, logs, segments, kept }
    }

    /// What writes to the folder while the run trains: logs, and then the checkpointer, which notes how long they are.
    pub fn observers(self, run: &Run, clock: Clock) -> Result<Observers<'static>> {
        let mut saved = vec![0; run.config.envs];
        for SegmentEntry { env, first, count } in &self.segments {
            saved[*env] = saved[*env].max(first + count);
        }
        let Self { folder, lock, logs, segments, kept } = self;
        let csv = CsvLogs::open(&folder, logs, run.learner.algorithm.metrics())?;
        let events = TensorBoard::open(&folder, logs.events, clock)?;
        let checkpointer = Checkpointer { folder, saved, segments, kept, _lock: lock };
        Ok(vec![Box::new(csv), Box::new(events), Box::new(checkpointer)])
    }
}

/// Writes checkpoints, keeps the last two, and writes `result.json` at the end.
struct Checkpointer {
    folder: PathBuf,
    /// Up to which slot the replay memory of each environment is on disk.
    saved: Vec<u64>,
    segments: Vec<SegmentEntry>,
    /// Kept checkpoints with their segments, oldest first.
    kept: Vec<(PathBuf, Vec<SegmentEntry>)>,
    _lock: Lock,
}

impl Checkpointer {
    fn write_new_segments(&mut self, run: &Run) -> Result<()> {
        let folder = self.folder.join(CHECKPOINTS);
        for env in 0..self.saved.len() {
            let segment = run.replay.since(env, self.saved[env])?;
            if segment.count > 0 {
                let entry = SegmentEntry { env, first: segment.first, count: segment.count };
                checkpoint::write_segment(&folder, &entry, &segment)?;
                self.saved[env] = entry.first + entry.count;
                self.segments.push(entry);
            }
            let oldest = run.replay.kept(env)?.start;
            self.segments.retain(|entry| entry.env != env || entry.first + entry.count > oldest);
        }
        Ok(())
    }

    /// Removes what no kept checkpoint needs. A file that cannot be removed is left for the next time.
    fn prune(&mut self) -> Result<()> {
        let surplus = self.kept.len().saturating_sub(KEPT);
        self.kept.drain(..surplus);
        let folder = self.folder.join(CHECKPOINTS);
        let needed: Vec<PathBuf> = self
            .kept
            .iter()
            .flat_map(|(path, segments)| {
                let segments = segments.iter().map(|entry| folder.join(entry.file_name()));
                segments.chain([path.clone()])
            })
            .collect();
        for path in files(&folder)?.into_iter().filter(|path| is_ours(path) && !needed.contains(path)) {
            let _ = fs::remove_file(path);
        }
        Ok(())
    }
}

impl Observer for Checkpointer {
    fn checkpoint(&mut self, run: &Run) -> Result<()> {
        let length = |name: &str| fs::metadata(self.folder.join(name)).map_or(0, |file| file.len());
        let (metrics, evaluations, events) = (length(METRICS), length(EVALUATIONS), length(EVENTS));
        let logs = LogLengths { metrics, evaluations, events };
        self.write_new_segments(run)?;
        let path = self.folder.join(CHECKPOINTS).join(format!("step-{:012}.adfq", run.step));
        checkpoint::write(&path, run, &self.segments, logs)?;
        self.kept.retain(|(kept, _)| *kept != path);
        self.kept.push((path, self.segments.clone()));
        self.prune()
    }

    fn finished(&mut self, _: &Run, summary: &Summary) -> Result<()> {
        let unfit = |error: serde_json::Error| Error::State(error.to_string());
        let mut json = serde_json::to_vec_pretty(summary).map_err(unfit)?;
        json.push(b'\n');
        Ok(write_atomic(self.folder.join(RESULT), &json)?)
    }
}

/// Whether a run writes a file of this name to its checkpoints: `step-N.adfq` or `replay-N-N-N.adfq`. All others are the
/// user's.
fn is_ours(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".adfq"));
    let are_numbers = |text: &str, count: usize| {
        let mut parts = text.split('-');
        parts.all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
            && text.split('-').count() == count
    };
    name.is_some_and(|name| {
        name.strip_prefix("step-").is_some_and(|rest| rest.len() >= 12 && are_numbers(rest, 1))
            || name.strip_prefix("replay-").is_some_and(|rest| are_numbers(rest, 3))
    })
}

/// The configuration of the run in this folder.
pub fn read_config(folder: &Path) -> Result<Config> {
    let path = folder.join(CONFIG);
    match fs::read_to_string(&path) {
        Ok(text) => Config::from_toml(&text),
        Err(error) => {
            let reason = format!("{CONFIG} cannot be read ({error})");
            Err(Error::NotARun { path: folder.to_owned(), reason })
        }
    }
}

/// What a finished run reached; none if it has not come to its end.
pub(crate) fn read_summary(folder: &Path) -> Result<Option<Summary>> {
    let path = folder.join(RESULT);
    match fs::read(&path) {
        Ok(json) => Ok(serde_json::from_slice(&json).ok()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(adfq_files::Error::io("read", &path, error).into()),
    }
}

/// The newest checkpoint of the run in this folder.
pub(crate) fn last_checkpoint(folder: &Path) -> Option<PathBuf> {
    checkpoints(folder).ok()?.pop()
}

/// The learner of the last good checkpoint, with its step; no lock is taken, a run under way may be read.
pub fn read_learner(folder: &Path, host: &Host) -> Result<(Config, Learner, u64)> {
    read_config(folder)?;
    let mut failure = None;
    for path in checkpoints(folder)?.iter().rev() {
        match checkpoint::read_learner(path, host) {
            Ok(found) => return Ok(found),
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    let reason = "it has no checkpoint yet".to_owned();
    Err(failure.unwrap_or(Error::NotARun { path: folder.to_owned(), reason }))
}

/// All checkpoints of a run, the last one last.
fn checkpoints(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = files(&folder.join(CHECKPOINTS))?;
    found.retain(|path| {
        is_ours(path) && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("step-"))
    });
    found.sort();
    Ok(found)
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let list = || fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>();
    list().map_err(|source| adfq_files::Error::io("list", folder, source).into())
}

/// The run of a checkpoint. Environments are made once the rest of it is found good.
fn restore(path: &Path, config: &Config, host: &Host) -> Result<Restored> {
    let saved = checkpoint::read(path, host)?;
    check_same(path, config, &saved.config)?;
    saved.take_up(host.envs(config)?, host.env(config, false)?)
}

fn check_same(path: &Path, file: &Config, checkpoint: &Config) -> Result<()> {
    if file == checkpoint {
        return Ok(());
    }
    let reason = format!("{CONFIG} was changed after the run began; undo the change, or start a new run");
    Err(Error::Checkpoint { path: path.to_owned(), reason })
}

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

use crate::checkpoint::{self, LogLengths, Restored, Saved, SegmentEntry};
use crate::config::{AgentKind, Config};
use crate::evaluate::Evaluation;
use crate::learner::Learner;
use crate::stats::{Episode, Metrics};
use crate::summary::Summary;
use crate::trainer::{Observer, Trainer};
use crate::{Error, Host, Result};
use adfq_files::tensorboard::EventWriter;
use adfq_files::{Appender, Lock, create_folder, write_atomic};
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
const EVENTS: &str = "events.out.tfevents.0.adfq";
const RESULT: &str = "result.json";
const CHECKPOINTS: &str = "checkpoints";
/// How many checkpoints are kept: should the last one not be readable, there is one before it.
const KEPT: usize = 2;

/// Seconds since 1970, for TensorBoard alone: nothing else in a run depends on a clock.
pub type Clock = Box<dyn FnMut() -> f64 + Send>;

/// A run folder that this process holds.
pub struct Run {
    folder: PathBuf,
    metrics: Appender,
    evaluations: Appender,
    events: EventWriter,
    clock: Clock,
    /// Up to which slot each lane is on disk.
    saved: Vec<u64>,
    segments: Vec<SegmentEntry>,
    /// Kept checkpoints with their segments, oldest first.
    kept: Vec<(PathBuf, Vec<SegmentEntry>)>,
    _lock: Lock,
}

impl Run {
    /// Starts a run in a folder that holds none yet.
    pub fn create(folder: &Path, config: &Config, host: &Host, clock: Clock) -> Result<(Self, Trainer)> {
        // Whatever is wrong with the configuration is said before anything is written.
        let trainer = Trainer::new(config, host)?;
        Ok((Self::start(folder, &trainer, clock)?, trainer))
    }

    /// The folder of a trainer before its first step; it must hold no run yet.
    pub fn start(folder: &Path, trainer: &Trainer, clock: Clock) -> Result<Self> {
        let config = trainer.config();
        create_folder(folder)?;
        let lock = Lock::acquire(folder)?;
        if folder.join(CONFIG).exists() {
            return Err(Error::RunExists { path: folder.to_owned() });
        }
        create_folder(&folder.join(CHECKPOINTS))?;
        write_atomic(folder.join(CONFIG), config.to_toml()?.as_bytes())?;
        Self::open(folder, lock, LogLengths::default(), vec![], vec![], config, clock)
    }

    /// Takes up a run where its last good checkpoint left it, or from the start if there is none yet. Checkpoints that
    /// could not be used are named in the list of warnings; if there are only such, that is an error and nothing changes.
    pub fn resume(folder: &Path, host: &Host, clock: Clock) -> Result<(Self, Trainer, Vec<String>)> {
        let config = read_config(folder)?;
        let lock = Lock::acquire(folder)?;
        create_folder(&folder.join(CHECKPOINTS))?;
        let mut unusable: Vec<Error> = vec![];
        for path in checkpoints(folder)?.into_iter().rev() {
            match restore(&path, &config, host) {
                Ok(Restored { trainer, segments, logs }) => {
                    let kept = vec![(path, segments.clone())];
                    let run = Self::open(folder, lock, logs, segments, kept, &config, clock)?;
                    let warn = |error: Error| format!("{error}; an earlier checkpoint is used");
                    return Ok((run, trainer, unusable.into_iter().map(warn).collect()));
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
        let trainer = Trainer::new(&config, host)?;
        let run = Self::open(folder, lock, LogLengths::default(), vec![], vec![], &config, clock)?;
        Ok((run, trainer, vec![]))
    }

    fn open(
        folder: &Path,
        lock: Lock,
        logs: LogLengths,
        segments: Vec<SegmentEntry>,
        kept: Vec<(PathBuf, Vec<SegmentEntry>)>,
        config: &Config,
        mut clock: Clock,
    ) -> Result<Self> {
        let mut saved = vec![0; config.envs];
        for SegmentEntry { lane, first, count } in &segments {
            saved[*lane] = saved[*lane].max(first + count);
        }
        let now = clock();
        let mut run = Self {
            metrics: Appender::open(folder.join(METRICS), logs.metrics)?,
            evaluations: Appender::open(folder.join(EVALUATIONS), logs.evaluations)?,
            events: EventWriter::open(folder.join(EVENTS), logs.events, now)?,
            folder: folder.to_owned(),
            clock,
            saved,
            segments,
            kept,
            _lock: lock,
        };
        if run.metrics.len() == 0 {
            let parts = config.agent == AgentKind::Split;
            run.metrics.write((Metrics::header(parts) + "\n").as_bytes())?;
        }
        if run.evaluations.len() == 0 {
            run.evaluations.write((EVALUATIONS_HEADER.to_owned() + "\n").as_bytes())?;
        }
        Ok(run)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Says what the run reached, in `result.json` too.
    pub fn finish(&self, trainer: &Trainer) -> Result<Summary> {
        let not_finished = |reason: String| Error::NotARun { path: self.folder.clone(), reason };
        let evaluation =
            trainer.evaluated.as_ref().ok_or_else(|| not_finished("it was never evaluated".into()))?;
        let summary = Summary::new(trainer, evaluation);
        let mut json =
            serde_json::to_vec_pretty(&summary).map_err(|error| not_finished(error.to_string()))?;
        json.push(b'\n');
        write_atomic(self.folder.join(RESULT), &json)?;
        Ok(summary)
    }

    /// The last good checkpoint.
    pub fn last_checkpoint(&self) -> Option<&Path> {
        self.kept.last().map(|(path, _)| path.as_path())
    }

    fn write_new_segments(&mut self, trainer: &Trainer) -> Result<()> {
        let folder = self.folder.join(CHECKPOINTS);
        for lane in 0..self.saved.len() {
            let segment = trainer.replay.since(lane, self.saved[lane])?;
            if segment.count > 0 {
                let entry = SegmentEntry { lane, first: segment.first, count: segment.count };
                checkpoint::write_segment(&folder, &entry, &segment)?;
                self.saved[lane] = entry.first + entry.count;
                self.segments.push(entry);
            }
            let oldest = trainer.replay.kept(lane)?.start;
            self.segments.retain(|entry| entry.lane != lane || entry.first + entry.count > oldest);
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
        for path in files(&folder)? {
            if path.extension().is_some_and(|ending| ending == "adfq") && !needed.contains(&path) {
                let _ = fs::remove_file(path);
            }
        }
        Ok(())
    }
}

impl Observer for Run {
    fn metrics(&mut self, metrics: &Metrics) -> Result<()> {
        self.metrics.write((metrics.csv() + "\n").as_bytes())?;
        let now = (self.clock)();
        let scalars = metrics.scalars().skip(1).filter(|(_, value)| !value.is_nan());
        let named: Vec<_> = scalars.map(|(name, value)| (format!("train/{name}"), value)).collect();
        let scalars: Vec<_> = named.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        Ok(self.events.scalars(now, metrics.step, &scalars)?)
    }

    fn evaluated(&mut self, evaluation: &Evaluation) -> Result<()> {
        let rows = evaluation.episodes.iter().enumerate();
        let rows: String = rows
            .map(|(i, &Episode { total, clipped, length })| {
                format!("{},{i},{total},{clipped},{length}\n", evaluation.step)
            })
            .collect();
        self.evaluations.write(rows.as_bytes())?;
        let returns = [
            ("evaluation/return", evaluation.mean()),
            ("evaluation/clipped_return", evaluation.mean_clipped()),
        ];
        Ok(self.events.scalars((self.clock)(), evaluation.step, &returns)?)
    }

    fn checkpoint(&mut self, trainer: &Trainer) -> Result<()> {
        self.metrics.sync()?;
        self.evaluations.sync()?;
        self.events.sync()?;
        let logs = LogLengths {
            metrics: self.metrics.len(),
            evaluations: self.evaluations.len(),
            events: self.events.len(),
        };
        self.write_new_segments(trainer)?;
        let path = self.folder.join(CHECKPOINTS).join(format!("step-{:012}.adfq", trainer.step));
        checkpoint::write(&path, trainer, &self.segments, logs)?;
        self.kept.retain(|(kept, _)| *kept != path);
        self.kept.push((path, self.segments.clone()));
        self.prune()
    }
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

/// The learner of the last good checkpoint, with its step; no lock is taken, a run under way may be read.
pub fn read_learner(folder: &Path) -> Result<(Config, Learner, u64)> {
    read_config(folder)?;
    let mut failure = None;
    for path in checkpoints(folder)?.iter().rev() {
        match checkpoint::read_learner(path) {
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
    found.retain(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("step-")));
    found.sort();
    Ok(found)
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let list = || fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>();
    list().map_err(|source| adfq_files::Error::io("list", folder, source).into())
}

/// The trainer of a checkpoint. Environments are made once the rest of it is found good.
fn restore(path: &Path, config: &Config, host: &Host) -> Result<Restored> {
    let saved: Saved = checkpoint::read(path, host.memory)?;
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

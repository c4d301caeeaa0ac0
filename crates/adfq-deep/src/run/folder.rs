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
//!
//! A folder may come from a stranger: no link in it is followed ([`Folder`]).

use super::checkpoint::{self, LogLengths, Restored, Saved, SegmentEntry};
use super::logs::{Clock, CsvLogs, TensorBoard, what_is_left};
use super::{Run, Summary};
use crate::learner::Learner;
use crate::trainer::{Observer, Observers};
use crate::{Config, Error, Host, Result};
use adfq_files::{Folder, Lock};
use std::ffi::OsStr;
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
    lock: Lock,
    checkpoints: Folder,
    logs: LogLengths,
    segments: Vec<SegmentEntry>,
    kept: Vec<Kept>,
}

/// A checkpoint that is there, by its name, with the segments that it needs.
type Kept = (String, Vec<SegmentEntry>);

impl RunFolder {
    /// The folder of a run before its first step; it must hold no run yet.
    pub fn create(path: &Path, run: &Run) -> Result<Self> {
        let folder = Folder::create(path)?;
        if folder.has(CONFIG) {
            return Err(Error::RunExists { path: path.to_owned() });
        }
        // What is there belongs to somebody: a log of the same name would be lost.
        let left_behind = |name: &str| LEFT_BEHIND.iter().any(|end| name.ends_with(end));
        if let Some(found) = folder.names()?.iter().find(|name| !left_behind(&name.to_string_lossy())) {
            return Err(Error::NotEmpty { path: path.to_owned(), found: path.join(found) });
        }
        let lock = Lock::acquire_open(folder)?;
        lock.folder().write(CONFIG, run.config().to_toml()?.as_bytes())?;
        Self::new_run(lock)
    }

    /// Takes up a run where its last good checkpoint left it, or from the start if there is none yet. Checkpoints that
    /// could not be used are named in the list of warnings, and so are logs that have lost something. If there are
    /// only unusable checkpoints, that is an error and nothing changes.
    pub fn resume(folder: &Path, host: &Host) -> Result<(Self, Run, Vec<String>)> {
        Self::take_up(folder, host, false)
    }

    /// The same. If no checkpoint is whole because pieces of the replay memory cannot be read, the last one is used without
    /// them: of each environment only what came after the last such piece is remembered, and the memory fills again. The
    /// run is then not exact, and says so ([`Summary::exact`]).
    pub fn refill(folder: &Path, host: &Host) -> Result<(Self, Run, Vec<String>)> {
        Self::take_up(folder, host, true)
    }

    fn take_up(path: &Path, host: &Host, refill: bool) -> Result<(Self, Run, Vec<String>)> {
        let config = read_config(path)?;
        let lock = Lock::acquire(path)?;
        let checkpoints = lock.folder().create_child(CHECKPOINTS)?;
        check_entries(lock.folder(), &checkpoints)?;
        let mut search = find_usable(&checkpoints, &config, host, checkpoint::read)?;
        if let (Search::Unusable(_), true) = (&search, refill) {
            search = find_usable(&checkpoints, &config, host, checkpoint::read_rest)?;
        }
        let (name, restored, unusable) = match search {
            Search::Found(name, restored, unusable) => (name, restored, unusable),
            Search::Unusable(errors) => return Err(most_telling(errors)),
            Search::None => return Ok((Self::new_run(lock)?, Run::new(&config, host)?, vec![])),
        };
        let Restored { run, segments, logs } = *restored;
        let warn = |error: &Error| format!("{error}; an earlier checkpoint is used");
        let mut warnings: Vec<String> = unusable.iter().map(warn).collect();
        warnings.extend(run.lost().iter().map(|lost| {
            format!("this run is not exact: {lost} was lost from its replay memory, which fills again")
        }));
        let (logs, gone) = what_is_left(lock.folder(), logs, run.step())?;
        warnings.extend(gone);
        let kept = vec![(name, segments.clone())];
        Ok((Self { lock, checkpoints, logs, segments, kept }, run, warnings))
    }

    /// A folder without checkpoints.
    fn new_run(lock: Lock) -> Result<Self> {
        let checkpoints = lock.folder().create_child(CHECKPOINTS)?;
        Ok(Self { lock, checkpoints, logs: LogLengths::default(), segments: vec![], kept: vec![] })
    }

    /// What writes to the folder while the run trains: logs, and then the checkpointer, which notes how long they are.
    pub fn observers(self, run: &Run, clock: Clock) -> Result<Observers<'static>> {
        let mut saved = vec![0; run.config.envs];
        for entry in &self.segments {
            saved[entry.env] = saved[entry.env].max(entry.end());
        }
        let Self { lock, checkpoints, logs, segments, kept } = self;
        let csv = CsvLogs::open(lock.folder(), logs, run.learner.algorithm.metrics())?;
        let events = TensorBoard::open(lock.folder(), logs.events, run.config(), clock)?;
        let checkpointer = Checkpointer { lock, checkpoints, saved, segments, kept };
        Ok(vec![Box::new(csv), Box::new(events), Box::new(checkpointer)])
    }
}

/// An error if something has the name of a file of ours and is none: better now than when it is written.
fn check_entries(folder: &Folder, checkpoints: &Folder) -> Result<()> {
    for name in [CONFIG, METRICS, EVALUATIONS, EVENTS, RESULT] {
        folder.check_own(name)?;
    }
    for name in checkpoints.names()?.iter().filter(|name| is_ours(name)) {
        checkpoints.check_own(&name.to_string_lossy())?;
    }
    folder.remove_stale()?;
    Ok(checkpoints.remove_stale()?)
}

/// What a search for a checkpoint found.
enum Search {
    /// The last one that can be used, and why those after it cannot.
    Found(String, Box<Restored>, Vec<Error>),
    /// Only such as cannot be used, and why not; the last one first.
    Unusable(Vec<Error>),
    /// None at all.
    None,
}

fn find_usable(
    folder: &Folder,
    config: &Config,
    host: &Host,
    read: fn(&Folder, &str, &Host) -> Result<Saved>,
) -> Result<Search> {
    let mut unusable = vec![];
    for name in checkpoints(folder)?.into_iter().rev() {
        match restore(folder, &name, config, host, read) {
            Ok(restored) => return Ok(Search::Found(name, Box::new(restored), unusable)),
            Err(error) if is_fault_of_file(&error) => unusable.push(error),
            Err(error) => return Err(error),
        }
    }
    Ok(if unusable.is_empty() { Search::None } else { Search::Unusable(unusable) })
}

/// Whether a checkpoint is to blame. A memory that is too small, say, or an environment that cannot be made is no fault of
/// the file, and a link in its place is for the user to look at.
fn is_fault_of_file(error: &Error) -> bool {
    match error {
        Error::File(error) => !error.is_foreign_entry(),
        Error::Checkpoint { .. } | Error::Replay(_) | Error::Segment { .. } => true,
        _ => false,
    }
}

/// The one that can be helped, or that of the last checkpoint.
fn most_telling(mut errors: Vec<Error>) -> Error {
    let helped = errors.iter().position(|error| matches!(error, Error::Segment { .. }));
    errors.swap_remove(helped.unwrap_or(0))
}

/// Writes checkpoints, keeps the last two, and writes `result.json` at the end.
struct Checkpointer {
    lock: Lock,
    checkpoints: Folder,
    /// Up to which slot the replay memory of each environment is on disk.
    saved: Vec<u64>,
    segments: Vec<SegmentEntry>,
    /// Kept checkpoints, oldest first.
    kept: Vec<Kept>,
}

impl Checkpointer {
    fn write_new_segments(&mut self, run: &Run) -> Result<()> {
        for env in 0..self.saved.len() {
            let segment = run.replay.since(env, self.saved[env])?;
            if segment.count > 0 {
                let entry = SegmentEntry { env, first: segment.first, count: segment.count, step: run.step };
                checkpoint::write_segment(&self.checkpoints, &entry, &segment)?;
                self.saved[env] = entry.end();
                self.segments.push(entry);
            }
            let oldest = run.replay.kept(env)?.start;
            self.segments.retain(|entry| entry.env != env || entry.end() > oldest);
        }
        Ok(())
    }

    /// Removes what no kept checkpoint needs. A file that cannot be removed is left for the next time.
    fn prune(&mut self) -> Result<()> {
        // After a resume only one checkpoint is known; the one before it stays until there is another.
        let Some(surplus) = self.kept.len().checked_sub(KEPT) else { return Ok(()) };
        self.kept.drain(..surplus);
        let segments = self.kept.iter().flat_map(|(_, segments)| segments).map(SegmentEntry::file_name);
        let needed: Vec<String> = self.kept.iter().map(|(name, _)| name.clone()).chain(segments).collect();
        for name in self.checkpoints.names()? {
            if is_ours(&name) && !needed.iter().any(|needed| name == needed.as_str()) {
                let _ = self.checkpoints.remove(&name);
            }
        }
        Ok(())
    }
}

impl Observer for Checkpointer {
    fn checkpoint(&mut self, run: &Run) -> Result<()> {
        let folder = self.lock.folder();
        folder.check_there()?;
        let length = |name: &str| folder.len_of(name).map(Option::unwrap_or_default);
        let (metrics, evaluations, events) = (length(METRICS)?, length(EVALUATIONS)?, length(EVENTS)?);
        let logs = LogLengths { metrics, evaluations, events };
        self.write_new_segments(run)?;
        let name = format!("step-{:012}.adfq", run.step);
        checkpoint::write(&self.checkpoints, &name, run, &self.segments, logs)?;
        self.kept.retain(|(kept, _)| *kept != name);
        self.kept.push((name, self.segments.clone()));
        self.prune()
    }

    fn finished(&mut self, _: &Run, summary: &Summary) -> Result<()> {
        let unfit = |error: serde_json::Error| Error::State(error.to_string());
        let mut json = serde_json::to_vec_pretty(summary).map_err(unfit)?;
        json.push(b'\n');
        Ok(self.lock.folder().write(RESULT, &json)?)
    }
}

/// Whether a run writes a file of this name to its checkpoints: `step-N.adfq` or `replay-N-N-N.adfq`. All others are the
/// user's.
fn is_ours(name: &OsStr) -> bool {
    let name = name.to_str().and_then(|name| name.strip_suffix(".adfq"));
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

/// Whether there is a run in this folder, readable or not.
pub(crate) fn holds_run(folder: &Path) -> bool {
    Folder::open(folder).is_ok_and(|folder| folder.has(CONFIG))
}

/// The configuration of the run in this folder.
pub fn read_config(folder: &Path) -> Result<Config> {
    let not_a_run = |reason: String| {
        let reason = format!("{CONFIG} cannot be read ({reason})");
        Error::NotARun { path: folder.to_owned(), reason }
    };
    let bytes = match Folder::open(folder).and_then(|folder| folder.read(CONFIG)) {
        Err(adfq_files::Error::Io { source, .. }) => return Err(not_a_run(source.to_string())),
        read => read?,
    };
    let text = String::from_utf8(bytes).map_err(|error| not_a_run(error.to_string()))?;
    Config::from_toml(&text).map_err(|error| Error::in_file(&folder.join(CONFIG), error))
}

/// What a finished run reached; none if it has not come to its end.
pub(crate) fn read_summary(folder: &Path) -> Result<Option<Summary>> {
    match Folder::open(folder)?.read(RESULT) {
        Ok(json) => Ok(serde_json::from_slice(&json).ok()),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The newest checkpoint of the run in this folder.
pub(crate) fn last_checkpoint(folder: &Path) -> Option<PathBuf> {
    let folder = Folder::open(folder).and_then(|folder| folder.child(CHECKPOINTS)).ok()?;
    Some(folder.path().join(checkpoints(&folder).ok()?.pop()?))
}

/// What was learned in a run.
pub struct Loaded {
    /// Its configuration.
    pub config: Config,
    /// What learned.
    pub learner: Learner,
    /// The step of the checkpoint it is from.
    pub step: u64,
    /// What is wrong with later checkpoints, if it is not the last one.
    pub warnings: Vec<String>,
}

/// The learner of the last good checkpoint; no lock is taken, a run under way may be read.
pub fn read_learner(folder: &Path, host: &Host) -> Result<Loaded> {
    read_config(folder)?;
    let checkpoint_folder = match Folder::open(folder)?.child(CHECKPOINTS) {
        Err(error) if error.is_not_found() => return Err(no_checkpoint(folder)),
        opened => opened?,
    };
    let mut unusable = vec![];
    for name in checkpoints(&checkpoint_folder)?.iter().rev() {
        match checkpoint::read_learner(&checkpoint_folder, name, host) {
            Ok((config, learner, step)) => {
                let warn = |error: &Error| format!("{error}; the checkpoint of step {step} is used");
                return Ok(Loaded { config, learner, step, warnings: unusable.iter().map(warn).collect() });
            }
            Err(Error::File(error)) if error.is_foreign_entry() => return Err(error.into()),
            Err(error) => unusable.push(error),
        }
    }
    Err(unusable.into_iter().next().unwrap_or_else(|| no_checkpoint(folder)))
}

fn no_checkpoint(folder: &Path) -> Error {
    Error::NotARun { path: folder.to_owned(), reason: "it has no checkpoint yet".to_owned() }
}

/// The names of all checkpoints, the last one last.
fn checkpoints(folder: &Folder) -> Result<Vec<String>> {
    let names = folder.names()?.into_iter().filter(|name| is_ours(name));
    let names = names.filter_map(|name| name.into_string().ok());
    Ok(names.filter(|name| name.starts_with("step-")).collect())
}

/// The run of a checkpoint. Environments are made once the rest of it is found good.
fn restore(
    folder: &Folder,
    name: &str,
    config: &Config,
    host: &Host,
    read: fn(&Folder, &str, &Host) -> Result<Saved>,
) -> Result<Restored> {
    let saved = read(folder, name, host)?;
    check_same(&folder.path().join(name), config, &saved.config)?;
    saved.take_up(host.envs(config)?, host.env(config, false)?)
}

fn check_same(path: &Path, file: &Config, checkpoint: &Config) -> Result<()> {
    if file == checkpoint {
        return Ok(());
    }
    let reason = format!("{CONFIG} was changed after the run began; undo the change, or start a new run");
    Err(Error::Checkpoint { path: path.to_owned(), reason })
}

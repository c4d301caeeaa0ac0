//! A run folder: what a training run leaves on disk, and how it is taken up again.
//!
//! ```text
//! config.toml           all that decides the run
//! metrics.csv           a row every so many steps
//! evaluations.csv       every evaluation episode
//! events.out.tfevents…  the same for TensorBoard
//! checkpoints/          the last two checkpoints and the replay segments they need, the best checkpoint, and those that are
//!                       kept for good
//! result.json           written at the end
//! times.json            where the time went, written whenever training stops
//! failure.txt           why training failed; removed when the run goes on
//! ```
//!
//! A folder may come from a stranger: no link in it is followed ([`Folder`]).

use super::checkpoint::{self, LogLengths, Restored, Saved, SegmentEntry};
use super::checkpointer::{Checkpointer, Files, Kept};
use super::logs::{Clock, CsvLogs, TensorBoard, what_is_left};
use super::{Run, Summary};
use crate::config::is_atari;
use crate::learner::Learner;
use crate::trainer::Observers;
use crate::{Config, Error, Host, Result, Timeline};
use adfq_env::atari::Emulator;
use adfq_files::{Folder, Lock};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The file that says what is run.
pub const CONFIG: &str = "config.toml";
/// The file with a row of metrics every so many steps.
pub const METRICS: &str = "metrics.csv";
/// The file with a row for each evaluation episode.
pub const EVALUATIONS: &str = "evaluations.csv";
/// Its first line.
pub const EVALUATIONS_HEADER: &str = "step,episode,return,clipped_return,length";
/// The file of events for TensorBoard, which alone has the time of day.
pub const EVENTS: &str = "events.out.tfevents.0.adfq";
/// What a finished run reached.
pub const RESULT: &str = "result.json";
/// Apart from the result, of which nothing depends on a clock: equal runs give equal files.
const TIMES: &str = "times.json";
/// Why training failed.
pub const FAILURE: &str = "failure.txt";
const CHECKPOINTS: &str = "checkpoints";
pub(super) const STEP: &str = "step-";
const BEST: &str = "best-";
const FOR_GOOD: &str = "kept-";
/// What a run that was killed at its very start may leave behind.
const LEFT_BEHIND: [&str; 2] = [".lock", ".adfq-partial"];

/// A run folder that this process holds.
pub struct RunFolder {
    lock: Lock,
    checkpoints: Folder,
    logs: LogLengths,
    segments: Vec<SegmentEntry>,
    kept: Vec<Kept>,
    keeps_replay: bool,
}

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
        forget(lock.folder(), FAILURE)?;
        let mut search = find_usable(&checkpoints, &config, host, checkpoint::read)?;
        let given_back = is_given_back(&checkpoints, &config)?;
        if let (Search::Unusable(_), true) = (&search, refill || given_back) {
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
        if given_back {
            warnings.push("the replay memory was given back when the run had come to its end".to_owned());
        }
        warnings.extend(run.lost().iter().map(|lost| {
            format!("this run is not exact: {lost} was lost from its replay memory, which fills again")
        }));
        let (logs, gone) = what_is_left(lock.folder(), logs, run.step())?;
        warnings.extend(gone);
        remove_later(&checkpoints, run.step())?;
        let kept = vec![Kept::new(name, &segments, &run)];
        Ok((Self { lock, checkpoints, logs, segments, kept, keeps_replay: false }, run, warnings))
    }

    /// A folder without checkpoints.
    fn new_run(lock: Lock) -> Result<Self> {
        let checkpoints = lock.folder().create_child(CHECKPOINTS)?;
        let (logs, segments, kept) = (LogLengths::default(), vec![], vec![]);
        Ok(Self { lock, checkpoints, logs, segments, kept, keeps_replay: false })
    }

    /// Whether the replay memory stays on disk when the run has come to its end. By default it is given back: it is by
    /// far the largest part, and only a run that is made longer needs it.
    #[must_use]
    pub fn keep_replay(self, keeps_replay: bool) -> Self {
        Self { keeps_replay, ..self }
    }

    /// What writes to the folder while the run trains: logs, and then the checkpointer, which notes how long they are.
    pub fn observers(self, run: &Run, clock: Clock) -> Result<Observers<'static>> {
        let Self { lock, checkpoints, logs, segments, kept, keeps_replay } = self;
        let csv = CsvLogs::open(lock.folder(), logs, run.learner.algorithm.metrics())?;
        let events = TensorBoard::open(lock.folder(), logs.events, run.config(), clock)?;
        let logs = csv.syncers().into_iter().chain([events.syncer()]).collect();
        let files = Files::new(lock.folder().clone(), checkpoints, logs, kept);
        let checkpointer = Checkpointer::new(lock, files, segments, run.config.envs, keeps_replay);
        Ok(vec![Box::new(csv), Box::new(events), Box::new(checkpointer)])
    }
}

/// An error if something has the name of a file of ours and is none: better now than when it is written.
fn check_entries(folder: &Folder, checkpoints: &Folder) -> Result<()> {
    for name in [CONFIG, METRICS, EVALUATIONS, EVENTS, RESULT, TIMES, FAILURE] {
        folder.check_own(name)?;
    }
    for name in checkpoints.names()?.iter().filter(|name| is_ours(name)) {
        checkpoints.check_own(&name.to_string_lossy())?;
    }
    folder.remove_stale()?;
    Ok(checkpoints.remove_stale()?)
}

/// Makes the run in this folder longer: it goes on as a run of so many steps from where it was to end so far. Asking for
/// the same once more changes nothing. To go on, resume it.
pub fn lengthen(path: &Path, steps: u64) -> Result<()> {
    let config = read_config(path)?;
    if config.steps == steps && !config.earlier_ends.is_empty() {
        return Ok(());
    }
    if steps <= config.steps {
        return Err(Error::NotLonger { path: path.to_owned(), steps: config.steps });
    }
    if let Some(Summary { steps: step, ended_early: true, .. }) = read_summary(path)? {
        return Err(Error::EndedEarly { path: path.to_owned(), step });
    }
    let (longer, lock) = (config.lengthened(steps)?, Lock::acquire(path)?);
    lock.folder().write(CONFIG, longer.to_toml()?.as_bytes())?;
    forget(lock.folder(), RESULT)
}

/// Removes a file that may not be there.
fn forget(folder: &Folder, name: &str) -> Result<()> {
    match folder.remove(OsStr::new(name)) {
        Err(error) if !error.is_not_found() => Err(error.into()),
        _ => Ok(()),
    }
}

/// Whether a run that is made longer stands where it had ended, without the replay memory, which it has given back.
fn is_given_back(folder: &Folder, config: &Config) -> Result<bool> {
    let has_replay = folder.names()?.iter().any(|name| is_ours(name) && is_segment(name));
    let step = checkpoints(folder)?.last().and_then(|name| step_of(name));
    let stands = |end: u64| step == Some(end.next_multiple_of(config.envs as u64));
    Ok(!has_replay && config.earlier_ends.iter().any(|&end| stands(end)))
}

/// Removes checkpoints of a future that got lost: the best one, and those that were to be kept.
fn remove_later(folder: &Folder, step: u64) -> Result<()> {
    let is_later = |name: &&String| step_of(name).is_some_and(|later| later > step);
    for name in to_look_at(folder)?.iter().filter(is_later) {
        folder.remove(OsStr::new(name))?;
    }
    Ok(())
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

/// The file of the best checkpoint, which is that of this step.
pub(super) fn best_name(step: u64) -> String {
    format!("{BEST}{step:012}.adfq")
}

/// The file of a checkpoint of this step that stays for good.
pub(super) fn kept_name(step: u64) -> String {
    format!("{FOR_GOOD}{step:012}.adfq")
}

/// Whether a file of ours is never removed.
pub(super) fn is_for_good(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with(FOR_GOOD))
}

/// Whether a run writes a file of this name to its checkpoints: `step-N.adfq`, `best-N.adfq`, `kept-N.adfq` or
/// `replay-N-N-N.adfq`. All others are the user's.
pub(super) fn is_ours(name: &OsStr) -> bool {
    let name = name.to_str().and_then(|name| name.strip_suffix(".adfq"));
    let are_numbers = |text: &str, count: usize| {
        let mut parts = text.split('-');
        parts.all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
            && text.split('-').count() == count
    };
    name.is_some_and(|name| {
        let is_step = |rest: &str| rest.len() >= 12 && are_numbers(rest, 1);
        [STEP, BEST, FOR_GOOD].iter().any(|prefix| name.strip_prefix(prefix).is_some_and(is_step))
            || name.strip_prefix("replay-").is_some_and(|rest| are_numbers(rest, 3))
    })
}

/// Whether a file of ours is a piece of the replay memory.
pub(super) fn is_segment(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with("replay-"))
}

/// The step of a checkpoint, by its name.
fn step_of(name: &str) -> Option<u64> {
    let step = [STEP, BEST, FOR_GOOD].iter().find_map(|prefix| name.strip_prefix(prefix))?;
    step.strip_suffix(".adfq")?.parse().ok()
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
    let config = Config::from_toml(&text).map_err(|error| Error::in_file(&folder.join(CONFIG), error))?;
    Ok(played_by_ale(config))
}

/// Runs from before there was another emulator do not say which they have.
pub(super) fn played_by_ale(mut config: Config) -> Config {
    if is_atari(&config.env) {
        let args = config.env_args.entry(Emulator::ARGUMENT);
        args.or_insert_with(|| Emulator::Ale.name().into());
    }
    config
}

/// What a finished run reached; none if it has not come to its end, or has been made longer since.
pub(crate) fn read_result(folder: &Path, config: &Config) -> Result<Option<Summary>> {
    let ended = |summary: &Summary| summary.ended_early || summary.steps >= config.steps;
    Ok(read_summary(folder)?.filter(ended))
}

fn read_summary(folder: &Path) -> Result<Option<Summary>> {
    match Folder::open(folder)?.read(RESULT) {
        Ok(json) => Ok(serde_json::from_slice(&json).ok()),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Writes where the time of a run went, and how much there was of it, in seconds.
pub(crate) fn write_times(folder: &Path, timeline: &Timeline, wall: Duration) -> Result<()> {
    let seconds = |time: Duration| time.as_micros() as f64 / 1e6;
    let parts: BTreeMap<_, _> = timeline.parts().map(|(name, time)| (name, seconds(time))).into();
    let text = format!("{:#}\n", serde_json::json!({ "wall": seconds(wall), "parts": parts }));
    let (folder, len) = (Folder::open(folder)?, text.len() as u64);
    Ok(folder.put_with(TIMES, len, |file| file.write_all(text.as_bytes()))?)
}

/// Notes why training failed, for whoever looks at the folder later. A run that another process has taken up since does not
/// hear of it, and where the folder is gone, nothing is written to what is there now.
pub(crate) fn write_failure(folder: &Path, error: &Error) -> Result<()> {
    use adfq_files::Error::{Moved, Removed, Replaced};
    if !holds_run(folder) || matches!(error, Error::File(Moved(_) | Removed(_) | Replaced(_))) {
        return Ok(());
    }
    let lock = Lock::acquire(folder)?;
    Ok(lock.folder().write(FAILURE, format!("{error}\n").as_bytes())?)
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

/// Which checkpoint of a run is meant.
///
/// ```
/// use adfq_deep::Checkpoint;
///
/// assert_eq!("best".parse(), Ok(Checkpoint::Best));
/// assert_eq!("20000".parse(), Ok(Checkpoint::Step(20_000)));
/// assert!("worst".parse::<Checkpoint>().is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checkpoint {
    /// The last good one.
    #[default]
    Last,
    /// That of the best evaluation.
    Best,
    /// That of this step, if it is still there.
    Step(u64),
}

impl std::str::FromStr for Checkpoint {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "last" => Ok(Self::Last),
            "best" => Ok(Self::Best),
            step => step.parse().map(Self::Step).map_err(|_| "say last, best, or a step".to_owned()),
        }
    }
}

impl Checkpoint {
    /// The files that are meant, the first choice last.
    fn candidates(self, folder: &Folder) -> Result<Vec<String>> {
        match self {
            Self::Last => checkpoints(folder),
            Self::Best => best_checkpoints(folder),
            Self::Step(step) => {
                let all = [to_look_at(folder)?, checkpoints(folder)?].concat();
                Ok(all.into_iter().filter(|name| step_of(name) == Some(step)).collect())
            }
        }
    }

    /// What to say if there is no such file.
    fn missing(self, folder: &Path) -> Error {
        let reason = match self {
            Self::Last => "it has no checkpoint yet".to_owned(),
            Self::Best => "it has no best checkpoint, because it was never evaluated".to_owned(),
            Self::Step(step) => {
                let there = kept_steps(folder).unwrap_or_default();
                let there: Vec<String> = there.iter().map(u64::to_string).collect();
                format!("it has no checkpoint of step {step}; there are those of {}", there.join(", "))
            }
        };
        Error::NoCheckpoint { path: folder.to_owned(), reason }
    }
}

/// The steps of all checkpoints that are kept of the run in this folder, in order. It is an error if there is none.
pub fn kept_steps(folder: &Path) -> Result<Vec<u64>> {
    read_config(folder)?;
    let opened = match Folder::open(folder)?.child(CHECKPOINTS) {
        Err(error) if error.is_not_found() => return Err(Checkpoint::Last.missing(folder)),
        opened => opened?,
    };
    let names = [checkpoints(&opened)?, to_look_at(&opened)?].concat();
    let mut steps: Vec<u64> = names.iter().filter_map(|name| step_of(name)).collect();
    steps.sort_unstable();
    steps.dedup();
    if steps.is_empty() { Err(Checkpoint::Last.missing(folder)) } else { Ok(steps) }
}

/// The learner of a good checkpoint; no lock is taken, a run under way may be read.
pub fn read_learner(folder: &Path, host: &Host, which: Checkpoint) -> Result<Loaded> {
    read_config(folder)?;
    let checkpoint_folder = match Folder::open(folder)?.child(CHECKPOINTS) {
        Err(error) if error.is_not_found() => return Err(which.missing(folder)),
        opened => opened?,
    };
    let mut unusable = vec![];
    for name in which.candidates(&checkpoint_folder)?.iter().rev() {
        match checkpoint::read_learner(&checkpoint_folder, name, host) {
            Ok((config, learner, step)) => {
                let warn = |error: &Error| format!("{error}; the checkpoint of step {step} is used");
                return Ok(Loaded { config, learner, step, warnings: unusable.iter().map(warn).collect() });
            }
            Err(Error::File(error)) if error.is_foreign_entry() => return Err(error.into()),
            Err(error) => unusable.push(error),
        }
    }
    Err(unusable.into_iter().next().unwrap_or_else(|| which.missing(folder)))
}

/// The names of all checkpoints to go on from, the last one last.
fn checkpoints(folder: &Folder) -> Result<Vec<String>> {
    names_with(folder, STEP)
}

/// The names of the checkpoints of the best evaluations, the best one last.
fn best_checkpoints(folder: &Folder) -> Result<Vec<String>> {
    names_with(folder, BEST)
}

/// The names of all checkpoints from which nothing goes on: the best ones, and those that stay for good.
fn to_look_at(folder: &Folder) -> Result<Vec<String>> {
    Ok([best_checkpoints(folder)?, names_with(folder, FOR_GOOD)?].concat())
}

fn names_with(folder: &Folder, prefix: &str) -> Result<Vec<String>> {
    let names = folder.names()?.into_iter().filter(|name| is_ours(name));
    let names = names.filter_map(|name| name.into_string().ok());
    Ok(names.filter(|name| name.starts_with(prefix)).collect())
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
    saved.lengthened(config).take_up(host.envs(config)?, host.env(config, false)?)
}

fn check_same(path: &Path, file: &Config, checkpoint: &Config) -> Result<()> {
    if checkpoint.is_earlier_than(file) {
        return Ok(());
    }
    Err(Error::ConfigChanged { path: path.to_owned() })
}

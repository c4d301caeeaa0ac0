//! A run as files, and back: everything that decides what follows, so that a resumed run is the same bits as one never
//! stopped. Environments that cannot be saved, as those in other processes, are the exception.
//!
//! A checkpoint is one container of named sections. Replay frames are not in it: they are large and written once, so
//! each checkpoint adds a *segment* file with the slots since the last one and lists the segments that it needs.

use super::folder::played_by_ale;
use super::needs::{check_learner_memory, check_memory_read_back, parameters};
use super::{Best, Due, Lost, Run};
use crate::algorithm::{RewardRange, RewardUnit};
use crate::evaluate::Evaluation;
use crate::learner::Learner;
use crate::metrics::Stats;
use crate::observation::Observation;
use crate::replay::{Frames, Replay, ReplayState, Segment};
use crate::{Config, Error, Host, Result};
use adfq::random::ChaCha8Rng;
use adfq_env::{Env, Envs, Space};
use adfq_files::{Container, Folder};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::path::{Path, PathBuf};

const KIND: &str = "checkpoint";
const SEGMENT_KIND: &str = "replay segment";
/// Of both files. Raised whenever the meaning of a section changes.
const VERSION: u32 = 6;
/// The section with the unit of rewards. Files of before have none.
const UNIT: &str = "unit";

/// Lengths of the logs at the moment of the checkpoint; what is beyond was written by a future that got lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLengths {
    /// Of `metrics.csv`.
    pub metrics: u64,
    /// Of `evaluations.csv`.
    pub evaluations: u64,
    /// Of the TensorBoard file.
    pub events: u64,
}

/// Where a piece of the replay memory lies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentEntry {
    /// The environment it belongs to.
    pub env: usize,
    /// Its first slot, counted from the start of the run.
    pub first: u64,
    /// Its number of slots.
    pub count: u64,
    /// The step of the run at which it was written.
    pub step: u64,
}

impl SegmentEntry {
    /// The file's name: the same slots always get the same name, and hold the same bytes unless environments that could
    /// not be saved took another turn. The file is then written anew.
    pub fn file_name(&self) -> String {
        format!("replay-{}-{:012}-{}.adfq", self.env, self.first, self.count)
    }

    /// One past its last slot.
    pub fn end(&self) -> u64 {
        self.first.saturating_add(self.count)
    }
}

/// The small things, in one section.
#[derive(Serialize, Deserialize)]
struct State {
    /// With it a learner is made without an environment.
    space: Space,
    step: u64,
    due: Due,
    owes_evaluation: bool,
    lost: Vec<Lost>,
    adam_steps: u64,
    rewards: RewardRange,
    explorer: ChaCha8Rng,
    sampler: ChaCha8Rng,
    stats: Stats,
    evaluated: Option<Evaluation>,
    best: Option<Best>,
    /// None where the environments cannot be saved.
    envs: Option<Vec<u8>>,
    observations: Vec<Observation>,
    replay: ReplayState,
    segments: Vec<SegmentEntry>,
    logs: LogLengths,
    restarts: u64,
}

impl State {
    /// What is wrong with it as the state of such a run. Checksums say that the file is as it was written, not who wrote it.
    fn misfit(&self, config: &Config) -> Option<&'static str> {
        let (envs, learning) = (config.envs as u64, &config.learning);
        let checks = [
            (self.step <= config.steps.saturating_add(envs), "its step is beyond the end of the run"),
            (
                self.due.gradient_steps <= envs / learning.every + 1,
                "more gradient steps are due than a step makes",
            ),
            (self.adam_steps <= self.step, "there are more gradient steps than steps"),
            (self.stats.fits(config.envs, self.step), "its statistics are not those of such a run"),
            (self.observations.len() == config.envs, "there is not one observation for each environment"),
            (
                self.observations.iter().all(|seen| seen.fits(&self.space)),
                "an observation does not fit its space",
            ),
            (self.restarts <= u64::from(u32::MAX), "the number of restarts is beyond reason"),
        ];
        checks.into_iter().find(|(fits, _)| !fits).map(|(_, reason)| reason)
    }
}

/// Sections of a segment. Its frames are in one of the last three.
const STEPS: &str = "steps";
const BYTES: &str = "frames";
const BITS: &str = "bits of frames";
const LZ4: &str = "frames in LZ4";

/// Writes one segment beside the checkpoints. Its name is sure to outlive a power cut once the folder is synced.
pub fn write_segment(folder: &Folder, entry: &SegmentEntry, segment: &Segment) -> Result<()> {
    let mut file = Container::new(SEGMENT_KIND, VERSION);
    file.put(STEPS, &segment.steps[..]);
    match &segment.frames {
        Frames::Bytes(bytes) => file.put(BYTES, &bytes[..]),
        Frames::Bits(bits) => file.put(BITS, &bits[..]),
        Frames::Lz4(packed) => file.put(LZ4, &packed[..]),
    };
    Ok(file.put_in(folder, &entry.file_name())?)
}

/// A moment's copy of a run: all that a checkpoint holds. The run can go on while it is written.
pub struct Snapshot {
    config: String,
    state: State,
    online: Vec<f32>,
    target: Vec<f32>,
    adam_m: Vec<f32>,
    adam_v: Vec<f32>,
    priorities: Vec<f32>,
    algorithm: Vec<u8>,
    unit: Vec<u8>,
}

impl Snapshot {
    /// The bytes that a copy of this run takes, but for small things.
    pub fn bytes(run: &Run) -> u64 {
        let numbers = 4 * run.learner.online.len() + run.replay.priorities_len();
        (numbers * size_of::<f32>()) as u64
    }

    /// The run as it is now, with what has to be known of its files.
    pub fn of(run: &Run, segments: &[SegmentEntry], logs: LogLengths) -> Result<Self> {
        Self::with_priorities(run, segments, logs, run.replay.priorities())
    }

    /// The same without the replay memory, for a checkpoint from which no run goes on.
    pub fn without_memory(run: &Run, logs: LogLengths) -> Result<Self> {
        Self::with_priorities(run, &[], logs, vec![])
    }

    fn with_priorities(
        run: &Run,
        segments: &[SegmentEntry],
        logs: LogLengths,
        priorities: Vec<f32>,
    ) -> Result<Self> {
        let learner = &run.learner;
        let state = State {
            space: run.space.clone(),
            step: run.step,
            due: run.due,
            owes_evaluation: run.owes_evaluation,
            lost: run.lost.clone(),
            adam_steps: learner.adam.t,
            rewards: learner.rewards,
            explorer: run.explorer.rng.clone(),
            sampler: run.sampler.clone(),
            stats: run.stats.clone(),
            evaluated: run.evaluated.clone(),
            best: run.best,
            envs: run.envs.save()?,
            observations: run.observations.clone(),
            replay: run.replay.state(),
            segments: segments.to_vec(),
            logs,
            restarts: run.restarts.count,
        };
        Ok(Self {
            config: run.config.to_toml()?,
            state,
            online: learner.online.clone(),
            target: learner.target.clone(),
            adam_m: learner.adam.m.clone(),
            adam_v: learner.adam.v.clone(),
            priorities,
            algorithm: learner.algorithm.save()?,
            unit: postcard::to_stdvec(&learner.unit).map_err(|error| Error::State(error.to_string()))?,
        })
    }

    /// Writes the checkpoint; the segments must be there already.
    pub fn write(&self, folder: &Folder, name: &str) -> Result<()> {
        let state = postcard::to_stdvec(&self.state);
        let state = state.map_err(|error| unfit(&folder.path().join(name), error))?;
        let mut file = Container::new(KIND, VERSION);
        file.put("config", self.config.as_bytes());
        file.put("state", &state[..]);
        file.put("online", bytes(&self.online));
        file.put("target", bytes(&self.target));
        file.put("adam m", bytes(&self.adam_m));
        file.put("adam v", bytes(&self.adam_v));
        file.put("priorities", bytes(&self.priorities));
        file.put("algorithm", &self.algorithm[..]);
        file.put(UNIT, &self.unit[..]);
        Ok(file.write_in(folder, name)?)
    }
}

/// What a checkpoint holds, before there are environments to go on in.
pub struct Saved {
    /// The configuration of the run.
    pub config: Config,
    host: Host,
    path: PathBuf,
    state: State,
    learner: Learner,
    replay: Replay,
}

/// A run read back, and what else the checkpoint knew.
pub struct Restored {
    /// The run, at the step of the checkpoint.
    pub run: Run,
    /// The segments that its replay memory came from.
    pub segments: Vec<SegmentEntry>,
    /// How long the logs were.
    pub logs: LogLengths,
}

/// Reads a checkpoint and its segments, which lie beside it. Asks for no more memory than the host has.
pub fn read(folder: &Folder, name: &str, host: &Host) -> Result<Saved> {
    let Parts { file, config, state, learner, path } = read_all_but_replay(folder, name, host)?;
    let (empty, priorities) = empty_replay(&file, &config, &state, host, &path)?;
    // Segment after segment: there is no moment at which the memory is held twice.
    let segments = state.segments.iter().map(|entry| read_segment(folder, entry));
    let replay = empty.restore(&state.replay, &priorities, segments)?;
    Ok(Saved { config, host: host.clone(), path, state, learner, replay })
}

/// The same without the segments that cannot be read. Of each environment the slots after the last hole are kept.
pub fn read_rest(folder: &Folder, name: &str, host: &Host) -> Result<Saved> {
    let Parts { file, config, mut state, learner, path } = read_all_but_replay(folder, name, host)?;
    let (empty, priorities) = empty_replay(&file, &config, &state, host, &path)?;
    let mut bad = vec![];
    let segments = state.segments.iter().filter_map(|entry| match read_segment(folder, entry) {
        Err(Error::Segment { .. }) => {
            bad.push(entry.clone());
            None
        }
        read => Some(read),
    });
    let replay = empty.restore_rest(&state.replay, &priorities, segments)?;
    let floors = replay.state().floors;
    state.segments.retain(|entry| !bad.contains(entry) && entry.end() > floors[entry.env]);
    for env in 0..config.envs {
        if let Some(last) = bad.iter().filter(|entry| entry.env == env).max_by_key(|entry| entry.end()) {
            state.lost.retain(|lost| lost.env != env);
            state.lost.push(Lost { env, until_step: last.step });
        }
    }
    Ok(Saved { config, host: host.clone(), path, state, learner, replay })
}

impl Saved {
    /// The same run made longer: its configuration is the later one.
    pub fn lengthened(mut self, config: &Config) -> Self {
        self.config = config.clone();
        self.learner.set_config(config);
        self
    }

    /// The run in these environments, which take up their state. Where none was saved, because it was out of reach, they
    /// start anew and the episodes under way are cut off; all else is as it was.
    pub fn take_up(self, mut envs: Box<dyn Envs>, evaluation: Box<dyn Env>) -> Result<Restored> {
        let Self { config, host, path, state, learner, replay } = self;
        learner.check_space(envs.space()).map_err(|error| unfit(&path, error))?;
        if let Some(saved) = &state.envs {
            envs.restore(saved).map_err(|error| unfit(&path, error))?;
        }
        let mut run = Run::assemble(&config, &host, learner, replay, envs, evaluation)?;
        (run.step, run.due, run.owes_evaluation) = (state.step, state.due, state.owes_evaluation);
        run.lost = state.lost;
        run.wait_for_memory();
        run.explorer.rng = state.explorer;
        run.sampler = state.sampler;
        run.stats = state.stats;
        run.evaluated = state.evaluated;
        run.best = state.best;
        run.restarts.count = state.restarts;
        run.observations = state.observations;
        if state.envs.is_none() {
            run.interrupt()?;
        }
        Ok(Restored { run, segments: state.segments, logs: state.logs })
    }
}

/// The learner of a checkpoint alone, for evaluation: no replay memory is read and no environment made.
pub fn read_learner(folder: &Folder, name: &str, host: &Host) -> Result<(Config, Learner, u64)> {
    let Parts { config, state, learner, .. } = read_all_but_replay(folder, name, host)?;
    Ok((config, learner, state.step))
}

/// A checkpoint before its replay memory is read.
struct Parts {
    file: Container<'static>,
    config: Config,
    state: State,
    learner: Learner,
    path: PathBuf,
}

fn read_all_but_replay(folder: &Folder, name: &str, host: &Host) -> Result<Parts> {
    let (file, path) = (Container::read_in(folder, name, KIND, VERSION)?, folder.path().join(name));
    let config = read_config(&file, &path)?;
    let state: State = decode(file.get("state")?, &path)?;
    // The file may be made up: no network is made unless the file holds one of its size.
    let (needed, held) = (parameters(&config, &state.space, host)?, file.get("online")?.len() as u64 / 4);
    if needed > held || needed < held && host.algorithms.get(&config.agent)?.knows_demand() {
        return Err(unfit(&path, format!("online has {held} numbers, the network {needed}")));
    }
    check_learner_memory(&config, &state.space, host)?;
    if let Some(reason) = state.misfit(&config) {
        return Err(unfit(&path, reason));
    }
    let mut learner = Learner::new(&config, &state.space, &host.algorithms)?;
    fill_learner(&mut learner, &file, &path)?;
    learner.adam.t = state.adam_steps;
    learner.rewards = state.rewards;
    learner.unit = read_unit(&file, &path)?;
    Ok(Parts { file, config, state, learner, path })
}

/// A memory for what the segments hold, and the priorities of its transitions.
fn empty_replay(
    file: &Container,
    config: &Config,
    state: &State,
    host: &Host,
    path: &Path,
) -> Result<(Replay, Vec<f32>)> {
    check_memory_read_back(config, &state.space, host)?;
    let priorities = numbers(file.get("priorities")?, path)?;
    let empty = Replay::new(&config.replay, config.envs, config.learning.discount, &state.space)?;
    Ok((empty, priorities))
}

fn read_config(file: &Container, path: &Path) -> Result<Config> {
    let text = std::str::from_utf8(file.get("config")?).map_err(|error| unfit(path, error))?;
    Config::from_toml(text).map(played_by_ale)
}

fn read_segment(folder: &Folder, entry: &SegmentEntry) -> Result<Segment> {
    let SegmentEntry { env, first, count, step: until } = *entry;
    let read = Container::read_in(folder, &entry.file_name(), SEGMENT_KIND, VERSION);
    match read.and_then(|mut file| Ok((file.take(STEPS)?, take_frames(&mut file)?))) {
        Ok((steps, frames)) => Ok(Segment { env, first, count, steps, frames }),
        Err(error) if error.is_foreign_entry() => Err(error.into()),
        Err(error) => {
            let folder = folder.path().parent().unwrap_or(folder.path()).to_owned();
            Err(Error::Segment { source: Box::new(error), folder, env, until })
        }
    }
}

fn take_frames(file: &mut Container) -> adfq_files::Result<Frames> {
    let bits = file.take(BITS).map(Frames::Bits);
    bits.or_else(|_| file.take(LZ4).map(Frames::Lz4)).or_else(|_| file.take(BYTES).map(Frames::Bytes))
}

/// The unit of rewards. Where there is none, the run is of a version that knew no other than 1.
fn read_unit(file: &Container, path: &Path) -> Result<RewardUnit> {
    let Ok(bytes) = file.get(UNIT) else { return Ok(RewardUnit::ONE) };
    let unit: RewardUnit = decode(bytes, path)?;
    if unit.is_sound() { Ok(unit) } else { Err(unfit(path, "its rewards have no unit")) }
}

fn fill_learner(learner: &mut Learner, file: &Container, path: &Path) -> Result<()> {
    for (name, to) in [
        ("online", &mut learner.online),
        ("target", &mut learner.target),
        ("adam m", &mut learner.adam.m),
        ("adam v", &mut learner.adam.v),
    ] {
        let from = numbers(file.get(name)?, path)?;
        if from.len() != to.len() {
            let reason = format!("{name} has {} numbers, the network {}", from.len(), to.len());
            return Err(Error::Checkpoint { path: path.to_owned(), reason });
        }
        *to = from;
    }
    let own = file.get("algorithm")?;
    learner.algorithm.restore(own).map_err(|reason| unfit(path, format!("the algorithm's state: {reason}")))
}

fn bytes(numbers: &[f32]) -> &[u8] {
    bytemuck::cast_slice(numbers)
}

/// Bytes of a section need not be aligned as numbers are: they are copied.
fn numbers(bytes: &[u8], path: &Path) -> Result<Vec<f32>> {
    let (numbers, rest) = bytes.as_chunks();
    if !rest.is_empty() {
        return Err(unfit(path, "a section ends within a number"));
    }
    Ok(numbers.iter().map(|&bytes| f32::from_ne_bytes(bytes)).collect())
}

fn decode<T: DeserializeOwned>(bytes: &[u8], path: &Path) -> Result<T> {
    postcard::from_bytes(bytes).map_err(|error| unfit(path, error))
}

fn unfit(path: &Path, reason: impl ToString) -> Error {
    Error::Checkpoint { path: PathBuf::from(path), reason: reason.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORGED: &str = "checkpoint";

    /// Writes a checkpoint of a small run, with another configuration and another space written into it.
    fn forge(folder: &Folder, change: impl Fn(&mut Config, &mut Space)) {
        let (config, host) = (Config::for_env("cartpole").unwrap(), Host::default());
        let run = Run::new(&config, &host).unwrap();
        let path = folder.path().join(FORGED);
        Snapshot::of(&run, &[], LogLengths::default()).unwrap().write(folder, FORGED).unwrap();
        let file = Container::read(&path, KIND, VERSION).unwrap();
        let mut config = read_config(&file, &path).unwrap();
        let mut state: State = decode(file.get("state").unwrap(), &path).unwrap();
        change(&mut config, &mut state.space);
        let (config, state) = (config.to_toml().unwrap(), postcard::to_stdvec(&state).unwrap());
        let mut other = Container::new(KIND, VERSION);
        for name in file.names().filter(|&name| name != "config" && name != "state") {
            other.put(name, file.get(name).unwrap());
        }
        other.put("config", config.as_bytes()).put("state", &state[..]);
        other.write(&path).unwrap();
    }

    /// Files of a few kilobytes that ask for more memory than there is, or than can be counted.
    #[test]
    fn made_up_sizes_are_refused_before_they_are_asked_for() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        let dense = adfq_nn::Layer::dense;
        type Change = Box<dyn Fn(&mut Config, &mut Space)>;
        let mut forgeries: Vec<Change> = vec![];
        for huge in [1 << 31, 1 << 62, 1_000_000_000_000_000_000_usize] {
            forgeries.push(Box::new(move |config, _| config.network.layers = vec![dense(huge); 3]));
            forgeries.push(Box::new(move |config, _| config.network.dueling = Some(huge)));
            forgeries.push(Box::new(move |_, space| space.frame = vec![huge, huge, huge]));
            forgeries.push(Box::new(move |_, space| space.frame = vec![huge]));
            forgeries.push(Box::new(move |_, space| space.stack = huge));
            forgeries.push(Box::new(move |_, space| space.actions = huge));
            forgeries.push(Box::new(move |config, _| {
                (config.learning.batch, config.replay.capacity) = (huge, huge)
            }));
        }
        for (number, change) in forgeries.iter().enumerate() {
            forge(&folder, change);
            let host = Host { memory: Some(1 << 30), ..Host::default() };
            let message = match read_learner(&folder, FORGED, &host) {
                Ok(_) => panic!("forgery {number}"),
                Err(error) => error.to_string(),
            };
            assert_eq!(message.lines().count(), 1, "{message}");
        }
    }

    #[test]
    fn a_run_read_back_asks_for_no_more_environments_than_fit() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        forge(&folder, |config, _| {
            (config.envs, config.replay.capacity) = (1 << 50, 1 << 60);
        });
        let host = Host { memory: Some(1 << 30), ..Host::default() };
        assert!(matches!(read(&folder, FORGED, &host), Err(Error::Memory { .. } | Error::Checkpoint { .. })));
    }
}

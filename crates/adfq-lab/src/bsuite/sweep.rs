//! Agents, seeds and settings as units of work, many at once. What is finished stays, so that the same sweep continues where it was
//! stopped.

use super::rows::{self, Rows};
use super::score::Logged;
use super::together::{self, Watch};
use super::unit::Unit;
use crate::{Error, Result};
use adfq_deep::{Config, Device, Host};
use adfq_env::Space;
use adfq_env::bsuite::{Setting, Task};
use adfq_files::{Lock, create_folder, write_atomic};
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The file beside the results of an agent that says how they were made.
const SETTINGS: &str = "settings.toml";
/// Units that go together at most. The environments of a group are stepped by one thread, so several seeds are several groups.
const MOST_TOGETHER: usize = 64;

/// An agent with its policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entrant {
    /// What learns.
    pub agent: String,
    /// How it explores.
    pub policy: String,
}

impl Entrant {
    /// From a word such as `adfq-ts` or `boot-dqn`.
    pub fn parse(word: &str, host: &Host) -> Result<Self> {
        let (agent, policy) = host.algorithms.parse(word)?;
        Ok(Self { agent, policy })
    }

    /// The name of its folder.
    pub fn folder(&self) -> String {
        format!("{}-{}", self.agent, self.policy)
    }

    /// Its name in tables and pictures.
    pub fn label(&self) -> String {
        crate::compare::label_of(&self.agent, &self.policy)
    }
}

/// What to run.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// Agents with their policies.
    pub entrants: Vec<Entrant>,
    /// Seeds, of which each agent runs all settings once.
    pub seeds: Vec<u64>,
    /// Settings. Those of MNIST are left out without its data.
    pub chosen: Vec<Setting>,
    /// Fewer episodes than bsuite's, for a look. The scores are then not those of bsuite.
    pub episodes: Option<u64>,
    /// The folder with the files of MNIST.
    pub mnist: Option<PathBuf>,
    /// Changes of single settings, as `learning.every=4`.
    pub changes: Vec<String>,
}

/// What came of a sweep.
#[derive(Debug)]
pub struct Done {
    /// Units that had been finished before.
    pub before: usize,
    /// Units that were finished now.
    pub now: usize,
    /// Units that failed, and why.
    pub failed: Vec<(String, Error)>,
}

/// How the results in a folder were made.
#[derive(Serialize)]
struct Made<'a> {
    /// Fewer episodes than bsuite's.
    episodes: Option<u64>,
    /// Where networks learned, if not on the CPU: sums are rounded otherwise there.
    device: Option<&'static str>,
    /// The configuration of all settings; its environment and number of steps are those of each one.
    config: &'a Config,
}

impl Sweep {
    /// The configuration that every setting of an agent and a seed starts from.
    fn config(&self, entrant: &Entrant, seed: u64, host: &Host) -> Result<Config> {
        // The preset is the same for every space.
        let config = Config::preset("bsuite", "bsuite:bandit/0", &Space::flat(1, 11))?;
        let config = host.algorithms.with_agent(config, &entrant.agent, Some(&entrant.policy))?;
        let config = Config { seed, ..host.algorithms.with_general(config)?.with_steps(1) };
        let with = |config: Config, change: &String| config.with(change);
        let config = self.changes.iter().try_fold(config, with)?;
        host.check(&config)?;
        Ok(config)
    }

    /// The settings that are run: without its data, none of MNIST.
    pub fn settings(&self) -> impl Iterator<Item = &Setting> {
        self.chosen.iter().filter(|setting| self.mnist.is_some() || setting.task != Task::Mnist)
    }

    /// How many settings are left out, all of them of MNIST.
    pub fn left_out(&self) -> usize {
        self.chosen.len() - self.settings().count()
    }

    /// How many episodes a setting runs.
    pub fn episodes(&self, setting: &Setting) -> u64 {
        self.episodes.map_or(setting.experiment.episodes, |most| most.min(setting.experiment.episodes))
    }

    /// The folder of an agent and a seed. The package reads its results from there.
    pub fn folder(&self, out: &Path, entrant: &Entrant, seed: u64) -> PathBuf {
        out.join(entrant.folder()).join(format!("seed-{seed}"))
    }

    /// All units, the longest first.
    pub(super) fn units(&self, out: &Path, host: &Host) -> Result<Vec<Unit>> {
        let mut units = vec![];
        for entrant in &self.entrants {
            for &seed in &self.seeds {
                let mut config = self.config(entrant, seed, host)?;
                for setting in self.settings() {
                    config.env_args.clear();
                    if let (Task::Mnist, Some(data)) = (setting.task, &self.mnist) {
                        config.env_args.insert("data".to_owned(), data.display().to_string().into());
                    }
                    let folder = self.folder(out, entrant, seed);
                    units.push(Unit::new(*setting, self.episodes(setting), &config, folder));
                }
            }
        }
        units.sort_by_key(|unit| std::cmp::Reverse(unit.weight()));
        Ok(units)
    }

    /// Units that are not finished in this folder, and the most environment steps and gradient steps that they take.
    pub fn size(&self, out: &Path, host: &Host) -> Result<(usize, u64, u64)> {
        let units = missing(self.units(out, host)?)?;
        let (steps, updates) =
            (units.iter().map(Unit::most_steps), units.iter().map(Unit::most_gradient_steps));
        Ok((units.len(), steps.sum(), updates.sum()))
    }

    /// Runs every unit that is not finished, on so many threads. A unit that fails does not stop the others. Setting `stop` does:
    /// that is [`Error::Interrupted`]. `progress` is told of work
    /// as it is done: how much of it, and of how much in all.
    pub fn run(
        &self,
        out: &Path,
        host: &Host,
        device: Device,
        threads: NonZeroUsize,
        stop: &AtomicBool,
        progress: &(dyn Fn(u64, u64) + Sync),
    ) -> Result<Done> {
        let units = self.units(out, host)?;
        create_folder(out)?;
        let _lock = Lock::acquire(out)?;
        self.prepare(out, host, device)?;
        let (count, todo) = (units.len(), missing(units)?);
        let left = todo.len();
        let in_all: u64 = todo.iter().map(Unit::weight).sum();
        let host = &Host { frames_on_gpu: device != Device::Cpu, ..host.clone() };
        let batches = if device == Device::Cpu { alone(todo) } else { alike(todo, host)? };
        let (batches, failed) = (Mutex::new(batches), Mutex::new(vec![]));
        // A function of its own, so that the lock is given back before the units run.
        let next = || locked(&batches).pop_front().filter(|_| !stop.load(Ordering::Relaxed));
        let work = || {
            while let Some(units) = next() {
                let tell = |work| progress(work, in_all);
                together::run(&units, device, host, stop, &mut Told { failed: &failed, tell: &tell });
            }
        };
        on_threads(threads.get().min(left.max(1)), &work)?;
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let mut failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        failed.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(Done { before: count - left, now: left - failed.len(), failed })
    }

    /// Makes the folders, each with the settings of its results. Results of other settings are not continued.
    fn prepare(&self, out: &Path, host: &Host, device: Device) -> Result<()> {
        let on_gpu = (device != Device::Cpu).then_some("cuda");
        for entrant in &self.entrants {
            for &seed in &self.seeds {
                let (folder, config) = (self.folder(out, entrant, seed), self.config(entrant, seed, host)?);
                let made =
                    toml::to_string(&Made { episodes: self.episodes, device: on_gpu, config: &config });
                let made = made.map_err(|error| adfq_deep::Error::Toml(error.to_string()))?;
                create_folder(&folder)?;
                match std::fs::read_to_string(folder.join(SETTINGS)) {
                    Ok(there) if there == made => {}
                    Ok(_) => return Err(Error::OtherSweep(folder)),
                    Err(_) => write_atomic(folder.join(SETTINGS), made.as_bytes())?,
                }
            }
        }
        Ok(())
    }

    /// What the settings of an agent and a seed have logged, as far as they are finished.
    pub fn logged(&self, out: &Path, entrant: &Entrant, seed: u64) -> Result<Vec<Logged>> {
        let folder = self.folder(out, entrant, seed);
        let mut logged = vec![];
        for &setting in self.settings() {
            let found: Option<Rows> = rows::read(&folder, &setting)?;
            logged.extend(found.map(|rows| Logged { setting, rows }));
        }
        Ok(logged)
    }
}

/// Those that are not finished. Before the first run there is no folder.
fn missing(units: Vec<Unit>) -> Result<Vec<Unit>> {
    let is_missing =
        |unit: &Unit| Ok(!unit.folder.exists() || rows::read(&unit.folder, &unit.setting)?.is_none());
    let each = units.into_iter().map(|unit| is_missing(&unit).map(|missing| missing.then_some(unit)));
    each.filter_map(Result::transpose).collect()
}

/// Each unit by itself, in their order.
fn alone(units: Vec<Unit>) -> VecDeque<Vec<Unit>> {
    units.into_iter().map(|unit| vec![unit]).collect()
}

/// Units whose runs can go step by step together: an agent's, with the same observations and actions. The longest come first, as in
/// `units`.
pub(super) fn alike(units: Vec<Unit>, host: &Host) -> Result<VecDeque<Vec<Unit>>> {
    let (mut batches, mut places) = (VecDeque::<Vec<Unit>>::new(), BTreeMap::new());
    for unit in units {
        let Config { agent, policy, steps, .. } = &unit.config;
        let space = host.env(&unit.config, false)?.space().clone();
        let as_long = has_schedule(&unit.config).then_some(*steps);
        let alike = format!("{agent} {policy} {as_long:?} {space:?}");
        let place = places.entry(alike).or_insert(batches.len());
        if batches.get(*place).is_some_and(|batch| batch.len() == MOST_TOGETHER) {
            *place = batches.len();
        }
        if *place == batches.len() {
            batches.push_back(vec![]);
        }
        batches[*place].push(unit);
    }
    // Each ends with its last episode, whatever its number of steps.
    for batch in &mut batches {
        let longest = batch.iter().map(Unit::most_steps).max().unwrap_or_default();
        batch.iter_mut().for_each(|unit| unit.config.steps = longest);
    }
    Ok(batches)
}

/// Whether what is learned depends on how many steps there will be.
fn has_schedule(Config { exploration, learning, replay, .. }: &Config) -> bool {
    exploration.from != exploration.to || learning.final_rate != 1.0 || replay.priority.is_some()
}

/// Writes what units logged, notes what failed, and tells how much work is done.
struct Told<'a> {
    failed: &'a Mutex<Vec<(String, Error)>>,
    tell: &'a dyn Fn(u64),
}

impl Watch for Told<'_> {
    fn progress(&mut self, unit: &Unit, episodes: u64) {
        (self.tell)(episodes * (unit.weight() / unit.episodes));
    }

    fn ended(&mut self, unit: &Unit, rows: Result<Rows>) {
        // What the division above leaves.
        (self.tell)(unit.weight() % unit.episodes);
        match rows.and_then(|rows| rows::write(&unit.folder, &unit.setting, &rows)) {
            Err(Error::Interrupted) | Ok(()) => {}
            Err(error) => locked(self.failed).push((unit.name(), error)),
        }
    }
}

/// Does the work on so many threads, each with a pool of its own: a small network is quicker without help.
fn on_threads(threads: usize, work: &(dyn Fn() + Sync)) -> Result<()> {
    let pool = |_| rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pools = (0..threads).map(pool).collect::<std::result::Result<Vec<_>, _>>();
    let pools = pools.map_err(|error| Error::Threads(error.to_string()))?;
    std::thread::scope(|scope| pools.iter().for_each(|pool| drop(scope.spawn(|| pool.install(work)))));
    Ok(())
}

/// What a panicking thread leaves behind is whole: nothing is ever half pushed.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::super::choose;
    use super::*;
    use std::collections::BTreeSet;
    use std::thread::{current, yield_now};

    fn sweep(chosen: &[&str], seeds: Vec<u64>, host: &Host) -> Sweep {
        let chosen: Vec<_> = chosen.iter().map(|&name| name.to_owned()).collect();
        Sweep {
            entrants: vec![Entrant::parse("dqn", host).unwrap()],
            seeds,
            chosen: choose(&chosen).unwrap(),
            episodes: Some(2),
            mnist: None,
            changes: vec![],
        }
    }

    /// All start from the settings of the package. What an agent changes in general settings it changes here too, and what a user sets
    /// comes last.
    #[test]
    fn an_agent_changes_the_settings_of_the_package() {
        let host = Host::default();
        let memory = |agent: &str, changes: &[&str]| {
            let changes = changes.iter().map(|&change| change.to_owned()).collect();
            let sweep = Sweep { changes, ..sweep(&["catch/0"], vec![0], &host) };
            let config = sweep.config(&Entrant::parse(agent, &host).unwrap(), 0, &host).unwrap();
            (config.replay.capacity, config.learning.batch)
        };
        assert_eq!(memory("dqn", &[]), (10_000, 32));
        assert_eq!(memory("calibrated", &[]), (100_000, 32));
        assert_eq!(memory("calibrated", &["replay.capacity=20000"]), (20_000, 32));
    }

    #[test]
    fn many_seeds_are_several_groups() {
        let host = Host::default();
        let units = sweep(&["catch", "deep_sea/0"], (0..7).collect(), &host).units(Path::new("out"), &host);
        let mut sizes: Vec<_> = alike(units.unwrap(), &host).unwrap().iter().map(Vec::len).collect();
        sizes.sort_unstable();
        assert_eq!(sizes, [7, 12, MOST_TOGETHER, MOST_TOGETHER]);
    }

    #[test]
    fn units_run_side_by_side() {
        let host = Host::default();
        let sweep = sweep(&["catch/0", "catch/1"], vec![0], &host);
        let seen = Mutex::new(BTreeSet::new());
        let both = || locked(&seen).len() == 2;
        // The first unit waits in its report until the other one reports as well. Many turns without it, and it goes on.
        let report = |_, _| {
            locked(&seen).insert(format!("{:?}", current().id()));
            (0..10_000_000).take_while(|_| !both()).for_each(|_| yield_now());
        };
        let out = tempfile::tempdir().unwrap();
        let threads = NonZeroUsize::new(2).unwrap();
        let done =
            sweep.run(out.path(), &host, Device::Cpu, threads, &AtomicBool::new(false), &report).unwrap();
        assert_eq!((done.now, both()), (2, true));
    }
}

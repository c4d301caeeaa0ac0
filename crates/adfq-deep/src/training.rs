//! Trainings in a few words: environments, agents, seeds and settings become runs with folders, and several runs train side
//! by side. Training the same runs again continues what is missing.

use crate::config::{Tuned, env_args, wrappers};
use crate::run::folder::{
    holds_run, last_checkpoint, lengthen, read_config, read_result, write_failure, write_times,
};
use crate::run::logs::time_of_day;
use crate::trainer::Stop;
use crate::{Config, Error, Host, Observers, Result, Run, RunFolder, Summary, Timeline, Trainer};
use adfq_env::{Args, EnvSpec, Purpose, Space};
use rayon::ThreadPoolBuilder;
use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

#[cfg(feature = "cuda")]
mod cuda;
mod names;

pub use names::folder_name;

/// The preset that stands for the settings of the zoo.
const TUNED: &str = "tuned";
/// The agent of trainings that name none. The paper's settings are for ADFQ.
const AGENT: &str = "calibrated";

/// Where networks learn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// On the CPU.
    #[default]
    Cpu,
    /// On the GPU of this number.
    Cuda(usize),
}

/// A run to be trained: a folder, and its configuration if it may have to be started.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Job {
    /// The run folder.
    pub folder: PathBuf,
    /// The configuration; none to go on with what the folder holds.
    pub config: Option<Config>,
    /// Whether to go on without the pieces of the replay memory that cannot be read. The run is then not exact.
    pub refill: bool,
    /// Makes a run that is there longer: so many steps.
    pub longer: Option<u64>,
    /// Whether the replay memory stays on disk when the run has come to its end.
    pub keep_replay: bool,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// It came to its end.
    Finished(Box<Summary>),
    /// It had come to its end before, and is as it was.
    WasFinished(Box<Summary>),
    /// It was stopped and saved.
    Stopped {
        /// The step at which it stands.
        step: u64,
        /// The steps it is to have.
        steps: u64,
    },
}

/// What became of a job.
#[derive(Debug)]
pub struct Outcome {
    /// The run folder.
    pub folder: PathBuf,
    /// How it ended. None if it was not begun because it was time to stop.
    pub ending: Option<Result<Ending>>,
}

/// What else watches each run: called with its folder, the run before its first step here, and warnings about checkpoints
/// that could not be used.
pub type Watch<'a> = dyn Fn(&Path, &Run, &[String]) -> Observers<'static> + Sync + 'a;

/// What to train. Everything that is not set has its default.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// use adfq_deep::Training;
///
/// let training = Training::new("cartpole").agents(["adfq-ts", "dqn"])?.seeds(0..2).steps(200);
/// let runs = training.run(folder.path())?; // four run folders
/// assert_eq!(runs.len(), 4);
/// assert_eq!(training.run(folder.path())?, runs); // all there already
/// # Ok::<(), adfq_deep::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Training {
    /// Environments and algorithms, and the memory there is.
    pub host: Host,
    /// Environments, a run each for every agent and seed.
    pub envs: Vec<String>,
    /// Agents with their policies. None stands for the configuration's, for that of the preset `paper`, or for Calibrated; and a
    /// policy of none for the agent's default.
    pub agents: Vec<(String, Option<String>)>,
    /// A policy where no agent is named.
    pub policy: Option<String>,
    /// Seeds. None stands for the configuration's.
    pub seeds: Vec<u64>,
    /// The settings to start from: `tuned` for those of the zoo where there are any, `default` for the general ones, or
    /// `paper`.
    pub preset: String,
    /// A configuration to start from in place of a preset.
    pub config: Option<Config>,
    /// Environment steps.
    pub steps: Option<u64>,
    /// Environments side by side in each run.
    pub parallel_envs: Option<usize>,
    /// Arguments of the environment.
    pub env_args: Args,
    /// Changes of single settings, as `learning.batch=64`.
    pub settings: Vec<String>,
    /// What the runs share.
    pub resources: Resources,
    /// The step after which each run is saved and stopped, to go on later.
    pub stop_after: Option<u64>,
    /// Whether replay memories stay on disk when their runs have come to their ends.
    pub keep_replay: bool,
}

/// What runs that train side by side share.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resources {
    /// Where networks learn.
    pub device: Device,
    /// Runs at once on the CPU; by default one for each core.
    pub jobs: Option<usize>,
    /// Threads of each run's network; by default its share of the cores.
    pub threads: Option<usize>,
    /// Runs that go step by step together on a GPU at most; by default those that can go in up to four groups.
    pub together: Option<NonZeroUsize>,
}

impl Training {
    /// In this environment, with the settings that were found for it, or the general ones if there are none.
    pub fn new(env: &str) -> Self {
        Self {
            host: Host::here(),
            envs: vec![env.to_owned()],
            agents: vec![],
            policy: None,
            seeds: vec![],
            preset: TUNED.to_owned(),
            config: None,
            steps: None,
            parallel_envs: None,
            env_args: Args::new(),
            settings: vec![],
            resources: Resources::default(),
            stop_after: None,
            keep_replay: false,
        }
    }

    /// With environments and algorithms of the user's own.
    #[must_use]
    pub fn host(self, host: Host) -> Self {
        Self { host, ..self }
    }

    /// With this agent and its default policy.
    #[must_use]
    pub fn agent(self, agent: &str) -> Self {
        Self { agents: vec![(agent.to_owned(), None)], ..self }
    }

    /// With several agents, a run each for every seed; `adfq-eps` is an agent with a policy.
    pub fn agents<'a>(mut self, words: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        self.agents.clear();
        for word in words {
            let (agent, policy) = self.host.algorithms.parse(word)?;
            // The name of an agent alone leaves the policy open.
            let policy = (agent != word).then_some(policy);
            self.agents.push((agent, policy));
        }
        Ok(self)
    }

    /// With these seeds.
    #[must_use]
    pub fn seeds(self, seeds: impl IntoIterator<Item = u64>) -> Self {
        Self { seeds: seeds.into_iter().collect(), ..self }
    }

    /// Over so many environment steps.
    #[must_use]
    pub fn steps(self, steps: u64) -> Self {
        Self { steps: Some(steps), ..self }
    }

    /// With one setting changed, as `learning.batch=64`.
    #[must_use]
    pub fn set(mut self, assignment: &str) -> Self {
        self.settings.push(assignment.to_owned());
        self
    }

    /// On this device.
    #[must_use]
    pub fn device(mut self, device: Device) -> Self {
        self.resources.device = device;
        self
    }

    /// Saves and stops each run as soon as it has taken so many steps. The same training without this goes on from there.
    #[must_use]
    pub fn stop_after(self, step: u64) -> Self {
        Self { stop_after: Some(step), ..self }
    }

    /// Keeps the replay memory of each run on disk when it has come to its end: it can then be made longer to the bit.
    #[must_use]
    pub fn keep_replay(self) -> Self {
        Self { keep_replay: true, ..self }
    }

    /// The configurations of all runs in one environment, and its space.
    pub fn configs(&self, env: &str) -> Result<(Vec<Config>, Space)> {
        let (config, space) = self.first_config(env)?;
        let seeds = if self.seeds.is_empty() { vec![config.seed] } else { self.seeds.clone() };
        let agents = match &self.agents[..] {
            [] => vec![self.for_agent(&config, self.default_agent().as_ref())?],
            agents => {
                agents.iter().map(|agent| self.for_agent(&config, Some(agent))).collect::<Result<_>>()?
            }
        };
        let configs = agents.into_iter().flat_map(|config| {
            seeds.iter().map(move |&seed| Config { seed, ..config.clone() }).collect::<Vec<_>>()
        });
        let configs: Vec<_> = configs.map(|config| self.assigned(config)).collect::<Result<_>>()?;
        Ok((configs, space))
    }

    /// The agent where none is named; none stands for that of the configuration, or of the preset.
    fn default_agent(&self) -> Option<(String, Option<String>)> {
        self.takes_general().then(|| (AGENT.to_owned(), None))
    }

    /// Whether it starts from our general settings, and not from those of others or of a user.
    fn takes_general(&self) -> bool {
        self.config.is_none() && [TUNED, "default"].contains(&&*self.preset)
    }

    /// The configuration before agents, seeds and assignments. The environment is made to learn its space.
    fn first_config(&self, env: &str) -> Result<(Config, Space)> {
        let mut args = self.config.as_ref().map(|config| config.env_args.clone()).unwrap_or_default();
        args.extend(self.env_args.clone());
        let args = env_args(&args, &self.settings)?;
        let own = self.config.as_ref().map_or(&[][..], |config| &config.wrappers[..]);
        let wrappers = wrappers(own, &self.settings)?;
        let spec =
            EnvSpec { args, wrappers: wrappers.clone(), purpose: Purpose::Evaluation, ..EnvSpec::new(env) };
        let made = self.host.registry.env(&spec)?;
        let config = match &self.config {
            Some(config) => config.clone(),
            // What is tuned depends on the agent.
            None if self.preset == TUNED => Config::preset("default", env, made.space())?,
            None => Config::preset(&self.preset, env, made.space())?,
        };
        let env_args = self.host.registry.settled(&spec)?;
        Ok((Config { env: env.to_owned(), env_args, wrappers, ..config }, made.space().clone()))
    }

    /// The configuration for an agent and its policy; none stands for those it has.
    fn for_agent(&self, config: &Config, agent: Option<&(String, Option<String>)>) -> Result<Config> {
        let given = agent.and_then(|(_, policy)| policy.as_ref()).or(self.policy.as_ref());
        let config = match agent {
            Some((agent, _)) => {
                let kept = (config.agent == *agent).then_some(&config.policy);
                let policy = given.or(kept).map(String::as_str);
                self.host.algorithms.with_agent(config.clone(), agent, policy)?
            }
            None => Config { policy: given.unwrap_or(&config.policy).clone(), ..config.clone() },
        };
        let config = self.with_general(config)?;
        let mut config = self.with_tuned(config, given.map(String::as_str))?;
        if let Some(steps) = self.steps {
            config = config.with_steps(steps);
        }
        Ok(Config { envs: self.parallel_envs.unwrap_or(config.envs), ..config })
    }

    /// With what the agent changes in the general settings, if it starts from them or from those of bsuite.
    fn with_general(&self, config: Config) -> Result<Config> {
        let changes = self.takes_general() || self.config.is_none() && self.preset == "bsuite";
        if changes { self.host.algorithms.with_general(config) } else { Ok(config) }
    }

    /// With the settings of the zoo if they are asked for and there are any. An agent without any gets the same number of
    /// steps as those with, so that they can be compared.
    fn with_tuned(&self, config: Config, policy: Option<&str>) -> Result<Config> {
        if let Some(tuned) = self.tuned(&config.env, &config.agent, policy) {
            return tuned.apply(config);
        }
        match Tuned::steps_in(&config.env).filter(|_| self.takes_tuned()) {
            Some(steps) => Ok(config.with_steps(steps)),
            None => Ok(config),
        }
    }

    /// The settings of the zoo that this training takes for an agent, if it takes any. Another policy than theirs needs
    /// settings of its own.
    pub fn tuned(&self, env: &str, agent: &str, policy: Option<&str>) -> Option<&'static Tuned> {
        let tuned = Tuned::of(env, agent).filter(|_| self.takes_tuned())?;
        policy.is_none_or(|policy| policy == tuned.policy).then_some(tuned)
    }

    fn takes_tuned(&self) -> bool {
        self.config.is_none() && self.preset == TUNED
    }

    fn assigned(&self, config: Config) -> Result<Config> {
        self.host.check(&config)?;
        let env = config.env.clone();
        let config = self.settings.iter().try_fold(config, |config, setting| config.with(setting))?;
        match config.env == env {
            true => self.host.check(&config).map(|()| config),
            false => Err(Error::Setting { name: "env", must: "given as the environment to train in" }),
        }
    }

    /// The runs of this training. One alone gets the folder; several get folders in it whose names say what differs.
    pub fn jobs(&self, folder: &Path) -> Result<Vec<Job>> {
        let mut configs = vec![];
        for env in &self.envs {
            configs.extend(self.configs(env)?.0);
        }
        let jobs = jobs_in(folder, configs, &self.settings);
        Ok(jobs.into_iter().map(|job| Job { keep_replay: self.keep_replay, ..job }).collect())
    }

    /// Trains every run that is not finished yet, resumes those that were stopped, and returns what all have reached. The
    /// error is that of the first run that failed.
    pub fn run(&self, folder: impl AsRef<Path>) -> Result<Vec<Summary>> {
        let jobs = self.jobs(folder.as_ref())?;
        let watch = |_: &Path, _: &Run, _: &[String]| vec![];
        let never = AtomicBool::new(false);
        let stop = Stop { flag: &never, after: self.stop_after };
        let (outcomes, _) = train(jobs, &self.host, &self.resources, &watch, stop)?;
        let mut summaries = vec![];
        for Outcome { ending, .. } in outcomes {
            if let Some(Ending::Finished(summary) | Ending::WasFinished(summary)) = ending.transpose()? {
                summaries.push(*summary);
            }
        }
        Ok(summaries)
    }
}

/// The runs of these configurations, in which these settings were changed: one alone gets the folder, several get folders
/// in it.
pub fn jobs_in(folder: &Path, configs: Vec<Config>, settings: &[String]) -> Vec<Job> {
    let alone = configs.len() == 1;
    let inner = |config: &Config| folder.join(folder_name(config, settings));
    let place = |config: &Config| if alone { folder.to_owned() } else { inner(config) };
    let job = |config| Job { folder: place(&config), config: Some(config), ..Job::default() };
    configs.into_iter().map(job).collect()
}

/// Trains these runs to their ends, several side by side. Runs that are finished already stay as they are. Runs that were
/// stopped continue. A run that fails does not stop the others. When it is time to stop, all runs are saved. Outcomes are in the
/// order of the jobs. The timelines say
/// where the time went: on a GPU that of each group of runs, on the CPU that of all runs added up.
pub fn train<'a>(
    jobs: Vec<Job>,
    host: &Host,
    resources: &Resources,
    watch: &Watch,
    stop: impl Into<Stop<'a>>,
) -> Result<(Vec<Outcome>, Vec<Timeline>)> {
    let stop = stop.into();
    match resources.device {
        Device::Cpu => on_cpu(jobs, host, resources, watch, stop),
        #[cfg(feature = "cuda")]
        Device::Cuda(number) => cuda::train(number, jobs, host, resources.together, watch, stop),
        #[cfg(not(feature = "cuda"))]
        Device::Cuda(number) => Err(Error::NoCuda(format!("cuda:{number}"))),
    }
}

/// A run that has been begun, or one that was finished before.
enum Begun {
    Ready(Box<Ready>),
    Finished(Box<Summary>),
}

/// A folder, the run in it, and what watches it.
type Ready = (PathBuf, Run, Observers<'static>);

impl Job {
    /// Makes the run, or takes it up.
    fn begin(&self, host: &Host, watch: &Watch) -> Result<Begun> {
        self.try_begin(host, watch).map_err(|error| name_folder(error, &self.folder))
    }

    fn try_begin(&self, host: &Host, watch: &Watch) -> Result<Begun> {
        // The memory that is left is another each time.
        let host = &Host { memory: host.memory.and(Host::here().memory), ..host.clone() };
        let there = holds_run(&self.folder);
        if let (Some(config), true) = (&self.config, there)
            && read_config(&self.folder)? != *config
        {
            return Err(Error::OtherRun { path: self.folder.clone() });
        }
        if let Some(steps) = self.longer {
            lengthen(&self.folder, steps)?;
        }
        if there && let Some(summary) = read_result(&self.folder, &read_config(&self.folder)?)? {
            return Ok(Begun::Finished(Box::new(summary)));
        }
        let (folder, run, warnings) = match &self.config {
            Some(config) if !there => {
                // Whatever is wrong with the configuration is said before anything is written.
                let run = Run::new(config, host)?;
                (RunFolder::create(&self.folder, &run)?, run, vec![])
            }
            _ if self.refill => RunFolder::refill(&self.folder, host)?,
            _ => RunFolder::resume(&self.folder, host)?,
        };
        let mut observers = folder.keep_replay(self.keep_replay).observers(&run, time_of_day())?;
        observers.extend(watch(&self.folder, &run, &warnings));
        Ok(Begun::Ready(Box::new((self.folder.clone(), run, observers))))
    }
}

fn on_cpu(
    jobs: Vec<Job>,
    host: &Host,
    resources: &Resources,
    watch: &Watch,
    stop: Stop,
) -> Result<(Vec<Outcome>, Vec<Timeline>)> {
    let order = folders_of(&jobs);
    let at_once = resources.jobs.unwrap_or(cores()).clamp(1, jobs.len().max(1));
    let alone = jobs.len() == 1 && resources.threads.is_none();
    let queue = Mutex::new(VecDeque::from(jobs));
    let (done, timelines) = (Mutex::new(vec![]), Mutex::new(vec![]));
    let work = || {
        while let Some(job) = next(&queue).filter(|_| !stop.is_set()) {
            let now = Instant::now();
            let ending = job.begin(host, watch).and_then(|begun| match begun {
                Begun::Finished(summary) => Ok(Ending::WasFinished(summary)),
                Begun::Ready(ready) => {
                    let (ending, timeline) = train_alone(*ready, now, stop)?;
                    locked(&timelines).push(timeline);
                    ending
                }
            });
            locked(&done).push(Outcome { folder: job.folder, ending: Some(ending) });
        }
    };
    match alone {
        // Handing work to another thread takes longer than the work of a small network.
        true => work(),
        false => {
            let threads = resources.threads.unwrap_or(cores() / at_once).max(1);
            let pool = || ThreadPoolBuilder::new().num_threads(threads).build();
            let pools = (0..at_once).map(|_| pool().map_err(|error| Error::Threads(error.to_string())));
            let pools = pools.collect::<Result<Vec<_>>>()?;
            std::thread::scope(|scope| {
                pools.iter().for_each(|pool| drop(scope.spawn(|| pool.install(work))))
            });
        }
    }
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    let timelines = timelines.into_inner().unwrap_or_else(PoisonError::into_inner);
    let added_up = timelines.into_iter().reduce(|mut sum: Timeline, timeline| {
        sum += timeline;
        sum
    });
    Ok((in_order(order, done), added_up.into_iter().collect()))
}

fn folders_of(jobs: &[Job]) -> Vec<PathBuf> {
    jobs.iter().map(|job| job.folder.clone()).collect()
}

/// What became of the jobs in these folders, in their order. One that is missing was not begun.
fn in_order(folders: Vec<PathBuf>, mut done: Vec<Outcome>) -> Vec<Outcome> {
    let outcome = |folder: PathBuf| match done.iter().position(|outcome| outcome.folder == folder) {
        Some(at) => done.swap_remove(at),
        None => Outcome { folder, ending: None },
    };
    folders.into_iter().map(outcome).collect()
}

/// Trains one run, which was begun at this moment, and says where its time went.
fn train_alone(ready: Ready, begun: Instant, stop: Stop) -> Result<(Result<Ending>, Timeline)> {
    let (folder, run, observers) = ready;
    let mut trainer = Trainer::on_cpu(vec![run])?;
    trainer.begun_at(begun);
    let mut observers = [observers];
    let trained = trainer.train(&mut observers, stop);
    let timeline = *trainer.timeline();
    note_times(&folder, &trained, &timeline, begun);
    // The folder is held until here.
    drop(observers);
    Ok((ending(&folder, &mut trainer.into_runs()[0], trained), timeline))
}

/// Writes where the time of a run went to its folder, if it did not fail. A run is none the worse without.
fn note_times(folder: &Path, trained: &Result<bool>, timeline: &Timeline, begun: Instant) {
    if trained.is_ok() {
        let _ = write_times(folder, timeline, begun.elapsed());
    }
}

/// How a run ended, given whether it came to its end.
fn ending(folder: &Path, run: &mut Run, trained: Result<bool>) -> Result<Ending> {
    match trained.map_err(|error| noted(name_checkpoint(error, folder), folder))? {
        true => {
            let summary = run.summary.take().map_or_else(|| Summary::new(run), Ok)?;
            Ok(Ending::Finished(Box::new(summary)))
        }
        false => Ok(Ending::Stopped { step: run.step(), steps: run.config().steps }),
    }
}

/// Notes in the folder why its run failed. If that fails too, the error itself says enough.
fn noted(error: Error, folder: &Path) -> Error {
    let _ = write_failure(folder, &error);
    error
}

/// Where to go back to is known only here.
fn name_checkpoint(error: Error, folder: &Path) -> Error {
    let good = last_checkpoint(folder);
    match error {
        Error::Diverged { quantity, step, .. } => Error::Diverged { quantity, step, good },
        Error::Env(source) => Error::Stopped { source: Box::new(source), folder: folder.to_owned(), good },
        other => name_folder(other, folder),
    }
}

/// A run that has its configuration can be taken up again once there is space; one that has not is begun anew.
fn name_folder(error: Error, folder: &Path) -> Error {
    match error {
        Error::File(adfq_files::Error::DiskFull { path, needed, .. }) if holds_run(folder) => {
            let (folder, good) = (folder.to_owned(), last_checkpoint(folder));
            Error::DiskFull { path, needed, folder, good }
        }
        // It may have been noticed at the folder of the checkpoints, which went with that of the run.
        Error::File(adfq_files::Error::Moved(path)) if path.starts_with(folder) && !holds_run(folder) => {
            adfq_files::Error::Moved(folder.to_owned()).into()
        }
        other => other,
    }
}

fn next(queue: &Mutex<VecDeque<Job>>) -> Option<Job> {
    locked(queue).pop_front()
}

/// What a panicking thread leaves behind is whole: nothing is ever half pushed.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

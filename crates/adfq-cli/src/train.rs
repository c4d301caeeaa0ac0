//! `adfq train`: a deep agent learns an environment, and leaves a run folder.

use crate::device::Choice;
use crate::host::{EMULATORS, parse_threads};
use crate::output::say;
use crate::progress::{Bars, Signalled};
use adfq_deep::algorithm::Algorithms;
use adfq_deep::config::is_atari;
use adfq_deep::run::folder::read_config;
use adfq_deep::run::replay_bytes;
use adfq_deep::training::{Job, Resources, Training, folder_name, jobs_in};
use adfq_deep::{Config, Host};
use adfq_env::atari::Emulator;
use adfq_env::{Args as EnvArgs, Space};
use anyhow::{Result, bail};
use clap::builder::PossibleValuesParser;
use indicatif::HumanCount;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Train a deep agent; the run can be stopped and resumed to the bit
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  adfq train cartpole
  adfq train cartpole --agent ddqn --seeds 0..9    # ten seeds, one on each core
  adfq train minatar/breakout --policy epsilon --steps 1e6
  adfq train minatar/breakout --serve              # watch it in the browser
  adfq train minatar/breakout --agents adfq-ts,adfq-eps,dqn,ddqn --seeds 0..4
  adfq train acrobot --set adfq.rule=exact --set 'learning.target={hard=500}'
  adfq train deepsea-20 --agent split
  adfq train cartpole --preset paper --out runs/paper
  adfq train --config runs/paper/config.toml --seed 1
  adfq train gym:LunarLander-v3 --set env_args.gravity=-5.0 --python .venv/bin/python
  adfq train gym:LunarLander-v3 --eval-env-args enable_wind=true
  adfq train gym:Pendulum-v1 --wrap 'DiscretizeAction(bins=5)' --wrap 'TimeLimit(100)'
  adfq train atari:pong --preset atari-paper --steps 1000000
  adfq train atari:pong --emulator ale             # with ale-py in place of our own
  adfq train minatar/asterix,minatar/breakout --agents adfq-ts,ddqn --seeds 0..4 --device cuda
  adfq train --resume runs/cartpole-calibrated-doubt-0
  adfq train --resume runs/cartpole-calibrated-doubt-0 --steps 200000    # longer

A run folder holds config.toml, metrics.csv, evaluations.csv, result.json,
checkpoints and TensorBoard events. A finished run gives its replay memory back. Ctrl-C, SIGTERM and SIGHUP save and stop; the
exit status is then 130, 143 or 129. After a kill or a
power cut --resume goes on from the last checkpoint; either way the run ends with
the same bits as one that was never stopped. In gym: environments, and in atari: ones
that ALE plays, whose inner state is out of reach, episodes under way are cut off
instead.")]
pub struct Args {
    /// The environment: cartpole, acrobot, mountaincar, deepsea-10, minatar/breakout, ... (a wrong name lists all);
    /// bsuite:ID (bsuite:deep_sea/0); gym:ID for any of
    /// Python's Gymnasium (gym:LunarLander-v3, gym:my_package:MyEnv-v0); atari:GAME (atari:pong).
    /// Several, with commas between them, are trained side by side [default: that of --config]
    #[arg(
        required_unless_present_any = ["resume", "config"],
        conflicts_with = "resume",
        value_delimiter = ',',
        value_name = "ENV"
    )]
    names: Vec<String>,
    /// Go on with the run in this folder, or with those in several
    #[arg(long, value_name = "RUN", num_args = 1..)]
    resume: Vec<PathBuf>,
    /// With --resume: go on without the pieces of the replay memory that cannot be read. The memory fills again, and
    /// result.json says that the run is not exact
    #[arg(long, requires = "resume")]
    refill: bool,
    /// What learns [default: calibrated; adfq with --preset paper]
    #[arg(long, value_parser = agent_names(), conflicts_with = "resume")]
    agent: Option<String>,
    /// How it explores: epsilon; thompson, if the agent has beliefs; optimist, for split; head, for bootstrapped; doubt, for
    /// calibrated
    /// [default: the agent's own]
    #[arg(long, conflicts_with = "resume")]
    policy: Option<String>,
    /// Several agents, a run each for every seed: calibrated,adfq-ts,adfq-eps,dqn,ddqn,split,split-ts,bootstrapped
    #[arg(long, value_delimiter = ',', value_name = "AGENTS", conflicts_with_all = ["resume", "agent", "policy"])]
    agents: Vec<String>,
    /// Environment steps, as 100000 or 1e5. With --resume: train the run longer, to so many steps
    #[arg(long, value_parser = crate::count::parse, allow_negative_numbers = true)]
    steps: Option<u64>,
    /// Keep the replay memory on disk when the run is finished: it can then be trained longer to the bit
    #[arg(long)]
    keep_replay: bool,
    /// The seed from which all chance is drawn [default: 0]
    #[arg(long, conflicts_with_all = ["resume", "seeds"])]
    seed: Option<u64>,
    /// Several seeds, one run each: 0..9 or 1,5,8
    #[arg(long, conflicts_with = "resume", value_parser = parse_seeds)]
    seeds: Option<Seeds>,
    /// Environments side by side in each run
    #[arg(long, conflicts_with = "resume", value_parser = crate::count::parse_usize, allow_negative_numbers = true)]
    envs: Option<usize>,
    /// Put a wrapper around gym: environments, for training and evaluation: one of gymnasium.wrappers
    /// (FlattenObservation), or any by import path (my_module:MyWrapper); with its arguments, if it has some, as in
    /// 'TimeLimit(max_episode_steps=100)'. May be given several times, the innermost first
    #[arg(long = "wrap", value_name = "WRAPPER", conflicts_with = "resume")]
    wrappers: Vec<String>,
    /// An argument of the environment to evaluate in, where it differs from training or is added to it. May be given several
    /// times; --set env_args.NAME=VALUE sets one for both
    #[arg(long, value_name = "NAME=VALUE", conflicts_with = "resume", value_parser = parse_argument)]
    eval_env_args: Vec<String>,
    /// Sticky actions on atari:GAME: an action is repeated with probability 0.25
    #[arg(long, conflicts_with = "resume")]
    sticky: bool,
    /// Who plays atari:GAME: native, our own emulator in this process, or ale, in Python [default: native for the games that
    /// it plays exactly as ALE does]
    #[arg(long, value_name = "WHO", value_parser = EMULATORS, conflicts_with = "resume")]
    emulator: Option<String>,
    /// Settings to start from: tuned for the environment and the agent (`adfq presets` lists them), or default where there
    /// are none; default; paper; atari-paper; or bsuite
    #[arg(long, default_value = "tuned", conflicts_with = "resume")]
    preset: String,
    /// A configuration file to start from, such as another run's config.toml
    #[arg(long, value_name = "FILE", conflicts_with_all = ["resume", "preset"])]
    config: Option<PathBuf>,
    /// Change any setting of config.toml, as learning.batch=64; may be given several times
    #[arg(long = "set", value_name = "NAME=VALUE", conflicts_with = "resume")]
    settings: Vec<String>,
    /// The run folder; of several runs, the folder of their folders [default: in runs/]. The same command again goes on
    /// with those of several that are missing
    #[arg(long, value_name = "FOLDER", conflicts_with = "resume")]
    out: Option<PathBuf>,
    /// Show the runs in the browser while they train, and print the link
    #[arg(long)]
    serve: bool,
    /// Runs at once, with --seeds or --agents [default: one for each core]
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    jobs: Option<NonZeroUsize>,
    /// Where no bars can be drawn: seconds between lines that say how far the training is
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = parse_seconds)]
    progress: Duration,
    /// Threads of a run's network [default: its share of the cores]; the result does not depend on it
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    threads: Option<NonZeroUsize>,
    /// Processes over which a run's gym: environments are spread [default: 1]
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    workers: Option<NonZeroUsize>,
    /// How often each run may start gym: and atari: environments anew that raise, die or hang; their episodes are cut off
    #[arg(long, value_name = "N", default_value_t = 0)]
    restart_failed: u64,
    /// Where networks learn: cpu, cuda or cuda:1, or auto for a GPU if there is one
    #[arg(long, default_value = "cpu", value_parser = crate::device::parse)]
    device: Choice,
    /// Runs that go step by step together on a GPU at most [default: those that can, in up to four groups]; the result does not
    /// depend on it. Few keep environments busy that are slower than learning, as Atari's are
    #[arg(long, value_name = "N")]
    together: Option<NonZeroUsize>,
    #[command(flatten)]
    host: crate::host::HostArgs,
    #[command(flatten)]
    trust: crate::trust::TrustArgs,
}

/// No study has more runs than this of one agent.
const MOST_SEEDS: u64 = 100_000;

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|&seconds: &f64| seconds > 0.0);
    let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    duration.ok_or_else(|| format!("{text:?} is no number of seconds above 0"))
}

/// `gravity=-5.0`, as the setting of evaluation that it is.
pub fn parse_argument(text: &str) -> Result<String, String> {
    match text.split_once('=') {
        Some((name, _)) if !name.trim().is_empty() => {
            Ok(format!("evaluation.env_args.{}", text.trim_start()))
        }
        _ => Err("say it as NAME=VALUE".to_owned()),
    }
}

/// Several seeds.
#[derive(Clone)]
pub struct Seeds(pub Vec<u64>);

/// `0..9` are ten seeds, `1,5,8` three.
pub fn parse_seeds(text: &str) -> Result<Seeds, String> {
    let number = |text: &str| text.trim().parse::<u64>().map_err(|_| format!("{text:?} is not a seed"));
    let seeds = match text.split_once("..") {
        Some((first, last)) => {
            let (first, last) = (number(first)?, number(last.trim_start_matches('='))?);
            if last.saturating_sub(first) >= MOST_SEEDS {
                return Err(format!("these are more than {MOST_SEEDS} seeds"));
            }
            (first..=last).collect()
        }
        None => text.split(',').map(number).collect::<Result<Vec<_>, _>>()?,
    };
    if seeds.is_empty() { Err("the first seed comes after the last".to_owned()) } else { Ok(Seeds(seeds)) }
}

/// The agents that there are, with a line for each.
fn agent_names() -> PossibleValuesParser {
    let algorithms = Algorithms::default();
    let values =
        algorithms.iter().map(|agent| clap::builder::PossibleValue::new(agent.name).help(agent.about));
    PossibleValuesParser::new(values.collect::<Vec<_>>())
}

impl Args {
    fn host(&self) -> Host {
        let mut host = self.host.host();
        let gym = &mut host.registry.gym;
        gym.workers = self.workers.unwrap_or(gym.workers);
        Host { restarts: self.restart_failed, ..host }
    }

    fn resources(&self) -> Result<Resources> {
        let together = self.together;
        let [jobs, threads] = [self.jobs, self.threads].map(|number| number.map(NonZeroUsize::get));
        Ok(Resources { device: self.device.device()?, jobs, threads, together })
    }

    /// What is to be trained, in the library's words.
    fn training(&self, host: &Host) -> Result<Training> {
        let config = self.config_file()?;
        let envs = match (&self.names[..], &config) {
            ([], Some(config)) => vec![config.env.clone()],
            (names, _) => names.to_vec(),
        };
        let mut training = Training { host: host.clone(), envs, config, ..Training::new("") };
        if let Some(agent) = &self.agent {
            training = training.agent(agent);
        }
        if !self.agents.is_empty() {
            training = training.agents(self.agents.iter().map(String::as_str))?;
        }
        training.policy = self.policy.clone();
        training.seeds = match (&self.seeds, self.seed) {
            (Some(Seeds(seeds)), _) => seeds.clone(),
            (None, seed) => seed.into_iter().collect(),
        };
        training.preset = self.preset.clone();
        (training.steps, training.parallel_envs) = (self.steps, self.envs);
        training.env_args = self.env_args(&training.envs)?;
        training.settings = self.settings();
        Ok(training)
    }

    /// All changes of settings: --wrap and --eval-env-args are short for some of them.
    fn settings(&self) -> Vec<String> {
        // An array of strings is the same in JSON and TOML.
        let wrap = || format!("wrappers={}", serde_json::json!(self.wrappers));
        let wrap = (!self.wrappers.is_empty()).then(wrap);
        [self.settings.clone(), self.eval_env_args.clone(), wrap.into_iter().collect()].concat()
    }

    fn env_args(&self, envs: &[String]) -> Result<EnvArgs> {
        let flags = [("--sticky", self.sticky), ("--emulator", self.emulator.is_some())];
        let flag = flags.iter().find(|(_, given)| *given).map(|(flag, _)| flag);
        if let (Some(flag), Some(env)) = (flag, envs.iter().find(|env| !is_atari(env))) {
            bail!("{flag} is for the games of Atari (atari:GAME), and {env} is none");
        }
        let sticky = self.sticky.then(|| ("repeat_action_probability".to_owned(), 0.25.into()));
        let emulator = self.emulator.clone().map(|who| (Emulator::ARGUMENT.to_owned(), who.into()));
        Ok(sticky.into_iter().chain(emulator).collect())
    }

    fn config_file(&self) -> Result<Option<Config>> {
        let Some(path) = &self.config else { return Ok(None) };
        Ok(Some(Config::from_file(path)?))
    }

    /// The runs, each with its folder. Says what is about to happen.
    fn plan(&self, training: &Training) -> Result<Vec<Job>> {
        let mut configs = vec![];
        for env in &training.envs {
            let (own, space) = training.configs(env)?;
            introduce(training, &own, &space);
            configs.extend(own);
        }
        let (several, settings) = (configs.len() > 1, &training.settings);
        let free = |config: Config| {
            let folder = free_folder(&config, settings, several);
            Job { folder, config: Some(config), ..Job::default() }
        };
        let jobs = match &self.out {
            Some(out) => jobs_in(out, configs, settings),
            None => configs.into_iter().map(free).collect(),
        };
        // Of several runs those that are missing are trained; one alone that is there already is a mistake.
        match &jobs[..] {
            [Job { folder, .. }] if read_config(folder).is_ok() => {
                Err(adfq_deep::Error::RunExists { path: folder.clone() }.into())
            }
            _ => Ok(jobs.into_iter().map(|job| Job { keep_replay: self.keep_replay, ..job }).collect()),
        }
    }
}

/// `runs/cartpole-calibrated-doubt-0` for seed 0; if there is another run already, the same with -2, -3, ... Of several runs
/// the one that is there already is meant.
fn free_folder(config: &Config, settings: &[String], several: bool) -> PathBuf {
    let name = folder_name(config, settings);
    let names = (1..).map(|time: u32| match time {
        1 => Path::new("runs").join(&name),
        time => Path::new("runs").join(format!("{name}-{time}")),
    });
    let fits = |folder: &PathBuf| {
        !folder.exists() || several && read_config(folder).is_ok_and(|there| there == *config)
    };
    names.into_iter().find(fits).unwrap_or_else(|| Path::new("runs").join(&name))
}

pub fn run(args: &Args) -> Result<()> {
    let (mut host, resources) = (args.host(), args.resources()?);
    if !args.resume.is_empty() {
        // A folder that holds no run is named with the others, when they are begun.
        let configs: Vec<_> = args.resume.iter().filter_map(|folder| read_config(folder).ok()).collect();
        args.trust.settle(&mut host, &configs)?;
    }
    let stop = Signalled::listen("saving; press Ctrl-C again to leave without")?;
    let jobs = match &args.resume[..] {
        [] => args.plan(&args.training(&host)?)?,
        folders => {
            let Args { refill, steps: longer, keep_replay, .. } = *args;
            let job =
                |folder: &PathBuf| Job { folder: folder.clone(), config: None, refill, longer, keep_replay };
            folders.iter().map(job).collect()
        }
    };
    // Dropped at the end: the page lasts as long as the training.
    let _page = args.serve.then(|| crate::serve::beside(&root_of(&jobs), &host));
    Bars::new(args.progress).train(jobs, &host, &resources, &stop)
}

/// The folder that holds the folders of all runs. One run in the working folder is served by itself: nobody knows what else is
/// there.
fn root_of(jobs: &[Job]) -> PathBuf {
    let parent = |job: &Job| job.folder.parent().unwrap_or(Path::new("")).to_owned();
    let mut root = jobs.first().map(parent).unwrap_or_default();
    while !jobs.iter().all(|job| parent(job).starts_with(&root)) && root.pop() {}
    match (root.as_os_str().is_empty(), jobs) {
        (true, [job]) => job.folder.clone(),
        (true, _) => PathBuf::from("."),
        (false, _) => root,
    }
}

/// Wrappers of Gymnasium that change what is seen or earned by numbers that they gather.
const GATHERING: [&str; 2] = ["NormalizeObservation", "NormalizeReward"];

/// What is about to happen, and what it will take.
fn introduce(training: &Training, configs: &[Config], space: &Space) {
    let [config, ..] = configs else { return };
    for wrapper in &config.wrappers {
        let name =
            wrapper.split('(').next().and_then(|path| path.rsplit(['.', ':']).next()).unwrap_or_default();
        if GATHERING.contains(&name.trim()) {
            say(&format!(
                "warning: {wrapper} gathers numbers in each environment by itself: those of evaluation are others, and a resumed run gathers anew"
            ));
        }
    }
    let bytes = replay_bytes(config, space);
    let mut agents: Vec<_> =
        configs.iter().map(|config| format!("{} with the policy {}", config.agent, config.policy)).collect();
    agents.dedup();
    say(&format!(
        "{}: {}, {} steps; replay memory of {} transitions: {bytes}{}",
        config.env,
        agents.join(", "),
        HumanCount(config.steps),
        HumanCount(config.replay.capacity as u64),
        if configs.len() > 1 { format!(" for each of {} runs", configs.len()) } else { String::new() }
    ));
    let mut tuned: Vec<_> = configs
        .iter()
        .filter_map(|Config { env, agent, policy, .. }| training.tuned(env, agent, Some(policy)))
        .collect();
    tuned.dedup();
    for tuned in tuned {
        say(&crate::presets::taken(tuned));
    }
}

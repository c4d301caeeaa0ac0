//! `adfq train`: a deep agent learns an environment, and leaves a run folder.

use crate::device::Choice;
use crate::progress::{Start, clock, pool, stop_on_ctrl_c, train, train_all, train_on_gpu};
use adfq_deep::config::{AgentKind, PolicyKind, env_args, is_atari};
use adfq_deep::run::Run;
use adfq_deep::trainer::replay_bytes;
use adfq_deep::{Config, Host, Trainer};
use adfq_env::{Env, Purpose, Space};
use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use indicatif::{HumanCount, MultiProgress};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Train Deep ADFQ, Split ADFQ, DQN or Double DQN; the run can be stopped and resumed to the bit
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  adfq train cartpole
  adfq train cartpole --agent ddqn --seeds 0..9    # ten seeds, one on each core
  adfq train minatar/breakout --policy epsilon --steps 1000000
  adfq train minatar/breakout --agents adfq-ts,adfq-eps,dqn,ddqn --seeds 0..4
  adfq train acrobot --set adfq.rule=exact --set 'learning.target={hard=500}'
  adfq train deepsea-20 --agent split
  adfq train cartpole --preset paper --out runs/paper
  adfq train gym:LunarLander-v3 --set env_args.gravity=-5.0 --python .venv/bin/python
  adfq train atari:pong --preset atari-paper --steps 1000000
  adfq train minatar/asterix,minatar/breakout --agents adfq-ts,ddqn --seeds 0..4 --device cuda
  adfq train --resume runs/cartpole-adfq-thompson-0

A run folder holds config.toml, metrics.csv, evaluations.csv, result.json,
checkpoints and TensorBoard events. Ctrl-C saves and stops. After a kill or a
power cut --resume goes on from the last checkpoint; either way the run ends with
the same bits as one that was never stopped. In gym: and atari: environments, whose
inner state is out of reach, episodes under way are cut off instead.")]
pub struct Args {
    /// The environment: cartpole, acrobot, mountaincar, deepsea-10, minatar/breakout, ... (a wrong name lists all);
    /// gym:ID for any of Python's Gymnasium (gym:LunarLander-v3, gym:my_package:MyEnv-v0); atari:GAME (atari:pong).
    /// Several, with commas between them, are trained side by side
    #[arg(
        required_unless_present = "resume",
        conflicts_with = "resume",
        value_delimiter = ',',
        value_name = "ENV"
    )]
    names: Vec<String>,
    /// Go on with the run in this folder, or with those in several
    #[arg(long, value_name = "RUN", num_args = 1..)]
    resume: Vec<PathBuf>,
    /// What learns
    #[arg(long, value_enum, conflicts_with = "resume")]
    agent: Option<AgentName>,
    /// How it explores [default: thompson, epsilon for dqn and ddqn, optimist for split]
    #[arg(long, value_enum, conflicts_with = "resume")]
    policy: Option<PolicyName>,
    /// Several agents, a run each for every seed: adfq-ts,adfq-eps,dqn,ddqn,split,split-ts
    #[arg(long, value_enum, value_delimiter = ',', value_name = "AGENTS", conflicts_with_all = ["resume", "agent", "policy"])]
    agents: Vec<Contender>,
    /// Environment steps
    #[arg(long, conflicts_with = "resume")]
    steps: Option<u64>,
    /// The seed from which all chance is drawn [default: 0]
    #[arg(long, conflicts_with_all = ["resume", "seeds"])]
    seed: Option<u64>,
    /// Several seeds, one run each: 0..9 or 1,5,8
    #[arg(long, conflicts_with = "resume", value_parser = parse_seeds)]
    seeds: Option<Seeds>,
    /// Environments side by side in each run
    #[arg(long, conflicts_with = "resume")]
    envs: Option<usize>,
    /// Sticky actions on atari:GAME: an action is repeated with probability 0.25
    #[arg(long, conflicts_with = "resume")]
    sticky: bool,
    /// Settings to start from: default, paper, or atari-paper
    #[arg(long, default_value = "default", conflicts_with = "resume")]
    preset: String,
    /// A configuration file to start from, such as another run's config.toml
    #[arg(long, value_name = "FILE", conflicts_with_all = ["resume", "preset"])]
    config: Option<PathBuf>,
    /// Change any setting of config.toml, as learning.batch=64; may be given several times
    #[arg(long = "set", value_name = "NAME=VALUE", conflicts_with = "resume")]
    settings: Vec<String>,
    /// The run folder, or with --seeds or --agents the folder of the run folders [default: a new one in runs/]
    #[arg(long, value_name = "FOLDER", conflicts_with = "resume")]
    out: Option<PathBuf>,
    /// Runs at once, with --seeds or --agents [default: one for each core]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Threads of a run's network [default: its share of the cores]; the result does not depend on it
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Processes over which a run's gym: environments are spread [default: 1]
    #[arg(long, value_name = "N")]
    workers: Option<NonZeroUsize>,
    /// Where networks learn: cpu, cuda or cuda:1, or auto for a GPU if there is one
    #[arg(long, default_value = "cpu", value_parser = crate::device::parse)]
    device: Choice,
    /// Runs that go step by step together on a GPU [default: all that can]; the result does not depend on it. Few keep
    /// environments busy that are slower than learning, as Atari's are
    #[arg(long, value_name = "N")]
    together: Option<NonZeroUsize>,
    #[command(flatten)]
    host: crate::host::HostArgs,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum AgentName {
    /// Deep ADFQ, a belief on every Q(s,a) [default]
    Adfq,
    /// DQN
    Dqn,
    /// Double DQN
    Ddqn,
    /// Deep Split ADFQ, beliefs that stay honest; on the CPU
    Split,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum PolicyName {
    /// Acts best in a world drawn from the beliefs
    Thompson,
    /// The best action but for a share of random ones
    Epsilon,
    /// What may be best with luck; for split
    Optimist,
}

/// An agent and how it explores, in a word.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Contender {
    /// Deep ADFQ with Thompson sampling
    AdfqTs,
    /// Deep ADFQ, ε-greedy
    AdfqEps,
    /// DQN
    Dqn,
    /// Double DQN
    Ddqn,
    /// Deep Split ADFQ, which acts by hopeful values
    Split,
    /// Deep Split ADFQ with Thompson sampling
    SplitTs,
}

#[derive(Clone)]
struct Seeds(Vec<u64>);

/// `0..9` are ten seeds, `1,5,8` three.
fn parse_seeds(text: &str) -> Result<Seeds, String> {
    let number = |text: &str| text.trim().parse::<u64>().map_err(|_| format!("{text:?} is not a seed"));
    let seeds = match text.split_once("..") {
        Some((first, last)) => (number(first)?..=number(last.trim_start_matches('='))?).collect(),
        None => text.split(',').map(number).collect::<Result<Vec<_>, _>>()?,
    };
    if seeds.is_empty() { Err("the first seed comes after the last".to_owned()) } else { Ok(Seeds(seeds)) }
}

impl Args {
    fn host(&self) -> Host {
        let mut host = self.host.host();
        host.registry.gym.workers = self.workers.unwrap_or(host.registry.gym.workers);
        host
    }

    /// Whether the agent that no GPU knows is among those named. One that a file or a run folder names is refused later.
    fn asks_for_split(&self) -> bool {
        let named = |agent: &Contender| agent.kinds().0 == AgentKind::Split;
        self.agent == Some(AgentName::Split) || self.agents.iter().any(named)
    }

    /// The configuration of the first seed, and the environment to evaluate it in: it was made to learn its space.
    fn config(&self, env: &str, host: &Host) -> Result<(Config, Box<dyn Env>)> {
        let file = self.config_file()?;
        let mut args = file.as_ref().map(|config| config.env_args.clone()).unwrap_or_default();
        if self.sticky {
            if !is_atari(env) {
                bail!("--sticky is for the games of Atari (atari:GAME), and {env} is none");
            }
            args.insert("repeat_action_probability".to_owned(), 0.25.into());
        }
        let args = env_args(&args, &self.settings)?;
        let evaluation = host.registry.env(&Host::spec(env, &args, Purpose::Evaluation))?;
        let config = match file {
            Some(config) => config,
            None => Config::preset(&self.preset, env, evaluation.space())?,
        };
        let config = self.changed(Config { env: env.to_owned(), env_args: args, ..config })?;
        if config.env != env {
            bail!("say which environment to train in as {} in place of {env}, not by --set env", config.env);
        }
        Ok((config, evaluation))
    }

    fn config_file(&self) -> Result<Option<Config>> {
        let Some(path) = &self.config else { return Ok(None) };
        let text =
            std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(Some(Config::from_toml(&text)?))
    }

    /// The configuration as the other arguments change it.
    fn changed(&self, mut config: Config) -> Result<Config> {
        if let Some(agent) = self.agent {
            let agent = agent.kind();
            // A configuration file's policy stays where the agent can follow it.
            let fits = agent == AgentKind::Adfq && config.policy != PolicyKind::Optimist;
            let policy = if fits { config.policy } else { agent.policy() };
            config = config.with_agent(agent, policy);
        }
        if let Some(policy) = self.policy {
            config.policy = policy.kind();
        }
        if let Some(steps) = self.steps {
            config = config.with_steps(steps);
        }
        config.envs = self.envs.unwrap_or(config.envs);
        config.seed = self.seed.unwrap_or(config.seed);
        config.check()?;
        self.settings.iter().try_fold(config, |config, setting| Ok(config.with(setting)?))
    }

    /// One run for each agent and seed, each with its folder.
    fn plan(&self, config: &Config) -> Vec<Start> {
        let seeds = self.seeds.as_ref().map_or(vec![config.seed], |Seeds(seeds)| seeds.clone());
        let agents = match &self.agents[..] {
            [] => vec![(config.agent, config.policy)],
            agents => agents.iter().map(|agent| agent.kinds()).collect(),
        };
        let configs = agents.iter().flat_map(|&(agent, policy)| {
            seeds.iter().map(move |&seed| Config { seed, ..config.clone().with_agent(agent, policy) })
        });
        configs.map(|config| Start { folder: self.folder(&config), config: Some(config) }).collect()
    }

    /// Where a run goes: the folder asked for, or one in it if there are several runs, or a new one.
    fn folder(&self, config: &Config) -> PathBuf {
        let Config { agent, policy, seed, .. } = config;
        let several = self.names.len() > 1;
        match &self.out.as_ref().map(|out| if several { out.join(slug(&config.env)) } else { out.clone() }) {
            None => free_folder(config),
            Some(out) if !self.agents.is_empty() => {
                out.join(format!("{}-{}-{seed}", agent.name(), policy.name()))
            }
            Some(out) if self.seeds.is_some() => out.join(format!("seed-{seed}")),
            Some(out) => out.clone(),
        }
    }
}

impl Contender {
    fn kinds(self) -> (AgentKind, PolicyKind) {
        match self {
            Self::AdfqTs => (AgentKind::Adfq, PolicyKind::Thompson),
            Self::AdfqEps => (AgentKind::Adfq, PolicyKind::Epsilon),
            Self::Dqn => (AgentKind::Dqn, PolicyKind::Epsilon),
            Self::Ddqn => (AgentKind::Ddqn, PolicyKind::Epsilon),
            Self::Split => (AgentKind::Split, PolicyKind::Optimist),
            Self::SplitTs => (AgentKind::Split, PolicyKind::Thompson),
        }
    }
}

impl AgentName {
    fn kind(self) -> AgentKind {
        match self {
            Self::Adfq => AgentKind::Adfq,
            Self::Dqn => AgentKind::Dqn,
            Self::Ddqn => AgentKind::Ddqn,
            Self::Split => AgentKind::Split,
        }
    }
}

impl PolicyName {
    fn kind(self) -> PolicyKind {
        match self {
            Self::Thompson => PolicyKind::Thompson,
            Self::Epsilon => PolicyKind::Epsilon,
            Self::Optimist => PolicyKind::Optimist,
        }
    }
}

/// `runs/cartpole-adfq-thompson-0` for seed 0; if there is one already, the same with -2, -3, ...
fn free_folder(config: &Config) -> PathBuf {
    let name = format!(
        "runs/{}-{}-{}-{}",
        slug(&config.env),
        config.agent.name(),
        config.policy.name(),
        config.seed
    );
    let again = (2..).map(|time| PathBuf::from(format!("{name}-{time}")));
    let mut names = std::iter::once(PathBuf::from(&name)).chain(again);
    names.find(|path| !path.exists()).unwrap_or_else(|| PathBuf::from(name))
}

/// An environment's name as that of a folder.
fn slug(env: &str) -> String {
    env.to_lowercase().replace(['/', ':'], "-")
}

pub fn run(args: &Args) -> Result<()> {
    let (stop, host) = (stop_on_ctrl_c()?, args.host());
    let alone = |run, trainer| {
        let bars = MultiProgress::new();
        // Handing work to another thread takes longer than the work of a small network: one thread does it all itself.
        if args.threads == Some(1) {
            return pool(args.threads, 1)?.install(|| train(run, trainer, &bars, &stop)).map(drop);
        }
        if let Some(threads) = args.threads {
            rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
        }
        train(run, trainer, &bars, &stop).map(drop)
    };
    if args.device != Choice::Cpu && args.asks_for_split() {
        return Err(adfq_deep::Error::CpuOnly(AgentKind::Split.name()).into());
    }
    let gpu = args.device.gpu()?;
    let several = |runs: Vec<Start>| match gpu {
        Some(ordinal) => train_on_gpu(ordinal, runs, args.together, &host.registry, &stop),
        None => train_all(runs, &host.registry, args.jobs, args.threads, &stop),
    };
    match (&args.resume[..], gpu) {
        ([folder], None) => {
            let (run, trainer) = (Start { folder: folder.clone(), config: None }).begin(&host)?;
            return alone(run, trainer);
        }
        ([], _) => {}
        (folders, _) => {
            return several(
                folders.iter().map(|folder| Start { folder: folder.clone(), config: None }).collect(),
            );
        }
    }
    let mut runs = vec![];
    for env in &args.names {
        let (config, evaluation) = args.config(env, &host)?;
        let own = args.plan(&config);
        introduce(&own, evaluation.space());
        if let ([Start { folder, .. }], [_], None) = (&own[..], &args.names[..], gpu) {
            let trainer = Trainer::with_envs(&config, &host, host.envs(&config)?, evaluation)?;
            return alone(Run::start(folder, &trainer, clock())?, trainer);
        }
        runs.extend(own);
    }
    several(runs)
}

/// What is about to happen, and what it will take.
fn introduce(runs: &[Start], space: &Space) {
    let mut configs = runs.iter().filter_map(|start| start.config.as_ref()).peekable();
    let Some(&config) = configs.peek() else { return };
    let bytes = replay_bytes(config, space);
    let mut agents: Vec<_> = configs.map(|config| (config.agent, config.policy)).collect();
    agents.dedup();
    let agents: Vec<_> = agents
        .iter()
        .map(|(agent, policy)| format!("{} with the policy {}", agent.name(), policy.name()))
        .collect();
    eprintln!(
        "{}: {}, {} steps; replay memory of {} transitions: {bytes}{}",
        config.env,
        agents.join(", "),
        HumanCount(config.steps),
        HumanCount(config.replay.capacity as u64),
        if runs.len() > 1 { format!(" for each of {} runs", runs.len()) } else { String::new() },
    );
}

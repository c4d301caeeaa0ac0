//! The behaviour suite of Osband et al. (ICLR 2020): small environments, each of which tests one ability of an agent. All of its 23
//! experiments with their 468 settings are here, by the ids of the package: `bsuite:deep_sea/0`.
//!
//! Written anew after the paper and the package bsuite 0.3.6. Its source, under Apache-2.0, was read to learn its behaviour, and none of it
//! is copied. The environments follow it step by step (`tests/recorded/bsuite`). What a setting fixes by a seed, such as the actions of DeepSea, is what the package draws. All other
//! chance comes from the run's own generator.
//!
//! | | |
//! |---|---|
//! | [`EXPERIMENTS`], [`settings`], [`setting`] | what there is: for each id the environment, its arguments, episodes and tags |
//! | [`env`](fn@env) | an environment by its setting; [`make`](crate::make) makes it by name |
//! | [`Env::info`](crate::Env::info) | what an environment reports for the scores, such as its regret |
//! | [`Log`] | when the package logs, and which columns |
//!
//! Here are the words that all environments share and what one has to do ([`Problem`]). One environment is one file; noise and scale of
//! rewards are in `wrappers`, and the [`Env`](crate::Env) around a problem is [`Bsuite`]. Scores are not computed here.
//!
//! Every end is a termination, as in the package: where the time is over, the agent has seen it coming.

mod bandit;
mod cartpole;
mod catch;
mod deep_sea;
mod discounting_chain;
mod env;
mod log;
mod memory_chain;
mod mnist;
mod mountain_car;
mod numpy;
mod sweep;
mod umbrella_chain;
mod wrappers;

pub use bandit::Bandit;
pub use cartpole::{Cartpole, CartpoleSwingup};
pub use catch::Catch;
pub use deep_sea::DeepSea;
pub use discounting_chain::DiscountingChain;
pub use env::{Bsuite, BsuiteEnv};
pub use log::Log;
pub use memory_chain::MemoryChain;
pub use mnist::Mnist;
pub use mountain_car::MountainCar;
pub use sweep::{EXPERIMENTS, Experiment, Setting, Task, setting, settings};
pub use umbrella_chain::UmbrellaChain;
pub use wrappers::Rewards;

use crate::{Args, Element, EnvSpec, Error, Info, Picture, Result, Space};
use adfq::mdp::closest;
use adfq::random::ChaCha8Rng;
use rand::RngExt;
use rand_distr::StandardNormal;
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::Debug;
use std::path::Path;

/// What names of these environments begin with.
const PREFIX: &str = "bsuite:";
/// The argument with the folder of MNIST's files.
const DATA: &str = "data";

/// An environment of bsuite: how an episode starts, what an action does, what is seen, and what is reported. What does not change is the
/// problem, what does is its state. The state outlives episodes, as what is reported is counted over all of them.
pub trait Problem: Clone + Debug + Send {
    /// Everything that changes.
    type State: Clone + Debug + Default + PartialEq + Serialize + DeserializeOwned + Send;

    /// The shape of frames and the number of actions.
    fn space(&self) -> Space;

    /// What the actions are called.
    fn action_names(&self) -> Vec<String>;

    /// Starts an episode.
    fn start(&self, state: &mut Self::State, chance: &mut dyn Chance);

    /// One step: the reward, and whether it was the last.
    fn act(&self, state: &mut Self::State, action: usize, chance: &mut dyn Chance) -> (f64, bool);

    /// Writes every number that the agent sees.
    fn observe(&self, state: &Self::State, numbers: &mut [f32]);

    /// What the package reports, under its names.
    fn info(&self, state: &Self::State) -> Info;

    /// Whether this can be the state of such an environment, in an episode that runs or not.
    fn holds(&self, _state: &Self::State, _running: bool) -> bool {
        true
    }

    /// A picture. Without one the numbers of the frame are painted.
    fn draw(&self, _state: &Self::State) -> Option<Picture> {
        None
    }
}

/// Where chance comes from: the generator of the run, or in tests what the package drew.
pub trait Chance {
    /// Uniform in 0..n, for n of at least 1.
    fn below(&mut self, n: u32) -> u32;

    /// Uniform in [0, 1).
    fn unit(&mut self) -> f64;

    /// Standard normal.
    fn normal(&mut self) -> f64;

    /// A fair coin.
    fn flip(&mut self) -> bool {
        self.below(2) == 1
    }
}

impl Chance for ChaCha8Rng {
    fn below(&mut self, n: u32) -> u32 {
        self.random_range(0..n)
    }

    fn unit(&mut self) -> f64 {
        self.random()
    }

    fn normal(&mut self) -> f64 {
        self.sample(StandardNormal)
    }
}

/// A grid of flags, each 0 or 1.
fn flags(rows: usize, columns: usize, actions: usize) -> Space {
    Space { frame: vec![rows, columns, 1], element: Element::U8 { scale: 1.0 }, stack: 1, actions }
}

fn names<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(String::from).to_vec()
}

/// The environment of a setting. MNIST needs the folder of its files; see [`Mnist::new`].
///
/// ```
/// use adfq_env::bsuite::{env, setting};
/// use adfq_env::Env;
///
/// let mut sea = env(&setting("deep_sea/5").unwrap(), None)?;
/// assert_eq!(sea.space().frame, [20, 20, 1]);
/// let mut frame = vec![0; sea.space().frame_bytes()];
/// sea.reset(Some(1), &mut frame)?;
/// while !sea.step(0, &mut frame)?.ended() {}
/// assert_eq!(sea.info(), [("total_bad_episodes", 1.0), ("denoised_return", 0.0)]);
/// # Ok::<(), adfq_env::Error>(())
/// ```
pub fn env(setting: &Setting, data: Option<&Path>) -> Result<Box<dyn BsuiteEnv>> {
    fn made(setting: &Setting, problem: impl Problem + 'static) -> Result<Box<dyn BsuiteEnv>> {
        Ok(Box::new(Bsuite::new(&format!("{PREFIX}{}", setting.id()), problem, setting.rewards)))
    }
    match setting.task {
        Task::Bandit { mapping_seed } => made(setting, Bandit::new(mapping_seed)),
        Task::Cartpole => made(setting, Cartpole),
        Task::CartpoleSwingup { height_threshold, x_reward_threshold } => {
            made(setting, CartpoleSwingup::new(height_threshold, x_reward_threshold))
        }
        Task::Catch => made(setting, Catch),
        Task::DeepSea { size, mapping_seed } => made(setting, DeepSea::new(size, mapping_seed, false)),
        Task::DeepSeaStochastic { size, mapping_seed } => {
            made(setting, DeepSea::new(size, mapping_seed, true))
        }
        Task::DiscountingChain { mapping_seed } => made(setting, DiscountingChain::new(mapping_seed)),
        // The package's experiments fix the other argument.
        Task::MemoryLen { memory_length } => made(setting, MemoryChain::new(memory_length, 1)),
        Task::MemorySize { num_bits } => made(setting, MemoryChain::new(2, num_bits)),
        Task::Mnist => {
            let folder = data.ok_or_else(|| Error::NoData { env: format!("{PREFIX}{}", setting.id()) })?;
            made(setting, Mnist::new(folder)?)
        }
        Task::MountainCar => made(setting, MountainCar),
        Task::UmbrellaDistract { n_distractor } => made(setting, UmbrellaChain::new(20, n_distractor)),
        Task::UmbrellaLength { chain_length, n_distractor } => {
            made(setting, UmbrellaChain::new(chain_length, n_distractor))
        }
    }
}

/// The environment that a name in lower case means, if it is one of bsuite.
pub(crate) fn named(name: &str, spec: &EnvSpec) -> Option<Result<Box<dyn BsuiteEnv>>> {
    let id = name.strip_prefix(PREFIX)?;
    let setting = setting(id).ok_or_else(|| unknown(id, &spec.name));
    Some(setting.and_then(|setting| env(&setting, folder(&setting, &spec.args, &spec.name)?)))
}

/// The folder among the arguments. There is none but for MNIST, and no other argument.
fn folder<'a>(setting: &Setting, args: &'a Args, name: &str) -> Result<Option<&'a Path>> {
    let is_data = |arg: &str| arg == DATA && setting.task == Task::Mnist;
    if let Some(arg) = args.keys().find(|arg| !is_data(arg)) {
        return Err(match setting.task {
            Task::Mnist => Error::Arguments { env: name.to_owned(), arg: arg.clone(), known: DATA },
            _ => Error::Argument { env: name.to_owned(), arg: arg.clone() },
        });
    }
    match args.get(DATA) {
        None => Ok(None),
        Some(serde_json::Value::String(folder)) => Ok(Some(Path::new(folder))),
        Some(_) => Err(Error::NoData { env: name.to_owned() }),
    }
}

/// The error for an id that there is not. It lists the settings of the experiment that it names, or the experiments of the family that it
/// is near to, or all.
fn unknown(id: &str, name: &str) -> Error {
    let range = |experiment: &Experiment| {
        let Experiment { name, settings, .. } = experiment;
        format!("{PREFIX}{name}/0 to {}", settings - 1)
    };
    let (typed, index) = id.split_once('/').unwrap_or((id, "0"));
    if let Some(experiment) = EXPERIMENTS.iter().find(|experiment| experiment.name == typed) {
        return Error::Name { name: name.to_owned(), closest: String::new(), known: range(experiment) };
    }
    let known: Vec<String> = EXPERIMENTS.iter().map(|experiment| experiment.name.to_owned()).collect();
    let near = closest(typed, &known);
    let meant = EXPERIMENTS.iter().find(|experiment| experiment.name == near).map(|experiment| {
        let index = index.parse().ok().filter(|&index| index < experiment.settings).unwrap_or(0);
        format!("{PREFIX}{near}/{index}")
    });
    // With nothing near, the family is empty, and every name begins with that.
    let family = near.split('_').next().unwrap_or_default();
    let listed = EXPERIMENTS.iter().filter(|experiment| experiment.name.starts_with(family)).map(range);
    let known = listed.collect::<Vec<_>>().join(", ");
    Error::Name { name: name.to_owned(), closest: meant.unwrap_or_default(), known }
}

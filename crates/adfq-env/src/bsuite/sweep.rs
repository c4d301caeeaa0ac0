//! Every setting of bsuite by its own id: 23 experiments, 468 settings, and for each what it is made with, how many episodes it runs
//! and which of an agent's abilities it tests.

use super::Rewards;
use crate::Args;
use serde::Serialize;

/// The scales of noise, each for four settings.
const NOISE: [f64; 5] = [0.1, 0.3, 1.0, 3.0, 10.0];
/// The scales of rewards, each for four settings.
const SCALES: [f64; 5] = [0.001, 0.03, 1.0, 30.0, 1000.0];
/// Settings of an experiment without sizes that grow.
const REPEATS: usize = 20;
/// Settings of each scale.
const OF_EACH_SCALE: usize = REPEATS / NOISE.len();
/// Sizes that grow about as fast as themselves.
const SIZES: [usize; 23] =
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 17, 20, 25, 30, 40, 50, 60, 70, 80, 90, 100];
/// How many of them are used for the number of bits in memory.
const MEMORY_SIZES: usize = 17;
/// DeepSeas have 10, 12, … 50 rows.
const SEAS: usize = 21;
const SEA_SEED: u32 = 42;
/// Distracting bits of the umbrella where its chain grows.
const DISTRACTORS: usize = 20;

/// An environment of bsuite and its arguments. As JSON, the arguments of the package.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[expect(missing_docs, reason = "the arguments are those of the package, and the environments document them")]
pub enum Task {
    Bandit { mapping_seed: u32 },
    Cartpole,
    CartpoleSwingup { height_threshold: f64, x_reward_threshold: f64 },
    Catch,
    DeepSea { size: usize, mapping_seed: u32 },
    DeepSeaStochastic { size: usize, mapping_seed: u32 },
    DiscountingChain { mapping_seed: u32 },
    MemoryLen { memory_length: u32 },
    MemorySize { num_bits: usize },
    Mnist,
    MountainCar,
    UmbrellaDistract { n_distractor: usize },
    UmbrellaLength { chain_length: u32, n_distractor: usize },
}

/// An experiment: a family of settings.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// What the package calls it.
    pub name: &'static str,
    /// How many settings it has.
    pub settings: usize,
    /// How many episodes each of them runs.
    pub episodes: u64,
    /// The abilities that it tests.
    pub tags: &'static [&'static str],
    make: fn(usize) -> (Task, Rewards),
}

/// One of the 468.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The experiment that it belongs to.
    pub experiment: &'static Experiment,
    /// Its number there, from 0.
    pub index: usize,
    /// The environment.
    pub task: Task,
    /// What happens to its rewards.
    pub rewards: Rewards,
}

impl Experiment {
    /// The setting of this number, if there is one.
    pub fn setting(&'static self, index: usize) -> Option<Setting> {
        let (task, rewards) = (index < self.settings).then(|| (self.make)(index))?;
        Some(Setting { experiment: self, index, task, rewards })
    }
}

impl Setting {
    /// As the package writes it.
    ///
    /// ```
    /// let setting = adfq_env::bsuite::setting("catch_scale/7").unwrap();
    /// assert_eq!(setting.id(), "catch_scale/7");
    /// ```
    pub fn id(&self) -> String {
        format!("{}/{}", self.experiment.name, self.index)
    }

    /// How many steps an episode has at most.
    ///
    /// ```
    /// use adfq_env::bsuite::{settings, setting};
    ///
    /// assert_eq!(setting("deep_sea/20").unwrap().longest_episode(), 50);
    /// let most: u64 = settings().map(|setting| setting.experiment.episodes * setting.longest_episode()).sum();
    /// assert_eq!(most, 179_880_000);
    /// ```
    pub fn longest_episode(&self) -> u64 {
        match self.task {
            Task::Bandit { .. } | Task::Mnist => 1,
            Task::Catch => 9,
            // Ten seconds in steps of a hundredth; rounding errors decide about the last one.
            Task::Cartpole | Task::CartpoleSwingup { .. } => 1001,
            Task::DeepSea { size, .. } | Task::DeepSeaStochastic { size, .. } => size as u64,
            Task::DiscountingChain { .. } => 100,
            Task::MemoryLen { memory_length } => u64::from(memory_length) + 1,
            Task::MemorySize { .. } => 3,
            Task::MountainCar => 1000,
            Task::UmbrellaDistract { .. } => 20,
            Task::UmbrellaLength { chain_length, .. } => u64::from(chain_length),
        }
    }

    /// The arguments that the package makes it with, but for its seeds.
    ///
    /// ```
    /// let setting = adfq_env::bsuite::setting("bandit_noise/6").unwrap();
    /// let arguments = serde_json::json!({ "mapping_seed": 2, "noise_scale": 0.3 });
    /// assert_eq!(serde_json::Value::from(setting.arguments()), arguments);
    /// ```
    pub fn arguments(&self) -> Args {
        let parts = [serde_json::to_value(self.task), serde_json::to_value(self.rewards)];
        // An environment without arguments is no object.
        let objects = parts.into_iter().filter_map(|part| part.ok()?.as_object().cloned());
        objects.flatten().collect()
    }
}

/// The setting with this id, if there is one.
///
/// ```
/// use adfq_env::bsuite::{Task, setting};
///
/// let sea = setting("deep_sea/20").unwrap();
/// assert_eq!(sea.task, Task::DeepSea { size: 50, mapping_seed: 42 });
/// assert_eq!(sea.experiment.episodes, 10_000);
/// assert!(setting("deep_sea/21").is_none());
/// ```
pub fn setting(id: &str) -> Option<Setting> {
    let (name, index) = id.split_once('/')?;
    let experiment = EXPERIMENTS.iter().find(|experiment| experiment.name == name)?;
    let setting = experiment.setting(index.parse().ok()?)?;
    // One spelling each: neither +1 nor 01.
    (setting.id() == id).then_some(setting)
}

/// All 468, in the order of the package.
///
/// ```
/// let ids: Vec<String> = adfq_env::bsuite::settings().map(|setting| setting.id()).collect();
/// assert_eq!((ids.len(), ids[0].as_str(), ids[467].as_str()), (468, "bandit/0", "umbrella_length/22"));
/// ```
pub fn settings() -> impl Iterator<Item = Setting> {
    EXPERIMENTS.iter().flat_map(|experiment| (0..experiment.settings).filter_map(|i| experiment.setting(i)))
}

fn plain(task: Task) -> (Task, Rewards) {
    (task, Rewards::Plain)
}

fn noisy(task: Task, index: usize) -> (Task, Rewards) {
    (task, Rewards::Noise { noise_scale: NOISE[index / OF_EACH_SCALE] })
}

fn scaled(task: Task, index: usize) -> (Task, Rewards) {
    (task, Rewards::Scale { reward_scale: SCALES[index / OF_EACH_SCALE] })
}

/// The bandit of a variant: the same four for each scale.
fn bandit(index: usize) -> Task {
    Task::Bandit { mapping_seed: (index % OF_EACH_SCALE) as u32 }
}

fn swing_up(index: usize) -> (Task, Rewards) {
    let share = index as f64 / REPEATS as f64;
    plain(Task::CartpoleSwingup { height_threshold: share, x_reward_threshold: 1.0 - share })
}

/// An experiment by its name, its settings, its episodes, its tags and how to make one.
const fn experiment(
    name: &'static str,
    settings: usize,
    episodes: u64,
    tags: &'static [&'static str],
    make: fn(usize) -> (Task, Rewards),
) -> Experiment {
    Experiment { name, settings, episodes, tags, make }
}

/// All experiments, in the order of the package.
pub const EXPERIMENTS: &[Experiment] = &[
    experiment("bandit", REPEATS, 10_000, &["basic"], |i| plain(Task::Bandit { mapping_seed: i as u32 })),
    experiment("bandit_noise", REPEATS, 10_000, &["noise"], |i| noisy(bandit(i), i)),
    experiment("bandit_scale", REPEATS, 10_000, &["scale"], |i| scaled(bandit(i), i)),
    experiment("cartpole", REPEATS, 1000, &["basic", "credit_assignment", "generalization"], |_| {
        plain(Task::Cartpole)
    }),
    experiment("cartpole_noise", REPEATS, 1000, &["noise", "generalization"], |i| noisy(Task::Cartpole, i)),
    experiment("cartpole_scale", REPEATS, 1000, &["scale", "generalization"], |i| scaled(Task::Cartpole, i)),
    experiment("cartpole_swingup", REPEATS, 1000, &["exploration", "generalization"], swing_up),
    experiment("catch", REPEATS, 10_000, &["basic", "credit_assignment"], |_| plain(Task::Catch)),
    experiment("catch_noise", REPEATS, 10_000, &["noise", "credit_assignment"], |i| noisy(Task::Catch, i)),
    experiment("catch_scale", REPEATS, 10_000, &["scale", "credit_assignment"], |i| scaled(Task::Catch, i)),
    experiment("deep_sea", SEAS, 10_000, &["exploration"], |i| {
        plain(Task::DeepSea { size: 10 + 2 * i, mapping_seed: SEA_SEED })
    }),
    experiment("deep_sea_stochastic", SEAS, 10_000, &["exploration", "noise"], |i| {
        plain(Task::DeepSeaStochastic { size: 10 + 2 * i, mapping_seed: SEA_SEED })
    }),
    experiment("discounting_chain", REPEATS, 1000, &["credit_assignment"], |i| {
        plain(Task::DiscountingChain { mapping_seed: i as u32 })
    }),
    experiment("memory_len", SIZES.len(), 10_000, &["memory"], |i| {
        plain(Task::MemoryLen { memory_length: SIZES[i] as u32 })
    }),
    experiment("memory_size", MEMORY_SIZES, 10_000, &["memory"], |i| {
        plain(Task::MemorySize { num_bits: SIZES[i] })
    }),
    experiment("mnist", REPEATS, 10_000, &["basic", "generalization"], |_| plain(Task::Mnist)),
    experiment("mnist_noise", REPEATS, 10_000, &["noise", "generalization"], |i| noisy(Task::Mnist, i)),
    experiment("mnist_scale", REPEATS, 10_000, &["scale", "generalization"], |i| scaled(Task::Mnist, i)),
    experiment("mountain_car", REPEATS, 1000, &["basic", "generalization"], |_| plain(Task::MountainCar)),
    experiment("mountain_car_noise", REPEATS, 1000, &["noise", "generalization"], |i| {
        noisy(Task::MountainCar, i)
    }),
    experiment("mountain_car_scale", REPEATS, 1000, &["scale", "generalization"], |i| {
        scaled(Task::MountainCar, i)
    }),
    experiment("umbrella_distract", SIZES.len(), 10_000, &["credit_assignment", "noise"], |i| {
        plain(Task::UmbrellaDistract { n_distractor: SIZES[i] })
    }),
    experiment("umbrella_length", SIZES.len(), 10_000, &["credit_assignment", "noise"], |i| {
        plain(Task::UmbrellaLength { chain_length: SIZES[i] as u32, n_distractor: DISTRACTORS })
    }),
];

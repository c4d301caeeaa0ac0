//! What is learned. An [`Algorithm`] says what its network gives for a state, how a batch of transitions becomes a loss,
//! and what it believes. Each one is a file of its own here, and a line in [`Algorithms::default`].
//!
//! An algorithm sees plain data: rows of network outputs and columns of transitions. It does not know where networks are
//! computed (`backend`), how transitions are drawn (`replay`), or how many runs go together (`trainer`).
//!
//! A row of outputs has one number for each action, or several groups of such: all means, then all log deviations, say.

mod adfq;
mod bootstrapped;
mod calibrated;
mod calibration;
mod device;
mod double_dqn;
mod dqn;
mod episodic;
mod exploration;
mod local_error;
mod novelty;
mod others;
mod own_variance;
mod registry;
mod split;
#[cfg(test)]
mod tests;
mod unit;

pub use adfq::AdfqSettings;
pub use bootstrapped::BootstrappedSettings;
pub use calibrated::CalibratedSettings;
pub use device::{CudaLoss, Keeps, Visits};
pub use local_error::LocalError;
pub use novelty::Neighbours;
pub use registry::{Algorithms, Demand, Descriptor};
pub use split::SplitSettings;
pub use unit::RewardUnit;

use crate::{Config, Result};
use adfq_nn::{Output, huber};
use serde::{Deserialize, Serialize};

/// An algorithm of one run, with all that it keeps beside its networks. Deterministic: its chance comes from the run's
/// seed, when it is built.
pub trait Algorithm: Send + Sync {
    /// Numbers that the network gives for each action.
    fn groups(&self) -> usize;

    /// How the output layer starts. Hidden layers start as the configuration says.
    fn output(&self) -> Output {
        Output::Hidden
    }

    /// The passes that [`Algorithm::loss`] needs beside that of the online network on s.
    fn passes(&self) -> Passes;

    /// The loss of a batch, and its gradient with respect to the online network's outputs on s. The gradient starts as
    /// zeros. An error of the mathematics stands for a belief that is not finite.
    fn loss(&mut self, batch: &Batch, outputs: &Outputs, gradient: &mut Gradient) -> Result<Loss>;

    /// What is believed in a state: one estimate for each action.
    fn estimate(&mut self, state: &State, out: &mut Vec<Estimate>) -> Result<()>;

    /// How estimates come from the network's outputs, if that can be said of them alone. It is needed to write a network for
    /// other programs.
    fn readout(&self) -> Option<Readout> {
        None
    }

    /// Whether it learns from rewards in a [unit of their own](RewardUnit). Its networks' values are then in that unit, and so are
    /// the rewards of a [`Batch`]. Those that it [receives](Algorithm::received) are as they came, and so must its estimates be.
    fn learns_in_units(&self) -> bool {
        false
    }

    /// Whether [`Algorithm::estimate`] and [`Algorithm::acted`] look at observations. Decoding them takes time.
    fn sees_observations(&self) -> bool {
        false
    }

    /// An episode begins in an environment of the training.
    fn begin_episode(&mut self, _env: usize) {}

    /// An action was taken in training.
    fn acted(&mut self, _observation: &[f32], _action: usize) {}

    /// What followed on an action in training, with the reward as training sees it.
    fn received(&mut self, _env: usize, _received: Received) {}

    /// The mean σ that metrics show, where it is not [`Loss::mean_sigma`].
    fn mean_sigma(&self) -> Option<f64> {
        None
    }

    /// Names of the metrics that it has beside those of all.
    fn metrics(&self) -> &'static [&'static str] {
        &[]
    }

    /// Their values since the last call. NaN stands for none.
    fn take_metrics(&mut self) -> Vec<f64> {
        vec![]
    }

    /// All that it keeps beside its networks, for a checkpoint.
    fn save(&self) -> Result<Vec<u8>> {
        Ok(vec![])
    }

    /// Takes up what [`Algorithm::save`] gave. The error says what does not fit.
    fn restore(&mut self, state: &[u8]) -> std::result::Result<(), String> {
        if state.is_empty() { Ok(()) } else { Err("the algorithm keeps no state of its own".to_owned()) }
    }

    /// The kernel that computes its loss on a GPU. Without one the loss is computed on the host, which is slower.
    fn cuda(&self) -> Option<CudaLoss> {
        None
    }

    /// What has to lie on a GPU for that, beside its networks.
    fn keeps(&self) -> Keeps<'_> {
        Keeps::Nothing
    }

    /// A gradient step was made on a GPU. These are the sums that its kernel left for the algorithm's own metrics.
    fn learned_there(&mut self, _sums: [f32; 3]) {}

    /// Takes up the [`Visits::counts`] and [`Visits::inverse`] that a GPU has.
    fn take_visits(&mut self, _counts: &[f64], _inverse: &[f64]) {}
}

/// Forward passes of a gradient step, beside the online network's on s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passes {
    /// The target network on s.
    pub target: bool,
    /// The target network on s′.
    pub target_next: bool,
    /// The online network on s′.
    pub online_next: bool,
}

impl Passes {
    /// All passes that one or the other needs.
    pub fn or(self, other: Self) -> Self {
        Self {
            target: self.target || other.target,
            target_next: self.target_next || other.target_next,
            online_next: self.online_next || other.online_next,
        }
    }
}

/// A batch of transitions (s, a, r, s′).
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// Number of actions |A|.
    pub actions: usize,
    /// Actions taken.
    pub action: &'a [u32],
    /// Returns of n steps, or of fewer where the episode ended, in the unit that the algorithm learns in.
    pub reward: &'a [f32],
    /// What the value of s′ is multiplied with: γ to the number of those steps.
    pub discount: &'a [f32],
    /// Whether the episode terminated within them: then s′ has no value.
    pub terminal: &'a [bool],
    /// Importance weights.
    pub weight: &'a [f32],
    /// A number for each transition that no other transition of the run ever has.
    pub index: &'a [u64],
    /// The observations s, row by row. Empty on a GPU unless the algorithm sees observations.
    pub obs: &'a [f32],
    /// The observations s′, likewise.
    pub next: &'a [f32],
    /// The rewards received so far, in that unit too.
    pub rewards: RewardRange,
}

impl Batch<'_> {
    /// How many transitions there are.
    pub fn len(&self) -> usize {
        self.action.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.action.is_empty()
    }

    /// r + γ v, where v is the value of s′ of transition `i`; r where the episode terminated.
    pub fn bootstrap(&self, i: usize, value: impl FnOnce() -> f32) -> f32 {
        let beyond = if self.terminal[i] { 0.0 } else { value() };
        self.reward[i] + self.discount[i] * beyond
    }
}

/// Rows of outputs for the states of a batch. What [`Algorithm::passes`] did not ask for is empty or arbitrary.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outputs<'a> {
    /// The online network on s.
    pub online: &'a [f32],
    /// The target network on s.
    pub target: &'a [f32],
    /// The target network on s′.
    pub target_next: &'a [f32],
    /// The online network on s′.
    pub online_next: &'a [f32],
}

/// Where a loss leaves its gradient and the errors that become priorities.
pub struct Gradient<'a> {
    /// One row for each row of the online network's outputs.
    pub outputs: &'a mut [f32],
    /// The magnitude of each transition's error.
    pub errors: &'a mut [f32],
}

/// What a batch was like, on average.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Loss {
    /// The weighted loss.
    pub loss: f32,
    /// Mean of Q(s,a).
    pub mean_q: f32,
    /// Mean standard deviation of the belief over Q(s,a); NaN without beliefs.
    pub mean_sigma: f32,
}

/// A state, as an algorithm is asked about it.
#[derive(Clone, Copy, Debug)]
pub struct State<'a> {
    /// The environment of the training in which it is met; none in an evaluation.
    pub env: Option<usize>,
    /// Whether nothing but the means will be looked at, as in an evaluation that nobody watches. Then σ may be left out.
    pub only_means: bool,
    /// The observation. Empty unless the algorithm sees observations, and where `beside` is not.
    pub observation: &'a [f32],
    /// The online network's outputs.
    pub row: &'a [f32],
    /// What a GPU found with what the algorithm [keeps](Keeps) there. Empty where the algorithm has to compute it itself.
    pub beside: &'a [f64],
    /// Number of actions |A|.
    pub actions: usize,
    /// The rewards received so far, as they came.
    pub rewards: RewardRange,
    /// What one of the network's values stands for; 1 unless the algorithm [learns in units](Algorithm::learns_in_units).
    pub unit: f32,
}

/// What followed on an action in training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Received {
    /// The action.
    pub action: usize,
    /// The reward, clipped where training clips it.
    pub reward: f32,
    /// Whether the episode ended in a terminal state.
    pub terminated: bool,
    /// Whether it ended at all, or was cut off.
    pub ended: bool,
}

/// What is believed of one action.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean of Q(s,a).
    pub mean: f32,
    /// Its standard deviation; NaN without beliefs.
    pub sd: f32,
    /// What the algorithm's own policy maximises, if it has one; else the mean.
    pub score: f32,
}

impl Estimate {
    /// A value without a belief.
    pub fn value(mean: f32) -> Self {
        Self { mean, sd: f32::NAN, score: mean }
    }
}

/// How the outputs of a network become estimates.
#[derive(Clone, Debug, PartialEq)]
pub enum Readout {
    /// The one group of outputs is Q.
    Values,
    /// The first group is μ, the second ρ = -log √c. The mean is μ without what is taken off. σ² = κ c or, where it is known how large errors are, κ ē(μ, c)²; within
    /// limits.
    Gaussian {
        /// What is taken off μ.
        off: f32,
        /// κ, 1 without calibration.
        ratio: f32,
        /// Least variance.
        min_var: f32,
        /// Largest variance.
        max_var: f32,
        /// ē, the expected size of an error, and the largest c that it is asked for.
        local: Option<(LocalError, f32)>,
        /// What is added where an observation is like none that was met.
        unseen: Option<Unseen>,
    },
}

/// How the variance grows where nothing was met: by w (S² + (μ - m)²), with w = max(0, 1 - q²/d²).
#[derive(Clone, Debug, PartialEq)]
pub struct Unseen {
    /// How d, the distance from what was met, is found, and q, the one that is usual.
    pub neighbours: Neighbours,
    /// m, the mean of the values that were found.
    pub mean: f32,
    /// S², their variance.
    pub var: f32,
}

/// The range of rewards received so far, and with it the range of Q.
///
/// ```
/// use adfq_deep::algorithm::RewardRange;
///
/// let mut range = RewardRange::default();
/// range.see(1.0);
/// assert_eq!(range.values(0.75), (0.0, 4.0)); // an episode may end at any time
/// range.see(-2.0);
/// assert_eq!(range.values(0.75), (-8.0, 4.0));
/// assert_eq!(range.largest(), 2.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RewardRange {
    pub(crate) least: f32,
    pub(crate) greatest: f32,
}

impl RewardRange {
    /// A reward was received.
    pub fn see(&mut self, reward: f32) {
        self.least = self.least.min(reward);
        self.greatest = self.greatest.max(reward);
    }

    /// The same in another unit.
    pub fn in_unit(&self, unit: &RewardUnit) -> Self {
        Self { least: unit.of(self.least), greatest: unit.of(self.greatest) }
    }

    /// The size of the largest reward seen so far, whatever its sign.
    pub fn largest(&self) -> f32 {
        self.greatest.max(-self.least)
    }

    /// No Q is smaller or greater than these. Without a discount there is no limit.
    pub fn values(&self, discount: f32) -> (f32, f32) {
        let horizon = 1.0 / (1.0 - discount);
        let whole = |reward: f32, limit: f32| if horizon.is_finite() { reward * horizon } else { limit };
        (whole(self.least, f32::NEG_INFINITY), whole(self.greatest, f32::INFINITY))
    }
}

/// The range in which targets are kept: what rewards allow, or everything.
pub(crate) fn bounds(config: &Config, rewards: &RewardRange) -> (f32, f32) {
    match config.learning.bound_targets {
        true => rewards.values(config.learning.discount),
        false => (f32::NEG_INFINITY, f32::INFINITY),
    }
}

/// Sums of a loss over the rows of a batch. Every row has the same weight in the means.
pub(crate) struct Sums {
    delta: f32,
    share: f32,
    pub loss: f32,
    pub mean_q: f32,
    pub mean_sigma: f32,
}

impl Sums {
    pub fn new(huber: f32, batch: usize) -> Self {
        Self { delta: huber, share: 1.0 / batch as f32, loss: 0.0, mean_q: 0.0, mean_sigma: 0.0 }
    }

    /// Adds the weighted Huber loss of an error. Returns the weighted slope.
    pub fn add(&mut self, error: f32, weight: f32) -> f32 {
        let (value, slope) = huber(error, self.delta);
        let weight = weight * self.share;
        self.loss += weight * value;
        weight * slope
    }

    /// Counts in a value of Q(s,a).
    pub fn see_q(&mut self, q: f32) {
        self.mean_q += q * self.share;
    }

    /// Counts in a standard deviation.
    pub fn see_sigma(&mut self, sigma: f32) {
        self.mean_sigma += sigma * self.share;
    }

    pub fn loss(&self) -> Loss {
        Loss { loss: self.loss, mean_q: self.mean_q, mean_sigma: self.mean_sigma }
    }
}

/// The finaliser of SplitMix64 (Steele et al. 2014): a bijection whose bits are well mixed.
pub(crate) fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// The number below which this share of them lies.
pub(crate) fn quantile(mut numbers: Vec<f32>, share: f64) -> f32 {
    let rank = (share * (numbers.len() - 1) as f64) as usize;
    *numbers.select_nth_unstable_by(rank, f32::total_cmp).1
}

/// The first index of the largest value, and that value.
#[inline]
pub(crate) fn largest(values: &[f32]) -> (usize, f32) {
    let mut best = (0, values[0]);
    for (i, &value) in values.iter().enumerate().skip(1) {
        if value > best.1 {
            best = (i, value);
        }
    }
    best
}

/// The loss of algorithms whose network gives Q alone: Huber's loss of Q(s,a) minus a target for each transition.
pub(crate) fn value_loss(
    config: &Config,
    batch: &Batch,
    online: &[f32],
    gradient: &mut Gradient,
    target: impl Fn(usize) -> f32,
) -> Loss {
    let (least, greatest) = bounds(config, &batch.rewards);
    let mut sums = Sums::new(config.learning.huber, batch.len());
    for i in 0..batch.len() {
        let at = i * batch.actions + batch.action[i] as usize;
        let error = online[at] - target(i).clamp(least, greatest);
        gradient.outputs[at] = sums.add(error, batch.weight[i]);
        gradient.errors[i] = error.abs();
        sums.see_q(online[at]);
    }
    Loss { mean_sigma: f32::NAN, ..sums.loss() }
}

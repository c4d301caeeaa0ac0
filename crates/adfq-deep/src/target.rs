//! What a transition teaches: the target of each agent, as pure functions of network outputs.
//!
//! Rows are transitions, columns actions. A row of a DQN network is Q; a row of an ADFQ network is μ for all actions
//! and then ρ = -log σ for all actions.

use adfq::batch::{Batch, Column};
use adfq::update::{NoiseKind, Update};
use serde::{Deserialize, Serialize};

/// The limits of what the network may believe.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Least variance.
    pub min_var: f32,
    /// Largest variance.
    pub max_var: f32,
}

impl Limits {
    /// The variance that the output ρ = -log σ stands for: exp(-2ρ), within the limits. NaN stays NaN.
    #[inline]
    pub fn var(&self, rho: f32) -> f32 {
        libm::expf(-2.0 * rho).clamp(self.min_var, self.max_var)
    }
}

/// The range of rewards seen so far, and with it the range of Q.
///
/// ```
/// use adfq_deep::target::RewardRange;
///
/// let mut range = RewardRange::default();
/// range.see(1.0);
/// assert_eq!(range.values(0.75), (0.0, 4.0)); // an episode may end at any time
/// range.see(-2.0);
/// assert_eq!(range.values(0.75), (-8.0, 4.0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RewardRange {
    least: f32,
    greatest: f32,
}

impl RewardRange {
    /// A reward that was received.
    pub fn see(&mut self, reward: f32) {
        self.least = self.least.min(reward);
        self.greatest = self.greatest.max(reward);
    }

    /// The least and the greatest, 0 among them.
    #[cfg(feature = "cuda")]
    pub(crate) fn ends(&self) -> (f32, f32) {
        (self.least, self.greatest)
    }

    /// No Q is smaller or greater than these. Without a discount there is no limit.
    pub fn values(&self, discount: f32) -> (f32, f32) {
        let horizon = 1.0 / (1.0 - discount);
        let whole = |reward: f32, limit: f32| if horizon.is_finite() { reward * horizon } else { limit };
        (whole(self.least, f32::NEG_INFINITY), whole(self.greatest, f32::INFINITY))
    }
}

/// The transitions of a batch, as targets need them.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    /// Number of actions |A|.
    pub actions: usize,
    /// Actions taken.
    pub action: &'a [u32],
    /// Returns of n steps, or of fewer where the episode ended.
    pub reward: &'a [f32],
    /// What the value beyond is multiplied with: γ to the number of those steps.
    pub discount: &'a [f32],
    /// Whether the episode terminated within them.
    pub terminal: &'a [bool],
}

/// r + γ max_b Q(s′,b) (Mnih et al. 2015); `q_next` comes from the target network.
///
/// ```
/// use adfq_deep::target::{Rows, dqn};
///
/// let rows = Rows { actions: 2, action: &[0, 1], reward: &[1.0, 1.0], discount: &[0.5, 0.5], terminal: &[false, true] };
/// let mut target = [0.0; 2];
/// dqn(&rows, &[3.0, 4.0, 5.0, 6.0], &mut target);
/// assert_eq!(target, [3.0, 1.0]);
/// ```
pub fn dqn(rows: &Rows, q_next: &[f32], target: &mut [f32]) {
    bootstrap(rows, target, |row| largest(&q_next[row]).1);
}

/// r + γ Q′(s′, argmax_b Q(s′,b)) (van Hasselt et al. 2016): the online network chooses, the target network judges.
///
/// ```
/// use adfq_deep::target::{Rows, double_dqn};
///
/// let rows = Rows { actions: 2, action: &[0], reward: &[1.0], discount: &[0.5], terminal: &[false] };
/// let mut target = [0.0];
/// double_dqn(&rows, &[9.0, 8.0], &[3.0, 4.0], &mut target);
/// assert_eq!(target, [2.5]);
/// ```
pub fn double_dqn(rows: &Rows, q_next_online: &[f32], q_next: &[f32], target: &mut [f32]) {
    bootstrap(rows, target, |row| q_next[row.start + largest(&q_next_online[row]).0]);
}

fn bootstrap(rows: &Rows, target: &mut [f32], value: impl Fn(std::ops::Range<usize>) -> f32) {
    for (i, target) in target.iter_mut().enumerate() {
        let beyond = if rows.terminal[i] { 0.0 } else { value(i * rows.actions..(i + 1) * rows.actions) };
        *target = rows.reward[i] + rows.discount[i] * beyond;
    }
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

/// Deep ADFQ's target (paper §6): the posterior of Q(s,a) from the target network's beliefs in s and s′.
///
/// Buffers are kept between batches; after [`AdfqTarget::compute`] `mean` and `var` hold the posteriors.
#[derive(Clone, Debug)]
pub struct AdfqTarget {
    update: Update,
    noise: NoiseKind,
    var_w: f32,
    terminal_var: f64,
    limits: Limits,
    mu_sa: Vec<f32>,
    var_sa: Vec<f32>,
    mu_next: Vec<f32>,
    var_next: Vec<f32>,
    /// Posterior means.
    pub mean: Vec<f32>,
    /// Posterior variances.
    pub var: Vec<f32>,
}

impl AdfqTarget {
    /// A target for this configuration, with no rows yet.
    pub fn new(config: &crate::Config) -> crate::Result<Self> {
        let adfq = &config.adfq;
        Ok(Self {
            update: config.update()?,
            noise: adfq.noise,
            var_w: adfq.var_w,
            terminal_var: adfq.terminal_var,
            limits: config.limits(),
            mu_sa: vec![],
            var_sa: vec![],
            mu_next: vec![],
            var_next: vec![],
            mean: vec![],
            var: vec![],
        })
    }

    /// Computes the posteriors. `here` and `next` are the target network's rows for s and s′.
    pub fn compute(&mut self, rows: &Rows, here: &[f32], next: &[f32]) -> adfq::Result<()> {
        let (count, actions) = (rows.action.len(), rows.actions);
        for column in [&mut self.mu_sa, &mut self.var_sa, &mut self.mu_next, &mut self.var_next] {
            column.clear();
        }
        for (row, &action) in here.chunks_exact(2 * actions).zip(rows.action) {
            self.mu_sa.push(row[action as usize]);
            self.var_sa.push(self.limits.var(row[actions + action as usize]));
        }
        for row in next.chunks_exact(2 * actions) {
            self.mu_next.extend_from_slice(&row[..actions]);
            self.var_next.extend(row[actions..].iter().map(|&rho| self.limits.var(rho)));
        }
        self.mean.resize(count, 0.0);
        self.var.resize(count, 0.0);
        let batch = Batch {
            actions,
            mu_sa: &self.mu_sa,
            var_sa: &self.var_sa,
            reward: rows.reward,
            discount: Column::Each(rows.discount),
            var_w: Column::All(self.var_w),
            terminal: rows.terminal,
            terminal_var: self.terminal_var,
            mu_next: &self.mu_next,
            var_next: &self.var_next,
        };
        batch.update(&self.update, self.noise, &mut self.mean, &mut self.var)
    }
}

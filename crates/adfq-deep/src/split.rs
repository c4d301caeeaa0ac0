//! Deep Split ADFQ: beliefs whose variance is split by origin (docs/deep-split.md), and the targets they make.
//!
//! The network's row for a state is μ, then ρ = -log √c, then g, each for all actions: the mean, the variance inherited
//! from the next states, and what lies ahead with luck. The pair's own variance u is not learned by gradients: it
//! follows from where the agent has been ([`OwnVariance`]), from the prior variance v and from the noise w of targets:
//!
//! ```text
//! n = λ (1/h - 1)      u = 1 / (1/v + n/w)      k = u/v
//! σ² = u + (1-k)² c                             the belief N(μ, σ²)
//! U = (1-k) g + k x √v                          the hopeful value: what an optimist believes, whose prior mean is x √v
//! ```

use crate::config::{Config, SplitConfig};
use crate::own_variance::OwnVariance;
use crate::target::{Limits, RewardRange, Rows, largest};
use serde::{Deserialize, Serialize};

/// Batches over which noise and spread are averaged.
const MEMORY: f64 = 1_000.0;

/// What Split ADFQ knows beside its network, and the targets of the last batch.
pub struct Split {
    settings: SplitConfig,
    limits: Limits,
    discount: f32,
    inputs: usize,
    actions: usize,
    pub(crate) own: OwnVariance,
    pub(crate) learned: Learned,
    beliefs: Vec<Believed>,
    /// r + γ max μ(s′), for μ.
    pub mean: Vec<f32>,
    /// γ² times the variance of the value of s′, for c.
    pub inherited: Vec<f32>,
    /// r + γ max U(s′), for g.
    pub ahead: Vec<f32>,
    /// Mean σ of the best actions in s′, 0 where an episode ended.
    pub mean_sd: f32,
}

/// What is learned without gradients; saved in a checkpoint, as are the entries of the [`OwnVariance`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Learned {
    /// How many different pairs were tried: Σ h over all visits.
    pairs: f64,
    /// Batches so far.
    batches: u64,
    /// Mean squared target.
    square: f64,
    /// Mean squared difference between target and mean.
    noise: f64,
    /// Sums of own and inherited sd since the last row of metrics, and how many.
    sums: [f64; 2],
    summed: u64,
}

/// The belief over one pair, and the hopeful value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Believed {
    /// μ.
    pub mean: f32,
    /// The own part u of the variance.
    pub own: f32,
    /// The inherited part (1-k)² c.
    pub inherited: f32,
    /// U.
    pub hope: f32,
}

impl Believed {
    /// σ² = u + (1-k)² c.
    #[inline]
    pub fn var(&self) -> f32 {
        self.own + self.inherited
    }
}

/// Prior variance v and noise w of a target.
#[derive(Clone, Copy)]
struct Scales {
    prior: f32,
    noise: f32,
    /// The greatest value that rewards allow.
    most: f32,
}

impl Split {
    /// An agent that has been nowhere.
    pub fn new(config: &Config, inputs: usize, actions: usize) -> Self {
        let settings = config.split.clone().unwrap_or_default();
        let own = OwnVariance::new(inputs, actions, settings.features, settings.noise.into(), config.seed);
        Self {
            limits: config.limits(),
            discount: config.learning.discount,
            learned: Learned::default(),
            beliefs: vec![],
            mean: vec![],
            inherited: vec![],
            ahead: vec![],
            mean_sd: f32::NAN,
            settings,
            inputs,
            actions,
            own,
        }
    }

    /// An action was taken in a state.
    pub fn visit(&mut self, observation: &[f32], action: usize) {
        let features = self.own.features(observation);
        self.learned.pairs += self.own.visit(&features, action);
    }

    /// All that the agent remembers beside its network, as numbers.
    pub fn memory(&self) -> Vec<f64> {
        let Learned { pairs, batches, square, noise, sums, summed } = self.learned;
        let counts = [pairs, batches as f64, square, noise, sums[0], sums[1], summed as f64];
        [&counts, &self.own.inverse[..]].concat()
    }

    /// The prior variance is declared by the range of values, and counts as one pair; pairs that were tried show how
    /// far values lie from 0. Not less than what one reward can bring: a pair that was never tried may pay it at once.
    fn scales(&self, rewards: &RewardRange) -> Scales {
        let (low, high) = rewards.values(self.discount);
        let (least, greatest) = rewards.values(0.0);
        let declared = (0.5 * f64::from(high - low)).powi(2);
        let Learned { pairs, square, noise, batches, .. } = self.learned;
        let seen = if batches > 0 { (declared + pairs * square) / (1.0 + pairs) } else { declared };
        let prior = seen.max((0.5 * f64::from(greatest - least)).powi(2));
        let noise = noise.max(f64::from(self.settings.noise) * prior);
        Scales { prior: prior as f32, noise: noise as f32, most: high }
    }

    #[cfg(test)]
    pub(crate) fn prior_and_noise(&self, rewards: &RewardRange) -> (f64, f64) {
        let Scales { prior, noise, .. } = self.scales(rewards);
        (prior.into(), noise.into())
    }

    /// Beliefs and hopeful values for a row of the network's outputs.
    fn believe(&self, features: &[f64], row: &[f32], scales: Scales, out: &mut Vec<Believed>) {
        let (actions, reach) = (self.actions, self.settings.reach);
        let top = reach * scales.prior.sqrt();
        out.clear();
        for action in 0..actions {
            let left = self.own.left(features, action).max(f64::MIN_POSITIVE);
            let visits = f64::from(self.settings.noise) * (1.0 / left - 1.0);
            // k = w / (w + n v): the share of the prior that is left.
            let (noise, prior) = (f64::from(scales.noise), f64::from(scales.prior));
            let rest = (noise / (noise + visits * prior)) as f32;
            let (own, trust) = (rest * scales.prior, 1.0 - rest);
            let (mean, ahead) = (row[action], row[2 * actions + action]);
            // No state is less certain than one that was never seen.
            let inherited = trust * trust * self.limits.var(row[actions + action]).min(scales.prior);
            // Hopes were higher when less was known, and may still go round: no pair is worth more than one never
            // tried, unless its own belief says so.
            let cap = top.max(mean + reach * (own + inherited).sqrt()).min(scales.most);
            let hope = (trust * ahead + rest * top).min(cap);
            out.push(Believed { mean, own, inherited, hope });
        }
    }

    /// The network's rows as others read them: μ, -log σ and U in place of μ, -log √c and g.
    pub fn read(&self, rewards: &RewardRange, observations: &[f32], rows: &mut [f32]) {
        let (scales, actions) = (self.scales(rewards), self.actions);
        let mut beliefs = vec![];
        for (observation, row) in
            observations.chunks_exact(self.inputs).zip(rows.chunks_exact_mut(3 * actions))
        {
            self.believe(&self.own.features(observation), row, scales, &mut beliefs);
            for (action, belief) in beliefs.iter().enumerate() {
                row[actions + action] = -0.5 * libm::logf(belief.var().max(self.limits.min_var));
                row[2 * actions + action] = belief.hope;
            }
        }
    }

    /// Computes the targets of a batch; `next` are the target network's rows for s′, whose observations are `states`.
    pub fn compute(&mut self, rows: &Rows, rewards: &RewardRange, states: &[f32], next: &[f32]) {
        let (scales, width) = (self.scales(rewards), 3 * self.actions);
        for column in [&mut self.mean, &mut self.inherited, &mut self.ahead] {
            column.clear();
        }
        let mut beliefs = std::mem::take(&mut self.beliefs);
        self.mean_sd = 0.0;
        for (i, (state, row)) in states.chunks_exact(self.inputs).zip(next.chunks_exact(width)).enumerate() {
            let (reward, discount) = (rows.reward[i], rows.discount[i]);
            let mut value = Value { mean: 0.0, var: 0.0, hope: 0.0 };
            if !rows.terminal[i] {
                self.believe(&self.own.features(state), row, scales, &mut beliefs);
                let (best, _) = largest(&row[..self.actions]);
                value = value_of(&beliefs, best);
                let parts = [beliefs[best].own, beliefs[best].inherited].map(|part| f64::from(part.sqrt()));
                self.learned.sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
                self.learned.summed += 1;
                self.mean_sd += beliefs[best].var().sqrt() / rows.action.len() as f32;
            }
            self.mean.push(reward + discount * value.mean);
            self.inherited.push((discount * discount * value.var).max(self.limits.min_var));
            self.ahead.push(reward + discount * value.hope);
        }
        self.beliefs = beliefs;
    }

    /// Notes how far targets lie from 0, and from the means that the network gives for them, on average over a batch.
    pub fn note(&mut self, square: f64, noise: f64) {
        self.learned.batches += 1;
        let rate = 1.0 / (self.learned.batches as f64).min(MEMORY);
        self.learned.square += rate * (square - self.learned.square);
        self.learned.noise += rate * (noise - self.learned.noise);
    }

    /// Mean own and inherited sd of the best actions in s′ since the last call; NaN if there was no batch.
    pub fn take_parts(&mut self) -> [f64; 2] {
        let means = self.learned.sums.map(|sum| sum / self.learned.summed as f64);
        (self.learned.sums, self.learned.summed) = ([0.0; 2], 0);
        means
    }
}

/// What a state is worth: V, its variance, and V with luck.
struct Value {
    mean: f32,
    var: f32,
    hope: f32,
}

/// Its variance is that of the action with the largest mean. (The tabular form takes the least certain of those that may be
/// the best. Of a network's outputs the largest is too large by their errors, and γ² does not make up for that.)
fn value_of(beliefs: &[Believed], best: usize) -> Value {
    let hope = beliefs.iter().fold(f32::NEG_INFINITY, |most, belief| most.max(belief.hope));
    Value { mean: beliefs[best].mean, var: beliefs[best].var(), hope }
}

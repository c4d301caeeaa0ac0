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

use super::adfq::Limits;
use super::own_variance::OwnVariance;
use super::{
    Algorithm, Batch, CudaLoss, Demand, Descriptor, Estimate, Gradient, Keeps, Loss, Outputs, Passes,
    RewardRange, State, Sums, Visits, bounds, largest,
};
use crate::config::check;
use crate::{Config, Result};
use adfq_env::Space;
use adfq_nn::Output;
use serde::{Deserialize, Serialize};

/// The algorithm's name, and that of the table with its settings.
const NAME: &str = "split";
/// Outputs of the network for each action.
const OUTPUTS: usize = 3;
/// Batches over which noise and spread are averaged.
const MEMORY: f64 = 1_000.0;

/// How it is registered.
pub(super) fn descriptor() -> Descriptor {
    Descriptor::new(NAME, "Deep Split ADFQ, beliefs whose variance is split by origin", |config, space| {
        Ok(Box::new(Split::new(config, space)?))
    })
    .policies(&["optimist", "thompson", "epsilon"])
    .settings::<SplitSettings>(SplitSettings::check)
    .demands(demand)
}

/// A mean, an inherited variance and a hope for each action, and the own variance beside the network.
fn demand(config: &Config, space: &Space) -> Result<Demand> {
    let settings: SplitSettings = config.own(NAME)?;
    let bytes = OwnVariance::bytes_needed(space.observation_len(), space.actions, settings.features);
    Ok(Demand { outputs: OUTPUTS, bytes, less: "fewer split.features", ..Demand::default() })
}

/// Its settings: the table `[split]`. The defaults are one setting for all environments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SplitSettings {
    /// Random features on which the own variance rests.
    pub features: usize,
    /// The least noise variance of a target, as a share of the prior variance: λ.
    pub noise: f64,
    /// How many sd a hopeful value is above the mean: x.
    pub reach: f64,
    /// Rewards that are thought possible before any is seen, the least and the greatest. Those seen widen the range.
    pub rewards: [f64; 2],
    /// Least variance that the network gives.
    pub min_var: f64,
    /// Largest variance that the network gives.
    pub max_var: f64,
}

impl Default for SplitSettings {
    fn default() -> Self {
        Self { features: 256, noise: 1e-3, reach: 2.0, rewards: [0.0, 1.0], min_var: 1e-5, max_var: 1e10 }
    }
}

impl SplitSettings {
    fn check(&self, config: &Config) -> Result<()> {
        let Self { features, noise, reach, rewards: [least, greatest], min_var, max_var } = *self;
        let rewards = least.is_finite() && greatest.is_finite() && least <= greatest;
        let discount = config.learning.discount < 1.0;
        check(&[
            ("split.features", features > 0, "at least 1"),
            ("split.noise", noise > 0.0 && noise.is_finite(), "above 0"),
            ("split.reach", reach >= 0.0 && reach.is_finite(), "0 or above"),
            (
                "split.rewards",
                rewards && (least < 0.0 || greatest > 0.0),
                "a least and a greatest reward, one of them not 0",
            ),
            ("split.min_var", min_var > 0.0, "above 0"),
            ("split.max_var", max_var > min_var && (max_var as f32).is_finite(), "above split.min_var"),
            (
                "learning.discount",
                discount,
                "below 1 for the agent split, whose prior is the range of values",
            ),
        ])
    }
}

/// What Split ADFQ knows beside its network, and the targets of the last batch.
struct Split {
    config: Config,
    settings: SplitSettings,
    limits: Limits,
    inputs: usize,
    actions: usize,
    own: OwnVariance,
    learned: Learned,
    beliefs: Vec<Believed>,
    /// r + γ max μ(s′), for μ.
    mean: Vec<f32>,
    /// γ² times the variance of the value of s′, for c.
    inherited: Vec<f32>,
    /// r + γ max U(s′), for g.
    ahead: Vec<f32>,
    /// Mean σ of the best actions in s′, 0 where an episode ended.
    mean_sd: f32,
}

/// What is learned without gradients. A checkpoint holds it, and the entries of the [`OwnVariance`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Learned {
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

impl Learned {
    /// Those that a GPU keeps, in its order.
    fn counts(&self) -> [f64; Visits::COUNTS] {
        [self.pairs, self.batches as f64, self.square, self.noise]
    }

    fn take_counts(&mut self, counts: &[f64]) {
        if let [pairs, batches, square, noise] = *counts {
            (self.pairs, self.batches, self.square, self.noise) = (pairs, batches as u64, square, noise);
        }
    }
}

/// The belief over one pair, and the hopeful value.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Believed {
    /// μ.
    mean: f32,
    /// The own part u of the variance.
    own: f32,
    /// The inherited part (1-k)² c.
    inherited: f32,
    /// U.
    hope: f32,
}

impl Believed {
    /// σ² = u + (1-k)² c.
    #[inline]
    fn var(&self) -> f32 {
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
    fn new(config: &Config, space: &Space) -> Result<Self> {
        let settings: SplitSettings = config.own(NAME)?;
        let (inputs, actions, noise) =
            (space.observation_len(), space.actions, f64::from(settings.noise as f32));
        Ok(Self {
            own: OwnVariance::new(inputs, actions, settings.features, noise, config.seed),
            limits: Limits { min_var: settings.min_var as f32, max_var: settings.max_var as f32 },
            config: config.clone(),
            learned: Learned::default(),
            beliefs: vec![],
            mean: vec![],
            inherited: vec![],
            ahead: vec![],
            mean_sd: f32::NAN,
            settings,
            inputs,
            actions,
        })
    }

    /// The rewards received, and those that were declared.
    fn rewards(&self, seen: &RewardRange) -> RewardRange {
        let mut rewards = *seen;
        self.settings.rewards.iter().for_each(|&reward| rewards.see(reward as f32));
        rewards
    }

    /// The prior variance is declared by the range of values, and counts as one pair; pairs that were tried show how
    /// far values lie from 0. Not less than what one reward can bring: a pair that was never tried may pay it at once.
    fn scales(&self, rewards: &RewardRange) -> Scales {
        let (low, high) = rewards.values(self.config.learning.discount);
        let (least, greatest) = rewards.values(0.0);
        let declared = (0.5 * f64::from(high - low)).powi(2);
        let Learned { pairs, square, noise, batches, .. } = self.learned;
        let seen = if batches > 0 { (declared + pairs * square) / (1.0 + pairs) } else { declared };
        let prior = seen.max((0.5 * f64::from(greatest - least)).powi(2));
        let noise = noise.max(f64::from(self.settings.noise as f32) * prior);
        Scales { prior: prior as f32, noise: noise as f32, most: high }
    }

    /// Beliefs and hopeful values for a row of the network's outputs, given the share h of the prior variance that is left
    /// of each action.
    fn believe(&self, left: impl Fn(usize) -> f64, row: &[f32], scales: Scales, out: &mut Vec<Believed>) {
        let (actions, reach) = (self.actions, self.settings.reach as f32);
        let top = reach * scales.prior.sqrt();
        out.clear();
        for action in 0..actions {
            let left = left(action).max(f64::MIN_POSITIVE);
            let visits = f64::from(self.settings.noise as f32) * (1.0 / left - 1.0);
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

    /// Computes the targets of a batch from the target network's rows for s′.
    fn compute_targets(&mut self, batch: &Batch, next: &[f32]) {
        let rewards = self.rewards(&batch.rewards);
        let (scales, width) = (self.scales(&rewards), 3 * self.actions);
        for column in [&mut self.mean, &mut self.inherited, &mut self.ahead] {
            column.clear();
        }
        let mut beliefs = std::mem::take(&mut self.beliefs);
        self.mean_sd = 0.0;
        for (i, (state, row)) in
            batch.next.chunks_exact(self.inputs).zip(next.chunks_exact(width)).enumerate()
        {
            let (reward, discount) = (batch.reward[i], batch.discount[i]);
            let mut value = Value { mean: 0.0, var: 0.0, hope: 0.0 };
            if !batch.terminal[i] {
                let features = self.own.features(state);
                self.believe(|action| self.own.left(&features, action), row, scales, &mut beliefs);
                let (best, _) = largest(&row[..self.actions]);
                value = value_of(&beliefs, best);
                let parts = [beliefs[best].own, beliefs[best].inherited].map(|part| f64::from(part.sqrt()));
                self.learned.sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
                self.learned.summed += 1;
                self.mean_sd += beliefs[best].var().sqrt() / batch.len() as f32;
            }
            self.mean.push(reward + discount * value.mean);
            self.inherited.push((discount * discount * value.var).max(self.limits.min_var));
            self.ahead.push(reward + discount * value.hope);
        }
        self.beliefs = beliefs;
        let (least, greatest) = bounds(&self.config, &rewards);
        for target in self.mean.iter_mut().chain(&mut self.ahead) {
            *target = target.clamp(least, greatest);
        }
    }

    /// Notes how far targets lie from 0, and from the means that the network gives for them, on average over a batch.
    fn note(&mut self, square: f64, noise: f64) {
        self.learned.batches += 1;
        let rate = 1.0 / (self.learned.batches as f64).min(MEMORY);
        self.learned.square += rate * (square - self.learned.square);
        self.learned.noise += rate * (noise - self.learned.noise);
    }
}

impl Algorithm for Split {
    fn groups(&self) -> usize {
        OUTPUTS
    }

    /// Means of 0, all of the prior inherited, and nothing hoped for but what the own variance gives.
    fn output(&self) -> Output {
        let [least, greatest] = self.settings.rewards.map(|reward| reward as f32);
        let sd = 0.5 * (greatest.max(0.0) - least.min(0.0)) / (1.0 - self.config.learning.discount);
        Output::Constant(vec![0.0, -libm::logf(sd), 0.0])
    }

    fn passes(&self) -> Passes {
        Passes { target_next: true, ..Passes::default() }
    }

    fn loss(&mut self, batch: &Batch, outputs: &Outputs, gradient: &mut Gradient) -> Result<Loss> {
        self.compute_targets(batch, outputs.target_next);
        let mut sums = Sums::new(self.config.learning.huber, batch.len());
        let (mut squares, mut residuals, mut weights) = (0.0, 0.0, 0.0);
        let (actions, share) = (self.actions, 1.0 / batch.len() as f32);
        for i in 0..batch.len() {
            let at = i * 3 * actions + batch.action[i] as usize;
            let (mu, rho, ahead) =
                (outputs.online[at], outputs.online[at + actions], outputs.online[at + 2 * actions]);
            let rho_error = -rho - 0.5 * libm::logf(self.inherited[i]);
            gradient.outputs[at + actions] = -sums.add(rho_error, batch.weight[i]);
            let ahead_error = ahead - self.ahead[i];
            gradient.outputs[at + 2 * actions] = sums.add(ahead_error, batch.weight[i]);
            let error = mu - self.mean[i];
            gradient.outputs[at] = sums.add(error, batch.weight[i]);
            gradient.errors[i] = ahead_error.abs() + error.abs();
            let weight = batch.weight[i] * share;
            squares += weight * self.mean[i] * self.mean[i];
            residuals += weight * error * error;
            weights += weight;
            sums.see_q(mu);
        }
        self.note((squares / weights).into(), (residuals / weights).into());
        Ok(Loss { mean_sigma: self.mean_sd, ..sums.loss() })
    }

    fn estimate(&mut self, state: &State, out: &mut Vec<Estimate>) -> Result<()> {
        let (there, mut beliefs) = (state.beside.split_at_checked(Visits::COUNTS), vec![]);
        if let Some((counts, _)) = there {
            self.learned.take_counts(counts);
        }
        if state.only_means {
            // What is left of the prior takes as long to find as all else.
            out.extend(state.row[..self.actions].iter().map(|&mean| Estimate { mean, sd: 0.0, score: mean }));
            return Ok(());
        }
        let scales = self.scales(&self.rewards(&state.rewards));
        match there {
            Some((_, left)) => self.believe(|action| left[action], state.row, scales, &mut beliefs),
            None => {
                let features = self.own.features(state.observation);
                self.believe(|action| self.own.left(&features, action), state.row, scales, &mut beliefs);
            }
        }
        out.extend(beliefs.iter().map(|belief| {
            let rho = -0.5 * libm::logf(belief.var().max(self.limits.min_var));
            Estimate { mean: belief.mean, sd: self.limits.var(rho).sqrt(), score: belief.hope }
        }));
        Ok(())
    }

    fn sees_observations(&self) -> bool {
        true
    }

    fn acted(&mut self, observation: &[f32], action: usize) {
        let features = self.own.features(observation);
        self.learned.pairs += self.own.visit(&features, action);
    }

    fn metrics(&self) -> &'static [&'static str] {
        &["mean_own_sd", "mean_inherited_sd"]
    }

    /// Mean own and inherited sd of the best actions in s′.
    fn take_metrics(&mut self) -> Vec<f64> {
        let means = self.learned.sums.map(|sum| sum / self.learned.summed as f64);
        (self.learned.sums, self.learned.summed) = ([0.0; 2], 0);
        means.to_vec()
    }

    /// Numbers one after the other: those of [`Learned`], then those of the own variance.
    fn save(&self) -> Result<Vec<u8>> {
        let Learned { pairs, batches, square, noise, sums, summed } = self.learned;
        let counts = [pairs, batches as f64, square, noise, sums[0], sums[1], summed as f64];
        Ok(counts.iter().chain(&self.own.inverse).flat_map(|number| number.to_ne_bytes()).collect())
    }

    fn restore(&mut self, state: &[u8]) -> std::result::Result<(), String> {
        let (numbers, rest) = state.as_chunks();
        let mut numbers = numbers.iter().map(|&bytes| f64::from_ne_bytes(bytes));
        if !rest.is_empty() || numbers.len() != 7 + self.own.inverse.len() {
            return Err("the own variance is of another size".to_owned());
        }
        let mut next = || numbers.next().unwrap_or_default();
        let [pairs, batches, square, noise, own, inherited, summed] = std::array::from_fn(|_| next());
        let (batches, summed) = (batches as u64, summed as u64);
        self.learned = Learned { pairs, batches, square, noise, sums: [own, inherited], summed };
        self.own.inverse = numbers.collect();
        Ok(())
    }

    fn cuda(&self) -> Option<CudaLoss> {
        let SplitSettings { features, noise, reach, rewards: [least, greatest], .. } = self.settings;
        let numbers = [
            noise as f32,
            reach as f32,
            least as f32,
            greatest as f32,
            self.limits.min_var,
            self.limits.max_var,
        ];
        (features <= Visits::MOST).then(|| CudaLoss {
            name: NAME,
            source: include_str!("kernels/split.cu"),
            own: numbers.map(f64::from).to_vec(),
            defines: &[],
        })
    }

    fn keeps(&self) -> Keeps<'_> {
        let (weights, inverse) = (&self.own.weights[..], &self.own.inverse[..]);
        Keeps::Visits(Visits {
            features: self.settings.features,
            weights,
            inverse,
            counts: self.learned.counts(),
        })
    }

    /// Own and inherited sd of the best actions in s′, and how many there are.
    fn learned_there(&mut self, [own, inherited, count]: [f32; 3]) {
        self.learned.sums[0] += f64::from(own);
        self.learned.sums[1] += f64::from(inherited);
        self.learned.summed += count as u64;
    }

    fn take_visits(&mut self, counts: &[f64], inverse: &[f64]) {
        self.learned.take_counts(counts);
        self.own.inverse.copy_from_slice(inverse);
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

#[cfg(test)]
mod tests {
    use super::super::tests::{BATCH, Rows, batch, config, practised, sample, space};
    use super::*;
    use crate::learner::{Asked, Learner};

    /// The algorithm of a learner, with its inside.
    fn split_of(learner: &Learner) -> Split {
        let mut split = Split::new(&config(NAME), &space()).unwrap();
        split.restore(&learner.algorithm.save().unwrap()).unwrap();
        split
    }

    /// Tried and untried pairs: the targets by the equations of the docs, in f64.
    #[test]
    fn targets_follow_the_equations() {
        let (mut learner, sample) = (practised(NAME), sample());
        (0..2 * BATCH).step_by(3).for_each(|i| learner.algorithm.acted(&sample.both[i * 3..][..3], i % 2));
        let (rows, mut split) = (Rows::new(&learner, &sample), split_of(&learner));
        let next_rows = rows.outputs().target_next;
        split.compute_targets(&batch(&sample, learner.rewards), next_rows);
        let rewards = split.rewards(&learner.rewards);
        let scales = split.scales(&rewards);
        let (prior, noise) = (f64::from(scales.prior), f64::from(scales.noise));
        let (_, most) = rewards.values(0.99);
        let lambda = SplitSettings::default().noise;
        for i in 0..BATCH {
            let (next, row) = (&sample.next()[i * 3..][..3], &next_rows[i * 6..][..6]);
            let believed = |a: usize| {
                let h = split.own.left(&split.own.features(next), a);
                let u = 1.0 / (1.0 / prior + lambda * (1.0 / h - 1.0) / noise);
                let trust = 1.0 - u / prior;
                let var = u + trust * trust * (-2.0 * f64::from(row[2 + a])).exp().min(prior);
                let mean = f64::from(row[a]);
                let cap = (2.0 * prior.sqrt()).max(mean + 2.0 * var.sqrt()).min(most.into());
                (mean, var, (trust * f64::from(row[4 + a]) + 2.0 * u / prior.sqrt()).min(cap))
            };
            let both = [believed(0), believed(1)];
            let best = usize::from(both[1].0 > both[0].0);
            let (mean, var, _) = both[best];
            let (goes_on, reward) = (f64::from(u8::from(i != 5)), f64::from(sample.reward[i]));
            let gamma = goes_on * f64::from(sample.discount[i]);
            let close = |found: f32, expected: f64| {
                assert!(
                    (f64::from(found) - expected).abs() < 1e-4 * (1.0 + expected.abs()),
                    "{i}: {found} {expected}"
                );
            };
            close(split.mean[i], reward + gamma * mean);
            close(split.inherited[i], (gamma * gamma * var).max(1e-5));
            close(split.ahead[i], reward + gamma * both[0].2.max(both[1].2));
        }
    }

    /// Whatever the network says, a pair that was never tried is as unsure and as hopeful as the prior.
    #[test]
    fn an_untried_pair_is_the_prior() {
        let (mut learner, tried) = (practised(NAME), [0.3, -0.7, 0.2]);
        (0..1_000).for_each(|_| learner.algorithm.acted(&tried, 0));
        let mut pass = adfq_nn::Workspace::new(learner.network(), 1, 1).unwrap();
        let row = learner.network().forward(&learner.online, &tried, &mut pass).unwrap().to_vec();
        let mut found = vec![];
        learner.estimate(Asked::Beliefs, &tried, &row, &[], &mut found).unwrap();
        let split = split_of(&learner);
        let prior = f64::from(split.scales(&split.rewards(&learner.rewards)).prior);
        let (sd, hope) = (|a: usize| f64::from(found[a].sd), |a: usize| f64::from(found[a].score));
        assert!((sd(1) / prior.sqrt() - 1.0).abs() < 1e-5 && sd(0) < sd(1));
        assert!((hope(1) / (2.0 * prior.sqrt()) - 1.0).abs() < 1e-5 && hope(0) < hope(1));
    }
}

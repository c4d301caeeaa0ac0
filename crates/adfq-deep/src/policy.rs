//! How a deep agent explores: from estimates to actions.

use crate::Config;
use crate::algorithm::Estimate;
use adfq::policy::{Epsilon, best};
use adfq::random::{ChaCha8Rng, stream};
use rand::RngExt;
use rand_distr::StandardNormal;
use smallvec::SmallVec;

/// A policy with its own generator, which is what a checkpoint holds of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Explorer {
    kind: Kind,
    epsilon: Epsilon,
    /// What ε was up to each of the run's earlier ends.
    earlier: Vec<(u64, Epsilon)>,
    pub rng: ChaCha8Rng,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// One normal number for each action.
    Thompson,
    /// ε-greedy on the means.
    Epsilon,
    /// The algorithm's own: the largest score.
    Score,
}

impl Explorer {
    /// The policy of this configuration, its generator at its start.
    pub fn new(config: &Config) -> Self {
        let kind = match config.policy.as_str() {
            "thompson" => Kind::Thompson,
            "epsilon" => Kind::Epsilon,
            _ => Kind::Score,
        };
        let earlier = config.earlier_ends.iter().map(|&end| (end, config.epsilon(end))).collect();
        Self { kind, epsilon: config.epsilon(config.steps), earlier, rng: stream(config.seed, "policy") }
    }

    /// ε after this many steps, of which the last began after `before`; none where the policy has no ε.
    pub fn epsilon(&self, step: u64, before: u64) -> Option<f64> {
        (self.kind == Kind::Epsilon).then(|| self.schedule(before).at(step))
    }

    /// The schedule of the step that begins after so many.
    fn schedule(&self, taken: u64) -> Epsilon {
        let ahead = self.earlier.iter().find(|(end, _)| *end > taken);
        ahead.map_or(self.epsilon, |(_, epsilon)| *epsilon)
    }

    /// The action for the estimates of one state at this step.
    pub fn act(&mut self, estimates: &[Estimate], step: u64) -> usize {
        match self.kind {
            Kind::Thompson => self.thompson(estimates),
            Kind::Epsilon => self.epsilon_greedy(estimates, step),
            Kind::Score => best_by(estimates, |estimate| estimate.score, &mut self.rng),
        }
    }

    /// Draws each Q(s,a) from its belief and takes the largest (paper §6).
    fn thompson(&mut self, estimates: &[Estimate]) -> usize {
        let (mut chosen, mut largest) = (0, f32::NEG_INFINITY);
        for (action, estimate) in estimates.iter().enumerate() {
            let z: f32 = self.rng.sample(StandardNormal);
            let drawn = estimate.mean + estimate.sd * z;
            if drawn > largest {
                (chosen, largest) = (action, drawn);
            }
        }
        chosen
    }

    fn epsilon_greedy(&mut self, estimates: &[Estimate], step: u64) -> usize {
        if self.rng.random::<f64>() < self.schedule(step).at(step) {
            return self.rng.random_range(0..estimates.len());
        }
        greedy(estimates, &mut self.rng)
    }
}

/// The action with the largest mean. Ties are drawn.
pub(crate) fn greedy(estimates: &[Estimate], rng: &mut ChaCha8Rng) -> usize {
    best_by(estimates, |estimate| estimate.mean, rng)
}

fn best_by(estimates: &[Estimate], of: fn(&Estimate) -> f32, rng: &mut ChaCha8Rng) -> usize {
    let values: SmallVec<[f32; 32]> = estimates.iter().map(of).collect();
    best(&values, rng)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(policy: &str, estimates: &[Estimate]) -> Vec<f64> {
        let mut config = Config { policy: policy.to_owned(), ..Config::for_env("cartpole").unwrap() };
        config.exploration.from = 0.25;
        let (mut policy, mut counts) = (Explorer::new(&config), vec![0.0; estimates.len()]);
        (0..20_000).for_each(|_| counts[policy.act(estimates, 0)] += 1.0 / 20_000.0);
        counts
    }

    fn estimate(mean: f32, sd: f32, score: f32) -> Estimate {
        Estimate { mean, sd, score }
    }

    /// N(1, .5²) against N(0, 1): the first is larger with probability Φ(1/√1.25) = .81445.
    #[test]
    fn thompson_draws_one_number_for_each_action() {
        let found = shares("thompson", &[estimate(1.0, 0.5, 0.0), estimate(0.0, 1.0, 9.0)])[0];
        assert!((found - 0.81445).abs() < 0.011, "{found}"); // 4 sd
    }

    #[test]
    fn an_own_policy_takes_the_largest_score_and_draws_among_equals() {
        let estimates = [estimate(9.0, 9.0, 1.0), estimate(0.0, 9.0, 2.0), estimate(0.0, 0.0, 2.0)];
        let found = shares("optimist", &estimates);
        assert!(found[0] == 0.0 && (found[1] - 0.5).abs() < 0.015, "{found:?}");
    }

    #[test]
    fn epsilon_greedy_takes_the_largest_mean_but_for_epsilon() {
        let found = shares("epsilon", &[estimate(0.0, 9.0, 9.0), estimate(1.0, 0.0, 0.0)]);
        assert!((found[1] - 0.875).abs() < 0.0094, "{found:?}");
    }
}

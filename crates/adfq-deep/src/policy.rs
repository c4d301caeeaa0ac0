//! How a deep agent explores: from estimates to actions.

use crate::Config;
use crate::algorithm::Estimate;
use adfq::policy::{Epsilon, best};
use adfq::random::{ChaCha8Rng, stream};
use rand::RngExt;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// A policy with its own generator; all of it is saved in a checkpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Explorer {
    kind: Kind,
    epsilon: Epsilon,
    rng: ChaCha8Rng,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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
        Self { kind, epsilon: config.epsilon(), rng: stream(config.seed, "policy") }
    }

    /// The policy of this configuration, its generator where another one's is.
    pub fn resumed(config: &Config, saved: Self) -> Self {
        Self { rng: saved.rng, ..Self::new(config) }
    }

    /// ε after this many steps; none where the policy has no ε.
    pub fn epsilon(&self, step: u64) -> Option<f64> {
        (self.kind == Kind::Epsilon).then(|| self.epsilon.at(step))
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
        if self.rng.random::<f64>() < self.epsilon.at(step) {
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

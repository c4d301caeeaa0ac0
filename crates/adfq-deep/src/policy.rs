//! How a deep agent explores: from the rows its network gives to actions.

use crate::config::{Config, PolicyKind};
use crate::target::Limits;
use adfq::policy::{Epsilon, best};
use adfq::random::{ChaCha8Rng, stream};
use rand::RngExt;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};

/// A policy with its own generator; all of it is saved in a checkpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Explorer {
    kind: PolicyKind,
    epsilon: Epsilon,
    limits: Limits,
    rng: ChaCha8Rng,
}

impl Explorer {
    /// The policy of this configuration, its generator at its start.
    pub fn new(config: &Config) -> Self {
        Self {
            kind: config.policy,
            epsilon: config.epsilon(),
            limits: config.limits(),
            rng: stream(config.seed, "policy"),
        }
    }

    /// ε after this many steps; none where the policy has no ε.
    pub fn epsilon(&self, step: u64) -> Option<f64> {
        (self.kind == PolicyKind::Epsilon).then(|| self.epsilon.at(step))
    }

    /// The action for one row of outputs at this step.
    pub fn act(&mut self, row: &[f32], actions: usize, step: u64) -> usize {
        match self.kind {
            PolicyKind::Thompson => self.thompson(row, actions),
            PolicyKind::Epsilon => self.epsilon_greedy(&row[..actions], step),
            PolicyKind::Optimist => best(&row[2 * actions..], &mut self.rng),
        }
    }

    /// Acts best in one world drawn from the beliefs, each Q(s,a) by itself (paper §6).
    fn thompson(&mut self, row: &[f32], actions: usize) -> usize {
        let (mut chosen, mut largest) = (0, f32::NEG_INFINITY);
        for action in 0..actions {
            let z: f32 = self.rng.sample(StandardNormal);
            let drawn = row[action] + self.limits.var(row[actions + action]).sqrt() * z;
            if drawn > largest {
                (chosen, largest) = (action, drawn);
            }
        }
        chosen
    }

    fn epsilon_greedy(&mut self, means: &[f32], step: u64) -> usize {
        if self.rng.random::<f64>() < self.epsilon.at(step) {
            return self.rng.random_range(0..means.len());
        }
        best(means, &mut self.rng)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::AgentKind;

    fn shares(config: &Config, row: &[f32], actions: usize) -> Vec<f64> {
        let (mut policy, mut counts) = (Explorer::new(config), vec![0.0; actions]);
        (0..20_000).for_each(|_| counts[policy.act(row, actions, 0)] += 1.0 / 20_000.0);
        counts
    }

    /// N(1, .5²) against N(0, 1): the first is larger with probability Φ(1/√1.25) = .81445.
    #[test]
    fn thompson_draws_one_number_for_each_action() {
        let config = Config::for_env("cartpole").unwrap();
        let found = shares(&config, &[1.0, 0.0, -(0.5_f32.ln()), 0.0], 2)[0];
        assert!((found - 0.81445).abs() < 0.011, "{found}"); // 4 sd
    }

    #[test]
    fn the_optimist_takes_the_largest_hope_and_draws_among_equals() {
        let config = Config::for_env("cartpole").unwrap().with_agent(AgentKind::Split, PolicyKind::Optimist);
        let row = [9.0, 0.0, 0.0, 9.0, 9.0, 0.0, 1.0, 2.0, 2.0];
        let found = shares(&config, &row, 3);
        assert!(found[0] == 0.0 && (found[1] - 0.5).abs() < 0.015, "{found:?}");
    }

    #[test]
    fn epsilon_greedy_takes_the_largest_mean_but_for_epsilon() {
        let mut config = Config::for_env("cartpole").unwrap();
        config.policy = PolicyKind::Epsilon;
        config.exploration.from = 0.25;
        let found = shares(&config, &[0.0, 1.0, 9.0, 9.0], 2);
        assert!((found[1] - 0.875).abs() < 0.0094, "{found:?}");
    }
}

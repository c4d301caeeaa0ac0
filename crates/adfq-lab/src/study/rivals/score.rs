//! What a reward is worth: its place between random play and the optimal policy.

use crate::Result;
use crate::experiment::solved_domain::Domain;
use crate::experiment::trial::Trial;
use adfq::mdp::{Mdp, MdpBuilder, Outcome, average_reward};
use std::collections::BTreeMap;

/// The rewards per step of random play and of the policy that is optimal for the discount, both in the long run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    pub random: f64,
    pub optimal: f64,
}

impl Scale {
    /// The scale of the MDP of a trial.
    pub fn of(domain: &str, number: usize) -> Result<Self> {
        let Domain { mdp, best, .. } = Domain::of_trial(domain, number)?;
        Ok(Self { random: random_reward(&mdp)?, optimal: average_reward(&mdp, &best.policy)? })
    }

    /// 0 for random play, 1 for the optimal policy. Exploring costs, so 1 is out of reach for most.
    pub fn score(&self, reward: f64, steps: u64) -> f64 {
        (reward / steps as f64 - self.random) / (self.optimal - self.random)
    }
}

/// Scales by domain and number of the trial. Where all trials share an MDP, it is solved once.
#[derive(Default)]
pub struct Scales(BTreeMap<(&'static str, usize), Scale>);

impl Scales {
    pub fn of(&mut self, trial: &Trial) -> Result<Scale> {
        let own = trial.domain.starts_with("random-") || trial.domain.starts_with("garnet-");
        let number = if own { trial.number } else { 0 };
        if let Some(scale) = self.0.get(&(trial.domain, number)) {
            return Ok(*scale);
        }
        let scale = Scale::of(trial.domain, number)?;
        self.0.insert((trial.domain, number), scale);
        Ok(scale)
    }
}

/// The long-run reward per step of uniformly random actions: that of an MDP with a single action, which does what a
/// random one would.
fn random_reward(mdp: &Mdp) -> Result<f64> {
    let mut mixed = MdpBuilder::new("random play", mdp.states(), 1, mdp.gamma());
    for &(state, probability) in mdp.starts() {
        mixed = mixed.start_with(state, probability);
    }
    let share = 1.0 / mdp.actions() as f64;
    for state in 0..mdp.states() {
        for outcome in (0..mdp.actions()).flat_map(|action| mdp.outcomes(state, action)) {
            let probability = share * outcome.probability;
            mixed.add(state, 0, Outcome { probability, ..*outcome });
        }
    }
    Ok(average_reward(&mixed.build()?, &vec![0; mdp.states()])?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simple: two steps an episode, of which the second pays ±5 with equal chances at random and 3 on average at best.
    #[test]
    fn random_play_and_the_optimum_are_0_and_1() {
        let scale = Scale::of("simple", 0).unwrap();
        assert!(scale.random.abs() < 1e-12 && (scale.optimal - 1.5).abs() < 1e-12, "{scale:?}");
        assert!((scale.score(75.0, 100) - 0.5).abs() < 1e-12);
    }

    /// Loop at random. Half of all rounds take the first ring: 5 steps for 1. The others enter 5, and 6, 7 and 8 with chances
    /// ½, ¼ and ⅛: 1 + 1 + ½ + ¼ + ⅛ steps, and 2 with chance ⅛.
    #[test]
    fn random_play_in_loop_is_counted_exactly() {
        let steps = 0.5 * 5.0 + 0.5 * (2.0 + 0.5 + 0.25 + 0.125);
        let reward = 0.5 + 0.5 * 0.25;
        let found = Scale::of("loop", 0).unwrap().random;
        assert!((found - reward / steps).abs() < 1e-12, "{found} {}", reward / steps);
    }
}

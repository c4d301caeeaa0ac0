//! A domain with what is known of it: its exact Q*, where that can be learned, and how long a test run lasts. How far
//! an agent is from it, is in [`distance`](super::distance).

use adfq::Result;
use adfq::mdp::{self, Garnet, Mdp, Outcome, Solution};

/// Steps of a test run where nothing ends: twenty rounds of Loop.
const CONTINUING_TEST: u64 = 100;

/// An MDP and its solution.
///
/// ```
/// use adfq_lab::experiment::domain::Domain;
///
/// let maze = Domain::named("maze")?;
/// assert_eq!(maze.pairs.len(), 244 * 4); // of 264 states: one is never in the goal, nor on a flag not taken
/// assert_eq!(maze.test_steps(), 42); // 1.5 times the 28 of the shortest way past all flags
/// assert!(!maze.is_stochastic());
/// # Ok::<(), adfq::Error>(())
/// ```
pub struct Domain {
    /// The model.
    pub mdp: Mdp,
    /// Its solution.
    pub best: Solution,
    /// Every (s,a) that an agent can find itself choosing: all errors are averaged over these.
    pub pairs: Vec<(usize, usize)>,
}

impl Domain {
    /// One of the [named](mdp::named) domains.
    pub fn named(name: &str) -> Result<Self> {
        Self::of(mdp::named(name)?)
    }

    /// The domain of a trial: a named one, or one of the random MDPs, of which each trial has its own.
    ///
    /// ```
    /// use adfq_lab::experiment::domain::Domain;
    ///
    /// let drawn = |trial| Domain::of_trial("random-10", trial).map(|domain| domain.mdp);
    /// assert_eq!(drawn(0)?.states(), 10);
    /// assert_ne!(drawn(0)?, drawn(1)?);
    /// # Ok::<(), adfq::Error>(())
    /// ```
    pub fn of_trial(name: &str, trial: usize) -> Result<Self> {
        match garnet(name) {
            Some(garnet) => Self::of(garnet.mdp(trial as u64)?),
            None => Self::named(name),
        }
    }

    fn of(mdp: Mdp) -> Result<Self> {
        let best = mdp::policy_iteration(&mdp)?;
        let reachable = mdp.reachable();
        let states = (0..mdp.states()).filter(|&state| reachable[state]);
        let pairs = states.flat_map(|state| (0..mdp.actions()).map(move |action| (state, action))).collect();
        Ok(Self { mdp, best, pairs })
    }

    /// Whether any action has more than one outcome.
    pub fn is_stochastic(&self) -> bool {
        self.pairs.iter().any(|&(state, action)| self.mdp.outcomes(state, action).len() > 1)
    }

    /// How long a test run may last: 1.5 times the expected length of the optimal path from the start (paper App. F),
    /// or 100 steps where nothing ends.
    pub fn test_steps(&self) -> u64 {
        if self.mdp.is_continuing() { CONTINUING_TEST } else { (1.5 * self.optimal_length()).round() as u64 }
    }

    /// What the optimal policy collects on average in the steps of a test run.
    pub fn best_test(&self) -> f64 {
        let reward = |o: &Outcome| o.reward;
        self.follow(self.test_steps(), reward)
    }

    /// The expected number of steps of an episode under the optimal policy.
    fn optimal_length(&self) -> f64 {
        // Each step of an episode counts 1. An episode that lasts a million steps is no path.
        self.follow(1_000_000, |_| 1.0)
    }

    /// The expected sum of `worth` over the first `steps` steps of one episode under the optimal policy: the
    /// distribution of the state, carried forward until nearly all episodes have ended.
    fn follow(&self, steps: u64, worth: impl Fn(&Outcome) -> f64) -> f64 {
        let mut alive = vec![0.0; self.mdp.states()];
        self.mdp.starts().iter().for_each(|&(state, probability)| alive[state] += probability);
        let mut sum = 0.0;
        for _ in 0..steps {
            let mut next = vec![0.0; alive.len()];
            for (state, mass) in alive.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
                for outcome in self.mdp.outcomes(state, self.best.policy[state]) {
                    let mass = mass * outcome.probability;
                    sum += mass * worth(outcome);
                    if !outcome.terminal {
                        next[outcome.next_state] += mass;
                    }
                }
            }
            alive = next;
            if alive.iter().sum::<f64>() < 1e-12 {
                break;
            }
        }
        sum
    }
}

/// The kind of random MDP that a name stands for: `random-` and the number of states, which ends in `-episodic` where
/// one outcome in twenty ends the episode.
fn garnet(name: &str) -> Option<Garnet> {
    let (states, actions, branching, ending) = match name {
        "random-10" => (10, 2, 3, 0.0),
        "random-30" => (30, 3, 4, 0.0),
        "random-30-episodic" => (30, 3, 4, 0.05),
        "random-100" => (100, 4, 5, 0.0),
        _ => return None,
    };
    Some(Garnet { states, actions, branching, ending, ..Garnet::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_of_the_optimal_policy() {
        let best = |name| Domain::named(name).unwrap().best_test();
        assert!((best("loop") - 40.0).abs() < 1e-9, "{}", best("loop"));
        assert!((best("maze") - 3.0).abs() < 1e-9, "{}", best("maze"));
        let slippery = Domain::named("maze-stochastic").unwrap();
        assert!(slippery.is_stochastic() && slippery.test_steps() > 42);
        assert!(slippery.best_test() > 2.5 && slippery.best_test() < 3.0, "{}", slippery.best_test());
    }
}

//! A domain with what is known of it: its exact Q*, where that can be learned, how long a test run lasts, and how far an
//! agent is from Q*.

use adfq::Result;
use adfq::agent::Agent;
use adfq::mdp::{self, Garnet, Mdp, Outcome, Solution};
use std::f64::consts::{FRAC_1_SQRT_2, PI, TAU};

/// Steps of a test run where nothing ends: twenty rounds of Loop.
const CONTINUING_TEST: u64 = 100;

/// An MDP and its solution.
pub struct Domain {
    pub mdp: Mdp,
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
    pub fn of_trial(name: &str, trial: usize) -> Result<Self> {
        match garnet(name) {
            Some(garnet) => Self::of(garnet.mdp(trial as u64)?),
            None if name.starts_with("garnet-") => Self::named(&format!("{name}-{trial}")),
            None => Self::named(name),
        }
    }

    fn of(mdp: Mdp) -> Result<Self> {
        let best = mdp::solve(&mdp)?;
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

/// What figures call a domain.
pub fn title(domain: &str) -> &str {
    match domain {
        "simple" => "simple MDP, |A| = 2",
        "simple10" => "simple MDP, |A| = 10",
        "loop" => "Loop",
        "loop-stochastic" => "Loop, slip 0.1",
        "maze" => "Maze",
        "maze-stochastic" => "Maze, slip 0.1",
        "chain" => "Chain, slip 0.2",
        "minimaze" => "MiniMaze",
        "minimaze-stochastic" => "MiniMaze, slip 0.1",
        "deepsea-8" => "DeepSea 8",
        "deepsea-10" => "DeepSea 10",
        "deepsea-14" => "DeepSea 14",
        "deepsea-20" => "DeepSea 20",
        "deepsea-8-stochastic" => "DeepSea 8, stochastic",
        "deepsea-10-stochastic" => "DeepSea 10, stochastic",
        "deepsea-14-stochastic" => "DeepSea 14, stochastic",
        "deepsea-20-stochastic" => "DeepSea 20, stochastic",
        "random-10" => "random MDPs, 10 states",
        "random-30" => "random MDPs, 30 states",
        "random-30-episodic" => "random MDPs, 30 states, episodic",
        "random-100" => "random MDPs, 100 states",
        "riverswim-6" => "RiverSwim 6",
        "riverswim-20" => "RiverSwim 20",
        "sixarms" => "SixArms",
        "garnet-30" => "Garnets, 30 states",
        "garnet-100" => "Garnets, 100 states",
        "taxi" => "Taxi",
        "cliffwalking" => "CliffWalking",
        other => other,
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

impl Domain {
    /// The root mean square of Q - Q* over all pairs.
    pub fn rmse(&self, agent: &dyn Agent) -> f64 {
        let square = |pair: &(usize, usize)| {
            let error = self.error(agent, pair);
            error * error
        };
        (self.pairs.iter().map(square).sum::<f64>() / self.pairs.len() as f64).sqrt()
    }

    /// The shares of pairs whose Q* lies within ±1 and ±2 standard deviations of the belief.
    pub fn coverage(&self, agent: &dyn Agent) -> [f64; 2] {
        [1.0, 2.0].map(|reach| self.share_within(agent, reach, |_| true))
    }

    /// The share of Q* within so many standard deviations, among the pairs that `counts`; NaN if none does.
    pub fn share_within(
        &self,
        agent: &dyn Agent,
        reach: f64,
        counts: impl Fn(&(usize, usize)) -> bool,
    ) -> f64 {
        let (mut within, mut all) = (0, 0);
        for pair in self.pairs.iter().filter(|pair| counts(pair)) {
            let sd = agent.var(pair.0, pair.1).sqrt();
            within += usize::from(self.error(agent, pair).abs() <= reach * sd);
            all += 1;
        }
        within as f64 / all as f64
    }

    /// The continuous ranked probability score of the beliefs, mean over all pairs: see [`crps`].
    pub fn crps(&self, agent: &dyn Agent) -> f64 {
        let score = |pair: &(usize, usize)| crps(self.error(agent, pair), agent.var(pair.0, pair.1).sqrt());
        self.pairs.iter().map(score).sum::<f64>() / self.pairs.len() as f64
    }

    fn error(&self, agent: &dyn Agent, &(state, action): &(usize, usize)) -> f64 {
        agent.means(state)[action] - self.best.action_values(state)[action]
    }
}

/// The continuous ranked probability score of a Gaussian that misses the truth by `error` (Gneiting and Raftery 2007):
/// σ (z (2Φ(z) − 1) + 2φ(z) − 1/√π) with z = error/σ. It is in the unit of the values and the smaller the better; a
/// belief without doubt scores |error|, so it can be compared with an estimate's absolute error. Beliefs that are not
/// Gaussian (Bayesian Q-learning's) are scored by their mean and variance.
pub fn crps(error: f64, sd: f64) -> f64 {
    let z = (error / sd).abs();
    // Beyond this φ(z) is 0 in double precision and the score its limit; a needle's z may well be infinite.
    if sd <= 0.0 || z > 40.0 {
        return (error.abs() - sd / PI.sqrt()).max(0.0);
    }
    let density = libm::exp(-0.5 * z * z) / TAU.sqrt();
    sd * (z * libm::erf(z * FRAC_1_SQRT_2) + 2.0 * density - 1.0 / PI.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use adfq::agent::{LearningRate, QLearning};

    #[test]
    fn tests_of_the_optimal_policy() {
        let maze = Domain::named("maze").unwrap();
        // Of 264 states: one is never in the goal, nor on a flag not taken. 1.5 times the 28 steps of the shortest way.
        assert_eq!((maze.pairs.len(), maze.test_steps(), maze.is_stochastic()), (244 * 4, 42, false));
        let best = |name| Domain::named(name).unwrap().best_test();
        assert!((best("loop") - 40.0).abs() < 1e-9, "{}", best("loop"));
        assert!((best("maze") - 3.0).abs() < 1e-9, "{}", best("maze"));
        let slippery = Domain::named("maze-stochastic").unwrap();
        assert!(slippery.is_stochastic() && slippery.test_steps() > 42);
        assert!(slippery.best_test() > 2.5 && slippery.best_test() < 3.0, "{}", slippery.best_test());
    }

    #[test]
    fn errors_are_averaged_over_the_pairs_one_can_choose() {
        // s₀ and s₁ have two actions each; the two ends have none. Q* is 2.7, 2.7 at s₀ and -3, 3 at s₁.
        let simple = Domain::named("simple").unwrap();
        assert_eq!(simple.pairs, [(0, 0), (0, 1), (1, 0), (1, 1)]);
        let zero = QLearning::new(4, 2, 0.9, LearningRate::Inverse, 0.0).unwrap();
        let expected = ((2.0 * 2.7 * 2.7 + 2.0 * 9.0) / 4.0_f64).sqrt();
        assert!((simple.rmse(&zero) - expected).abs() < 1e-12);
    }

    /// The definition, ∫ (F(x) − 1[x ≥ truth])² dx, by the midpoint rule.
    #[test]
    fn the_score_is_the_integral_that_defines_it() {
        for (error, sd) in [(0.0, 2.0), (1.0, 0.5), (-3.0, 1.0), (0.2, 4.0)] {
            let (reach, steps) = (60.0, 600_000);
            let width = 2.0 * reach / f64::from(steps);
            let integral: f64 = (0..steps)
                .map(|i| {
                    // The truth is 0, the belief N(error, sd²).
                    let x = -reach + (f64::from(i) + 0.5) * width;
                    let below = 0.5 * libm::erfc(-(x - error) / (sd * 2.0_f64.sqrt()));
                    let gap = below - f64::from(u8::from(x >= 0.0));
                    gap * gap * width
                })
                .sum();
            assert!(
                (crps(error, sd) - integral).abs() < 1e-4,
                "{error} {sd}: {} {integral}",
                crps(error, sd)
            );
        }
    }

    #[test]
    fn the_limits_of_the_score_meet() {
        for error in [3.0, -3.0] {
            assert!((crps(error, 3.0 / 39.999) - crps(error, 3.0 / 40.001)).abs() < 1e-5);
        }
        assert_eq!(crps(1.0, 1e-300), 1.0);
        assert_eq!(crps(0.0, 0.0), 0.0);
    }

    #[test]
    fn each_trial_has_a_random_mdp_of_its_own() {
        let drawn = |trial| Domain::of_trial("random-10", trial).unwrap().mdp;
        assert_eq!(drawn(0).states(), 10);
        assert_ne!(drawn(0), drawn(1));
    }

    #[test]
    fn to_doubt_a_wrong_value_scores_better_than_to_be_sure_of_it() {
        assert_eq!(crps(-2.0, 0.0), 2.0);
        assert!(crps(2.0, 1.0) < crps(2.0, 0.1));
    }
}

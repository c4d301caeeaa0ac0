//! ε-greedy: mostly the action that looks best, sometimes any.

use super::Policy;
use crate::Result;
use crate::agent::Agent;
use crate::agent::table::setting;
use crate::random::ChaCha8Rng;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// The probability ε of a random action.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Epsilon {
    /// The same at every step.
    Constant(f64),
    /// A straight line from `from` to `to` over the first `steps` actions, then `to`.
    Linear {
        /// ε of the first action.
        from: f64,
        /// ε from action `steps` on.
        to: f64,
        /// How many actions the way takes.
        steps: u64,
    },
}

impl Epsilon {
    /// ε after `acts` actions.
    #[inline]
    pub fn at(self, acts: u64) -> f64 {
        match self {
            Self::Constant(epsilon) => epsilon,
            Self::Linear { to, steps, .. } if acts >= steps => to,
            Self::Linear { from, to, steps } => from + (to - from) * (acts as f64 / steps as f64),
        }
    }
}

/// Chooses the action with the largest mean, a random one of them if there are several; with probability ε,
/// any action.
///
/// ```
/// use adfq::agent::{Agent, LearningRate, QLearning, Step};
/// use adfq::policy::{EpsilonGreedy, Policy};
/// use adfq::random::stream;
///
/// let mut agent = QLearning::new(1, 2, 0.9, LearningRate::Constant(0.5), 0.0)?;
/// agent.update(&Step { state: 0, action: 1, reward: 1.0, next_state: 0, terminal: true })?;
/// assert_eq!(EpsilonGreedy::greedy().act(&agent, 0, &mut stream(0, "greedy")), 1);
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct EpsilonGreedy {
    epsilon: Epsilon,
    acts: u64,
}

impl EpsilonGreedy {
    /// ε-greedy with an ε between 0 and 1.
    pub fn new(epsilon: Epsilon) -> Result<Self> {
        let (first, last) = match epsilon {
            Epsilon::Constant(epsilon) => (epsilon, epsilon),
            Epsilon::Linear { from, to, .. } => (from, to),
        };
        for value in [first, last] {
            setting("epsilon", value, (0.0..=1.0).contains(&value), "between 0 and 1")?;
        }
        Ok(Self { epsilon, acts: 0 })
    }

    /// Always an action that looks best: ε = 0.
    pub fn greedy() -> Self {
        Self { epsilon: Epsilon::Constant(0.0), acts: 0 }
    }
}

impl<A: Agent + ?Sized> Policy<A> for EpsilonGreedy {
    #[inline]
    fn act(&mut self, agent: &A, state: usize, rng: &mut ChaCha8Rng) -> usize {
        let epsilon = self.epsilon.at(self.acts);
        self.acts += 1;
        if epsilon > 0.0 && rng.random::<f64>() < epsilon {
            return rng.random_range(0..agent.actions());
        }
        best(agent.means(state), rng)
    }
}

/// An index of the largest value, drawn uniformly if it is there more than once.
///
/// ```
/// use adfq::{policy::best, random::stream};
///
/// assert_eq!(best(&[1.0_f32, 3.0, 2.0], &mut stream(0, "best")), 1);
/// ```
#[inline]
pub fn best<T: Copy + PartialOrd, R: Rng>(values: &[T], rng: &mut R) -> usize {
    let (mut best, mut ties) = (0, 0);
    for (i, &value) in values.iter().enumerate() {
        if value > values[best] {
            (best, ties) = (i, 1);
        } else if value == values[best] {
            ties += 1;
        }
    }
    if ties < 2 {
        return best;
    }
    let (top, chosen) = (values[best], rng.random_range(0..ties));
    let mut tied = values.iter().enumerate().filter(|(_, value)| **value == top);
    tied.nth(chosen).map_or(best, |(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::{LearningRate, QLearning, Step};
    use crate::random::stream;

    /// Means 1, 0, 1, 1: three equal best actions.
    fn tied() -> QLearning {
        let mut agent = QLearning::new(1, 4, 0.9, LearningRate::Inverse, 0.0).unwrap();
        for action in [0, 2, 3] {
            agent.update(&Step { state: 0, action, reward: 1.0, next_state: 0, terminal: true }).unwrap();
        }
        agent
    }

    fn frequencies(mut policy: EpsilonGreedy, acts: usize) -> [f64; 4] {
        let (agent, mut rng, mut counts) = (tied(), stream(1, "ties"), [0.0; 4]);
        (0..acts).for_each(|_| counts[policy.act(&agent, 0, &mut rng)] += 1.0 / acts as f64);
        counts
    }

    fn close(found: [f64; 4], expected: [f64; 4]) {
        // 40,000 draws: an sd of at most .0025.
        assert!(found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 0.01), "{found:?}, not {expected:?}");
    }

    #[test]
    fn ties_are_broken_evenly() {
        let third = 1.0 / 3.0;
        let found = frequencies(EpsilonGreedy::greedy(), 40_000);
        assert_eq!(found[1], 0.0);
        close(found, [third, 0.0, third, third]);
    }

    #[test]
    fn epsilon_is_shared_by_all_actions() {
        let policy = EpsilonGreedy::new(Epsilon::Constant(0.2)).unwrap();
        let tie = 0.8 / 3.0 + 0.05;
        close(frequencies(policy, 40_000), [tie, 0.05, tie, tie]);
    }

    #[test]
    fn a_linear_epsilon_reaches_its_end_and_stays() {
        let epsilon = Epsilon::Linear { from: 1.0, to: 0.1, steps: 9 };
        assert_eq!([epsilon.at(0), epsilon.at(9), epsilon.at(1000)], [1.0, 0.1, 0.1]);
        assert!((epsilon.at(3) - 0.7).abs() < 1e-12);
        assert_eq!(Epsilon::Linear { from: 1.0, to: 0.1, steps: 0 }.at(0), 0.1);
        assert!(EpsilonGreedy::new(Epsilon::Linear { from: 1.0, to: -0.1, steps: 9 }).is_err());
    }
}

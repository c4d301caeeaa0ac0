//! Q-learning (Watkins 1989), the paper's first opponent: a point estimate per (s,a) and a learning rate.

use super::table::{discount, maximum, setting};
use super::{Agent, QTable, Step};
use crate::Result;
use serde::{Deserialize, Serialize};

/// The learning rate α of the n-th visit to (s,a), counted from n = 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LearningRate {
    /// The same α in (0, 1] at every visit.
    Constant(f64),
    /// α₀ (n₀ + 1) / (n₀ + n), the paper's (App. F), after Lagoudakis and Parr.
    Paper {
        /// The first rate α₀.
        alpha0: f64,
        /// How many visits the rate takes to fall by half, about.
        n0: f64,
    },
    /// 1/n: the estimate is the mean of the targets seen.
    Inverse,
}

impl LearningRate {
    /// The paper's rate for a run of `horizon` steps: α₀ = ½, and n₀ such that the rate of a pair visited at
    /// every step would end at .01.
    ///
    /// ```
    /// use adfq::agent::LearningRate;
    ///
    /// assert_eq!(LearningRate::paper(10_000), LearningRate::Paper { alpha0: 0.5, n0: 204.0 });
    /// assert_eq!(LearningRate::paper(10_000).at(1), 0.5);
    /// ```
    pub fn paper(horizon: u64) -> Self {
        let (alpha0, last) = (0.5, 0.01);
        let share = last / alpha0;
        Self::Paper { alpha0, n0: (share * horizon as f64 / (1.0 - share)).round() }
    }

    /// The rate of the n-th visit.
    #[inline]
    pub fn at(self, visit: u32) -> f64 {
        match self {
            Self::Constant(alpha) => alpha,
            Self::Paper { alpha0, n0 } => alpha0 * (n0 + 1.0) / (n0 + f64::from(visit)),
            Self::Inverse => 1.0 / f64::from(visit),
        }
    }

    fn check(self) -> Result<()> {
        let unit = |name, alpha| setting(name, alpha, alpha > 0.0 && alpha <= 1.0, "above 0 and at most 1");
        match self {
            Self::Constant(alpha) => unit("learning rate", alpha).map(drop),
            Self::Paper { alpha0, n0 } => {
                unit("alpha0", alpha0)?;
                setting("n0", n0, n0 >= 0.0 && n0.is_finite(), "finite and not negative").map(drop)
            }
            Self::Inverse => Ok(()),
        }
    }
}

/// Tabular Q-learning: Q(s,a) ← Q(s,a) + α (r + γ maxᵦ Q(s′,b) - Q(s,a)).
///
/// ```
/// use adfq::agent::{Agent, LearningRate, QLearning, Step};
///
/// let mut agent = QLearning::new(2, 2, 0.9, LearningRate::Constant(0.5), 0.0)?;
/// agent.update(&Step { state: 1, action: 0, reward: 2.0, next_state: 0, terminal: true })?;
/// agent.update(&Step { state: 0, action: 1, reward: 0.0, next_state: 1, terminal: false })?;
/// assert_eq!(agent.means(1), [1.0, 0.0]);
/// assert_eq!(agent.means(0), [0.0, 0.45]);
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct QLearning {
    table: QTable,
    discount: f64,
    rate: LearningRate,
    visits: Vec<u32>,
}

impl QLearning {
    /// A table whose estimates all start at `initial`.
    pub fn new(states: usize, actions: usize, gamma: f64, rate: LearningRate, initial: f64) -> Result<Self> {
        rate.check()?;
        let table = QTable::new(states, actions, initial)?;
        let visits = vec![0; table.len()];
        Ok(Self { table, discount: discount(gamma)?, rate, visits })
    }

    /// How many transitions from (s,a) the agent has learned from.
    pub fn visits(&self, state: usize, action: usize) -> u32 {
        self.visits[self.table.shape.index(state, action)]
    }
}

impl Agent for QLearning {
    #[inline]
    fn table(&self) -> &QTable {
        &self.table
    }

    #[inline]
    fn update(&mut self, step: &Step) -> Result<()> {
        self.table.check(step)?;
        let next = if step.terminal { 0.0 } else { maximum(self.means(step.next_state)) };
        let i = self.table.shape.index(step.state, step.action);
        self.visits[i] = self.visits[i].saturating_add(1);
        let mean = &mut self.table.means[i];
        *mean += self.rate.at(self.visits[i]) * (step.reward + self.discount * next - *mean);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::toy;
    use crate::random::stream;

    fn agent(states: usize, rate: LearningRate) -> QLearning {
        QLearning::new(states, 2, toy::DISCOUNT, rate, 0.0).unwrap()
    }

    #[test]
    fn learns_loop_from_random_actions() {
        let mut learner = agent(9, LearningRate::Constant(0.5));
        toy::walk_loop(&mut learner, 60_000, &mut stream(1, "loop"));
        assert!(toy::loop_error(&learner) < 1e-6, "{}", toy::loop_error(&learner));
    }

    #[test]
    fn inverse_rate_averages_a_bandit() {
        let mut learner = agent(1, LearningRate::Inverse);
        let means = toy::pull_bandit(&mut learner, 20_000, &mut stream(2, "bandit"));
        for (estimate, mean) in learner.means(0).iter().zip(means) {
            assert!((estimate - mean).abs() < 1e-12, "{estimate} is not the average {mean}");
        }
        assert_eq!(learner.visits(0, 0) + learner.visits(0, 1), 20_000);
    }

    #[test]
    fn the_papers_rate_ends_at_one_percent() {
        for horizon in [1_000, 10_000, 30_000] {
            let rate = LearningRate::paper(horizon);
            let ends = rate.at(horizon as u32);
            assert!((ends - 0.01).abs() < 0.0005, "{ends}");
        }
    }

    #[test]
    fn a_bad_setting_is_an_error() {
        for rate in [
            LearningRate::Constant(0.0),
            LearningRate::Constant(f64::NAN),
            LearningRate::Paper { alpha0: 1.5, n0: 3.0 },
            LearningRate::Paper { alpha0: 0.5, n0: -1.0 },
        ] {
            assert!(QLearning::new(2, 2, 0.9, rate, 0.0).is_err(), "{rate:?}");
        }
        assert!(QLearning::new(2, 2, 1.1, LearningRate::Inverse, 0.0).is_err());
    }
}

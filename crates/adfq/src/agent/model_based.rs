//! Value iteration on the empirical model: the classic way to learn from counts, and its ways to explore.
//!
//! The agent counts outcomes, takes their frequencies and mean rewards for the truth, and solves that MDP. How it explores
//! is an [`Exploration`]: by its policy alone, or by optimistic values, which are the solution of the same model with
//! a bonus for what was seldom tried. What acts by them is [`Optimist`](crate::policy::Optimist).
//!
//! After each step the pair is backed up, then the pairs that lead to what has changed, up to a bound on the work. What is left
//! waits for the next step. So values are those of value iteration, warm-started, as soon as the queue is empty.

mod exploration;

pub use exploration::Exploration;

use super::sweep::SweepQueue;
use super::table::{discount, maximum};
use super::tally::Tally;
use super::{Agent, QTable, Rewards, Step};
use crate::Result;
use crate::agent::table::setting;
use exploration::Sample;
use serde::{Deserialize, Serialize};

/// A value that moves by less than this share of the range of values is no news to the pairs that lead there.
const NEWS: f64 = 1e-6;

/// What an agent with a model can be told.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelSettings {
    /// How it explores.
    pub exploration: Exploration,
    /// How many pairs are backed up at most after each step, beside the one that was tried.
    pub backups: u32,
}

impl Default for ModelSettings {
    /// No bonus, and at most three hundred backups a step. Mostly the queue is empty long before.
    fn default() -> Self {
        Self { exploration: Exploration::Policy, backups: 300 }
    }
}

/// An agent that plans on the outcomes it has counted.
///
/// ```
/// use adfq::agent::{Agent, Exploration, ModelBased, ModelSettings, Rewards, Step};
///
/// let settings = ModelSettings { exploration: Exploration::RMax { visits: 1 }, ..ModelSettings::default() };
/// let mut agent = ModelBased::new(2, 2, 0.5, Rewards::within(0.0, 1.0), settings)?;
/// assert_eq!(agent.hopeful(0, 0), 2.0); // a reward of 1 for ever
/// agent.update(&Step { state: 0, action: 0, reward: 0.0, next_state: 1, terminal: false })?;
/// agent.update(&Step { state: 1, action: 0, reward: 0.8, next_state: 1, terminal: true })?;
/// assert_eq!(agent.means(1), [0.8, 0.0]);
/// assert_eq!(agent.means(0), [0.4, 0.0]);
/// // State 1 has an action that was never tried: who goes there may still find 2.
/// assert_eq!((agent.hopeful(0, 0), agent.hopeful(1, 0)), (1.0, 0.8));
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ModelBased {
    /// The values of the empirical model.
    table: QTable,
    /// The same with bonuses.
    hopes: Vec<f64>,
    /// V and its optimistic counterpart, for each state.
    values: Vec<Value>,
    tally: Tally,
    queue: SweepQueue,
    discount: f64,
    /// The least and the greatest possible value.
    range: (f64, f64),
    settings: ModelSettings,
}

#[derive(Clone, Copy, Debug)]
struct Value {
    mean: f64,
    hope: f64,
}

impl ModelBased {
    /// An agent that knows the range of its rewards. A pair that was never tried counts as 0, or the possible value next to
    /// 0; with optimistic values it may be worth all that the range allows.
    pub fn new(
        states: usize,
        actions: usize,
        gamma: f64,
        rewards: Rewards,
        settings: ModelSettings,
    ) -> Result<Self> {
        settings.exploration.check()?;
        let range = rewards.values_with_ends(gamma)?;
        let start = rewards.prior(gamma)?.mean();
        let table = QTable::new(states, actions, start)?;
        let hope = if settings.exploration == Exploration::Policy { start } else { range.1 };
        Ok(Self {
            hopes: vec![hope; table.len()],
            values: vec![Value { mean: start, hope }; states],
            tally: Tally::new(table.shape),
            queue: SweepQueue::new(table.len()),
            discount: discount(gamma)?,
            range,
            settings,
            table,
        })
    }

    /// How many transitions from (s,a) the agent has learned from.
    pub fn visits(&self, state: usize, action: usize) -> u32 {
        self.tally.visits(self.table.shape.index(state, action))
    }

    /// Backs a pair up. If that is news about its state, the pairs that lead there are put into the queue.
    fn back_up(&mut self, pair: usize) {
        let (gamma, (low, high)) = (self.discount, self.range);
        let (mut plain, mut hopeful) = (Sample::default(), Sample::default());
        for outcome in self.tally.outcomes(pair) {
            let next = outcome.next.map_or(Value { mean: 0.0, hope: 0.0 }, |state| self.values[state]);
            plain.add(outcome.count, outcome.reward + gamma * next.mean, outcome.scatter);
            hopeful.add(outcome.count, outcome.reward + gamma * next.hope, outcome.scatter);
        }
        self.table.means[pair] = plain.mean();
        // Rewards lie within the declared range unless the declaration is wrong; then nothing is cut off.
        self.hopes[pair] = match self.settings.exploration {
            Exploration::Policy => plain.mean(),
            other => other.hope(&hopeful, high - low).map_or(high, |hope| hope.min(high.max(plain.mean()))),
        };
        let state = pair / self.table.shape.actions;
        let row = self.table.shape.row(state);
        let after = Value { mean: maximum(&self.table.means[row.clone()]), hope: maximum(&self.hopes[row]) };
        let before = self.values[state];
        let change = (after.mean - before.mean).abs().max((after.hope - before.hope).abs());
        if change > NEWS * (high - low) {
            self.values[state] = after;
            self.tally.predecessors(state).iter().for_each(|&pair| self.queue.push(pair));
        }
    }
}

impl Agent for ModelBased {
    #[inline]
    fn table(&self) -> &QTable {
        &self.table
    }

    fn update(&mut self, step: &Step) -> Result<()> {
        self.table.check(step)?;
        self.tally.count(step);
        self.back_up(self.table.shape.index(step.state, step.action));
        for _ in 0..self.settings.backups {
            let Some(pair) = self.queue.pop() else { break };
            self.back_up(pair);
        }
        Ok(())
    }

    /// The value with the bonus; the estimate itself where there is none.
    #[inline]
    fn hopeful(&self, state: usize, action: usize) -> f64 {
        self.hopes[self.table.shape.index(state, action)]
    }
}

impl Exploration {
    fn check(self) -> Result<()> {
        let (name, value) = match self {
            Self::Policy => return Ok(()),
            Self::RMax { visits } => ("visits", f64::from(visits)),
            Self::Mbie { beta } | Self::Beb { beta } => ("beta", beta),
            Self::Ucbvi { c } => ("c", c),
        };
        setting(name, value, value > 0.0 && value.is_finite(), "positive and finite").map(drop)
    }
}

#[cfg(test)]
mod tests;

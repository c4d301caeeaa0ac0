//! Split ADFQ without a memory: the filter of [`Streamed`], a constant amount of work and of memory for each pair.
//!
//! What [`SplitAdfq`](super::SplitAdfq) looks up this has to follow. Kept for tables too large for a tally, and to show
//! what the tally is good for.

use super::table::{discount, setting};
use super::{Agent, QTable, Rewards, Step};
use crate::update::split::{Member, Streamed, Target, maximum};
use crate::{Belief, Result};
use serde::{Deserialize, Serialize};

/// How the noise of targets is learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoiseFrom {
    /// From the errors of the filter, which drift as well as scatter.
    Residuals,
    /// From each two successive transitions of a pair, both valued by today's beliefs: half their squared difference is
    /// noise and nothing else, and exactly 0 where a pair always does the same.
    Differences,
}

/// What [`SplitStream`] can be told.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StreamSettings {
    /// How noise is learned.
    pub noise_from: NoiseFrom,
    /// The noise variance expected at first, as a share of the prior variance.
    pub noise: f64,
    /// The δ of the update: how much of the next states' gain in sureness counts as drift.
    pub drift: f64,
}

impl Default for StreamSettings {
    /// Noise from differences, .01 of the prior variance at first, full drift.
    fn default() -> Self {
        Self { noise_from: NoiseFrom::Differences, noise: 0.01, drift: 1.0 }
    }
}

/// The streaming form on a table.
///
/// ```
/// use adfq::agent::{Agent, Rewards, SplitStream, Step, StreamSettings};
///
/// let mut agent = SplitStream::new(2, 2, 0.9, Rewards::within(0.0, 1.0), StreamSettings::default())?;
/// let step = Step { state: 1, action: 0, reward: 1.0, next_state: 0, terminal: true };
/// (0..20).try_for_each(|_| agent.update(&step))?;
/// assert!((agent.means(1)[0] - 1.0).abs() < 0.01);
/// assert!(agent.var(1, 0) < 1e-3 && agent.var(1, 1) > 24.9);
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SplitStream {
    table: QTable,
    discount: f64,
    settings: StreamSettings,
    prior: Belief,
    beliefs: Vec<Streamed>,
    noises: Vec<Noise>,
    /// What all pairs have shown together.
    pool: Noise,
    last: Vec<Option<Step>>,
}

/// A noise variance as a sum of squares over a number of them.
#[derive(Clone, Copy, Debug, Default)]
struct Noise {
    squares: f64,
    number: f64,
}

impl Noise {
    /// The estimate in which `guess` counts as one square more.
    fn estimate(&self, guess: f64) -> f64 {
        (guess + self.squares) / (1.0 + self.number)
    }

    fn add(&mut self, square: f64) {
        self.squares += square;
        self.number += 1.0;
    }
}

impl SplitStream {
    /// An agent that knows nothing but the range of its rewards, with the prior of [`SplitAdfq`](super::SplitAdfq).
    pub fn new(
        states: usize,
        actions: usize,
        gamma: f64,
        rewards: Rewards,
        settings: StreamSettings,
    ) -> Result<Self> {
        let StreamSettings { noise, drift, .. } = settings;
        setting("noise", noise, noise > 0.0 && noise.is_finite(), "positive and finite")?;
        setting("drift", drift, (0.0..=1.0).contains(&drift), "between 0 and 1")?;
        let prior = rewards.prior(gamma)?;
        let table = QTable::new(states, actions, prior.mean())?;
        let pairs = table.len();
        let unknown = Streamed { mean: prior.mean(), own: prior.var(), inherited: 0.0 };
        Ok(Self {
            table,
            discount: discount(gamma)?,
            settings,
            prior,
            beliefs: vec![unknown; pairs],
            noises: vec![Noise::default(); pairs],
            pool: Noise::default(),
            last: vec![None; pairs],
        })
    }

    /// What the transition is worth by today's beliefs.
    fn target(&self, step: &Step) -> Target {
        if step.terminal {
            return Target { count: 1.0, mean: step.reward, scatter: 0.0, var: 0.0 };
        }
        let of = |b: &Streamed| Member { mean: b.mean, own: b.own, var: b.var() };
        let (mean, var) = maximum(self.beliefs[self.table.shape.row(step.next_state)].iter().map(of));
        let gamma = self.discount;
        Target { count: 1.0, mean: step.reward + gamma * mean, scatter: 0.0, var: gamma * gamma * var }
    }

    /// The noise expected of a pair: its own, with that of all others for a guess.
    fn noise(&self, pair: usize) -> f64 {
        let declared = self.settings.noise * self.prior.var();
        self.noises[pair].estimate(self.pool.estimate(declared))
    }

    fn learn_noise(&mut self, pair: usize, square: f64) {
        self.noises[pair].add(square);
        self.pool.add(square);
    }
}

impl Agent for SplitStream {
    #[inline]
    fn table(&self) -> &QTable {
        &self.table
    }

    fn update(&mut self, step: &Step) -> Result<()> {
        self.table.check(step)?;
        let pair = self.table.shape.index(step.state, step.action);
        let target = self.target(step);
        if let Some(last) = self.last[pair].replace(*step)
            && self.settings.noise_from == NoiseFrom::Differences
        {
            let apart = target.mean - self.target(&last).mean;
            self.learn_noise(pair, 0.5 * apart * apart);
        }
        let (noise, before) = (self.noise(pair), self.beliefs[pair]);
        let after = before.after(&target, noise, self.settings.drift)?;
        if self.settings.noise_from == NoiseFrom::Residuals {
            // What is left of the error after the step, and what the step itself may have hidden.
            let left = target.mean - after.mean;
            self.learn_noise(pair, left * left + after.own);
        }
        (self.beliefs[pair], self.table.means[pair]) = (after, after.mean);
        Ok(())
    }

    #[inline]
    fn var(&self, state: usize, action: usize) -> f64 {
        self.beliefs[self.table.shape.index(state, action)].var().max(f64::MIN_POSITIVE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::toy;
    use crate::random::stream;

    fn agent(states: usize, noise_from: NoiseFrom, max: f64) -> SplitStream {
        let settings = StreamSettings { noise_from, ..StreamSettings::default() };
        SplitStream::new(states, 2, toy::DISCOUNT, Rewards::within(0.0, max), settings).unwrap()
    }

    /// A certain domain has no noise by differences, so every target is a Bellman backup.
    #[test]
    fn loop_is_learned_and_its_noise_found_to_be_none() {
        let mut learner = agent(9, NoiseFrom::Differences, 2.0);
        toy::walk_loop(&mut learner, 10_000, &mut stream(1, "loop"));
        assert!(toy::loop_error(&learner) < 0.01, "{}", toy::loop_error(&learner));
        assert_eq!(learner.pool.squares, 0.0);
    }

    #[test]
    fn the_noise_of_a_bandit_is_found_either_way() {
        for noise_from in [NoiseFrom::Differences, NoiseFrom::Residuals] {
            let mut learner = agent(1, noise_from, 1.0);
            let averages = toy::pull_bandit(&mut learner, 20_000, &mut stream(2, "bandit"));
            for (a, average) in averages.into_iter().enumerate() {
                assert!((learner.means(0)[a] - average).abs() < 0.01, "{noise_from:?}");
                let noise = average * (1.0 - average);
                assert!((learner.noise(a) / noise - 1.0).abs() < 0.05, "{noise_from:?} {}", learner.noise(a));
            }
        }
    }
}

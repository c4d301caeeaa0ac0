//! How large values may be, by the rewards seen so far: the scale of everything that was never tried.
//!
//! No range has to be declared. All that is kept are sizes of rewards, so rewards in other units give the same agent in other
//! units. Before the first reward that is not 0, the unit is 1. What pairs that were tried are worth on average lives in
//! `population`.

use crate::agent::{Rewards, Step};
use crate::{Belief, Result};

/// How many times larger than all rewards seen so far an unseen one may be, as long as few pairs are known.
const SURPRISE: f64 = 1_000.0;

/// With this many pairs known, a surprise is half as large; with many more there is none.
const FEW: f64 = 15.0;

/// The power with which the size of a usual reward counts, over that of the largest: for a pair that was never tried, and for
/// a new outcome of one that was.
const USUAL: i32 = 2;
const USUAL_LATE: i32 = 6;

/// What rewards have shown.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    /// The size of the largest reward, and how many such rewards a value can have.
    unit: f64,
    horizon: f64,
    declared: bool,
    /// What this episode has paid, costs apart, and the most that a whole one has.
    episode: f64,
    paid: f64,
    ended: bool,
    /// The pairs that have paid, how many they are, and the sum of 1/size of what each paid first.
    payers: Vec<bool>,
    count: f64,
    inverse: f64,
}

impl Scale {
    /// Nothing is declared: values are at most the largest reward over 1-γ. Without a discount, the number of states stands
    /// for the horizon.
    pub fn learned(states: usize, pairs: usize, gamma: f64) -> Self {
        let horizon = if gamma < 1.0 { 1.0 / (1.0 - gamma) } else { states as f64 };
        Self {
            unit: 0.0,
            horizon,
            declared: false,
            episode: 0.0,
            paid: 0.0,
            ended: false,
            payers: vec![false; pairs],
            count: 0.0,
            inverse: 0.0,
        }
    }

    /// The range of rewards is declared: no reward is a surprise.
    pub fn declared(rewards: Rewards, states: usize, pairs: usize, gamma: f64) -> Result<Self> {
        let ((low, high), unit) = (rewards.values(gamma)?, rewards.max - rewards.min);
        let horizon = (high - low) / unit;
        Ok(Self { unit, horizon, declared: true, ..Self::learned(states, pairs, gamma) })
    }

    /// Takes in the reward of a step. With the first one that is not 0, it returns the unit that replaces 1.
    pub fn note(&mut self, pair: usize, step: &Step) -> Option<f64> {
        let (size, before) = (step.reward.abs(), self.unit);
        if size > 0.0 && !std::mem::replace(&mut self.payers[pair], true) {
            self.count += 1.0;
            self.inverse += 1.0 / size;
        }
        self.unit = before.max(size);
        self.episode += step.reward.max(0.0);
        if step.terminal {
            self.paid = self.paid.max(std::mem::take(&mut self.episode));
            self.ended = true;
        }
        (before == 0.0 && size > 0.0).then_some(size)
    }

    /// The largest single reward that is expected.
    pub fn unit(&self) -> f64 {
        if self.unit > 0.0 { self.unit } else { 1.0 }
    }

    /// How far apart values can be: rewards of the largest size for ever. Where episodes end, it is the most that one has
    /// paid, or a single reward. Episodes that only cost something say nothing about what others may pay.
    pub fn spread(&self) -> f64 {
        let most = self.unit() * self.horizon;
        let only_costs = self.paid == 0.0 && self.unit > 0.0;
        if self.ended && !only_costs { self.paid.max(self.unit()).min(most) } else { most }
    }

    /// The prior of values of such a spread: 0, and half of the spread for the sd.
    pub fn belief(&self, mean: f64) -> Belief {
        Belief::trusted(mean, (0.5 * self.spread()).powi(2))
    }

    /// How far from its mean a value may be by what is unknown. Before a reward has shown the unit, a surprise of so many units says
    /// nothing: it is a reason to look, and no belief.
    pub fn most_open(&self) -> f64 {
        if self.unit > 0.0 { f64::INFINITY } else { self.spread() }
    }

    /// By how much the value of a pair that was never tried may exceed the spread, when so many pairs are known.
    ///
    /// Few pairs say little about the rest. A reward far larger than a usual one is the surprise that was to be expected, so
    /// the size of a usual one (the harmonic mean over pairs) counts, not that of the largest. So does it where rewards of
    /// many sizes were met: their scale is known.
    pub fn surprise(&self, tried: f64) -> f64 {
        self.beyond(tried, USUAL)
    }

    /// The same for a pair that was tried, if it does something new. Where rewards of two sizes were met, much less is left
    /// to hope for.
    pub fn late_surprise(&self, tried: f64) -> f64 {
        self.beyond(tried, USUAL_LATE)
    }

    fn beyond(&self, tried: f64, power: i32) -> f64 {
        if self.declared {
            return 0.0;
        }
        let usual = if self.count > 0.0 { self.count / (self.inverse * self.unit()) } else { 1.0 };
        let known = (tried / FEW) * (tried / FEW);
        self.spread() * (usual.powi(power) * (1.0 + SURPRISE / (1.0 + known * known)) - 1.0).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(reward: f64, terminal: bool) -> Step {
        Step { state: 0, action: 0, reward, next_state: 0, terminal }
    }

    #[test]
    fn values_are_as_large_as_rewards_for_ever() {
        let mut scale = Scale::learned(1, 2, 0.9);
        assert!((scale.spread() - 10.0).abs() < 1e-12);
        assert_eq!(scale.note(0, &step(0.0, false)), None);
        assert_eq!(scale.note(0, &step(-3.0, false)), Some(3.0));
        assert_eq!(scale.note(1, &step(7.0, false)), None);
        assert!((scale.spread() - 70.0).abs() < 1e-12);
    }

    #[test]
    fn or_as_large_as_what_an_episode_pays() {
        let mut scale = Scale::learned(1, 1, 0.9);
        let steps = [
            (-1.0, true, 10.0),
            (1.0, false, 10.0),
            (-0.5, false, 10.0),
            (1.0, true, 2.0),
            (4.0, false, 4.0),
        ];
        for (reward, terminal, spread) in steps {
            scale.note(0, &step(reward, terminal));
            assert!((scale.spread() - spread).abs() < 1e-12, "{reward}: {}", scale.spread());
        }
    }

    #[test]
    fn without_a_unit_beliefs_have_no_surprise() {
        let mut scale = Scale::learned(1, 2, 0.9);
        assert_eq!(scale.most_open(), scale.spread());
        assert!(scale.surprise(0.0) > 100.0 * scale.spread());
        scale.note(0, &step(-3.0, false));
        assert_eq!(scale.most_open(), f64::INFINITY);
    }

    /// Surprises are possible while few pairs are known and until one was met, and never where a range is declared.
    #[test]
    fn surprises_end() {
        let mut scale = Scale::learned(1, 2, 0.9);
        scale.note(0, &step(5.0, false));
        assert!(scale.surprise(6.0) > 400.0 * scale.spread() && scale.surprise(300.0) < scale.spread());
        assert_eq!(scale.late_surprise(6.0), scale.surprise(6.0));
        scale.note(1, &step(10.0, false));
        assert!(scale.late_surprise(6.0) < 0.25 * scale.surprise(6.0), "two sizes were met");
        scale.note(1, &step(10_000.0, false));
        assert_eq!((scale.surprise(6.0), scale.late_surprise(6.0)), (0.0, 0.0));
        let declared = Scale::declared(Rewards::within(0.0, 1.0), 1, 2, 0.9).unwrap();
        assert_eq!((declared.surprise(1.0), declared.late_surprise(1.0)), (0.0, 0.0));
    }
}

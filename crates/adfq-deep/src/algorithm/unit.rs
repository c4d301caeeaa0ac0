//! The unit of rewards. A network learns best where rewards have about the size of one: its weights start small and move by about as
//! much with every step, whatever the rewards are. So an algorithm can ask for rewards in a unit of their own. Rewards times 1,000 are
//! then the same task.
//!
//! The unit is the geometric mean size of the rewards other than 0 that there have been when learning begins. If there was none, it is the size of the
//! first one. After that it stays: values that were learned keep their meaning. The replay memory holds rewards as they came.

use serde::{Deserialize, Serialize};

/// The exponents of the least and of the largest unit to the base of two: neither it nor its square overflows.
const EXPONENTS: (i64, i64) = (-60, 60);

/// The size of rewards, found as they come.
///
/// ```
/// use adfq_deep::algorithm::RewardUnit;
///
/// let mut unit = RewardUnit::default();
/// [0.0, -500.0, 2_000.0].map(|reward| unit.see(reward));
/// assert_eq!(unit.size(), 1.0); // nothing is learned yet
/// unit.settle();
/// assert_eq!(unit.size(), 1_000.0);
/// unit.see(7.0);
/// assert_eq!(unit.size(), 1_000.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RewardUnit {
    /// Rewards other than 0.
    count: i64,
    /// The sum of their exponents to the base of two, and that of the logarithms of what these leave. A power of two changes the
    /// first alone, so it changes the unit by itself and nothing else, to the last bit.
    exponents: i64,
    logarithms: f64,
    /// Whether learning has begun.
    begun: bool,
    settled: Option<f32>,
}

impl RewardUnit {
    /// Rewards as they come.
    pub const ONE: Self = Self { count: 0, exponents: 0, logarithms: 0.0, begun: true, settled: Some(1.0) };

    /// A reward was received.
    pub fn see(&mut self, reward: f32) {
        if self.settled.is_some() || reward == 0.0 || !reward.is_finite() {
            return;
        }
        let (rest, exponent) = libm::frexpf(reward.abs());
        self.count = self.count.saturating_add(1);
        self.exponents = self.exponents.saturating_add(exponent.into());
        self.logarithms += libm::log2(f64::from(rest));
        if self.begun {
            self.settled = Some(self.mean());
        }
    }

    /// Learning begins: the unit is what it is now, or the size of the first reward other than 0. Says whether rewards of before are
    /// now other numbers.
    pub fn settle(&mut self) -> bool {
        if std::mem::replace(&mut self.begun, true) || self.count == 0 {
            return false;
        }
        self.settled = Some(self.mean());
        self.size() != 1.0
    }

    /// What one of a network's values stands for: 1 as long as the unit is not settled.
    pub fn size(&self) -> f32 {
        self.settled.unwrap_or(1.0)
    }

    /// A reward as it is learned from.
    pub fn of(&self, reward: f32) -> f32 {
        reward / self.size()
    }

    /// Whether it is one that rewards can have led to. A checkpoint may be made up.
    pub(crate) fn is_sound(&self) -> bool {
        let size = self.size();
        self.count >= 0 && self.logarithms.is_finite() && size > 0.0 && size.is_normal()
    }

    /// The geometric mean of all sizes.
    fn mean(&self) -> f32 {
        let (whole, rest) = (self.exponents.div_euclid(self.count), self.exponents.rem_euclid(self.count));
        let rest = libm::exp2((rest as f64 + self.logarithms) / self.count as f64) as f32;
        libm::ldexpf(rest, whole.clamp(EXPONENTS.0, EXPONENTS.1) as i32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(rewards: &[f32]) -> f32 {
        let mut unit = RewardUnit::default();
        rewards.iter().for_each(|&reward| unit.see(reward));
        unit.settle();
        unit.size()
    }

    #[test]
    fn rewards_of_one_are_as_they_are() {
        assert_eq!(settled(&[1.0, 0.0, -1.0, -1.0]), 1.0);
        assert_eq!(settled(&[]), 1.0);
    }

    #[test]
    fn a_power_of_two_changes_nothing_but_the_unit() {
        let rewards = [0.3, -7.0, 1e-3, 12.5];
        for power in [-20, -1, 3, 20] {
            let times = |reward| libm::ldexpf(reward, power);
            assert_eq!(settled(&rewards.map(times)), times(settled(&rewards)));
        }
    }

    #[test]
    fn no_size_of_rewards_is_too_much() {
        for reward in [f32::MIN_POSITIVE, 1e-45, f32::MAX] {
            let unit = settled(&[reward]);
            assert!(unit.is_normal() && (1.0 / unit).is_normal(), "{reward} {unit}");
        }
    }

    /// Learning has begun and nothing was paid yet: the first that is decides.
    #[test]
    fn the_first_reward_decides_if_there_was_none() {
        let mut unit = RewardUnit::default();
        unit.see(0.0);
        assert!(!unit.settle());
        assert_eq!(unit.size(), 1.0);
        unit.see(0.25);
        unit.see(100.0);
        assert_eq!((unit.size(), unit.of(1.0)), (0.25, 4.0));
        assert!(!unit.settle());
    }

    #[test]
    fn a_new_unit_is_told_once() {
        let told = |reward: f32| {
            let mut unit = RewardUnit::default();
            unit.see(reward);
            [unit.settle(), unit.settle()]
        };
        assert_eq!((told(2.0), told(-1.0)), ([true, false], [false, false]));
        assert_eq!(RewardUnit::ONE.size(), 1.0);
    }
}

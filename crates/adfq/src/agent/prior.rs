//! Where beliefs start. The scale of the prior decides how an agent explores (see the paper's figures), so it is
//! a choice with a name.

use super::table::{discount, setting};
use crate::{Belief, Error, Result};
use serde::{Deserialize, Serialize};

/// Steps after which a random walk without a positive reward gives up.
const LONGEST_WALK: u64 = 10_000_000;

/// A rule for the belief that every Q(s,a) starts with.
///
/// ```
/// use adfq::agent::Prior;
///
/// // Rewards between 0 and 2 for ever, γ = .95: values between 0 and 40, which a uniform law has at 20 ± 11.5.
/// let prior = Prior::RewardRange { min: 0.0, max: 2.0, horizon: None };
/// let belief = prior.belief(0.95, Prior::no_walk)?;
/// assert!((belief.mean() - 20.0).abs() < 1e-9 && (belief.sd() - 40.0 / 12.0_f64.sqrt()).abs() < 1e-9);
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Prior {
    /// The same belief whatever the task.
    Constant {
        /// Its mean.
        mean: f64,
        /// Its variance.
        var: f64,
    },
    /// Moments of the uniform law over all values that rewards within [min, max] allow: centre of that range,
    /// and its width over √12 as sd.
    RewardRange {
        /// The least reward.
        min: f64,
        /// The greatest reward.
        max: f64,
        /// `None` in a continuing task, whose values lie in [min, max]/(1-γ). With `Some(h)` an episode ends after
        /// 1 to h rewards, so values lie between min or min·g and max or max·g, g = 1 + γ + … + γʰ⁻¹,
        /// whichever is further out.
        horizon: Option<u32>,
    },
    /// The authors' code: the mean is the first positive reward that a random walk meets, divided by 1-γ if the
    /// walk has met no end of an episode up to there (a continuing task).
    DataDriven {
        /// The variance; the authors take 100.
        var: f64,
    },
}

impl Prior {
    /// The authors' data-driven prior, with variance 100.
    pub const AUTHORS: Self = Self::DataDriven { var: 100.0 };

    /// The belief this prior means for a task with discount γ. `walk` makes one uniformly random step in the task and
    /// returns its reward and whether it ended an episode; only [`Prior::DataDriven`] calls it.
    ///
    /// ```
    /// use adfq::agent::Prior;
    ///
    /// let mut rewards = [0.0, -1.0, 0.5].into_iter();
    /// let belief = Prior::AUTHORS.belief(0.9, || (rewards.next().unwrap_or(0.0), false))?;
    /// assert!((belief.mean() - 5.0).abs() < 1e-12);
    /// assert_eq!(belief.var(), 100.0);
    /// # Ok::<(), adfq::Error>(())
    /// ```
    pub fn belief(&self, gamma: f64, walk: impl FnMut() -> (f64, bool)) -> Result<Belief> {
        let gamma = discount(gamma)?;
        match *self {
            Self::Constant { mean, var } => Belief::new(mean, var),
            Self::RewardRange { min, max, horizon } => {
                let (low, high) = Rewards { min, max, horizon }.values(gamma)?;
                Belief::new(0.5 * (low + high), (high - low).powi(2) / 12.0)
            }
            Self::DataDriven { var } => {
                let (reward, continuing) = first_positive_reward(walk)?;
                let scale = if continuing { annuity(gamma, None)? } else { 1.0 };
                Belief::new(reward * scale, var)
            }
        }
    }

    /// The walk to pass where the prior needs none: it stands still and earns nothing.
    pub fn no_walk() -> (f64, bool) {
        (0.0, false)
    }
}

/// What is declared about rewards: all lie within [min, max].
///
/// ```
/// use adfq::agent::Rewards;
///
/// let (low, high) = Rewards::within(0.0, 2.0).values(0.95)?;
/// assert!(low == 0.0 && (high - 40.0).abs() < 1e-9);
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rewards {
    /// The least reward.
    pub min: f64,
    /// The greatest reward.
    pub max: f64,
    /// How many rewards an episode can pay, see [`Prior::RewardRange`]; `None` if nothing is known about that, which
    /// needs γ < 1.
    pub horizon: Option<u32>,
}

impl Rewards {
    /// Rewards within [min, max], for as long as they may come.
    pub const fn within(min: f64, max: f64) -> Self {
        Self { min, max, horizon: None }
    }

    /// The range of the values that such rewards can have.
    pub fn values(&self, gamma: f64) -> Result<(f64, f64)> {
        let Self { min, max, horizon } = *self;
        let good = max > min && max.is_finite() && min.is_finite();
        setting("max", max, good, "finite and above `min`")?;
        value_range(min, max, discount(gamma)?, horizon)
    }

    /// The range of values where an episode may end at any step, after one reward or never: who optimises under an upper
    /// bound needs it, as rewards that are all negative end the sooner the better.
    ///
    /// ```
    /// use adfq::agent::Rewards;
    ///
    /// let (low, high) = Rewards::within(-100.0, -1.0).values_with_ends(0.95)?;
    /// assert!((low + 2000.0).abs() < 1e-9 && high == -1.0);
    /// # Ok::<(), adfq::Error>(())
    /// ```
    pub fn values_with_ends(&self, gamma: f64) -> Result<(f64, f64)> {
        let (low, high) = self.values(gamma)?;
        Ok((low.min(self.min), high.max(self.max)))
    }

    /// What is believed of a value before anything is seen: the mean is 0, or the possible value next to 0, since most
    /// rewards of most tasks are 0; the sd half the range of all possible values.
    pub fn prior(&self, gamma: f64) -> Result<Belief> {
        let (low, high) = self.values(gamma)?;
        Belief::new(0.0_f64.clamp(low, high), (0.5 * (high - low)).powi(2))
    }
}

/// The present value of a reward of 1 per step, `horizon` times or for ever.
fn annuity(gamma: f64, horizon: Option<u32>) -> Result<f64> {
    match horizon {
        Some(0) => Err(Error::Setting { name: "horizon", value: 0.0, need: "at least 1" }),
        Some(h) if gamma == 1.0 => Ok(f64::from(h)),
        Some(h) => Ok((1.0 - libm::pow(gamma, f64::from(h))) / (1.0 - gamma)),
        None => setting("discount", gamma, gamma < 1.0, "below 1 in a continuing task")
            .map(|gamma| 1.0 / (1.0 - gamma)),
    }
}

fn value_range(min: f64, max: f64, gamma: f64, horizon: Option<u32>) -> Result<(f64, f64)> {
    let g = annuity(gamma, horizon)?;
    // A continuing task cannot stop after its first reward, so its range needs no comparison with one reward.
    Ok(if horizon.is_none() { (min * g, max * g) } else { (min.min(min * g), max.max(max * g)) })
}

/// The first positive reward and whether no episode had ended by then.
fn first_positive_reward(mut walk: impl FnMut() -> (f64, bool)) -> Result<(f64, bool)> {
    let mut continuing = true;
    for _ in 0..LONGEST_WALK {
        let (reward, ended) = walk();
        continuing &= !ended;
        if reward > 0.0 {
            return Ok((reward, continuing));
        }
    }
    Err(Error::NoPositiveReward(LONGEST_WALK))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_episodic_walk_is_not_divided() {
        let mut walk = [(0.0, true), (3.0, false)].into_iter();
        let belief = Prior::AUTHORS.belief(0.9, || walk.next().unwrap()).unwrap();
        assert_eq!((belief.mean(), belief.var()), (3.0, 100.0));
        assert_eq!(Prior::AUTHORS.belief(0.9, || (3.0, true)).unwrap().mean(), 3.0);
    }

    #[test]
    fn a_walk_without_reward_gives_up() {
        let error = Prior::AUTHORS.belief(0.9, Prior::no_walk).unwrap_err();
        assert_eq!(error, Error::NoPositiveReward(LONGEST_WALK));
    }

    #[test]
    fn a_horizon_bounds_the_values() {
        let range = |min, max, gamma, horizon| value_range(min, max, gamma, horizon).unwrap();
        assert_eq!(range(-1.0, 2.0, 1.0, Some(10)), (-10.0, 20.0));
        assert_eq!(range(1.0, 2.0, 0.5, Some(2)), (1.0, 3.0));
        assert_eq!(range(-2.0, -1.0, 0.5, Some(2)), (-3.0, -1.0));
        assert_eq!(range(1.0, 2.0, 0.5, None), (2.0, 4.0));
    }

    #[test]
    fn impossible_priors_are_errors() {
        for (prior, gamma) in [
            (Prior::Constant { mean: 0.0, var: 0.0 }, 0.9),
            (Prior::RewardRange { min: 1.0, max: 1.0, horizon: None }, 0.9),
            (Prior::RewardRange { min: 0.0, max: 1.0, horizon: None }, 1.0),
            (Prior::RewardRange { min: 0.0, max: 1.0, horizon: Some(0) }, 0.9),
            (Prior::RewardRange { min: f64::NEG_INFINITY, max: 1.0, horizon: None }, 0.9),
        ] {
            assert!(prior.belief(gamma, Prior::no_walk).is_err(), "{prior:?}");
        }
    }
}

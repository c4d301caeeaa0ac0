//! What the variants of an experiment do to its rewards: noise, or another scale. What [`Env::info`](crate::Env::info) reports is counted
//! before that.

use super::Chance;
use serde::Serialize;

/// A change of the rewards. As JSON, the argument of the package.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Rewards {
    /// None.
    #[default]
    Plain,
    /// Normal noise is added to each.
    Noise {
        /// Its standard deviation.
        noise_scale: f64,
    },
    /// Each is multiplied.
    Scale {
        /// By this.
        reward_scale: f64,
    },
}

impl Rewards {
    /// The reward that the agent gets.
    pub(super) fn change(self, reward: f64, chance: &mut dyn Chance) -> f64 {
        match self {
            Self::Plain => reward,
            Self::Noise { noise_scale } => reward + noise_scale * chance.normal(),
            Self::Scale { reward_scale } => reward * reward_scale,
        }
    }
}

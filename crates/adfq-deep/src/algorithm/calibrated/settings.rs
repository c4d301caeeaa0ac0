//! The settings of Calibrated: its own, and what it changes in those that all agents start from.

use super::NAME;
use crate::config::{TargetUpdate, check};
use crate::{Config, Result};
use adfq_nn::Layer;
use serde::{Deserialize, Serialize};

/// Its settings: the table `[calibrated]`. The defaults are one setting for all environments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CalibratedSettings {
    /// The share of episodes that explore, at most.
    pub explore: f64,
    /// The probability at which such an episode begins to repeat a random action, at first.
    pub epsilon: f64,
    /// η: what doubt is multiplied with for each step to it.
    pub doubt_discount: f64,
    /// Pairs that the table has room for. 0 stands for no table.
    pub pairs: usize,
    /// g: how far a mean goes from the target network's own value of the pair to the target. ADFQ's is ½ where σ is at its floor.
    pub gain: f64,
    /// What the gradient of ρ is multiplied with.
    pub rho: f64,
}

impl Default for CalibratedSettings {
    fn default() -> Self {
        Self { explore: 0.5, epsilon: 0.5, doubt_discount: 0.99, pairs: 1 << 17, gain: 1.0, rho: 0.1 }
    }
}

impl CalibratedSettings {
    pub(super) fn check(&self, _: &Config) -> Result<()> {
        let share = |number: f64| (0.0..=1.0).contains(&number);
        check(&[
            ("calibrated.explore", share(self.explore), "between 0 and 1"),
            ("calibrated.epsilon", share(self.epsilon), "between 0 and 1"),
            ("calibrated.doubt_discount", share(self.doubt_discount), "between 0 and 1"),
            ("calibrated.pairs", self.pairs <= 1 << 26, "at most 67108864"),
            ("calibrated.gain", share(self.gain) && self.gain > 0.0, "above 0 and at most 1"),
            ("calibrated.rho", share(self.rho), "between 0 and 1"),
        ])
    }
}

/// Its general settings. In the games of MinAtar normalised layers do harm, and so do transitions of two steps on Asterix. On Atari, where
/// the target network is a copy that stands still for a while, normalised layers help, with a small gradient of ρ. There Adam must not
/// make large steps of tiny gradients: in the first thousand steps they leave hardly a filter that sees the image (docs/calibrated.md).
pub(super) fn general(mut config: Config) -> Result<Config> {
    if config.network.layers.iter().all(|layer| matches!(layer, Layer::Dense { .. })) {
        config.network.normalise = true;
        (config.replay.n_step, config.replay.watkins) = (2, true);
        // bsuite's are 10,000 transitions, and a copy of the network every four steps. What is seldom found is forgotten with them.
        config.replay.capacity = config.replay.capacity.max(100_000);
        config.learning.target = TargetUpdate::Soft(0.01);
    } else if matches!(config.learning.target, TargetUpdate::Hard(_)) {
        config.network.normalise = true;
        config.learning.adam.epsilon = 1e-4;
        let settings = CalibratedSettings { rho: 0.01, ..config.own(NAME)? };
        return config.with_own(NAME, &settings);
    }
    Ok(config)
}

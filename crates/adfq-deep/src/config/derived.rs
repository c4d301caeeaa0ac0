//! What follows from a configuration: the network, and what changes over the run.

use super::*;
use adfq::policy::Epsilon;
use adfq_env::Space;
use adfq_nn::{Head, Spec};

impl Config {
    /// The network for these observations and actions, with so many outputs for each action.
    pub(crate) fn spec(&self, space: &Space, groups: usize) -> Spec {
        let head = Head { actions: space.actions, groups, dueling: self.network.dueling };
        Spec { input: space.observation_shape(), layers: self.network.layers.clone(), head }
    }

    /// ε over the run, in environment steps.
    pub(crate) fn epsilon(&self) -> Epsilon {
        let Exploration { from, to, fraction } = self.exploration;
        Epsilon::Linear { from, to, steps: (fraction * self.steps as f64) as u64 }
    }

    /// The exponent β of the importance weights at this step.
    pub(crate) fn beta(&self, step: u64) -> f32 {
        let start = self.replay.priority.as_ref().map_or(1.0, |priority| priority.beta);
        start + (1.0 - start) * self.progress(step)
    }

    /// The learning rate at this step.
    pub(crate) fn rate(&self, step: u64) -> f32 {
        let Learning { adam, final_rate, decay, .. } = &self.learning;
        let (last, done) = (*final_rate, self.progress(step));
        adam.rate
            * match decay {
                Decay::Linear => 1.0 + (last - 1.0) * done,
                Decay::Parabola => last + (1.0 - last) * (1.0 - done) * (1.0 - done),
            }
    }

    fn progress(&self, step: u64) -> f32 {
        (step as f64 / self.steps as f64).min(1.0) as f32
    }
}

//! What follows from a configuration: the network, and what changes over the run.

use super::*;
use adfq::policy::Epsilon;
use adfq_env::Space;
use adfq_nn::{Head, Layer, Spec};

impl Config {
    /// The network for these observations and actions, with so many outputs for each action.
    pub(crate) fn spec(&self, space: &Space, groups: usize) -> Spec {
        let head = Head { actions: space.actions, groups, dueling: self.network.dueling };
        Spec { input: space.observation_shape(), layers: self.layers(), head }
    }

    /// Its hidden layers.
    pub(crate) fn layers(&self) -> Vec<Layer> {
        let mut layers = self.network.layers.clone();
        for layer in layers.iter_mut().skip(1).filter(|_| self.network.normalise) {
            if let Layer::Dense { normalised, .. } = layer {
                *normalised = true;
            }
        }
        layers
    }

    /// ε over a run that is to end here, in environment steps.
    pub(crate) fn epsilon(&self, end: u64) -> Epsilon {
        let Exploration { from, to, fraction } = self.exploration;
        Epsilon::Linear { from, to, steps: (fraction * end as f64) as u64 }
    }

    /// Where the run was to end when it took the step that begins after so many. Schedules have this end in view.
    pub(crate) fn end_after(&self, taken: u64) -> u64 {
        self.earlier_ends.iter().copied().find(|&end| end > taken).unwrap_or(self.steps)
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
        let end = self.end_after(step.saturating_sub(self.envs as u64));
        (step as f64 / end as f64).min(1.0) as f32
    }
}

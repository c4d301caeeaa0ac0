//! What follows from a configuration: the update, the network, and what changes over the run.

use super::*;
use crate::target::Limits;
use adfq::policy::Epsilon;
use adfq::update::Update;
use adfq_nn::{Head, Init, Output, Spec};

impl Config {
    /// The update that makes ADFQ's target.
    pub(crate) fn update(&self) -> Result<Update> {
        Ok(Update::new(self.adfq.rule.into()).with_floor(self.adfq.min_var.into())?)
    }

    /// What ADFQ's network may believe.
    pub(crate) fn limits(&self) -> Limits {
        Limits { min_var: self.adfq.min_var, max_var: self.adfq.max_var }
    }

    /// The network for observations of this shape and this many actions.
    pub(crate) fn spec(&self, input: Vec<usize>, actions: usize) -> Spec {
        let head = Head { actions, groups: self.agent.groups(), dueling: self.network.dueling };
        Spec { input, layers: self.network.layers.clone(), head }
    }

    /// How the network starts: the output of agents with beliefs is the prior everywhere (paper App. E), DQN's is drawn.
    pub(crate) fn init(&self) -> Init {
        let output = match self.agent {
            AgentKind::Adfq => Output::Constant(vec![self.adfq.mean, -libm::logf(self.adfq.sd)]),
            AgentKind::Dqn | AgentKind::Ddqn => Output::Hidden,
            // Means of 0, all of the prior inherited, and nothing hoped for but what the own variance gives.
            AgentKind::Split => {
                let [least, greatest] = self.split.clone().unwrap_or_default().rewards;
                let sd = 0.5 * (greatest.max(0.0) - least.min(0.0)) / (1.0 - self.learning.discount);
                Output::Constant(vec![0.0, -libm::logf(sd), 0.0])
            }
        };
        Init { hidden: self.network.weights, output }
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

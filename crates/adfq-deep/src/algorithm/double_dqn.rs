//! Double DQN (van Hasselt et al. 2016). The target is r + γ Q′(s′, argmax_b Q(s′,b)): the online network Q chooses and
//! the target network Q′ judges.

use super::{
    Algorithm, Batch, CudaLoss, Demand, Descriptor, Estimate, Gradient, Loss, Outputs, Passes, Readout,
    State, dqn, largest, value_loss,
};
use crate::{Config, Result};

/// How it is registered.
pub(super) fn descriptor() -> Descriptor {
    Descriptor::new("ddqn", "Double DQN", |config, _| Ok(Box::new(DoubleDqn(config.clone()))))
        .demands(|_, _| Ok(Demand::default()))
}

struct DoubleDqn(Config);

impl Algorithm for DoubleDqn {
    fn groups(&self) -> usize {
        1
    }

    fn passes(&self) -> Passes {
        Passes { target_next: true, online_next: true, ..Passes::default() }
    }

    fn loss(&mut self, batch: &Batch, outputs: &Outputs, gradient: &mut Gradient) -> Result<Loss> {
        let target = |i: usize| {
            let row = i * batch.actions..(i + 1) * batch.actions;
            batch.bootstrap(i, || outputs.target_next[row.start + largest(&outputs.online_next[row]).0])
        };
        Ok(value_loss(&self.0, batch, outputs.online, gradient, target))
    }

    fn estimate(&mut self, state: &State, out: &mut Vec<Estimate>) -> Result<()> {
        dqn::estimate(state, out);
        Ok(())
    }

    fn readout(&self) -> Option<Readout> {
        Some(Readout::Values)
    }

    fn cuda(&self) -> Option<CudaLoss> {
        Some(CudaLoss {
            name: "ddqn",
            source: include_str!("kernels/double_dqn.cu"),
            own: vec![],
            defines: &[],
        })
    }
}

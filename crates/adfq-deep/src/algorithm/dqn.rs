//! DQN (Mnih et al. 2015). The target is r + γ max_b Q′(s′,b), and the target network Q′ follows the online one.

use super::{
    Algorithm, Batch, CudaLoss, Demand, Descriptor, Estimate, Gradient, Loss, Outputs, Passes, Readout,
    State, largest, value_loss,
};
use crate::{Config, Result};

/// How it is registered.
pub(super) fn descriptor() -> Descriptor {
    Descriptor::new("dqn", "DQN", |config, _| Ok(Box::new(Dqn(config.clone()))))
        .demands(|_, _| Ok(Demand::default()))
}

struct Dqn(Config);

impl Algorithm for Dqn {
    fn groups(&self) -> usize {
        1
    }

    fn passes(&self) -> Passes {
        Passes { target_next: true, ..Passes::default() }
    }

    fn loss(&mut self, batch: &Batch, outputs: &Outputs, gradient: &mut Gradient) -> Result<Loss> {
        let next = |i: usize| &outputs.target_next[i * batch.actions..(i + 1) * batch.actions];
        let target = |i| batch.bootstrap(i, || largest(next(i)).1);
        Ok(value_loss(&self.0, batch, outputs.online, gradient, target))
    }

    fn estimate(&mut self, state: &State, out: &mut Vec<Estimate>) -> Result<()> {
        estimate(state, out);
        Ok(())
    }

    fn readout(&self) -> Option<Readout> {
        Some(Readout::Values)
    }

    fn cuda(&self) -> Option<CudaLoss> {
        Some(CudaLoss { name: "dqn", source: include_str!("kernels/dqn.cu"), own: vec![], defines: &[] })
    }
}

/// The outputs are the values.
pub(super) fn estimate(state: &State, out: &mut Vec<Estimate>) {
    out.extend(state.row.iter().map(|&q| Estimate::value(q)));
}

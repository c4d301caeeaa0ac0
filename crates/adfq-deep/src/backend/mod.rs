//! Where networks are computed and gradient steps are made. The trainer's loop is the same on all of them.

mod cpu;
#[cfg(feature = "cuda")]
pub mod cuda;

pub(crate) use cpu::Cpu;
#[cfg(feature = "cuda")]
pub(crate) use cuda::Cuda;

use crate::Result;
use crate::evaluate::Player;
use crate::replay::{Replay, Transition, Written};
use crate::run::Run;

/// Computes for runs that go step by step together. A run that fails is noted in the run; an error is for all.
pub(crate) trait Backend {
    /// Writes the online network's outputs for the present observations to the `rows` of every run.
    fn act(&mut self, runs: &mut [Run]) -> Result<()>;

    /// Makes the gradient steps and target copies that are due in every run.
    fn learn(&mut self, runs: &mut [Run]) -> Result<()>;

    /// Whether gradient steps go on beside the environments' steps, one step behind.
    fn lags(&self) -> bool {
        false
    }

    /// A transition was stored in a run's replay memory.
    fn wrote(
        &mut self,
        _run: usize,
        _env: usize,
        _transition: &Transition,
        _written: &Written,
    ) -> Result<()> {
        Ok(())
    }

    /// Cuts off the episode of an environment in a run's replay memory, as [`Replay::interrupt`] does.
    fn interrupt(&mut self, _run: usize, env: usize, frame: &[u8], replay: &mut Replay) -> Result<()> {
        Ok(replay.interrupt(env, frame)?)
    }

    /// Counts in what gradient steps were like, as far as that is known, or all of them.
    fn collect(&mut self, _runs: &mut [Run], _all: bool) -> Result<()> {
        Ok(())
    }

    /// Brings everything that was learned to the runs. What is due stays due.
    fn sync(&mut self, _runs: &mut [Run]) -> Result<()> {
        Ok(())
    }

    /// Computes the estimates of all players that are playing.
    fn judge(&mut self, runs: &mut [Run], players: &mut [Player]) -> Result<()>;
}

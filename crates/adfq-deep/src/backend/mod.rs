//! Where networks are computed and gradient steps are made. The trainer's loop is the same on all of them.

mod cpu;
#[cfg(feature = "cuda")]
pub mod cuda;

pub(crate) use cpu::Cpu;
#[cfg(feature = "cuda")]
pub(crate) use cuda::Cuda;

use crate::Result;
use crate::evaluate::Player;
use crate::run::{Plain, Run};
use crate::trainer::each_sound;

/// Computes for runs that go step by step together. A run that fails is noted in the run; an error is for all.
pub(crate) trait Backend {
    /// Writes the online network's outputs for the present observations to the `rows` of every run. Where gradient steps may be
    /// put on a stream before the environments step, since neither looks at what the other does, those that are due follow at
    /// once, and the answer is true.
    fn act(&mut self, runs: &mut [Run]) -> Result<bool>;

    /// Makes the gradient steps and target copies that are due in every run.
    fn learn(&mut self, runs: &mut [Run]) -> Result<()>;

    /// Whether gradient steps go on beside the environments' steps, one step behind.
    fn lags(&self) -> bool {
        false
    }

    /// Has every run remember the step that its environments have taken.
    fn remember(&mut self, runs: &mut [Run]) -> Result<()> {
        each_sound(runs, |_, run| run.remember_step(&mut Plain))
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

//! Networks on the CPU. Gradient steps are made as soon as they are due.

use super::Backend;
use crate::Result;
use crate::evaluate::{Judge, Player};
use crate::learner::Asked;
use crate::replay::Sample;
use crate::run::{Due, Run};
use crate::trainer::each_sound;
use adfq_nn::Workspace;

/// The CPU, with the memory that its passes need.
pub(crate) struct Cpu {
    /// One for each run.
    passes: Vec<Workspace>,
    judges: Vec<Judge>,
    sample: Sample,
}

impl Cpu {
    pub fn new(runs: &[Run]) -> Result<Self> {
        let pass = |run: &Run| Ok(Workspace::new(run.learner.network(), 1, run.config.envs)?);
        Ok(Self {
            passes: runs.iter().map(pass).collect::<Result<_>>()?,
            judges: runs.iter().map(|run| Judge::new(&run.learner)).collect::<Result<_>>()?,
            sample: Sample::default(),
        })
    }
}

impl Backend for Cpu {
    fn act(&mut self, runs: &mut [Run]) -> Result<bool> {
        each_sound(runs, |number, run| {
            run.decode_observations();
            let learner = &run.learner;
            let rows = learner.network().forward(&learner.online, &run.inputs, &mut self.passes[number])?;
            run.rows.clear();
            run.rows.extend_from_slice(rows);
            Ok(())
        })?;
        Ok(false)
    }

    fn learn(&mut self, runs: &mut [Run]) -> Result<()> {
        each_sound(runs, |_, run| {
            let Due { gradient_steps, copy } = std::mem::take(&mut run.due);
            (0..gradient_steps).try_for_each(|_| learn(run, &mut self.sample))?;
            if copy {
                run.learner.copy_target();
            }
            Ok(())
        })
    }

    fn judge(&mut self, runs: &mut [Run], players: &mut [Player]) -> Result<()> {
        let mut playing = players.iter_mut().filter(|player| player.is_playing());
        playing.try_for_each(|player| {
            self.judges[player.owner].player(&mut runs[player.owner].learner, Asked::Means, player)
        })
    }
}

/// One gradient step.
fn learn(run: &mut Run, sample: &mut Sample) -> Result<()> {
    let (batch, beta) = (run.config.learning.batch, run.config.beta(run.step));
    run.replay.sample(batch, beta, &mut run.sampler, sample)?;
    let learned = run.learner.learn(sample, run.step)?;
    if run.config.replay.priority.is_some() {
        run.replay.update(&sample.index, &run.learner.errors)?;
    }
    run.learned(&learned);
    Ok(())
}

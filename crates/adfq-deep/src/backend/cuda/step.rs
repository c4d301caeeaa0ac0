//! A gradient step of all runs: one graph, captured at the first, and what goes up before it and comes down after.

use super::fleet::Fleet;
use super::raw::launch;
use super::sizes::{DRAWS, RING};
use crate::config::{AgentKind, TargetUpdate};
use crate::replay::ReplayError;
use crate::stats::Learned;
use crate::{Error, Result};
use adfq_nn::cuda::{Device, Graph, View, Which};
use rand::RngExt;

/// What went wrong, as the device numbers it.
const QUANTITIES: [&str; 4] = ["batch", "belief", "loss", "gradient"];

impl Fleet {
    /// One gradient step of every run. Returns before it is done; what it was like comes from [`Fleet::learned`].
    pub fn learn(&mut self) -> Result<()> {
        self.commit()?;
        if self.is_empty() {
            return Err(ReplayError::Empty.into());
        }
        if self.launched - self.taken >= RING as u64 / 2 {
            let due = self.launched - RING as u64 / 4;
            self.mail.wait(&self.device, |mail| mail.rows(due - 1).is_some())?;
            self.collect();
        }
        self.upload_draws()?;
        if self.graph.is_none() {
            self.graph = Some(self.capture()?);
        }
        if let Some(graph) = &self.graph {
            graph.launch()?;
        }
        self.launched += 1;
        Ok(())
    }

    /// What gradient steps were like, with the number of the run, in order; those that have been reported since the last
    /// call. It does not wait. A step of a run with a quantity that is not finite is an [`Error::Diverged`] of that run
    /// alone; its parameters and priorities are then those before that step.
    pub fn learned(&mut self) -> Vec<(usize, Result<Learned>)> {
        self.collect();
        self.reports.drain(..).collect()
    }

    fn collect(&mut self) {
        while self.taken < self.launched
            && let Some(rows) = self.mail.rows(self.taken)
        {
            self.taken += 1;
            for (run, row) in rows.into_iter().enumerate() {
                let quantity = QUANTITIES[row.failed as usize % QUANTITIES.len()];
                let learned = match row.failed {
                    0 => Ok(row.learned),
                    _ => Err(Error::Diverged { quantity, step: row.step, good: None }),
                };
                self.reports.push_back((run, learned));
            }
        }
    }

    /// Random numbers for the next steps, or the places themselves where all are equally likely.
    fn upload_draws(&mut self) -> Result<()> {
        let block = DRAWS as u64;
        if !self.memory.sizes.prioritised {
            if let Some(before) = self.launched.checked_sub(block) {
                self.mail.wait(&self.device, |mail| mail.rows(before).is_some())?;
            }
            let places: &mut [u32] = bytemuck::cast_slice_mut(self.uploads.area(self.launched));
            let runs = self.ledgers.iter().zip(&mut self.samplers);
            for ((ledger, sampler), places) in runs.zip(places.chunks_exact_mut(self.memory.sizes.batch)) {
                ledger.draw(sampler, places)?;
            }
            return Ok(self.memory.places.upload(places)?);
        }
        // A block of numbers goes up at its first step; the next is drawn meanwhile, a step's worth with every step.
        if self.drawn == 0 {
            (0..block).for_each(|_| self.draw_ahead());
        }
        if self.launched.is_multiple_of(block) {
            let draws: &[f64] = bytemuck::cast_slice(self.uploads.area(self.launched / block));
            self.memory.draws.upload(draws)?;
        }
        // The other area went up a block ago, and that copy is done when a step after it is.
        if let Some(before) = self.launched.checked_sub(block) {
            self.mail.wait(&self.device, |mail| mail.rows(before).is_some())?;
        }
        self.draw_ahead();
        Ok(())
    }

    /// Draws the numbers of one more step of every run.
    fn draw_ahead(&mut self) {
        let (batch, block) = (self.memory.sizes.batch, DRAWS as u64);
        let area: &mut [f64] = bytemuck::cast_slice_mut(self.uploads.area(self.drawn / block));
        let first = (self.drawn % block) as usize * batch;
        for (sampler, draws) in self.samplers.iter_mut().zip(area.chunks_exact_mut(batch * DRAWS)) {
            draws[first..][..batch].iter_mut().for_each(|draw| *draw = sampler.random());
        }
        self.drawn += 1;
    }

    fn capture(&mut self) -> Result<Graph> {
        let (device, learning) = (self.device.clone(), self.configs[0].learning.clone());
        record(&device, || {
            self.run_until_loss()?;
            self.engine.learn(&mut self.pass, self.memory.here(), &learning.adam, learning.clip)?;
            self.run_after_step()
        })
    }

    fn run_until_loss(&mut self) -> Result<()> {
        let (arguments, device) = (self.arguments(), &self.device);
        let (runs, batch, views) = {
            let sizes = &self.memory.sizes;
            (sizes.runs, sizes.batch, sizes.views)
        };
        launch(device, &self.kernels.sample, (self.memory.sizes.sample_blocks(), runs), 256, &arguments)?;
        let (here, next) = (self.memory.here(), self.memory.next());
        let view = |which, input| View { which, input };
        let networks = match self.configs[0].agent {
            AgentKind::Adfq => {
                [view(Which::Online, here), view(Which::Target, here), view(Which::Target, next)]
            }
            AgentKind::Dqn | AgentKind::Ddqn | AgentKind::Split => {
                [view(Which::Online, here), view(Which::Target, next), view(Which::Online, next)]
            }
        };
        self.engine.forward(&mut self.pass, &networks[..views])?;
        launch(device, &self.kernels.teach, (batch.div_ceil(4), runs), 128, &arguments)
    }

    fn run_after_step(&mut self) -> Result<()> {
        launch(&self.device, &self.kernels.finish, (1, self.memory.sizes.runs), 128, &self.arguments())?;
        if let TargetUpdate::Soft(tau) = self.configs[0].learning.target {
            self.engine.update_target(tau)?;
        }
        Ok(())
    }
}

/// Captures work of this crate.
pub(super) fn record(device: &Device, work: impl FnOnce() -> Result<()>) -> Result<Graph> {
    let mut done = Ok(());
    let graph = device.capture(|| {
        done = work();
        Ok(())
    });
    done?;
    Ok(graph?)
}

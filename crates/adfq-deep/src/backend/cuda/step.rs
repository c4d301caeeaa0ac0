//! A gradient step of all runs: one graph, captured at the first, and what goes up before it and comes down after. Two steps
//! one after the other are one graph too: the second draws while the first moves the parameters. Where losses are computed on the
//! host, the graph of a step is cut in two.

use super::learners::{Learners, Reported};
use super::raw::launch;
use super::sizes::{DRAWS, RING};
use crate::algorithm::{Batch, Gradient, Outputs};
use crate::config::TargetUpdate;
use crate::learner::Learner;
use crate::metrics::Learned;
use crate::replay::{Replay, ReplayError};
use crate::{Error, Result};
use adfq_nn::cuda::{Device, Graph, View, Which};
use rand::RngExt;

/// What a gradient step needs of a run on the host: which transitions there are, and an algorithm without a kernel.
pub struct Member<'a> {
    /// The run's memory.
    pub replay: &'a Replay,
    /// Its learner. Parameters are not looked at: those of the device count.
    pub learner: &'a mut Learner,
}

/// What was captured: a whole step or its part before a loss on the host, and two whole steps, each with the draws of the first and
/// without; and the part after a loss on the host.
#[derive(Default)]
pub(super) struct Graphs {
    one: [Option<Graph>; 2],
    two: [Option<Graph>; 2],
    after_loss: Option<Graph>,
}

/// What went wrong, as the device numbers it.
const QUANTITIES: [&str; 4] = ["batch", "belief", "loss", "gradient"];

impl Learners {
    /// One gradient step of every run. Returns before it is done; what it was like comes from [`Learners::learned`].
    pub fn learn(&mut self, members: &mut [Member]) -> Result<()> {
        self.learn_times(members, 1)
    }

    /// So many gradient steps of every run, one after the other: the same bits as one by one.
    pub fn learn_times(&mut self, members: &mut [Member], times: u64) -> Result<()> {
        let (device, mut left) = (self.device.clone(), times);
        while left > 0 {
            self.commit()?;
            self.check_due(members)?;
            let is_drawn = std::mem::take(&mut self.is_drawn);
            let together = if left > 1 && self.can_pair() { 2 } else { 1 };
            (self.launched + u64::from(is_drawn)..self.launched + together)
                .try_for_each(|number| self.upload_draws(members, number, &device))?;
            match together {
                2 => self.launch_pair(is_drawn)?,
                _ => self.launch_one(members, is_drawn)?,
            }
            self.launched += together;
            left -= together;
        }
        Ok(())
    }

    /// Sends what was pushed to the device and draws the batch of the next step, if one is due, beside what is put on the stream
    /// before [`Device::join`]. That must not look at memories, and the step must be the next that is learned.
    pub(super) fn commit_and_draw_aside(&mut self, members: &[Member], is_due: bool) -> Result<()> {
        if self.packs.is_empty() && !is_due {
            return Ok(());
        }
        let way = self.device.aside()?;
        if !self.packs.is_empty() {
            self.commit_by(&way)?;
        }
        if is_due {
            self.check_due(members)?;
            self.upload_draws(members, self.launched, &way)?;
            self.run_sample(&way)?;
            self.is_drawn = true;
        }
        Ok(())
    }

    /// Whether a step can be made. Waits where the host is far ahead.
    fn check_due(&mut self, members: &[Member]) -> Result<()> {
        if members.len() != self.runs() || members.iter().any(|member| member.replay.is_empty()) {
            return Err(ReplayError::Empty.into());
        }
        if self.launched - self.taken >= RING as u64 / 2 {
            let due = self.launched - RING as u64 / 4;
            self.mail.wait(&self.device, |mail| mail.rows(due - 1).is_some())?;
            self.collect();
        }
        Ok(())
    }

    /// Whether nothing goes up between the next step and the one after it.
    fn can_pair(&self) -> bool {
        self.on_device && self.memory.sizes.prioritised && !(self.launched + 1).is_multiple_of(DRAWS as u64)
    }

    fn launch_one(&mut self, members: &mut [Member], is_drawn: bool) -> Result<()> {
        let (device, number) = (self.device.clone(), usize::from(is_drawn));
        if self.graphs.one[number].is_none() {
            let graph = record(&device, || {
                if !is_drawn {
                    self.run_sample(&device)?;
                }
                self.run_passes()?;
                if self.on_device {
                    self.run_losses().and_then(|()| self.run_after_loss(false))
                } else {
                    Ok(())
                }
            });
            self.graphs.one[number] = Some(graph?);
        }
        self.graphs.one[number].as_ref().map_or(Ok(()), Graph::launch)?;
        if self.on_device {
            return Ok(());
        }
        self.learn_on_host(members)?;
        if self.graphs.after_loss.is_none() {
            self.graphs.after_loss = Some(record(&device, || self.run_after_loss(false))?);
        }
        Ok(self.graphs.after_loss.as_ref().map_or(Ok(()), Graph::launch)?)
    }

    fn launch_pair(&mut self, is_drawn: bool) -> Result<()> {
        let (device, number) = (self.device.clone(), usize::from(is_drawn));
        if self.graphs.two[number].is_none() {
            let graph = record(&device, || {
                if !is_drawn {
                    self.run_sample(&device)?;
                }
                for draws_next in [true, false] {
                    self.run_passes()?;
                    self.run_losses()?;
                    self.run_after_loss(draws_next)?;
                }
                Ok(())
            });
            self.graphs.two[number] = Some(graph?);
        }
        Ok(self.graphs.two[number].as_ref().map_or(Ok(()), Graph::launch)?)
    }

    /// Computes losses from the outputs and brings gradients, errors and metrics up.
    fn learn_on_host(&mut self, members: &mut [Member]) -> Result<()> {
        self.device.synchronise()?;
        let (batch, outputs) = (self.memory.sizes.batch, self.pass.outputs().download()?);
        let runs = members.len();
        let mut gradient = vec![0.0; runs * batch * self.memory.sizes.outputs];
        let (mut errors, mut parts) = (vec![0.0; runs * batch], vec![0.0; 4 * runs * batch]);
        let mut targets = [0.0, 1.0].repeat(runs * batch);
        let width = batch * self.memory.sizes.outputs;
        for (run, member) in members.iter_mut().enumerate() {
            let drawn = self.memory.drawn(run)?;
            let sees = member.learner.algorithm.sees_observations();
            let numbers = |bytes: &[u8]| if sees { self.space.numbers(bytes) } else { vec![] };
            let (obs, next) = (numbers(&drawn.obs), numbers(&drawn.next));
            let index: Vec<u64> =
                drawn.places.iter().map(|&at| member.replay.index_at(at as usize)).collect();
            let columns = Batch {
                actions: self.space.actions,
                action: &drawn.action,
                reward: &drawn.reward,
                discount: &drawn.discount,
                terminal: &drawn.terminal,
                weight: &drawn.weight,
                index: &index,
                obs: &obs,
                next: &next,
                rewards: member.learner.rewards.in_unit(&member.learner.unit),
            };
            let mut passes = outputs.chunks_exact(runs * width).map(|pass| &pass[run * width..][..width]);
            let mut pass = |wanted: bool| if wanted { passes.next().unwrap_or(&[]) } else { &[] };
            let rows = Outputs {
                online: pass(true),
                target: pass(self.passes.target),
                target_next: pass(self.passes.target_next),
                online_next: pass(self.passes.online_next),
            };
            let own = run * batch..(run + 1) * batch;
            let slopes = &mut gradient[run * width..][..width];
            let mut found = Gradient { outputs: slopes, errors: &mut errors[own.clone()] };
            match member.learner.algorithm.loss(&columns, &rows, &mut found) {
                // The first row stands for all.
                Ok(loss) => parts[4 * own.start..][..4].copy_from_slice(&[
                    loss.loss,
                    0.0,
                    loss.mean_q,
                    loss.mean_sigma,
                ]),
                Err(Error::Update(_)) => targets[2 * own.start..2 * own.end].fill(f32::NAN),
                Err(error) => return Err(error),
            }
        }
        self.pass.out_grad_mut().upload(&gradient)?;
        self.memory.errors.upload(&errors)?;
        self.memory.parts.upload(&parts)?;
        Ok(self.memory.targets.upload(&targets)?)
    }

    /// What gradient steps were like, with the number of the run, in order; those that have been reported since the last
    /// call. It does not wait. A step of a run with a quantity that is not finite is an [`Error::Diverged`] of that run
    /// alone; its parameters and priorities are then those before that step.
    pub fn learned(&mut self) -> Vec<(usize, Result<Learned>)> {
        self.reported().into_iter().map(|Reported { run, learned, .. }| (run, learned)).collect()
    }

    /// The same, with what they left for the algorithms' own metrics.
    pub(super) fn reported(&mut self) -> Vec<Reported> {
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
                self.reports.push_back(Reported { run, learned, sums: row.sums });
            }
        }
    }

    /// Random numbers for this step and those after it, or its places themselves where all are equally likely.
    fn upload_draws(&mut self, members: &[Member], number: u64, way: &Device) -> Result<()> {
        let block = DRAWS as u64;
        if !self.memory.sizes.prioritised {
            if let Some(before) = number.checked_sub(block) {
                self.mail.wait(&self.device, |mail| mail.rows(before).is_some())?;
            }
            let places: &mut [u32] = bytemuck::cast_slice_mut(self.uploads.area(number));
            let runs = members.iter().zip(&mut self.samplers);
            for ((member, sampler), places) in runs.zip(places.chunks_exact_mut(self.memory.sizes.batch)) {
                member.replay.draw_places(sampler, places)?;
            }
            return Ok(self.memory.places.upload_by(places, way)?);
        }
        // A block of numbers goes up at its first step; the next is drawn meanwhile, a step's worth with every step.
        if self.drawn == 0 {
            (0..block).for_each(|_| self.draw_ahead());
        }
        if number.is_multiple_of(block) {
            let draws: &[f64] = bytemuck::cast_slice(self.uploads.area(number / block));
            self.memory.draws.upload_by(draws, way)?;
        }
        // The other area went up a block ago, and that copy is done when a step after it is.
        if let Some(before) = number.checked_sub(block) {
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

    fn run_sample(&self, way: &Device) -> Result<()> {
        let sizes = &self.memory.sizes;
        let grid = (sizes.sample_blocks(), sizes.runs);
        launch(way, &self.kernels.sample, grid, 256, &self.arguments())
    }

    fn run_passes(&mut self) -> Result<()> {
        let (here, next) = (self.memory.here(), self.memory.next());
        let mut views = vec![View { which: Which::Online, input: here }];
        for (wanted, which, input) in [
            (self.passes.target, Which::Target, here),
            (self.passes.target_next, Which::Target, next),
            (self.passes.online_next, Which::Online, next),
        ] {
            if wanted {
                views.push(View { which, input });
            }
        }
        if self.memory.sizes.fixed {
            views.extend([here, next].map(|input| View { which: Which::Fixed, input }));
        }
        Ok(self.engine.forward(&mut self.pass, &views)?)
    }

    fn run_losses(&mut self) -> Result<()> {
        if let Some(places) = &self.places {
            places.look_beyond(self.memory.next())?;
        }
        let sizes = &self.memory.sizes;
        let grid = (sizes.batch.div_ceil(4), sizes.runs);
        launch(&self.device, &self.kernels.teach, grid, 128, &self.arguments())
    }

    /// Backward and Adam; metrics, priorities and the next draws need nothing of what Adam does, and go beside.
    fn run_after_loss(&mut self, draws_next: bool) -> Result<()> {
        let learning = self.configs[0].learning.clone();
        let tau = if let TargetUpdate::Soft(tau) = learning.target { Some(tau) } else { None };
        let (arguments, kernels, sizes) = (self.arguments(), &self.kernels, &self.memory.sizes);
        let beside = |way: &Device| -> Result<()> {
            launch(way, &kernels.finish, (1, sizes.runs), 128, &arguments)?;
            let grid = (sizes.sample_blocks(), sizes.runs);
            if draws_next { launch(way, &kernels.sample, grid, 256, &arguments) } else { Ok(()) }
        };
        let (pass, here) = (&mut self.pass, self.memory.here());
        self.engine.learn_beside(pass, here, &learning.adam, learning.clip, tau, beside)
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

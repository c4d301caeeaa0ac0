//! Networks on a GPU: N runs at once, everything that repeats on the device.
//!
//! [`Learners`] are N runs with the same space, network and batch, each with its own seed, algorithm and numbers. Frames
//! lie on the device, once, as bytes; so do priorities, networks and optimisers. One gradient step of all runs is one launch
//! of a captured graph: draw, put observations together, the passes of the networks, targets, loss, backward, Adam,
//! priorities. The host pushes what happened in the environments, and reads metrics when they are there, without waiting.
//! An algorithm without a kernel has its loss computed on the host: the graph is then cut in two.
//!
//! Which transitions can be sampled is decided on the host, by the [`Replay`] of each run, which keeps
//! no frames of its own and reads them from the device where a checkpoint needs them. Random
//! numbers come from the same generators: draws are those of the CPU, bit for bit. Each run's numbers are the same
//! whoever shares its launches. Networks are [`adfq_nn::cuda`]'s.
//!
//! `Cuda` makes of this a backend of the trainer. It puts gradient steps on the stream while the environments step, so
//! that learning is one step behind.

mod acting;
mod downloads;
mod learners;
mod memory;
mod raw;
mod restore;
mod sizes;
mod step;
mod sync;
mod transfer;
mod update;
mod visits;

pub use acting::Acting;
pub use learners::Learners;
pub use memory::Drawn;
pub use step::Member;
pub use update::Updates;

use learners::Reported;
use sync::Staging;
use transfer::Part;

use super::Backend;
use crate::Result;
use crate::algorithm::RewardUnit;
use crate::evaluate::Player;
use crate::learner::{Asked, Learner};
use crate::replay::{Replay, Transition, Written};
use crate::run::{Due, Memory, Run};
use crate::trainer::{check_sound, each_sound_beside};
use adfq_nn::cuda::{Device, Precision};
use rayon::prelude::*;

/// Episodes of a run's evaluation that are played at once, where an environment costs no process.
const PLAYERS: usize = 16;

/// Bytes of observations from which they are put together on all cores.
const WORTH_ALL_CORES: usize = 1 << 20;

/// A GPU.
pub(crate) struct Cuda {
    learners: Learners,
    acting: Acting,
    evaluating: Acting,
    staging: Staging,
    /// Players of each run.
    players: usize,
    input: Vec<f32>,
    /// Whether the runs have all that is here: nothing has changed since they were synced.
    synced: bool,
    /// Whether the environments are in this process.
    in_process: bool,
    /// Whether every observation is one step on from the one that is on the device.
    one_step_on: bool,
    /// The end that schedules on the device have in view.
    end: u64,
}

impl Memory for Part<'_> {
    fn store(
        &mut self,
        env: usize,
        step: &Transition,
        unit: &RewardUnit,
        replay: &mut Replay,
        written: &mut Written,
    ) -> Result<()> {
        replay.write(env, step, written)?;
        written.slots.iter_mut().for_each(|slot| slot.reward = unit.of(slot.reward));
        self.wrote(env, step, written);
        Ok(())
    }

    fn cut(&mut self, env: usize, frame: &[u8], replay: &mut Replay) -> Result<()> {
        Part::cut(self, env, frame, replay)
    }
}

impl Cuda {
    /// Brings runs to a device: what they have learned, what they remember, and more environments to evaluate in.
    pub fn new(device: &Device, runs: &mut [Run]) -> Result<Self> {
        let space = runs[0].space.clone();
        let learners: Vec<_> = runs.iter().map(|run| &run.learner).collect();
        let mut learners = Learners::new(device, &space, &learners, Precision::Tf32)?;
        for (number, run) in runs.iter().enumerate().filter(|(_, run)| run.step > 0) {
            let Learner { rewards, unit, .. } = &run.learner;
            learners.restore(number, &run.replay, run.step, rewards, unit, run.sampler.clone())?;
        }
        for (number, run) in runs.iter_mut().enumerate() {
            run.replay.leave_frames(&learners.frames_of(number));
            run.new_unit = false;
        }
        let players = add_players(runs)?;
        let acting = Acting::new(&learners, runs[0].config.envs)?;
        let evaluating = Acting::new(&learners, players)?;
        let input = vec![0.0; space.observation_len()];
        let in_process = !runs[0].host.registry.is_outside(&runs[0].config.env, &runs[0].config.env_args);
        let (staging, synced, one_step_on) = (Staging::default(), false, false);
        let end = runs[0].config.steps;
        Ok(Self {
            learners,
            acting,
            evaluating,
            staging,
            players,
            input,
            synced,
            in_process,
            one_step_on,
            end,
        })
    }

    /// The schedule of importance weights is on the device. In a run that was made longer it first has the earlier end in view.
    fn look_ahead(&mut self, runs: &[Run]) -> Result<()> {
        let (config, step) = (&runs[0].config, runs.iter().map(Run::step).max().unwrap_or(0));
        let end = config.end_after(step.saturating_sub(config.envs as u64));
        if end != self.end {
            self.learners.memory.set_end(end)?;
            self.end = end;
        }
        Ok(())
    }

    /// Rewards that went up before they had a unit are written again.
    fn take_units(&mut self, runs: &mut [Run]) -> Result<()> {
        for (number, run) in runs.iter_mut().enumerate().filter(|(_, run)| run.new_unit) {
            run.new_unit = false;
            let Learner { rewards, unit, .. } = &run.learner;
            self.learners.commit()?;
            self.learners.write_rewards(number, &run.replay, rewards, unit)?;
        }
        Ok(())
    }

    /// Puts observations together on the host, for all of them to go up.
    fn stack_whole(&mut self, runs: &mut [Run]) {
        let stack = |(rows, run): (&mut [u8], &mut Run)| {
            let rows = rows.chunks_exact_mut(rows.len() / run.observations.len());
            rows.zip(&run.observations).for_each(|(row, seen)| seen.stacked(row));
        };
        let (all, count) = (self.acting.observations(), runs.len());
        match all.len() >= WORTH_ALL_CORES && count > 1 {
            true => all.par_chunks_exact_mut(all.len() / count).zip(runs).for_each(stack),
            false => all.chunks_exact_mut(all.len() / count).zip(runs).for_each(stack),
        }
    }

    /// Copies the newest frames alone. Says whether that is enough.
    fn copy_newest(&mut self, runs: &mut [Run]) -> bool {
        let (frames, began) = self.acting.newest();
        if began.is_empty() || !std::mem::take(&mut self.one_step_on) {
            return false;
        }
        let padded = frames.len() / began.len();
        let copy = |((frames, began), run): ((&mut [u8], &mut [u32]), &mut Run)| {
            let rows = frames.chunks_exact_mut(padded).zip(began);
            for ((frame, began), seen) in rows.zip(&run.observations) {
                frame[..seen.latest().len()].copy_from_slice(seen.latest());
                *began = seen.is_first().into();
            }
        };
        let (bytes, rows) = (frames.len() / runs.len(), began.len() / runs.len());
        match frames.len() >= WORTH_ALL_CORES && runs.len() > 1 {
            true => {
                let parts = frames.par_chunks_exact_mut(bytes).zip(began.par_chunks_exact_mut(rows));
                parts.zip(runs).for_each(copy);
            }
            false => {
                let parts = frames.chunks_exact_mut(bytes).zip(began.chunks_exact_mut(rows));
                parts.zip(runs).for_each(copy);
            }
        }
        true
    }
}

/// Makes as many environments to evaluate in as are played at once.
fn add_players(runs: &mut [Run]) -> Result<usize> {
    let config = &runs[0].config;
    let most = config.evaluation.episodes.max(config.evaluation.final_episodes);
    let outside = runs[0].host.registry.is_outside(&config.env, &config.evaluation_args());
    let players = if outside { 1 } else { most.clamp(1, PLAYERS) };
    for run in runs {
        while run.players.len() < players {
            run.players.push(Player::new(&run.config, run.host.env(&run.config, false)?));
        }
    }
    Ok(players)
}

/// What is due to a run that goes on: all have the same.
fn due_to_all(runs: &[Run]) -> Due {
    let sound = runs.iter().position(|run| run.failure.is_none()).unwrap_or(0);
    runs[sound].due
}

/// What a gradient step needs of the runs.
fn members(runs: &mut [Run]) -> Vec<Member<'_>> {
    runs.iter_mut().map(|run| Member { replay: &run.replay, learner: &mut run.learner }).collect()
}

impl Backend for Cuda {
    /// Everything for this step and the gradient steps after it is on the stream before the host waits for the outputs, so that the
    /// device goes from one to the next. What the environments did goes up beside, and a batch is drawn: only learning looks at them.
    fn act(&mut self, runs: &mut [Run]) -> Result<bool> {
        self.take_units(runs)?;
        self.look_ahead(runs)?;
        let newest_alone = self.copy_newest(runs);
        if !newest_alone {
            self.stack_whole(runs);
        }
        let learns = self.in_process && self.learners.on_device;
        let is_due = learns && due_to_all(runs).gradient_steps > 0;
        self.learners.commit_and_draw_aside(&members(runs), is_due)?;
        match newest_alone {
            true => self.acting.start_newest(&self.learners)?,
            false => self.acting.start(&self.learners)?,
        }
        self.learners.device.join()?;
        if learns {
            self.learn(runs)?;
        }
        let found = self.acting.found()?;
        let envs = runs[0].config.envs;
        for (number, run) in runs.iter_mut().enumerate() {
            run.rows.clear();
            run.beside.clear();
            for row in number * envs..(number + 1) * envs {
                run.rows.extend_from_slice(found.row(row));
                found.beside(row, &mut run.beside);
            }
            if run.looks_at_observations() {
                run.decode_observations();
            }
        }
        Ok(learns)
    }

    fn lags(&self) -> bool {
        true
    }

    fn learn(&mut self, runs: &mut [Run]) -> Result<()> {
        self.look_ahead(runs)?;
        let Due { gradient_steps, copy } = due_to_all(runs);
        runs.iter_mut().for_each(|run| run.due = Due::default());
        self.synced &= gradient_steps == 0 && !copy;
        if gradient_steps > 0 {
            self.learners.learn_times(&mut members(runs), gradient_steps)?;
        }
        if copy { self.learners.copy_target() } else { Ok(()) }
    }

    /// Runs write to parts of a pack that are their own, side by side.
    fn remember(&mut self, runs: &mut [Run]) -> Result<()> {
        self.synced = false;
        if self.learners.places.is_some() {
            let actions = runs.iter().flat_map(|run| run.actions.iter().map(|&action| action as u32));
            self.acting.acted(&mut self.learners, &actions.collect::<Vec<_>>())?;
        }
        each_sound_beside(runs, self.learners.parts()?, |run, part| run.remember_step(part))?;
        self.one_step_on = true;
        Ok(())
    }

    fn collect(&mut self, runs: &mut [Run], all: bool) -> Result<()> {
        if all {
            self.learners.commit()?;
            self.learners.wait()?;
        }
        for Reported { run, learned, sums } in self.learners.reported() {
            match learned {
                Ok(learned) => {
                    runs[run].learned(&learned);
                    if self.learners.places.is_some() {
                        runs[run].learner.algorithm.learned_there(sums);
                    }
                }
                Err(error) => drop(runs[run].failure.get_or_insert(error)),
            }
        }
        check_sound(runs)
    }

    fn sync(&mut self, runs: &mut [Run]) -> Result<()> {
        self.collect(runs, true)?;
        if self.synced {
            return Ok(());
        }
        self.staging.bring(&self.learners, runs)?;
        self.synced = true;
        Ok(())
    }

    /// The players of a run have rows of its own, in their order. Rows of those that are not playing show what was there.
    fn judge(&mut self, runs: &mut [Run], players: &mut [Player]) -> Result<()> {
        let mut places = vec![0; runs.len()];
        let places: Vec<usize> = players
            .iter()
            .map(|player| {
                places[player.owner] += 1;
                player.owner * self.players + places[player.owner] - 1
            })
            .collect();
        let mut rows: Vec<_> = self.evaluating.rows().collect();
        for (player, &place) in players.iter().zip(&places).filter(|(player, _)| player.is_playing()) {
            player.observation.stacked(rows[place]);
        }
        let (found, mut beside) = (self.evaluating.forward(&self.learners)?, vec![]);
        for (player, &place) in players.iter_mut().zip(&places).filter(|(player, _)| player.is_playing()) {
            let learner = &mut runs[player.owner].learner;
            beside.clear();
            found.beside(place, &mut beside);
            if learner.algorithm.sees_observations() && beside.is_empty() {
                player.observation.decode(&mut self.input);
            }
            learner.estimate(Asked::Means, &self.input, found.row(place), &beside, &mut player.estimates)?;
        }
        Ok(())
    }
}

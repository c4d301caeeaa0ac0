//! Trainers that share a GPU: each has its environments, its policy and its statistics, and a [`Fleet`] learns for all.
//!
//! A step of all: one launch gives the outputs for every environment of every run; the gradient steps that are due are put
//! on the stream; and while the device works on them, the environments step on the CPU. So learning lags one step behind
//! what a trainer on the CPU would have seen. What a run reaches is its own, whoever sails along, and if one fails, by its
//! environment or because it diverged, the others go on.

use super::Fleet;
use super::acting::Acting;
use super::timeline::{Clock, Timeline};
use super::watching::Watching;
use crate::evaluate::Evaluation;
use crate::learner::Learner;
use crate::trainer::{Due, Observer, Trainer, choose};
use crate::{Config, Error, Result};
use adfq_nn::Adam;
use adfq_nn::cuda::{Device, Precision, Which};
use std::sync::atomic::{AtomicBool, Ordering};

/// Trainers whose learning happens on one GPU, step by step together.
pub struct Crew {
    trainers: Vec<Trainer>,
    fleet: Fleet,
    acting: Acting,
    watching: Watching,
    timeline: Timeline,
    /// Why a run stands still.
    failures: Vec<Option<Error>>,
}

impl Crew {
    /// Takes trainers on board, all at the same step. They have to agree in network, batch, schedule and number of
    /// environments; the error names the setting in which they do not.
    pub fn new(device: &Device, trainers: Vec<Trainer>, precision: Precision) -> Result<Self> {
        let configs: Vec<Config> = trainers.iter().map(|trainer| trainer.config().clone()).collect();
        check(&configs)?;
        if trainers.iter().any(|trainer| (trainer.step, trainer.due) != (trainers[0].step, trainers[0].due)) {
            return Err(Error::Setting { name: "step", must: "the same in all runs that share a GPU" });
        }
        let space = trainers[0].space.clone();
        let mut fleet = Fleet::new(device, &space, &configs, precision)?;
        load(&mut fleet, &trainers)?;
        let acting = Acting::new(fleet.engine(), &space, configs.len(), configs[0].envs)?;
        let watching = Watching::new(fleet.engine(), &trainers)?;
        let failures = trainers.iter().map(|_| None).collect();
        Ok(Self { trainers, fleet, acting, watching, timeline: Timeline::default(), failures })
    }

    /// The trainers; their learners and memories are those of the last [`Crew::settle`].
    pub fn trainers(&self) -> &[Trainer] {
        &self.trainers
    }

    /// The trainers, each with what stopped it before the others, if something did.
    pub fn disembark(self) -> Vec<(Trainer, Option<Error>)> {
        self.trainers.into_iter().zip(self.failures).collect()
    }

    /// Where the time went so far.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// Environment steps so far, of each that has not failed.
    pub fn step(&self) -> u64 {
        self.trainers.iter().map(Trainer::step).max().unwrap_or(0)
    }

    /// Trains until the end, or until `stop` is set; then what has been reached is saved, and the answer is false. There is
    /// an observer for each trainer; a run that fails is no longer observed. An error if all have failed.
    pub fn run<O: Observer>(&mut self, observers: &mut [O], stop: &AtomicBool) -> Result<bool> {
        let Config { steps, logging, evaluation, .. } = self.trainers[0].config().clone();
        while self.step() < steps {
            if stop.load(Ordering::Relaxed) {
                self.settle()?;
                self.each(observers, |trainer, observer| observer.checkpoint(trainer))?;
                return Ok(false);
            }
            let before = self.step();
            self.advance()?;
            let now = self.step();
            let last = now >= steps;
            let due = |every: u64| last || before / every != now / every;
            if due(logging.metrics) {
                self.collect(true)?;
                self.each(observers, |trainer, observer| {
                    let row = trainer.row();
                    observer.metrics(&row)
                })?;
            }
            if due(evaluation.every) {
                let episodes = if last { evaluation.final_episodes } else { evaluation.episodes };
                self.evaluate(episodes)?;
                self.each(observers, |trainer, observer| match &trainer.evaluated {
                    Some(evaluation) => observer.evaluated(evaluation),
                    None => Ok(()),
                })?;
            }
            if due(logging.checkpoint) {
                self.settle()?;
                self.each(observers, |trainer, observer| observer.checkpoint(trainer))?;
            }
        }
        self.settle()?;
        Ok(true)
    }

    fn each<O>(
        &mut self,
        observers: &mut [O],
        mut tell: impl FnMut(&mut Trainer, &mut O) -> Result<()>,
    ) -> Result<()> {
        let sound = self.trainers.iter_mut().zip(observers).zip(&self.failures);
        sound
            .filter(|(_, failure)| failure.is_none())
            .try_for_each(|((trainer, observer), _)| tell(trainer, observer))
    }

    /// Does something with every run that has not failed; those that fail now are noted. An error if none is left.
    fn try_each(
        &mut self,
        mut work: impl FnMut(usize, &mut Trainer, &mut Fleet) -> Result<()>,
    ) -> Result<()> {
        let fleet = &mut self.fleet;
        each_sound(&mut self.trainers, &mut self.failures, |run, trainer| work(run, trainer, fleet));
        self.check_sound()
    }

    fn check_sound(&mut self) -> Result<()> {
        match self.failures.iter().all(Option::is_some) {
            true => self.failures[0].take().map_or(Ok(()), Err),
            false => Ok(()),
        }
    }

    /// One step in every environment of every run, and the gradient steps that the step before made due.
    pub fn advance(&mut self) -> Result<()> {
        let mut clock = Clock::start();
        let observations = self.trainers.iter().flat_map(|trainer| &trainer.observations);
        self.acting.rows().zip(observations).for_each(|(row, observation)| observation.stacked(row));
        let rows = self.acting.forward(self.fleet.engine())?;
        let width = rows.len() / self.trainers.len();
        each_sound(&mut self.trainers, &mut self.failures, |run, trainer| {
            let (rows, actions, step) = (&rows[run * width..][..width], trainer.space.actions, trainer.step);
            choose(&mut trainer.explorer, rows, actions, step, &mut trainer.actions)
        });
        self.check_sound()?;
        clock.lap(&mut self.timeline.acting);
        // The environments step while the device learns, those in other processes while gradient steps are launched.
        self.try_each(|_, trainer, _| Ok(trainer.envs.begin(&trainer.actions)?))?;
        clock.lap(&mut self.timeline.stepping);
        self.learn()?;
        clock.lap(&mut self.timeline.launching);
        self.try_each(|_, trainer, _| Ok(trainer.envs.finish().map(drop)?))?;
        clock.lap(&mut self.timeline.stepping);
        self.try_each(|run, trainer, fleet| {
            for env in 0..trainer.config.envs {
                trainer.remember(env, |lived| fleet.push(run, env, lived))?;
            }
            trainer.moved();
            Ok(())
        })?;
        self.fleet.commit()?;
        self.collect(false)?;
        clock.lap(&mut self.timeline.remembering);
        Ok(())
    }

    /// Puts the gradient steps that are due on the stream.
    fn learn(&mut self) -> Result<()> {
        // That of a run that goes on: all have the same.
        let sound = self.failures.iter().position(Option::is_none).unwrap_or(0);
        let Due { gradient_steps, copy } = self.trainers[sound].due;
        self.trainers.iter_mut().for_each(|trainer| trainer.due = Due::default());
        (0..gradient_steps).try_for_each(|_| self.fleet.learn())?;
        if copy { self.fleet.copy_target() } else { Ok(()) }
    }

    /// Counts in what gradient steps were like, as far as the device has told, or all of them.
    fn collect(&mut self, all: bool) -> Result<()> {
        if all {
            self.fleet.wait()?;
        }
        for (run, learned) in self.fleet.learned() {
            match learned {
                Ok(learned) => self.trainers[run].stats.learned(&learned),
                Err(error) => drop(self.failures[run].get_or_insert(error)),
            }
        }
        self.check_sound()
    }

    /// Brings everything that was learned back to the trainers, where it is as if learned there. What the last step made
    /// due stays due, so that a checkpoint changes nothing.
    pub fn settle(&mut self) -> Result<()> {
        self.collect(true)?;
        let engine = self.fleet.engine();
        let (online, target) = (engine.download(Which::Online)?, engine.download(Which::Target)?);
        let adam = engine.download_adam(self.trainers[0].learner.adam.settings)?;
        let size = online.len() / self.trainers.len();
        for (run, trainer) in self.trainers.iter_mut().enumerate() {
            let part = run * size..(run + 1) * size;
            let learner = &mut trainer.learner;
            learner.online.copy_from_slice(&online[part.clone()]);
            learner.target.copy_from_slice(&target[part.clone()]);
            learner.adam.m.copy_from_slice(&adam.m[part.clone()]);
            learner.adam.v.copy_from_slice(&adam.v[part]);
            learner.adam.t = adam.t;
            if trainer.config.replay.priority.is_some() {
                let (priorities, largest) = self.fleet.priorities(run)?;
                trainer.replay.take_priorities(largest, &priorities)?;
            }
            trainer.sampler = self.fleet.sampler(run);
        }
        Ok(())
    }

    /// Plays greedy episodes with the present parameters, those of all runs that have not failed side by side. Training does
    /// not notice.
    pub fn evaluate(&mut self, episodes: usize) -> Result<()> {
        self.learn()?;
        let (step, mut clock) = (self.step(), Clock::start());
        let name = format!("evaluation/{step}");
        let sound: Vec<bool> = self.failures.iter().map(Option::is_none).collect();
        let played = self.watching.play(self.fleet.engine(), &mut self.trainers, &sound, &name, episodes)?;
        for (run, episodes) in played.into_iter().enumerate().filter(|&(run, _)| sound[run]) {
            match episodes {
                Ok(episodes) => self.trainers[run].evaluated = Some(Evaluation { step, episodes }),
                Err(error) => self.failures[run] = Some(error),
            }
        }
        clock.lap(&mut self.timeline.evaluating);
        self.check_sound()
    }
}

/// Does something with every run that has not failed, and notes those that fail now.
fn each_sound(
    trainers: &mut [Trainer],
    failures: &mut [Option<Error>],
    mut work: impl FnMut(usize, &mut Trainer) -> Result<()>,
) {
    for (run, (trainer, failure)) in trainers.iter_mut().zip(failures).enumerate() {
        if failure.is_none() {
            *failure = work(run, trainer).err();
        }
    }
}

/// Brings what trainers have learned so far to the device.
fn load(fleet: &mut Fleet, trainers: &[Trainer]) -> Result<()> {
    let all = |part: fn(&Learner) -> &[f32]| -> Vec<f32> {
        trainers.iter().flat_map(|trainer| part(&trainer.learner)).copied().collect()
    };
    fleet.engine_mut().upload(Which::Online, &all(|learner| &learner.online))?;
    fleet.engine_mut().upload(Which::Target, &all(|learner| &learner.target))?;
    let (m, v) = (all(|learner| &learner.adam.m), all(|learner| &learner.adam.v));
    let first = &trainers[0].learner.adam;
    fleet.engine_mut().upload_adam(&Adam { settings: first.settings, t: first.t, m, v })?;
    for (run, trainer) in trainers.iter().enumerate().filter(|(_, trainer)| trainer.step() > 0) {
        let Trainer { replay, step, learner, sampler, .. } = trainer;
        fleet.restore(run, replay, *step, &learner.rewards, sampler.clone())?;
    }
    Ok(())
}

/// Whether these runs can go step by step together; what a fleet needs to be the same it says itself.
fn check(configs: &[Config]) -> Result<()> {
    let Some(first) = configs.first() else {
        return Err(Error::Setting { name: "seeds", must: "at least 1" });
    };
    for (name, same) in [
        ("env", configs.iter().all(|config| config.env == first.env)),
        ("steps", configs.iter().all(|config| config.steps == first.steps)),
        ("learning.every", configs.iter().all(|config| config.learning.every == first.learning.every)),
        ("learning.warmup", configs.iter().all(|config| config.learning.warmup == first.learning.warmup)),
        ("evaluation", configs.iter().all(|config| config.evaluation == first.evaluation)),
        ("logging", configs.iter().all(|config| config.logging == first.logging)),
    ] {
        if !same {
            return Err(Error::Setting { name, must: "the same in all runs that share a GPU" });
        }
    }
    Ok(())
}

//! The one training loop, for one run or many, wherever their networks are computed. [`Observer`]s watch it; the one that
//! writes checkpoints is one of them.

use crate::backend::{Backend, Cpu};
use crate::evaluate::{Evaluation, Player, Round, Seen, play};
use crate::metrics::Metrics;
use crate::run::{Restart, Restarts, Run, Summary};
use crate::timeline::{Stopwatch, Timeline};
use crate::{Config, Device, Error, Host, Result};
use rayon::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// What watches a run. An error of an observer ends its run.
pub trait Observer {
    /// A step in every environment was taken. It is called at every step and has to be quick.
    fn stepped(&mut self, _run: &Run) -> Result<()> {
        Ok(())
    }
    /// An evaluation begins. The next call may come much later.
    fn evaluating(&mut self, _run: &Run) -> Result<()> {
        Ok(())
    }
    /// A row of metrics.
    fn metrics(&mut self, _run: &Run, _metrics: &Metrics) -> Result<()> {
        Ok(())
    }
    /// An evaluation.
    fn evaluated(&mut self, _run: &Run, _evaluation: &Evaluation) -> Result<()> {
        Ok(())
    }
    /// A checkpoint is about to be taken: now is the time to wait for what it needs.
    fn about_to_save(&mut self, _run: &Run) -> Result<()> {
        Ok(())
    }
    /// A good moment to save: all that was learned is in the run. It goes on when this returns; what is written beside it
    /// is waited for in [`settle`](Self::settle).
    fn checkpoint(&mut self, _run: &Run) -> Result<()> {
        Ok(())
    }
    /// An environment had failed and was started anew.
    fn restarted(&mut self, _run: &Run, _restart: &Restart) -> Result<()> {
        Ok(())
    }
    /// Training stops here, at the end, before it or with an error: what is done beside it has to be done now.
    fn settle(&mut self) -> Result<()> {
        Ok(())
    }
    /// The run is at its end.
    fn finished(&mut self, _run: &Run, _summary: &Summary) -> Result<()> {
        Ok(())
    }
}

/// The observers of one run, told in their order.
pub type Observers<'a> = Vec<Box<dyn Observer + Send + 'a>>;

/// When runs are to be saved and stopped before their end.
#[derive(Clone, Copy, Debug)]
pub struct Stop<'a> {
    /// As soon as somebody sets this.
    pub flag: &'a AtomicBool,
    /// As soon as so many environment steps have been taken.
    pub after: Option<u64>,
}

impl<'a> From<&'a AtomicBool> for Stop<'a> {
    fn from(flag: &'a AtomicBool) -> Self {
        Self { flag, after: None }
    }
}

impl<'a> From<&'a Arc<AtomicBool>> for Stop<'a> {
    fn from(flag: &'a Arc<AtomicBool>) -> Self {
        Self { flag, after: None }
    }
}

impl Stop<'_> {
    /// Whether somebody asked to stop.
    pub(crate) fn is_set(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }
}

/// Runs that go step by step together.
///
/// ```
/// use adfq_deep::{Config, Host, Trainer};
///
/// let mut trainer = Trainer::new(&Config::for_env("cartpole")?, &Host::default())?;
/// trainer.advance()?;
/// assert_eq!(trainer.run().step(), 1);
/// # Ok::<(), adfq_deep::Error>(())
/// ```
pub struct Trainer {
    runs: Vec<Run>,
    backend: Box<dyn Backend>,
    watch: Stopwatch,
}

impl Trainer {
    /// One run on the CPU, before its first step.
    pub fn new(config: &Config, host: &Host) -> Result<Self> {
        Self::on_cpu(vec![Run::new(config, host)?])
    }

    /// Runs on the CPU, all at the same step.
    pub fn on_cpu(mut runs: Vec<Run>) -> Result<Self> {
        // They may come from a GPU.
        runs.iter_mut().try_for_each(|run| run.replay.bring_frames())?;
        let backend = Box::new(Cpu::new(&runs)?);
        Self::on(backend, runs)
    }

    /// Runs on a GPU, all at the same step. They have to agree in network, batch, schedule and number of environments;
    /// the error names the setting in which they do not.
    #[cfg(feature = "cuda")]
    pub fn on_cuda(device: &adfq_nn::cuda::Device, mut runs: Vec<Run>) -> Result<Self> {
        let backend = Box::new(crate::backend::Cuda::new(device, &mut runs)?);
        Self::on(backend, runs)
    }

    /// Runs on this device, all at the same step. Where several trainers share a GPU, each has streams of its own there.
    pub fn on_device(device: Device, runs: Vec<Run>) -> Result<Self> {
        match device {
            Device::Cpu => Self::on_cpu(runs),
            #[cfg(feature = "cuda")]
            Device::Cuda(number) => Self::on_cuda(&adfq_nn::cuda::Device::open(number)?.beside()?, runs),
            #[cfg(not(feature = "cuda"))]
            Device::Cuda(number) => Err(Error::NoCuda(format!("cuda:{number}"))),
        }
    }

    fn on(backend: Box<dyn Backend>, mut runs: Vec<Run>) -> Result<Self> {
        let Some(first) = runs.first() else {
            return Err(Error::Setting { name: "runs", must: "at least one" });
        };
        check_together(&runs)?;
        if runs.iter().any(|run| run.place() != first.place()) {
            return Err(Error::Setting { name: "step", must: "the same in all runs that go together" });
        }
        for (number, run) in runs.iter_mut().enumerate() {
            run.players.iter_mut().for_each(|player| player.owner = number);
        }
        Ok(Self { watch: Stopwatch::new(backend.lags()), runs, backend })
    }

    /// The runs.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// The only run, or the first.
    pub fn run(&self) -> &Run {
        &self.runs[0]
    }

    /// The same, to ask what it believes.
    pub fn run_mut(&mut self) -> &mut Run {
        &mut self.runs[0]
    }

    /// The runs, to go on elsewhere. What a GPU learned since the last checkpoint stays there.
    pub fn into_runs(self) -> Vec<Run> {
        self.runs
    }

    /// The runs for which `stays` holds, to go on elsewhere with all that they learned.
    pub fn into_some(mut self, stays: impl Fn(usize) -> bool) -> Result<Vec<Run>> {
        self.backend.sync(&mut self.runs)?;
        self.runs.iter_mut().try_for_each(|run| run.replay.bring_frames())?;
        let numbered = self.runs.into_iter().enumerate();
        Ok(numbered.filter(|(number, _)| stays(*number)).map(|(_, run)| run).collect())
    }

    /// Where the time went so far. The parts of a step are told apart on a GPU.
    pub fn timeline(&self) -> &Timeline {
        &self.watch.timeline
    }

    /// Counts what was done for these runs since then as their start.
    pub(crate) fn begun_at(&mut self, begun: Instant) {
        self.watch.begin_at(begun);
    }

    /// Environment steps so far, of each run that has not failed.
    fn step(&self) -> u64 {
        self.runs.iter().map(Run::step).max().unwrap_or(0)
    }

    /// Trains until the end, or until it is time to stop; then what has been reached is saved, and the answer is false. There
    /// is a list of observers for each run. A run that fails stands still and the others go on
    /// ([`Run::failure`]); an error if all have failed.
    pub fn train<'a>(&mut self, observers: &mut [Observers], stop: impl Into<Stop<'a>>) -> Result<bool> {
        self.watch.lap(|timeline| &mut timeline.starting);
        let ended = self.train_until(observers, stop.into());
        self.watch.lap_after_steps();
        // Whatever happened: what is saved is whole before anybody looks at it.
        let settled = self.settle(observers);
        self.watch.lap(|timeline| &mut timeline.waiting);
        let ended = ended?;
        settled?;
        if ended {
            self.finish(observers)?;
        }
        Ok(ended)
    }

    /// Trains until the end, or until it is time to stop. Says whether it was the end.
    fn train_until(&mut self, observers: &mut [Observers], stop: Stop) -> Result<bool> {
        let config = self.runs[0].config.clone();
        let Config { steps, logging, evaluation, .. } = &config;
        while (self.step() < *steps || self.owes_evaluation()) && !self.has_reached() {
            let enough = stop.after.is_some_and(|step| self.step() >= step) && !self.owes_evaluation();
            if stop.is_set() || enough {
                self.checkpoint(observers)?;
                return Ok(false);
            }
            // A run that was stopped in an evaluation has done all of its step that comes before.
            let half_done = self.owes_evaluation();
            if !half_done {
                let advanced = self.advance();
                self.tell_restarts(observers)?;
                advanced?;
                self.tell(observers, |run, observers| {
                    observers.iter_mut().try_for_each(|observer| observer.stepped(run))
                })?;
            }
            let now = self.step();
            let before = now - config.envs as u64;
            let last = now >= config.end_after(before);
            let due = |every: u64| last || before / every != now / every;
            if due(logging.metrics) && !half_done {
                self.write_metrics(observers)?;
            }
            if half_done || evaluation.every > 0 && due(evaluation.every) {
                self.tell(observers, |run, observers| {
                    observers.iter_mut().try_for_each(|observer| observer.evaluating(run))
                })?;
                let episodes = if last { evaluation.final_episodes } else { evaluation.episodes };
                let evaluated = self.evaluate_unless(episodes, stop);
                self.tell_restarts(observers)?;
                if !evaluated? {
                    continue;
                }
                self.note_best()?;
                self.tell_beside(observers, |run, observers| {
                    let Some(evaluation) = &run.evaluated else { return Ok(()) };
                    observers.iter_mut().try_for_each(|observer| observer.evaluated(run, evaluation))
                })?;
                // The best one is saved.
                self.watch.lap(|timeline| &mut timeline.saving);
            }
            let kept = logging.keep > 0 && due(logging.keep);
            if due(logging.checkpoint) || kept || self.has_reached() {
                self.checkpoint(observers)?;
            }
        }
        Ok(true)
    }

    /// Waits for what observers do beside training, of runs that have failed too.
    fn settle(&mut self, observers: &mut [Observers]) -> Result<()> {
        for (run, observers) in self.runs.iter_mut().zip(observers) {
            let settled = observers.iter_mut().map(|observer| observer.settle()).find_map(Result::err);
            run.failure = run.failure.take().or(settled);
        }
        check_sound(&mut self.runs)
    }

    /// Tells what the runs have reached.
    fn finish(&mut self, observers: &mut [Observers]) -> Result<()> {
        self.backend.sync(&mut self.runs)?;
        let told = self.tell_beside(observers, |run, observers| {
            let summary = Summary::new(run)?;
            observers.iter_mut().try_for_each(|observer| observer.finished(run, &summary))?;
            run.summary = Some(summary);
            Ok(())
        });
        self.watch.lap(|timeline| &mut timeline.finishing);
        told
    }

    /// Whether an evaluation was begun and not played to its end.
    fn owes_evaluation(&self) -> bool {
        self.runs.iter().any(|run| run.owes_evaluation && run.failure.is_none())
    }

    /// Whether training ends here because of what an evaluation reached. Only a run alone can have that.
    fn has_reached(&self) -> bool {
        self.run().has_reached()
    }

    /// Notes which runs were never better. What they learned has to be in them when observers are told.
    fn note_best(&mut self) -> Result<()> {
        let better: Vec<bool> = self.runs.iter_mut().map(Run::note_best).collect();
        if better.contains(&true) { self.backend.sync(&mut self.runs) } else { Ok(()) }
    }

    fn write_metrics(&mut self, observers: &mut [Observers]) -> Result<()> {
        self.watch.lap_after_steps();
        self.backend.collect(&mut self.runs, true)?;
        self.watch.lap_in_step(|timeline| &mut timeline.learning);
        let timeline = self.watch.timeline;
        self.tell(observers, |run, observers| {
            run.timeline = timeline;
            let row = run.metrics();
            observers.iter_mut().try_for_each(|observer| observer.metrics(run, &row))
        })?;
        self.watch.lap(|timeline| &mut timeline.logging);
        Ok(())
    }

    /// Tells observers that now is a good moment to save.
    fn checkpoint(&mut self, observers: &mut [Observers]) -> Result<()> {
        self.watch.lap_after_steps();
        self.tell(observers, |run, observers| {
            observers.iter_mut().try_for_each(|observer| observer.about_to_save(run))
        })?;
        self.watch.lap(|timeline| &mut timeline.waiting);
        self.backend.sync(&mut self.runs)?;
        self.tell_beside(observers, |run, observers| {
            observers.iter_mut().try_for_each(|observer| observer.checkpoint(run))
        })?;
        self.watch.lap(|timeline| &mut timeline.saving);
        Ok(())
    }

    /// Tells of environments that were started anew, in runs that have failed since too.
    fn tell_restarts(&mut self, observers: &mut [Observers]) -> Result<()> {
        for (run, observers) in self.runs.iter_mut().zip(observers) {
            for restart in std::mem::take(&mut run.restarts.untold) {
                observers.iter_mut().try_for_each(|observer| observer.restarted(run, &restart))?;
            }
        }
        Ok(())
    }

    fn tell(
        &mut self,
        observers: &mut [Observers],
        mut tell: impl FnMut(&mut Run, &mut Observers) -> Result<()>,
    ) -> Result<()> {
        each_sound(&mut self.runs, |number, run| match observers.get_mut(number) {
            Some(observers) => tell(run, observers),
            None => Ok(()),
        })
    }

    /// The same where each run takes a while. A GPU waits for all of them, so they are told side by side; on the CPU runs
    /// have threads of their own.
    fn tell_beside(
        &mut self,
        observers: &mut [Observers],
        tell: impl Fn(&mut Run, &mut Observers) -> Result<()> + Sync,
    ) -> Result<()> {
        if !self.backend.lags() {
            return self.tell(observers, tell);
        }
        let told = self.runs.par_iter_mut().zip(observers).filter(|(run, _)| run.failure.is_none());
        told.for_each(|(run, observers)| run.failure = tell(run, observers).err());
        check_sound(&mut self.runs)
    }

    /// One step in every environment of every run, and the gradient steps that are due.
    pub fn advance(&mut self) -> Result<()> {
        let Self { runs, backend, watch } = self;
        watch.lap_in_step(|timeline| &mut timeline.other);
        if !backend.lags() {
            backend.learn(runs)?;
        }
        let learns_already = backend.act(runs)?;
        watch.lap_in_step(|timeline| &mut timeline.acting);
        // On a GPU there may be many runs: those of one go on this thread, those of many on all cores.
        let act = |run: &mut Run| {
            run.choose()?;
            Ok(run.envs.begin(&run.actions)?)
        };
        match backend.lags() {
            true => {
                let nothing = vec![(); runs.len()];
                each_sound_beside(runs, nothing, |run, ()| act(run))?;
            }
            false => each_sound(runs, |_, run| act(run))?,
        }
        watch.lap_in_step(|timeline| &mut timeline.stepping);
        // Environments in other processes step while gradient steps are put on a GPU's stream.
        if backend.lags() && !learns_already {
            backend.learn(runs)?;
            watch.lap_in_step(|timeline| &mut timeline.learning);
        }
        each_sound(runs, |_, run| run.finish_step())?;
        watch.lap_in_step(|timeline| &mut timeline.stepping);
        backend.remember(runs)?;
        match backend.lags() {
            true => backend.collect(runs, false)?,
            false => backend.learn(runs)?,
        }
        watch.lap_in_step(|timeline| &mut timeline.remembering);
        Ok(())
    }

    /// Plays greedy episodes with the present parameters, those of all runs side by side. Training does not notice.
    pub fn evaluate(&mut self, episodes: usize) -> Result<()> {
        self.evaluate_unless(episodes, Stop::from(&AtomicBool::new(false))).map(drop)
    }

    /// The same. When somebody asks to stop, what was played is thrown away and the runs owe the evaluation; the answer is
    /// then false.
    fn evaluate_unless(&mut self, episodes: usize, stop: Stop) -> Result<bool> {
        let Self { runs, backend, watch } = self;
        watch.lap_after_steps();
        backend.learn(runs)?;
        let step = runs.iter().map(Run::step).max().unwrap_or(0);
        let sound = runs.iter_mut().filter(|run| run.failure.is_none());
        let mut players: Vec<_> = sound.flat_map(|run| run.players.drain(..)).collect();
        let parallel = players.len() > 1 && players.iter().any(Player::is_slow);
        let round = Round { name: format!("evaluation/{step}"), episodes, parallel, step };
        let mut restarts: Vec<Restarts> =
            runs.iter_mut().map(|run| std::mem::take(&mut run.restarts)).collect();
        let mut judge = |players: &mut [_]| backend.judge(runs, players);
        let (mut see, stop) = (|_: &Seen| Ok(()), || stop.is_set());
        let played = play(&mut players, &round, &mut restarts, &mut judge, &mut see, &stop);
        runs.iter_mut().zip(restarts).for_each(|(run, restarts)| run.restarts = restarts);
        players.into_iter().for_each(|player| runs[player.owner].players.push(player));
        let played = played?;
        runs.iter_mut().for_each(|run| run.owes_evaluation = played.is_none());
        watch.lap(|timeline| &mut timeline.evaluating);
        let Some(played) = played else { return Ok(false) };
        for (run, played) in runs.iter_mut().zip(played).filter(|(run, _)| run.failure.is_none()) {
            match played {
                Ok(episodes) => run.evaluated = Some(Evaluation { step, episodes }),
                Err(error) => run.failure = Some(error),
            }
        }
        check_sound(runs).map(|()| true)
    }
}

/// Does something with every run that has not failed. One that fails now is noted; an error if none is left.
#[inline]
pub(crate) fn each_sound(
    runs: &mut [Run],
    mut work: impl FnMut(usize, &mut Run) -> Result<()>,
) -> Result<()> {
    for (number, run) in runs.iter_mut().enumerate() {
        if run.failure.is_none() {
            run.failure = work(number, run).err();
        }
    }
    check_sound(runs)
}

/// The same on all cores, with something of each run's own. What is done to a run must not depend on the others. One alone
/// stays on this thread: to wake another takes longer than a step.
pub(crate) fn each_sound_beside<T: Send>(
    runs: &mut [Run],
    mut own: Vec<T>,
    work: impl Fn(&mut Run, &mut T) -> Result<()> + Sync,
) -> Result<()> {
    let work = |(run, own): (&mut Run, &mut T)| {
        if run.failure.is_none() {
            run.failure = work(run, own).err();
        }
    };
    match runs.len() {
        1 => runs.iter_mut().zip(&mut own).for_each(work),
        _ => runs.par_iter_mut().zip(&mut own).for_each(work),
    }
    check_sound(runs)
}

/// The error of the first run if all have failed. The run keeps what it says.
pub(crate) fn check_sound(runs: &mut [Run]) -> Result<()> {
    if runs.iter().any(|run| run.failure.is_none()) {
        return Ok(());
    }
    let said = runs[0].failure.as_ref().map(|error| Error::Group(error.to_string()));
    std::mem::replace(&mut runs[0].failure, said).map_or(Ok(()), Err)
}

/// Whether these runs can go step by step together: all is due to all of them at the same steps.
fn check_together(runs: &[Run]) -> Result<()> {
    let first = &runs[0].config;
    let same_space = runs.iter().all(|run| run.envs.space() == runs[0].envs.space());
    let same = |fits: &dyn Fn(&Config) -> bool| runs.iter().all(|run| fits(&run.config));
    for (name, same) in [
        ("env", same_space),
        ("envs", same(&|config| config.envs == first.envs)),
        ("steps", same(&|config| config.steps == first.steps)),
        ("learning.every", same(&|config| config.learning.every == first.learning.every)),
        ("learning.warmup", same(&|config| config.learning.warmup == first.learning.warmup)),
        ("learning.target", same(&|config| config.learning.target == first.learning.target)),
        ("evaluation", same(&|config| config.evaluation == first.evaluation)),
        ("logging", same(&|config| config.logging == first.logging)),
        ("earlier_ends", same(&|config| config.earlier_ends == first.earlier_ends)),
    ] {
        if !same {
            return Err(Error::Setting { name, must: "the same in all runs that go together" });
        }
    }
    if runs.len() > 1 && first.evaluation.stop_at.is_some() {
        return Err(Error::Setting { name: "evaluation.stop_at", must: "left out in runs that go together" });
    }
    Ok(())
}

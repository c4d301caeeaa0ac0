//! Greedy episodes of all runs of a crew side by side.

use super::acting::Acting;
use crate::evaluate::Evaluator;
use crate::stats::Episode;
use crate::trainer::Trainer;
use crate::{Error, Result};
use adfq_env::{Registry, make};
use adfq_nn::cuda::Engine;
use rayon::prelude::*;

/// Episodes of a run that are played at once, where an environment costs no process.
const LANES: usize = 16;

/// Plays episodes; beside each trainer's own environment it has more of them.
pub(super) struct Watching {
    acting: Acting,
    more: Vec<Vec<Evaluator>>,
    /// Environments of each run.
    lanes: usize,
    outside: bool,
}

impl Watching {
    pub fn new(engine: &Engine, trainers: &[Trainer]) -> Result<Self> {
        let config = &trainers[0].config;
        let outside = Registry::default().is_outside(&config.env);
        let most = config.evaluation.episodes.max(config.evaluation.final_episodes);
        let lanes = if outside { 1 } else { most.clamp(1, LANES) };
        let another =
            |trainer: &Trainer| Evaluator::new(&trainer.config, &trainer.learner, make(&config.env)?);
        let more = |trainer: &Trainer| (1..lanes).map(|_| another(trainer)).collect::<Result<Vec<_>>>();
        let more = trainers.iter().map(more).collect::<Result<_>>()?;
        let acting = Acting::new(engine, &trainers[0].space, trainers.len(), lanes)?;
        Ok(Self { acting, more, lanes, outside })
    }

    /// The episodes of each run, in their order, or what its environment failed with; those that are not `sound` play none.
    /// Which are played at once decides nothing: chance comes from their names.
    pub fn play(
        &mut self,
        engine: &Engine,
        trainers: &mut [Trainer],
        sound: &[bool],
        name: &str,
        episodes: usize,
    ) -> Result<Vec<Result<Vec<Episode>>>> {
        let mut played: Vec<Result<Vec<Episode>>> = trainers.iter().map(|_| Ok(vec![])).collect();
        for first in (0..episodes).step_by(self.lanes) {
            let own = trainers.iter_mut().zip(&mut self.more);
            let evaluators = own.flat_map(|(own, more)| std::iter::once(&mut own.evaluator).chain(more));
            let mut lanes: Vec<_> =
                evaluators.map(|evaluator| Lane { evaluator, state: State::Idle }).collect();
            lanes.par_iter_mut().enumerate().for_each(|(i, lane)| {
                let (run, episode) = (i / self.lanes, first + i % self.lanes);
                if sound[run] && episode < episodes {
                    lane.begin(&format!("{name}/{episode}"));
                }
            });
            while lanes.iter().any(Lane::is_playing) {
                act(&mut self.acting, engine, &mut lanes, self.outside)?;
            }
            let mut lanes = lanes.into_iter().map(|lane| lane.state);
            for played in &mut played {
                lanes.by_ref().take(self.lanes).for_each(|state| state.count_in(played));
            }
        }
        Ok(played)
    }
}

/// One step of all episodes under way. Idle lanes show an old observation, and nobody looks.
fn act(acting: &mut Acting, engine: &Engine, lanes: &mut [Lane], outside: bool) -> Result<()> {
    acting.rows().zip(lanes.iter()).for_each(|(row, lane)| lane.evaluator.observation().stacked(row));
    let rows = acting.forward(engine)?;
    let rows = rows.chunks_exact(rows.len() / lanes.len());
    let playing = lanes.iter_mut().zip(rows).filter(|(lane, _)| lane.is_playing());
    // A step of our own environments is over before another thread has woken up.
    match outside {
        true => playing.collect::<Vec<_>>().into_par_iter().for_each(|(lane, row)| lane.act(row)),
        false => playing.for_each(|(lane, row)| lane.act(row)),
    }
    Ok(())
}

/// An environment, and how its episode stands.
struct Lane<'a> {
    evaluator: &'a mut Evaluator,
    state: State,
}

enum State {
    Idle,
    Playing,
    Over(Episode),
    Failed(Error),
}

impl Lane<'_> {
    fn is_playing(&self) -> bool {
        matches!(self.state, State::Playing)
    }

    fn begin(&mut self, name: &str) {
        self.state = self.evaluator.begin(name).map_or_else(State::Failed, |()| State::Playing);
    }

    fn act(&mut self, row: &[f32]) {
        self.state = match self.evaluator.act(row) {
            Ok(None) => State::Playing,
            Ok(Some(episode)) => State::Over(episode),
            Err(error) => State::Failed(error),
        };
    }
}

impl State {
    /// Adds a finished episode to those of its run; the first failure takes their place.
    fn count_in(self, played: &mut Result<Vec<Episode>>) {
        match (self, &mut *played) {
            (Self::Over(episode), Ok(episodes)) => episodes.push(episode),
            (Self::Failed(error), Ok(_)) => *played = Err(error),
            _ => {}
        }
    }
}

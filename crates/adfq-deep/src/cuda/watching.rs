//! Greedy episodes of all runs of a crew side by side.

use super::acting::Acting;
use crate::Result;
use crate::evaluate::Evaluator;
use crate::stats::Episode;
use crate::trainer::Trainer;
use adfq_env::{is_outside, make};
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
        let outside = is_outside(&config.env);
        let most = config.evaluation.episodes.max(config.evaluation.final_episodes);
        let lanes = if outside { 1 } else { most.clamp(1, LANES) };
        let another =
            |trainer: &Trainer| Evaluator::new(&trainer.config, &trainer.learner, make(&config.env)?);
        let more = |trainer: &Trainer| (1..lanes).map(|_| another(trainer)).collect::<Result<Vec<_>>>();
        let more = trainers.iter().map(more).collect::<Result<_>>()?;
        let acting = Acting::new(engine, &trainers[0].space, trainers.len(), lanes)?;
        Ok(Self { acting, more, lanes, outside })
    }

    /// The episodes of each run, in their order. Which are played at once decides nothing: chance comes from their names.
    pub fn play(
        &mut self,
        engine: &Engine,
        trainers: &mut [Trainer],
        name: &str,
        episodes: usize,
    ) -> Result<Vec<Vec<Episode>>> {
        let mut played = vec![vec![]; trainers.len()];
        for first in (0..episodes).step_by(self.lanes) {
            let own = trainers.iter_mut().zip(&mut self.more);
            let evaluators = own.flat_map(|(own, more)| std::iter::once(&mut own.evaluator).chain(more));
            let mut lanes: Vec<_> = evaluators.map(|evaluator| Lane { evaluator, episode: None }).collect();
            // Lanes beyond the last episode show an old observation, and nobody looks.
            let beyond = |i: usize| first + i % self.lanes >= episodes;
            let begin = |(i, lane): (usize, &mut Lane)| match beyond(i) {
                true => Ok(()),
                false => lane.evaluator.begin(&format!("{name}/{}", first + i % self.lanes)),
            };
            lanes.par_iter_mut().enumerate().try_for_each(begin)?;
            while lanes.iter().enumerate().any(|(i, lane)| lane.episode.is_none() && !beyond(i)) {
                let observations = lanes.iter().map(|lane| lane.evaluator.observation());
                let rows = self.acting.forward(engine, observations)?;
                let rows = rows.chunks_exact(rows.len() / lanes.len());
                let running = lanes.iter_mut().zip(rows).enumerate();
                let running = running
                    .filter(|(i, (lane, _))| lane.episode.is_none() && !beyond(*i))
                    .map(|(_, both)| both);
                let act = |(lane, row): (&mut Lane, &[f32])| -> Result<()> {
                    lane.episode = lane.evaluator.act(row)?;
                    Ok(())
                };
                // A step of our own environments is over before another thread has woken up.
                match self.outside {
                    true => running.collect::<Vec<_>>().into_par_iter().try_for_each(act)?,
                    false => running.into_iter().try_for_each(act)?,
                }
            }
            for (played, lanes) in played.iter_mut().zip(lanes.chunks(self.lanes)) {
                played.extend(lanes.iter().filter_map(|lane| lane.episode));
            }
        }
        Ok(played)
    }
}

/// An environment, and the episode that it has come to the end of.
struct Lane<'a> {
    evaluator: &'a mut Evaluator,
    episode: Option<Episode>,
}

//! Greedy episodes that measure what was learned, apart from training: another environment, other chance.

use crate::Result;
use crate::config::Config;
use crate::learner::Learner;
use crate::observation::Observation;
use crate::stats::Episode;
use adfq::policy::best;
use adfq::random::{ChaCha8Rng, stream};
use adfq_env::Env;
use adfq_nn::Workspace;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// What is shown of each step of an evaluation.
pub struct Seen<'a> {
    /// The episode's number, from 0.
    pub episode: usize,
    /// The step in it, from 0.
    pub step: u64,
    /// The return so far.
    pub total: f64,
    /// The environment as the agent sees it, before the action.
    pub env: &'a dyn Env,
    /// What the agent believes, as [`Learner::beliefs`] says: μ and then -log σ of every action, or Q of every action.
    pub row: &'a [f32],
    /// The action it takes.
    pub action: usize,
}

/// Plays greedy episodes. What happens in one depends on the seed and the name it is played under alone.
pub struct Evaluator {
    env: Box<dyn Env>,
    observation: Observation,
    frame: Vec<u8>,
    input: Vec<f32>,
    pass: Workspace,
    row: Vec<f32>,
    seed: u64,
    max_steps: u64,
    /// The episode going on, and what draws its ties.
    episode: Episode,
    rng: ChaCha8Rng,
}

impl Evaluator {
    /// An evaluator in this environment, such as [`Host::env`](crate::Host::env) makes.
    pub fn new(config: &Config, learner: &Learner, env: Box<dyn Env>) -> Result<Self> {
        let space = env.space();
        learner.check_space(space)?;
        Ok(Self {
            observation: Observation::new(space),
            frame: vec![0; space.frame_bytes()],
            input: vec![0.0; space.observation_len()],
            pass: Workspace::new(learner.network(), 1, 1)?,
            row: vec![],
            seed: config.seed,
            max_steps: config.evaluation.max_steps,
            episode: Episode::default(),
            rng: stream(config.seed, "evaluation"),
            env,
        })
    }

    /// Plays `episodes` episodes with the largest mean's action and gives their returns. Ties, as before any
    /// learning, are drawn. `see` is called at every step; it stops the evaluation by an error.
    pub fn play(
        &mut self,
        learner: &Learner,
        name: &str,
        episodes: usize,
        mut see: impl FnMut(&Seen) -> Result<()>,
    ) -> Result<Vec<Episode>> {
        (0..episodes)
            .map(|episode| self.episode(learner, &format!("{name}/{episode}"), episode, &mut see))
            .collect()
    }

    fn episode(
        &mut self,
        learner: &Learner,
        name: &str,
        number: usize,
        see: &mut impl FnMut(&Seen) -> Result<()>,
    ) -> Result<Episode> {
        self.begin(name)?;
        let actions = self.env.space().actions;
        loop {
            self.observation.decode(&mut self.input);
            learner.beliefs(&self.input, &mut self.pass, &mut self.row)?;
            let row = &self.row[..];
            let action = best(&row[..actions], &mut self.rng);
            let Episode { length: step, total, .. } = self.episode;
            see(&Seen { episode: number, step, total, env: &*self.env, row, action })?;
            if let Some(episode) = self.step(action)? {
                return Ok(episode);
            }
        }
    }

    /// Starts an episode.
    pub(crate) fn begin(&mut self, name: &str) -> Result<()> {
        self.rng = stream(self.seed, name);
        self.env.reset(Some(self.rng.next_u64()), &mut self.frame)?;
        self.observation.start(&self.frame);
        self.episode = Episode::default();
        Ok(())
    }

    /// What the network is to see of the episode going on.
    #[cfg(feature = "cuda")]
    pub(crate) fn observation(&self) -> &Observation {
        &self.observation
    }

    /// Goes on with the episode by the action that a row of outputs calls for; it comes out when it is over.
    #[cfg(feature = "cuda")]
    pub(crate) fn act(&mut self, row: &[f32]) -> Result<Option<Episode>> {
        let action = best(&row[..self.env.space().actions], &mut self.rng);
        self.step(action)
    }

    /// Takes an action; the episode comes out when it is over.
    fn step(&mut self, action: usize) -> Result<Option<Episode>> {
        let step = self.env.step(action, &mut self.frame)?;
        self.observation.push(&self.frame);
        self.episode.step(step.reward);
        Ok((step.ended() || self.episode.length >= self.max_steps).then_some(self.episode))
    }
}

/// Returns of greedy episodes at one step of training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// The environment step.
    pub step: u64,
    /// The episodes.
    pub episodes: Vec<Episode>,
}

impl Evaluation {
    /// The mean return.
    pub fn mean(&self) -> f64 {
        self.episodes.iter().map(|episode| episode.total).sum::<f64>() / self.episodes.len() as f64
    }

    /// The mean return with only the signs of rewards summed.
    pub fn mean_clipped(&self) -> f64 {
        self.episodes.iter().map(|episode| episode.clipped).sum::<f64>() / self.episodes.len() as f64
    }

    /// The smallest return.
    pub fn least(&self) -> f64 {
        self.episodes.iter().map(|episode| episode.total).fold(f64::INFINITY, f64::min)
    }

    /// The largest return.
    pub fn greatest(&self) -> f64 {
        self.episodes.iter().map(|episode| episode.total).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The mean's standard error; 0 for one episode.
    pub fn standard_error(&self) -> f64 {
        let (n, mean) = (self.episodes.len() as f64, self.mean());
        let squares: f64 = self.episodes.iter().map(|episode| (episode.total - mean).powi(2)).sum();
        if n < 2.0 { 0.0 } else { (squares / (n - 1.0) / n).sqrt() }
    }
}

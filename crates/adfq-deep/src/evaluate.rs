//! Greedy episodes that measure what was learned, apart from training: another environment, other chance.

use crate::Result;
use crate::config::Config;
use crate::learner::Learner;
use crate::observation::Observation;
use crate::stats::Episode;
use adfq::policy::best;
use adfq::random::stream;
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
    /// The network's row: μ and then -log σ of every action, or Q of every action.
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
    seed: u64,
    max_steps: u64,
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
            seed: config.seed,
            max_steps: config.evaluation.max_steps,
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
        let mut rng = stream(self.seed, name);
        self.env.reset(Some(rng.next_u64()), &mut self.frame)?;
        self.observation.start(&self.frame);
        let (actions, mut episode) = (self.env.space().actions, Episode::default());
        loop {
            self.observation.decode(&mut self.input);
            let row = learner.network().forward(&learner.online, &self.input, &mut self.pass)?;
            let action = best(&row[..actions], &mut rng);
            let (step, total) = (episode.length, episode.total);
            see(&Seen { episode: number, step, total, env: &*self.env, row, action })?;
            let step = self.env.step(action, &mut self.frame)?;
            self.observation.push(&self.frame);
            episode.step(step.reward);
            if step.ended() || episode.length >= self.max_steps {
                return Ok(episode);
            }
        }
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

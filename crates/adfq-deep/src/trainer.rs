//! The loop that joins environment, network, replay and learner. It owns all that a checkpoint must hold; who watches
//! and who saves are elsewhere ([`Observer`]).

use crate::config::{Config, Priority, TargetUpdate};
use crate::evaluate::{Evaluation, Evaluator};
use crate::learner::Learner;
use crate::observation::Observation;
use crate::policy::Explorer;
use crate::replay::{Lived, PrioritySettings, Replay, ReplaySettings, Sample};
use crate::split::Split;
use crate::stats::{Metrics, Stats, sign};
use crate::{Bytes, Error, Host, Result};
use adfq::random::{ChaCha8Rng, stream};
use adfq_env::{Env, Envs, Space};
use adfq_nn::Workspace;
use rand::Rng;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};

/// What watches a run. Every method but [`Observer::checkpoint`] is told something; that one saves.
pub trait Observer {
    /// A row of metrics.
    fn metrics(&mut self, metrics: &Metrics) -> Result<()>;
    /// An evaluation.
    fn evaluated(&mut self, evaluation: &Evaluation) -> Result<()>;
    /// A good moment to save everything.
    fn checkpoint(&mut self, trainer: &Trainer) -> Result<()>;
}

/// A run at some step.
pub struct Trainer {
    pub(crate) config: Config,
    pub(crate) space: Space,
    pub(crate) step: u64,
    pub(crate) learner: Learner,
    pub(crate) explorer: Explorer,
    pub(crate) envs: Box<dyn Envs>,
    pub(crate) observations: Vec<Observation>,
    pub(crate) replay: Replay,
    pub(crate) sampler: ChaCha8Rng,
    pub(crate) stats: Stats,
    /// The last evaluation of [`Trainer::run`].
    pub(crate) evaluated: Option<Evaluation>,
    pub(crate) evaluator: Evaluator,
    /// What the last step made due and has not been done yet: nothing here, but on a GPU learning is a step behind.
    pub(crate) due: Due,
    sample: Sample,
    inputs: Vec<f32>,
    acting: Workspace,
    rows: Vec<f32>,
    pub(crate) actions: Vec<usize>,
}

impl Trainer {
    /// A run before its first step. Asks for no more memory than the host has.
    ///
    /// ```
    /// use adfq_deep::{Config, Host, Trainer};
    ///
    /// let mut trainer = Trainer::new(&Config::for_env("cartpole")?, &Host::default())?;
    /// trainer.advance()?;
    /// assert_eq!(trainer.step(), 1);
    /// # Ok::<(), adfq_deep::Error>(())
    /// ```
    pub fn new(config: &Config, host: &Host) -> Result<Self> {
        config.check()?;
        let evaluation = host.env(config, false)?;
        // Before further environments are made, each of which may be a process.
        check_memory(config, evaluation.space(), host.memory)?;
        Self::with_envs(config, host, host.envs(config)?, evaluation)
    }

    /// The same in environments that are made already: those of training, and the one of evaluation.
    pub fn with_envs(
        config: &Config,
        host: &Host,
        envs: Box<dyn Envs>,
        evaluation: Box<dyn Env>,
    ) -> Result<Self> {
        config.check()?;
        check_memory(config, envs.space(), host.memory)?;
        let learner = Learner::new(config, envs.space())?;
        let replay = Replay::new(&replay_settings(config), envs.space())?;
        let mut trainer = Self::assemble(config, learner, replay, envs, evaluation)?;
        trainer.reset_envs(config.seed)?;
        Ok(trainer)
    }

    /// The parts of a run put together. No episode has begun, and no counter moved.
    pub(crate) fn assemble(
        config: &Config,
        learner: Learner,
        replay: Replay,
        envs: Box<dyn Envs>,
        evaluation: Box<dyn Env>,
    ) -> Result<Self> {
        if envs.len() != config.envs {
            return Err(Error::Setting { name: "envs", must: "the number of environments given" });
        }
        let space = envs.space().clone();
        Ok(Self {
            step: 0,
            explorer: Explorer::new(config),
            observations: vec![Observation::new(&space); config.envs],
            replay,
            sampler: stream(config.seed, "replay"),
            stats: Stats::new(config.envs),
            evaluated: None,
            evaluator: Evaluator::new(config, &learner, evaluation)?,
            due: Due::default(),
            sample: Sample::default(),
            inputs: vec![0.0; config.envs * space.observation_len()],
            acting: Workspace::new(learner.network(), 1, config.envs)?,
            rows: vec![],
            actions: vec![0; config.envs],
            config: config.clone(),
            learner,
            envs,
            space,
        })
    }

    /// Starts an episode in every environment.
    fn reset_envs(&mut self, seed: u64) -> Result<()> {
        self.envs.reset(seed)?;
        let frames = self.envs.frames().chunks_exact(self.space.frame_bytes());
        self.observations.iter_mut().zip(frames).for_each(|(observation, frame)| observation.start(frame));
        Ok(())
    }

    /// Goes on in environments that could not be saved: they start anew, and the episodes under way are cut off where
    /// they were, at the frame that the agent saw last. Nothing is reported of these.
    pub(crate) fn interrupt(&mut self) -> Result<()> {
        for (lane, observation) in self.observations.iter().enumerate() {
            self.replay.interrupt(lane, observation.latest())?;
        }
        self.stats.interrupt();
        let name = format!("resumed at {}", self.step);
        self.reset_envs(stream(self.config.seed, &name).next_u64())
    }

    /// Environment steps so far.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Gradient steps so far.
    pub fn updates(&self) -> u64 {
        self.stats.updates()
    }

    /// What learns.
    pub fn learner(&self) -> &Learner {
        &self.learner
    }

    /// What is remembered.
    pub fn replay(&self) -> &Replay {
        &self.replay
    }

    /// Trains until the end, or until `stop` is set; then what has been reached is saved, and the answer is false.
    pub fn run(&mut self, observer: &mut dyn Observer, stop: &AtomicBool) -> Result<bool> {
        let Config { steps, logging, evaluation, .. } = self.config.clone();
        while self.step < steps {
            if stop.load(Ordering::Relaxed) {
                observer.checkpoint(self)?;
                return Ok(false);
            }
            let before = self.step;
            self.advance()?;
            let now = self.step;
            let last = now >= steps;
            let due = |every: u64| last || before / every != now / every;
            if due(logging.metrics) {
                observer.metrics(&self.row())?;
            }
            if due(evaluation.every) {
                let episodes = if last { evaluation.final_episodes } else { evaluation.episodes };
                let evaluation = self.evaluate(episodes)?;
                observer.evaluated(&evaluation)?;
                self.evaluated = Some(evaluation);
            }
            if due(logging.checkpoint) {
                observer.checkpoint(self)?;
            }
        }
        Ok(true)
    }

    /// One step in every environment, and the gradient steps that are due.
    pub fn advance(&mut self) -> Result<()> {
        self.catch_up()?;
        self.act()?;
        self.moved();
        self.catch_up()
    }

    /// Does what is due.
    fn catch_up(&mut self) -> Result<()> {
        let Due { gradient_steps, copy } = std::mem::take(&mut self.due);
        (0..gradient_steps).try_for_each(|_| self.learn())?;
        if copy {
            self.learner.copy_target();
        }
        Ok(())
    }

    /// Counts a step in every environment, and notes what is due by it.
    pub(crate) fn moved(&mut self) {
        let before = self.step;
        self.step += self.config.envs as u64;
        let learning = &self.config.learning;
        // The ratio of gradient steps to environment steps is the same however many environments there are.
        let first = before.max(learning.warmup) / learning.every;
        let gradient_steps = (self.step / learning.every).saturating_sub(first);
        let copies = |every| before / every != self.step / every;
        let copy = matches!(learning.target, TargetUpdate::Hard(every) if copies(every));
        self.due = Due { gradient_steps, copy };
    }

    /// Plays greedy episodes with the present parameters. Training does not notice.
    pub fn evaluate(&mut self, episodes: usize) -> Result<Evaluation> {
        self.catch_up()?;
        let name = format!("evaluation/{}", self.step);
        let episodes = self.evaluator.play(&self.learner, &name, episodes, |_| Ok(()))?;
        Ok(Evaluation { step: self.step, episodes })
    }

    pub(crate) fn row(&mut self) -> Metrics {
        let row = self.stats.row(self.step, self.explorer.epsilon(self.step));
        Metrics { parts: self.learner.split_mut().map(Split::take_parts), ..row }
    }

    fn act(&mut self) -> Result<()> {
        let width = self.space.observation_len();
        for (observation, input) in self.observations.iter().zip(self.inputs.chunks_exact_mut(width)) {
            observation.decode(input);
        }
        self.learner.beliefs(&self.inputs, &mut self.acting, &mut self.rows)?;
        choose(&mut self.explorer, &self.rows, self.space.actions, self.step, &mut self.actions)?;
        if let Some(split) = self.learner.split_mut() {
            let visits = self.inputs.chunks_exact(width).zip(&self.actions);
            visits.for_each(|(input, &action)| split.visit(input, action));
        }
        self.envs.step(&self.actions)?;
        (0..self.config.envs).try_for_each(|env| self.remember(env, |_| Ok(())))
    }

    /// Stores what happened in one environment and turns to its next observation. `also` is shown it first.
    pub(crate) fn remember(&mut self, env: usize, also: impl FnOnce(&Lived) -> Result<()>) -> Result<()> {
        let (happened, bytes) = (self.envs.steps()[env], self.space.frame_bytes());
        let over = happened.ended();
        let reward = if self.config.learning.clip_rewards { sign(happened.reward) } else { happened.reward };
        let lived = Lived {
            frame: self.observations[env].latest(),
            action: self.actions[env] as u32,
            reward: reward as f32,
            terminated: happened.terminated,
            truncated: happened.truncated,
            last: over.then(|| &self.envs.successors()[env * bytes..][..bytes]),
        };
        also(&lived)?;
        self.learner.rewards.see(lived.reward);
        self.replay.push(env, &lived)?;
        self.stats.step(env, &happened);
        let frame = &self.envs.frames()[env * bytes..][..bytes];
        match over {
            true => self.observations[env].start(frame),
            false => self.observations[env].push(frame),
        }
        Ok(())
    }

    fn learn(&mut self) -> Result<()> {
        let (batch, beta) = (self.config.learning.batch, self.config.beta(self.step));
        self.replay.sample(batch, beta, &mut self.sampler, &mut self.sample)?;
        let learned = self.learner.learn(&self.sample, self.step)?;
        if self.config.replay.priority.is_some() {
            self.replay.update(&self.sample.index, &self.learner.errors)?;
        }
        self.stats.learned(&learned);
        Ok(())
    }
}

/// What a step in every environment makes due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Due {
    pub gradient_steps: u64,
    /// Whether the target network becomes a copy of the online one.
    pub copy: bool,
}

/// An action for each row of a network's outputs.
pub(crate) fn choose(
    explorer: &mut Explorer,
    rows: &[f32],
    count: usize,
    step: u64,
    actions: &mut [usize],
) -> Result<()> {
    let width = rows.len() / actions.len();
    for (action, row) in actions.iter_mut().zip(rows.chunks_exact(width)) {
        if !row.iter().all(|output| output.is_finite()) {
            return Err(Error::Diverged { quantity: "belief", step, good: None });
        }
        *action = explorer.act(row, count, step);
    }
    Ok(())
}

pub(crate) fn replay_settings(config: &Config) -> ReplaySettings {
    let replay = &config.replay;
    ReplaySettings {
        capacity: replay.capacity,
        envs: config.envs,
        n_step: replay.n_step,
        discount: config.learning.discount,
        priority: replay
            .priority
            .as_ref()
            .map(|&Priority { alpha, epsilon, .. }| PrioritySettings { alpha, epsilon }),
    }
}

/// What the replay memory of this configuration will take in an environment with this space.
pub fn replay_bytes(config: &Config, space: &Space) -> Bytes {
    Bytes(Replay::bytes_needed(&replay_settings(config), space))
}

/// An error if the replay memory would take more than there is, where that is known.
pub(crate) fn check_memory(config: &Config, space: &Space, available: Option<u64>) -> Result<()> {
    let needed = replay_bytes(config, space);
    match available {
        Some(available) if needed.0 > available => {
            let share = available as f64 / needed.0 as f64;
            let fits = (config.replay.capacity as f64 * share * 0.9) as usize;
            Err(Error::Memory { needed, available: Bytes(available), fits })
        }
        _ => Ok(()),
    }
}

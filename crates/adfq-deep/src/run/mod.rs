//! A run: one configuration at some step of its training. The folder that it leaves on disk is [`folder`]'s. What a checkpoint
//! holds is `checkpoint`'s, when one is taken and which are kept is `checkpointer`'s, and the threads that write them are
//! `writer`'s. Logs are `logs`', the memory it will take is `needs`'. The [`Trainer`](crate::Trainer) advances it.

mod checkpoint;
mod checkpointer;
pub mod folder;
pub(crate) mod logs;
mod needs;
mod restarts;
mod summary;
#[cfg(test)]
mod tests;
mod writer;

pub use folder::{Checkpoint, RunFolder};
pub use needs::replay_bytes;
pub use restarts::Restart;
pub(crate) use restarts::Restarts;
pub use summary::{Best, Lost, Summary};

use crate::algorithm::{Estimate, Received, RewardUnit};
use crate::config::{Config, TargetUpdate};
use crate::evaluate::{Evaluation, Judge, Player};
use crate::learner::{Asked, Learner, diverged};
use crate::metrics::{Learned, Metrics, Stats, sign};
use crate::observation::Observation;
use crate::policy::Explorer;
use crate::replay::{Replay, Transition, Written};
use crate::{Error, Host, Result, Timeline};
use adfq::random::{ChaCha8Rng, stream};
use adfq_env::{Element, Env, Envs, Space};
use needs::check_memory;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// A run at some step. It owns all that a checkpoint must hold.
pub struct Run {
    pub(crate) config: Config,
    #[cfg_attr(not(feature = "cuda"), expect(dead_code, reason = "a GPU evaluates in more environments"))]
    pub(crate) host: Host,
    pub(crate) space: Space,
    pub(crate) step: u64,
    pub(crate) learner: Learner,
    pub(crate) explorer: Explorer,
    pub(crate) envs: Box<dyn Envs>,
    pub(crate) observations: Vec<Observation>,
    pub(crate) replay: Replay,
    pub(crate) sampler: ChaCha8Rng,
    pub(crate) stats: Stats,
    /// The last evaluation.
    pub(crate) evaluated: Option<Evaluation>,
    /// The best one so far.
    pub(crate) best: Option<Best>,
    /// Where it is evaluated.
    pub(crate) players: Vec<Player>,
    /// What the last step made due and has not been done yet.
    pub(crate) due: Due,
    /// Whether its evaluation at this step was begun and stopped: it is played from its start before the next step.
    pub(crate) owes_evaluation: bool,
    /// Whether rewards that were stored before have a unit since this step. Who keeps a copy of them has to change it.
    pub(crate) new_unit: bool,
    /// What was lost of its replay memory.
    pub(crate) lost: Vec<Lost>,
    /// Environments that were started anew.
    pub(crate) restarts: Restarts,
    /// Those that were in the step under way, and take no part in it.
    pub(crate) restarted: Vec<usize>,
    /// Why it stands still.
    pub(crate) failure: Option<Error>,
    /// What it reached, once it is at its end.
    pub(crate) summary: Option<Summary>,
    /// Where its time went, as of the last row of metrics. For people: nothing depends on it, and no checkpoint holds it.
    pub(crate) timeline: Timeline,
    /// The network's outputs for the present observations, and the actions that follow from them.
    pub(crate) rows: Vec<f32>,
    /// What a GPU found of them beside; empty on the CPU.
    pub(crate) beside: Vec<f64>,
    pub(crate) actions: Vec<usize>,
    /// Which of them were not the best, where transitions are to end before these.
    explored: Vec<bool>,
    /// The present observations, as the network sees them.
    pub(crate) inputs: Vec<f32>,
    estimates: Vec<Estimate>,
    written: Written,
}

/// What a step in every environment makes due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Due {
    pub gradient_steps: u64,
    /// Whether the target network becomes a copy of the online one.
    pub copy: bool,
}

/// Where a run stores what happens: in its replay memory, and in whatever else keeps a copy of it.
pub(crate) trait Memory {
    /// Stores a step of an environment. Who keeps a copy to learn from keeps the reward in its unit. `written` is for those who need to
    /// know where.
    fn store(
        &mut self,
        env: usize,
        step: &Transition,
        unit: &RewardUnit,
        replay: &mut Replay,
        written: &mut Written,
    ) -> Result<()>;

    /// Cuts off the episode of an environment, as [`Replay::interrupt`] does.
    fn cut(&mut self, env: usize, frame: &[u8], replay: &mut Replay) -> Result<()>;
}

/// The replay memory alone.
pub(crate) struct Plain;

impl Memory for Plain {
    fn store(
        &mut self,
        env: usize,
        step: &Transition,
        _: &RewardUnit,
        replay: &mut Replay,
        _: &mut Written,
    ) -> Result<()> {
        Ok(replay.push(env, step)?)
    }

    fn cut(&mut self, env: usize, frame: &[u8], replay: &mut Replay) -> Result<()> {
        Ok(replay.interrupt(env, frame)?)
    }
}

impl Run {
    /// A run before its first step. Asks for no more memory than the host has.
    pub fn new(config: &Config, host: &Host) -> Result<Self> {
        host.check(config)?;
        let evaluation = host.env(config, false)?;
        // Before further environments are made, each of which may be a process.
        check_memory(config, evaluation.space(), host)?;
        Self::with_envs(config, host, host.envs(config)?, evaluation)
    }

    /// The same in environments that are made already: those of training, and the one of evaluation.
    pub fn with_envs(
        config: &Config,
        host: &Host,
        envs: Box<dyn Envs>,
        evaluation: Box<dyn Env>,
    ) -> Result<Self> {
        host.check(config)?;
        check_memory(config, envs.space(), host)?;
        let learner = Learner::new(config, envs.space(), &host.algorithms)?;
        let replay = Replay::new(&config.replay, config.envs, config.learning.discount, envs.space())?;
        let mut run = Self::assemble(config, host, learner, replay, envs, evaluation)?;
        run.reset_envs(config.seed)?;
        Ok(run)
    }

    /// The parts of a run put together. No episode has begun, and no counter moved.
    pub(crate) fn assemble(
        config: &Config,
        host: &Host,
        learner: Learner,
        replay: Replay,
        envs: Box<dyn Envs>,
        evaluation: Box<dyn Env>,
    ) -> Result<Self> {
        if envs.len() != config.envs {
            return Err(Error::Setting { name: "envs", must: "the number of environments given" });
        }
        let space = envs.space().clone();
        if *evaluation.space() != space {
            let [training, evaluation] = [&space, evaluation.space()].map(describe);
            return Err(Error::EvaluationSpace { training, evaluation });
        }
        learner.check_space(&space)?;
        Ok(Self {
            step: 0,
            explorer: Explorer::new(config),
            observations: vec![Observation::new(&space); config.envs],
            sampler: stream(config.seed, "replay"),
            stats: Stats::new(config.envs),
            evaluated: None,
            best: None,
            players: vec![Player::new(config, evaluation)],
            due: Due::default(),
            owes_evaluation: false,
            new_unit: false,
            lost: vec![],
            restarts: Restarts::at_most(host.restarts),
            restarted: vec![],
            failure: None,
            summary: None,
            timeline: Timeline::default(),
            rows: vec![],
            beside: vec![],
            actions: vec![0; config.envs],
            explored: vec![false; config.envs],
            inputs: vec![0.0; config.envs * space.observation_len()],
            estimates: vec![],
            written: Written::default(),
            config: config.clone(),
            host: host.clone(),
            replay,
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
        for env in 0..self.config.envs {
            self.cut_off(env, &mut Plain)?;
        }
        let name = format!("resumed at {}", self.step);
        self.reset_envs(stream(self.config.seed, &name).next_u64())
    }

    /// Cuts off the episode under way in an environment, at the frame that the agent saw last. Nothing is reported of it.
    fn cut_off(&mut self, env: usize, memory: &mut impl Memory) -> Result<()> {
        memory.cut(env, self.observations[env].latest(), &mut self.replay)?;
        self.learner.algorithm.begin_episode(env);
        self.stats.interrupt(env);
        Ok(())
    }

    /// Waits for the step that the environments take. Those that fail are started anew as long as that is allowed.
    pub(crate) fn finish_step(&mut self) -> Result<()> {
        self.restarted.clear();
        while let Err(error) = self.envs.finish() {
            self.restart(error)?;
        }
        Ok(())
    }

    /// Starts environments anew that failed with this error, which is returned if that is not possible. The seed is drawn
    /// from the run's, the step and the number of the restart.
    fn restart(&mut self, mut error: adfq_env::Error) -> Result<()> {
        while self.restarts.left > 0 {
            let name = format!("restart {} at {}", self.restarts.count + 1, self.step);
            let restarted = self.envs.restart(stream(self.config.seed, &name).next_u64());
            if let Ok(None) = restarted {
                break;
            }
            self.restarts.note(self.step, &error);
            match restarted {
                Ok(envs) => {
                    self.restarted.extend(envs.into_iter().flatten());
                    return Ok(());
                }
                Err(again) => error = again,
            }
        }
        Err(error.into())
    }

    /// Turns to the new episode of an environment that was started anew.
    fn begin_anew(&mut self, env: usize, memory: &mut impl Memory) -> Result<()> {
        self.cut_off(env, memory)?;
        let bytes = self.space.frame_bytes();
        self.observations[env].start(&self.envs.frames()[env * bytes..][..bytes]);
        Ok(())
    }

    /// How often environments that had failed were started anew.
    pub fn restarts(&self) -> u64 {
        self.restarts.count
    }

    /// Environment steps so far.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The environments that it trains in. Where an episode has ended, the next one has begun.
    pub fn envs(&self) -> &dyn Envs {
        &*self.envs
    }

    /// Gradient steps so far.
    pub fn updates(&self) -> u64 {
        self.stats.updates()
    }

    /// What learns. On a GPU it is as the last checkpoint was.
    pub fn learner(&self) -> &Learner {
        &self.learner
    }

    /// What is remembered.
    pub fn replay(&self) -> &Replay {
        &self.replay
    }

    /// The last evaluation.
    pub fn evaluation(&self) -> Option<&Evaluation> {
        self.evaluated.as_ref()
    }

    /// The best evaluation so far.
    pub fn best(&self) -> Option<Best> {
        self.best
    }

    /// Notes the last evaluation if none was better, and says whether it did.
    pub(crate) fn note_best(&mut self) -> bool {
        let Some(last) = &self.evaluated else { return false };
        let last = Best { step: last.step, mean_return: last.mean() };
        let better = self.best.is_none_or(|best| last.mean_return >= best.mean_return);
        if better {
            self.best = Some(last);
        }
        better
    }

    /// Whether its last evaluation reached the return at which training ends.
    pub(crate) fn has_reached(&self) -> bool {
        let stop_at = self.config.evaluation.stop_at;
        stop_at.zip(self.evaluation()).is_some_and(|(stop_at, last)| last.mean() >= stop_at)
    }

    /// What was lost of its replay memory; where something was, the run is not the one that its configuration stands for.
    pub fn lost(&self) -> &[Lost] {
        &self.lost
    }

    /// Where its time went here up to the last row of metrics; that of all runs that go step by step together.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// Why the run could not go on, if it could not.
    pub fn failure(&self) -> Option<&Error> {
        self.failure.as_ref()
    }

    /// The same, taken out: the run would go on.
    #[cfg(feature = "cuda")]
    pub(crate) fn take_failure(&mut self) -> Option<Error> {
        self.failure.take()
    }

    /// What is believed of each action now, given the numbers that the network sees. On a GPU it is as the last
    /// checkpoint was.
    pub fn estimates(&mut self, observation: &[f32]) -> Result<Vec<Estimate>> {
        let mut estimates = vec![];
        Judge::new(&self.learner)?.estimates(
            &mut self.learner,
            Asked::Beliefs,
            observation,
            &mut estimates,
        )?;
        Ok(estimates)
    }

    /// Writes the present observations to `inputs`.
    pub(crate) fn decode_observations(&mut self) {
        let inputs = self.inputs.chunks_exact_mut(self.space.observation_len());
        self.observations.iter().zip(inputs).for_each(|(observation, input)| observation.decode(input));
    }

    /// Whether its algorithm looks at observations here. Where a GPU found what it needs of them, it does not.
    pub(crate) fn looks_at_observations(&self) -> bool {
        self.learner.algorithm.sees_observations() && self.beside.is_empty()
    }

    /// Chooses an action for each row of outputs.
    pub(crate) fn choose(&mut self) -> Result<()> {
        let (width, sees) = (self.space.observation_len(), self.looks_at_observations());
        let outputs = self.rows.len() / self.config.envs;
        let found = self.beside.len() / self.config.envs;
        for (env, row) in self.rows.chunks_exact(outputs).enumerate() {
            let observation = if sees { &self.inputs[env * width..][..width] } else { &[] };
            let beside = &self.beside[env * found..][..found];
            self.learner.estimate(Asked::Training(env), observation, row, beside, &mut self.estimates)?;
            if !row.iter().all(|output| output.is_finite()) {
                return Err(diverged("belief", self.step));
            }
            let action = self.explorer.act(&self.estimates, self.step);
            let is_better = |other: &Estimate| other.mean > self.estimates[action].mean;
            self.explored[env] = self.config.replay.watkins && self.estimates.iter().any(is_better);
            self.actions[env] = action;
        }
        if sees {
            for (input, &action) in self.inputs.chunks_exact(width).zip(&self.actions) {
                self.learner.algorithm.acted(input, action);
            }
        }
        Ok(())
    }

    /// Stores what happened in every environment, turns to the next observations and counts the step.
    pub(crate) fn remember_step(&mut self, memory: &mut impl Memory) -> Result<()> {
        for env in 0..self.config.envs {
            match self.restarted.contains(&env) {
                true => self.begin_anew(env, memory)?,
                false => self.remember(env, memory)?,
            }
        }
        self.count_step();
        Ok(())
    }

    /// Stores what happened in one environment and turns to its next observation.
    fn remember(&mut self, env: usize, memory: &mut impl Memory) -> Result<()> {
        let (happened, bytes) = (self.envs.steps()[env], self.space.frame_bytes());
        let over = happened.ended();
        let reward = if self.config.learning.clip_rewards { sign(happened.reward) } else { happened.reward };
        let transition = Transition {
            frame: self.observations[env].latest(),
            action: self.actions[env] as u32,
            explored: self.explored[env],
            reward: reward as f32,
            terminated: happened.terminated,
            truncated: happened.truncated,
            last: over.then(|| &self.envs.successors()[env * bytes..][..bytes]),
        };
        self.learner.rewards.see(transition.reward);
        self.learner.unit.see(transition.reward);
        memory.store(env, &transition, &self.learner.unit, &mut self.replay, &mut self.written)?;
        self.stats.step(env, &happened);
        let received = Received {
            action: self.actions[env],
            reward: reward as f32,
            terminated: happened.terminated,
            ended: over,
        };
        self.learner.algorithm.received(env, received);
        if happened.game_over() {
            self.learner.algorithm.begin_episode(env);
        }
        let frame = &self.envs.frames()[env * bytes..][..bytes];
        match over {
            true => self.observations[env].start(frame),
            false => self.observations[env].push(frame),
        }
        Ok(())
    }

    /// Counts a step in every environment, and notes what is due by it.
    fn count_step(&mut self) {
        let before = self.step;
        self.step += self.config.envs as u64;
        let learning = &self.config.learning;
        // The ratio of gradient steps to environment steps is the same however many environments there are.
        let first = before.max(learning.warmup) / learning.every;
        let gradient_steps = (self.step / learning.every).saturating_sub(first);
        let copies = |every| before / every != self.step / every;
        let copy = matches!(learning.target, TargetUpdate::Hard(every) if copies(every));
        self.due = Due { gradient_steps, copy };
        self.wait_for_memory();
        if self.due.gradient_steps > 0 {
            self.new_unit |= self.learner.unit.settle();
        }
    }

    /// Before transitions of several steps are complete, and after a loss, there may be nothing to learn from: learning waits as in
    /// warm-up. The first is a matter of steps alone (the state after the last step comes with the next), so that runs that go together
    /// wait together.
    pub(crate) fn wait_for_memory(&mut self) {
        let first = ((self.config.replay.n_step + 1) * self.config.envs) as u64;
        let lost = !self.lost.is_empty() && self.replay.len() < self.config.learning.batch;
        if self.step < first || lost {
            self.due.gradient_steps = 0;
        }
    }

    /// Counts in a gradient step.
    pub(crate) fn learned(&mut self, learned: &Learned) {
        let mean_q = learned.mean_q * self.learner.unit.size();
        self.stats.learned(&Learned { mean_q, ..*learned });
    }

    /// Where it stands: runs that go step by step together stand at the same place.
    pub(crate) fn place(&self) -> (u64, Due, bool) {
        (self.step, self.due, self.owes_evaluation)
    }

    /// The row of metrics as it would be now, without the algorithm's own columns. Nothing changes by looking.
    pub fn peek(&self) -> Metrics {
        self.with_sigma(self.stats.peek(self.step, self.explorer.epsilon(self.step, self.step_before())))
    }

    /// The row with σ as the algorithm shows it, once something was learned.
    fn with_sigma(&self, row: Metrics) -> Metrics {
        match self.learner.algorithm.mean_sigma() {
            Some(mean_sigma) if !row.mean_sigma.is_nan() => Metrics { mean_sigma, ..row },
            _ => row,
        }
    }

    fn step_before(&self) -> u64 {
        self.step.saturating_sub(self.config.envs as u64)
    }

    /// A row of metrics; what was summed starts anew.
    pub(crate) fn metrics(&mut self) -> Metrics {
        let row = self.stats.row(self.step, self.explorer.epsilon(self.step, self.step_before()));
        let row = self.with_sigma(row);
        let algorithm = &mut self.learner.algorithm;
        let names = algorithm.metrics().iter().copied();
        Metrics { own: names.zip(algorithm.take_metrics()).collect(), ..row }
    }
}

/// What an agent has to do with, in a few words.
fn describe(space: &Space) -> String {
    let numbers = match space.element {
        Element::U8 { scale } => format!("bytes times {scale}"),
        Element::F32 => "numbers".to_owned(),
    };
    format!("{:?} {numbers} and {} actions", space.observation_shape(), space.actions)
}

//! A trained agent, as a user holds it: observations in, actions and beliefs out.

use crate::algorithm::Estimate;
use crate::evaluate::{Evaluator, Judge, Seen};
use crate::learner::{Asked, Learner};
use crate::metrics::Episode;
use crate::observation::Observation;
use crate::run::folder::{Loaded, read_learner};
use crate::{Checkpoint, Config, Error, Host, Result};
use adfq::{Belief, MaxOfGaussians};
use adfq_env::{Element, Env, Space};
use std::path::Path;

/// What was learned in a run.
pub struct Agent {
    config: Config,
    learner: Learner,
    judge: Judge,
    /// What it has seen of an episode; none before its first frame.
    seen: Option<Observation>,
    step: u64,
    warnings: Vec<String>,
    estimates: Vec<Estimate>,
}

/// What an agent would do in a state, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The action with the largest mean; the first of them if there are several.
    pub action: usize,
    /// The mean of Q(s,a), for each action.
    pub means: Vec<f64>,
    /// The beliefs over Q(s,a), for each action. None where the algorithm has none, as DQN or an ensemble of one.
    pub beliefs: Option<Vec<Belief>>,
}

impl Decision {
    /// The probability of each action that it is the best, if the beliefs are independent. None without beliefs.
    pub fn p_best(&self) -> Result<Option<Vec<f64>>> {
        let p_best = |beliefs: &Vec<Belief>| MaxOfGaussians::new(beliefs)?.probabilities();
        Ok(self.beliefs.as_ref().map(p_best).transpose()?)
    }
}

impl Agent {
    /// The agent of the newest good checkpoint in a run folder. A run under way may be read too.
    pub fn load(folder: impl AsRef<Path>) -> Result<Self> {
        Self::load_with(folder, &Host::default())
    }

    /// The same where the algorithm is one that a user has registered.
    pub fn load_with(folder: impl AsRef<Path>, host: &Host) -> Result<Self> {
        Self::load_checkpoint(folder, Checkpoint::Last, host)
    }

    /// The agent of another checkpoint: that of the best evaluation, or that of a step.
    pub fn load_checkpoint(folder: impl AsRef<Path>, which: Checkpoint, host: &Host) -> Result<Self> {
        let Loaded { config, learner, step, warnings } = read_learner(folder.as_ref(), host, which)?;
        let judge = Judge::new(&learner)?;
        Ok(Self { judge, seen: None, estimates: vec![], config, learner, step, warnings })
    }

    /// The agent of a run before its first step. Its environment is made to know its space.
    ///
    /// ```
    /// use adfq_deep::{Agent, Config, Host};
    ///
    /// let mut agent = Agent::untrained(&Config::for_env("cartpole")?, &Host::default())?;
    /// assert_eq!((agent.step(), agent.act(&[0.0; 4])?.means.len()), (0, 2));
    /// # Ok::<(), adfq_deep::Error>(())
    /// ```
    pub fn untrained(config: &Config, host: &Host) -> Result<Self> {
        host.check(config)?;
        let env = host.env(config, false)?;
        let learner = Learner::new(config, env.space(), &host.algorithms)?;
        let (judge, config) = (Judge::new(&learner)?, config.clone());
        Ok(Self { judge, seen: None, estimates: vec![], config, learner, step: 0, warnings: vec![] })
    }

    /// What is wrong with later checkpoints, if it is not that of the last one.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The configuration of its run.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The environment step at which it was saved.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// What its environment gives and takes.
    pub fn space(&self) -> &Space {
        self.learner.space()
    }

    /// The network and all that was learned.
    pub(crate) fn learner(&self) -> &Learner {
        &self.learner
    }

    /// The next frame is the first of an episode: none before it is remembered.
    pub fn begin_episode(&mut self) {
        self.seen = None;
    }

    /// What it would do on seeing the next frame of an episode, as the environment gives it: bytes are not scaled, and frames
    /// that it sees stacked are remembered. A frame with an error is as if it had not been.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let folder = folder.path().join("run");
    /// use adfq_deep::{Agent, Training};
    ///
    /// Training::new("cartpole").steps(20).run(&folder)?;
    /// let mut agent = Agent::load(&folder)?;
    /// agent.begin_episode();
    /// assert!(agent.see(&[0.0, 0.0, 0.05, 0.0])?.action < 2);
    /// # Ok::<(), adfq_deep::Error>(())
    /// ```
    pub fn see(&mut self, frame: &[f64]) -> Result<Decision> {
        self.check_frame(frame)?;
        let space = self.learner.space();
        let bytes = frame_bytes(space, frame);
        match &mut self.seen {
            Some(seen) => seen.push(&bytes),
            none => none.insert(Observation::new(space)).start(&bytes),
        }
        let mut numbers = vec![0.0; space.observation_len()];
        if let Some(seen) = &self.seen {
            seen.decode(&mut numbers);
        }
        self.act(&numbers)
    }

    /// An error unless its environment could give this frame.
    pub fn check_frame(&self, frame: &[f64]) -> Result<()> {
        let space = self.learner.space();
        if frame.len() != space.frame_len() {
            return Err(Error::Observation { needed: space.frame_len(), found: frame.len() });
        }
        let fits = |&value: &f64| match space.element {
            Element::U8 { .. } => (0.0..=255.0).contains(&value) && value.fract() == 0.0,
            Element::F32 => (value as f32).is_finite(),
        };
        match (frame.iter().position(|value| !fits(value)), space.element) {
            (None, _) => Ok(()),
            (Some(at), Element::U8 { .. }) => Err(Error::ObservationByte { at, value: frame[at] }),
            (Some(at), Element::F32) => Err(Error::ObservationNumber { at, value: frame[at] as f32 }),
        }
    }

    /// What it would do, and what it believes of each action. The observation holds the numbers that the network sees:
    /// stacked frames, bytes scaled.
    pub fn act(&mut self, observation: &[f32]) -> Result<Decision> {
        let needed = self.learner.network().inputs();
        if observation.len() != needed {
            return Err(Error::Observation { needed, found: observation.len() });
        }
        if let Some(at) = observation.iter().position(|number| !number.is_finite()) {
            return Err(Error::ObservationNumber { at, value: observation[at] });
        }
        self.judge.estimates(&mut self.learner, Asked::Beliefs, observation, &mut self.estimates)?;
        let means: Vec<f32> = self.estimates.iter().map(|estimate| estimate.mean).collect();
        let belief = |estimate: &Estimate| Belief::new(estimate.mean.into(), f64::from(estimate.sd).powi(2));
        let believes = self.estimates.iter().all(|estimate| estimate.sd > 0.0);
        Ok(Decision {
            action: crate::algorithm::largest(&means).0,
            means: means.iter().map(|&mean| mean.into()).collect(),
            beliefs: believes.then(|| self.estimates.iter().map(belief).collect()).transpose()?,
        })
    }
}

impl Agent {
    /// Plays greedy episodes in an environment such as [`Host::env`] makes. The same name gives the same chance; the episodes
    /// of `adfq eval` are those of `eval/SEED`. `see` is called at every step; it stops by an error.
    ///
    /// ```
    /// use adfq_deep::{Agent, Config, Host};
    ///
    /// let (config, host) = (Config::for_env("cartpole")?, Host::default());
    /// let mut agent = Agent::untrained(&config, &host)?;
    /// assert_eq!(agent.play(host.env(&config, false)?, "eval/0", 2, |_| Ok(()))?.len(), 2);
    /// # Ok::<(), adfq_deep::Error>(())
    /// ```
    pub fn play(
        &mut self,
        env: Box<dyn Env>,
        name: &str,
        episodes: usize,
        see: impl FnMut(&Seen) -> Result<()>,
    ) -> Result<Vec<Episode>> {
        Evaluator::new(&self.config, &self.learner, env)?.play(&mut self.learner, name, episodes, see)
    }
}

/// A frame as environments write it.
fn frame_bytes(space: &Space, frame: &[f64]) -> Vec<u8> {
    match space.element {
        Element::U8 { .. } => frame.iter().map(|&value| value as u8).collect(),
        Element::F32 => frame.iter().flat_map(|&value| (value as f32).to_ne_bytes()).collect(),
    }
}

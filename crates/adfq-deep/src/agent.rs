//! A trained agent, as a user holds it: observations in, actions and beliefs out.

use crate::algorithm::Estimate;
use crate::evaluate::Judge;
use crate::learner::Learner;
use crate::run::folder::{Loaded, read_learner};
use crate::{Checkpoint, Config, Error, Host, Result};
use adfq::{Belief, MaxOfGaussians};
use std::path::Path;

/// What was learned in a run.
pub struct Agent {
    config: Config,
    learner: Learner,
    judge: Judge,
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
        Ok(Self { judge: Judge::new(&learner)?, estimates: vec![], config, learner, step, warnings })
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
        self.judge.estimates(&mut self.learner, observation, &mut self.estimates)?;
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

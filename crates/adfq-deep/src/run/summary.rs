//! What a finished run reached: `result.json`, and one line for people.

use super::Run;
use crate::Result;
use crate::digits::Digits;
use crate::evaluate::Evaluation;
use crate::replay::Digest;
use serde::{Deserialize, Serialize};

/// The end of a run. Nothing in it depends on a clock: equal runs give equal files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The environment.
    pub env: String,
    /// What learned.
    pub agent: String,
    /// How it explored.
    pub policy: String,
    /// The seed.
    pub seed: u64,
    /// Environment steps.
    pub steps: u64,
    /// Gradient steps.
    pub updates: u64,
    /// Mean return of the last evaluation; none if the run was never evaluated.
    pub mean_return: Option<f64>,
    /// Its standard error.
    pub standard_error: Option<f64>,
    /// Its number of episodes.
    pub episodes: usize,
    /// The best evaluation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best: Option<Best>,
    /// Whether the run ended before its last step because an evaluation had reached the return asked for.
    #[serde(default, skip_serializing_if = "is_false")]
    pub ended_early: bool,
    /// How often environments that had failed were started anew.
    #[serde(default)]
    pub restarts: u64,
    /// A digest of the online and target parameters, of Adam's moments, and of the algorithm's own state.
    pub parameters: String,
    /// A digest of the replay memory.
    pub replay: String,
    /// Whether it is what its configuration stands for, bit for bit. Only a run that is not says so in the file.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub exact: bool,
    /// Why it is not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<Lost>,
}

/// The best evaluation of a run: the largest mean return. Of several equal ones it is the last.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Best {
    /// The environment step.
    pub step: u64,
    /// The mean return.
    pub mean_return: f64,
}

/// A part of the replay memory that could not be read when the run was resumed, and that it went on without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// The environment.
    pub env: usize,
    /// What it did up to this step of the run is lost.
    pub until_step: u64,
}

impl std::fmt::Display for Lost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "what environment {} did up to step {}", self.env, self.until_step)
    }
}

fn yes() -> bool {
    true
}

fn is_true(&exact: &bool) -> bool {
    exact
}

fn is_false(&ended_early: &bool) -> bool {
    !ended_early
}

impl Summary {
    /// What a run reached.
    pub(crate) fn new(run: &Run) -> Result<Self> {
        let evaluation = run.evaluation();
        let (config, learner) = (run.config(), run.learner());
        let mut digest = Digest::default();
        for part in [&learner.online, &learner.target, &learner.adam.m, &learner.adam.v] {
            digest.bytes(bytemuck::cast_slice(part));
        }
        match &learner.algorithm.save()?[..] {
            [] => {}
            own => digest.bytes(own),
        }
        Ok(Self {
            env: config.env.clone(),
            agent: config.agent.clone(),
            policy: config.policy.clone(),
            seed: config.seed,
            steps: run.step(),
            updates: run.updates(),
            mean_return: evaluation.map(Evaluation::mean),
            standard_error: evaluation.map(Evaluation::standard_error),
            episodes: evaluation.map_or(0, |evaluation| evaluation.episodes.len()),
            best: run.best(),
            ended_early: run.step() < config.steps,
            restarts: run.restarts(),
            parameters: format!("{:016x}", digest.end()),
            replay: format!("{:016x}", run.replay().digest()?),
            exact: run.lost.is_empty(),
            lost: run.lost.clone(),
        })
    }
}

impl std::fmt::Display for Summary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { env, agent, policy, seed, steps, mean_return, standard_error, episodes, .. } = self;
        write!(f, "{env}, {agent} with {policy}, seed {seed}: ")?;
        match mean_return.zip(*standard_error) {
            Some((mean, error)) => {
                write!(f, "{} ± {} over {episodes} greedy episodes", Digits(mean), Digits(error))?;
            }
            None => write!(f, "not evaluated")?,
        }
        write!(f, " after {steps} steps{}", if self.ended_early { ", the return asked for" } else { "" })
    }
}

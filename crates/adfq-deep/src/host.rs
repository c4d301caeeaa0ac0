//! What a configuration only names, and what the machine has: environments, algorithms, memory. None of it decides what is
//! learned; that is the [`Config`]'s.

use crate::algorithm::Algorithms;
use crate::{Config, Result};
use adfq_env::{Env, EnvSpec, Envs, Purpose, Registry};
use adfq_files::memory;

/// What a run finds where it is made.
#[derive(Clone, Debug, Default)]
pub struct Host {
    /// The memory that a run may take, where that is known: what needs more is refused.
    pub memory: Option<u64>,
    /// Whether the frames of replay memories lie on a GPU, and take none of that memory.
    pub frames_on_gpu: bool,
    /// The environments that are known by name, and how worker processes are run.
    pub registry: Registry,
    /// The algorithms that are known by name.
    pub algorithms: Algorithms,
    /// How often a run may start environments of other processes anew that fail. The episodes under way in them are cut off,
    /// as where a run is resumed.
    pub restarts: u64,
}

impl Host {
    /// This machine, with the memory it has left now.
    pub fn here() -> Self {
        Self { memory: memory::available(), ..Self::default() }
    }

    /// Whether a configuration makes sense, the settings of its algorithm included.
    pub fn check(&self, config: &Config) -> Result<()> {
        config.check()?;
        self.algorithms.get(&config.agent)?.check(config)
    }

    /// The environments to train in.
    pub fn envs(&self, config: &Config) -> Result<Box<dyn Envs>> {
        let spec = EnvSpec {
            name: config.env.clone(),
            args: config.env_args.clone(),
            wrappers: config.wrappers.clone(),
            purpose: Purpose::Training,
            pictures: false,
        };
        Ok(self.registry.envs(&spec, config.envs)?)
    }

    /// The environment to evaluate in; with `pictures` it can be rendered.
    pub fn env(&self, config: &Config, pictures: bool) -> Result<Box<dyn Env>> {
        let spec = EnvSpec {
            name: config.env.clone(),
            args: config.evaluation_args(),
            wrappers: config.wrappers.clone(),
            purpose: Purpose::Evaluation,
            pictures,
        };
        Ok(self.registry.env(&spec)?)
    }
}

//! What the machine gives to a run: memory, and the processes of environments that are not ours. None of it decides what
//! is learned; that is the [`Config`]'s.

use crate::{Config, Result};
use adfq_env::{Bridge, Env, Envs, Maker, Purpose};
use adfq_files::memory;

/// The machine, as far as a run depends on it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Host {
    /// The memory that a run may take, where that is known: what needs more is refused.
    pub memory: Option<u64>,
    /// How worker processes are run.
    pub bridge: Bridge,
}

impl Host {
    /// This machine, with the memory it has left now.
    pub fn here() -> Self {
        Self { memory: memory::available(), ..Self::default() }
    }

    /// The environments to train in.
    pub fn envs(&self, config: &Config) -> Result<Box<dyn Envs>> {
        Ok(self.maker(config, Purpose::Training).envs(config.envs)?)
    }

    /// The environment to evaluate in; with `pictures` it can be rendered.
    pub fn env(&self, config: &Config, pictures: bool) -> Result<Box<dyn Env>> {
        Ok(Maker { pictures, ..self.maker(config, Purpose::Evaluation) }.env()?)
    }

    fn maker(&self, config: &Config, purpose: Purpose) -> Maker {
        let (name, args, bridge) = (config.env.clone(), config.env_args.clone(), self.bridge.clone());
        Maker { name, args, purpose, bridge, pictures: false }
    }
}

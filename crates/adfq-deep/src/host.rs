//! What the machine gives to a run: memory, and the processes of environments that are not ours. None of it decides what
//! is learned; that is the [`Config`]'s.

use crate::{Config, Result};
use adfq_env::{Args, Bridge, Env, Envs, Maker, Purpose};
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
        Ok(self.maker(&config.env, &config.env_args, Purpose::Training).envs(config.envs)?)
    }

    /// The environment to evaluate in; with `pictures` it can be rendered.
    pub fn env(&self, config: &Config, pictures: bool) -> Result<Box<dyn Env>> {
        let maker = self.maker(&config.env, &config.env_args, Purpose::Evaluation);
        Ok(Maker { pictures, ..maker }.env()?)
    }

    /// How an environment is made here, before there is a configuration: presets ask for its space.
    pub fn maker(&self, env: &str, args: &Args, purpose: Purpose) -> Maker {
        let (args, bridge) = (args.clone(), self.bridge.clone());
        Maker { name: env.to_owned(), args, purpose, bridge, pictures: false }
    }
}

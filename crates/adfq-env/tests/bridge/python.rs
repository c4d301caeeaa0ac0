//! Environments of the tests, and the Python that runs them.

pub use super::interpreter::python;
use adfq_env::{Args, Env, EnvSpec, Envs, Gym, Registry, Result};
use std::path::PathBuf;

/// What to make, and how its worker is run.
pub struct Maker {
    pub spec: EnvSpec,
    pub gym: Gym,
}

impl Maker {
    pub fn env(&self) -> Result<Box<dyn Env>> {
        self.registry().env(&self.spec)
    }

    pub fn envs(&self, count: usize) -> Result<Box<dyn Envs>> {
        self.registry().envs(&self.spec, count)
    }

    fn registry(&self) -> Registry {
        Registry::with_gym(self.gym.clone())
    }
}

/// An environment of `envs.py`, or of Gymnasium itself.
pub fn maker(python: PathBuf, name: &str, args: serde_json::Value) -> Maker {
    let args: Args = serde_json::from_value(args).unwrap();
    let gym = Gym { python: Some(python), ..Gym::default() };
    Maker { spec: EnvSpec { args, ..EnvSpec::new(name) }, gym }
}

/// An environment of `envs.py`: tests run in the folder of the crate, where Python looks last.
pub fn own(python: PathBuf, class: &str, args: serde_json::Value) -> Maker {
    maker(python, &format!("gym:tests.bridge.envs:{class}-v0"), args)
}

//! How environments are made: by name, with arguments, for training or for evaluation.

use crate::bridge::{self, Kind};
use crate::registry::make_own;
use crate::{Bridge, Env, Envs, Error, Result, VecEnv};

/// Arguments of an environment, as JSON: what `gymnasium.make` takes by keyword.
pub type Args = serde_json::Map<String, serde_json::Value>;

/// What an environment is for. It matters where training sees more ends than there are: on Atari a lost life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// Learning from what happens.
    #[default]
    Training,
    /// Measuring what was learned: real ends alone.
    Evaluation,
}

/// Everything that has to be said to make an environment.
///
/// ```
/// use adfq_env::{Maker, Purpose};
///
/// let maker = Maker { purpose: Purpose::Evaluation, ..Maker::new("cartpole") };
/// assert_eq!(maker.env()?.space().actions, 2);
/// assert_eq!(maker.envs(4)?.len(), 4);
/// # Ok::<(), adfq_env::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Maker {
    /// The name, as [`crate::make`] knows it.
    pub name: String,
    /// Arguments; our own environments have none.
    pub args: Args,
    /// What for.
    pub purpose: Purpose,
    /// Whether [`Env::render`] will be asked for: Gymnasium has to know beforehand.
    pub pictures: bool,
    /// How worker processes are run, if the environment needs one.
    pub bridge: Bridge,
}

impl Maker {
    /// For training, without arguments and without pictures.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// One environment.
    pub fn env(&self) -> Result<Box<dyn Env>> {
        if let Some((kind, id)) = Kind::of(&self.name) {
            return bridge::env(self, kind, id);
        }
        self.refuse_args()?;
        make_own(&self.name)
    }

    /// `count` environments side by side.
    pub fn envs(&self, count: usize) -> Result<Box<dyn Envs>> {
        if let Some((kind, id)) = Kind::of(&self.name) {
            return bridge::envs(self, kind, id, count);
        }
        self.refuse_args()?;
        Ok(Box::new(VecEnv::named(&self.name, count)?))
    }

    fn refuse_args(&self) -> Result<()> {
        match self.args.keys().next() {
            Some(arg) => Err(Error::Argument { env: self.name.clone(), arg: arg.clone() }),
            None => Ok(()),
        }
    }
}

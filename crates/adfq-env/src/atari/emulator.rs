//! Who plays a game of Atari: the console of this crate, or ALE in a worker process.

use super::{Atari, Game, Settings, roms};
use crate::gym::Kind;
use crate::{EnvSpec, Error, Gym, Result};
use std::path::Path;

/// Who plays a game of Atari.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emulator {
    /// The console of this crate.
    Native,
    /// ALE, in the user's Python.
    Ale,
}

impl Emulator {
    /// The argument of an environment that says it, with the value `"native"` or `"ale"`.
    pub const ARGUMENT: &'static str = "emulator";

    /// What it is called in arguments.
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Ale => "ale",
        }
    }

    /// Who plays this environment, if it is a game of Atari. Where the arguments do not say it, that is the console of this crate for
    /// games that it plays exactly, with settings that it has.
    ///
    /// ```
    /// use adfq_env::EnvSpec;
    /// use adfq_env::atari::Emulator;
    ///
    /// let who = |name: &str| Emulator::of(&EnvSpec::new(name));
    /// assert_eq!(who("atari:pong")?, Some(Emulator::Native));
    /// assert_eq!(who("atari:pacman")?, Some(Emulator::Ale));
    /// assert_eq!(who("cartpole")?, None);
    /// # Ok::<(), adfq_env::Error>(())
    /// ```
    pub fn of(spec: &EnvSpec) -> Result<Option<Self>> {
        if !matches!(Kind::of(&spec.name), Some((Kind::Atari, _))) {
            return Ok(None);
        }
        let emulator =
            match spec.args.get(Self::ARGUMENT) {
                None if native(spec).is_ok() => Self::Native,
                None => Self::Ale,
                Some(value) => [Self::Native, Self::Ale]
                    .into_iter()
                    .find(|emulator| *value == emulator.name())
                    .ok_or_else(|| Error::Emulator { env: spec.name.clone(), value: value.to_string() })?,
            };
        Ok(Some(emulator))
    }
}

/// The game and its settings, if the console of this crate can play it.
fn native(spec: &EnvSpec) -> Result<(&'static Game, Settings)> {
    let refused = |reason: String| Error::Atari { env: spec.name.clone(), reason };
    let id = spec.name.split_once(':').map_or("", |(_, id)| id).to_lowercase().replace('-', "_");
    let games = Game::all().len();
    let game = Game::named(&id).ok_or_else(|| {
        refused(format!(
            "it is not one of the {games} games that are known to be exact (docs/atari.md lists them)"
        ))
    })?;
    Ok((game, Settings::from_args(&spec.args, Emulator::ARGUMENT).map_err(refused)?))
}

/// The environment on the console of this crate.
pub(crate) fn env(spec: &EnvSpec, folder: Option<&Path>, gym: &Gym) -> Result<Atari> {
    let (game, settings) = native(spec)?;
    Atari::new(game, &roms::rom(game, folder, gym)?, settings, spec.purpose)
}

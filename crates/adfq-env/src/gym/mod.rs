//! Environments of Python's Gymnasium, and Atari, in worker processes.
//!
//! The program starts a script that is part of it (`worker.py` with `modules.py` and `spaces.py`) with the user's own Python,
//! and asks it for M environments. The worker describes their spaces; the program then shares memory with it ([`memory`]): actions, rewards, ends and frames
//! lie there, where the trainer reads them without a copy. A vector step is a new ticket in that memory and its echo, and
//! a byte over a socket to wake who has gone to sleep. Several workers may share one memory, each serving a part of the
//! environments.
//!
//! ```text
//! program                                   worker
//!    ── what to make ──────────────────────▶
//!    ◀───────────────── frames, actions ────
//!    ── shared memory and its layout ──────▶
//!    ── reset, seeds ──────────────────────▶
//!    ── actions, a ticket ─────────────────▶ steps every environment
//!    ◀─────────── frames, rewards, ends ────
//! ```
//!
//! A worker that raises, hangs or dies becomes an error, never a panic, and is gone when the error is returned. It can be
//! started anew ([`Envs::restart`]). A program that dies takes its workers and their children with it: their standard input
//! is a pipe from the program, and its closing ends them. The memory has no name, so nothing can be left behind.

#[cfg(unix)]
mod envs;
mod failure;
#[cfg(unix)]
mod memory;
mod python;
#[cfg(unix)]
mod worker;

pub use failure::python_refused;

use crate::{Env, EnvSpec, Envs, Result};
use serde::Serialize;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// The Python code by which workers make and step environments, without what talks to the program. A program with a Python of
/// its own can run it there: `Gym(order)` makes environments, `use(memory)` tells them where actions and frames lie.
pub const PYTHON: &str =
    concat!(include_str!("environments.py"), include_str!("modules.py"), include_str!("spaces.py"));

/// How worker processes are run. None of it changes what happens in the environments.
///
/// ```
/// use adfq_env::Gym;
/// use std::time::Duration;
///
/// let patient = Gym { timeout: Duration::from_secs(600), ..Gym::default() };
/// assert_eq!(patient.workers.get(), 1);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gym {
    /// The Python interpreter; without one, that of the active virtual environment, or else `python3`.
    pub python: Option<PathBuf>,
    /// Folders in which Python looks for packages before all others.
    pub path: Vec<PathBuf>,
    /// Which modules may be imported for a name such as `gym:my_module:MyEnv-v0`.
    pub modules: Modules,
    /// Over how many processes the environments are spread.
    pub workers: NonZeroUsize,
    /// How long a worker may take to answer before it counts as hung. To start it has a minute at least.
    pub timeout: Duration,
    /// Whether program and worker look for each other before they sleep, for up to a millisecond: a small environment's
    /// step is over in less than waking up takes. It needs Linux, and a processor that keeps the order of writes (x86-64).
    pub spin: bool,
}

impl Default for Gym {
    fn default() -> Self {
        let (workers, timeout) = (NonZeroUsize::MIN, Duration::from_secs(60));
        let spin = cfg!(all(target_arch = "x86_64", target_os = "linux"));
        Self { python: None, path: vec![], modules: Modules::default(), workers, timeout, spin }
    }
}

/// Which modules a worker may import because the name of an environment asks for one. Importing a module runs its code.
///
/// For names without a module, and for `atari:`, the current folder is never looked into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Modules {
    /// Any that Python finds, and one in the current folder if it finds none. For names that the user gives.
    #[default]
    Any,
    /// Installed packages, and those in [`Gym::path`]. For names from a file that may be a stranger's.
    Installed,
}

/// What a worker can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An environment of Gymnasium, by its id.
    Gym,
    /// A game of ALE, by the name of its ROM.
    Atari,
}

impl Kind {
    /// What a name asks for, if it asks for a worker: `gym:ID` or `atari:GAME`.
    pub fn of(name: &str) -> Option<(Self, &str)> {
        let gym = name.strip_prefix("gym:").map(|id| (Self::Gym, id));
        gym.or_else(|| name.strip_prefix("atari:").map(|game| (Self::Atari, game)))
    }

    fn name(self) -> &'static str {
        match self {
            Self::Gym => "gym",
            Self::Atari => "atari",
        }
    }
}

/// One environment in a worker of its own.
#[cfg(unix)]
pub(crate) fn env(spec: &EnvSpec, gym: &Gym, kind: Kind, id: &str) -> Result<Box<dyn Env>> {
    Ok(Box::new(envs::OutsideEnv::new(spec, gym, kind, id)?))
}

/// `count` environments in workers.
#[cfg(unix)]
pub(crate) fn envs(spec: &EnvSpec, gym: &Gym, kind: Kind, id: &str, count: usize) -> Result<Box<dyn Envs>> {
    Ok(Box::new(envs::OutsideEnvs::new(spec, gym, kind, id, count)?))
}

#[cfg(not(unix))]
pub(crate) fn env(spec: &EnvSpec, _: &Gym, _: Kind, _: &str) -> Result<Box<dyn Env>> {
    Err(crate::Error::System { env: spec.name.clone() })
}

#[cfg(not(unix))]
pub(crate) fn envs(spec: &EnvSpec, _: &Gym, _: Kind, _: &str, _: usize) -> Result<Box<dyn Envs>> {
    Err(crate::Error::System { env: spec.name.clone() })
}

//! Environments of Python's Gymnasium, in worker processes.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// How worker processes are run. None of it changes what happens in the environments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bridge {
    /// The Python interpreter; without one, that of the active virtual environment, or else `python3`.
    pub python: Option<PathBuf>,
    /// Over how many processes the environments are spread.
    pub workers: NonZeroUsize,
    /// How long a worker may take to answer before it counts as hung.
    pub timeout: Duration,
}

impl Default for Bridge {
    fn default() -> Self {
        Self { python: None, workers: NonZeroUsize::MIN, timeout: Duration::from_secs(60) }
    }
}

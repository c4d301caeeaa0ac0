//! The machine, as the command line describes it: which Python runs environments that are not ours, and how.

use adfq_deep::Host;
use adfq_env::{Gym, Registry};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

// What `train` and `eval` have in common. No doc comment: clap would make it the help text of both.
#[derive(clap::Args)]
pub struct HostArgs {
    /// The folder of ROMs for atari: games [default: $ADFQ_ROMS, or those of ale-py]
    #[arg(long, value_name = "DIR")]
    roms: Option<PathBuf>,
    /// The Python for gym: and atari: [default: that of the active virtual environment, or else python3]
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// How long an environment in another process may take to answer
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    worker_timeout: u64,
}

/// Who can play a game of Atari.
pub const EMULATORS: [&str; 2] = ["native", "ale"];

/// Threads or processes for each core, beyond which they only get in each other's way.
const PER_CORE: usize = 32;

/// A number of threads or processes that this machine can use.
pub fn parse_threads(text: &str) -> Result<NonZeroUsize, String> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let most = cores.saturating_mul(PER_CORE);
    let number: NonZeroUsize = text.parse().map_err(|_| format!("it is a number from 1 to {most}"))?;
    match number.get() <= most {
        true => Ok(number),
        false => Err(format!("this machine has {cores} cores: ask for at most {most}")),
    }
}

impl HostArgs {
    /// This machine.
    pub fn host(&self) -> Host {
        let timeout = Duration::from_secs(self.worker_timeout);
        let gym = Gym { python: self.python.clone(), timeout, ..Gym::default() };
        let mut registry = Registry::with_gym(gym);
        registry.roms = self.roms.clone();
        Host { registry, ..Host::here() }
    }
}

//! What can go wrong in this crate, and what to do about it.

use crate::replay::ReplayError;
use std::path::{Path, PathBuf};

/// The errors of the crate `adfq-deep`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting outside of its range.
    #[error("the setting {name} must be {must}")]
    Setting {
        /// The field, as in `config.toml`.
        name: &'static str,
        /// What it must be.
        must: &'static str,
    },
    /// An algorithm that there is not.
    #[error("there is no agent {name:?}; there are {known}")]
    Agent {
        /// The name asked for.
        name: String,
        /// Those there are.
        known: String,
    },
    /// A policy that an algorithm cannot follow.
    #[error("the agent {agent} cannot follow the policy {policy}; it knows {known}")]
    Policy {
        /// The policy.
        policy: String,
        /// The algorithm.
        agent: String,
        /// The policies it knows.
        known: String,
    },
    /// A device that cannot be used.
    #[error("{0} cannot be used: this program was built without CUDA")]
    NoCuda(String),
    /// Threads that the system does not give.
    #[error("the threads of the networks cannot be started: {0}")]
    Threads(String),
    /// Something that cannot be written down.
    #[error("it cannot be saved: {0}")]
    State(String),
    /// Rollouts in an environment that cannot be put back into a state it was in.
    #[error(
        "rollouts start from saved states, and {env} cannot be saved; those of gym: and atari: never can, and \
         another one needs Env::save and Env::restore"
    )]
    Unsaveable {
        /// The environment.
        env: String,
    },
    /// Text that is not a configuration.
    #[error("the configuration cannot be read: {0}")]
    Toml(String),
    /// A configuration file with a mistake in it.
    #[error("{}: {source}", path.display())]
    ConfigFile {
        /// The file.
        path: PathBuf,
        /// The mistake.
        source: Box<Error>,
    },
    /// A preset that there is not.
    #[error("there is no preset {name:?}; there are {known}")]
    Preset {
        /// The name asked for.
        name: String,
        /// Those there are.
        known: String,
    },
    /// The Atari preset for something else.
    #[error(
        "the preset atari-paper is for the games of Atari (atari:GAME), and {0} is none: use paper or default"
    )]
    NotAtari(String),
    /// More memory than there is.
    #[error(
        "the replay memory needs {needed} and this machine has {available} left; ask for a smaller \
             replay capacity: {fits} would fit"
    )]
    Memory {
        /// What it would take.
        needed: Bytes,
        /// What there is.
        available: Bytes,
        /// How many transitions would fit.
        fits: usize,
    },
    /// More memory than there is, for something else than the replay memory.
    #[error(
        "this run needs {needed} and this machine has {available} left; its {what} take {part} of it; ask for {less}"
    )]
    Needs {
        /// The part that takes most.
        what: &'static str,
        /// What that part takes.
        part: Bytes,
        /// What the run takes.
        needed: Bytes,
        /// What there is.
        available: Bytes,
        /// What makes that part smaller.
        less: &'static str,
    },
    /// Observations that no memory can hold.
    #[error("{stack} frames of the shape {frame} are more numbers than any machine has")]
    SpaceSize {
        /// The shape of one frame.
        frame: String,
        /// Frames of an observation.
        stack: usize,
    },
    /// A network and an environment that do not belong together.
    #[error(
        "the network is one for observations of {network}, but the environment has {env}: it has changed"
    )]
    Space {
        /// What the network takes.
        network: String,
        /// What the environment gives.
        env: String,
    },
    /// An environment to evaluate in that is not one for the agent.
    #[error(
        "the environment to evaluate in has observations of {evaluation}, but the one to train in has {training}: both must be alike (evaluation.env_args)"
    )]
    EvaluationSpace {
        /// What is trained in.
        training: String,
        /// What is evaluated in.
        evaluation: String,
    },
    /// An observation of another length.
    #[error("an observation has {needed} numbers, and here are {found}")]
    Observation {
        /// Numbers that the network takes.
        needed: usize,
        /// Numbers given.
        found: usize,
    },
    /// An observation that is not made of numbers.
    #[error("number {at} of the observation is {value}")]
    ObservationNumber {
        /// Which one, from 0.
        at: usize,
        /// Its value.
        value: f32,
    },
    /// An observation that is not made of bytes.
    #[error("number {at} of the observation is {value}, and must be a whole number from 0 to 255")]
    ObservationByte {
        /// Which one, from 0.
        at: usize,
        /// Its value.
        value: f64,
    },
    /// Beliefs that other programs cannot compute from the network.
    #[error("what {agent} believes is more than its network gives, and cannot be written as ONNX")]
    NoReadout {
        /// The algorithm.
        agent: String,
    },
    /// Learning went astray.
    #[error("the {quantity} is not finite at step {step}; {}", last_good(good.as_deref()))]
    Diverged {
        /// What was NaN or infinite.
        quantity: &'static str,
        /// The environment step.
        step: u64,
        /// The last checkpoint before it, where there is one.
        good: Option<PathBuf>,
    },
    /// An environment failed in the midst of training.
    #[error("{source}{}", last_checkpoint(source, good.as_deref()))]
    Stopped {
        /// What it said.
        source: Box<adfq_env::Error>,
        /// The run folder.
        folder: PathBuf,
        /// The last checkpoint, where there is one.
        good: Option<PathBuf>,
    },
    /// The disk is full.
    #[error("the disk is full: {} needs {needed} bytes; free some space{}", path.display(),
            named_checkpoint("; ", good.as_deref()))]
    DiskFull {
        /// The file that was being written.
        path: PathBuf,
        /// The size of the whole file.
        needed: u64,
        /// The run folder, from which the run can be taken up again.
        folder: PathBuf,
        /// The last checkpoint, where there is one.
        good: Option<PathBuf>,
    },
    /// A piece of the replay memory that cannot be read.
    #[error("{source}; what environment {env} did up to step {until} cannot be remembered without it")]
    Segment {
        /// What is wrong with the file.
        source: Box<adfq_files::Error>,
        /// The run folder.
        folder: PathBuf,
        /// The environment whose steps it holds.
        env: usize,
        /// The step of the run at which it was written.
        until: u64,
    },
    /// A folder that is not a run.
    #[error("{} is not a run: {reason}", path.display())]
    NotARun {
        /// The folder.
        path: PathBuf,
        /// What is missing.
        reason: String,
    },
    /// A run without the checkpoint asked for.
    #[error("{} cannot be loaded: {reason}", path.display())]
    NoCheckpoint {
        /// The folder.
        path: PathBuf,
        /// What is missing.
        reason: String,
    },
    /// A run that is to be made longer, but not by this.
    #[error("{} has {steps} steps already; give more to train it longer", path.display())]
    NotLonger {
        /// The folder.
        path: PathBuf,
        /// The steps it has.
        steps: u64,
    },
    /// A run that reached the return at which it was to end.
    #[error("{} ended at step {step} because it had reached evaluation.stop_at; it cannot be made longer", path.display())]
    EndedEarly {
        /// The folder.
        path: PathBuf,
        /// Where it ended.
        step: u64,
    },
    /// A folder that is a run already.
    #[error("{} holds a run already; resume it, or choose another folder", path.display())]
    RunExists {
        /// The folder.
        path: PathBuf,
    },
    /// A folder that holds something else.
    #[error("{} is not empty: it holds {}; choose another folder", path.display(), found.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
        /// Something in it.
        found: PathBuf,
    },
    /// A folder that is another run.
    #[error("{} holds a run with another configuration; choose another folder", path.display())]
    OtherRun {
        /// The folder.
        path: PathBuf,
    },
    /// What a run failed with, told once more.
    #[error("{0}")]
    Group(String),
    /// A checkpoint whose contents do not fit together.
    #[error("the checkpoint {} does not fit this run: {reason}", path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        reason: String,
    },
    /// A configuration that is no longer that of the run's checkpoints.
    #[error(
        "the checkpoint {} does not fit this run: config.toml was changed after the run began; undo the change, or \
             start a new run",
        path.display()
    )]
    ConfigChanged {
        /// The checkpoint.
        path: PathBuf,
    },
    /// From the mathematics.
    #[error(transparent)]
    Update(#[from] adfq::Error),
    /// From the environment.
    #[error(transparent)]
    Env(#[from] adfq_env::Error),
    /// From the network.
    #[error(transparent)]
    Network(#[from] adfq_nn::Error),
    /// From the replay memory.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// From the file system.
    #[error(transparent)]
    File(#[from] adfq_files::Error),
}

impl Error {
    /// A mistake in the configuration file at this path.
    pub(crate) fn in_file(path: &Path, source: Self) -> Self {
        Self::ConfigFile { path: path.to_owned(), source: Box::new(source) }
    }
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

fn last_good(good: Option<&Path>) -> String {
    match good {
        Some(path) => format!("the last good checkpoint is {}; try a smaller learning rate", path.display()),
        None => "there is no checkpoint before it; try a smaller learning rate".to_owned(),
    }
}

/// A traceback keeps its lines to itself.
fn last_checkpoint(source: &adfq_env::Error, good: Option<&Path>) -> String {
    let apart = if source.to_string().contains('\n') { "\n" } else { "; " };
    named_checkpoint(apart, good)
}

fn named_checkpoint(apart: &str, good: Option<&Path>) -> String {
    match good {
        Some(path) => format!("{apart}the last checkpoint is {}", path.display()),
        None => format!("{apart}there is no checkpoint yet"),
    }
}

/// A number of bytes, printed for people.
///
/// ```
/// use adfq_deep::Bytes;
///
/// assert_eq!(Bytes(7_056_000_000).to_string(), "7.1 GB");
/// assert_eq!(Bytes(512).to_string(), "512 bytes");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

impl std::fmt::Display for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (unit, size) in [("EB", 1e18), ("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)]
        {
            if self.0 as f64 >= size {
                return write!(f, "{:.1} {unit}", self.0 as f64 / size);
            }
        }
        write!(f, "{} bytes", self.0)
    }
}

//! What can go wrong in an environment.

use std::io;
use std::path::PathBuf;

/// The errors of the crate `adfq-env`.
///
/// ```
/// let error = adfq_env::make("cartpol").err().unwrap();
/// assert!(error.to_string().starts_with("there is no environment \"cartpol\"; did you mean \"cartpole\"?"));
/// assert!(matches!(error, adfq_env::Error::Name { closest, .. } if closest == "cartpole"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An action that the environment does not have.
    #[error("there is no action {action}: the environment has {actions}, counted from 0")]
    Action {
        /// The action asked for.
        action: usize,
        /// How many there are.
        actions: usize,
    },
    /// A buffer that is not as long as a frame.
    #[error("the buffer for the frame has {bytes} bytes, but a frame has {expected}: see Space::frame_bytes")]
    Frame {
        /// The length of the buffer.
        bytes: usize,
        /// The length of a frame.
        expected: usize,
    },
    /// A step before the first reset, or after one that ended the episode.
    #[error("there is no episode to take a step in: reset the environment first, and after each end")]
    NoEpisode,
    /// A saved state that this environment cannot take up.
    #[error("the saved state is not one of {env}: {reason}; it was saved by another environment or version")]
    State {
        /// The environment that was to take it up.
        env: String,
        /// What does not fit.
        reason: String,
    },
    /// An environment without [`Env::restore`](crate::Env::restore).
    #[error("this environment cannot restore a saved state: it does not implement Env::restore")]
    NoRestore,
    /// An environment without [`Env::reseed`](crate::Env::reseed).
    #[error("this environment cannot draw its chance anew: it does not implement Env::reseed")]
    NoReseed,
    /// An environment without [`Env::render`](crate::Env::render).
    #[error("this environment draws no picture: it does not implement Env::render")]
    NoPicture,
    /// A space without numbers or without actions.
    #[error(
        "the environment has {numbers} numbers a frame and {actions} actions: it needs at least one of each"
    )]
    EmptySpace {
        /// Numbers of a frame.
        numbers: usize,
        /// How many actions there are.
        actions: usize,
    },
    /// Numbers that are not as many as a frame has.
    #[error("{numbers} numbers do not make a frame: it has {expected}")]
    Numbers {
        /// How many there were.
        numbers: usize,
        /// How many a frame has.
        expected: usize,
    },
    /// What went wrong in an environment of the user's; see [`Error::other`].
    #[error(transparent)]
    Other(Box<dyn std::error::Error + Send + Sync>),
    /// A physical state outside of the environment's.
    #[error("{env} has no state with a {quantity} of {value}: it must be {range}")]
    Physics {
        /// The environment.
        env: &'static str,
        /// Which number of the state is to blame.
        quantity: &'static str,
        /// That number.
        value: f64,
        /// What it must be.
        range: &'static str,
    },
    /// A name that stands for no environment.
    #[error("there is no environment {name:?}{}: {known}", adfq::mdp::suggestion(closest))]
    Name {
        /// The name asked for.
        name: String,
        /// The known name that is most like it; empty if none is near.
        closest: String,
        /// All known names.
        known: String,
    },
    /// An argument for an environment that takes none.
    #[error("{env} takes no arguments, but {arg:?} was given: leave it out of EnvSpec::args")]
    Argument {
        /// The environment.
        env: String,
        /// The argument.
        arg: String,
    },
    /// An argument for an environment that takes others.
    #[error("{env} takes no argument {arg:?}: the one that it takes is {known:?}")]
    Arguments {
        /// The environment.
        env: String,
        /// The argument.
        arg: String,
        /// What it takes.
        known: &'static str,
    },
    /// MNIST without its images.
    #[error(
        "{env} shows the images of MNIST, which are not part of this project: download train-images-idx3-ubyte.gz and train-labels-idx1-ubyte.gz, and name their folder with the argument \"data\" (env_args.data)"
    )]
    NoData {
        /// The environment.
        env: String,
    },
    /// A file of data that cannot be used.
    #[error("{} cannot be used: {reason}", path.display())]
    Data {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A finite MDP that cannot be made.
    #[error(transparent)]
    Mdp(#[from] adfq::Error),
    /// No Python to run a worker with.
    #[error(
        "there is no Python to run the environment with (tried {tried}): install Python 3.9 or later, activate a virtual environment, or name an interpreter (Gym::python)"
    )]
    NoPython {
        /// Where it was looked for.
        tried: String,
    },
    /// A folder without the ROM of a game.
    #[error(
        "there is no ROM of {env} in {}: {reason}; name a folder that has it (--roms DIR or ADFQ_ROMS), or install ale-py, which has them all",
        folder.display()
    )]
    Roms {
        /// The environment.
        env: String,
        /// Where it was looked for.
        folder: PathBuf,
        /// What is there instead.
        reason: String,
    },
    /// No ROMs, since there is no `ale-py`.
    #[error(
        "{env} needs the ROM of the game, and {python} has no ale-py to take it from; name a folder of ROMs (--roms DIR or ADFQ_ROMS), or install it with: {python} -m pip install 'ale-py>=0.12'",
        python = python.display()
    )]
    NoRoms {
        /// The environment.
        env: String,
        /// The interpreter.
        python: PathBuf,
    },
    /// A game that our own emulator does not play, or not so.
    #[error("{env} cannot be played without ALE: {reason}; --emulator ale plays it with ale-py")]
    Atari {
        /// The environment.
        env: String,
        /// Why.
        reason: String,
    },
    /// An emulator that there is not.
    #[error("the emulator of {env} cannot be {value}: it is \"native\", which is ours, or \"ale\"")]
    Emulator {
        /// The environment.
        env: String,
        /// What was asked for.
        value: String,
    },
    /// A system without the means for workers.
    #[error("{env} runs in a worker process, which this system is not supported for: use Linux or macOS")]
    System {
        /// The environment.
        env: String,
    },
    /// A worker that could not be started.
    #[error("cannot start {python}: {source}; name another interpreter (Gym::python)", python = python.display())]
    Start {
        /// The interpreter.
        python: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A package that the worker's Python lacks.
    #[error("{env} needs {package}, which {python} does not have; install it with: {python} -m pip install '{install}'", python = python.display())]
    Package {
        /// The environment.
        env: String,
        /// The interpreter.
        python: PathBuf,
        /// The package.
        package: String,
        /// What to tell pip.
        install: String,
    },
    /// Gymnasium cannot make the environment.
    #[error("{env} cannot be made: {reason}")]
    Gymnasium {
        /// The environment.
        env: String,
        /// Gymnasium's own words.
        reason: String,
    },
    /// Actions or observations that no agent here can deal with.
    #[error("the {what} of {env} are {space}: {reason}")]
    Space {
        /// The environment.
        env: String,
        /// Actions or observations.
        what: String,
        /// The space, as Gymnasium writes it.
        space: String,
        /// Why not, and what can be done.
        reason: String,
    },
    /// A wrapper that there is not, or that cannot be put around the environment.
    #[error("{env} cannot be wrapped with {wrapper:?}: {reason}")]
    Wrapper {
        /// The environment.
        env: String,
        /// The wrapper, as it was given.
        wrapper: String,
        /// Why.
        reason: String,
    },
    /// Wrappers for an environment that is not one of Gymnasium's.
    #[error("{env} cannot be wrapped with {wrapper:?}: wrappers are for gym: environments alone")]
    NoWrappers {
        /// The environment.
        env: String,
        /// The first wrapper.
        wrapper: String,
    },
    /// A wrapper that [`Gym::modules`](crate::Gym::modules) does not let in.
    #[error(
        "{env:?} is wrapped with {wrapper:?}, which {reason}: a name from a folder may be a stranger's; if you trust it, allow it (Gym::modules)"
    )]
    Stranger {
        /// The environment.
        env: String,
        /// The wrapper.
        wrapper: String,
        /// What it is or does.
        reason: String,
    },
    /// An environment that raised an exception.
    #[error("{env} raised {error}\n{traceback}")]
    Raised {
        /// The environment, and which one of several.
        env: String,
        /// The exception.
        error: String,
        /// Where it was raised.
        traceback: String,
    },
    /// An environment that does not answer.
    #[error(
        "{env} did not answer within {seconds} s, and its worker was ended: if it needs longer, raise the limit (Gym::timeout)"
    )]
    Hung {
        /// The environment.
        env: String,
        /// The time limit.
        seconds: f64,
    },
    /// A worker that is gone.
    #[error(
        "the worker process of {env} died ({status}): was it killed, or out of memory? what it printed is above"
    )]
    Died {
        /// The environment.
        env: String,
        /// How it ended.
        status: String,
    },
    /// A conversation with a worker that went wrong.
    #[error("the worker process of {env} cannot be talked to: {source}")]
    Talk {
        /// The environment.
        env: String,
        /// Why.
        source: io::Error,
    },
    /// An observation, a reward or an end that is not what the environment promised.
    #[error("{env} gave {what} (environment {index}): mend the environment, or wrap it")]
    Gave {
        /// The environment.
        env: String,
        /// Which one of several.
        index: usize,
        /// What was wrong.
        what: String,
    },
    /// A module that [`Gym::modules`](crate::Gym::modules) does not let in.
    #[error(
        "{name:?} imports the module {module:?}, which is {}: a name from a folder may be a stranger's, and importing runs code; if you trust it, allow it (Gym::modules)",
        file.as_ref().map_or("not an installed package".into(), |file| format!("{file:?} and not an installed package"))
    )]
    Untrusted {
        /// The environment or wrapper that asks for it.
        name: String,
        /// The module.
        module: String,
        /// Its file, if it is found where Python looks or in the current folder.
        file: Option<PathBuf>,
    },
    /// No memory to share with workers.
    #[error("cannot share {bytes} bytes of memory with a worker process: {source}; use fewer environments")]
    Memory {
        /// How much.
        bytes: usize,
        /// Why.
        source: io::Error,
    },
    /// A vector of environments needs at least one.
    #[error("there is no environment in the vector: give at least one")]
    Empty,
    /// The environments of one vector have to agree in frames and actions.
    #[error(
        "environment {index} of the vector has other frames or actions than environment 0: give each kind its own"
    )]
    Mixed {
        /// The first that differs.
        index: usize,
    },
    /// A vector of environments takes one action for each.
    #[error("there are {actions} actions for {environments} environments: give one each")]
    Actions {
        /// How many actions were given.
        actions: usize,
        /// How many environments there are.
        environments: usize,
    },
    /// A setting out of its range.
    #[error("{setting} cannot be {value}: it is {allowed}")]
    Setting {
        /// Which one.
        setting: &'static str,
        /// What it was to be.
        value: f64,
        /// What it can be.
        allowed: &'static str,
    },
}

impl Error {
    /// An error of an environment that is not of this crate.
    ///
    /// ```
    /// assert_eq!(adfq_env::Error::other("the robot is offline").to_string(), "the robot is offline");
    /// ```
    pub fn other(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Other(error.into())
    }
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

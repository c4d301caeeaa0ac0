//! What can go wrong in an environment.

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
    #[error("there is no environment {name:?}; did you mean {closest:?}? Known names: {known}")]
    Name {
        /// The name asked for.
        name: String,
        /// The known name that is most like it.
        closest: String,
        /// All known names.
        known: String,
    },
    /// An argument for an environment that takes none.
    #[error("{env} takes no arguments, but {arg:?} was given: leave it out of env_args")]
    Argument {
        /// The environment.
        env: String,
        /// The argument.
        arg: String,
    },
    /// A finite MDP that cannot be made.
    #[error(transparent)]
    Mdp(#[from] adfq::Error),
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

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

//! What can go wrong in an environment.

/// The errors of the crate `adfq-env`.
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
    /// A saved state that this environment cannot take up.
    #[error("the saved state is not one of {env}: {reason}; it was saved by another environment or version")]
    State {
        /// The environment that was to take it up.
        env: String,
        /// What does not fit.
        reason: String,
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

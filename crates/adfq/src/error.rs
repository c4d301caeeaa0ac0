//! What can go wrong in this crate, each with the value that is to blame and what to do about it.

/// The errors of the crate `adfq`.
///
/// ```
/// use adfq::{Belief, Error};
///
/// let error = Belief::new(0.0, -1.0).unwrap_err();
/// assert_eq!(error.to_string(), "the variance of a belief must be positive and finite, but it is -1");
/// assert!(matches!(error, Error::Variance(v) if v == -1.0));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A belief's mean is infinite or NaN.
    #[error("the mean of a belief must be finite, but it is {0}")]
    Mean(f64),
    /// A belief's variance is zero, negative, infinite or NaN.
    #[error("the variance of a belief must be positive and finite, but it is {0}")]
    Variance(f64),
    /// A setting of an agent, a policy or a prior is outside what it may be.
    #[error("the setting `{name}` must be {need}, but it is {value}")]
    Setting {
        /// The setting's name.
        name: &'static str,
        /// The value it was given.
        value: f64,
        /// What it may be.
        need: &'static str,
    },
    /// A state or an action that the table does not have.
    #[error("{what} {value} does not exist: the agent was built for {count}; pass one below that")]
    OutOfRange {
        /// "state", "action" or "next state".
        what: &'static str,
        /// The number that was passed.
        value: usize,
        /// How many there are.
        count: usize,
    },
    /// A reward is infinite or NaN.
    #[error("a reward must be finite, but it is {0}")]
    Reward(f64),
    /// Learning ran away: the agent's estimates are of no use any more.
    #[error(
        "{agent} diverged at step {step}: {quantity} is {value}; \
         record the run as diverged, or start again with a smaller prior variance or more noise"
    )]
    Diverged {
        /// Which agent.
        agent: &'static str,
        /// The number of its updates so far, this one included.
        step: u64,
        /// What left its bounds.
        quantity: &'static str,
        /// The value it took.
        value: f64,
    },
    /// A random walk met no positive reward from which a data-driven prior could start.
    #[error("a random walk of {0} steps met no positive reward; let it walk longer or choose another prior")]
    NoPositiveReward(u64),
}

/// A result whose error is the crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

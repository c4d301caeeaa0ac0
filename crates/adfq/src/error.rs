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
    /// A Markov decision process, its file, its name or its solution.
    #[error(transparent)]
    Mdp(#[from] crate::mdp::MdpError),
}

/// A result whose error is, unless another is named, the crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

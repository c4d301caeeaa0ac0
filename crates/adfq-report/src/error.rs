//! What can go wrong in this crate. Each message names the value that is wrong.

/// The errors of the crate `adfq-report`.
///
/// ```
/// use adfq_report::{Error, stats::Bootstrap};
///
/// let error = Bootstrap::new(0, 0.95).unwrap_err();
/// assert_eq!(error.to_string(), "the number of bootstrap resamples must be at least 1, but it is 0");
/// assert!(matches!(error, Error::Resamples(0)));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The limits of an axis do not span a range on its scale.
    #[error(
        "the limits of the axis \"{axis}\" are {low} and {high}; they must be finite and increasing, \
             and positive on a logarithmic axis"
    )]
    Limits {
        /// The label of the axis.
        axis: String,
        /// The lower limit.
        low: f64,
        /// The upper limit.
        high: f64,
    },
    /// A row whose length is not the number of columns.
    #[error("a row of the table has {found} cells, but there are {expected} columns")]
    Row {
        /// The number of columns.
        expected: usize,
        /// The number of cells in the row.
        found: usize,
    },
    /// A statistic of nothing.
    #[error("{0} needs at least one value, but the sample is empty")]
    EmptySample(&'static str),
    /// A sample with a value that is NaN or infinite.
    #[error(
        "value {index} of the sample is {value}; leave diverged trials out or replace them before the statistics"
    )]
    Sample {
        /// The index of the value.
        index: usize,
        /// The value.
        value: f64,
    },
    /// Two samples that should be paired but are not of the same length.
    #[error("paired samples must have the same length, but they have {0} and {1} values")]
    Unpaired(usize, usize),
    /// A bootstrap without resamples.
    #[error("the number of bootstrap resamples must be at least 1, but it is {0}")]
    Resamples(usize),
    /// A confidence level outside (0, 1).
    #[error("the confidence level must lie between 0 and 1 (say 0.95), but it is {0}")]
    Level(f64),
}

/// A result whose error is the crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

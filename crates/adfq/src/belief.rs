//! A Gaussian belief over one Q-value: Q(s,a) ~ N(μ, σ²). How it changes lives in [`update`](crate::update).

use crate::{Error, Result};

/// A Gaussian belief N(μ, σ²) over one Q-value (paper §3.1), with a finite mean and a positive, finite variance.
///
/// ```
/// use adfq::Belief;
///
/// let belief = Belief::new(1.5, 4.0)?;
/// assert_eq!((belief.mean(), belief.var(), belief.sd()), (1.5, 4.0, 2.0));
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Belief {
    mean: f64,
    var: f64,
}

impl Belief {
    /// The standard normal.
    pub(crate) const STANDARD: Self = Self { mean: 0.0, var: 1.0 };

    /// A belief with the given mean and variance; the error names the value that cannot be one.
    #[inline]
    pub fn new(mean: f64, var: f64) -> Result<Self> {
        if !mean.is_finite() {
            return Err(Error::Mean(mean));
        }
        if !(var > 0.0 && var.is_finite()) {
            return Err(Error::Variance(var));
        }
        Ok(Self { mean, var })
    }

    /// A belief from numbers that a belief gave before.
    #[inline]
    pub(crate) fn trusted(mean: f64, var: f64) -> Self {
        debug_assert!(Self::new(mean, var).is_ok(), "N({mean}, {var})");
        Self { mean, var }
    }

    /// The mean μ.
    #[inline]
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The variance σ².
    #[inline]
    pub fn var(&self) -> f64 {
        self.var
    }

    /// The standard deviation σ.
    #[inline]
    pub fn sd(&self) -> f64 {
        self.var.sqrt()
    }
}

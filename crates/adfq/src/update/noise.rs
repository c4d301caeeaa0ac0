//! Observation noise W ~ N(0, σ_w²) on the target (paper §4.2 and App. D), as the paper approximates it and
//! exactly.
//!
//! The paper puts σ_w² into the PDF term of its likelihood only, which holds for σ_w ≪ σ_{s′,b}. The exact
//! posterior needs no new integral: with T = r + γV,
//!
//! ```text
//! p(q, T) ∝ N(q; μ₀, v₀) N(q; T, w) f_T(T) = N(T; μ₀, v₀ + w) · N(q; μ₀ + κ(T-μ₀), κw) · f_T(T),   κ = v₀/(v₀+w)
//! ```
//!
//! so the noise-free update with the prior variance v₀ + w gives the moments of T, and a linear map those of q.

use super::Moments;
use crate::{Belief, Error, Result};
use serde::{Deserialize, Serialize};

/// The noise on a target, with its variance σ_w².
///
/// ```
/// use adfq::update::{Noise, NoiseKind};
///
/// assert_eq!(Noise::Exact(0.5).var(), 0.5);
/// assert_eq!(NoiseKind::Approximate.with_var(0.5), Noise::Approximate(0.5));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Noise {
    /// No noise, σ_w = 0.
    #[default]
    None,
    /// The paper's approximate likelihood: σ_w² enters the PDF term alone.
    Approximate(f64),
    /// The noise convolved into the likelihood, without approximation.
    Exact(f64),
}

/// How noise is treated, without its variance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoiseKind {
    /// See [`Noise::None`].
    #[default]
    None,
    /// See [`Noise::Approximate`].
    Approximate,
    /// See [`Noise::Exact`].
    Exact,
}

impl NoiseKind {
    /// This kind of noise with the variance σ_w²; [`NoiseKind::None`] leaves it out.
    pub fn with_var(self, var_w: f64) -> Noise {
        match self {
            Self::None => Noise::None,
            Self::Approximate => Noise::Approximate(var_w),
            Self::Exact => Noise::Exact(var_w),
        }
    }
}

impl std::fmt::Display for NoiseKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::None => "no",
            Self::Approximate => "approximate",
            Self::Exact => "exact",
        })
    }
}

impl Noise {
    /// How the noise is treated.
    pub fn kind(&self) -> NoiseKind {
        match self {
            Self::None => NoiseKind::None,
            Self::Approximate(_) => NoiseKind::Approximate,
            Self::Exact(_) => NoiseKind::Exact,
        }
    }

    /// The variance σ_w²: 0 without noise.
    pub fn var(&self) -> f64 {
        match *self {
            Self::None => 0.0,
            Self::Approximate(var_w) | Self::Exact(var_w) => var_w,
        }
    }

    /// The variance, checked.
    #[inline]
    pub(crate) fn checked_var(&self) -> Result<f64> {
        let var_w = self.var();
        if !(var_w >= 0.0 && var_w.is_finite()) {
            return Err(Error::NoiseVariance(var_w));
        }
        Ok(var_w)
    }
}

/// The exact treatment of noise: a wider prior for T = r + γV, and the way back from T to q.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reduction {
    prior: Belief,
    w: f64,
    /// κ = v₀ / (v₀ + w).
    kappa: f64,
}

impl Reduction {
    /// The reduction for this prior and noise variance.
    #[inline]
    pub fn new(prior: Belief, w: f64) -> Self {
        Self { prior, w, kappa: prior.var() / (prior.var() + w) }
    }

    /// The prior on T: N(μ₀, v₀ + w).
    #[inline]
    pub fn widened(&self) -> Result<Belief> {
        Belief::new(self.prior.mean(), self.prior.var() + self.w)
    }

    /// From the moments of T to those of q: E = μ₀ + κ(E_T - μ₀), Var = κw + κ²V_T.
    #[inline]
    pub fn narrow(&self, of_t: Moments) -> Moments {
        let mu_0 = self.prior.mean();
        Moments {
            mean: mu_0 + self.kappa * (of_t.mean - mu_0),
            var: self.kappa * (self.w + self.kappa * of_t.var),
        }
    }
}

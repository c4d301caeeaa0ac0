//! The split update without a memory: one target at a time, as a filter.
//!
//! Followed is B(s,a) = E[r + γV(s′)] under today's V, which drifts while V is learned; a target is a noisy look at it.
//! Own is what the filter does not know about B, inherited what B does not know about Q*:
//!
//! ```text
//! u⁺ = u + δ max(0, c - t)            B has moved: by as much, in square, as V has become surer
//! α  = u⁺ / (u⁺ + w)                  gain
//! μ ← μ + α (T - μ)     u ← (1-α) u⁺     c ← (1-α) c + α t
//! ```
//!
//! A calibrated belief moves, in square and on average, by what its variance falls; so the fall c - t is the drift to
//! expect. As w → 0 this is the Bellman backup, as c → t averaging at the rate 1/n. Unlike with a tally, old targets
//! stay in the average, and where errors go round in circles they outlive the sureness that was to wash them out.

use super::Target;
use crate::{Error, Result};

/// What a filter knows about Q(s,a).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Streamed {
    /// The mean μ.
    pub mean: f64,
    /// What sampling has left open, u.
    pub own: f64,
    /// What is inherited from the next states, c.
    pub inherited: f64,
}

impl Streamed {
    /// The variance u + c.
    #[inline]
    pub fn var(&self) -> f64 {
        self.own + self.inherited
    }

    /// The belief after one target with noise w ≥ 0 (its count and scatter are not used). `drift` in [0, 1] is δ.
    ///
    /// ```
    /// use adfq::update::split::{Streamed, Target};
    ///
    /// let belief = Streamed { mean: 0.0, own: 4.0, inherited: 0.0 };
    /// let after = belief.after(&Target { count: 1.0, mean: 2.0, scatter: 0.0, var: 0.5 }, 4.0, 1.0)?;
    /// assert_eq!(after, Streamed { mean: 1.0, own: 2.0, inherited: 0.25 });
    /// # Ok::<(), adfq::Error>(())
    /// ```
    #[inline]
    pub fn after(&self, target: &Target, noise: f64, drift: f64) -> Result<Self> {
        if !(noise >= 0.0 && noise.is_finite()) {
            return Err(Error::NoiseVariance(noise));
        }
        if !(target.var >= 0.0 && target.var.is_finite()) {
            return Err(Error::TargetVariance(target.var));
        }
        let moved = self.own + drift * (self.inherited - target.var).max(0.0);
        // Without noise a single look tells all, also where there was nothing left to know.
        let gain = if noise == 0.0 { 1.0 } else { moved / (moved + noise) };
        let after = Self {
            mean: self.mean + gain * (target.mean - self.mean),
            own: gain * noise,
            inherited: self.inherited + gain * (target.var - self.inherited),
        };
        match after.mean.is_finite() && after.var().is_finite() {
            true => Ok(after),
            false => Err(Error::NotRepresentable { mean: after.mean, var: after.var() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNKNOWN: Streamed = Streamed { mean: 0.0, own: 1e12, inherited: 0.0 };

    fn target(mean: f64, var: f64) -> Target {
        Target { count: 1.0, mean, scatter: 0.0, var }
    }

    #[test]
    fn without_noise_it_is_the_bellman_backup() {
        let after = UNKNOWN.after(&target(3.0, 0.5), 0.0, 1.0).unwrap();
        assert_eq!(after, Streamed { mean: 3.0, own: 0.0, inherited: 0.5 });
        assert_eq!(after.after(&target(4.0, 0.1), 0.0, 1.0).unwrap().mean, 4.0);
    }

    /// While the next states stay as they are, targets are averaged: Q-learning at the rate 1/n.
    #[test]
    fn with_noise_alone_it_is_an_average() {
        let mut belief = UNKNOWN;
        for n in 1..=100 {
            belief = belief.after(&target(f64::from(n), 0.0), 2.0, 1.0).unwrap();
        }
        assert!((belief.mean - 50.5).abs() < 1e-6 && (belief.own - 0.02).abs() < 1e-9);
    }

    /// When the next states become surer, old targets lose their weight.
    #[test]
    fn drift_makes_it_forget() {
        let (vague, sure) = (target(0.0, 100.0), target(10.0, 0.0));
        let old = (0..100).fold(UNKNOWN, |belief, _| belief.after(&vague, 1.0, 1.0).unwrap());
        assert!(old.after(&sure, 1.0, 1.0).unwrap().mean > 9.8);
        assert!(old.after(&sure, 1.0, 0.0).unwrap().mean < 0.2);
    }

    #[test]
    fn what_is_no_target_is_an_error() {
        assert!(matches!(UNKNOWN.after(&target(0.0, -1.0), 1.0, 1.0), Err(Error::TargetVariance(_))));
        assert!(matches!(UNKNOWN.after(&target(0.0, 0.0), f64::NAN, 1.0), Err(Error::NoiseVariance(_))));
        assert!(matches!(
            UNKNOWN.after(&target(f64::NAN, 0.0), 1.0, 1.0),
            Err(Error::NotRepresentable { .. })
        ));
    }
}

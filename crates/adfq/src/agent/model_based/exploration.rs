//! How an agent with a model explores: which bonus a pair gets for having been tried n times.

use serde::{Deserialize, Serialize};

/// A way to explore. Bonuses are shares of the range R of all possible values, so one number fits tasks of any scale.
///
/// ```
/// use adfq::agent::Exploration;
///
/// let text = serde_json::to_string(&Exploration::Mbie { beta: 0.01 })?;
/// assert_eq!(text, r#"{"mbie":{"beta":0.01}}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exploration {
    /// No bonus: exploring is left to the policy, say ε-greedy.
    #[default]
    Policy,
    /// R-max (Brafman and Tennenholtz 2002): a pair tried less than so often is worth the most that is possible.
    RMax {
        /// The visits m after which a pair counts as known.
        visits: u32,
    },
    /// MBIE-EB (Strehl and Littman 2008): a bonus of βR/√n.
    Mbie {
        /// The share β.
        beta: f64,
    },
    /// BEB (Kolter and Ng 2009): a bonus of βR/(1 + n).
    Beb {
        /// The share β.
        beta: f64,
    },
    /// UCBVI with Bernstein bonuses (Azar, Osband and Munos 2017): c √(w/n) + c² R/n, where w is the variance of the targets
    /// r + γV⁺(s′) seen.
    Ucbvi {
        /// The width c, √(2 ln 1/δ) in Bernstein's inequality.
        c: f64,
    },
}

impl Exploration {
    /// The optimistic value of a pair from its targets; nothing where everything is possible.
    #[inline]
    pub(super) fn hope(self, targets: &Sample, range: f64) -> Option<f64> {
        let (n, mean) = (targets.count, targets.mean());
        let bonus = match self {
            Self::Policy => 0.0,
            Self::RMax { visits } if n < f64::from(visits) => return None,
            Self::RMax { .. } => 0.0,
            Self::Mbie { beta } => beta * range / n.sqrt(),
            Self::Beb { beta } => beta * range / (1.0 + n),
            Self::Ucbvi { c } => c * (targets.var() / n).sqrt() + c * c * range / n,
        };
        Some(mean + bonus)
    }
}

/// Targets of a pair, summed up.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sample {
    count: f64,
    mean: f64,
    scatter: f64,
}

impl Sample {
    /// Adds so many targets with this mean and this sum of squares about it (Chan, Golub and LeVeque 1979).
    #[inline]
    pub fn add(&mut self, count: f64, mean: f64, scatter: f64) {
        let (before, off) = (self.count, mean - self.mean);
        self.count += count;
        self.mean += off * count / self.count;
        self.scatter += scatter + off * off * before * count / self.count;
    }

    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The variance of the targets, as frequencies have it.
    pub fn var(&self) -> f64 {
        self.scatter / self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Targets 1, 1 and 4: mean 2, variance 2.
    fn three() -> Sample {
        let mut sample = Sample::default();
        sample.add(2.0, 1.0, 0.0);
        sample.add(1.0, 4.0, 0.0);
        sample
    }

    #[test]
    fn sums_are_the_moments_of_the_targets() {
        assert!((three().mean() - 2.0).abs() < 1e-12 && (three().var() - 2.0).abs() < 1e-12);
    }

    #[test]
    fn bonuses_are_those_of_the_papers() {
        let hope = |exploration: Exploration| exploration.hope(&three(), 10.0);
        assert_eq!(hope(Exploration::RMax { visits: 4 }), None);
        assert_eq!(hope(Exploration::RMax { visits: 3 }), Some(2.0));
        let close = |found: Option<f64>, expected: f64| (found.unwrap() - expected).abs() < 1e-12;
        assert!(close(hope(Exploration::Mbie { beta: 0.1 }), 2.0 + 1.0 / 3.0_f64.sqrt()));
        assert!(close(hope(Exploration::Beb { beta: 0.1 }), 2.25));
        assert!(close(hope(Exploration::Ucbvi { c: 0.5 }), 2.0 + 0.5 * (2.0_f64 / 3.0).sqrt() + 2.5 / 3.0));
    }
}

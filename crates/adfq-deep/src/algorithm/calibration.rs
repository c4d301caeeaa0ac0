//! Beliefs held against the returns that followed, while an agent trains.
//!
//! In an episode without exploration the discounted return G that followed on (s,a) is a sample of Q of the agent's own policy.
//! It is compared with the mean Q̂ that was believed when the action was taken. The variance v that the network gives says where
//! errors are to be expected, and not how large they are. Over the last steps
//!
//! ```text
//! κ = ¼ · quantile .9545 of (Q̂ - G)² / v              σ² = κ v
//! ```
//!
//! so that ±2σ held as many of these returns as a Gaussian should. A return is evidence that no bootstrapped target has touched,
//! and each step counts once, however often it is replayed.

use serde::{Deserialize, Serialize};

/// Steps whose errors are remembered.
const MEMORY: usize = 4_096;
/// Steps before anything is said.
const ENOUGH: usize = 64;
/// The probability of ±2σ.
const WITHIN: f64 = 0.9545;

/// What was believed when an action was taken, and what it paid.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Held {
    /// The variance before calibration.
    pub var: f32,
    /// The mean by the network, and by the table of pairs that were tried.
    pub means: [f32; 2],
    /// Which of them was believed.
    pub believed: usize,
    /// The reward that followed.
    pub reward: f32,
}

impl Held {
    /// The mean that was believed.
    pub fn mean(&self) -> f32 {
        self.means[self.believed]
    }
}

/// A step whose return is known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Error {
    /// The error of the mean that was believed.
    believed: f32,
    /// Its square as a multiple of the variance before calibration.
    ratio: f32,
    /// The squared errors of the network and of the table.
    squares: [f32; 2],
}

/// The last steps whose returns are known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Calibration {
    errors: Vec<Error>,
    /// Where the next one goes.
    next: usize,
    /// κ.
    ratio: f32,
    /// The largest error.
    worst: f32,
    /// Means of the squared errors of the network and of the table.
    squares: [f64; 2],
}

impl Default for Calibration {
    fn default() -> Self {
        Self { errors: vec![], next: 0, ratio: 1.0, worst: f32::INFINITY, squares: [0.0; 2] }
    }
}

impl Calibration {
    /// Takes in an episode. What lies beyond its last step is worth `beyond`, 0 where it terminated.
    pub fn learn(&mut self, steps: &[Held], discount: f32, beyond: f32) {
        let mut value = beyond;
        for step in steps.iter().rev() {
            value = step.reward + discount * value;
            let believed = step.mean() - value;
            let squares = step.means.map(|mean| (mean - value).powi(2));
            self.push(Error { believed, ratio: believed * believed / step.var, squares });
        }
        if self.errors.len() >= ENOUGH {
            self.look();
        }
    }

    fn push(&mut self, error: Error) {
        match self.errors.len() < MEMORY {
            true => self.errors.push(error),
            false => self.errors[self.next] = error,
        }
        self.next = (self.next + 1) % MEMORY;
    }

    /// Works out what is asked for at every step.
    fn look(&mut self) {
        let mut ratios: Vec<f32> = self.errors.iter().map(|error| error.ratio).collect();
        let rank = (WITHIN * (ratios.len() - 1) as f64) as usize;
        let (_, quantile, _) = ratios.select_nth_unstable_by(rank, f32::total_cmp);
        self.ratio = (*quantile / 4.0).clamp(f32::MIN_POSITIVE, f32::MAX);
        self.worst = self.errors.iter().fold(0.0, |worst, error| worst.max(error.believed.abs()));
        let mean = |of: usize| {
            let sum: f64 = self.errors.iter().map(|error| f64::from(error.squares[of])).sum();
            sum / self.errors.len() as f64
        };
        self.squares = [mean(0), mean(1)];
    }

    /// κ, and 1 before enough is known.
    pub fn ratio(&self) -> f32 {
        self.ratio
    }

    /// σ = √(κ v), and no more than the largest error that was seen.
    pub fn sd(&self, var: f32) -> f32 {
        (self.ratio * var).sqrt().min(self.worst)
    }

    /// Whether the table has been no worse than the network.
    pub fn prefers_table(&self) -> bool {
        self.squares[1] <= self.squares[0]
    }

    /// Mean and root mean square of the errors of what was believed. NaN before there are any.
    pub fn errors(&self) -> (f64, f64) {
        let count = self.errors.len() as f64;
        let sum = |of: fn(f64) -> f64| {
            self.errors.iter().map(|error| of(f64::from(error.believed))).sum::<f64>() / count
        };
        (sum(|error| error), sum(|error| error * error).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adfq::random::stream;
    use rand::RngExt;
    use rand_distr::StandardNormal;

    fn held(mean: f32, var: f32, reward: f32) -> Held {
        Held { var, means: [mean, 0.0], believed: 0, reward }
    }

    /// Errors have 3 times the sd that was said, whatever it was: σ becomes three times as large.
    #[test]
    fn two_sigma_hold_what_they_should() {
        let (mut calibration, mut rng) = (Calibration::default(), stream(5, "errors"));
        assert_eq!(calibration.ratio(), 1.0);
        for _ in 0..6_000 {
            let var = rng.random_range(0.1..4.0_f32);
            let error: f32 = rng.sample(StandardNormal);
            calibration.learn(&[held(3.0 * var.sqrt() * error, var, 0.0)], 0.9, 0.0);
        }
        // Over 4,096 steps the quantile of a squared normal number, 4, has an sd of .12.
        assert!((calibration.ratio() / 9.0 - 1.0).abs() < 4.0 * 0.12 / 4.0, "{}", calibration.ratio());
        // No error was as large as that of a variance of a million.
        assert!(calibration.sd(1e6) < 30.0 && (calibration.sd(1.0) - 3.0).abs() < 0.2);
    }

    #[test]
    fn errors_are_those_of_discounted_returns() {
        let mut calibration = Calibration::default();
        // Returns: 1 + .5 · (2 + .5 · 8) = 4, and 2 + .5 · 8 = 6.
        calibration.learn(&[held(5.0, 1.0, 1.0), held(4.0, 1.0, 2.0)], 0.5, 8.0);
        let (mean, rms) = calibration.errors();
        assert!((mean + 0.5).abs() < 1e-9 && (rms - 2.5_f64.sqrt()).abs() < 1e-9, "{mean} {rms}");
    }

    #[test]
    fn the_table_is_preferred_where_it_was_no_worse() {
        let mut calibration = Calibration::default();
        let both = |network, table| Held { var: 1.0, means: [network, table], believed: 0, reward: 1.0 };
        calibration.learn(&[both(3.0, 1.5); 100], 0.0, 0.0);
        assert!(calibration.prefers_table());
        calibration.learn(&[both(1.1, 2.0); MEMORY], 0.0, 0.0);
        assert!(!calibration.prefers_table());
    }
}

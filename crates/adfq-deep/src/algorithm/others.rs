//! How much more the actions err that were not the best.
//!
//! Returns tell how far off the best actions are, because it is those that an agent follows ([`Calibration`](super::calibration)).
//! What is believed of another action shows in one step: it errs by
//!
//! ```text
//! δ = Q̂(s,a) - (r + γ maxₐ′ Q̂(s′,a′))
//! ```
//!
//! and by γ times the error of the best action in s′. As variances, with κ from returns and v the variance that was expected,
//!
//! ```text
//! σ² = (κ + (1 - 1/A) κ_δ) v          κ_δ = ¼ · quantile .9545 of δ² / v of the newest of these steps
//! ```
//!
//! is the mean over the A actions of a state, of which one is the best. In a noisy world δ has noise too, as returns have.

use super::calibration::{Held, WITHIN};
use super::quantile;
use serde::{Deserialize, Serialize};

/// Steps whose δ is remembered.
const MEMORY: usize = 512;
/// New steps before κ_δ is worked out again, and steps before anything is said.
const OFTEN: usize = 32;

/// The newest steps with an action that was not the best.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Others {
    /// The last such step of each environment, if where it led is not known yet.
    pending: Vec<Option<Held>>,
    /// δ² and v.
    errors: Vec<[f32; 2]>,
    /// Where the next one goes.
    next: usize,
    /// κ_δ.
    ratio: f32,
    /// The largest δ.
    worst: f32,
}

impl Others {
    pub fn new(envs: usize) -> Self {
        Self { pending: vec![None; envs], ..Self::default() }
    }

    /// Whether it can be gone on with. One that was read from a file may not.
    pub fn is_whole(&self, envs: usize) -> bool {
        let place =
            if self.errors.len() < MEMORY { self.next == self.errors.len() } else { self.next < MEMORY };
        place
            && self.errors.len() <= MEMORY
            && self.pending.len() == envs
            && self.pending.iter().flatten().all(|held| held.believed < held.means.len())
    }

    /// An action was taken that was not the best.
    pub fn took(&mut self, env: usize, held: Held) {
        self.pending[env] = Some(held);
    }

    /// What it led to: the reward is known, and so is what follows, 0 where the episode is over.
    pub fn led_to(&mut self, env: usize, beyond: f32) {
        let Some(held) = self.pending[env].take() else { return };
        let error = held.corrected() - (held.reward + beyond);
        let square = [error * error, held.var];
        match self.errors.len() < MEMORY {
            true => self.errors.push(square),
            false => self.errors[self.next] = square,
        }
        self.next = (self.next + 1) % MEMORY;
        if self.next.is_multiple_of(OFTEN) {
            self.look();
        }
    }

    /// What it led to will not be known: the episode was cut off.
    pub fn leave(&mut self, env: usize) {
        self.pending[env] = None;
    }

    fn look(&mut self) {
        let ratios = self.errors.iter().map(|[square, var]| square / var).collect();
        self.ratio = (quantile(ratios, WITHIN) / 4.0).min(f32::MAX);
        self.worst = self.errors.iter().fold(0.0_f32, |worst, [square, _]| worst.max(*square)).sqrt();
    }

    /// (1 - 1/A) κ_δ, and 0 before enough is known.
    pub fn ratio(&self, actions: usize) -> f32 {
        (1.0 - 1.0 / actions as f32) * self.ratio
    }

    /// The largest δ that was seen.
    pub fn worst(&self) -> f32 {
        self.worst
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adfq::random::stream;
    use rand::RngExt;
    use rand_distr::StandardNormal;

    fn held(mean: f32, reward: f32) -> Held {
        Held { own: 1.0, var: 4.0, means: [mean, 0.0], off: 0.0, believed: 0, reward }
    }

    /// Beliefs are off by a normal number of sd 3 where a variance of 4 was expected: κ_δ is 9/4.
    #[test]
    fn its_share_is_that_of_the_errors_of_one_step() {
        let (mut others, mut rng) = (Others::new(1), stream(7, "errors"));
        for _ in 0..OFTEN - 1 {
            others.took(0, held(1.0, 1.0));
            others.led_to(0, 0.0);
        }
        assert_eq!((others.ratio(2), others.worst()), (0.0, 0.0));
        for _ in 0..2 * MEMORY + 1 {
            let error: f32 = rng.sample(StandardNormal);
            others.took(0, held(10.0 + 3.0 * error, 2.0));
            others.led_to(0, 8.0);
        }
        // The quantile of 512 squared normal numbers, 4, has an sd of .35.
        assert!((others.ratio(2) / (0.5 * 9.0 / 4.0) - 1.0).abs() < 4.0 * 0.35 / 4.0, "{}", others.ratio(2));
        assert!((6.0..15.0).contains(&others.worst()));
        assert_eq!(others.ratio(1), 0.0);
    }

    #[test]
    fn only_steps_whose_end_is_known_count() {
        let mut others = Others::new(2);
        for _ in 0..2 * OFTEN {
            others.took(0, held(5.0, 0.0));
            others.leave(0);
            others.led_to(0, 1.0);
            others.led_to(1, 1.0);
        }
        assert!(others.errors.is_empty() && others.is_whole(2) && !others.is_whole(1));
        others.next = 3;
        assert!(!others.is_whole(2));
    }
}

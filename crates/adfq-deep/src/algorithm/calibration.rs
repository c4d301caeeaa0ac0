//! Beliefs held against the returns that followed, while an agent trains.
//!
//! Where an episode follows the means from (s,a) on, the discounted return G is a sample of Q of the agent's own policy. It is
//! compared with the mean that the network gave, μ, and with the mean Q̂ that was believed when the action was taken. With mean b and
//! variance s² of the network's newest errors,
//!
//! ```text
//! Q̂ = μ - b · b²/(b² + s²)                            nearly all of b is taken off where all errors are alike, else nearly nothing
//! κ = ¼ · quantile .9545 of (Q̂ - G)² / v              σ² = κ v       of all these steps or the newest, which is larger
//! ```
//!
//! The variance v that was expected ([`LocalError`]) says where errors are larger than elsewhere, and κ how large they are,
//!
//! so that ±2σ held as many of these returns as a Gaussian should. A return is evidence that no bootstrapped target has touched,
//! and each step counts once, however often it is replayed. Q̂ and v are what was expected before G was known.

use super::episodic::Promise;
use super::local_error::{Known, LocalError};
use super::quantile;
use serde::{Deserialize, Serialize};

/// Steps whose errors are remembered.
const MEMORY: usize = 4_096;
/// The newest of them. Where these have larger errors than was expected, as when much is learned at once, they alone decide.
const LATELY: usize = 1_024;
/// Steps before anything is said.
const ENOUGH: usize = 64;
/// Steps before it is said where errors are large, and new ones before it is worked out again.
const AGAIN: usize = 256;
/// New steps before κ is worked out again. An episode may have a single step.
const OFTEN: usize = 32;
/// The table leads where it promises more than the network's action by so many standard errors.
const CLEARLY: f64 = 3.0;
/// The probability of ±2σ.
pub(super) const WITHIN: f64 = 0.9545;

/// What was believed when an action was taken, and what it paid.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Held {
    /// The network's variance.
    pub own: f32,
    /// The variance that was expected, before calibration.
    pub var: f32,
    /// The mean by the network, and by the table of pairs that were tried.
    pub means: [f32; 2],
    /// What was taken off the network's.
    pub off: f32,
    /// Which of them was believed.
    pub believed: usize,
    /// The reward that followed.
    pub reward: f32,
}

impl Held {
    /// The mean as it was learned, by the network or by the table.
    pub fn mean(&self) -> f32 {
        self.means[self.believed]
    }

    /// The mean that was believed. What the table says is what was found: nothing is taken off.
    pub fn corrected(&self) -> f32 {
        self.mean() - self.taken_off()
    }

    fn taken_off(&self) -> f32 {
        if self.believed == 0 { self.off } else { 0.0 }
    }
}

/// A step whose return is known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Error {
    held: Held,
    /// The errors of the network and of the table.
    errors: [f32; 2],
    /// The square of the error of what was believed, as a multiple of the variance that was expected.
    ratio: f32,
}

impl Error {
    /// Of the mean as it was learned.
    fn learned(&self) -> f32 {
        self.errors[self.held.believed]
    }

    /// Of the mean that was believed.
    fn believed(&self) -> f32 {
        self.learned() - self.held.taken_off()
    }
}

/// The last steps whose returns are known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Calibration {
    errors: Vec<Error>,
    /// Where the next one goes.
    next: usize,
    /// Where the network's errors are large.
    local: Option<LocalError>,
    /// Steps since that was worked out.
    since: usize,
    /// What is taken off the network's means.
    off: f32,
    /// κ.
    ratio: f32,
    /// The largest error.
    worst: f32,
    /// Means of the squared errors of the network and of the table.
    squares: [f64; 2],
}

impl Default for Calibration {
    fn default() -> Self {
        let (ratio, worst) = (1.0, f32::INFINITY);
        Self { errors: vec![], next: 0, local: None, since: 0, off: 0.0, ratio, worst, squares: [0.0; 2] }
    }
}

impl Calibration {
    /// Whether it can be gone on with. One that was read from a file may not.
    pub fn is_whole(&self) -> bool {
        let place =
            if self.errors.len() < MEMORY { self.next == self.errors.len() } else { self.next < MEMORY };
        place
            && self.errors.len() <= MEMORY
            && self.errors.iter().all(|error| error.held.believed < error.errors.len())
            && self.local.as_ref().is_none_or(LocalError::is_whole)
    }

    /// Takes in an episode, or its end, in which the means were followed. Where it was cut off, `beyond` is what was believed
    /// of the last state.
    ///
    /// The error of that belief has the weight γᵏ in the return of k steps before. If the two errors are alike, 1 - γᵏ of the
    /// error is seen. In the second half of an episode, steps of which less than half would be seen do not count.
    pub fn learn(&mut self, steps: &[Held], discount: f32, beyond: Option<f32>) {
        let (mut value, mut unseen) = (beyond.unwrap_or(0.0), f32::from(u8::from(beyond.is_some())));
        let before = self.since;
        for (place, &held) in steps.iter().enumerate().rev() {
            value = held.reward + discount * value;
            unseen *= discount;
            if unseen <= 0.5 || place < steps.len() / 2 && unseen < 1.0 {
                self.push(held, held.means.map(|mean| (mean - value) / (1.0 - unseen)));
            }
        }
        let is_due = self.since / OFTEN > before / OFTEN && self.errors.len() >= ENOUGH;
        if self.since >= AGAIN {
            self.locate();
        }
        if is_due {
            self.look();
        }
    }

    fn push(&mut self, held: Held, errors: [f32; 2]) {
        let mut error = Error { held, errors, ratio: 0.0 };
        error.ratio = error.believed().powi(2) / held.var;
        match self.errors.len() < MEMORY {
            true => self.errors.push(error),
            false => self.errors[self.next] = error,
        }
        self.next = (self.next + 1) % MEMORY;
        self.since += 1;
    }

    /// Works out what to take off the network's means, and where errors are then large.
    fn locate(&mut self) {
        self.off = self.to_take_off();
        let known = |error: &Error| Known {
            mean: error.held.means[0],
            var: error.held.own,
            error: (error.errors[0] - self.off).abs(),
        };
        let local = LocalError::fit(&self.errors.iter().map(known).collect::<Vec<_>>());
        if self.local.is_none() {
            // What the network itself expected is of another size.
            for error in self.errors.iter_mut().filter(|error| error.held.believed == 0) {
                error.held.off = self.off;
                error.ratio = (error.believed() / local.size(error.held.means[0], error.held.own)).powi(2);
            }
        }
        (self.local, self.since) = (Some(local), 0);
    }

    /// The newest steps.
    fn newest(&self) -> impl Iterator<Item = &Error> {
        let lately = self.errors.len().min(LATELY);
        let places = (self.next + MEMORY - lately)..(self.next + MEMORY);
        places.map(|place| &self.errors[place % MEMORY])
    }

    /// b · b²/(b² + s²).
    fn to_take_off(&self) -> f32 {
        let count = self.newest().count() as f64;
        let mean =
            |of: fn(f64) -> f64| self.newest().map(|error| of(error.errors[0].into())).sum::<f64>() / count;
        let (bias, square) = (mean(|error| error), mean(|error| error * error));
        if square > 0.0 { (bias.powi(3) / square) as f32 } else { 0.0 }
    }

    /// Works out what is asked for at every step.
    fn look(&mut self) {
        let newest = self.newest().map(|error| error.ratio).collect();
        let all = self.errors.iter().map(|error| error.ratio).collect();
        let quantile = quantile(all, WITHIN).max(quantile(newest, WITHIN));
        self.ratio = (quantile / 4.0).clamp(f32::MIN_POSITIVE, f32::MAX);
        self.worst = self.errors.iter().fold(0.0, |worst, error| worst.max(error.believed().abs()));
        let mean = |of: usize| {
            let sum: f64 = self.errors.iter().map(|error| f64::from(error.errors[of]).powi(2)).sum();
            sum / self.errors.len() as f64
        };
        self.squares = [mean(0), mean(1)];
    }

    /// The variance that is expected of a belief of the network, before calibration.
    pub fn expected(&self, mean: f32, own: f32) -> f32 {
        let local = self.local.as_ref();
        local.map_or(own, |local| local.size(mean, own).powi(2).max(f32::MIN_POSITIVE))
    }

    /// What is taken off the network's means.
    pub fn off(&self) -> f32 {
        self.off
    }

    /// Where the network's errors are large, once that is known.
    pub fn local(&self) -> Option<&LocalError> {
        self.local.as_ref()
    }

    /// Steps that are remembered.
    #[cfg(test)]
    pub fn known(&self) -> usize {
        self.errors.len()
    }

    /// κ, and 1 before enough is known.
    pub fn ratio(&self) -> f32 {
        self.ratio
    }

    /// σ = √((κ + κ_other) v), and no more than the largest errors that were seen, with the share and the largest error of
    /// [other actions](super::others).
    pub fn sd(&self, var: f32, other: f32, worst_other: f32) -> f32 {
        ((self.ratio + other) * var).sqrt().min(self.worst.hypot(worst_other))
    }

    /// Whether the table is believed: where it has been no worse than the network, or promises clearly more.
    ///
    /// Where returns are noise, who expects nothing errs as little as who knows the way, and errors alone cannot tell who should lead.
    pub fn prefers_table(&self, promise: impl FnOnce() -> Option<Promise>) -> bool {
        let [network, table] = self.squares;
        let clearly =
            |Promise { more, noise }: Promise| f64::from(more) > CLEARLY * (f64::from(noise) * table).sqrt();
        table <= network || promise().is_some_and(clearly)
    }

    /// Mean and root mean square of the errors of means as they were learned. NaN before there are any.
    pub fn errors(&self) -> (f64, f64) {
        let count = self.errors.len() as f64;
        let sum = |of: fn(f64) -> f64| {
            self.errors.iter().map(|error| of(f64::from(error.learned()))).sum::<f64>() / count
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
        Held { own: var, var, means: [mean, 0.0], off: 0.0, believed: 0, reward }
    }

    /// What a file holds may have been written by another program.
    #[test]
    fn one_with_missing_parts_is_told() {
        let mut calibration = Calibration::default();
        calibration.learn(&[held(1.0, 1.0, 0.0); 300], 0.9, None);
        assert!(calibration.is_whole() && calibration.local.is_some());
        let broken: [fn(&mut Calibration); 4] = [
            |it| it.next = 7,
            |it| it.errors[3].held.believed = 2,
            |it| it.errors.truncate(200),
            |it| it.errors.resize(MEMORY + 1, it.errors[0]),
        ];
        for breaks in broken {
            let mut one = calibration.clone();
            breaks(&mut one);
            assert!(!one.is_whole());
        }
    }

    /// Errors have 3 times the sd that was said, whatever it was: σ becomes three times as large.
    #[test]
    fn two_sigma_hold_what_they_should() {
        let (mut calibration, mut rng) = (Calibration::default(), stream(5, "errors"));
        assert_eq!(calibration.ratio(), 1.0);
        for _ in 0..6_000 {
            let var = rng.random_range(0.1..4.0_f32);
            let error: f32 = rng.sample(StandardNormal);
            calibration.learn(&[held(3.0 * var.sqrt() * error, var, 0.0)], 0.9, None);
        }
        // Over 4,096 steps the quantile of a squared normal number, 4, has an sd of .12.
        assert!((calibration.ratio() / 9.0 - 1.0).abs() < 4.0 * 0.12 / 4.0, "{}", calibration.ratio());
        // No error was as large as that of a variance of a million.
        assert!(calibration.sd(1e6, 0.0, 0.0) < 30.0 && (calibration.sd(1.0, 0.0, 0.0) - 3.0).abs() < 0.2);
    }

    #[test]
    fn errors_are_those_of_discounted_returns() {
        let mut calibration = Calibration::default();
        // Returns: 1 + .5 · (2 + .5 · 8) = 4, 2 + .5 · 8 = 6, and 8.
        calibration.learn(&[held(5.0, 1.0, 1.0), held(4.0, 1.0, 2.0), held(8.0, 1.0, 8.0)], 0.5, None);
        let (mean, rms) = calibration.errors();
        assert!((mean + 1.0 / 3.0).abs() < 1e-6, "{mean}");
        assert!((rms - (5.0_f64 / 3.0).sqrt()).abs() < 1e-6, "{rms}");
    }

    /// A mean that is 2 too large everywhere is found to be, although the rest of an episode that was cut off is believed to be
    /// worth 2 too much too.
    #[test]
    fn what_was_cut_off_is_made_up_for() {
        let (mut calibration, step) = (Calibration::default(), held(-8.0, 1.0, -1.0));
        calibration.learn(&[step; 50], 0.9, Some(-8.0));
        let (mean, rms) = calibration.errors();
        assert!((mean - 2.0).abs() < 1e-5 && (rms - 2.0).abs() < 1e-5, "{mean} {rms}");
        // .9⁷ < ½ < .9⁶: the last six steps show too little, unless they are in the first half.
        assert_eq!(calibration.errors.len(), 44);
        calibration.learn(&[step; 4], 0.9, Some(-8.0));
        assert_eq!(calibration.errors.len(), 46);
        calibration.learn(&[step; 4], 1.0, Some(-8.0));
        assert_eq!(calibration.errors.len(), 46);
    }

    /// The network says the opposite of where its errors are. After a while σ says where they are.
    #[test]
    fn it_learns_where_errors_are_large() {
        let (mut calibration, mut rng) = (Calibration::default(), stream(6, "errors"));
        let mut belief = |mean: f32| {
            let error: f32 = rng.sample(StandardNormal);
            let size = if mean > 0.0 { 5.0 } else { 0.5 };
            (Held { means: [mean; 2], ..held(mean, 1.0 / size, 0.0) }, mean - size * error)
        };
        for step in 0..8_000 {
            let (held, value) = belief(if step % 3 == 0 { 10.0 } else { -10.0 });
            let var = calibration.expected(held.mean(), held.own);
            calibration.learn(&[Held { reward: value, var, ..held }], 0.9, None);
        }
        let sd = |mean: f32, own: f32| calibration.sd(calibration.expected(mean, own), 0.0, 0.0);
        let [large, small] = [sd(10.0, 0.2), sd(-10.0, 2.0)];
        assert!((large / 5.0 - 1.0).abs() < 0.2 && (small / 0.5 - 1.0).abs() < 0.4, "{large} {small}");
    }

    /// A bias and what is left once it is known: the mean of Q̂ - G, and σ.
    fn after(bias: f32, noise: f32) -> (f32, f32) {
        let (mut calibration, mut rng) = (Calibration::default(), stream(8, "errors"));
        for _ in 0..8_000 {
            let truth = rng.random_range(-3.0..3.0_f32);
            let step = held(bias + truth, 1.0, truth + noise * rng.sample::<f32, _>(StandardNormal));
            let var = calibration.expected(step.mean(), step.own);
            calibration.learn(&[Held { off: calibration.off(), var, ..step }], 0.9, None);
        }
        let sd = calibration.sd(calibration.expected(bias, 1.0), 0.0, 0.0);
        assert!((calibration.errors().0 as f32 - bias).abs() < 0.1 * (noise + 1.0));
        (bias - calibration.off(), sd)
    }

    /// Where all means are too large by the same, that is taken off, and σ is of the size of what is left. Where errors are mostly of
    /// either sign, their mean is left as it is.
    #[test]
    fn what_is_common_to_all_errors_is_taken_off() {
        let (left, sd) = after(5.0, 0.5);
        assert!((0.0..0.1).contains(&left) && (0.4..0.65).contains(&sd), "{left} {sd}");
        let (left, sd) = after(0.3, 3.0);
        assert!((0.25..0.3).contains(&left) && (2.6..3.6).contains(&sd), "{left} {sd}");
    }

    #[test]
    fn the_table_is_preferred_where_it_was_no_worse() {
        let mut calibration = Calibration::default();
        let both = |network, table| Held { means: [network, table], ..held(0.0, 1.0, 1.0) };
        calibration.learn(&[both(3.0, 1.5); 100], 0.0, None);
        assert!(calibration.prefers_table(|| None));
        calibration.learn(&[both(1.1, 2.0); MEMORY], 0.0, None);
        assert!(!calibration.prefers_table(|| None));
    }

    /// Where returns are noise, who expects nothing errs least. The table is a third of the noise off. It is believed where its best
    /// action was tried often enough to tell.
    #[test]
    fn noise_does_not_decide_against_a_clear_promise() {
        for scale in [1.0, 1_000.0] {
            let (mut calibration, mut rng) = (Calibration::default(), stream(9, "errors"));
            for _ in 0..MEMORY {
                let noise: f32 = rng.sample(StandardNormal);
                let step = Held { means: [0.0, scale / 3.0], ..held(0.0, 1.0, scale * noise) };
                calibration.learn(&[step], 0.9, None);
            }
            assert!(calibration.squares[1] > calibration.squares[0] && !calibration.prefers_table(|| None));
            let promise = |noise| move || Some(Promise { more: scale / 3.0, noise });
            assert!(calibration.prefers_table(promise(0.01)) && !calibration.prefers_table(promise(0.02)));
        }
    }
}

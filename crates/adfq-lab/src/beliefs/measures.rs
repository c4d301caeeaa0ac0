//! How beliefs compare with the truth: coverage, score, bias, and whether a large σ goes with a large error.
//!
//! The actions of a state share its error, so a state counts as one observation in every interval.

use crate::Result;
use crate::experiment::solved_domain::crps;
use crate::stats::{Bootstrap, Estimate, mean, proportion, spearman};
use adfq::random::stream;
use serde::{Deserialize, Serialize};
use std::f64::consts::FRAC_1_SQRT_2;

/// Resamples of the states for an interval.
const RESAMPLES: usize = 1_000;

/// A belief beside the truth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Judged {
    /// Mean of the belief minus truth.
    pub error: f64,
    /// Standard deviation of the belief.
    pub sd: f64,
    /// Standard error of the truth.
    pub standard_error: f64,
}

/// How beliefs compare with the truth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measures {
    /// How many states.
    pub states: usize,
    /// How many values: the actions of all states.
    pub values: usize,
    /// The share of values within ±σ of the mean. Honest beliefs have .68.
    pub within_1: Estimate,
    /// The share within ±2σ. Honest beliefs have .95.
    pub within_2: Estimate,
    /// The shares within ±√(σ² + s²) and twice that, where s is the standard error of the truth.
    pub within_corrected: [f64; 2],
    /// The mean continuous ranked probability score of the beliefs, in the unit of returns.
    pub crps: Estimate,
    /// The mean of belief minus truth.
    pub bias: Estimate,
    /// The root of the mean squared error.
    pub rmse: f64,
    /// The mean σ.
    pub mean_sd: f64,
    /// The mean standard error of the truth.
    pub mean_standard_error: f64,
    /// Spearman's rank correlation of |error| and σ; none where σ or the error is the same everywhere.
    pub rank_correlation: Option<Estimate>,
    /// The calibration curve: the share that an interval around the mean should hold, and the share it does.
    pub calibration: Vec<(f64, f64)>,
}

impl Measures {
    /// Measures of these states, of which there is at least one; each has the beliefs of its actions. `seed` is that of the
    /// bootstrap.
    pub(super) fn of(states: &[Vec<Judged>], seed: u64) -> Result<Self> {
        let all = states.concat();
        let share = |counts: &dyn Fn(&Judged) -> bool| {
            all.iter().filter(|it| counts(it)).count() as f64 / all.len() as f64
        };
        let average = |of: &dyn Fn(&Judged) -> f64| mean(&all.iter().map(of).collect::<Vec<_>>());
        let within = |reach: f64| proportion(share(&|it| it.error.abs() <= reach * it.sd), states.len());
        let corrected = |reach: f64| share(&|it| it.error.abs() <= reach * it.sd.hypot(it.standard_error));
        let over_states = |name: &str, of: &dyn Fn(&[Judged]) -> f64| over_states(states, name, seed, of);
        let mean_of =
            |of: fn(&Judged) -> f64| move |all: &[Judged]| mean(&all.iter().map(of).collect::<Vec<_>>());
        // A resample without any spread tells nothing of it.
        let known = |all: &[Judged]| Some(rank_correlation(all)).filter(|rho| rho.is_finite()).unwrap_or(0.0);
        let has_rank = rank_correlation(&all).is_finite();
        Ok(Self {
            states: states.len(),
            values: all.len(),
            within_1: within(1.0),
            within_2: within(2.0),
            within_corrected: [1.0, 2.0].map(corrected),
            crps: over_states("crps", &mean_of(|it| crps(it.error, it.sd)))?,
            bias: over_states("bias", &mean_of(|it| it.error))?,
            rmse: average(&|it| it.error * it.error).sqrt(),
            mean_sd: average(&|it| it.sd),
            mean_standard_error: average(&|it| it.standard_error),
            rank_correlation: has_rank.then(|| over_states("rank", &known)).transpose()?,
            calibration: levels().map(|level| (level, share(&|it| central(it) <= level))).collect(),
        })
    }
}

/// The level of the smallest interval around the mean that holds the truth.
fn central(it: &Judged) -> f64 {
    match it.error == 0.0 {
        true => 0.0,
        false => libm::erf((it.error / it.sd).abs() * FRAC_1_SQRT_2),
    }
}

/// .05 to .95.
fn levels() -> impl Iterator<Item = f64> {
    (1..20).map(|i| f64::from(i) / 20.0)
}

fn rank_correlation(all: &[Judged]) -> f64 {
    let column = |of: fn(&Judged) -> f64| all.iter().map(of).collect::<Vec<_>>();
    spearman(&column(|it| it.error.abs()), &column(|it| it.sd))
}

/// A statistic and its interval, by resampling whole states.
fn over_states(
    states: &[Vec<Judged>],
    name: &str,
    seed: u64,
    statistic: &dyn Fn(&[Judged]) -> f64,
) -> Result<Estimate> {
    let numbers: Vec<f64> = (0..states.len()).map(|number| number as f64).collect();
    let of = |numbers: &[f64]| {
        let drawn: Vec<Judged> =
            numbers.iter().flat_map(|&number| &states[number as usize]).copied().collect();
        statistic(&drawn)
    };
    let mut rng = stream(seed, &format!("beliefs/bootstrap/{name}"));
    Ok(Bootstrap::new(RESAMPLES, 0.95)?.estimate(&numbers, of, &mut rng)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;
    use rand_distr::StandardNormal;

    /// Beliefs N(error, sd²) about a truth of 0: the error is drawn with `scale` times the sd that is believed.
    fn drawn(scale: f64, count: usize) -> Vec<Vec<Judged>> {
        let mut rng = stream(1, "drawn");
        let mut belief = || {
            let sd = rng.random_range(0.5..4.0);
            let z: f64 = rng.sample(StandardNormal);
            Judged { error: scale * sd * z, sd, standard_error: 0.0 }
        };
        (0..count).map(|_| vec![belief()]).collect()
    }

    fn close(found: f64, expected: f64, slack: f64) {
        assert!((found - expected).abs() < slack, "{found} {expected}");
    }

    /// Honest beliefs cover .6827 and .9545, score σ/√π on average and doubt most where they err most.
    #[test]
    fn honest_beliefs_have_the_measures_that_theory_gives() {
        let found = Measures::of(&drawn(1.0, 2_000), 0).unwrap();
        close(found.within_1.value, 0.6827, 0.0416); // 4 sd
        close(found.within_2.value, 0.9545, 0.0187);
        close(found.mean_sd, 2.25, 0.09);
        close(found.crps.value, 2.25 / std::f64::consts::PI.sqrt(), 0.12);
        close(found.bias.value, 0.0, 0.22);
        assert!(found.crps.interval.contains(found.crps.value));
        assert!(found.rank_correlation.unwrap().interval.low > 0.3);
        for (nominal, actual) in &found.calibration {
            close(*actual, *nominal, 0.045);
        }
    }

    /// Beliefs that are twice too sure: ±2σ holds what ±σ should.
    #[test]
    fn beliefs_that_are_too_sure_are_found_out() {
        let found = Measures::of(&drawn(2.0, 2_000), 0).unwrap();
        close(found.within_1.value, 0.3829, 0.0435);
        close(found.within_2.value, 0.6827, 0.0416);
    }

    /// The truth is measured with the error that the beliefs have: ±2σ holds less, and the correction makes it good.
    #[test]
    fn the_error_of_the_truth_is_accounted_for() {
        let mut states = drawn(2.0_f64.sqrt(), 2_000);
        states.iter_mut().flatten().for_each(|it| it.standard_error = it.sd);
        let found = Measures::of(&states, 0).unwrap();
        close(found.within_2.value, 0.8427, 0.0326);
        close(found.within_corrected[0], 0.6827, 0.0416);
        close(found.within_corrected[1], 0.9545, 0.0187);
    }

    /// By hand: errors 1, -3, 0 and 6 with σ 1, 1, 2 and 2.
    #[test]
    fn a_few_values_by_hand() {
        let it = |error, sd| Judged { error, sd, standard_error: 0.0 };
        let states = [vec![it(1.0, 1.0), it(-3.0, 1.0)], vec![it(0.0, 2.0), it(6.0, 2.0)]];
        let found = Measures::of(&states, 0).unwrap();
        assert_eq!((found.states, found.values), (2, 4));
        assert_eq!((found.within_1.value, found.within_2.value), (0.5, 0.5));
        assert_eq!((found.bias.value, found.rmse, found.mean_sd), (1.0, 11.5_f64.sqrt(), 1.5));
        assert_eq!((found.bias.interval.low, found.bias.interval.high), (-1.0, 3.0));
        // |error| has ranks 2, 3, 1, 4 and σ 1.5, 1.5, 3.5, 3.5.
        assert_eq!(found.rank_correlation.unwrap().value, 0.0);
    }

    /// ADFQ's σ at its floor: there is nothing to correlate, and a needle that misses covers nothing.
    #[test]
    fn one_sigma_for_all_has_no_rank_correlation() {
        let it = |error| Judged { error, sd: 0.003, standard_error: 0.0 };
        let found = Measures::of(&[vec![it(1.0)], vec![it(2.0)]], 0).unwrap();
        assert_eq!(found.rank_correlation, None);
        assert_eq!(found.within_2.value, 0.0);
        assert!(found.within_2.interval.high > 0.5);
    }
}

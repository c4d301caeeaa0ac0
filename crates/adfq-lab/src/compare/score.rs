//! Numbers over seeds: IQM, means, and the probability of improvement of every label over every other, each with its
//! bootstrap interval.
//!
//! Samples are strata: the seeds of each environment, resampled on their own (Agarwal et al. 2021).

use crate::Result;
use crate::stats::{Bootstrap, Estimate, Interval, iqm, mean, probability_of_improvement};
use adfq::random::stream;
use serde::{Deserialize, Serialize};

/// Resamples for a band, of which a figure shows no more than two digits.
const BAND_RESAMPLES: usize = 1_000;

/// A number over seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// The statistic of the seeds themselves.
    pub value: f64,
    /// Its 95 % bootstrap interval; nothing where a sample has one seed only, of which a resample is a copy.
    pub interval: Option<Interval>,
}

impl Score {
    /// The same on the scale on which 1 - x is x.
    pub(super) fn complement(self) -> Self {
        let turn = |Interval { low, high }| Interval { low: 1.0 - high, high: 1.0 - low };
        Self { value: 1.0 - self.value, interval: self.interval.map(turn) }
    }
}

/// Where chance comes from: one seed, and a name for each number, so that none depends on which others are asked for.
#[derive(Clone, Copy)]
pub struct Chance(pub u64);

impl Chance {
    /// The interquartile mean of all strata together.
    pub fn iqm(self, name: &str, strata: &[Vec<f64>]) -> Result<Score> {
        self.score(name, Bootstrap::default(), strata, |strata| iqm(&strata.concat()))
    }

    /// The same for a point of a band, with fewer resamples.
    pub fn iqm_in_band(self, name: &str, values: &[f64]) -> Result<Score> {
        let bootstrap = Bootstrap::new(BAND_RESAMPLES, 0.95)?;
        self.score(name, bootstrap, &[values.to_vec()], |strata| iqm(&strata.concat()))
    }

    /// The mean of one sample, for a curve.
    pub fn mean(self, name: &str, values: &[f64]) -> Result<Score> {
        let bootstrap = Bootstrap::new(BAND_RESAMPLES, 0.95)?;
        self.score(name, bootstrap, &[values.to_vec()], |strata| mean(&strata[0]))
    }

    /// The probability that a seed of `x` exceeds a seed of `y`, ties counting half: its mean over environments.
    pub fn improvement(self, name: &str, x: &[Vec<f64>], y: &[Vec<f64>]) -> Result<Score> {
        let strata = [x, y].concat();
        self.score(name, Bootstrap::default(), &strata, |strata| {
            let (x, y) = strata.split_at(strata.len() / 2);
            let each: Vec<f64> = x.iter().zip(y).map(|(x, y)| probability_of_improvement(x, y)).collect();
            mean(&each)
        })
    }

    fn score(
        self,
        name: &str,
        bootstrap: Bootstrap,
        strata: &[Vec<f64>],
        statistic: impl Fn(&[Vec<f64>]) -> f64,
    ) -> Result<Score> {
        if strata.iter().any(|stratum| stratum.len() < 2) {
            return Ok(Score { value: statistic(strata), interval: None });
        }
        let mut rng = stream(self.0, &format!("compare/{name}"));
        let Estimate { value, interval } = bootstrap.stratified(strata, statistic, &mut rng)?;
        Ok(Score { value, interval: Some(interval) })
    }
}

/// IQM over seeds at each of these steps, with 95 % bootstrap intervals: a band for a chart. `values` has the values of all
/// seeds for each step. The last point is the final return as a comparison with this seed has it, to the last digit.
///
/// ```
/// use adfq_lab::compare::band;
///
/// let band = band("cartpole", "DQN", &[100, 200], &[vec![10.0, 20.0], vec![480.0, 500.0]], 0)?;
/// assert_eq!((band[0].value, band[1].value), (15.0, 490.0));
/// assert!(band[1].interval.unwrap().contains(490.0));
/// # Ok::<(), adfq_lab::Error>(())
/// ```
pub fn band(env: &str, label: &str, steps: &[u64], values: &[Vec<f64>], seed: u64) -> Result<Vec<Score>> {
    let (chance, last) = (Chance(seed), steps.len().saturating_sub(1));
    let at = |(i, (step, values)): (usize, (&u64, &Vec<f64>))| match i == last {
        true => chance.iqm(&final_name(env, label), std::slice::from_ref(values)),
        false => chance.iqm_in_band(&format!("{env}/{label}/iqm/{step}"), values),
    };
    steps.iter().zip(values).enumerate().map(at).collect()
}

/// The name under which the interval of a label's final return is drawn.
pub(super) fn final_name(env: &str, label: &str) -> String {
    format!("{env}/{label}/final")
}

/// How often one label beats another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Improvement {
    /// The label that may be better.
    pub label: String,
    /// The label it is held against.
    pub over: String,
    /// The probability that the final return of a seed of `label` exceeds that of a seed of `over`, ties counting
    /// half.
    pub probability: Score,
}

/// All ordered pairs of labels with their samples, an environment a stratum. Each pair is resampled once, so that
/// P(a > b) and P(b > a) add up to 1. A pair with a sample of one seed is left out: which of two single runs is better
/// says nothing about the next two.
pub(super) fn improvements(
    place: &str,
    labels: &[(&str, Vec<Vec<f64>>)],
    chance: Chance,
) -> Result<Vec<Improvement>> {
    let mut found = vec![];
    for (i, (label, x)) in labels.iter().enumerate() {
        let several = |strata: &[Vec<f64>]| strata.iter().all(|stratum| stratum.len() >= 2);
        for (over, y) in labels[i + 1..].iter().filter(|(_, y)| several(x) && several(y)) {
            let probability = chance.improvement(&format!("{place}/{label}/{over}"), x, y)?;
            let pair = |label: &str, over: &str, probability| Improvement {
                label: label.to_owned(),
                over: over.to_owned(),
                probability,
            };
            found.push(pair(label, over, probability));
            found.push(pair(over, label, probability.complement()));
        }
    }
    Ok(found)
}

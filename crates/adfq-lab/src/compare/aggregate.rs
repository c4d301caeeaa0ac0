//! One number for each label over several environments, on a common scale.

use super::environment::Environment;
use super::range::Range;
use super::score::{Chance, Improvement, Score, improvements};
use crate::Result;
use serde::{Deserialize, Serialize};

/// Labels compared over the environments whose scale is known and in which each of them has runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Aggregate {
    /// The environments, and what is 0 and 1 in each.
    pub ranges: Vec<Range>,
    /// Each label over these environments.
    pub scores: Vec<Overall>,
    /// The probability of improvement, its mean over these environments.
    pub improvement: Vec<Improvement>,
}

/// A label over several environments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overall {
    /// The label.
    pub label: String,
    /// IQM of its normalised final returns, over seeds and environments.
    pub iqm: Score,
}

/// Compares over environments; nothing if fewer than two can be used.
pub(super) fn aggregate(
    environments: &[Environment],
    labels: &[String],
    chance: Chance,
) -> Result<Option<Aggregate>> {
    let common = environments.iter().filter(|environment| environment.entries.len() == labels.len());
    let common: Vec<(&Range, &Environment)> =
        common.filter_map(|environment| Some((environment.range.as_ref()?, environment))).collect();
    if common.len() < 2 {
        return Ok(None);
    }
    let finals = |label: &String, scale: fn(&Range, f64) -> f64| -> Vec<Vec<f64>> {
        let entries = common.iter().flat_map(|(range, environment)| {
            environment.entries.iter().filter(|entry| entry.label == *label).map(move |entry| (*range, entry))
        });
        entries.map(|(range, entry)| entry.finals().iter().map(|&x| scale(range, x)).collect()).collect()
    };
    let score = |label: &String| {
        let strata = finals(label, Range::normalised);
        Ok(Overall { label: label.clone(), iqm: chance.iqm(&format!("all/{label}"), &strata)? })
    };
    let scores = labels.iter().map(score).collect::<Result<_>>()?;
    let raw: Vec<(&str, Vec<Vec<f64>>)> =
        labels.iter().map(|label| (label.as_str(), finals(label, |_, x| x))).collect();
    let improvement = improvements("all", &raw, chance)?;
    let ranges = common.iter().map(|&(range, _)| range.clone()).collect();
    Ok(Some(Aggregate { ranges, scores, improvement }))
}

//! Every label against every other: the probability of improvement.

use super::score::{Chance, Score};
use crate::Result;
use serde::{Deserialize, Serialize};

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
/// P(a > b) and P(b > a) add up to 1.
pub(super) fn improvements(
    place: &str,
    labels: &[(&str, Vec<Vec<f64>>)],
    chance: Chance,
) -> Result<Vec<Improvement>> {
    let mut found = vec![];
    for (i, (label, x)) in labels.iter().enumerate() {
        for (over, y) in &labels[i + 1..] {
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

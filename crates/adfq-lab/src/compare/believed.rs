//! What `beliefs.json` of a run says of its beliefs, beside the returns.

use super::{Entry, Run};
use crate::beliefs::{self, Checked};
use crate::stats::mean;
use adfq_report::text::{count, decimals, fixed};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The beliefs of runs that differ in the seed alone, over all states and against their own policies: means over the runs
/// that were measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Believed {
    /// How many runs were measured.
    pub runs: usize,
    /// The share of values within ±2σ.
    pub within_2: f64,
    /// The mean continuous ranked probability score.
    pub crps: f64,
    /// The rank correlation of |error| and σ, where σ differs between states.
    pub rank_correlation: Option<f64>,
}

/// What was measured of the last checkpoint of a run; none if nothing was, and why not if it cannot be read.
pub(super) fn read(folder: &Path) -> Option<Result<Checked, String>> {
    let last = |beliefs: beliefs::Beliefs| beliefs.checkpoints.into_iter().max_by_key(|checked| checked.step);
    beliefs::read(folder).map_err(|error| error.to_string()).map(|read| read.and_then(last)).transpose()
}

fn checked(run: &Run) -> Option<&Checked> {
    run.beliefs.as_ref().and_then(|read| read.as_ref().ok())
}

impl Believed {
    /// What is known of these runs.
    pub fn of(runs: &[&Run]) -> Option<Self> {
        let measures: Vec<_> = runs.iter().filter_map(|run| checked(run)?.overall()).collect();
        let ranks: Vec<f64> =
            measures.iter().filter_map(|it| it.rank_correlation.map(|rank| rank.value)).collect();
        let within: Vec<f64> = measures.iter().map(|it| it.within_2.value).collect();
        let scores: Vec<f64> = measures.iter().map(|it| it.crps.value).collect();
        (!measures.is_empty()).then(|| Self {
            runs: measures.len(),
            within_2: mean(&within),
            crps: mean(&scores),
            rank_correlation: (!ranks.is_empty()).then(|| mean(&ranks)),
        })
    }

    /// The cells of each label; points where nothing is known of it. No cells at all where nothing is known of any.
    pub(super) fn rows(entries: &[Entry]) -> Vec<Vec<String>> {
        let known: Vec<&Self> = entries.iter().filter_map(|entry| entry.beliefs.as_ref()).collect();
        if known.is_empty() {
            return vec![vec![]; entries.len()];
        }
        let decimals = decimals(known.iter().map(|it| &it.crps)).min(3);
        let none = || "·".to_owned();
        let cells = |entry: &Entry| {
            let Some(Self { within_2, crps, rank_correlation, .. }) = &entry.beliefs else {
                return vec![none(), none(), none()];
            };
            let rank = rank_correlation.map_or_else(none, |rank| format!("{:.2}", rank + 0.0));
            vec![format!("{within_2:.2}"), fixed(*crps, decimals), rank]
        };
        entries.iter().map(cells).collect()
    }

    /// The headings of these cells.
    pub(super) fn heads(entries: &[Entry]) -> Vec<String> {
        let known = entries.iter().any(|entry| entry.beliefs.is_some());
        let heads = ["within ±2σ", "CRPS", "rank corr."];
        heads.iter().filter(|_| known).map(|head| head.to_string()).collect()
    }
}

/// What a reader has to know of the beliefs beside returns up to this step.
pub(super) fn notes(runs: &[&Run], last: u64) -> Vec<String> {
    let mut notes = vec![];
    let found: Vec<(&Run, &Checked)> = runs.iter().filter_map(|run| Some((*run, checked(run)?))).collect();
    if !found.is_empty() {
        notes.push(format!(
            "Within ±2σ, CRPS and rank correlation are what `adfq beliefs` measured against the agents' own policies, for \
             {} of {} runs.",
            found.len(),
            runs.len()
        ));
    }
    let elsewhere = found.iter().filter(|(_, checked)| checked.step != last);
    notes.extend(elsewhere.map(|(run, checked)| {
        format!("The beliefs of {} are those of step {}.", run.folder.display(), count(checked.step))
    }));
    let unread = runs.iter().filter_map(|run| run.beliefs.as_ref()?.as_ref().err());
    notes.extend(unread.map(|reason| format!("Not shown: {reason}.")));
    notes
}

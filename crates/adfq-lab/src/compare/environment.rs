//! The runs of one environment side by side, at the evaluations that all compared runs have.

use super::believed::{self, Believed};
use super::label::Label;
use super::range::Range;
use super::run::{Returns, Run};
use super::score::{Chance, Improvement, Score, final_name, improvements};
use super::select::{LeftOut, Selection};
use crate::Result;
use crate::stats::mean;
use adfq_report::text::count;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// All that is compared in one environment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Its name.
    pub env: String,
    /// The steps at which all runs were evaluated.
    pub steps: Vec<u64>,
    /// What was compared, by label.
    pub entries: Vec<Entry>,
    /// For each pair of labels with two seeds or more, the probability that the final return of one exceeds the
    /// other's.
    pub improvement: Vec<Improvement>,
    /// The scale of its returns, where reference scores are known.
    #[serde(default)]
    pub range: Option<Range>,
    /// The runs that are not compared.
    #[serde(default)]
    pub left_out: Vec<LeftOut>,
    /// What a reader has to know to take the numbers for what they are.
    pub notes: Vec<String>,
}

/// Runs that differ in the seed alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Agent and policy, and what sets it apart.
    pub label: String,
    /// The runs, by increasing seed.
    pub runs: Vec<Scored>,
    /// IQM over seeds of the final return.
    pub final_return: Score,
    /// IQM over seeds of the area under the curve.
    pub area: Score,
    /// Mean return over seeds at each of the environment's steps.
    pub curve: Vec<Score>,
    /// Its beliefs, where they were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beliefs: Option<Believed>,
}

/// One run, as far as it is compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scored {
    /// Its seed.
    pub seed: u64,
    /// Its folder.
    pub folder: PathBuf,
    /// Mean return over the episodes of each evaluation, at the environment's steps.
    pub curve: Vec<f64>,
    /// The last of them.
    pub final_return: f64,
    /// Their mean: the area under the curve, on its scale.
    pub area: f64,
}

impl Entry {
    /// The final return of each seed.
    pub fn finals(&self) -> Vec<f64> {
        self.runs.iter().map(|run| run.final_return).collect()
    }
}

impl Environment {
    /// Compares groups of runs.
    pub(super) fn of(
        env: &str,
        groups: &BTreeMap<Label, Vec<Run>>,
        returns: Returns,
        chance: Chance,
    ) -> Result<Self> {
        let Selection { groups: selected, steps, left_out } = Selection::of(groups, returns);
        let entry = |(label, group): &(&Label, Vec<&Run>)| entry(env, label, group, &steps, chance);
        let entries: Vec<Entry> = selected.iter().map(entry).collect::<Result<_>>()?;
        let finals: Vec<(&str, Vec<Vec<f64>>)> =
            entries.iter().map(|entry| (entry.label.as_str(), vec![entry.finals()])).collect();
        let improvement = improvements(env, &finals, chance)?;
        let runs: Vec<&Run> = selected.into_iter().flat_map(|(_, group)| group).collect();
        let mut notes = left_out_notes(&left_out, &entries);
        notes.extend(length_notes(&runs, &steps, returns));
        notes.extend(seed_notes(&entries));
        notes.extend(believed::notes(&runs, steps.last().copied().unwrap_or(0)));
        let range = Range::of(env, &runs);
        Ok(Self { env: env.to_owned(), steps, entries, improvement, range, left_out, notes })
    }
}

fn entry(env: &str, label: &Label, group: &[&Run], steps: &[u64], chance: Chance) -> Result<Entry> {
    let label = label.to_string();
    let runs: Vec<Scored> = group.iter().map(|run| scored(run, steps)).collect();
    let name = |what: &str| format!("{env}/{label}/{what}");
    let over = |pick: fn(&Scored) -> f64| vec![runs.iter().map(pick).collect::<Vec<f64>>()];
    let final_return = chance.iqm(&final_name(env, &label), &over(|run| run.final_return))?;
    let area = chance.iqm(&name("area"), &over(|run| run.area))?;
    let at = |(i, step): (usize, &u64)| {
        let values: Vec<f64> = runs.iter().map(|run| run.curve[i]).collect();
        chance.mean(&name(&step.to_string()), &values)
    };
    let curve = steps.iter().enumerate().map(at).collect::<Result<_>>()?;
    Ok(Entry { label, runs, final_return, area, curve, beliefs: Believed::of(group) })
}

fn scored(run: &Run, steps: &[u64]) -> Scored {
    let common = run.evaluations.iter().filter(|evaluation| steps.binary_search(&evaluation.step).is_ok());
    let curve: Vec<f64> = common.map(|evaluation| evaluation.mean()).collect();
    let final_return = curve.last().copied().unwrap_or(f64::NAN);
    Scored { seed: run.head.seed, folder: run.folder.clone(), final_return, area: mean(&curve), curve }
}

/// A line for each run that is not compared, and one for each label that has no other.
fn left_out_notes(left_out: &[LeftOut], entries: &[Entry]) -> Vec<String> {
    let line = |it: &LeftOut| format!("Left out: {} {}.", it.folder.display(), it.reason);
    let mut notes: Vec<String> = left_out.iter().map(line).collect();
    let gone: BTreeSet<&str> = left_out.iter().map(|it| it.label.as_str()).collect();
    let gone = gone.into_iter().filter(|label| entries.iter().all(|entry| entry.label != *label));
    notes.extend(gone.map(|label| format!("No run of {label} is compared here.")));
    notes
}

/// What of the compared runs is not compared.
fn length_notes(runs: &[&Run], steps: &[u64], returns: Returns) -> Vec<String> {
    let mut notes = vec![];
    let last = steps.last().copied().unwrap_or(0);
    let further: Vec<String> = runs
        .iter()
        .filter(|run| run.last_step() > last)
        .map(|run| format!("{} (to step {})", run.folder.display(), count(run.last_step())))
        .collect();
    if !further.is_empty() {
        notes.push(format!(
            "Compared up to step {}, the last that most runs have. These go on: {}.",
            count(last),
            further.join(", ")
        ));
    }
    let all: BTreeSet<u64> = runs.iter().flat_map(|run| &run.evaluations).map(|at| at.step).collect();
    let skipped = all.range(..last).count() + 1 - steps.len();
    if skipped > 0 {
        let what = returns.noun(skipped);
        notes.push(format!("{skipped} {what} before that step are left out: not all runs have them."));
    }
    notes
}

/// With fewer seeds intervals are taken for hints.
const ENOUGH: usize = 8;

/// What the numbers of seeds mean for the intervals and probabilities.
fn seed_notes(entries: &[Entry]) -> Vec<String> {
    let mut notes = vec![];
    let counts: BTreeSet<usize> = entries.iter().map(|entry| entry.runs.len()).collect();
    if counts.len() > 1 {
        notes.push("Labels have different numbers of seeds.".to_owned());
    }
    let few = counts.first().copied().unwrap_or(0);
    if few == 1 {
        notes.push(match entries.len() {
            1 => "There is one seed: intervals need two or more.".to_owned(),
            _ => "Values without an interval rest on one seed. Intervals need two seeds or more, and P(row > column) \
                  needs them on both sides."
                .to_owned(),
        });
    }
    if let Some(few) = counts.range(2..ENOUGH).next() {
        let mean = if *few < 4 { ", and an IQM of fewer than four is the mean" } else { "" };
        notes.push(format!(
            "A bootstrap of {few} seeds gives intervals that are too short{mean}: take them for hints."
        ));
    }
    notes
}

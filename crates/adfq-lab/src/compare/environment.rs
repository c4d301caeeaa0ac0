//! The runs of one environment side by side, at the evaluations that all of them have.

use super::label::Label;
use super::run::{Returns, Run};
use super::score::{Chance, Improvement, Score, improvements};
use crate::stats::mean;
use crate::{Error, Result};
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
    /// For each pair of labels, the probability that the final return of one exceeds the other's.
    pub improvement: Vec<Improvement>,
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
        let runs: Vec<&Run> = groups.values().flatten().collect();
        let steps = common_steps(env, &runs, returns)?;
        let entry = |(label, group): (&Label, &Vec<Run>)| entry(env, label, group, &steps, chance);
        let entries: Vec<Entry> = groups.iter().map(entry).collect::<Result<_>>()?;
        let finals: Vec<(&str, Vec<Vec<f64>>)> =
            entries.iter().map(|entry| (entry.label.as_str(), vec![entry.finals()])).collect();
        let improvement = improvements(env, &finals, chance)?;
        let notes = notes(&runs, &entries, &steps, returns);
        Ok(Self { env: env.to_owned(), steps, entries, improvement, notes })
    }
}

fn entry(env: &str, label: &Label, group: &[Run], steps: &[u64], chance: Chance) -> Result<Entry> {
    let label = label.to_string();
    let runs: Vec<Scored> = group.iter().map(|run| scored(run, steps)).collect();
    let name = |what: &str| format!("{env}/{label}/{what}");
    let over = |pick: fn(&Scored) -> f64| vec![runs.iter().map(pick).collect::<Vec<f64>>()];
    let final_return = chance.iqm(&name("final"), &over(|run| run.final_return))?;
    let area = chance.iqm(&name("area"), &over(|run| run.area))?;
    let at = |(i, step): (usize, &u64)| {
        let values: Vec<f64> = runs.iter().map(|run| run.curve[i]).collect();
        chance.mean(&name(&step.to_string()), &values)
    };
    let curve = steps.iter().enumerate().map(at).collect::<Result<_>>()?;
    Ok(Entry { label, runs, final_return, area, curve })
}

fn scored(run: &Run, steps: &[u64]) -> Scored {
    let common = run.evaluations.iter().filter(|evaluation| steps.binary_search(&evaluation.step).is_ok());
    let curve: Vec<f64> = common.map(|evaluation| evaluation.mean()).collect();
    let final_return = curve.last().copied().unwrap_or(f64::NAN);
    Scored { seed: run.head.seed, folder: run.folder.clone(), final_return, area: mean(&curve), curve }
}

/// The steps at which all runs were evaluated; none of them lies beyond the end of the shortest.
fn common_steps(env: &str, runs: &[&Run], returns: Returns) -> Result<Vec<u64>> {
    let of = |run: &&Run| run.evaluations.iter().map(|evaluation| evaluation.step).collect::<BTreeSet<_>>();
    let common = runs.iter().map(of).reduce(|a, b| &a & &b).unwrap_or_default();
    if common.is_empty() {
        return Err(Error::NoCommonStep { env: env.to_owned(), setting: returns.interval() });
    }
    Ok(common.into_iter().collect())
}

/// With fewer seeds intervals are taken for hints.
const ENOUGH: usize = 8;

fn notes(runs: &[&Run], entries: &[Entry], steps: &[u64], returns: Returns) -> Vec<String> {
    let mut notes = vec![];
    let last = steps.last().copied().unwrap_or(0);
    let further = runs.iter().filter(|run| run.last_step() > last).count();
    if let (1.., Some(shortest)) = (further, runs.iter().min_by_key(|run| run.last_step())) {
        let (folder, end) = (shortest.folder.display(), shortest.last_step());
        notes.push(match end == last {
            true => format!(
                "Compared up to step {last}, where {folder} ends; {further} of {} runs {} further.",
                runs.len(),
                if further == 1 { "goes" } else { "go" }
            ),
            false => format!("Compared up to step {last}, the last at which all runs were evaluated."),
        });
    }
    let all: BTreeSet<u64> = runs.iter().flat_map(|run| &run.evaluations).map(|at| at.step).collect();
    let skipped = all.range(..last).count() + 1 - steps.len();
    if skipped > 0 {
        let what = returns.noun(skipped);
        notes.push(format!("{skipped} {what} before that step are left out: not all runs have them."));
    }
    let counts: BTreeSet<usize> = entries.iter().map(|entry| entry.runs.len()).collect();
    if counts.len() > 1 {
        notes.push("Labels have different numbers of seeds.".to_owned());
    }
    let few = counts.first().copied().unwrap_or(0);
    if few == 1 {
        notes.push(
            "Values without an interval rest on one seed: intervals need two seeds or more.".to_owned(),
        );
    }
    if let Some(few) = counts.range(2..ENOUGH).next() {
        let mean = if *few < 4 { ", and an IQM of fewer than four is the mean" } else { "" };
        notes.push(format!(
            "A bootstrap of {few} seeds gives intervals that are too short{mean}: take them for hints."
        ));
    }
    notes
}

//! Which runs of an environment are compared, and at which steps: a short or odd run is left out, and does not cut the
//! others to its length.

use super::label::Label;
use super::run::{Returns, Run};
use adfq_report::text::count;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// A run that is not compared, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Where it lies.
    pub folder: PathBuf,
    /// Agent and policy, and what sets it apart.
    pub label: String,
    /// Its seed.
    pub seed: u64,
    /// Why, as the end of a sentence that begins with the folder: `ends at step 1,000`.
    pub reason: String,
}

/// The runs of one environment that are compared.
pub struct Selection<'a> {
    /// The runs of each label, by increasing seed; no label is without one.
    pub groups: Vec<(&'a Label, Vec<&'a Run>)>,
    /// The steps at which all of them were evaluated.
    pub steps: Vec<u64>,
    /// The other runs.
    pub left_out: Vec<LeftOut>,
}

/// One run with the label it is pooled under.
#[derive(Clone, Copy)]
struct Candidate<'a> {
    label: &'a Label,
    run: &'a Run,
}

impl Candidate<'_> {
    fn left_out(&self, reason: String) -> LeftOut {
        let Run { folder, head, .. } = self.run;
        LeftOut { folder: folder.clone(), label: self.label.to_string(), seed: head.seed, reason }
    }
}

impl<'a> Selection<'a> {
    /// Selects in four steps: the last step that is compared, the runs that were evaluated there, one of those with
    /// the same label and seed, and those that were evaluated when most were.
    pub fn of(groups: &'a BTreeMap<Label, Vec<Run>>, returns: Returns) -> Self {
        let candidates = groups.iter().flat_map(|(label, runs)| runs.iter().map(move |run| (label, run)));
        let all: Vec<Candidate> = candidates.map(|(label, run)| Candidate { label, run }).collect();
        let mut left_out = vec![];
        let end = end(&all);
        let kept = split(all, &mut left_out, |it| reason_to_miss(it.run, end, returns));
        let kept = without_twins(kept, &mut left_out);
        let usual = usual_steps(&kept, end);
        let kept = split(kept, &mut left_out, |it| is_odd(it.run, &usual, returns));
        let steps = kept.iter().map(|it| steps_of(it.run)).reduce(|a, b| &a & &b).unwrap_or_default();
        let steps = steps.into_iter().filter(|&step| step <= end).collect();
        let mut groups: Vec<(&Label, Vec<&Run>)> = vec![];
        for Candidate { label, run } in kept {
            match groups.last_mut() {
                Some((last, runs)) if *last == label => runs.push(run),
                _ => groups.push((label, vec![run])),
            }
        }
        Self { groups, steps, left_out }
    }
}

/// Keeps those for which there is no reason to leave them out.
fn split<'a>(
    all: Vec<Candidate<'a>>,
    left_out: &mut Vec<LeftOut>,
    reason: impl Fn(&Candidate) -> Option<String>,
) -> Vec<Candidate<'a>> {
    let mut kept = vec![];
    for candidate in all {
        match reason(&candidate) {
            Some(reason) => left_out.push(candidate.left_out(reason)),
            None => kept.push(candidate),
        }
    }
    kept
}

fn steps_of(run: &Run) -> BTreeSet<u64> {
    run.evaluations.iter().map(|evaluation| evaluation.step).collect()
}

/// The last step that is compared: the end of a run at which most training is compared, that is, for which step ×
/// number of runs is largest. A single run is compared with nothing, so two or more must have been evaluated there. If
/// no end is such, any step will do; if none is shared at all, the longest run stands alone.
fn end(all: &[Candidate]) -> u64 {
    let mut reached: BTreeMap<u64, BTreeSet<(&Label, u64)>> = BTreeMap::new();
    for Candidate { label, run } in all {
        for step in steps_of(run) {
            reached.entry(step).or_default().insert((label, run.head.seed));
        }
    }
    let training = |step: &u64| {
        let runs = reached.get(step).map_or(0, BTreeSet::len);
        (runs >= 2).then_some((u128::from(*step) * runs as u128, runs))
    };
    let best =
        |steps: BTreeSet<u64>| steps.into_iter().filter_map(|step| Some((training(&step)?, step))).max();
    let longest = all.iter().map(|it| it.run.last_step()).max().unwrap_or(0);
    let chosen = best(ends(all)).or_else(|| best(reached.keys().copied().collect()));
    chosen.map_or(longest, |(_, step)| step)
}

/// Where runs end. The place that a run has reached so far is an end only where it is beyond all runs that are done.
fn ends(all: &[Candidate]) -> BTreeSet<u64> {
    let is_done = |run: &Run| run.last_step() >= run.head.steps;
    let done = all.iter().filter(|it| is_done(it.run)).map(|it| it.run.last_step()).max().unwrap_or(0);
    all.iter()
        .map(|it| it.run)
        .filter(|run| is_done(run) || run.last_step() > done)
        .map(Run::last_step)
        .collect()
}

fn reason_to_miss(run: &Run, end: u64, returns: Returns) -> Option<String> {
    let (last, asked) = (run.last_step(), run.head.steps);
    if last >= end {
        return (!steps_of(run).contains(&end))
            .then(|| format!("has no {} at step {}", returns.noun(1), count(end)));
    }
    Some(match last < asked {
        true => format!("has reached step {} of {}", count(last), count(asked)),
        false => format!("ends at step {}", count(last)),
    })
}

/// Of runs with the same label and seed, the one that ends first: it was made for this length.
fn without_twins<'a>(all: Vec<Candidate<'a>>, left_out: &mut Vec<LeftOut>) -> Vec<Candidate<'a>> {
    let mut kept: Vec<Candidate> = vec![];
    for candidate in all {
        let twin = kept
            .last_mut()
            .filter(|it| it.label == candidate.label && it.run.head.seed == candidate.run.head.seed);
        let Some(twin) = twin else {
            kept.push(candidate);
            continue;
        };
        let (used, other) = match candidate.run.last_step() < twin.run.last_step() {
            true => (candidate, *twin),
            false => (*twin, candidate),
        };
        let same = used.run.folder.display();
        left_out.push(
            other.left_out(format!("is the same as {same}, {} with seed {}", used.label, used.run.head.seed)),
        );
        *twin = used;
    }
    kept
}

/// The steps up to the end at which more than half of the runs were evaluated.
fn usual_steps(runs: &[Candidate], end: u64) -> BTreeSet<u64> {
    let mut reached: BTreeMap<u64, usize> = BTreeMap::new();
    for step in runs.iter().flat_map(|it| steps_of(it.run)).filter(|&step| step <= end) {
        *reached.entry(step).or_default() += 1;
    }
    reached.into_iter().filter(|&(_, count)| 2 * count > runs.len()).map(|(step, _)| step).collect()
}

/// A run that misses more than half of the usual steps would take them from all others.
fn is_odd(run: &Run, usual: &BTreeSet<u64>, returns: Returns) -> Option<String> {
    let has = usual.intersection(&steps_of(run)).count();
    let noun = returns.noun(2);
    (2 * has < usual.len()).then(|| format!("has {has} of the {} {noun} that most runs have", usual.len()))
}

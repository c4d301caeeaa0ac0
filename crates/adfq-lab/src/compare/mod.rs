//! Training runs side by side, over seeds and environments.
//!
//! [`find`] lists run folders, [`Run`] reads one, runs that differ in the seed alone are pooled under one label.
//! `select` decides which runs of an environment are compared and at which steps, `environment` compares the labels of
//! one environment and `aggregate` those over several, on the scale of `range` (Agarwal et al. 2021). [`summary()`]
//! makes the tables for a terminal, [`write()`] the files. Training itself is not known here: only the files it leaves.

mod aggregate;
mod believed;
mod environment;
mod figure;
mod label;
mod range;
mod run;
mod score;
mod select;
mod summary;
mod write;

pub use believed::Believed;
pub(crate) use label::label_of;
pub use label::labels;
pub use range::Range;
pub use run::{Returns, Run, find};
pub use score::{Score, band};
pub use select::LeftOut;
pub use summary::summary;
pub use write::{page, pictures, write};

use crate::Result;
use aggregate::Aggregate;
use environment::{Entry, Environment};
use score::{Chance, Improvement};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// All that is known about some runs.
///
/// ```
/// # let dir = tempfile::tempdir().unwrap();
/// use adfq_lab::compare::{Comparison, Returns, Run};
///
/// for (seed, reached) in [(0, 480), (1, 500)] {
///     let folder = dir.path().join(format!("seed-{seed}"));
///     std::fs::create_dir(&folder).unwrap();
///     let config = format!("env = \"cartpole\"\nagent = \"dqn\"\npolicy = \"epsilon\"\nseed = {seed}\nsteps = 20\n");
///     std::fs::write(folder.join("config.toml"), config).unwrap();
///     let evaluations = format!("step,episode,return,length\n10,0,20,20\n20,0,{reached},{reached}\n");
///     std::fs::write(folder.join("evaluations.csv"), evaluations).unwrap();
/// }
/// let runs = adfq_lab::compare::find(&[dir.path().to_owned()])?;
/// let runs = runs.iter().map(|folder| Run::read(folder, Returns::Evaluation)).collect::<Result<_, _>>()?;
/// let comparison = Comparison::of(runs, 0)?;
/// let dqn = &comparison.environments[0].entries[0];
/// assert_eq!((dqn.label.as_str(), dqn.runs.len()), ("DQN", 2));
/// assert_eq!((dqn.final_return.value, dqn.area.value), (490.0, 255.0));
/// # Ok::<(), adfq_lab::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The seed of the bootstrap.
    pub seed: u64,
    /// Which returns were compared; in files of before there was a choice, those of evaluations.
    #[serde(default)]
    pub returns: Returns,
    /// All labels, in the order in which they are shown.
    pub labels: Vec<String>,
    /// Each environment for itself.
    pub environments: Vec<Environment>,
    /// All environments together, where there are several and the labels have runs in them.
    pub aggregate: Option<Aggregate>,
    /// What a reader has to know of the whole.
    pub notes: Vec<String>,
}

impl Comparison {
    /// Compares runs; `seed` is that of the bootstrap. The same runs and seed give the same numbers.
    pub fn of(runs: Vec<Run>, seed: u64) -> Result<Self> {
        let returns = runs.first().map_or(Returns::default(), |run| run.returns);
        let (chance, groups) = (Chance(seed), label::group(runs));
        let environments: Vec<Environment> = groups
            .iter()
            .map(|(env, groups)| Environment::of(env, groups, returns, chance))
            .collect::<Result<_>>()?;
        let known: BTreeSet<_> = groups.values().flat_map(|labels| labels.keys()).collect();
        let is_compared = |label: &String| {
            environments.iter().flat_map(|it| &it.entries).any(|entry| entry.label == *label)
        };
        let labels: Vec<String> =
            known.into_iter().map(|label| label.to_string()).filter(is_compared).collect();
        let aggregate = aggregate::aggregate(&environments, &labels, chance)?;
        let notes = outside(&environments, &labels);
        Ok(Self { seed, returns, labels, environments, aggregate, notes })
    }

    /// How many runs were compared.
    pub fn runs(&self) -> usize {
        self.environments
            .iter()
            .flat_map(|environment| &environment.entries)
            .map(|entry| entry.runs.len())
            .sum()
    }
}

/// Says which of several environments take no part in the comparison over all of them, and why.
fn outside(environments: &[Environment], labels: &[String]) -> Vec<String> {
    let list = |is_outside: &dyn Fn(&&Environment) -> bool| {
        let names: Vec<&str> = environments.iter().filter(is_outside).map(|it| it.env.as_str()).collect();
        names.join(", ")
    };
    let unknown = list(&|it| it.range.is_none());
    let partial = list(&|it| it.range.is_some() && it.entries.len() < labels.len());
    let mut notes = vec![];
    if environments.len() > 1 && !unknown.is_empty() {
        notes.push(format!("Not compared over environments, without reference scores: {unknown}."));
    }
    if environments.len() > 1 && !partial.is_empty() {
        notes.push(format!("Not compared over environments, without runs of all labels: {partial}."));
    }
    notes
}

#[cfg(test)]
mod tests;

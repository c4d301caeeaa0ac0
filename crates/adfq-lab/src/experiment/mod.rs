//! Experiments as data: what to run, cut into independent units, and what to conclude from their outcomes.
//!
//! An `Experiment` lists its units; each of them is computed once, on any thread, and kept in a
//! `Cache`. When all are there, `Experiment::analyse` turns the outcomes into `Findings`: prose,
//! figures, claims with verdicts, and tables, and `Folder` writes them down. Most units are learning trials.
//! Which experiments there are is stated in [`paper`](crate::paper) and [`study`](crate::study).

pub(crate) mod agents;
pub(crate) mod deep_sea;
mod folder;
pub(crate) mod phases;
mod record;
pub(crate) mod results;
pub(crate) mod solved_domain;
pub(crate) mod trial;

pub(crate) use folder::{Folder, distinct};

use crate::cache::{Cache, fingerprint};
use crate::plot::Figure;
use crate::report::Section;
use crate::table::Table;
use crate::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, Ordering};

/// How large to run the experiments, and from which seed.
///
/// ```
/// use adfq_lab::experiment::Plan;
///
/// assert_eq!(Plan::default().trials, 10);
/// assert_eq!(Plan::quick().steps(10_000), 2_000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The seed from which every unit derives its generators.
    pub seed: u64,
    /// How often each trial is repeated.
    pub trials: usize,
    /// By how much to divide the length of every run: 1 for the paper's lengths.
    pub shorten: u64,
    /// Whether to run KTD-Q on Maze too, which takes longer than everything else together.
    pub ktd_on_maze: bool,
}

impl Default for Plan {
    /// The paper's: ten trials of full length.
    fn default() -> Self {
        Self { seed: 7, trials: 10, shorten: 1, ktd_on_maze: true }
    }
}

impl Plan {
    /// A first look: three trials of a fifth of the length, without KTD-Q on Maze.
    pub fn quick() -> Self {
        Self { trials: 3, shorten: 5, ktd_on_maze: false, ..Self::default() }
    }

    /// How many steps stand for so many steps of the full experiment.
    pub fn steps(&self, full: u64) -> u64 {
        (full / self.shorten.max(1)).max(1)
    }
}

/// A flag that asks running work to stop soon, raised by Ctrl-C.
///
/// ```
/// use adfq_lab::experiment::Stop;
///
/// let stop = Stop::default();
/// assert!(stop.check().is_ok());
/// stop.raise();
/// assert!(stop.check().is_err());
/// ```
#[derive(Debug, Default)]
pub struct Stop(AtomicBool);

impl Stop {
    /// Asks to stop.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked to stop.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// [`Error::Interrupted`] if somebody asked to stop. Long units call it every now and then.
    pub fn check(&self) -> Result<()> {
        if self.is_raised() { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// An experiment: units of work, and what their outcomes say.
pub(crate) trait Experiment: Sync {
    /// One independent piece of work, as data. Its `Debug` form is its fingerprint in the cache, so it must show
    /// everything that the outcome depends on: settings, lengths and the seed.
    type Unit: Debug + Send + Sync;
    /// What a unit yields. Fields that may be NaN are marked with [`float`](crate::float).
    type Outcome: Serialize + DeserializeOwned;

    /// All units, in the order in which [`analyse`](Self::analyse) gets their outcomes.
    fn units(&self) -> Vec<Self::Unit>;
    /// The unit's unique name, which is also the name of its random streams. Experiments that share a unit (same
    /// name, same fingerprint) share its outcome.
    fn key(&self, unit: &Self::Unit) -> String;
    /// Does the work. Randomness comes from [`stream`](adfq::random::stream)s named after the unit; a unit that takes
    /// more than a second asks [`Stop::check`] every now and then.
    fn compute(&self, unit: &Self::Unit, stop: &Stop) -> Result<Self::Outcome>;
    /// Concludes.
    fn analyse(&self, outcomes: &[(Self::Unit, Self::Outcome)]) -> Result<Findings>;
}

/// What an experiment found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Findings {
    /// Prose, claims and the tables to be read. Whoever writes the findings down adds the figures and links.
    pub section: Section,
    /// The figures, each with the name of its files (without folder and ending).
    pub figures: Vec<(String, Figure)>,
    /// The numbers behind the figures, each table with the name of its files.
    pub data: Vec<(String, Table)>,
}

impl Findings {
    /// Findings without figures and data.
    pub fn new(section: Section) -> Self {
        Self { section, figures: Vec::new(), data: Vec::new() }
    }

    /// With one more figure.
    pub fn figure(mut self, name: impl Into<String>, figure: Figure) -> Self {
        self.figures.push((name.into(), figure));
        self
    }

    /// With one more table of data.
    pub fn data(mut self, name: impl Into<String>, table: Table) -> Self {
        self.data.push((name.into(), table));
        self
    }
}

/// A unit whose type has been forgotten: work that leaves its outcome in the cache.
pub(crate) struct Task<'a> {
    /// The unit's key.
    pub key: String,
    /// Computes the unit unless the cache has it.
    #[expect(clippy::type_complexity, reason = "a plain closure; an alias would only hide it")]
    pub work: Box<dyn Fn(&Cache, &Stop) -> Result<()> + Send + Sync + 'a>,
}

/// An [`Experiment`] whose types have been forgotten, so that different ones fit into one list.
pub(crate) trait Job: Sync {
    /// The work to be done.
    fn tasks(&self) -> Vec<Task<'_>>;
    /// The findings, from outcomes in the cache. What is missing there is computed here and now.
    fn findings(&self, cache: &Cache, stop: &Stop) -> Result<Findings>;
}

impl<E: Experiment> Job for E {
    fn tasks(&self) -> Vec<Task<'_>> {
        let task = |unit: E::Unit| Task {
            key: self.key(&unit),
            work: Box::new(move |cache: &Cache, stop: &Stop| outcome(self, &unit, cache, stop).map(drop)),
        };
        self.units().into_iter().map(task).collect()
    }

    fn findings(&self, cache: &Cache, stop: &Stop) -> Result<Findings> {
        self.analyse(&outcomes(self, cache, stop)?)
    }
}

/// The outcomes of all units, in their order, from the cache or computed.
pub(crate) fn outcomes<E: Experiment>(
    experiment: &E,
    cache: &Cache,
    stop: &Stop,
) -> Result<Vec<(E::Unit, E::Outcome)>> {
    let with_outcome = |unit: E::Unit| {
        let outcome = outcome(experiment, &unit, cache, stop)?;
        Ok((unit, outcome))
    };
    experiment.units().into_iter().map(with_outcome).collect()
}

/// The outcome of one unit, from the cache or computed.
fn outcome<E: Experiment>(experiment: &E, unit: &E::Unit, cache: &Cache, stop: &Stop) -> Result<E::Outcome> {
    cache.get_or_compute(&experiment.key(unit), &fingerprint(unit), || {
        stop.check()?;
        experiment.compute(unit, stop)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Squares;

    impl Experiment for Squares {
        type Unit = u32;
        type Outcome = u32;
        fn units(&self) -> Vec<u32> {
            vec![1, 2, 3]
        }
        fn key(&self, unit: &u32) -> String {
            format!("squares/{unit}")
        }
        fn compute(&self, unit: &u32, _stop: &Stop) -> Result<u32> {
            Ok(unit * unit)
        }
        fn analyse(&self, outcomes: &[(u32, u32)]) -> Result<Findings> {
            let sum: u32 = outcomes.iter().map(|(_, square)| square).sum();
            Ok(Findings::new(Section::new("Squares").paragraph(format!("They sum to {sum}."))))
        }
    }

    #[test]
    fn outcomes_of_tasks_become_findings() {
        let dir = tempfile::tempdir().unwrap();
        let (cache, stop) = (Cache::open(dir.path()).unwrap(), Stop::default());
        for task in Squares.tasks() {
            (task.work)(&cache, &stop).unwrap(); // on any thread, in any order
        }
        assert_eq!(Squares.findings(&cache, &stop).unwrap().section.paragraphs, ["They sum to 14."]);
    }
}

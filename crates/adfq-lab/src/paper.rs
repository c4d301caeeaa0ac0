//! Runs the chosen experiments of the paper and writes everything down in a [`Folder`].

use crate::Result;
use crate::experiment::{Job, Plan, Stop, Task, registry};
use crate::folder::Folder;
use crate::report::{Provenance, Report};
use rayon::prelude::*;
use std::path::Path;

/// The experiments of the paper, or some of them, ready to run.
///
/// ```
/// # let dir = tempfile::tempdir().unwrap();
/// # let out = dir.path();
/// use adfq_lab::experiment::{Plan, Stop};
/// use adfq_lab::paper::Paper;
///
/// let plan = Plan { trials: 2, shorten: 100, ..Plan::quick() };
/// let paper = Paper::new(plan, &["simple10".to_owned()], "an example")?;
/// let report = paper.run(out, &Stop::default(), || {})?;
/// assert_eq!(report.sections.len(), 1);
/// assert!(out.join("index.html").exists() && out.join("figures/rmse.svg").exists());
/// # Ok::<(), adfq_lab::Error>(())
/// ```
pub struct Paper {
    plan: Plan,
    /// How the run was asked for, for the report.
    command: String,
    jobs: Vec<(&'static registry::Entry, Box<dyn Job>)>,
}

impl Paper {
    /// The experiments that `only` chooses (see [`registry::choose`]). `command` goes into the report.
    pub fn new(plan: Plan, only: &[String], command: impl Into<String>) -> Result<Self> {
        Ok(Self { plan, command: command.into(), jobs: registry::choose(&plan, only)? })
    }

    /// Removes the outcomes that earlier runs left in `out`.
    pub fn forget(out: &Path) -> Result<()> {
        Folder::forget(out)
    }

    /// How many units of work there are.
    pub fn units(&self) -> usize {
        crate::folder::distinct(self.tasks()).len()
    }

    /// Runs what `out` does not hold yet, in parallel, and writes the report there.
    ///
    /// `done` is called after each unit. Runs on the current thread pool of `rayon`; the files are the same
    /// whatever its size. A folder that cannot be written is an error before any work is done.
    pub fn run(&self, out: &Path, stop: &Stop, done: impl Fn() + Sync) -> Result<Report> {
        let folder = Folder::open(out)?;
        folder.work(self.tasks(), stop, done)?;
        let sections = self.jobs.par_iter().map(|(entry, job)| {
            let findings = job.findings(&folder.cache, stop)?;
            folder.write(entry.name, findings)
        });
        let mut report = Report::new("ADFQ, its paper's experiments run again", self.provenance());
        report.intro = self.intro();
        report.sections = sections.collect::<Result<_>>()?;
        folder.finish(&report)?;
        Ok(report)
    }

    /// The work of all experiments.
    fn tasks(&self) -> Vec<Task<'_>> {
        self.jobs.iter().flat_map(|(_, job)| job.tasks()).collect()
    }

    fn intro(&self) -> Vec<String> {
        let mut intro = INTRO.map(String::from).to_vec();
        let Plan { trials, shorten, .. } = self.plan;
        if shorten > 1 {
            intro.push(format!(
                "This is a first look: every run is {shorten} times shorter than the paper's."
            ));
        }
        if trials < ENOUGH {
            intro.push(format!(
                "It rests on {trials} trials. A bootstrap of so few gives intervals that are too short: take the \
                 verdicts for hints."
            ));
        }
        intro
    }

    fn provenance(&self) -> Provenance {
        let Plan { seed, trials, .. } = self.plan;
        let (version, command) = (env!("CARGO_PKG_VERSION").to_owned(), self.command.clone());
        Provenance { version, seed, trials, command }
    }
}

/// With fewer trials the report warns of its own verdicts.
const ENOUGH: usize = 8;

const INTRO: [&str; 2] = [
    "Each section runs one experiment of “Assumed Density Filtering Q-learning” (Jeong, Zhang, Pappas and Lee) \
     again, or one beyond it, and puts the paper's claims, in our words, to the test.",
    "A verdict is computed, not written: it is “holds” if the 95 % bootstrap interval of the paired difference \
     over trials lies on the claimed side of zero, “does not hold” if it lies on the other side, and “not \
     decided” if it reaches zero. Where nothing is random, the number itself takes the place of the interval.",
];

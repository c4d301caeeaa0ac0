//! Fair rivals: what Split ADFQ earns beside agents that keep counts of outcomes as it does.
//!
//! `domains` says where, `entrants` who, `choice` with which setting; `score` puts rewards on one scale, and `standing`
//! concludes. Settings are tried by the [`tuning`](super::tuning) of the study of calibration. This is a study of its own: its
//! trials are others, and the results of that study stay as they are.

mod choice;
mod domains;
mod entrants;
mod score;
mod standing;

use super::domains::DomainFacts;
use super::entrants::{Purpose, StudyAgent};
use super::tuning::{self, Tuning};
use super::{Settings, chosen};
use crate::Result;
use crate::experiment::agents::Contender;
use crate::experiment::results::{LearningTrials, Results};
use crate::experiment::trial::Trial;
use crate::experiment::{Experiment, Findings, Folder, Job, Plan, Stop, outcomes};
use crate::report::{Provenance, Report};
use choice::Grid;
use domains::DOMAINS;
use entrants::{RIVALS, Rival};
use std::path::Path;

/// Looks of a trial, beside the one before the first step.
const LOOKS: u64 = 10;

/// The comparison, or a part of it, ready to run.
///
/// ```
/// # let dir = tempfile::tempdir().unwrap();
/// # let out = dir.path();
/// use adfq_lab::experiment::Stop;
/// use adfq_lab::study::{Rivals, Settings};
///
/// let words = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
/// let settings =
///     Settings { agents: words("split psrl rmax"), domains: words("riverswim-6 chain"), ..Settings::quick() };
/// let report = Rivals::new(settings, "an example")?.run(out, &Stop::default(), || {})?;
/// assert!(report.sections[0].title.starts_with("Fair rivals: Split ADFQ earns "));
/// assert!(out.join("data/rivals_scores.csv").exists());
/// # Ok::<(), adfq_lab::Error>(())
/// ```
pub struct Rivals {
    settings: Settings,
    /// How the run was asked for, for the report.
    command: String,
    domains: Vec<DomainFacts>,
    rivals: Vec<&'static Rival>,
    /// The same as the tuning knows them.
    agents: Vec<&'static StudyAgent>,
}

impl Rivals {
    /// The comparison of these settings. `command` goes into the report.
    pub fn new(settings: Settings, command: impl Into<String>) -> Result<Self> {
        let domains = chosen(&DOMAINS, |domain| domain.name, &settings.domains)?;
        let rivals = chosen(&RIVALS, |rival| rival.agent.id, &settings.agents)?;
        let domains = domains.into_iter().map(DomainFacts::new).collect::<Result<_>>()?;
        let agents = rivals.iter().map(|rival| &rival.agent).collect();
        Ok(Self { settings, command: command.into(), domains, rivals, agents })
    }

    /// Removes the outcomes that earlier runs left in `out`: with fewer agents or domains, only theirs.
    pub fn forget(&self, out: &Path) -> Result<()> {
        let (tuning, trials) = (self.tuning(), self.trials(None));
        let jobs: [&dyn Job; 2] = [&tuning, &trials];
        let cache = &Folder::open(out)?.cache;
        jobs.iter().flat_map(|job| job.tasks()).try_for_each(|task| cache.forget(&task.key))
    }

    /// How many units of work there are.
    pub fn units(&self) -> usize {
        self.tuning().units().len() + self.trials(None).trials.len()
    }

    /// The seconds that one core is expected to take, by the choice that is first in every grid.
    pub fn expected_seconds(&self) -> f64 {
        let cost = |trial: &Trial| {
            let facts = self.domains.iter().find(|facts| facts.domain.name == trial.domain);
            tuning::seconds(trial, facts.map_or(0, |facts| facts.pairs))
        };
        let tuning: f64 = self.tuning().units().iter().flat_map(|unit| &unit.trials).map(cost).sum();
        tuning + self.trials(None).trials.iter().map(cost).sum::<f64>()
    }

    /// Runs what `out` does not hold yet, in parallel, and writes the report there.
    ///
    /// First every setting is tried, then everybody is run with its choices. `done` is called after each unit. Runs on the
    /// current thread pool of `rayon`; the files are the same whatever its size. A folder that cannot be written is
    /// an error before any work is done.
    pub fn run(&self, out: &Path, stop: &Stop, done: impl Fn() + Sync) -> Result<Report> {
        let folder = Folder::open(out)?;
        let tuning = self.tuning();
        folder.work(tuning.tasks(), stop, &done)?;
        let tuned = outcomes(&tuning, &folder.cache, stop)?;
        let trials = self.trials(Some(&Grid::new(&tuned)?));
        folder.work(trials.tasks(), stop, &done)?;
        let learned = outcomes(&trials, &folder.cache, stop)?;
        let mut report = Report::new("Fair rivals: agents that keep counts of outcomes", self.provenance());
        report.sections.push(folder.write("rivals", trials.analyse(&learned)?)?);
        report.sections.push(folder.write("tuning", tuning.analyse(&tuned)?)?);
        folder.finish(&report)?;
        Ok(report)
    }

    fn tuning(&self) -> Tuning<'_> {
        let Self { settings, domains, agents, .. } = self;
        Tuning { plan: &settings.plan, trials: settings.tuning_trials, domains, agents }
    }

    /// The trials that are reported, with the settings that the grid chooses, or else the first of each.
    fn trials(&self, grid: Option<&Grid>) -> LearningTrials<fn(&Results<'_>) -> Result<Findings>> {
        let mut trials = Vec::new();
        for facts in &self.domains {
            for rival in &self.rivals {
                let of = |choice: fn(&Grid, &str, &str) -> usize| {
                    grid.map_or(0, |grid| choice(grid, rival.agent.label, facts.domain.name))
                };
                trials.extend(self.trials_of(facts, rival, rival.single, of(Grid::single)));
                if rival.tuned != rival.single {
                    trials.extend(self.trials_of(facts, rival, rival.tuned, of(Grid::tuned)));
                }
            }
        }
        LearningTrials { trials, conclude: standing::conclude }
    }

    /// One trial for each number with one setting of a rival in a domain.
    fn trials_of(
        &self,
        facts: &DomainFacts,
        rival: &Rival,
        label: &'static str,
        option: usize,
    ) -> impl Iterator<Item = Trial> + use<> {
        let plan = self.settings.plan;
        let steps = plan.steps(facts.domain.online);
        let options = rival.agent.settings(facts, Purpose::Online, steps);
        let contender = options.get(option).map(|&(agent, policy)| Contender { label, agent, policy });
        let domain = facts.domain.name;
        contender.into_iter().flat_map(move |contender| {
            (0..plan.trials).map(move |number| Trial {
                family: "rivals",
                domain,
                contender,
                number,
                steps,
                looks: LOOKS,
                tests: false,
                seed: plan.seed,
            })
        })
    }

    fn provenance(&self) -> Provenance {
        let Plan { seed, trials, .. } = self.settings.plan;
        let (version, command) = (env!("CARGO_PKG_VERSION").to_owned(), self.command.clone());
        Provenance { version, seed, trials, command }
    }
}

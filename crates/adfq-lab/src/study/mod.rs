//! The study of calibration: can beliefs be trusted, and what does that cost?
//!
//! `domains` says where, `entrants` who, `tuning` with which settings; `trajectories`, `online` and `intervals`
//! are its experiments, `ranking` compares, `targets` and `ablation` conclude. The parts are those of the paper's
//! experiments: trials, cache, figures and report. [`Rivals`] is a study of its own: rewards beside those of agents that keep
//! counts as well.

mod ablation;
mod curves;
mod domains;
mod entrants;
mod intervals;
mod online;
mod ranking;
mod rivals;
mod targets;
mod trajectories;
mod tuning;

use crate::experiment::agents::{ADFQ, Contender};
use crate::experiment::results::{LearningTrials, Results};
use crate::experiment::trial::Trial;
use crate::experiment::{Experiment, Findings, Folder, Job, Plan, Stop, outcomes};
use crate::report::{Provenance, Report, Section};
use crate::{Error, Result};
use domains::{DOMAINS, DomainFacts};
use entrants::{AGENTS, CANDIDATE, Purpose, StudyAgent};
use intervals::Intervals;
use ranking::{Evidence, labels};
pub use rivals::Rivals;
use std::path::Path;
use tuning::{Choices, Tuning, choose};

/// Looks of a walk or of an agent that acts, beside the one before the first step.
const LOOKS: u64 = 50;

/// The study, or a part of it, ready to run.
///
/// ```
/// # let dir = tempfile::tempdir().unwrap();
/// # let out = dir.path();
/// use adfq_lab::experiment::Stop;
/// use adfq_lab::study::{Settings, Study};
///
/// let words = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
/// let settings = Settings { agents: words("adfq q-learning"), domains: words("chain"), ..Settings::quick() };
/// let report = Study::new(settings, "an example")?.run(out, &Stop::default(), || {})?;
/// assert!(report.sections[0].title.starts_with("Targets"));
/// assert!(out.join("index.html").exists() && out.join("ablation.md").exists());
/// # Ok::<(), adfq_lab::Error>(())
/// ```
pub struct Study {
    settings: Settings,
    /// How the run was asked for, for the report.
    command: String,
    domains: Vec<DomainFacts>,
    agents: Vec<&'static StudyAgent>,
}

/// How large to run the study, and which parts of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Seed, trials and lengths.
    pub plan: Plan,
    /// Trials that decide about a rival's setting.
    pub tuning_trials: usize,
    /// Names of agents, or parts of them; all if there is none.
    pub agents: Vec<String>,
    /// Names of domains, or parts of them; all if there is none.
    pub domains: Vec<String>,
}

impl Default for Settings {
    /// Twenty trials of full length, everybody and everywhere.
    fn default() -> Self {
        let plan = Plan { trials: 20, ..Plan::default() };
        Self { plan, tuning_trials: 3, agents: Vec::new(), domains: Vec::new() }
    }
}

impl Settings {
    /// A first look: two trials of a fiftieth of the length, and one for tuning.
    pub fn quick() -> Self {
        let base = Self::default();
        Self { plan: Plan { trials: 2, shorten: 50, ..base.plan }, tuning_trials: 1, ..base }
    }
}

/// The experiments, once every rival has its setting.
struct Experiments {
    walks: Trials,
    online: Trials,
    phases: Trials,
    intervals: Intervals,
}

/// Learning trials with what is concluded from them.
type Trials = LearningTrials<Box<dyn Fn(&Results<'_>) -> Result<Findings> + Sync>>;

impl Study {
    /// The study of these settings. `command` goes into the report.
    pub fn new(settings: Settings, command: impl Into<String>) -> Result<Self> {
        let domains = chosen(&DOMAINS, |domain| domain.name, &settings.domains)?;
        let agents = chosen(&AGENTS, |agent| agent.id, &settings.agents)?;
        let domains = domains.into_iter().map(DomainFacts::new).collect::<Result<_>>()?;
        Ok(Self { settings, command: command.into(), domains, agents })
    }

    /// Removes the outcomes that earlier runs of this study left in `out`: with fewer agents or domains, only theirs.
    pub fn forget(&self, out: &Path) -> Result<()> {
        let Experiments { walks, online, phases, intervals } = self.experiments(&Choices::new());
        let tuning = self.tuning();
        let jobs: [&dyn Job; 5] = [&tuning, &walks, &online, &phases, &intervals];
        let cache = &Folder::open(out)?.cache;
        jobs.iter().flat_map(|job| job.tasks()).try_for_each(|task| cache.forget(&task.key))
    }

    /// How many units of work there are.
    pub fn units(&self) -> usize {
        let units = self.experiments(&Choices::new());
        self.tuning().units().len() + units.trials().len() + units.intervals.0.len()
    }

    /// The seconds that one core is expected to take, by the choice that is first in every grid.
    pub fn expected_seconds(&self) -> f64 {
        let pairs = |trial: &Trial| {
            let facts = self.domains.iter().find(|facts| facts.domain.name == trial.domain);
            facts.map_or(0, |facts| facts.pairs)
        };
        let cost = |trial: &Trial| tuning::seconds(trial, pairs(trial));
        let tuning: f64 = self.tuning().units().iter().flat_map(|unit| &unit.trials).map(cost).sum();
        tuning + self.experiments(&Choices::new()).trials().iter().map(cost).sum::<f64>()
    }

    /// Runs what `out` does not hold yet, in parallel, and writes the report there.
    ///
    /// First every rival's setting is chosen, then all are run with it. `done` is called after each unit. Runs on the
    /// current thread pool of `rayon`; the files are the same whatever its size. A folder that cannot be written is
    /// an error before any work is done.
    pub fn run(&self, out: &Path, stop: &Stop, done: impl Fn() + Sync) -> Result<Report> {
        let folder = Folder::open(out)?;
        let tuning = self.tuning();
        folder.work(tuning.tasks(), stop, &done)?;
        let tuned = outcomes(&tuning, &folder.cache, stop)?;
        let Experiments { walks, online, phases, intervals } = self.experiments(&choose(&tuned));
        let mut tasks = walks.tasks();
        tasks.extend(online.tasks().into_iter().chain(phases.tasks()).chain(intervals.tasks()));
        folder.work(tasks, stop, &done)?;

        let walked = outcomes(&walks, &folder.cache, stop)?;
        let acted = outcomes(&online, &folder.cache, stop)?;
        let phased = outcomes(&phases, &folder.cache, stop)?;
        let evidence = Evidence::new(&walked, &acted, &phased)?;
        let mut report = Report::new("Beliefs one can trust: the study of calibration", self.provenance());
        report.intro = self.intro();
        report.sections.push(folder.write("targets", self.conclude(&evidence, &folder)?)?);
        if !intervals.0.is_empty() {
            report.sections.push(folder.write("bands", intervals.findings(&folder.cache, stop)?)?);
        }
        report.sections.push(folder.write("walks", (walks.conclude)(&evidence.walks)?)?);
        report.sections.push(folder.write("online", (online.conclude)(&evidence.online)?)?);
        if !phased.is_empty() {
            report.sections.push(folder.write("phases", (phases.conclude)(&evidence.phases)?)?);
        }
        report.sections.push(folder.write("tuning", tuning.analyse(&tuned)?)?);
        folder.finish(&report)?;
        Ok(report)
    }

    /// The targets for the candidate, and everybody by every measure.
    fn conclude(&self, evidence: &Evidence<'_>, folder: &Folder) -> Result<Findings> {
        let labels = labels(&evidence.online);
        let candidate = labels.iter().copied().find(|label| *label == CANDIDATE).or(labels.first().copied());
        let Some(candidate) = candidate else { return Ok(Findings::new(Section::new("Targets"))) };
        let found = targets::targets(evidence, candidate);
        let met = found.iter().filter(|target| target.is_met()).count();
        let (targets, ablation) = (targets::table(&found)?, ablation::table(evidence, &labels)?);
        folder.write_text("ablation.md", &ablation.markdown())?;
        let section = Section::new(format!("Targets of the study: {candidate} meets {met} of {}", found.len()))
            .paragraph(
                "Rivals are the paper's ADFQ with its own and with its best setting, Q-learning with the paper's rate \
                 and with its best constant rate, KTD-Q and Bayesian Q-learning. A target is met if the mean over \
                 trials meets it; the intervals are 95 % bootstrap intervals.",
            )
            .paragraph(ablation::LEGEND)
            .table(format!("Targets: {candidate}"), targets.clone())
            .table("Everybody by every measure", ablation.clone())
            .link("ablation.md", "ablation.md");
        Ok(Findings::new(section).data("targets", targets).data("ablation", ablation))
    }

    fn tuning(&self) -> Tuning<'_> {
        let Self { settings, domains, agents, .. } = self;
        Tuning { plan: &settings.plan, trials: settings.tuning_trials, domains, agents }
    }

    fn experiments(&self, choices: &Choices) -> Experiments {
        let walk = |facts: &DomainFacts| Some(facts.domain.walk);
        let online = |facts: &DomainFacts| Some(facts.domain.online);
        let phases = |facts: &DomainFacts| facts.domain.phase.map(|phase| 2 * phase);
        let walks = self.trials("study-walk", Purpose::Walk, LOOKS, choices, walk);
        let in_picture = |trial: &&Trial| {
            let is_shown = [ADFQ, CANDIDATE].contains(&trial.contender.label);
            trial.domain == intervals::DOMAIN && trial.number == 0 && is_shown
        };
        let plan = self.settings.plan;
        Experiments {
            intervals: Intervals(walks.iter().filter(in_picture).cloned().collect()),
            walks: Trials { trials: walks, conclude: Box::new(trajectories::conclude) },
            online: Trials {
                trials: self.trials("study-online", Purpose::Online, LOOKS, choices, online),
                conclude: Box::new(online::conclude),
            },
            phases: Trials {
                trials: self.trials("study-phases", Purpose::Online, 2, choices, phases),
                conclude: Box::new(move |results| online::conclude_phases(&plan, results)),
            },
        }
    }

    /// One trial per domain, agent and number, where `steps` gives a length.
    fn trials(
        &self,
        family: &'static str,
        purpose: Purpose,
        looks: u64,
        choices: &Choices,
        steps: impl Fn(&DomainFacts) -> Option<u64>,
    ) -> Vec<Trial> {
        let plan = &self.settings.plan;
        let mut trials = Vec::new();
        for facts in &self.domains {
            let Some(steps) = steps(facts).map(|steps| plan.steps(steps)) else { continue };
            let domain = facts.domain.name;
            for agent in &self.agents {
                let label = agent.label;
                let option = choices.get(&(purpose, domain, label)).copied().unwrap_or(0);
                let options = agent.settings(facts, purpose, steps);
                let Some(&(agent, policy)) = options.get(option) else { continue };
                let contender = Contender { label, agent, policy };
                let (tests, seed) = (false, plan.seed);
                let trial = |number| Trial { family, domain, contender, number, steps, looks, tests, seed };
                trials.extend((0..plan.trials).map(trial));
            }
        }
        trials
    }

    fn intro(&self) -> Vec<String> {
        let mut intro = INTRO.map(String::from).to_vec();
        let Plan { trials, shorten, .. } = self.settings.plan;
        if shorten > 1 {
            intro.push(format!(
                "This is a first look at {trials} trials, {shorten} times shorter than the study's."
            ));
        }
        intro
    }

    fn provenance(&self) -> Provenance {
        let Plan { seed, trials, .. } = self.settings.plan;
        let (version, command) = (env!("CARGO_PKG_VERSION").to_owned(), self.command.clone());
        Provenance { version, seed, trials, command }
    }
}

impl Experiments {
    /// All trials, those of the picture left out, which are among the walks.
    fn trials(&self) -> Vec<Trial> {
        [&self.walks.trials[..], &self.online.trials, &self.phases.trials].concat()
    }
}

const INTRO: [&str; 3] = [
    "An agent that knows what it does not know has Q* within two standard deviations of its belief for about 95 % of \
     all states and actions. ADFQ of the paper does not. This study measures how far each agent is from that, and what \
     its beliefs are worth: how fast they find Q*, and how much an agent earns with them.",
    "Rivals may be tuned for each domain on trials that are not reported; variants of ours have one setting everywhere, \
     which knows nothing of a domain (the stream: the declared range of rewards).",
    "What ours have and rivals have not: Split ADFQ keeps a tally of the outcomes of every pair and does ten more \
     backups after each step (ADFQ of the paper keeps 200 transitions of every pair where transitions are random, and \
     learns from 20 of them at each step). Its variant without sweeps does one backup a step like everybody else; with \
     ε-greedy actions it has the memory and the backups, and makes no use of its beliefs to explore.",
];

/// Those whose name the words choose, or a part of it; all if there is no word. A whole name means itself alone.
fn chosen<T>(all: &'static [T], name: fn(&T) -> &'static str, words: &[String]) -> Result<Vec<&'static T>> {
    let is_meant = |item: &&T, word: &String| {
        let exact = all.iter().any(|other| name(other) == word);
        if exact { name(item) == word } else { !word.is_empty() && name(item).contains(word.as_str()) }
    };
    if let Some(word) = words.iter().find(|word| !all.iter().any(|item| is_meant(&item, word))) {
        let known: Vec<&str> = all.iter().map(name).collect();
        return Err(Error::Unknown { word: word.clone(), known: known.join(", ") });
    }
    let kept = |item: &&T| words.is_empty() || words.iter().any(|word| is_meant(item, word));
    Ok(all.iter().filter(kept).collect())
}

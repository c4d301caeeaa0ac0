//! Which setting of a grid each rival gets in each domain: the best mean score over a few trials that are not reported.
//! And how long trials take.

use super::domains::DomainFacts;
use super::entrants::{Purpose, StudyAgent};
use crate::Result;
use crate::experiment::agents::Contender;
use crate::experiment::results::{area, last_finite};
use crate::experiment::trial::Trial;
use crate::experiment::{Experiment, Findings, Plan, Stop};
use crate::float::Real;
use crate::report::Section;
use crate::stats::mean;
use crate::table::Table;
use adfq::agent::NoiseModel;
use adfq::spec::AgentSpec;
use adfq::update::Rule;
use std::collections::BTreeMap;

/// The number of the first trial for tuning: far from those reported, so random MDPs are others too.
const FIRST: usize = 10_000;

/// Looks in a trial for tuning.
const LOOKS: u64 = 20;

/// One setting of a grid, with the trials in which it is tried.
#[derive(Debug)]
pub struct Try {
    pub purpose: Purpose,
    pub option: usize,
    pub trials: Vec<Trial>,
}

/// All grids of all rivals in all domains.
pub struct Tuning<'a> {
    /// How large to run the study; the number of trials here is [`trials`](Self::trials).
    pub plan: &'a Plan,
    pub trials: usize,
    pub domains: &'a [DomainFacts],
    pub agents: &'a [&'static StudyAgent],
}

/// The chosen places in the grids, by purpose, domain and label.
pub type Choices = BTreeMap<(Purpose, &'static str, &'static str), usize>;

impl Experiment for Tuning<'_> {
    type Unit = Try;
    type Outcome = Vec<Real>;

    fn units(&self) -> Vec<Try> {
        let mut units = Vec::new();
        for facts in self.domains {
            for agent in self.agents {
                units.extend(self.tries(facts, agent, Purpose::Walk));
                units.extend(self.tries(facts, agent, Purpose::Online));
            }
        }
        units
    }

    fn key(&self, unit: &Try) -> String {
        let Trial { family, domain, contender, steps, .. } = &unit.trials[0];
        format!("{family}/{domain}/{steps} steps/{}/setting {}", contender.label, unit.option)
    }

    fn compute(&self, unit: &Try, stop: &Stop) -> Result<Self::Outcome> {
        let score = |trial: &Trial| {
            let record = trial.run(stop)?;
            Ok(Real::from(match unit.purpose {
                Purpose::Walk => area(&record.rmse),
                Purpose::Online => last_finite(&record.reward),
            }))
        };
        unit.trials.iter().map(score).collect()
    }

    fn analyse(&self, outcomes: &[(Try, Self::Outcome)]) -> Result<Findings> {
        let choices = choose(outcomes);
        let mut table =
            Table::new(["purpose", "domain", "agent", "learner", "acting", "mean score", "chosen"]);
        for (unit, scores) in outcomes {
            let Trial { domain, contender: Contender { label, agent, policy }, .. } = &unit.trials[0];
            let chosen = choices.get(&(unit.purpose, *domain, *label)) == Some(&unit.option);
            table.push([
                unit.purpose.score().into(),
                (*domain).into(),
                (*label).into(),
                format!("{agent:?}").into(),
                format!("{policy:?}").into(),
                mean_of(scores).into(),
                if chosen { "yes" } else { "" }.into(),
            ])?;
        }
        let section = Section::new("How the rivals were tuned").paragraph(format!(
            "Rivals with a grid of settings got, in each domain, the one with the best mean over {} trials that are \
             not among those reported (other seeds, and other random MDPs): the smallest area under the RMSE on \
             random walks, the largest reward online. Every setting that was tried is in the table of data. Variants of \
             ours have one setting for all domains and both purposes.",
            self.trials
        ));
        Ok(Findings::new(section).data("tuning", table))
    }
}

impl Tuning<'_> {
    fn tries(&self, facts: &DomainFacts, agent: &StudyAgent, purpose: Purpose) -> Vec<Try> {
        let steps = self.plan.steps(purpose.steps(facts));
        let options = agent.settings(facts, purpose, steps);
        if options.len() < 2 {
            return Vec::new();
        }
        let attempt = |(option, (spec, policy))| {
            let contender = Contender { label: agent.label, agent: spec, policy };
            let trial = |i| Trial {
                family: purpose.tuning(),
                domain: facts.domain.name,
                contender,
                number: FIRST + i,
                steps,
                looks: LOOKS,
                tests: false,
                seed: self.plan.seed,
            };
            Try { purpose, option, trials: (0..self.trials).map(trial).collect() }
        };
        options.into_iter().enumerate().map(attempt).collect()
    }
}

impl Purpose {
    /// Steps of a full trial.
    pub fn steps(self, facts: &DomainFacts) -> u64 {
        match self {
            Self::Walk => facts.domain.walk,
            Self::Online => facts.domain.online,
        }
    }

    /// The family of the trials for tuning.
    fn tuning(self) -> &'static str {
        match self {
            Self::Walk => "tune-walk",
            Self::Online => "tune-online",
        }
    }

    /// What the best setting is best at.
    fn score(self) -> &'static str {
        match self {
            Self::Walk => "area under the RMSE",
            Self::Online => "reward",
        }
    }

    /// Whether one score is better than another.
    fn is_better(self, score: f64, than: f64) -> bool {
        match self {
            Self::Walk => score < than,
            Self::Online => score > than,
        }
    }
}

fn mean_of(scores: &[Real]) -> f64 {
    let scores: Vec<f64> = scores.iter().map(|&score| score.into()).collect();
    mean(&scores)
}

/// The best setting of each grid; the earlier one of two that are level. A score that is no number is never best.
pub fn choose(outcomes: &[(Try, Vec<Real>)]) -> Choices {
    let mut best: BTreeMap<_, (usize, f64)> = BTreeMap::new();
    for (unit, scores) in outcomes {
        let trial = &unit.trials[0];
        let key = (unit.purpose, trial.domain, trial.contender.label);
        let score = mean_of(scores);
        let known = best.entry(key).or_insert((unit.option, score));
        if unit.purpose.is_better(score, known.1) || known.1.is_nan() {
            *known = (unit.option, score);
        }
    }
    best.into_iter().map(|(key, (option, _))| (key, option)).collect()
}

/// Seconds that one trial is expected to take in a domain with so many pairs (s,a), so that a study can say so before it
/// starts. Measured on Maze with slip (see `docs/calibration.md`); another machine is off by a factor that is about the
/// same for all agents.
pub fn seconds(trial: &Trial, pairs: usize) -> f64 {
    let pairs = pairs as f64;
    let look = 120e-9 * pairs;
    trial.steps as f64 * step_seconds(&trial.contender.agent, pairs) + trial.looks as f64 * look
}

/// Seconds of one step: acting, moving and learning.
fn step_seconds(agent: &AgentSpec, pairs: f64) -> f64 {
    match agent {
        AgentSpec::Adfq { replay: true, .. } => 4e-6,
        AgentSpec::Adfq { rule: Rule::Exact, noise: NoiseModel::None, .. } => 3e-6,
        AgentSpec::Adfq { rule: Rule::Exact, .. } => 6e-6,
        AgentSpec::Adfq { .. } => 0.4e-6,
        AgentSpec::QLearning { .. } => 0.1e-6,
        // One pass over the covariance of all pairs.
        AgentSpec::KtdQ(_) => 1e-6 + 0.18e-3 * (pairs / 1_056.0) * (pairs / 1_056.0),
        AgentSpec::BayesianQ { .. } => 18e-6,
        AgentSpec::SplitStream { .. } => 0.3e-6,
        // Queues are empty most of the time.
        AgentSpec::ModelBased { settings, .. } => 0.3e-6 + 0.03e-6 * f64::from(settings.backups),
        // A world is drawn every few dozen steps.
        AgentSpec::Psrl { settings, .. } => 1e-6 + 0.5e-9 * pairs * f64::from(settings.sweeps),
        AgentSpec::SplitAdfq { settings, .. } => 0.6e-6 + 0.5e-6 * f64::from(settings.sweeps),
    }
}

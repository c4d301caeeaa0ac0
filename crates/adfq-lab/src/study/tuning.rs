//! Which setting of a grid each rival gets in each domain: the best mean score over a few trials that are not reported.

use super::field::Ground;
use super::roster::{Entrant, Purpose};
use crate::Result;
use crate::experiment::results::{area, last_finite};
use crate::experiment::run::{Contender, Trial};
use crate::experiment::{Experiment, Findings, Plan, Stop};
use crate::report::Section;
use crate::stats::mean;
use crate::table::Table;
use std::collections::BTreeMap;

/// The number of the first trial for tuning: far from those reported, so random MDPs are others too.
const FIRST: usize = 10_000;

/// Looks in a trial for tuning.
const LOOKS: u64 = 20;

/// One setting of a grid, with the trials in which it is tried.
#[derive(Debug)]
pub struct Try {
    /// For what.
    pub purpose: Purpose,
    /// Its place in the grid.
    pub option: usize,
    /// The trials.
    pub trials: Vec<Trial>,
}

/// All grids of all rivals in all domains.
pub struct Tuning<'a> {
    /// How large to run the study; the number of trials here is [`trials`](Self::trials).
    pub plan: &'a Plan,
    /// How many trials decide.
    pub trials: usize,
    /// The domains.
    pub grounds: &'a [Ground],
    /// Who takes part.
    pub entrants: &'a [&'static Entrant],
}

/// The chosen places in the grids, by purpose, domain and label.
pub type Choices = BTreeMap<(Purpose, &'static str, &'static str), usize>;

impl Experiment for Tuning<'_> {
    type Unit = Try;
    type Outcome = Vec<crate::float::Real>;

    fn units(&self) -> Vec<Try> {
        let mut units = Vec::new();
        for ground in self.grounds {
            for entrant in self.entrants {
                units.extend(self.tries(ground, entrant, Purpose::Walk));
                units.extend(self.tries(ground, entrant, Purpose::Online));
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
            Ok(crate::float::Real::from(match unit.purpose {
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
            let Trial { domain, contender: Contender { label, learner, acting }, .. } = &unit.trials[0];
            let chosen = choices.get(&(unit.purpose, *domain, *label)) == Some(&unit.option);
            table.push([
                unit.purpose.score().into(),
                (*domain).into(),
                (*label).into(),
                format!("{learner:?}").into(),
                format!("{acting:?}").into(),
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
    fn tries(&self, ground: &Ground, entrant: &Entrant, purpose: Purpose) -> Vec<Try> {
        let steps = self.plan.steps(purpose.steps(ground));
        let options = entrant.settings(ground, purpose, steps);
        if options.len() < 2 {
            return Vec::new();
        }
        let attempt = |(option, (learner, acting))| {
            let contender = Contender { label: entrant.label, learner, acting };
            let trial = |i| Trial {
                family: purpose.tuning(),
                domain: ground.field.name,
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
    pub fn steps(self, ground: &Ground) -> u64 {
        match self {
            Self::Walk => ground.field.walk,
            Self::Online => ground.field.online,
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

fn mean_of(scores: &[crate::float::Real]) -> f64 {
    let scores: Vec<f64> = scores.iter().map(|&score| score.into()).collect();
    mean(&scores)
}

/// The best setting of each grid; the earlier one of two that are level. A score that is no number is never best.
pub fn choose(outcomes: &[(Try, Vec<crate::float::Real>)]) -> Choices {
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

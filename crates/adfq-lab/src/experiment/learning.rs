//! What all learning experiments share: trials of several contenders on several domains. What is asked of their
//! records is in [`results`](super::results).

use super::domain::Domain;
use super::results::Results;
use super::roster;
use super::run::{Record, Trial};
use super::{Experiment, Findings, Plan, Stop};
use crate::Result;
use adfq::agent::Prior;

/// An experiment whose units are learning trials.
pub trait Learning: Sync {
    /// The trials.
    fn trials(&self) -> Vec<Trial>;
    /// What they show.
    fn conclude(&self, results: &Results<'_>) -> Result<Findings>;
}

impl<L: Learning> Experiment for L {
    type Unit = Trial;
    type Outcome = Record;

    fn units(&self) -> Vec<Trial> {
        self.trials()
    }

    fn key(&self, trial: &Trial) -> String {
        trial.key()
    }

    fn compute(&self, trial: &Trial, stop: &Stop) -> Result<Record> {
        trial.run(stop)
    }

    fn analyse(&self, outcomes: &[(Trial, Record)]) -> Result<Findings> {
        self.conclude(&Results(outcomes))
    }
}

/// The trials of one domain, all of the same kind.
pub struct Setting {
    /// See [`Trial::family`].
    pub family: &'static str,
    /// The domain's name.
    pub domain: &'static str,
    /// Steps of the full experiment; the plan may shorten them.
    pub steps: u64,
    /// See [`Trial::looks`].
    pub looks: u64,
    /// See [`Trial::tests`].
    pub tests: bool,
    /// Where beliefs start.
    pub prior: Prior,
}

impl Setting {
    /// One trial per label and number. KTD-Q stays away from Maze if the plan says so.
    pub fn trials(&self, plan: &Plan, labels: &[&str]) -> Vec<Trial> {
        let steps = plan.steps(self.steps);
        let stochastic = is_stochastic(self.domain);
        let takes_part = |label: &&&str| {
            plan.ktd_on_maze || !(label.starts_with("KTD") && self.domain.starts_with("maze"))
        };
        let contenders = labels
            .iter()
            .filter(takes_part)
            .filter_map(|label| roster::contender(label, self.domain, steps, stochastic, self.prior));
        let trial = |contender| {
            (0..plan.trials).map(move |number| Trial {
                family: self.family,
                domain: self.domain,
                contender,
                number,
                steps,
                looks: self.looks,
                tests: self.tests,
                seed: plan.seed,
            })
        };
        contenders.flat_map(trial).collect()
    }
}

/// Whether ADFQ is told that a domain's transitions are random. The simple MDP's are not, only its rewards.
fn is_stochastic(domain: &str) -> bool {
    domain == "chain" || domain.ends_with("-stochastic")
}

/// What figures call a domain.
pub fn title(domain: &str) -> &str {
    match domain {
        "simple" => "simple MDP, |A| = 2",
        "simple10" => "simple MDP, |A| = 10",
        "loop" => "Loop",
        "loop-stochastic" => "Loop, slip 0.1",
        "maze" => "Maze",
        "maze-stochastic" => "Maze, slip 0.1",
        "chain" => "Chain, slip 0.2",
        "minimaze" => "MiniMaze",
        "minimaze-stochastic" => "MiniMaze, slip 0.1",
        "deepsea-8" => "DeepSea 8",
        "deepsea-10" => "DeepSea 10",
        "deepsea-14" => "DeepSea 14",
        "deepsea-20" => "DeepSea 20",
        "deepsea-8-stochastic" => "DeepSea 8, stochastic",
        "deepsea-10-stochastic" => "DeepSea 10, stochastic",
        "deepsea-14-stochastic" => "DeepSea 14, stochastic",
        "deepsea-20-stochastic" => "DeepSea 20, stochastic",
        "random-10" => "random MDPs, 10 states",
        "random-30" => "random MDPs, 30 states",
        "random-30-episodic" => "random MDPs, 30 states, episodic",
        "random-100" => "random MDPs, 100 states",
        other => other,
    }
}

/// The domains, loaded.
pub fn load(domains: &[&'static str]) -> Result<Vec<Domain>> {
    domains.iter().map(|name| Ok(Domain::named(name)?)).collect()
}

//! What a study found, for those who conclude from it: all records, and how everybody stands to the best rival.

use super::roster::{self, CANDIDATE, ENTRANTS, Role};
use super::score::{self, Ranking};
use crate::Result;
use crate::experiment::results::Results;
use crate::experiment::run::{Record, Trial};

/// All records of a study, and how everybody stands to the best rival.
pub struct Evidence<'a> {
    /// Random walks.
    pub walks: Results<'a>,
    /// Agents that act.
    pub online: Results<'a>,
    /// Rewards in two phases.
    pub phases: Results<'a>,
    /// By the area under the RMSE.
    pub areas: Vec<Ranking>,
    /// By the area under the CRPS.
    pub scores: Vec<Ranking>,
    /// By the reward.
    pub rewards: Vec<Ranking>,
}

impl<'a> Evidence<'a> {
    /// The evidence of these outcomes.
    pub fn new(
        walks: &'a [(Trial, Record)],
        online: &'a [(Trial, Record)],
        phases: &'a [(Trial, Record)],
    ) -> Result<Self> {
        let (walks, online, phases) = (Results(walks), Results(online), Results(phases));
        let areas = score::rankings(&walks, score::AREA)?;
        let scores = score::rankings(&walks, score::CRPS)?;
        let rewards = score::rankings(&online, score::REWARD)?;
        Ok(Self { walks, online, phases, areas, scores, rewards })
    }
}

/// The labels of those who took part, in the order of the roster.
pub fn labels(results: &Results<'_>) -> Vec<&'static str> {
    let took_part = |label: &&str| results.0.iter().any(|(trial, _)| trial.contender.label == *label);
    ENTRANTS.iter().map(|entrant| entrant.label).filter(took_part).collect()
}

/// The rivals and the candidate, whom the targets are about.
pub fn contestants(labels: &[&'static str]) -> Vec<&'static str> {
    let is_rival = |label: &str| roster::entrant(label).is_some_and(|entrant| entrant.role == Role::Rival);
    labels.iter().copied().filter(|label| *label == CANDIDATE || is_rival(label)).collect()
}

/// The outcomes that figures show: of ours, the candidate alone.
pub fn shown(results: &Results<'_>) -> Vec<(Trial, Record)> {
    let is_shown = |(trial, _): &&(Trial, Record)| {
        let label = trial.contender.label;
        label == CANDIDATE || roster::entrant(label).is_none_or(|entrant| entrant.role != Role::Ours)
    };
    results.0.iter().filter(is_shown).cloned().collect()
}

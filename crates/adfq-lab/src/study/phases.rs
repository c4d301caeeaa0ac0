//! Rewards in two phases, as Dearden, Friedman and Russell (1998) report them.

use super::evidence;
use super::field::FIELDS;
use crate::Result;
use crate::experiment::learning::{Learning, load};
use crate::experiment::results::Results;
use crate::experiment::run::Trial;
use crate::experiment::two_phase::{by_trial, panel, summary};
use crate::experiment::{Findings, Plan};
use crate::plot::Figure;
use crate::report::Section;

/// The trials.
pub struct Phases {
    /// How large the study is.
    pub plan: Plan,
    /// The trials.
    pub trials: Vec<Trial>,
}

impl Learning for Phases {
    fn trials(&self) -> Vec<Trial> {
        self.trials.clone()
    }

    fn conclude(&self, results: &Results<'_>) -> Result<Findings> {
        let mut figure = Figure::new("Reward collected while learning, by phase");
        let shown = evidence::shown(results);
        for (domain, model) in results.domains().into_iter().zip(load(&results.domains())?) {
            let phase = FIELDS.iter().find(|field| field.name == domain).and_then(|field| field.phase);
            figure =
                figure.panel(panel(&Results(&shown), domain, &model, self.plan.steps(phase.unwrap_or(1)))?);
        }
        let section = Section::new("Reward in two phases")
            .paragraph(
                "Dearden, Friedman and Russell (1998) count what an agent earns in a first and in a second phase. The \
                 settings are those of the section before. The grey line is the long-run average of the optimal \
                 policy. On Chain, in 1,000 steps each, IEQL+ earned 2,344 and 2,557, and Bayesian dynamic programming, \
                 which learns a model, about 3,158 and 3,611.",
            )
            .table("Reward, mean over trials", summary(results)?);
        Ok(Findings::new(section)
            .figure("phases", figure.panel_size(560.0, 270.0))
            .data("phases", by_trial(results)?))
    }
}

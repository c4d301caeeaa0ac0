//! Beyond the paper: reward collected while learning, in two phases, as Dearden, Friedman and Russell (1998) report it.

use crate::Result;
use crate::experiment::agents::{
    ADFQ_EXACT_TS, ADFQ_GREEDY, ADFQ_TS, BAYESIAN_SAMPLING, BAYESIAN_VPI, KTD_ACTIVE, Q_BOLTZMANN, Q_GREEDY,
};
use crate::experiment::phases::{self, earned};
use crate::experiment::results::{LearningTrials, Results, Score};
use crate::experiment::solved_domain::title;
use crate::experiment::trial::{Setting, Trial};
use crate::experiment::{Findings, Job, Plan};
use crate::report::Section;
use crate::verdict::Direction;
use adfq::agent::Prior;

/// The domains, with Dearden's slips.
pub const DOMAINS: &[&str] = &["chain", "loop", "maze-stochastic"];

const LABELS: [&str; 8] =
    [ADFQ_TS, ADFQ_GREEDY, ADFQ_EXACT_TS, Q_GREEDY, Q_BOLTZMANN, KTD_ACTIVE, BAYESIAN_SAMPLING, BAYESIAN_VPI];

/// Steps of a phase.
fn phase(domain: &str) -> u64 {
    if domain.starts_with("maze") { 20_000 } else { 1_000 }
}

/// The experiment on some of its [`DOMAINS`].
pub fn prepare(plan: &Plan, domains: &[&'static str]) -> Box<dyn Job> {
    let plan = *plan;
    let conclude = move |results: &Results<'_>| conclude(&plan, results);
    Box::new(LearningTrials { trials: trials(&plan, domains), conclude })
}

fn trials(plan: &Plan, domains: &[&'static str]) -> Vec<Trial> {
    let trials = |&domain: &&'static str| {
        let setting = Setting {
            family: "two-phase",
            domain,
            steps: 2 * phase(domain),
            looks: 2,
            tests: false,
            prior: Prior::AUTHORS,
        };
        let small = |label: &&str| *label != KTD_ACTIVE || !domain.starts_with("maze");
        let labels: Vec<&str> = LABELS.into_iter().filter(small).collect();
        setting.trials(plan, &labels)
    };
    domains.iter().flat_map(trials).collect()
}

fn conclude(plan: &Plan, results: &Results<'_>) -> Result<Findings> {
    let figure = phases::figure(results, results.domains(), |domain| plan.steps(phase(domain)))?;
    let section = claims(results, prose())?.table("Reward, mean over trials", phases::summary(results)?);
    Ok(Findings::new(section).figure("two_phase", figure).data("two_phase", phases::by_trial(results)?))
}

fn prose() -> Section {
    Section::new("Beyond the paper: reward collected while learning")
        .paragraph(
            "Dearden, Friedman and Russell (1998), from whom the domains come, count what an agent earns while it \
             learns, in two phases. In Maze the next episode starts where one ends. Nothing is tested apart: \
             exploring costs. Beliefs start at the authors' data-driven prior.",
        )
        .paragraph(
            "The grey line is the long-run average of the policy that is optimal for γ = 0.95, times the steps \
             of a phase.",
        )
}

fn claims(results: &Results<'_>, mut section: Section) -> Result<Section> {
    let second: (&str, Score<'_>) = ("reward of phase 2", &|record| earned(record, 1));
    for domain in results.domains() {
        for (a, b) in
            [(ADFQ_TS, Q_GREEDY), (ADFQ_TS, ADFQ_GREEDY), (ADFQ_TS, BAYESIAN_VPI), (ADFQ_EXACT_TS, ADFQ_TS)]
        {
            let text = format!("{a} earns more in the second phase than {b} ({})", title(domain));
            section.claims.extend(results.compare(text, second, domain, (a, Direction::Greater, b))?);
        }
    }
    Ok(section)
}

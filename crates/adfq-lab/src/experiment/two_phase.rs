//! Beyond the paper: reward collected while learning, in two phases, as Dearden, Friedman and Russell (1998) report it.

use super::domain::Domain;
use super::learning::{Learning, Setting, load, title};
use super::results::{Results, Score};
use super::roster::{
    ADFQ_EXACT_TS, ADFQ_GREEDY, ADFQ_TS, BAYESIAN_SAMPLING, BAYESIAN_VPI, KTD_ACTIVE, Q_BOLTZMANN, Q_GREEDY,
};
use super::run::{Record, Trial};
use super::{Findings, Job, Plan};
use crate::Result;
use crate::plot::{Axis, Bar, Bars, Color, Figure, Panel, Rule};
use crate::report::Section;
use crate::stats::{Bootstrap, mean};
use crate::table::Table;
use crate::verdict::Direction;
use adfq::agent::Prior;
use adfq::mdp::average_reward;
use adfq::random::stream;

/// The domains, with Dearden's slips.
pub const DOMAINS: &[&str] = &["chain", "loop", "maze-stochastic"];

const LABELS: [&str; 8] =
    [ADFQ_TS, ADFQ_GREEDY, ADFQ_EXACT_TS, Q_GREEDY, Q_BOLTZMANN, KTD_ACTIVE, BAYESIAN_SAMPLING, BAYESIAN_VPI];

/// Steps of a phase.
fn phase(domain: &str) -> u64 {
    if domain.starts_with("maze") { 20_000 } else { 1_000 }
}

/// The experiment.
pub struct TwoPhase {
    plan: Plan,
    domains: Vec<&'static str>,
}

impl TwoPhase {
    /// The experiment on some of its [`DOMAINS`].
    pub fn prepare(plan: &Plan, domains: &[&'static str]) -> Box<dyn Job> {
        Box::new(Self { plan: *plan, domains: domains.to_vec() })
    }
}

/// The reward of a phase, 0 or 1. KTD-Q may diverge in it; then what it had earned at the last look counts.
pub fn earned(record: &Record, phase: usize) -> f64 {
    let at = |look: usize| record.reward.get(look).copied().filter(|reward| reward.is_finite());
    let start = at(phase).unwrap_or(0.0);
    at(phase + 1).map_or(0.0, |end| end - start)
}

impl Learning for TwoPhase {
    fn trials(&self) -> Vec<Trial> {
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
            setting.trials(&self.plan, &labels)
        };
        self.domains.iter().flat_map(trials).collect()
    }

    fn conclude(&self, results: &Results<'_>) -> Result<Findings> {
        let mut figure = Figure::new("Reward collected while learning, by phase");
        for (domain, model) in results.domains().into_iter().zip(load(&results.domains())?) {
            let steps = self.plan.steps(phase(domain));
            figure = figure.panel(panel(results, domain, &model, steps)?);
        }
        let section = claims(results, prose())?.table("Reward, mean over trials", summary(results)?);
        Ok(Findings::new(section)
            .figure("two_phase", figure.panel_size(560.0, 270.0))
            .data("two_phase", by_trial(results)?))
    }
}

/// What the contenders of a domain earned in each phase of so many steps, with the optimum beside it.
pub fn panel(results: &Results<'_>, domain: &'static str, model: &Domain, steps: u64) -> Result<Panel> {
    let best = average_reward(&model.mdp, &model.best.policy)? * steps as f64;
    let heading = format!("{}, phases of {steps} steps", title(domain));
    let mut panel = Panel::new(heading, Axis::linear("reward in the phase"), Axis::default());
    for (phase, color) in [(0, Color::Sky), (1, Color::Blue)] {
        let bars: Vec<Bar> = results
            .labels(domain)
            .into_iter()
            .map(|label| bar(results, domain, label, phase))
            .collect::<Result<_>>()?;
        panel = panel.layer(Bars::new(format!("phase {}", phase + 1), bars).color(color));
    }
    Ok(panel.layer(Rule::vertical("optimal policy, on average", best)))
}

/// One bar: the mean over trials with its 95 % interval.
fn bar(results: &Results<'_>, domain: &str, label: &str, phase: usize) -> Result<Bar> {
    let values = results.scores(domain, label, &|record| earned(record, phase));
    let mut rng = stream(0, &format!("two-phase/{domain}/{label}/{phase}"));
    let estimate = Bootstrap::default().estimate(&values, mean, &mut rng)?;
    Ok(Bar::new(label, estimate.value).interval(estimate.interval.low, estimate.interval.high))
}

/// What agents earned in each phase, on average.
pub fn summary(results: &Results<'_>) -> Result<Table> {
    results.summary(&[("phase 1", &|record| earned(record, 0)), ("phase 2", &|record| earned(record, 1))])
}

/// What each trial earned in each phase.
pub fn by_trial(results: &Results<'_>) -> Result<Table> {
    let mut table = Table::new(["domain", "agent", "trial", "phase 1", "phase 2"]);
    for (trial, record) in results.0 {
        let rewards = [earned(record, 0).into(), earned(record, 1).into()];
        let head = [trial.domain.into(), trial.contender.label.into(), trial.number.into()];
        table.push(head.into_iter().chain(rewards))?;
    }
    Ok(table)
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

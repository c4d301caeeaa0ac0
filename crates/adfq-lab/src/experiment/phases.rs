//! Rewards collected while learning, counted in two phases as Dearden, Friedman and Russell (1998) report them.

use super::results::Results;
use super::solved_domain::{Domain, title};
use super::trial::Record;
use crate::Result;
use crate::plot::{Axis, Bar, Bars, Color, Figure, Panel, Rule};
use crate::stats::{Bootstrap, mean};
use crate::table::Table;
use adfq::mdp::average_reward;
use adfq::random::stream;

/// The reward of a phase, 0 or 1. KTD-Q may diverge in it; then what it had earned at the last look counts.
pub fn earned(record: &Record, phase: usize) -> f64 {
    let at = |look: usize| record.reward.get(look).copied().filter(|reward| reward.is_finite());
    let start = at(phase).unwrap_or(0.0);
    at(phase + 1).map_or(0.0, |end| end - start)
}

/// A panel for each domain; `steps` says how long a phase is there.
pub fn figure(
    results: &Results<'_>,
    domains: Vec<&'static str>,
    steps: impl Fn(&str) -> u64,
) -> Result<Figure> {
    let mut figure = Figure::new("Reward collected while learning, by phase").panel_size(560.0, 270.0);
    for domain in domains {
        figure = figure.panel(panel(results, domain, &Domain::named(domain)?, steps(domain))?);
    }
    Ok(figure)
}

/// What the contenders of a domain earned in each phase of so many steps, with the optimum beside it.
fn panel(results: &Results<'_>, domain: &'static str, model: &Domain, steps: u64) -> Result<Panel> {
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

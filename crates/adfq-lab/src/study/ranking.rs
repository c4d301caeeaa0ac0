//! What a study found, for those who conclude from it: all records, and how the agents of each domain stand to the best
//! rival in one measure.

use super::domains::Group;
use super::entrants::{AGENTS, CANDIDATE, Role, agent};
use crate::Result;
use crate::experiment::agents::look;
use crate::experiment::results::{Results, area, last_finite};
use crate::experiment::solved_domain::title;
use crate::experiment::trial::{Record, Trial};
use crate::plot::{Axis, Bar, Bars, Figure, Panel, Rule};
use crate::stats::{Bootstrap, Estimate, mean};
use crate::table::Table;
use adfq::random::stream;
use adfq_report::text as number;

/// A number that a record boils down to, and whether less of it is better.
#[derive(Clone, Copy)]
pub struct Measure {
    pub name: &'static str,
    pub less: bool,
    pub of: fn(&Record) -> f64,
}

pub const AREA: Measure = Measure { name: "area under the RMSE", less: true, of: |r| area(&r.rmse) };
/// The area under the curve of the continuous ranked probability score.
pub const CRPS: Measure = Measure { name: "area under the CRPS", less: true, of: |r| area(&r.crps) };
/// The reward collected; up to divergence, if that ended a trial.
pub const REWARD: Measure = Measure { name: "reward", less: false, of: |r| last_finite(&r.reward) };

pub struct Standing {
    pub label: &'static str,
    pub mean: Estimate,
    /// Its mean over that of the best rival; NaN if that is not positive.
    pub ratio: Estimate,
}

pub struct Ranking {
    pub domain: &'static str,
    /// The rival with the best mean (of all agents, if no rival takes part).
    pub best: &'static str,
    /// The agents, in the order of the trials.
    pub standings: Vec<Standing>,
}

impl Ranking {
    pub fn of(&self, label: &str) -> Option<&Standing> {
        self.standings.iter().find(|standing| standing.label == label)
    }

    /// Whether a rival took part, so that there is something to be compared with.
    pub fn has_rival(&self) -> bool {
        is_rival(self.best)
    }

    pub fn best_mean(&self) -> f64 {
        self.of(self.best).map_or(f64::NAN, |standing| standing.mean.value)
    }
}

fn is_rival(label: &str) -> bool {
    agent(label).is_some_and(|agent| agent.role == Role::Rival)
}

/// The rankings of all domains in a measure.
pub fn rankings(results: &Results<'_>, measure: Measure) -> Result<Vec<Ranking>> {
    results.domains().into_iter().filter_map(|domain| ranking(results, domain, measure).transpose()).collect()
}

fn ranking(results: &Results<'_>, domain: &'static str, measure: Measure) -> Result<Option<Ranking>> {
    let labels = results.labels(domain);
    let scores = |label: &str| results.scores(domain, label, &measure.of);
    let worth = |label: &str| if measure.less { -mean(&scores(label)) } else { mean(&scores(label)) };
    let best_of = |labels: Vec<&'static str>| labels.into_iter().max_by(|a, b| worth(a).total_cmp(&worth(b)));
    let rivals: Vec<&str> = labels.iter().copied().filter(|label| is_rival(label)).collect();
    let Some(best) = best_of(rivals).or_else(|| best_of(labels.clone())) else { return Ok(None) };
    let of_best = scores(best);
    let standing = |label| {
        let values = scores(label);
        let mut rng = stream(0, &format!("{}/{domain}/{label}", measure.name));
        Ok(Standing {
            label,
            mean: Bootstrap::default().estimate(&values, mean, &mut rng)?,
            ratio: Bootstrap::default().ratio(&values, &of_best, &mut rng)?,
        })
    };
    let mut standings = labels.into_iter().map(standing).collect::<Result<Vec<_>>>()?;
    // A share of nothing, or of a loss, says nothing.
    if mean(&of_best) <= 0.0 {
        standings.iter_mut().for_each(|standing| standing.ratio.value = f64::NAN);
    }
    Ok(Some(Ranking { domain, best, standings }))
}

/// Every agent's mean and ratio, as data.
pub fn data(rankings: &[Ranking], measure: Measure) -> Result<Table> {
    let name = measure.name;
    let of = |what: &str| format!("{name}, {what}");
    let mut table = Table::new([
        "domain".to_owned(),
        "agent".to_owned(),
        "best rival".to_owned(),
        name.to_owned(),
        of("low"),
        of("high"),
        of("over the best"),
        of("over the best, low"),
        of("over the best, high"),
    ]);
    for ranking in rankings {
        for Standing { label, mean, ratio } in &ranking.standings {
            let numbers = [mean, ratio].map(|x| [x.value, x.interval.low, x.interval.high]).concat();
            let head = [ranking.domain.into(), (*label).into(), ranking.best.into()];
            table.push(head.into_iter().chain(numbers.into_iter().map(Into::into)))?;
        }
    }
    Ok(table)
}

/// A row per domain: the best rival with its mean, then each agent's ratio to it with its interval.
pub fn relative(rankings: &[Ranking], labels: &[&'static str]) -> Result<Table> {
    let mut table = Table::new(["domain", "best rival"].into_iter().chain(labels.iter().copied()));
    for ranking in rankings {
        let best = format!("{}: {}", ranking.best, number::short(ranking.best_mean()));
        let cell = |label: &&str| {
            ranking
                .of(label)
                .map(|standing| number::with_interval(standing.ratio.value, standing.ratio.interval))
        };
        table.push(
            [title(ranking.domain).into(), best.into()]
                .into_iter()
                .chain(labels.iter().map(|l| cell(l).into())),
        )?;
    }
    Ok(table)
}

/// Dots with intervals: each agent's ratio to the best rival, a panel for each group of domains. `demanded` is the
/// target.
pub fn dots(
    heading: &str,
    rankings: &[Ranking],
    labels: &[&'static str],
    demanded: f64,
    axis: &Axis,
) -> Figure {
    let mut figure = Figure::new(heading).columns(2);
    for (group, _, heading) in Group::ALL {
        let of_group: Vec<&Ranking> =
            rankings.iter().filter(|ranking| group.contains(ranking.domain)).collect();
        if of_group.is_empty() {
            continue;
        }
        let mut panel = Panel::new(heading, axis.clone(), Axis::default());
        for label in labels {
            let bar = |ranking: &&Ranking| {
                let Estimate { value, interval } = ranking.of(label)?.ratio;
                let bar = Bar::new(title(ranking.domain), value).interval(interval.low, interval.high);
                value.is_finite().then_some(bar)
            };
            let (color, _) = look(label);
            panel = panel.layer(Bars::new(*label, of_group.iter().filter_map(bar)).dots().color(color));
        }
        figure = figure.panel(panel.layer(Rule::vertical("target", demanded)));
    }
    figure.panel_size(520.0, 300.0)
}

/// All records of a study, and how everybody stands to the best rival.
pub struct Evidence<'a> {
    pub walks: Results<'a>,
    pub online: Results<'a>,
    pub phases: Results<'a>,
    pub areas: Vec<Ranking>,
    pub scores: Vec<Ranking>,
    pub rewards: Vec<Ranking>,
}

impl<'a> Evidence<'a> {
    pub fn new(
        walks: &'a [(Trial, Record)],
        online: &'a [(Trial, Record)],
        phases: &'a [(Trial, Record)],
    ) -> Result<Self> {
        let (walks, online, phases) = (Results(walks), Results(online), Results(phases));
        let areas = rankings(&walks, AREA)?;
        let scores = rankings(&walks, CRPS)?;
        let rewards = rankings(&online, REWARD)?;
        Ok(Self { walks, online, phases, areas, scores, rewards })
    }
}

/// The labels of those who took part, in the order of the tables.
pub fn labels(results: &Results<'_>) -> Vec<&'static str> {
    let took_part = |label: &&str| results.0.iter().any(|(trial, _)| trial.contender.label == *label);
    AGENTS.iter().map(|agent| agent.label).filter(took_part).collect()
}

/// The rivals and the candidate, whom the targets are about.
pub fn contestants(labels: &[&'static str]) -> Vec<&'static str> {
    labels.iter().copied().filter(|label| *label == CANDIDATE || is_rival(label)).collect()
}

/// The outcomes that figures show: of ours, the candidate alone.
pub fn shown(results: &Results<'_>) -> Vec<(Trial, Record)> {
    let is_shown = |(trial, _): &&(Trial, Record)| {
        let label = trial.contender.label;
        label == CANDIDATE || agent(label).is_none_or(|agent| agent.role != Role::Ours)
    };
    results.0.iter().filter(is_shown).cloned().collect()
}

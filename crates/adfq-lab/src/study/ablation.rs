//! Everybody by every measure in one table, losers included.

use super::entrants::{Role, agent};
use super::online::episodes;
use super::ranking::{Evidence, Ranking};
use super::targets::{Kind, count, coverage_range, targets};
use crate::Result;
use crate::experiment::phases::earned;
use crate::stats::{mean, median};
use crate::table::{Cell, Table};

pub fn table(evidence: &Evidence<'_>, labels: &[&'static str]) -> Result<Table> {
    let mut table = Table::new([
        "agent",
        "setting",
        "RMSE area ÷ best",
        "within 10 %",
        "CRPS area ÷ best",
        "reward ÷ best",
        "at least 95 %",
        "Chain, phase 1",
        "Chain, phase 2",
        "DeepSea 20 solved",
        "median episode",
        "±2σ, worst",
        "±2σ 90 to 99 %",
        "±2σ early",
    ]);
    for label in labels {
        let met = targets(evidence, label);
        let phase = |phase| mean(&evidence.phases.scores("chain", label, &|record| earned(record, phase)));
        let solved = episodes(&evidence.online, "deepsea-20", label, |seen| seen.solved);
        let share = solved.iter().filter(|episode| episode.is_finite()).count() as f64 / solved.len() as f64;
        table.push([
            (*label).into(),
            setting(label).into(),
            number(geometric(&evidence.areas, label)),
            count(&met, Kind::Area).into(),
            number(geometric(&evidence.scores, label)),
            number(arithmetic(&evidence.rewards, label)),
            count(&met, Kind::Reward).into(),
            number(phase(0)),
            number(phase(1)),
            number(share),
            number(median(&solved)),
            number(worst(evidence, label)),
            count(&met, Kind::Coverage).into(),
            count(&met, Kind::Early).into(),
        ])?;
    }
    Ok(table)
}

pub const LEGEND: &str = "RMSE and CRPS: area under the curve on shared random walks over that of the best rival, \
    geometric mean over domains. Reward: the mean over domains of the share of the best rival's, a loss counting as \
    0. ±2σ, worst: the least mean coverage in any domain from a tenth of the horizon on. \
    “17 of 21”: domains in which the target is met. Median episode: – if at least half of the trials did not solve \
    DeepSea. An agent's own best number may come from the setting tuned for each domain; variants of ours have one \
    setting.";

fn setting(label: &str) -> &'static str {
    match (agent(label).map(|agent| agent.role), super::entrants::is_tuned(label)) {
        (Some(Role::Ours), _) => "one for all",
        (_, true) => "tuned by domain",
        _ => "published",
    }
}

/// A cell that is a dash where there is no number.
fn number(x: f64) -> Cell {
    if x.is_finite() { x.into() } else { "–".into() }
}

/// The ratios of an agent to the best rival, in all domains where it took part.
fn ratios<'a>(rankings: &'a [Ranking], label: &'a str) -> impl Iterator<Item = f64> + 'a {
    rankings
        .iter()
        .filter_map(|ranking| Some(ranking.of(label)?.ratio.value))
        .filter(|ratio| ratio.is_finite())
}

fn geometric(rankings: &[Ranking], label: &str) -> f64 {
    let logs: Vec<f64> = ratios(rankings, label).map(libm::log).collect();
    libm::exp(mean(&logs))
}

fn arithmetic(rankings: &[Ranking], label: &str) -> f64 {
    let shares: Vec<f64> = ratios(rankings, label).map(|share| share.max(0.0)).collect();
    mean(&shares)
}

fn worst(evidence: &Evidence<'_>, label: &str) -> f64 {
    let domains = evidence.walks.domains();
    let least = |domain: &&str| coverage_range(&evidence.walks, domain, label).map(|[_, late]| late.0);
    domains.iter().filter_map(least).fold(f64::INFINITY, f64::min)
}

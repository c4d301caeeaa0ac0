//! What agents earn while they learn, each with its own way to explore, and how soon DeepSea is solved.

use super::curves::{self, Curve};
use super::domains::{DOMAINS, Group};
use super::entrants::CANDIDATE;
use super::ranking::{self, REWARD, Ranking};
use super::targets;
use crate::Result;
use crate::experiment::deep_sea::DeepSea;
use crate::experiment::phases;
use crate::experiment::results::{Results, last_finite};
use crate::experiment::solved_domain::{Domain, title};
use crate::experiment::trial::Record;
use crate::experiment::{Findings, Plan};
use crate::plot::Axis;
use crate::report::Section;
use crate::stats::{mean, median};
use crate::table::Table;
use adfq::mdp::average_reward;

pub fn conclude(results: &Results<'_>) -> Result<Findings> {
    let (rewards, labels) = (ranking::rankings(results, REWARD)?, ranking::labels(results));
    let axis = Axis::linear("reward over that of the best rival").from(-0.05);
    let title = "Reward while learning, relative to the best rival";
    let dots = ranking::dots(title, &rewards, &ranking::contestants(&labels), targets::REWARD, &axis);
    Ok(Findings::new(section(results, &rewards, &labels)?)
        .figure("reward", dots)
        .data("reward", ranking::data(&rewards, REWARD)?)
        .data("deepsea", deepsea_by_trial(results)?)
        .data("online_curves", curves::table(results, &[REWARDS], &[COVERAGE])?))
}

/// The curves that become data.
const REWARDS: (&str, Curve) = ("reward", |record| record.reward.clone());
const COVERAGE: (&str, Curve) = ("within 2 sd", |record| record.within_2.clone());

fn section(results: &Results<'_>, rewards: &[Ranking], labels: &[&'static str]) -> Result<Section> {
    let mut section = Section::new("What is earned while learning")
        .paragraph(
            "Agents act and learn; the sum of all rewards counts, so exploring costs. Rivals explore in the way, and \
             with the setting, that earned most in the trials for tuning. 2,000 episodes of DeepSea; an episode begins \
             where another ends.",
        )
        .paragraph(
            "The optimum is the long-run average of the policy that is optimal for the discount, times the steps. It is \
             no bound: what is best with a discount, or within an episode, need not be best for the sum of all rewards.",
        )
        .table("Reward over that of the best rival", ranking::relative(rewards, labels)?)
        .table("Reward beside the optimum, mean over trials", beside_the_optimum(results, rewards)?)
        .table(
            "Mean over trials",
            results.summary(&[
                ("reward", &|record| last_finite(&record.reward)),
                ("RMSE at the end", &|record| last_finite(&record.rmse)),
                ("±2 sd at the end", &|record| last_finite(&record.within_2)),
                ("±2 sd at the end, visited", &|record| last_finite(&record.visited_2)),
            ])?,
        );
    if results.domains().iter().any(|domain| domain.starts_with("deepsea")) {
        section = section
            .paragraph(
                "An episode of DeepSea is good if the agent never turns left on the diagonal. DeepSea is solved at the \
                 first episode at which more than a tenth of all so far were good (bsuite's criterion; and at least \
                 ten), mastered when more than a half were. A median of – means that at least half of the \
                 trials did not get there.",
            )
            .table("Episodes to solve DeepSea", deepsea(results)?);
    }
    Ok(section)
}

/// The optimum, the best rival and the candidate.
fn beside_the_optimum(results: &Results<'_>, rewards: &[Ranking]) -> Result<Table> {
    let mut table = Table::new(["domain", "optimum", "best rival", "its reward", CANDIDATE]);
    for ranking in rewards {
        let candidate = ranking.of(CANDIDATE).map(|standing| standing.mean.value);
        let cells =
            [title(ranking.domain).into(), optimum(results, ranking.domain)?.into(), ranking.best.into()];
        table.push(cells.into_iter().chain([ranking.best_mean().into(), candidate.into()]))?;
    }
    Ok(table)
}

/// What the optimal policy earns on average in a trial; random MDPs are as many as trials.
fn optimum(results: &Results<'_>, domain: &str) -> Result<f64> {
    let trials = results.0.iter().map(|(trial, _)| trial).filter(|trial| trial.domain == domain);
    let mut numbers: Vec<(usize, u64)> = trials.map(|trial| (trial.number, trial.steps)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    if !Group::Random.contains(domain) {
        numbers.truncate(1);
    }
    let earned = |&(number, steps): &(usize, u64)| {
        let Domain { mdp, best, .. } = Domain::of_trial(domain, number)?;
        Ok(average_reward(&mdp, &best.policy)? * steps as f64)
    };
    Ok(mean(&numbers.iter().map(earned).collect::<Result<Vec<_>>>()?))
}

/// The episode of each trial at which something was reached; infinite if it never was.
pub fn episodes(
    results: &Results<'_>,
    domain: &str,
    label: &str,
    reached: fn(&DeepSea) -> Option<u64>,
) -> Vec<f64> {
    let at = |record: &&Record| {
        let reached = record.deep_sea.as_ref().and_then(reached);
        reached.map_or(f64::INFINITY, |episode| episode as f64)
    };
    results.records(domain, label).iter().map(at).collect()
}

fn deepsea(results: &Results<'_>) -> Result<Table> {
    let mut table = Table::new([
        "domain",
        "agent",
        "trials",
        "solved",
        "median episode of the first success",
        "median episode solved",
        "median episode mastered",
    ]);
    for domain in results.domains().into_iter().filter(|domain| domain.starts_with("deepsea")) {
        for label in results.labels(domain) {
            let of = |reached| episodes(results, domain, label, reached);
            let solved = of(|seen| seen.solved);
            let shown = |values: &[f64]| match median(values) {
                middle if middle.is_finite() => middle.into(),
                _ => "–".into(),
            };
            table.push([
                title(domain).into(),
                label.into(),
                solved.len().into(),
                solved.iter().filter(|episode| episode.is_finite()).count().into(),
                shown(&of(|seen| seen.first)),
                shown(&solved),
                shown(&of(|seen| seen.mastered)),
            ])?;
        }
    }
    Ok(table)
}

fn deepsea_by_trial(results: &Results<'_>) -> Result<Table> {
    let mut table =
        Table::new(["domain", "agent", "trial", "episodes", "good", "first", "solved", "mastered"]);
    for (trial, record) in results.0 {
        let Some(seen) = &record.deep_sea else { continue };
        let whole = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let reached = [seen.first, seen.solved, seen.mastered].map(|episode| episode.map(whole).into());
        let head = [trial.domain.into(), trial.contender.label.into(), trial.number.into()];
        let counts = [whole(seen.episodes).into(), whole(seen.good).into()];
        table.push(head.into_iter().chain(counts).chain(reached))?;
    }
    Ok(table)
}

/// What is earned in two phases, as Dearden, Friedman and Russell (1998) report it.
pub fn conclude_phases(plan: &Plan, results: &Results<'_>) -> Result<Findings> {
    let phase =
        |name: &str| DOMAINS.iter().find(|domain| domain.name == name).and_then(|domain| domain.phase);
    let steps = |domain: &str| plan.steps(phase(domain).unwrap_or(1));
    let figure = phases::figure(&Results(&ranking::shown(results)), results.domains(), steps)?;
    let section = Section::new("Reward in two phases")
        .paragraph(
            "Dearden, Friedman and Russell (1998) count what an agent earns in a first and in a second phase. The \
             settings are those of the section before. The grey line is the long-run average of the optimal \
             policy. On Chain, in 1,000 steps each, IEQL+ earned 2,344 and 2,557, and Bayesian dynamic programming, \
             which learns a model, about 3,158 and 3,611.",
        )
        .table("Reward, mean over trials", phases::summary(results)?);
    Ok(Findings::new(section).figure("phases", figure).data("phases", phases::by_trial(results)?))
}

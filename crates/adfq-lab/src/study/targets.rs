//! The targets of the study, and whether an agent meets them: computed from the trials, never written by hand.

use super::online::episodes;
use super::ranking::Evidence;
use crate::Result;
use crate::experiment::phases::earned;
use crate::experiment::results::Results;
use crate::experiment::solved_domain::title;
use crate::stats::{Estimate, mean};
use crate::table::Table;
use adfq_report::text::{short, with_interval};

/// The area under the RMSE may be so many times that of the best rival.
pub const AREA: f64 = 1.10;
/// The reward must be this share of the best rival's.
pub const REWARD: f64 = 0.95;
/// Reward in the two phases on Chain, for 1,000 steps each.
pub const CHAIN: [f64; 2] = [2_600.0, 3_300.0];
/// DeepSea with 20 rows is to be solved in fewer episodes than this,
const EPISODES: f64 = 2_000.0;
/// in this share of the trials.
const SOLVED: f64 = 0.9;
/// The share of Q* within ±2σ from a tenth of the horizon on.
const COVERAGE: (f64, f64) = (0.90, 0.99);
/// The least such share before.
const EARLY: f64 = 0.80;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Area,
    Reward,
    /// Reward on Chain in the first or the second phase.
    Chain(usize),
    DeepSea,
    /// Coverage from a tenth of the horizon on.
    Coverage,
    Early,
}

impl Kind {
    fn text(self) -> String {
        match self {
            Self::Area => format!("area under the RMSE at most {AREA} × the best rival's"),
            Self::Reward => format!("reward at least {REWARD} × the best rival's"),
            Self::Chain(phase) => {
                format!("reward in phase {} at least {} in 1,000 steps", phase + 1, CHAIN[phase])
            }
            Self::DeepSea => {
                format!("solved in fewer than {EPISODES} episodes, share of trials at least {SOLVED}")
            }
            Self::Coverage => {
                format!(
                    "share of Q* within ±2σ from 10 % of the horizon on: {} to {}",
                    COVERAGE.0, COVERAGE.1
                )
            }
            Self::Early => format!("the same before: at least {EARLY}"),
        }
    }
}

pub struct Target {
    pub kind: Kind,
    pub domain: &'static str,
    pub found: String,
    /// By how much it is missed, in the unit of the target; 0 or less if it is met.
    pub miss: f64,
}

impl Target {
    /// Whether it is met. What could not be measured is not met.
    pub fn is_met(&self) -> bool {
        self.miss <= 0.0
    }
}

/// All targets for one agent, in those domains where it took part.
pub fn targets(evidence: &Evidence<'_>, label: &str) -> Vec<Target> {
    let mut found = Vec::new();
    for ranking in evidence.areas.iter().filter(|ranking| ranking.has_rival()) {
        let Some(standing) = ranking.of(label) else { continue };
        let Estimate { value, interval } = standing.ratio;
        let text = with_interval(value, interval);
        found.push(Target { kind: Kind::Area, domain: ranking.domain, found: text, miss: value - AREA });
    }
    for ranking in evidence.rewards.iter().filter(|ranking| ranking.has_rival()) {
        let Some(standing) = ranking.of(label) else { continue };
        let (mine, best) = (standing.mean, ranking.best_mean());
        // Of a best that is no gain, 95 % would be more than the best.
        let least = best - (1.0 - REWARD) * best.abs();
        let text = match standing.ratio.value.is_nan() {
            false => with_interval(standing.ratio.value, standing.ratio.interval),
            true => format!("{}, the best {}", with_interval(mine.value, mine.interval), short(best)),
        };
        let miss = (least - mine.value) / best.abs();
        found.push(Target { kind: Kind::Reward, domain: ranking.domain, found: text, miss });
    }
    found.extend([0, 1].into_iter().filter_map(|phase| chain(evidence, label, phase)));
    found.extend(deepsea(&evidence.online, label));
    for domain in evidence.walks.domains() {
        found.extend(coverage(&evidence.walks, domain, label));
    }
    found
}

fn chain(evidence: &Evidence<'_>, label: &str, phase: usize) -> Option<Target> {
    let rewards = evidence.phases.scores("chain", label, &|record| earned(record, phase));
    let steps = evidence.phases.records("chain", label).first()?.steps.get(1).copied()?;
    let per_thousand = mean(&rewards) * 1_000.0 / steps as f64;
    let miss = CHAIN[phase] - per_thousand;
    Some(Target { kind: Kind::Chain(phase), domain: "chain", found: short(per_thousand), miss })
}

fn deepsea(online: &Results<'_>, label: &str) -> Option<Target> {
    let solved = episodes(online, "deepsea-20", label, |seen| seen.solved);
    let in_time = solved.iter().filter(|episode| **episode < EPISODES).count();
    let share = in_time as f64 / solved.len() as f64;
    (!solved.is_empty()).then(|| Target {
        kind: Kind::DeepSea,
        domain: "deepsea-20",
        found: format!("{in_time} of {} trials", solved.len()),
        miss: SOLVED - share,
    })
}

/// The least and the greatest mean coverage over looks: before a tenth of the horizon, and from there on.
pub fn coverage_range(walks: &Results<'_>, domain: &str, label: &str) -> Option<[(f64, f64); 2]> {
    let records = walks.records(domain, label);
    let looks = records.first().filter(|record| !record.within_2.is_empty())?.within_2.len();
    let at = |look: usize| {
        let shares: Vec<f64> =
            records.iter().filter_map(|record| record.within_2.get(look).copied()).collect();
        mean(&shares)
    };
    let means: Vec<f64> = (0..looks).map(at).collect();
    // Look k of n is after k/n of the horizon, look 0 before the first step.
    let (early, late) = means.split_at((looks - 1).div_ceil(10));
    let range = |shares: &[f64]| {
        let finite = shares.iter().filter(|share| share.is_finite());
        finite
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &share| (low.min(share), high.max(share)))
    };
    Some([range(early), range(late)])
}

fn coverage(walks: &Results<'_>, domain: &'static str, label: &str) -> Vec<Target> {
    let Some([early, late]) = coverage_range(walks, domain, label) else { return Vec::new() };
    let miss = (COVERAGE.0 - late.0).max(late.1 - COVERAGE.1);
    let text = format!("{:.3} to {:.3}", late.0, late.1);
    vec![
        Target { kind: Kind::Coverage, domain, found: text, miss },
        Target { kind: Kind::Early, domain, found: format!("{:.3}", early.0), miss: EARLY - early.0 },
    ]
}

pub fn table(targets: &[Target]) -> Result<Table> {
    let mut table = Table::new(["target", "domain", "found", "", "missed by"]);
    for target in targets {
        let verdict = if target.is_met() { "✓ met" } else { "✗ missed" };
        let miss = if target.is_met() { String::new() } else { short(target.miss) };
        let cells = [target.kind.text(), title(target.domain).to_owned(), target.found.clone()];
        table.push(cells.into_iter().chain([verdict.to_owned(), miss]).map(Into::into))?;
    }
    Ok(table)
}

/// "17 of 21": how many targets of a kind are met.
pub fn count(targets: &[Target], kind: Kind) -> String {
    let of_kind = || targets.iter().filter(|target| target.kind == kind);
    match of_kind().count() {
        0 => "–".to_owned(),
        all => format!("{} of {all}", of_kind().filter(|target| target.is_met()).count()),
    }
}

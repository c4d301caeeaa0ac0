//! Fig. rmse of the paper (§5): how fast the update rules find Q* of the simple MDP under random exploration.

use crate::Result;
use crate::experiment::agents::{ADFQ, ADFQ_COARSE, ADFQ_EXACT, ADFQ_NUMERIC, NEUTRAL, Q_LEARNING};
use crate::experiment::domain::title;
use crate::experiment::results::{LearningTrials, Results, area, last_finite};
use crate::experiment::trial::{Record, Setting, Trial};
use crate::experiment::{Findings, Job, Plan};
use crate::plot::{Axis, Figure, Panel};
use crate::report::Section;
use crate::verdict::Direction;

/// The domains of the figure.
pub const DOMAINS: &[&str] = &["simple", "simple10"];

const STEPS: u64 = 5_000;
const LABELS: [&str; 5] = [ADFQ, ADFQ_EXACT, ADFQ_NUMERIC, ADFQ_COARSE, Q_LEARNING];

/// The experiment on some of its [`DOMAINS`].
pub fn prepare(plan: &Plan, domains: &[&'static str]) -> Box<dyn Job> {
    Box::new(LearningTrials { trials: trials(plan, domains), conclude })
}

fn trials(plan: &Plan, domains: &[&'static str]) -> Vec<Trial> {
    let setting =
        |&domain| Setting { family: "rmse", domain, steps: STEPS, looks: 100, tests: false, prior: NEUTRAL };
    domains.iter().map(setting).flat_map(|setting| setting.trials(plan, &LABELS)).collect()
}

fn conclude(results: &Results<'_>) -> Result<Findings> {
    let error = |record: &Record| record.rmse.clone();
    let mut figure = Figure::new("RMSE to Q* during random exploration").columns(2);
    for domain in results.domains() {
        let panel = Panel::new(title(domain), Axis::linear("step"), Axis::log("RMSE to Q*"));
        figure = figure.panel(results.draw(panel, domain, error));
    }
    let section = Section::new("Convergence on the simple MDP (Fig. rmse)")
        .paragraph(
            "The update alone: actions are random, and all algorithms of a trial learn from the same \
             trajectory. ADFQ starts at N(0.001, 100) and knows no noise but the variance 0.001 of a \
             terminal target; ADFQ-Numeric has 1,000 samples (the paper gives no number) and, for comparison, \
             100; Q-learning has the paper's rate.",
        )
        .paragraph(
            "Lines are means over trials, bands 95 % bootstrap intervals of the mean. The area under a curve \
             is the mean RMSE over 101 looks.",
        );
    let section = claims(results, section)?.table(
        "RMSE to Q*, mean over trials",
        results.summary(&[
            ("start", &|record| record.rmse[0]),
            ("after 10 %", &|record| record.rmse[record.rmse.len() / 10]),
            ("end", &|record| last_finite(&record.rmse)),
            ("area", &|record| area(&record.rmse)),
        ])?,
    );
    Ok(Findings::new(section).figure("rmse", figure).data("rmse", results.table("rmse", error)?))
}

fn claims(results: &Results<'_>, mut section: Section) -> Result<Section> {
    for domain in results.domains() {
        let (name, area): (_, &dyn Fn(&Record) -> f64) = (title(domain), &|record| area(&record.rmse));
        let found = [
            results.compare(
                format!("ADFQ finds Q* quicker than Q-learning ({name})"),
                ("area under the RMSE", area),
                domain,
                (ADFQ, Direction::Less, Q_LEARNING),
            )?,
            results.compare(
                format!("ADFQ ends nearer to Q* than ADFQ-Numeric ({name})"),
                ("RMSE at the end", &|record| last_finite(&record.rmse)),
                domain,
                (ADFQ, Direction::Less, ADFQ_NUMERIC),
            )?,
            results.compare(
                format!("ADFQ ends nearer to Q* than ADFQ-Numeric with 100 samples ({name})"),
                ("RMSE at the end", &|record| last_finite(&record.rmse)),
                domain,
                (ADFQ, Direction::Less, ADFQ_COARSE),
            )?,
            results.compare(
                format!("Ours: exact moments find Q* quicker than the paper's analytic ones ({name})"),
                ("area under the RMSE", area),
                domain,
                (ADFQ_EXACT, Direction::Less, ADFQ),
            )?,
        ];
        section.claims.extend(found.into_iter().flatten());
    }
    Ok(section)
}

//! Fig. rmse of the paper (§5): how fast the update rules find Q* of the simple MDP under random exploration.

use crate::Result;
use crate::experiment::agents::{ADFQ, ADFQ_COARSE, ADFQ_EXACT, ADFQ_NUMERIC, NEUTRAL, Q_LEARNING};
use crate::experiment::results::{LearningTrials, Results, Score, area, last_finite};
use crate::experiment::solved_domain::title;
use crate::experiment::trial::{Record, Setting, Trial};
use crate::experiment::{Findings, Job, Plan};
use crate::plot::{Axis, Figure, Panel};
use crate::report::Section;
use crate::verdict::Direction;

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
    findings(results, "rmse", "RMSE to Q* during random exploration", claims(results, section)?)
}

/// A section with the curves of the RMSE, their data and a table.
pub(super) fn findings(results: &Results<'_>, name: &str, title: &str, section: Section) -> Result<Findings> {
    let error = |record: &Record| record.rmse.clone();
    let mut figure = Figure::new(title).columns(2);
    for domain in results.domains() {
        let panel = Panel::new(self::title(domain), Axis::linear("step"), Axis::log("RMSE to Q*"));
        figure = figure.panel(results.draw(panel, domain, error));
    }
    let section = section.table(
        "RMSE to Q*, mean over trials",
        results.summary(&[
            ("start", &|record| record.rmse[0]),
            ("after 10 %", &|record| record.rmse[record.rmse.len() / 10]),
            ("end", &|record| last_finite(&record.rmse)),
            ("area", &|record| area(&record.rmse)),
        ])?,
    );
    Ok(Findings::new(section).figure(name, figure).data(name, results.table("rmse", error)?))
}

fn claims(results: &Results<'_>, mut section: Section) -> Result<Section> {
    let whole: (&str, Score<'_>) = ("area under the RMSE", &|record| area(&record.rmse));
    let end: (&str, Score<'_>) = ("RMSE at the end", &|record| last_finite(&record.rmse));
    for domain in results.domains() {
        for (text, score, a, b) in [
            ("ADFQ finds Q* quicker than Q-learning", whole, ADFQ, Q_LEARNING),
            ("ADFQ ends nearer to Q* than ADFQ-Numeric", end, ADFQ, ADFQ_NUMERIC),
            ("ADFQ ends nearer to Q* than ADFQ-Numeric with 100 samples", end, ADFQ, ADFQ_COARSE),
            ("Ours: exact moments find Q* quicker than the paper's analytic ones", whole, ADFQ_EXACT, ADFQ),
        ] {
            let text = format!("{text} ({})", title(domain));
            section.claims.extend(results.compare(text, score, domain, (a, Direction::Less, b))?);
        }
    }
    Ok(section)
}

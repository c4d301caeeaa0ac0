//! Beyond the paper: can the beliefs be trusted? The share of Q* within ±1 and ±2 standard deviations while learning.

use super::discrete_rmse::walks;
use crate::Result;
use crate::experiment::agents::{ADFQ, ADFQ_EXACT, BAYESIAN_Q, KTD_Q};
use crate::experiment::results::{LearningTrials, Results, Score, last_finite};
use crate::experiment::solved_domain::title;
use crate::experiment::trial::{Record, Trial};
use crate::experiment::{Findings, Job, Plan};
use crate::plot::{Axis, Figure, Panel, Rule};
use crate::report::Section;
use crate::verdict::Direction;

pub use super::discrete_rmse::DOMAINS;

/// What a Gaussian belief promises: Φ(1) − Φ(−1) and Φ(2) − Φ(−2).
const PROMISED: [f64; 2] = [0.6827, 0.9545];

/// The experiment on some of its [`DOMAINS`].
pub fn prepare(plan: &Plan, domains: &[&'static str]) -> Box<dyn Job> {
    Box::new(LearningTrials { trials: trials(plan, domains), conclude })
}

fn trials(plan: &Plan, domains: &[&'static str]) -> Vec<Trial> {
    walks(plan, domains, &[ADFQ, ADFQ_EXACT, KTD_Q, BAYESIAN_Q])
}

fn conclude(results: &Results<'_>) -> Result<Findings> {
    let (one, two) = (|record: &Record| record.within_1.clone(), |record: &Record| record.within_2.clone());
    let figure = |title: &str, promised, pick: fn(&Record) -> Vec<f64>| {
        let mut figure = Figure::new(title).columns(2);
        for domain in results.domains() {
            let share = Axis::linear("share of Q*").from(0.0).to(1.05);
            let panel = Panel::new(self::title(domain), Axis::linear("step"), share)
                .layer(Rule::horizontal("a Gaussian's promise", promised));
            figure = figure.panel(results.draw(panel, domain, pick));
        }
        figure
    };
    let section = claims(results, prose())?.table(
        "Share of Q* within the belief's standard deviations, mean over trials",
        results.summary(&[
            ("±1 sd after 10 %", &|record| record.within_1[record.within_1.len() / 10]),
            ("±1 sd at the end", &|record| last_finite(&record.within_1)),
            ("±2 sd after 10 %", &|record| record.within_2[record.within_2.len() / 10]),
            ("±2 sd at the end", &|record| last_finite(&record.within_2)),
        ])?,
    );
    Ok(Findings::new(section)
        .figure("calibration_2sd", figure("Share of Q* within ±2 standard deviations", PROMISED[1], two))
        .figure("calibration_1sd", figure("Share of Q* within ±1 standard deviation", PROMISED[0], one))
        .data("calibration_1sd", results.table("within 1 sd", one)?)
        .data("calibration_2sd", results.table("within 2 sd", two)?))
}

fn prose() -> Section {
    Section::new("Beyond the paper: can the beliefs be trusted?").paragraph(
        "The same random walks as in Fig. discrete_rmse. An agent that knows what it does not know has Q* within two \
         standard deviations of its belief for about 95 % of all states and actions. ADFQ takes a bootstrapped target \
         for new, independent evidence every time it sees it, and so becomes sure too soon. Pairs that were never \
         visited keep their prior, which is wide enough here: they lift the share on Maze.",
    )
}

fn claims(results: &Results<'_>, mut section: Section) -> Result<Section> {
    let end: (&str, Score<'_>) = ("share within ±2 sd at the end", &|record| last_finite(&record.within_2));
    for domain in results.domains() {
        let name = title(domain);
        let trusted = |who: &str| format!("{who}: at least 90 % of Q* lie within ±2 sd at the end ({name})");
        let trust = |who| results.against(trusted(who), end, domain, (who, Direction::Greater, 0.9));
        let found = [trust(ADFQ)?, trust(ADFQ_EXACT)?, trust(KTD_Q)?, trust(BAYESIAN_Q)?];
        section.claims.extend(found.into_iter().flatten());
    }
    Ok(section)
}

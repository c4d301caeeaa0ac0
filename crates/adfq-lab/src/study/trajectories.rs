//! What agents learn from shared random walks: RMSE, coverage and the continuous ranked probability score.

use super::curves::{self, Curve};
use super::domains::Group;
use super::ranking::{self, AREA, CRPS, Ranking};
use super::targets;
use crate::Result;
use crate::experiment::Findings;
use crate::experiment::results::{Results, last_finite};
use crate::experiment::solved_domain::title;
use crate::experiment::trial::{Record, Trial};
use crate::plot::{Axis, Figure, Panel, Rule};
use crate::report::Section;

/// What a Gaussian belief promises: Φ(2) − Φ(−2).
const PROMISED: f64 = 0.9545;

pub fn conclude(results: &Results<'_>) -> Result<Findings> {
    let (areas, scores) = (ranking::rankings(results, AREA)?, ranking::rankings(results, CRPS)?);
    let labels = ranking::labels(results);
    let mut findings = Findings::new(section(results, &areas, &scores, &labels)?);
    let shown = ranking::shown(results);
    let (all, sure) = (Results(&shown), believers(&shown));
    for (group, name, heading) in Group::ALL {
        for (kind, file, drawn) in
            [(&COVERAGE, "coverage", &Results(&sure)), (&RMSE, "rmse", &all), (&SCORE, "crps", &all)]
        {
            if let Some(figure) = kind.figure(drawn, group, heading) {
                findings = findings.figure(format!("{file}_{name}"), figure);
            }
        }
    }
    let axis = Axis::log("area under the RMSE over that of the best rival");
    let title = "Error on shared random walks, relative to the best rival";
    let dots = ranking::dots(title, &areas, &ranking::contestants(&labels), targets::AREA, &axis);
    findings = findings.figure("area", dots).data("area", ranking::data(&areas, AREA)?);
    let curves = curves::table(results, &ESTIMATED, &PLAIN)?;
    findings = findings.data("walk_curves", curves);
    Ok(findings.data("crps_area", ranking::data(&scores, CRPS)?))
}

/// The curves that become data: with intervals,
const ESTIMATED: [(&str, Curve); 2] =
    [("rmse", |record| record.rmse.clone()), ("within 2 sd", |record| record.within_2.clone())];
/// and without.
const PLAIN: [(&str, Curve); 3] = [
    ("crps", |record| record.crps.clone()),
    ("within 1 sd", |record| record.within_1.clone()),
    ("visited within 2 sd", |record| record.visited_2.clone()),
];

/// A kind of figure: what is on the axis, and which curve is drawn.
struct Kind {
    title: &'static str,
    axis: fn() -> Axis,
    promised: Option<f64>,
    pick: Curve,
}

const COVERAGE: Kind = Kind {
    title: "Share of Q* within ±2 standard deviations",
    axis: || Axis::linear("share of Q*").from(0.0).to(1.05),
    promised: Some(PROMISED),
    pick: |record| record.within_2.clone(),
};
const RMSE: Kind = Kind {
    title: "RMSE to Q* from shared random walks",
    axis: || Axis::log("RMSE to Q*"),
    promised: None,
    pick: |record| record.rmse.clone(),
};
const SCORE: Kind = Kind {
    title: "Continuous ranked probability score (mean absolute error of agents without beliefs)",
    axis: || Axis::log("CRPS"),
    promised: None,
    pick: |record| record.crps.clone(),
};

impl Kind {
    /// The figure of a group, if any of its domains was run.
    fn figure(&self, results: &Results<'_>, group: Group, heading: &str) -> Option<Figure> {
        let mut figure = Figure::new(format!("{}: {heading}", self.title)).columns(2);
        for domain in results.domains().into_iter().filter(|domain| group.contains(domain)) {
            let mut panel = Panel::new(title(domain), Axis::linear("step"), (self.axis)());
            if let Some(promised) = self.promised {
                panel = panel.layer(Rule::horizontal("a Gaussian's promise", promised));
            }
            figure = figure.panel(results.draw(panel, domain, self.pick));
        }
        (!figure.panels.is_empty()).then_some(figure)
    }
}

fn section(
    results: &Results<'_>,
    areas: &[Ranking],
    scores: &[Ranking],
    labels: &[&'static str],
) -> Result<Section> {
    Ok(Section::new("What is learned from shared random walks, and how sure agents are of it")
        .paragraph(
            "All agents of a trial learn from the same transitions of a random walk. Errors, coverage and scores are \
             averaged over all actions of every state that can be reached, ends of episodes left out; pairs that were \
             not visited yet count with whatever is believed of them from the start. In DeepSea with 14 and 20 rows \
             hardly any walk finds the treasure: there the error tells how far a prior is from what cannot be known, \
             and coverage whether an agent knows that it does not know.",
        )
        .paragraph(
            "The continuous ranked probability score measures mean and spread at once, in the unit of the values; of \
             an agent without beliefs it is the mean absolute error. Beliefs are scored by their mean and variance.",
        )
        .paragraph(
            "Areas are means over 51 looks. Relative numbers are ratios of means over trials to the rival whose mean is \
             best in that domain, with 95 % bootstrap intervals over paired trials; who is best is decided by the same trials, \
             which favours the best.",
        )
        .table("Area under the RMSE over that of the best rival", ranking::relative(areas, labels)?)
        .table("Area under the CRPS over that of the best rival", ranking::relative(scores, labels)?)
        .table(
            "Mean over trials",
            results.summary(&[
                ("RMSE after 10 %", &|record| record.rmse[record.rmse.len() / 10]),
                ("RMSE at the end", &|record| last_finite(&record.rmse)),
                ("±1 sd at the end", &|record| last_finite(&record.within_1)),
                ("±2 sd after 10 %", &|record| at(&record.within_2, record.within_2.len() / 10)),
                ("±2 sd at the end", &|record| last_finite(&record.within_2)),
                ("±2 sd at the end, visited", &|record| last_finite(&record.visited_2)),
                ("CRPS at the end", &|record| last_finite(&record.crps)),
            ])?,
        ))
}

/// Those who have beliefs.
fn believers(outcomes: &[(Trial, Record)]) -> Vec<(Trial, Record)> {
    outcomes.iter().filter(|(_, record)| !record.within_2.is_empty()).cloned().collect()
}

/// NaN for an agent without beliefs.
fn at(curve: &[f64], look: usize) -> f64 {
    curve.get(look).copied().unwrap_or(f64::NAN)
}

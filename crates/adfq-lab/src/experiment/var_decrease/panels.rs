//! The drawing of Fig. var_decrease: the paper's two panels, the largest growth found, and the random settings.

use super::{Growth, HIGHEST, NextTwo, Outcome, by_mean, by_variance, points, rules};
use crate::Result;
use crate::plot::{Axis, Color, Dash, Figure, Line, Panel, Rule};
use adfq::update::Rule as UpdateRule;

pub(super) fn figure(outcome: &Outcome) -> Result<Figure> {
    Ok(Figure::new("Variance after an update, by the variance before")
        .columns(2)
        .panel(curves_panel("(a) by μ₂ − μ₁", Dash::Solid, by_mean())?)
        .panel(curves_panel("(b) by σ₁² / σ₂²", Dash::DashDot, by_variance())?)
        .panel(worst_panel(outcome)?)
        .panel(quantile_panel(outcome)))
}

/// A panel with the diagonal, above which variances grow.
fn plane(title: &str, highest: f64) -> Panel {
    let (x, y) = (Axis::linear("σ² before").from(0.0).to(highest), Axis::linear("σ² after").from(0.0));
    let diagonal = Line::new("unchanged", [(0.0, 0.0), (highest, highest)]);
    Panel::new(title, x, y).layer(diagonal.color(Color::Grey).dash(Dash::Dashed))
}

/// A curve for each setting, by the exact rule.
fn curves_panel(title: &str, dash: Dash, settings: Vec<(String, NextTwo)>) -> Result<Panel> {
    let mut panel = plane(title, HIGHEST);
    panel.y.high = Some(1.0);
    for (i, (label, next)) in settings.into_iter().enumerate() {
        let line = Line::new(label, points(UpdateRule::Exact, next, HIGHEST)?);
        panel = panel.layer(line.color(Color::slot(i)).dash(dash));
    }
    Ok(panel)
}

/// The setting with the largest growth by the exact rule, and what the analytic rule does there.
fn worst_panel(outcome: &Outcome) -> Result<Panel> {
    let Growth { worst_var, worst_next, .. } = outcome.exact;
    let highest = 2.0 * worst_var;
    let mut panel = plane("(c) the largest growth found", highest);
    for (name, rule, (color, dash), _) in rules(outcome) {
        panel = panel.layer(Line::new(name, points(rule, worst_next, highest)?).color(color).dash(dash));
    }
    Ok(panel)
}

/// The share of settings by the ratio of the variances.
fn quantile_panel(outcome: &Outcome) -> Panel {
    let (x, y) = (Axis::log("σ² after / σ² before").from(0.01), Axis::linear("share of settings below"));
    let panel = Panel::new("(d) random settings", x, y.from(0.0).to(1.05));
    let panel = panel.layer(Rule::vertical("", 1.0));
    rules(outcome).into_iter().fold(panel, |panel, (name, _, (color, dash), growth)| {
        let shares = growth.quantiles.iter().enumerate().map(|(i, &ratio)| (ratio, i as f64 / 100.0));
        panel.layer(Line::new(name, shares).color(color).dash(dash))
    })
}

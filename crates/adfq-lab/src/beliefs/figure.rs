//! The calibration curve as a picture.

use super::{Against, Checked, Found};
use crate::plot::{Axis, Color, Dash, Figure, Line, Panel};

/// For every interval around the mean, the share of values it should hold against the share it does. On the diagonal beliefs
/// are honest, below it they are too sure, above it they doubt too much.
pub(super) fn calibration(title: String, checked: &Checked) -> Figure {
    let mut figure = Figure::new(title).panel_size(330.0, 330.0);
    for against in [Against::OwnPolicy, Against::Optimum] {
        let found: Vec<&Found> = checked.found.iter().filter(|found| found.against == against).collect();
        if !found.is_empty() {
            figure = figure.panel(panel(against, &found));
        }
    }
    let columns = figure.panels.len();
    figure.columns(columns)
}

fn panel(against: Against, found: &[&Found]) -> Panel {
    let axis = |label: &str| Axis::linear(label).from(0.0).to(1.0);
    let title = format!("against {}", against.name());
    let honest = Line::new("honest", [(0.0, 0.0), (1.0, 1.0)]).color(Color::Grey).dash(Dash::Dashed).thin();
    let mut panel = Panel::new(title, axis("share it should hold"), axis("share it holds")).layer(honest);
    let dashes = [Dash::Solid, Dash::Dashed, Dash::Dotted, Dash::DashDot];
    for (i, found) in found.iter().enumerate() {
        let line = Line::new(found.states(), found.measures.calibration.iter().copied());
        panel = panel.layer(line.color(Color::slot(i)).dash(dashes[i % dashes.len()]));
    }
    panel
}

//! Learning curves as figures.

use super::{Comparison, Entry, Environment};
use crate::plot::{Axis, Color, Figure, Line, Panel};

/// With more runs than this the lines of single seeds would hide what they are to show.
const MOST_LINES: usize = 10;

/// The learning curves of one environment: for each label the mean return over seeds with its 95 % band, and a
/// hairline for each seed where they are few. A label has the same colour in every environment.
pub fn curves(comparison: &Comparison, environment: &Environment) -> Figure {
    let color = |entry: &Entry| {
        Color::slot(comparison.labels.iter().position(|label| *label == entry.label).unwrap_or(0))
    };
    let at = |values: &[f64]| -> Vec<(f64, f64)> {
        environment.steps.iter().map(|&step| step as f64).zip(values.iter().copied()).collect()
    };
    let mut panel = Panel::new("", Axis::linear("environment step"), Axis::linear(comparison.returns.axis()));
    let entries = &environment.entries;
    if entries.iter().map(|entry| entry.runs.len()).sum::<usize>() <= MOST_LINES {
        for entry in entries.iter().filter(|entry| entry.runs.len() > 1) {
            for run in &entry.runs {
                panel = panel.layer(Line::new("", at(&run.curve)).color(color(entry)).thin());
            }
        }
    }
    for entry in entries {
        let means: Vec<f64> = entry.curve.iter().map(|score| score.value).collect();
        let band = entry.curve.iter().filter_map(|score| Some((score.interval?.low, score.interval?.high)));
        panel = panel.layer(Line::new(entry.label.as_str(), at(&means)).band(band).color(color(entry)));
    }
    Figure::new(environment.env.as_str()).panel(panel).panel_size(560.0, 340.0)
}

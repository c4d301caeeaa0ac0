//! The learning curve of a run as a picture, for notebooks.

use adfq_report::plot::{Axis, Color, Figure, Line, Panel};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// An SVG with a line for each name, through its points.
#[pyfunction]
pub fn curve(title: &str, lines: Vec<(String, Vec<(f64, f64)>)>) -> PyResult<String> {
    let panel = Panel::new("", Axis::linear("step"), Axis::linear("return"));
    let panel = lines
        .into_iter()
        .enumerate()
        .fold(panel, |panel, (i, (name, points))| panel.layer(Line::new(name, points).color(Color::slot(i))));
    let figure = Figure::new(title).panel(panel);
    figure.svg().map_err(|error| PyValueError::new_err(error.to_string()))
}

//! Where everything stands: titles, panels, axes and the legend.

use super::range::{Range, categories, ranges};
use super::ticks::{Ticks, ticks};
use super::{Figure, Layer, Panel, legend, radar, text};
use crate::Result;

/// Font sizes.
pub const TITLE: f64 = 15.0;
pub const HEADING: f64 = 13.0;
pub const LABEL: f64 = 12.0;
pub const TICK: f64 = 11.0;

/// The height of a line of text, over its font size.
pub const LEADING: f64 = 1.3;

/// Around the figure, and between panels.
const MARGIN: f64 = 12.0;
const GAP: f64 = 16.0;
/// Right of a panel's frame, for the last label of x.
const OVERHANG: f64 = 14.0;

/// A rectangle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rect {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// One panel, ready to be drawn.
pub struct Placed<'a> {
    pub panel: &'a Panel,
    /// The lines of the title.
    pub title: Vec<String>,
    /// What the labels of y have left of the frame.
    pub left: f64,
    /// The frame in which the data stand.
    pub frame: Rect,
    pub x: Range,
    pub y: Range,
    pub x_ticks: Ticks,
    pub y_ticks: Ticks,
    /// The lines of the names of categories, if the panel has bars.
    pub categories: Vec<Vec<String>>,
}

/// A whole figure, ready to be drawn.
pub struct Layout<'a> {
    pub width: f64,
    pub height: f64,
    /// The lines of the title.
    pub title: Vec<String>,
    pub panels: Vec<Placed<'a>>,
    pub legend: Vec<legend::Placed<'a>>,
}

impl<'a> Layout<'a> {
    pub fn new(figure: &'a Figure) -> Result<Self> {
        let columns = figure.columns.clamp(1, figure.panels.len().max(1));
        let size =
            [figure.panel_width, figure.panel_height].map(|length| length.clamp(120.0, 4000.0).max(120.0));
        let body = columns as f64 * (size[0] + GAP) - GAP;
        let entries = legend::entries(figure);
        let width = body + 2.0 * MARGIN;
        let title = text::wrap(&figure.title, TITLE, width - 2.0 * MARGIN);

        let mut panels = figure.panels.iter().map(|p| Placed::new(p, size)).collect::<Result<Vec<_>>>()?;
        align(&mut panels, columns);
        let top = MARGIN + title.len() as f64 * TITLE * LEADING + if title.is_empty() { 0.0 } else { 8.0 };
        let bottom = stack(&mut panels, columns, size[0], top);
        for panel in &mut panels {
            let target = (panel.frame.width / 70.0).round().clamp(4.0, 9.0) as usize;
            panel.x_ticks = ticks(panel.x.scale, panel.x.low, panel.x.high, target);
        }

        let (legend, height) = match entries.is_empty() {
            true => (Vec::new(), bottom),
            false => legend::rows(entries, Rect { x: MARGIN, y: bottom + 8.0, width: body, height: 0.0 }),
        };
        Ok(Self { width, height: height + MARGIN, title, panels, legend })
    }
}

impl<'a> Placed<'a> {
    /// A panel with the size of its frame, which is not yet at its place.
    fn new(panel: &'a Panel, [outer_width, outer_height]: [f64; 2]) -> Result<Self> {
        let (x, y) = ranges(panel)?;
        let title = text::wrap(&panel.title, HEADING, outer_width);
        let categories: Vec<Vec<String>> =
            categories(panel).into_iter().map(|name| text::wrap(name, TICK, 0.4 * outer_width)).collect();
        let bars = panel.layers.iter().filter(|layer| matches!(layer, Layer::Bars(_))).count();
        let room_for_bars = categories.len() as f64 * (8.0 + 13.0 * bars as f64).max(22.0);
        let height = (outer_height - below(panel) - HEADING * LEADING).max(60.0).max(room_for_bars);
        let y_ticks = if categories.is_empty() && radar::webs(panel).is_empty() {
            ticks(y.scale, y.low, y.high, (height / 46.0).round().clamp(4.0, 8.0) as usize)
        } else {
            Ticks::default()
        };
        let frame = Rect { x: 0.0, y: 0.0, width: outer_width, height };
        Ok(Self { panel, title, left: 0.0, frame, x, y, x_ticks: Ticks::default(), y_ticks, categories })
    }

    /// What the labels of y need left of the frame.
    fn needs_left(&self) -> f64 {
        let labels =
            self.y_ticks.major.iter().map(|tick| &tick.label).chain(self.categories.iter().flatten());
        let widest = labels.map(|label| text::width(label, TICK)).fold(0.0, f64::max);
        let label = if self.panel.y.label.is_empty() { 0.0 } else { LABEL * LEADING + 4.0 };
        widest + label + 8.0
    }

    /// The height of the title.
    fn above(&self) -> f64 {
        if self.title.is_empty() { 8.0 } else { self.title.len() as f64 * HEADING * LEADING + 5.0 }
    }
}

/// The height of the labels of x.
fn below(panel: &Panel) -> f64 {
    let label = if panel.x.label.is_empty() { 0.0 } else { LABEL * LEADING + 2.0 };
    7.0 + TICK * LEADING + label
}

/// Frames in one column begin at the same x; frames in one row are equally high.
fn align(panels: &mut [Placed], columns: usize) {
    for column in 0..columns {
        let left = panels.iter().skip(column).step_by(columns).map(Placed::needs_left).fold(0.0, f64::max);
        for panel in panels.iter_mut().skip(column).step_by(columns) {
            (panel.left, panel.frame.x) = (left, left);
            panel.frame.width = (panel.frame.width - left - OVERHANG).max(40.0);
        }
    }
    for row in panels.chunks_mut(columns) {
        let height = row.iter().map(|panel| panel.frame.height).fold(0.0, f64::max);
        row.iter_mut().for_each(|panel| panel.frame.height = height);
    }
}

/// Moves the frames to their places, row under row from `top`; returns where the last row ends.
fn stack(panels: &mut [Placed], columns: usize, outer_width: f64, top: f64) -> f64 {
    let mut y = top;
    for (i, row) in panels.chunks_mut(columns).enumerate() {
        y += if i > 0 { GAP } else { 0.0 };
        let above = row.iter().map(Placed::above).fold(0.0, f64::max);
        let tallest = row.iter().map(|panel| panel.frame.height + below(panel.panel)).fold(0.0, f64::max);
        for (column, panel) in row.iter_mut().enumerate() {
            panel.frame.x += MARGIN + column as f64 * (outer_width + GAP);
            panel.frame.y = y + above;
        }
        y += above + tallest;
    }
    y
}

//! A figure, its panels and their axes: plain data, drawn elsewhere.

use super::Layer;

/// Whether an axis counts in steps or in factors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences are equally long.
    #[default]
    Linear,
    /// Equal ratios are equally long; only positive values exist.
    Log10,
}

/// An axis. Limits that are not given follow the data.
///
/// ```
/// use adfq_report::plot::{Axis, Scale};
///
/// let axis = Axis::log("RMSE").from(1e-3);
/// assert_eq!((axis.scale, axis.low, axis.high), (Scale::Log10, Some(1e-3), None));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// What is measured, with its unit.
    pub label: String,
    /// Linear or logarithmic.
    pub scale: Scale,
    /// The lower limit.
    pub low: Option<f64>,
    /// The upper limit.
    pub high: Option<f64>,
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }

    /// A logarithmic axis.
    pub fn log(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Log10, ..Self::default() }
    }

    /// Starting at `low`.
    pub fn from(mut self, low: f64) -> Self {
        self.low = Some(low);
        self
    }

    /// Ending at `high`.
    pub fn to(mut self, high: f64) -> Self {
        self.high = Some(high);
        self
    }
}

/// One coordinate system and what is drawn in it.
///
/// ```
/// use adfq_report::plot::{Axis, Line, Panel, Rule};
///
/// let panel = Panel::new("(a) Maze", Axis::linear("step"), Axis::linear("return"))
///     .layer(Line::new("ADFQ", [(0.0, 0.0), (1.0, 2.5)]))
///     .layer(Rule::horizontal("optimal", 3.0));
/// assert_eq!(panel.layers.len(), 2);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// The title above the panel; may be empty.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis; in a panel with bars only its label is used.
    pub y: Axis,
    /// What is drawn, from back to front.
    pub layers: Vec<Layer>,
}

impl Panel {
    /// An empty panel.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self { title: title.into(), x, y, layers: Vec::new() }
    }

    /// With one more layer on top.
    pub fn layer(mut self, layer: impl Into<Layer>) -> Self {
        self.layers.push(layer.into());
        self
    }
}

/// A figure: panels in rows with one legend below them.
///
/// Lengths are in units of the SVG's view box, where text is 10 to 14 high; 400 wide, the default, is a phone.
///
/// ```
/// use adfq_report::plot::{Axis, Figure, Panel};
///
/// let panel = |title| Panel::new(title, Axis::linear("x"), Axis::linear("y"));
/// let figure = Figure::new("Two panels").columns(2).panel(panel("left")).panel(panel("right"));
/// assert_eq!(figure.stacked().columns, 1);
/// assert_eq!(figure.stacked().panels, figure.panels);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The title above all panels; may be empty.
    pub title: String,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
    /// How many panels stand side by side (0 counts as 1).
    pub columns: usize,
    /// The width of a panel with its axis labels.
    pub panel_width: f64,
    /// The height of a panel with its axis labels and title; panels with many bars grow beyond it.
    pub panel_height: f64,
}

impl Figure {
    /// A figure without panels, in one column.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), panels: Vec::new(), columns: 1, panel_width: 400.0, panel_height: 270.0 }
    }

    /// With one more panel.
    pub fn panel(mut self, panel: Panel) -> Self {
        self.panels.push(panel);
        self
    }

    /// With so many panels side by side.
    pub fn columns(mut self, columns: usize) -> Self {
        self.columns = columns;
        self
    }

    /// With panels of this size; values below 120 or that are no numbers count as 120.
    pub fn panel_size(mut self, width: f64, height: f64) -> Self {
        (self.panel_width, self.panel_height) = (width, height);
        self
    }

    /// The same figure for narrow screens: one panel a row, none wider than a phone.
    pub fn stacked(&self) -> Self {
        Self { columns: 1, panel_width: self.panel_width.min(400.0), ..self.clone() }
    }

    /// The same figure without its title, for a page that prints the title itself.
    pub fn untitled(&self) -> Self {
        Self { title: String::new(), ..self.clone() }
    }
}

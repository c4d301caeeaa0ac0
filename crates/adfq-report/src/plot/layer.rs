//! What a panel shows: lines, markers, areas, bars, reference lines, notes and webs.

use super::Color;

/// One layer of a panel; later layers are drawn over earlier ones.
#[derive(Clone, Debug, PartialEq)]
pub enum Layer {
    /// A line, perhaps with a band.
    Line(Line),
    /// A scatter of markers.
    Markers(Markers),
    /// A filled curve.
    Area(Area),
    /// Horizontal bars.
    Bars(Bars),
    /// A reference line.
    Rule(Rule),
    /// A word.
    Note(Note),
    /// A closed line of a radar chart.
    Web(Web),
}

/// How a line is stroked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dash {
    /// Without gaps.
    #[default]
    Solid,
    /// Long strokes.
    Dashed,
    /// Points.
    Dotted,
    /// Strokes and points in turn.
    DashDot,
}

/// A line through points, in their order, with an optional band of uncertainty.
///
/// ```
/// use adfq_report::plot::{Color, Dash, Line};
///
/// let line = Line::new("KTD-Q", [(0.0, 2.0), (1.0, f64::NAN), (2.0, 1.0)]).color(Color::Green).dash(Dash::Dashed);
/// assert_eq!(line.points.len(), 3); // the line breaks at NaN, but the point stays in the data
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// The name in the legend; an empty one has no entry.
    pub label: String,
    /// The points (x, y).
    pub points: Vec<(f64, f64)>,
    /// The band: low and high at each point, or nothing. On a logarithmic axis a low end ≤ 0 reaches the bottom.
    pub band: Vec<(f64, f64)>,
    /// The colour of line and band.
    pub color: Color,
    /// The stroke.
    pub dash: Dash,
    /// Whether the stroke is a hairline, for what stands in the background.
    pub thin: bool,
    /// How far along the line the dashes are shifted.
    pub shift: f64,
    /// Whether the stroke is pale, so that many of them together stay in the background.
    pub faint: bool,
}

impl Line {
    /// A solid line without a band.
    pub fn new(label: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self { label: label.into(), points: points.into_iter().collect(), ..Self::default() }
    }

    /// With a band from low to high at each point.
    pub fn band(mut self, band: impl IntoIterator<Item = (f64, f64)>) -> Self {
        self.band = band.into_iter().collect();
        self
    }

    /// With this stroke.
    pub fn dash(mut self, dash: Dash) -> Self {
        self.dash = dash;
        self
    }

    /// With its dashes shifted by this length: equal dashes that lie on each other then show each other.
    ///
    /// ```
    /// use adfq_report::plot::{Axis, Dash, Figure, Line, Panel};
    ///
    /// let line = Line::new("DQN", [(0.0, 0.0), (1.0, 1.0)]).dash(Dash::Dashed).shift(5.0);
    /// let panel = Panel::new("", Axis::linear("step"), Axis::linear("return")).layer(line);
    /// assert!(Figure::new("").panel(panel).svg()?.contains("stroke-dashoffset=\"5\""));
    /// # Ok::<(), adfq_report::Error>(())
    /// ```
    pub fn shift(mut self, shift: f64) -> Self {
        self.shift = shift;
        self
    }

    /// As a hairline.
    ///
    /// ```
    /// use adfq_report::plot::{Axis, Figure, Line, Panel};
    ///
    /// let panel = Panel::new("", Axis::linear("q"), Axis::linear("density"));
    /// let figure = |line| Figure::new("").panel(panel.clone().layer(line));
    /// let line = Line::new("target", [(0.0, 0.0), (1.0, 1.0)]);
    /// assert!(!figure(line.clone()).svg()?.contains("stroke-width=\"0.9\""));
    /// assert!(figure(line.thin()).svg()?.contains("stroke-width=\"0.9\""));
    /// # Ok::<(), adfq_report::Error>(())
    /// ```
    pub fn thin(mut self) -> Self {
        self.thin = true;
        self
    }

    /// As a pale hairline.
    ///
    /// ```
    /// use adfq_report::plot::Line;
    ///
    /// let seed = Line::new("", [(0.0, 0.0), (1.0, 1.0)]).faint();
    /// assert!(seed.thin && seed.faint);
    /// ```
    pub fn faint(mut self) -> Self {
        (self.thin, self.faint) = (true, true);
        self
    }

    /// The width of the stroke.
    pub(super) fn width(&self) -> f64 {
        if self.thin { 0.9 } else { 1.8 }
    }
}

/// The shape of markers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// A disc.
    #[default]
    Circle,
    /// A triangle that points up.
    Triangle,
}

/// A scatter of markers.
///
/// ```
/// use adfq_report::plot::{Markers, Shape};
///
/// let markers = Markers::new("trials", [(1.0, 2.0)]).shape(Shape::Triangle);
/// assert_eq!(markers.shape, Shape::Triangle);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Markers {
    /// The name in the legend; an empty one has no entry.
    pub label: String,
    /// The points (x, y).
    pub points: Vec<(f64, f64)>,
    /// The colour.
    pub color: Color,
    /// The shape.
    pub shape: Shape,
}

impl Markers {
    /// Circles at these points.
    pub fn new(label: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self { label: label.into(), points: points.into_iter().collect(), ..Self::default() }
    }

    /// With this shape.
    pub fn shape(mut self, shape: Shape) -> Self {
        self.shape = shape;
        self
    }
}

/// A curve filled down to zero (to the bottom on a logarithmic axis), for densities.
///
/// ```
/// use adfq_report::plot::Area;
///
/// let density = Area::new("N(0, 1)", (-30..=30).map(|i| f64::from(i) / 10.0).map(|x| (x, (-x * x / 2.0).exp())));
/// assert_eq!(density.points[30], (0.0, 1.0));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Area {
    /// The name in the legend; an empty one has no entry.
    pub label: String,
    /// The points (x, y) of the curve.
    pub points: Vec<(f64, f64)>,
    /// The colour of curve and filling.
    pub color: Color,
    /// The stroke of the curve.
    pub dash: Dash,
}

impl Area {
    /// The area under these points.
    pub fn new(label: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self { label: label.into(), points: points.into_iter().collect(), ..Self::default() }
    }

    /// With this stroke for the curve.
    pub fn dash(mut self, dash: Dash) -> Self {
        self.dash = dash;
        self
    }
}

/// One bar of a bar chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// The category, written on the vertical axis. Bars of several layers with one category stand side by side.
    pub category: String,
    /// The length of the bar.
    pub value: f64,
    /// Low and high end of the error bar.
    pub interval: Option<(f64, f64)>,
}

impl Bar {
    /// A bar without an error bar.
    pub fn new(category: impl Into<String>, value: f64) -> Self {
        Self { category: category.into(), value, interval: None }
    }

    /// With an error bar.
    pub fn interval(mut self, low: f64, high: f64) -> Self {
        self.interval = Some((low, high));
        self
    }
}

/// How a [`Bar`] looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BarStyle {
    /// A bar that starts at zero (at the left edge on a logarithmic axis).
    #[default]
    Bar,
    /// A dot with its error bar; the axis then need not include zero.
    Dot,
}

/// A horizontal bar chart: values along x, categories down y. In a panel with bars y carries nothing else.
///
/// ```
/// use adfq_report::plot::{Bar, BarStyle, Bars};
///
/// let bars = Bars::new("ADFQ", [Bar::new("Loop", 0.9).interval(0.8, 0.95), Bar::new("Maze", 0.6)]).dots();
/// assert_eq!((bars.bars[0].interval, bars.style), (Some((0.8, 0.95)), BarStyle::Dot));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bars {
    /// The name in the legend; an empty one has no entry.
    pub label: String,
    /// The bars, from top to bottom.
    pub bars: Vec<Bar>,
    /// The colour.
    pub color: Color,
    /// Bars or dots.
    pub style: BarStyle,
}

impl Bars {
    /// These bars.
    pub fn new(label: impl Into<String>, bars: impl IntoIterator<Item = Bar>) -> Self {
        Self { label: label.into(), bars: bars.into_iter().collect(), ..Self::default() }
    }

    /// Dots in place of bars.
    pub fn dots(mut self) -> Self {
        self.style = BarStyle::Dot;
        self
    }
}

/// A closed line over the spokes of a radar chart, one value on each. A panel with webs has nothing else; its y axis is the scale of all
/// spokes.
///
/// ```
/// use adfq_report::plot::{Axis, Figure, Panel, Web};
///
/// let web = Web::new("DQN", [("basic", 0.8), ("memory", 0.0), ("noise", 0.6)]);
/// let panel = Panel::new("", Axis::default(), Axis::linear("score").from(0.0).to(1.0)).layer(web);
/// assert!(Figure::new("Abilities").panel(panel).svg()?.contains(r#"data-kind="web" data-label="DQN""#));
/// # Ok::<(), adfq_report::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Web {
    /// The name in the legend; an empty one has no entry.
    pub label: String,
    /// The name of each spoke and the value on it; NaN is left out. Webs of one panel share the spokes of one name.
    pub spokes: Vec<(String, f64)>,
    /// The colour.
    pub color: Color,
    /// The stroke.
    pub dash: Dash,
}

impl Web {
    /// A solid web.
    pub fn new<S: Into<String>>(
        label: impl Into<String>,
        spokes: impl IntoIterator<Item = (S, f64)>,
    ) -> Self {
        let spokes = spokes.into_iter().map(|(name, value)| (name.into(), value)).collect();
        Self { label: label.into(), spokes, ..Self::default() }
    }

    /// With this stroke.
    pub fn dash(mut self, dash: Dash) -> Self {
        self.dash = dash;
        self
    }
}

/// Which way a [`Rule`] runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orientation {
    /// At one y.
    Horizontal,
    /// At one x.
    Vertical,
}

/// A reference line across the panel.
///
/// ```
/// use adfq_report::plot::{Orientation, Rule};
///
/// assert_eq!(Rule::vertical("ε reaches 0.1", 5000.0).orientation, Orientation::Vertical);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// The name in the legend; an empty one has no entry.
    pub label: String,
    /// Which way it runs.
    pub orientation: Orientation,
    /// Where it crosses the other axis.
    pub at: f64,
    /// The colour.
    pub color: Color,
    /// The stroke.
    pub dash: Dash,
}

impl Rule {
    /// A dashed grey line at this y.
    pub fn horizontal(label: impl Into<String>, y: f64) -> Self {
        let (orientation, color, dash) = (Orientation::Horizontal, Color::Grey, Dash::Dashed);
        Self { label: label.into(), orientation, at: y, color, dash }
    }

    /// A dashed grey line at this x.
    pub fn vertical(label: impl Into<String>, x: f64) -> Self {
        Self { orientation: Orientation::Vertical, ..Self::horizontal(label, x) }
    }

    /// With this stroke.
    pub fn dash(mut self, dash: Dash) -> Self {
        self.dash = dash;
        self
    }
}

/// Which end of a text stands at its point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Anchor {
    /// The text begins there.
    #[default]
    Start,
    /// The text is centred there.
    Middle,
    /// The text ends there.
    End,
}

/// A word in the panel, at a point of the data.
///
/// ```
/// use adfq_report::plot::{Anchor, Note};
///
/// assert_eq!(Note::new("goal", 2.0, 0.5).anchor(Anchor::End).at, (2.0, 0.5));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Note {
    /// The word.
    pub text: String,
    /// Where its baseline is anchored, (x, y).
    pub at: (f64, f64),
    /// Which end of the word stands there.
    pub anchor: Anchor,
    /// The colour.
    pub color: Color,
}

impl Note {
    /// A dark note that begins at (x, y).
    pub fn new(text: impl Into<String>, x: f64, y: f64) -> Self {
        Self { text: text.into(), at: (x, y), anchor: Anchor::Start, color: Color::Black }
    }

    /// With another end at the point.
    pub fn anchor(mut self, anchor: Anchor) -> Self {
        self.anchor = anchor;
        self
    }
}

/// What every kind of layer shares: a way into [`Layer`], and a colour.
macro_rules! layers {
    ($($kind:ident),*) => { $(
        impl From<$kind> for Layer {
            fn from(layer: $kind) -> Self {
                Self::$kind(layer)
            }
        }
        impl $kind {
            /// In this colour.
            pub fn color(mut self, color: Color) -> Self {
                self.color = color;
                self
            }
        }
    )* };
}

layers!(Line, Markers, Area, Bars, Rule, Note, Web);

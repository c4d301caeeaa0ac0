//! Draws a panel of [`Web`]s: a radar chart. The first spoke points to the right, and the others follow counter-clockwise.

use super::canvas::{Canvas, Unit};
use super::layout::{LABEL, Placed, TICK};
use super::marks::dash_array;
use super::{Layer, Panel, Web, frame, text};
use std::f64::consts::TAU;

/// Rings between the middle and the rim, the rim included.
const RINGS: usize = 4;
/// Between the rim and the names of spokes.
const GAP: f64 = 10.0;

/// The webs of a panel; a panel with any is a radar chart.
pub fn webs(panel: &Panel) -> Vec<&Web> {
    let layers = panel.layers.iter();
    layers.filter_map(|layer| if let Layer::Web(web) = layer { Some(web) } else { None }).collect()
}

/// Where the chart stands: its middle, its radius, and the names of its spokes.
struct Chart<'a> {
    x: f64,
    y: f64,
    radius: f64,
    names: Vec<&'a str>,
}

impl<'a> Chart<'a> {
    /// As large as the names beside it allow.
    fn new(placed: &Placed<'a>, webs: &[&'a Web]) -> Self {
        let mut names: Vec<&str> = vec![];
        for (name, _) in webs.iter().flat_map(|web| &web.spokes) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        let frame = placed.frame;
        let (half_width, half_height) = (frame.width / 2.0, frame.height / 2.0);
        let mut radius = half_height - GAP - LABEL;
        for (i, name) in names.iter().enumerate() {
            let across = angle(i, names.len()).cos().abs();
            if across > 0.1 {
                radius = radius.min((half_width - GAP - text::width(name, LABEL)) / across);
            }
        }
        Self { x: frame.x + half_width, y: frame.y + half_height, radius: radius.max(30.0), names }
    }

    /// The place of a share of the radius on a spoke.
    fn at(&self, spoke: usize, share: f64) -> (f64, f64) {
        let angle = angle(spoke, self.names.len());
        (self.x + share * self.radius * angle.cos(), self.y - share * self.radius * angle.sin())
    }
}

fn angle(spoke: usize, spokes: usize) -> f64 {
    TAU * spoke as f64 / spokes.max(1) as f64
}

/// Draws the whole panel.
pub fn draw(canvas: &mut Canvas, placed: &Placed) {
    let webs = webs(placed.panel);
    let chart = Chart::new(placed, &webs);
    let share = |value: f64| placed.y.fraction(value).map(|share| share.clamp(0.0, 1.0));
    background(canvas, &chart);
    for web in &webs {
        // A spoke without a value is left out of the line.
        let value = |name: &&str| web.spokes.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
        let shares = chart.names.iter().map(|name| value(name).and_then(share));
        let places = shares.enumerate().filter_map(|(i, share)| Some(chart.at(i, share?)));
        draw_web(canvas, web, &places.collect::<Vec<_>>());
    }
    labels(canvas, &chart, placed);
    frame::title(canvas, placed);
}

fn background(canvas: &mut Canvas, chart: &Chart) {
    canvas.open("g", &[("class", &"grid"), ("stroke", &"#bbb"), ("stroke-width", &0.8)]);
    for ring in (1..=RINGS).rev() {
        let r = Unit(chart.radius * ring as f64 / RINGS as f64);
        let (x, y) = (Unit(chart.x), Unit(chart.y));
        let fill: [super::canvas::Attribute; 6] = [
            ("cx", &x),
            ("cy", &y),
            ("r", &r),
            ("fill", &"#000"),
            ("fill-opacity", &0.025),
            ("stroke-dasharray", &"1.5 3.5"),
        ];
        canvas.empty("circle", &fill);
    }
    for spoke in 0..chart.names.len() {
        let (x, y) = chart.at(spoke, 1.0);
        let path = format!("M{},{}L{},{}", Unit(chart.x), Unit(chart.y), Unit(x), Unit(y));
        canvas.empty("path", &[("d", &path), ("stroke-dasharray", &"1.5 3.5")]);
    }
    canvas.close("g");
}

fn draw_web(canvas: &mut Canvas, web: &Web, places: &[(f64, f64)]) {
    let points: Vec<String> = places.iter().map(|(x, y)| format!("{},{}", Unit(*x), Unit(*y))).collect();
    let (points, color) = (points.join(" "), web.color.hex());
    canvas.open(
        "g",
        &[
            ("class", &"series"),
            ("data-kind", &"web"),
            ("data-label", &web.label),
            ("data-points", &web.spokes.len()),
        ],
    );
    canvas.empty(
        "polygon",
        &[
            ("points", &points),
            ("fill", &color),
            ("fill-opacity", &0.1),
            ("stroke", &color),
            ("stroke-width", &2.2),
            ("stroke-linejoin", &"round"),
            ("stroke-dasharray", &dash_array(web.dash)),
        ],
    );
    for (x, y) in places {
        canvas.empty("circle", &[("cx", &Unit(*x)), ("cy", &Unit(*y)), ("r", &2.6), ("fill", &color)]);
    }
    canvas.close("g");
}

/// The names of the spokes around the rim, and the values of the rings.
fn labels(canvas: &mut Canvas, chart: &Chart, placed: &Placed) {
    canvas.open("g", &[("class", &"labels"), ("font-size", &LABEL)]);
    for (i, name) in chart.names.iter().enumerate() {
        let angle = angle(i, chart.names.len());
        let (x, y) = chart.at(i, 1.0 + GAP / chart.radius);
        let anchor = match angle.cos() {
            across if across > 0.1 => "start",
            across if across < -0.1 => "end",
            _ => "middle",
        };
        // Names above the middle stand on their point, those below hang from it.
        let down = 0.35 * LABEL * (1.0 - angle.sin());
        canvas.text(&[("x", &Unit(x)), ("y", &Unit(y + down)), ("text-anchor", &anchor)], name);
    }
    canvas.close("g");
    let ticks: [super::canvas::Attribute; 4] =
        [("class", &"y-ticks"), ("font-size", &TICK), ("fill", &"#555"), ("text-anchor", &"middle")];
    canvas.open("g", &ticks);
    let (low, high) = (placed.y.low, placed.y.high);
    for ring in 1..=RINGS {
        let share = ring as f64 / RINGS as f64;
        let value = crate::text::short(low + share * (high - low));
        // Between the first spoke and the one below it, where fewest lines cross.
        let turn = -0.5 * TAU / chart.names.len().max(3) as f64;
        let (x, y) =
            (chart.x + share * chart.radius * turn.cos(), chart.y - share * chart.radius * turn.sin());
        canvas.text(&[("x", &Unit(x)), ("y", &Unit(y + 0.35 * TICK))], &value);
    }
    canvas.close("g");
}

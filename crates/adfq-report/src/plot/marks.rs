//! Draws the layers of a panel. Coordinates begin at the upper left corner of the frame.

use super::canvas::{Attribute, Canvas, Unit};
use super::layout::{LABEL, Placed};
use super::range::categories;
use super::{
    Anchor, Area, BarStyle, Bars, Dash, Layer, Line, Markers, Note, Orientation, Rule, Scale, Shape, thin,
};
use std::fmt::Write;

/// Draws all layers; `budget` is how many points a series may have.
pub fn draw(canvas: &mut Canvas, placed: &Placed, budget: usize) {
    let mut pen = Pen { canvas, placed, budget };
    let layers = &placed.panel.layers;
    let bars_in_all = layers.iter().filter(|layer| matches!(layer, Layer::Bars(_))).count();
    let mut bars_so_far = 0;
    for layer in layers {
        match layer {
            Layer::Line(line) => pen.line(line),
            Layer::Markers(markers) => pen.markers(markers),
            Layer::Area(area) => pen.area(area),
            Layer::Rule(rule) => pen.rule(rule),
            Layer::Note(note) => pen.note(note),
            // A panel of webs is drawn as a whole.
            Layer::Web(_) => {}
            Layer::Bars(bars) => {
                pen.bars(bars, bars_so_far, bars_in_all);
                bars_so_far += 1;
            }
        }
    }
}

/// How many path vertices a layer writes for each point it may have.
pub fn cost(layer: &Layer) -> usize {
    match layer {
        Layer::Line(line) if line.band.is_empty() => 1,
        Layer::Line(_) => 3,
        Layer::Area(_) => 2,
        Layer::Markers(_) => 4,
        Layer::Bars(_) | Layer::Rule(_) | Layer::Note(_) | Layer::Web(_) => 0,
    }
}

/// The dashes of a stroke, as SVG wants them.
pub fn dash_array(dash: Dash) -> &'static str {
    match dash {
        Dash::Solid => "none",
        Dash::Dashed => "6 4",
        Dash::Dotted => "1.5 3.5",
        Dash::DashDot => "7 3 1.5 3",
    }
}

/// A marker of radius `r` around (x, y), as path data.
pub fn marker(shape: Shape, x: f64, y: f64, r: f64) -> String {
    let (x, y, r, double) = (Unit(x), Unit(y), Unit(r), Unit(2.0 * r));
    match shape {
        Shape::Circle => format!("M{x},{y}m-{r},0a{r},{r} 0 1,0 {double},0a{r},{r} 0 1,0 -{double},0z"),
        Shape::Triangle => format!("M{x},{y}m-{r},{r}l{r},-{double}l{r},{double}z"),
    }
}

struct Pen<'c, 'p> {
    canvas: &'c mut Canvas,
    placed: &'c Placed<'p>,
    budget: usize,
}

impl Pen<'_, '_> {
    fn x(&self, value: f64) -> Option<f64> {
        Some(self.placed.x.fraction(value)? * self.placed.frame.width)
    }

    fn y(&self, value: f64) -> Option<f64> {
        Some((1.0 - self.placed.y.fraction(value)?) * self.placed.frame.height)
    }

    fn at(&self, &(x, y): &(f64, f64)) -> Option<(f64, f64)> {
        Some((self.x(x)?, self.y(y)?))
    }

    fn line(&mut self, line: &Line) {
        self.open("line", &line.label, line.points.len());
        if !line.band.is_empty() {
            let path = self.band_path(line);
            self.path(&path, &[("class", &"band"), ("fill", &line.color.hex()), ("fill-opacity", &0.18)]);
        }
        let path = self.curve_path(&line.points);
        let opacity = if line.faint { 0.45 } else { 1.0 };
        let mut style: Vec<Attribute> = vec![];
        style.extend((line.shift != 0.0).then_some(("stroke-dashoffset", &line.shift as _)));
        style.extend(line.faint.then_some(("stroke-opacity", &opacity as _)));
        if style.is_empty() {
            self.stroke(&path, line.color.hex(), line.dash, line.width());
        } else {
            self.canvas.open("g", &style);
            self.stroke(&path, line.color.hex(), line.dash, line.width());
            self.canvas.close("g");
        }
        self.canvas.close("g");
    }

    fn area(&mut self, area: &Area) {
        self.open("area", &area.label, area.points.len());
        let foot = (1.0 - self.placed.y.foot()) * self.placed.frame.height;
        let mut filling = String::new();
        for run in self.runs(&area.points) {
            let (first, last) = (run[0].0, run[run.len() - 1].0);
            push_polyline(&mut filling, run.into_iter());
            push(
                &mut filling,
                format_args!("L{},{foot} {},{foot}z", Unit(last), Unit(first), foot = Unit(foot)),
            );
        }
        self.path(&filling, &[("class", &"filling"), ("fill", &area.color.hex()), ("fill-opacity", &0.25)]);
        let path = self.curve_path(&area.points);
        self.stroke(&path, area.color.hex(), area.dash, 1.6);
        self.canvas.close("g");
    }

    fn markers(&mut self, markers: &Markers) {
        self.open("markers", &markers.label, markers.points.len());
        let places: Vec<_> = markers.points.iter().filter_map(|point| self.at(point)).collect();
        let kept = thin::scatter(&places, self.budget);
        let path: String =
            kept.iter().map(|&i| marker(markers.shape, places[i].0, places[i].1, 3.2)).collect();
        let fill = markers.color.hex();
        self.path(
            &path,
            &[("fill", &fill), ("fill-opacity", &0.85), ("stroke", &"#fff"), ("stroke-width", &0.5)],
        );
        self.canvas.close("g");
    }

    fn rule(&mut self, rule: &Rule) {
        let (place, frame) = match rule.orientation {
            Orientation::Horizontal => (self.y(rule.at), self.placed.frame),
            Orientation::Vertical => (self.x(rule.at), self.placed.frame),
        };
        self.open("rule", &rule.label, 1);
        if let Some(place) = place.map(Unit) {
            let path = match rule.orientation {
                Orientation::Horizontal => format!("M0,{place}H{}", Unit(frame.width)),
                Orientation::Vertical => format!("M{place},0V{}", Unit(frame.height)),
            };
            self.stroke(&path, rule.color.hex(), rule.dash, 1.2);
        }
        self.canvas.close("g");
    }

    fn note(&mut self, note: &Note) {
        let Some((x, y)) = self.at(&note.at) else { return };
        let anchor = match note.anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let attributes: [Attribute; 9] = [
            ("class", &"note"),
            ("x", &Unit(x)),
            ("y", &Unit(y)),
            ("text-anchor", &anchor),
            ("font-size", &LABEL),
            ("fill", &note.color.hex()),
            // A white halo keeps the word legible over grid and curves.
            ("stroke", &"#fff"),
            ("stroke-width", &3),
            ("paint-order", &"stroke"),
        ];
        self.canvas.text(&attributes, &note.text);
    }

    /// The `index`-th of `count` layers of bars that share the rows of the categories.
    fn bars(&mut self, bars: &Bars, index: usize, count: usize) {
        self.open("bars", &bars.label, bars.bars.len());
        let names = categories(self.placed.panel);
        let row = self.placed.frame.height / names.len().max(1) as f64;
        let thickness = (0.74 * row / count as f64).min(20.0);
        let foot = self.placed.x.foot() * self.placed.frame.width;
        for bar in &bars.bars {
            let Some(position) = names.iter().position(|name| *name == bar.category) else { continue };
            let offset = (index as f64 + 0.5 - count as f64 / 2.0) * thickness;
            let middle = (position as f64 + 0.5) * row + offset;
            if let Some(end) = self.x(bar.value) {
                self.bar(bars, foot, end, middle, thickness);
            }
            if let Some((low, high)) = bar.interval {
                self.error_bar(bars, low, high, middle, thickness);
            }
        }
        self.canvas.close("g");
    }

    fn bar(&mut self, bars: &Bars, foot: f64, end: f64, middle: f64, thickness: f64) {
        let fill = bars.color.hex();
        match bars.style {
            BarStyle::Dot => {
                let dot = marker(Shape::Circle, end, middle, 4.0);
                self.path(&dot, &[("fill", &fill)]);
            }
            BarStyle::Bar => self.canvas.empty(
                "rect",
                &[
                    ("x", &Unit(foot.min(end))),
                    ("y", &Unit(middle - 0.45 * thickness)),
                    ("width", &Unit((end - foot).abs())),
                    ("height", &Unit(0.9 * thickness)),
                    ("fill", &fill),
                    ("fill-opacity", &0.85),
                ],
            ),
        }
    }

    fn error_bar(&mut self, bars: &Bars, low: f64, high: f64, middle: f64, thickness: f64) {
        // A low end that a logarithmic axis cannot show lies beyond its left edge.
        let left = self.x(low).or((low <= 0.0).then_some(-10.0));
        let (Some(left), Some(right)) = (left, self.x(high)) else { return };
        let cap = (0.22 * thickness).clamp(2.0, 4.0);
        let (left, right, top, cap, middle) =
            (Unit(left), Unit(right), Unit(middle - cap), Unit(2.0 * cap), Unit(middle));
        let path = format!("M{left},{top}v{cap}M{right},{top}v{cap}M{left},{middle}H{right}");
        let color = if bars.style == BarStyle::Dot { bars.color.hex() } else { "#1a1a1a" };
        self.stroke(&path, color, Dash::Solid, 1.3);
    }

    /// Stretches of points without a gap, thinned.
    fn runs(&self, points: &[(f64, f64)]) -> Vec<Vec<(f64, f64)>> {
        let places: Vec<_> = points.iter().map(|point| self.at(point)).collect();
        let present = places.iter().flatten().count().max(1);
        let thinned = |run: Vec<&(f64, f64)>| {
            let share = self.budget * run.len() / present;
            let kept = thin::extremes(run.len(), share, |i| run[i].1, |i| run[i].1);
            kept.into_iter().map(|i| *run[i]).collect()
        };
        thin::runs(&places, self.budget / 4).into_iter().map(thinned).collect()
    }

    fn curve_path(&self, points: &[(f64, f64)]) -> String {
        let mut path = String::new();
        self.runs(points).into_iter().for_each(|run| push_polyline(&mut path, run.into_iter()));
        path
    }

    fn band_path(&self, line: &Line) -> String {
        let y = self.placed.y;
        let floor = |low: f64| if y.scale == Scale::Log10 && low < y.low { y.low } else { low };
        let edges: Vec<_> = line
            .points
            .iter()
            .zip(&line.band)
            .map(|(point, &(low, high))| Some((self.x(point.0)?, self.y(floor(low))?, self.y(high)?)))
            .collect();
        let present = edges.iter().flatten().count().max(1);
        let mut path = String::new();
        for run in thin::runs(&edges, self.budget / 4) {
            // On screen y grows downwards: the high edge has the small coordinate.
            let share = self.budget * run.len() / present;
            let kept = thin::extremes(run.len(), share, |i| run[i].2, |i| run[i].1);
            let high = kept.iter().map(|&i| (run[i].0, run[i].2));
            let low = kept.iter().rev().map(|&i| (run[i].0, run[i].1));
            push_polyline(&mut path, high.chain(low));
            path.push('z');
        }
        path
    }

    fn open(&mut self, kind: &str, label: &str, points: usize) {
        self.canvas.open(
            "g",
            &[("class", &"series"), ("data-kind", &kind), ("data-label", &label), ("data-points", &points)],
        );
        if !label.is_empty() {
            self.canvas.leaf("title", &[], label);
        }
    }

    fn path(&mut self, data: &str, attributes: &[Attribute]) {
        if !data.is_empty() {
            let all: Vec<Attribute> = attributes.iter().copied().chain([("d", &data as _)]).collect();
            self.canvas.empty("path", &all);
        }
    }

    fn stroke(&mut self, data: &str, color: &str, dash: Dash, width: f64) {
        self.path(
            data,
            &[
                ("class", &"stroke"),
                ("fill", &"none"),
                ("stroke", &color),
                ("stroke-width", &width),
                ("stroke-dasharray", &dash_array(dash)),
                ("stroke-linejoin", &"round"),
                ("stroke-linecap", &if dash == Dash::Solid { "round" } else { "butt" }),
            ],
        );
    }
}

/// A polyline as path data; a single point becomes a dot.
fn push_polyline(path: &mut String, points: impl Iterator<Item = (f64, f64)>) {
    let mut count = 0;
    for (x, y) in points {
        let command = if count == 0 { "M" } else { " " };
        push(path, format_args!("{command}{},{}", Unit(x), Unit(y)));
        count += 1;
    }
    if count == 1 {
        path.push_str("h0");
    }
}

fn push(path: &mut String, text: std::fmt::Arguments) {
    // Writing to a String cannot fail.
    let _ = path.write_fmt(text);
}

//! The legend: one entry for each label of the figure, below the panels.

use super::canvas::{Canvas, Unit};
use super::layout::{LABEL, Rect};
use super::marks::{dash_array, marker};
use super::{BarStyle, Figure, Layer, text};

/// The width of the key beside a label, and the space around them.
const KEY: f64 = 24.0;
const SPACE: f64 = 7.0;
const BETWEEN: f64 = 18.0;
const LINE: f64 = 19.0;

/// A label and the layer that explains how its key looks.
pub struct Entry<'a> {
    label: &'a str,
    layer: &'a Layer,
}

/// An entry at its place: `x` is the left end of the key, `y` the middle of the line.
pub struct Placed<'a> {
    entry: Entry<'a>,
    x: f64,
    y: f64,
}

/// What the legend explains: each labelled look once, in order of appearance.
pub fn entries(figure: &Figure) -> Vec<Entry<'_>> {
    let mut entries: Vec<Entry> = Vec::new();
    for layer in figure.panels.iter().flat_map(|panel| &panel.layers) {
        let label = label(layer);
        let known = |entry: &Entry| entry.label == label && look(entry.layer) == look(layer);
        if !label.is_empty() && !entries.iter().any(known) {
            entries.push(Entry { label, layer });
        }
    }
    entries
}

/// The entries side by side, in as many centred rows as they need; and where the last one ends.
pub fn rows<'a>(entries: Vec<Entry<'a>>, place: Rect) -> (Vec<Placed<'a>>, f64) {
    let mut rows: Vec<(f64, Vec<Entry>)> = Vec::new();
    for entry in entries {
        let width = entry.width();
        match rows.last_mut() {
            Some((used, row)) if *used + BETWEEN + width <= place.width => {
                *used += BETWEEN + width;
                row.push(entry);
            }
            _ => rows.push((width, vec![entry])),
        }
    }
    let mut placed = Vec::new();
    let mut y = place.y;
    for (used, row) in rows {
        let mut x = place.x + ((place.width - used) / 2.0).max(0.0);
        for entry in row {
            let width = entry.width();
            placed.push(Placed { entry, x, y: y + LINE / 2.0 });
            x += width + BETWEEN;
        }
        y += LINE;
    }
    (placed, y)
}

/// Draws the entries.
pub fn draw(canvas: &mut Canvas, placed: &[Placed]) {
    canvas.open("g", &[("class", &"legend"), ("font-size", &LABEL)]);
    for Placed { entry, x, y } in placed {
        canvas.open("g", &[("transform", &format_args!("translate({} {})", Unit(*x), Unit(*y)))]);
        key(canvas, entry.layer);
        canvas.text(&[("x", &Unit(KEY + SPACE)), ("y", &Unit(0.35 * LABEL))], entry.label);
        canvas.close("g");
    }
    canvas.close("g");
}

impl Entry<'_> {
    fn width(&self) -> f64 {
        KEY + SPACE + text::width(self.label, LABEL)
    }
}

fn label(layer: &Layer) -> &str {
    match layer {
        Layer::Line(line) => &line.label,
        Layer::Markers(markers) => &markers.label,
        Layer::Area(area) => &area.label,
        Layer::Bars(bars) => &bars.label,
        Layer::Rule(rule) => &rule.label,
        Layer::Web(web) => &web.label,
        Layer::Note(_) => "",
    }
}

/// The key of a layer as SVG, which is also what tells two looks apart.
fn look(layer: &Layer) -> String {
    let mut canvas = Canvas::default();
    key(&mut canvas, layer);
    canvas.finish()
}

fn key(canvas: &mut Canvas, layer: &Layer) {
    match layer {
        Layer::Line(line) => {
            if !line.band.is_empty() {
                swatch(canvas, line.color.hex(), 0.18);
            }
            stroke(canvas, line.color.hex(), dash_array(line.dash), line.width());
        }
        Layer::Web(web) => stroke(canvas, web.color.hex(), dash_array(web.dash), 2.2),
        Layer::Rule(rule) => stroke(canvas, rule.color.hex(), dash_array(rule.dash), 1.3),
        Layer::Area(area) => {
            swatch(canvas, area.color.hex(), 0.25);
            canvas.empty(
                "path",
                &[
                    ("d", &format_args!("M0,-5.5H{KEY}")),
                    ("stroke", &area.color.hex()),
                    ("stroke-width", &1.6),
                    ("stroke-dasharray", &dash_array(area.dash)),
                ],
            );
        }
        Layer::Markers(markers) => {
            let path = marker(markers.shape, KEY / 2.0, 0.0, 4.0);
            canvas.empty("path", &[("d", &path), ("fill", &markers.color.hex())]);
        }
        Layer::Bars(bars) if bars.style == BarStyle::Dot => {
            stroke(canvas, bars.color.hex(), "none", 1.6);
            let dot = marker(super::Shape::Circle, KEY / 2.0, 0.0, 4.0);
            canvas.empty("path", &[("d", &dot), ("fill", &bars.color.hex())]);
        }
        Layer::Bars(bars) => swatch(canvas, bars.color.hex(), 0.85),
        Layer::Note(_) => {}
    }
}

fn stroke(canvas: &mut Canvas, color: &str, dashes: &str, width: f64) {
    canvas.empty(
        "path",
        &[
            ("d", &format_args!("M0,0H{KEY}")),
            ("stroke", &color),
            ("stroke-width", &width),
            ("stroke-dasharray", &dashes),
        ],
    );
}

fn swatch(canvas: &mut Canvas, color: &str, opacity: f64) {
    canvas.empty(
        "rect",
        &[("y", &-5.5), ("width", &KEY), ("height", &11), ("fill", &color), ("fill-opacity", &opacity)],
    );
}

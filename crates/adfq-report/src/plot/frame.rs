//! Draws what surrounds the data of a panel: grid, ticks, labels and titles.

use super::canvas::{Canvas, Unit};
use super::layout::{HEADING, LABEL, LEADING, Placed, TICK};

const INK: &str = "#333";
const SOFT: &str = "#555";

/// The grid, which lies behind the data.
pub fn grid(canvas: &mut Canvas, placed: &Placed) {
    let frame = placed.frame;
    let x = |value: f64| placed.x.fraction(value).map(|f| Unit(frame.x + f * frame.width));
    let y = |value: f64| placed.y.fraction(value).map(|f| Unit(frame.y + (1.0 - f) * frame.height));
    let (top, left) = (Unit(frame.y), Unit(frame.x));
    let vertical =
        |value: f64| x(value).map_or(String::new(), |x| format!("M{x},{top}v{}", Unit(frame.height)));
    let horizontal =
        |value: f64| y(value).map_or(String::new(), |y| format!("M{left},{y}h{}", Unit(frame.width)));
    let major: String = (placed.x_ticks.major.iter().map(|tick| vertical(tick.value)))
        .chain(placed.y_ticks.major.iter().map(|tick| horizontal(tick.value)))
        .collect();
    let minor: String = (placed.x_ticks.minor.iter().map(|&value| vertical(value)))
        .chain(placed.y_ticks.minor.iter().map(|&value| horizontal(value)))
        .collect();
    canvas.open("g", &[("class", &"grid"), ("fill", &"none")]);
    canvas.empty("path", &[("d", &minor), ("stroke", &"#f2f2f2"), ("stroke-width", &0.6)]);
    canvas.empty("path", &[("d", &major), ("stroke", &"#e2e2e2"), ("stroke-width", &0.8)]);
    canvas.close("g");
}

/// Axes, tick labels, axis labels and the title.
pub fn axes(canvas: &mut Canvas, placed: &Placed) {
    let frame = placed.frame;
    let (left, right) = (frame.x, frame.x + frame.width);
    let (top, bottom) = (frame.y, frame.y + frame.height);
    canvas.open("g", &[("class", &"axes"), ("font-size", &TICK), ("fill", &SOFT)]);
    let corner = format!("M{},{}V{}H{}", Unit(left), Unit(top), Unit(bottom), Unit(right));
    canvas.empty("path", &[("d", &corner), ("fill", &"none"), ("stroke", &"#666"), ("stroke-width", &1)]);
    x_ticks(canvas, placed);
    y_ticks(canvas, placed);
    canvas.close("g");

    canvas.open(
        "g",
        &[("class", &"labels"), ("font-size", &LABEL), ("text-anchor", &"middle"), ("fill", &INK)],
    );
    let (middle, under) = (Unit(left + frame.width / 2.0), Unit(bottom + 7.0 + TICK * LEADING + LABEL));
    if !placed.panel.x.label.is_empty() {
        canvas.text(&[("class", &"x-label"), ("x", &middle), ("y", &under)], &placed.panel.x.label);
    }
    if !placed.panel.y.label.is_empty() {
        let beside = left - placed.left + 0.85 * LABEL;
        let turn = format!("translate({} {}) rotate(-90)", Unit(beside), Unit(top + frame.height / 2.0));
        canvas.text(&[("class", &"y-label"), ("transform", &turn)], &placed.panel.y.label);
    }
    canvas.close("g");
    title(canvas, placed);
}

fn x_ticks(canvas: &mut Canvas, placed: &Placed) {
    let frame = placed.frame;
    let bottom = frame.y + frame.height;
    canvas.open("g", &[("class", &"x-ticks"), ("text-anchor", &"middle")]);
    for tick in &placed.x_ticks.major {
        let Some(fraction) = placed.x.fraction(tick.value) else { continue };
        let x = Unit(frame.x + fraction * frame.width);
        let mark = format!("M{x},{}v4", Unit(bottom));
        canvas.empty("path", &[("d", &mark), ("stroke", &"#666"), ("stroke-width", &1)]);
        canvas.text(&[("x", &x), ("y", &Unit(bottom + 6.0 + TICK))], &tick.label);
    }
    canvas.close("g");
}

fn y_ticks(canvas: &mut Canvas, placed: &Placed) {
    let frame = placed.frame;
    let beside = Unit(frame.x - 7.0);
    canvas.open("g", &[("class", &"y-ticks"), ("text-anchor", &"end")]);
    for tick in &placed.y_ticks.major {
        let Some(fraction) = placed.y.fraction(tick.value) else { continue };
        let y = frame.y + (1.0 - fraction) * frame.height;
        let mark = format!("M{},{}h-4", Unit(frame.x), Unit(y));
        canvas.empty("path", &[("d", &mark), ("stroke", &"#666"), ("stroke-width", &1)]);
        canvas.text(&[("x", &beside), ("y", &Unit(y + 0.35 * TICK))], &tick.label);
    }
    let row = frame.height / placed.categories.len().max(1) as f64;
    for (i, lines) in placed.categories.iter().enumerate() {
        let first = frame.y + (i as f64 + 0.5) * row - (lines.len() as f64 - 1.0) * TICK * 0.55;
        for (j, line) in lines.iter().enumerate() {
            let y = Unit(first + j as f64 * TICK * 1.1 + 0.35 * TICK);
            canvas.text(&[("class", &"category"), ("x", &beside), ("y", &y), ("fill", &INK)], line);
        }
    }
    canvas.close("g");
}

/// The title above the frame.
pub fn title(canvas: &mut Canvas, placed: &Placed) {
    let lines = placed.title.len() as f64;
    for (i, line) in placed.title.iter().enumerate() {
        let y = Unit(placed.frame.y - 8.0 - (lines - 1.0 - i as f64) * HEADING * LEADING);
        let x = Unit(placed.frame.x);
        let place: [super::canvas::Attribute; 6] = [
            ("class", &"panel-title"),
            ("x", &x),
            ("y", &y),
            ("font-size", &HEADING),
            ("font-weight", &600),
            ("fill", &"#111"),
        ];
        canvas.text(&place, line);
    }
}

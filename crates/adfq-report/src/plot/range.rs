//! The range of an axis: its limits, or what the data need, and where in it a value stands.

use super::{Axis, BarStyle, Layer, Orientation, Panel, Scale};
use crate::{Error, Result};

/// A non-empty range on a scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    pub scale: Scale,
    pub low: f64,
    pub high: f64,
}

impl Range {
    /// How far along the range `value` stands, 0 at the low end and 1 at the high; nothing if it is missing.
    pub fn fraction(&self, value: f64) -> Option<f64> {
        if !drawable(self.scale, value) {
            return None;
        }
        let [low, high, value] = [self.low, self.high, value].map(|v| length(self.scale, v));
        // Far outside is far enough: coordinates stay small.
        Some(((value - low) / (high - low)).clamp(-50.0, 51.0))
    }

    /// The foot of bars and areas: zero, or the low end on a logarithmic axis, as a fraction within [0, 1].
    pub fn foot(&self) -> f64 {
        self.fraction(0.0).map_or(0.0, |zero| zero.clamp(0.0, 1.0))
    }
}

/// The ranges of a panel's x and y.
pub fn ranges(panel: &Panel) -> Result<(Range, Range)> {
    let only_curves = !panel.layers.iter().any(|layer| matches!(layer, Layer::Markers(_) | Layer::Bars(_)));
    let x =
        fit(&panel.x, &x_values(panel), is_zero_based(panel, true), if only_curves { 0.0 } else { 0.04 })?;
    let y = fit(&panel.y, &y_values(panel, x), is_zero_based(panel, false), 0.05)?;
    Ok((x, y))
}

/// The categories of a panel's bars, in order of appearance; empty if it has none.
pub fn categories(panel: &Panel) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for layer in &panel.layers {
        let Layer::Bars(bars) = layer else { continue };
        for bar in &bars.bars {
            if !names.contains(&bar.category.as_str()) {
                names.push(&bar.category);
            }
        }
    }
    names
}

/// Bars make x start at zero, areas and webs y.
fn is_zero_based(panel: &Panel, x: bool) -> bool {
    panel.layers.iter().any(|layer| match layer {
        Layer::Bars(bars) => x && bars.style == BarStyle::Bar,
        Layer::Area(_) | Layer::Web(_) => !x,
        _ => false,
    })
}

fn points(layer: &Layer) -> &[(f64, f64)] {
    match layer {
        Layer::Line(line) => &line.points,
        Layer::Markers(markers) => &markers.points,
        Layer::Area(area) => &area.points,
        Layer::Bars(_) | Layer::Rule(_) | Layer::Note(_) | Layer::Web(_) => &[],
    }
}

fn x_values(panel: &Panel) -> Vec<f64> {
    let mut values = Vec::new();
    for layer in &panel.layers {
        values.extend(points(layer).iter().filter(|p| drawable(panel.y.scale, p.1)).map(|p| p.0));
        match layer {
            Layer::Bars(bars) => {
                values.extend(bars.bars.iter().map(|bar| bar.value));
                values.extend(
                    bars.bars.iter().filter_map(|bar| bar.interval).flat_map(|(low, high)| [low, high]),
                );
            }
            Layer::Rule(rule) if rule.orientation == Orientation::Vertical => values.push(rule.at),
            _ => {}
        }
    }
    values
}

/// Only what is visible within `x` counts.
fn y_values(panel: &Panel, x: Range) -> Vec<f64> {
    let visible = |value: f64| x.fraction(value).is_some_and(|f| (-1e-9..=1.0 + 1e-9).contains(&f));
    let mut values = Vec::new();
    for layer in &panel.layers {
        values.extend(points(layer).iter().filter(|p| visible(p.0)).map(|p| p.1));
        match layer {
            Layer::Line(line) => {
                let band = line.points.iter().zip(&line.band).filter(|(p, _)| visible(p.0));
                values.extend(band.flat_map(|(_, &(low, high))| [low, high]));
            }
            Layer::Rule(rule) if rule.orientation == Orientation::Horizontal => values.push(rule.at),
            Layer::Web(web) => values.extend(web.spokes.iter().map(|(_, value)| value)),
            _ => {}
        }
    }
    values
}

/// The given limits; where there is none, the data's, with some air.
fn fit(axis: &Axis, values: &[f64], zero: bool, air: f64) -> Result<Range> {
    check(axis)?;
    let scale = axis.scale;
    let lengths = || values.iter().filter(|&&v| drawable(scale, v)).map(|&v| length(scale, v));
    let zero = zero && scale == Scale::Linear;
    let start = if zero { (0.0, 0.0) } else { (f64::INFINITY, f64::NEG_INFINITY) };
    let (low, high) = lengths().fold(start, |(low, high), u| (low.min(u), high.max(u)));
    let (low, high) = if low <= high { widen(scale, low, high, zero, air) } else { (0.0, 1.0) };
    let (low, high) = match (axis.low.map(|v| length(scale, v)), axis.high.map(|v| length(scale, v))) {
        (Some(given), None) if given >= high => (given, given + 1.0),
        (None, Some(given)) if given <= low => (given - 1.0, given),
        _ => (low, high),
    };
    // Air must not turn the largest numbers into infinity.
    let value = |u: f64| if scale == Scale::Log10 { libm::pow(10.0, u.clamp(-307.0, 307.0)) } else { u };
    let range = Range { scale, low: axis.low.unwrap_or(value(low)), high: axis.high.unwrap_or(value(high)) };
    if length(scale, range.low) < length(scale, range.high) { Ok(range) } else { Err(limits(axis)) }
}

/// Some air at both ends, none at a foot of zero; and never an empty range.
fn widen(scale: Scale, low: f64, high: f64, zero: bool, air: f64) -> (f64, f64) {
    let size = low.abs().max(high.abs());
    let smallest = if scale == Scale::Log10 { 1e-3 } else { 1e-9 * size };
    if high - low <= smallest {
        let half = match (scale, size) {
            (Scale::Log10, _) | (_, 0.0) => 0.5,
            _ => 0.1 * size,
        };
        return (low - half, high + half);
    }
    let pad = (high - low) * air;
    let at_zero = |end: f64| zero && end == 0.0;
    (if at_zero(low) { 0.0 } else { low - pad }, if at_zero(high) { 0.0 } else { high + pad })
}

fn check(axis: &Axis) -> Result<()> {
    let given = [axis.low, axis.high];
    if given.iter().flatten().all(|&v| drawable(axis.scale, v)) { Ok(()) } else { Err(limits(axis)) }
}

fn limits(axis: &Axis) -> Error {
    let value = |limit: Option<f64>| limit.unwrap_or(f64::NAN);
    Error::Limits { axis: axis.label.clone(), low: value(axis.low), high: value(axis.high) }
}

/// The length along the axis to which a value corresponds.
fn length(scale: Scale, value: f64) -> f64 {
    if scale == Scale::Log10 { libm::log10(value) } else { value }
}

/// Whether a value can stand on the scale. Sums of drawable values do not overflow.
fn drawable(scale: Scale, value: f64) -> bool {
    value.abs() <= 1e300 && (scale == Scale::Linear || value >= 1e-300)
}

#[cfg(test)]
mod tests {
    use super::super::{Area, Bar, Bars, Line, Markers, Rule};
    use super::*;

    fn panel(x: Axis, y: Axis) -> Panel {
        Panel::new("", x, y)
    }

    fn linear() -> Axis {
        Axis::linear("l")
    }

    #[test]
    fn data_bands_and_rules_are_within() {
        let line = Line::new("", [(0.0, 1.0), (10.0, 2.0), (f64::NAN, 99.0)])
            .band([(0.5, 1.0), (2.0, f64::INFINITY)]);
        let panel = panel(linear(), linear()).layer(line).layer(Rule::horizontal("", 3.0));
        let (x, y) = ranges(&panel).unwrap();
        assert_eq!((x.low, x.high), (0.0, 10.0));
        assert!(y.low < 0.5 && y.low > 0.3 && y.high > 3.0 && y.high < 3.2, "{y:?}");
    }

    #[test]
    fn only_what_is_visible_scales_y() {
        let line = Line::new("", [(0.0, 1e6), (5.0, 1.0), (10.0, 2.0)]);
        let (_, y) = ranges(&panel(linear().from(4.0), linear()).layer(line)).unwrap();
        assert!(y.high < 3.0, "{y:?}");
    }

    #[test]
    fn areas_and_bars_stand_on_zero() {
        let (_, y) =
            ranges(&panel(linear(), linear()).layer(Area::new("", [(0.0, 3.0), (1.0, 5.0)]))).unwrap();
        assert_eq!(y.low, 0.0);
        let bars = Bars::new("", [Bar::new("a", -2.0).interval(-3.0, -1.0)]);
        let (x, _) = ranges(&panel(linear(), linear()).layer(bars.clone())).unwrap();
        assert!(x.high == 0.0 && x.low < -3.0, "{x:?}");
        let (x, _) = ranges(&panel(linear(), linear()).layer(bars.dots())).unwrap();
        assert!(x.high < -0.5, "{x:?}");
    }

    #[test]
    fn values_that_are_not_positive_do_not_exist_on_log_axes() {
        let markers = Markers::new("", [(1.0, 0.0), (2.0, -5.0), (3.0, 0.01), (4.0, 100.0)]);
        let (x, y) = ranges(&panel(linear(), Axis::log("l")).layer(markers)).unwrap();
        assert!(x.low > 2.5 && y.low > 0.001 && y.high < 1000.0, "{x:?} {y:?}");
        assert_eq!(y.fraction(-1.0), None);
        assert_eq!(y.fraction(0.0), None);
    }

    #[test]
    fn nothing_and_one_value_have_a_range_too() {
        let nothing = ranges(&panel(linear(), Axis::log("l"))).unwrap();
        assert_eq!((nothing.0.low, nothing.0.high, nothing.1.low, nothing.1.high), (0.0, 1.0, 1.0, 10.0));
        for value in [0.0, 3.0, -1e300, 1e-300] {
            let (x, y) =
                ranges(&panel(linear(), linear()).layer(Markers::new("", [(value, value)]))).unwrap();
            assert!(x.low < x.high && y.low < value && value < y.high, "{x:?}");
        }
    }

    #[test]
    fn the_largest_numbers_keep_a_finite_range() {
        let extremes = || Markers::new("", [(-1e300, 1e-300), (1e300, 1e300)]);
        let (x, y) = ranges(&panel(linear(), Axis::log("l")).layer(extremes())).unwrap();
        assert!((x.high - x.low).is_finite() && y.high.is_finite() && y.low > 0.0, "{x:?} {y:?}");
        assert!(y.fraction(1.0).is_some_and(|f| (f - 0.5).abs() < 1e-9));
    }

    #[test]
    fn bad_limits_are_named() {
        for axis in [
            linear().from(2.0).to(1.0),
            Axis::log("l").from(0.0),
            linear().to(f64::NAN),
            linear().from(1.0).to(1.0),
        ] {
            let error = ranges(&panel(axis, linear())).unwrap_err();
            assert!(error.to_string().starts_with("the limits of the axis \"l\""), "{error}");
        }
        let beyond = panel(linear().from(100.0), linear()).layer(Line::new("", [(0.0, 0.0), (1.0, 1.0)]));
        assert_eq!(ranges(&beyond).unwrap().0.high, 101.0);
    }
}

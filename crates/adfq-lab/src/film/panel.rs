//! What stands beside the game: episode, step and score, and a row for each action with what is believed of it.

use super::axis::{Axis, Interval};
use super::pen::{Anchor, Ink, Pen, Style};
use crate::plot::ticks::ticks;
use crate::plot::{Color, Scale};
use crate::text::count;

/// The panel's width.
pub const WIDTH: usize = 432;
/// What is above and below the rows.
const HEAD: f32 = 124.0;
const FOOT: f32 = 44.0;
/// How high a row is.
const LOWEST: f32 = 19.0;
const HIGHEST: f32 = 56.0;
/// More actions than this are not shown.
const MOST_ROWS: usize = 30;
/// How wide names and numbers may be.
const NAMES: f32 = 104.0;
const NUMBERS: f32 = 104.0;

/// The colours of the plots.
const TITLE: Ink = Ink(0x11_11_11, 1.0);
const INK: Ink = Ink(0x33_33_33, 1.0);
const SOFT: Ink = Ink(0x6a_6a_6a, 1.0);
const GRID: Ink = Ink(0xe2_e2_e2, 1.0);
const ZERO: Ink = Ink(0x8a_8a_8a, 1.0);

/// What is believed of an action's value: its mean, and its standard deviation if the agent has one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub mean: f64,
    pub sd: Option<f64>,
}

impl Estimate {
    /// The mean and two standard deviations around it.
    fn interval(self) -> Interval {
        let reach = 2.0 * self.sd.unwrap_or(0.0);
        Interval { low: self.mean - reach, high: self.mean + reach }
    }
}

/// A step, as the panel shows it.
pub struct Step<'a> {
    /// From 0.
    pub episode: usize,
    pub number: u64,
    pub score: f64,
    /// One for each action.
    pub estimates: &'a [Estimate],
    pub chosen: usize,
}

/// The panel of a film.
pub struct Panel {
    /// What is played, and who plays.
    title: [String; 2],
    names: Vec<String>,
    axis: Axis,
}

impl Panel {
    /// A panel for actions with these names.
    pub fn new(title: [String; 2], names: Vec<String>) -> Self {
        Self { title, names, axis: Axis::default() }
    }

    fn rows(&self) -> usize {
        self.names.len().min(MOST_ROWS)
    }

    /// The height it needs.
    pub fn least_height(&self) -> usize {
        (HEAD + FOOT + LOWEST * self.rows() as f32).ceil() as usize
    }

    /// Draws the panel with its upper left corner at `corner`.
    pub fn draw(&mut self, pen: &mut Pen, corner: [f32; 2], height: f32, step: &Step) {
        self.head(pen, corner, step);
        let rows = self.rows();
        let row = ((height - HEAD - FOOT) / rows.max(1) as f32).clamp(LOWEST, HIGHEST);
        let axis =
            self.axis.follow(Interval::around(step.estimates.iter().map(|estimate| estimate.interval())));
        let size = (row * 0.62).clamp(11.5, 14.0);
        let widest = self.names.iter().map(|name| pen.width(name, size)).fold(0.0, f32::max).min(NAMES);
        let left = corner[0] + widest + 20.0;
        let plot = Plot {
            axis,
            left,
            width: corner[0] + WIDTH as f32 - NUMBERS - left,
            top: corner[1] + HEAD,
            row,
            size,
            decimals: decimals(axis, step.estimates),
        };
        if step.chosen < rows {
            let at = [corner[0], plot.top + step.chosen as f32 * row];
            pen.fill(at, [WIDTH as f32, row], Ink(hex(Color::Vermillion), 0.1));
        }
        plot.grid(pen, rows);
        for (action, (name, &estimate)) in self.names.iter().zip(step.estimates).take(rows).enumerate() {
            plot.row(pen, corner[0], action, name, estimate, action == step.chosen);
        }
        let more = self.names.len() - rows;
        if more > 0 {
            let at = [corner[0] + 10.0, plot.top + rows as f32 * row + 16.0];
            pen.text(at, Anchor::Start, soft(11.0), &format!("{more} more"));
        }
    }

    /// Who plays what, the numbers of the step, and what the rows mean.
    fn head(&self, pen: &mut Pen, [x, y]: [f32; 2], step: &Step) {
        let title = Style { size: 17.0, ink: TITLE, bold: true };
        pen.text([x, y + 15.0], Anchor::Start, title, &self.title[0]);
        pen.text([x + WIDTH as f32, y + 15.0], Anchor::End, soft(12.5), &self.title[1]);
        pen.fill([x, y + 25.0], [WIDTH as f32, 1.0], GRID);
        let numbers = [
            ("episode", count(step.episode as u64 + 1)),
            ("step", count(step.number)),
            ("score", score(step.score)),
        ];
        for (i, (label, number)) in numbers.iter().enumerate() {
            let left = x + i as f32 * WIDTH as f32 / 3.0;
            pen.text([left, y + 45.0], Anchor::Start, soft(12.5), label);
            let style = Style { size: 25.0, ink: INK, bold: false };
            pen.text([left, y + 71.0], Anchor::Start, style, number);
        }
        let has_sd = step.estimates.iter().any(|estimate| estimate.sd.is_some());
        let (bars, numbers) =
            if has_sd { ("belief over Q, mean ± 2σ", "mean ± σ") } else { ("Q-values", "") };
        let line = y + HEAD - 12.0;
        pen.text([x, line], Anchor::Start, Style { size: 13.0, ink: INK, bold: true }, bars);
        pen.text([x + WIDTH as f32 - 8.0, line], Anchor::End, soft(11.5), numbers);
    }
}

/// Where the bars stand.
struct Plot {
    axis: Interval,
    left: f32,
    width: f32,
    top: f32,
    row: f32,
    size: f32,
    decimals: usize,
}

impl Plot {
    /// The place of a value, which may lie outside.
    fn x(&self, value: f64) -> f32 {
        self.left + self.axis.fraction(value).clamp(-9.0, 9.0) as f32 * self.width
    }

    fn clip(&self, x: f32) -> f32 {
        x.clamp(self.left, self.left + self.width)
    }

    fn grid(&self, pen: &mut Pen, rows: usize) {
        let bottom = self.top + rows as f32 * self.row;
        let target = (self.width / 60.0) as usize;
        for tick in ticks(Scale::Linear, self.axis.low, self.axis.high, target).major {
            let (x, zero) = (self.x(tick.value), tick.value == 0.0);
            let (ink, width) = if zero { (ZERO, 1.5) } else { (GRID, 1.0) };
            pen.line([x, self.top], [x, bottom + 4.0], width, ink);
            let style = if zero { Style { ink: INK, ..soft(11.5) } } else { soft(11.5) };
            pen.text([x, bottom + 17.0], Anchor::Middle, style, &tick.label);
        }
        pen.fill([self.left, bottom], [self.width, 1.0], ZERO);
    }

    fn row(&self, pen: &mut Pen, left: f32, action: usize, name: &str, estimate: Estimate, chosen: bool) {
        let middle = self.top + (action as f32 + 0.5) * self.row;
        let hue = hex(if chosen { Color::Vermillion } else { Color::Blue });
        let style = Style { size: self.size, ink: if chosen { Ink(hue, 1.0) } else { INK }, bold: chosen };
        let line = middle + 0.36 * self.size;
        let name = pen.shortened(name, self.size, NAMES);
        pen.text([left + 8.0, line], Anchor::Start, style, &name);
        let right = [left + WIDTH as f32 - 8.0, line];
        pen.text(right, Anchor::End, Style { size: self.size - 0.5, ..style }, &self.number(estimate));
        if !estimate.mean.is_finite() {
            return;
        }
        let reach = estimate.interval();
        let (low, high) = (self.x(reach.low), self.x(reach.high));
        if estimate.sd.is_some_and(f64::is_finite) {
            self.whisker(pen, [low, high], middle, hue);
        }
        let x = self.x(estimate.mean);
        if self.clip(x) == x {
            // A small dot lets a short whisker be seen.
            let radius = if estimate.sd.is_some() { 3.6 } else { 5.0 };
            pen.dot([x, middle], radius, Ink(hue, 1.0));
        }
    }

    /// Two standard deviations to both sides; an end that lies outside has no cap.
    fn whisker(&self, pen: &mut Pen, ends: [f32; 2], middle: f32, hue: u32) {
        let [from, to] = ends.map(|x| self.clip(x));
        let half = (0.29 * self.row).min(12.0);
        pen.fill([from, middle - half], [to - from, 2.0 * half], Ink(hue, 0.18));
        pen.line([from, middle], [to, middle], 1.5, Ink(hue, 1.0));
        for x in ends.into_iter().filter(|&x| self.clip(x) == x) {
            pen.line([x, middle - 0.6 * half], [x, middle + 0.6 * half], 1.5, Ink(hue, 1.0));
        }
    }

    fn number(&self, estimate: Estimate) -> String {
        let places = self.decimals;
        let sd = estimate.sd.map_or(String::new(), |sd| format!(" ± {sd:.places$}"));
        format!("{:.places$}{sd}", estimate.mean).replace('-', "−")
    }
}

/// Decimals that tell apart what the axis does and show the largest standard deviation, in at most six digits.
fn decimals(axis: Interval, estimates: &[Estimate]) -> usize {
    let order = |value: f64| libm::floor(libm::log10(value));
    let widest = estimates.iter().filter_map(|estimate| estimate.sd).fold(0.0, f64::max);
    let finest = if widest > 0.0 { -order(widest) } else { 0.0 };
    let whole = 1.0 + order(axis.low.abs().max(axis.high.abs()).max(1.0));
    (2.0 - order(axis.width())).max(finest).clamp(0.0, (6.0 - whole).clamp(0.0, 4.0)) as usize
}

/// A whole number as one, others to a decimal.
fn score(score: f64) -> String {
    let text = if score == score.round() { format!("{score:.0}") } else { format!("{score:.1}") };
    text.replace('-', "−")
}

fn soft(size: f32) -> Style {
    Style { size, ink: SOFT, bold: false }
}

/// A colour of the plots as a number.
fn hex(color: Color) -> u32 {
    u32::from_str_radix(color.hex().trim_start_matches('#'), 16).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_matter() {
        let places = |low, high, sd| decimals(Interval { low, high }, &[Estimate { mean: low, sd }]);
        assert_eq!(places(0.0, 1.0, None), 2);
        assert_eq!(places(54.0, 70.0, Some(0.003)), 3);
        assert_eq!(places(-1234.0, 70.0, Some(0.003)), 2);
        assert_eq!(places(0.0, 1e9, Some(1e-9)), 0);
        assert_eq!(places(0.0, 1.0, Some(f64::INFINITY)), 2);
    }

    #[test]
    fn scores_are_short() {
        assert_eq!([12.0, -21.0, 0.25].map(score), ["12", "−21", "0.2"]);
        assert_eq!(hex(Color::Blue), 0x0072b2);
    }
}

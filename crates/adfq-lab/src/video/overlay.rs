//! What stands beside the game: episode, step and score, and a row for each action with the belief about its value.

use super::canvas::{Anchor, Canvas, Ink, Style};
use adfq_report::plot::{Color, Scale, ticks};
use adfq_report::stats::Interval;
use adfq_report::text::count;

/// The width of the overlay.
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

/// How much wider than the bars the axis is, on both sides together.
const ROOM: f64 = 0.3;
/// The axis narrows when the bars of late take up less of it than this.
const SPARSE: f64 = 0.4;
/// What a frame forgets of where the bars were: half within about fifty frames.
const FORGET: f64 = 0.014;
/// The share of its way that the axis goes in a frame.
const GLIDE: f64 = 0.2;

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

/// A step, as the overlay shows it.
pub struct Step<'a> {
    /// From 0.
    pub episode: usize,
    pub number: u64,
    pub score: f64,
    /// One for each action.
    pub estimates: &'a [Estimate],
    pub chosen: usize,
}

/// The overlay of a video.
pub struct Overlay {
    /// The game and the agent.
    title: [String; 2],
    names: Vec<String>,
    axis: Axis,
}

impl Overlay {
    /// An overlay for actions with these names.
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

    /// Draws the overlay with its upper left corner at `corner`.
    pub fn draw(&mut self, canvas: &mut Canvas, corner: [f32; 2], height: f32, step: &Step) {
        self.head(canvas, corner, step);
        let rows = self.rows();
        let row = ((height - HEAD - FOOT) / rows.max(1) as f32).clamp(LOWEST, HIGHEST);
        let axis = self.axis.follow(around(step.estimates.iter().map(|estimate| estimate.interval())));
        let size = (row * 0.62).clamp(11.5, 14.0);
        let widest = self.names.iter().map(|name| canvas.width(name, size)).fold(0.0, f32::max).min(NAMES);
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
            canvas.fill(at, [WIDTH as f32, row], Ink(hex(Color::Vermillion), 0.1));
        }
        plot.grid(canvas, rows);
        for (action, (name, &estimate)) in self.names.iter().zip(step.estimates).take(rows).enumerate() {
            plot.row(canvas, corner[0], action, name, estimate, action == step.chosen);
        }
        let more = self.names.len() - rows;
        if more > 0 {
            let at = [corner[0] + 10.0, plot.top + rows as f32 * row + 16.0];
            canvas.text(at, Anchor::Start, soft(11.0), &format!("{more} more"));
        }
    }

    /// The title, the numbers of the step, and what the rows mean.
    fn head(&self, canvas: &mut Canvas, [x, y]: [f32; 2], step: &Step) {
        let title = Style { size: 17.0, ink: TITLE, bold: true };
        canvas.text([x, y + 15.0], Anchor::Start, title, &self.title[0]);
        canvas.text([x + WIDTH as f32, y + 15.0], Anchor::End, soft(12.5), &self.title[1]);
        canvas.fill([x, y + 25.0], [WIDTH as f32, 1.0], GRID);
        let numbers = [
            ("episode", count(step.episode as u64 + 1)),
            ("step", count(step.number)),
            ("score", score(step.score)),
        ];
        for (i, (label, number)) in numbers.iter().enumerate() {
            let left = x + i as f32 * WIDTH as f32 / 3.0;
            canvas.text([left, y + 45.0], Anchor::Start, soft(12.5), label);
            let style = Style { size: 25.0, ink: INK, bold: false };
            canvas.text([left, y + 71.0], Anchor::Start, style, number);
        }
        let has_sd = step.estimates.iter().any(|estimate| estimate.sd.is_some());
        let (bars, numbers) =
            if has_sd { ("belief over Q, mean ± 2σ", "mean ± σ") } else { ("Q-values", "") };
        let line = y + HEAD - 12.0;
        canvas.text([x, line], Anchor::Start, Style { size: 13.0, ink: INK, bold: true }, bars);
        canvas.text([x + WIDTH as f32 - 8.0, line], Anchor::End, soft(11.5), numbers);
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
        self.left + fraction(self.axis, value).clamp(-9.0, 9.0) as f32 * self.width
    }

    fn clip(&self, x: f32) -> f32 {
        x.clamp(self.left, self.left + self.width)
    }

    fn grid(&self, canvas: &mut Canvas, rows: usize) {
        let bottom = self.top + rows as f32 * self.row;
        let target = (self.width / 60.0) as usize;
        for tick in ticks(Scale::Linear, self.axis.low, self.axis.high, target).major {
            let (x, zero) = (self.x(tick.value), tick.value == 0.0);
            let (ink, width) = if zero { (ZERO, 1.5) } else { (GRID, 1.0) };
            canvas.line([x, self.top], [x, bottom + 4.0], width, ink);
            let style = if zero { Style { ink: INK, ..soft(11.5) } } else { soft(11.5) };
            canvas.text([x, bottom + 17.0], Anchor::Middle, style, &tick.label);
        }
        canvas.fill([self.left, bottom], [self.width, 1.0], ZERO);
    }

    fn row(
        &self,
        canvas: &mut Canvas,
        left: f32,
        action: usize,
        name: &str,
        estimate: Estimate,
        chosen: bool,
    ) {
        let middle = self.top + (action as f32 + 0.5) * self.row;
        let hue = hex(if chosen { Color::Vermillion } else { Color::Blue });
        let style = Style { size: self.size, ink: if chosen { Ink(hue, 1.0) } else { INK }, bold: chosen };
        let line = middle + 0.36 * self.size;
        let name = canvas.shortened(name, self.size, NAMES);
        canvas.text([left + 8.0, line], Anchor::Start, style, &name);
        let right = [left + WIDTH as f32 - 8.0, line];
        canvas.text(right, Anchor::End, Style { size: self.size - 0.5, ..style }, &self.number(estimate));
        if !estimate.mean.is_finite() {
            return;
        }
        let reach = estimate.interval();
        let (low, high) = (self.x(reach.low), self.x(reach.high));
        if estimate.sd.is_some_and(f64::is_finite) {
            self.whisker(canvas, [low, high], middle, hue);
        }
        let x = self.x(estimate.mean);
        if self.clip(x) == x {
            // A small dot lets a short whisker be seen.
            let radius = if estimate.sd.is_some() { 3.6 } else { 5.0 };
            canvas.dot([x, middle], radius, Ink(hue, 1.0));
        }
    }

    /// Two standard deviations to both sides; an end that lies outside has no cap.
    fn whisker(&self, canvas: &mut Canvas, ends: [f32; 2], middle: f32, hue: u32) {
        let [from, to] = ends.map(|x| self.clip(x));
        let half = (0.29 * self.row).min(12.0);
        canvas.fill([from, middle - half], [to - from, 2.0 * half], Ink(hue, 0.18));
        canvas.line([from, middle], [to, middle], 1.5, Ink(hue, 1.0));
        for x in ends.into_iter().filter(|&x| self.clip(x) == x) {
            canvas.line([x, middle - 0.6 * half], [x, middle + 0.6 * half], 1.5, Ink(hue, 1.0));
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
    (2.0 - order(width(axis))).max(finest).clamp(0.0, (6.0 - whole).clamp(0.0, 4.0)) as usize
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

/// The common axis of all bars. It always holds them, stays as it is while they fit well, and moves smoothly where they
/// do not.
#[derive(Default)]
struct Axis {
    state: Option<State>,
}

struct State {
    shown: Interval,
    /// Where the axis is going.
    goal: Interval,
    /// Where the bars were of late.
    recent: Interval,
}

impl Axis {
    /// The axis for the next frame, whose bars lie in `bars`.
    fn follow(&mut self, bars: Option<Interval>) -> Interval {
        let Some(bars) = bars else {
            return self.state.as_ref().map_or(Interval { low: -1.0, high: 1.0 }, |state| state.shown);
        };
        let state = self.state.get_or_insert_with(|| {
            let goal = roomy(bars);
            State { shown: goal, goal, recent: bars }
        });
        let faded = toward(state.recent, bars, FORGET);
        state.recent = Interval { low: faded.low.min(bars.low), high: faded.high.max(bars.high) };
        let wanted = roomy(state.recent);
        if !holds(state.goal, state.recent) || width(wanted) < SPARSE * width(state.goal) {
            state.goal = wanted;
        }
        state.shown = toward(state.shown, state.goal, GLIDE);
        // The last of the way is less than a pixel.
        let left = (state.shown.low - state.goal.low).abs() + (state.shown.high - state.goal.high).abs();
        if left < 2e-3 * width(state.goal) {
            state.shown = state.goal;
        }
        // The bars are always inside, however far the axis has moved.
        state.shown = Interval { low: state.shown.low.min(bars.low), high: state.shown.high.max(bars.high) };
        state.shown
    }
}

/// The smallest interval that holds the others; none if there are none. Values that are not finite do not count.
fn around(parts: impl IntoIterator<Item = Interval>) -> Option<Interval> {
    let finite = parts.into_iter().filter(|part| part.low.is_finite() && part.high.is_finite());
    finite.reduce(|a, b| Interval { low: a.low.min(b.low), high: a.high.max(b.high) })
}

/// Where a value stands in an interval: 0 at the low end, 1 at the high one.
fn fraction(interval: Interval, value: f64) -> f64 {
    (value - interval.low) / width(interval)
}

/// A share of the way from one interval to another.
fn toward(from: Interval, to: Interval, share: f64) -> Interval {
    let step = |from: f64, to: f64| from + share * (to - from);
    Interval { low: step(from.low, to.low), high: step(from.high, to.high) }
}

/// The interval with room at both ends; never empty.
fn roomy(bars: Interval) -> Interval {
    let middle = bars.low / 2.0 + bars.high / 2.0;
    let half = (width(bars) * (1.0 + ROOM) / 2.0).max(1e-3 * middle.abs()).max(1e-3);
    Interval { low: middle - half, high: middle + half }
}

fn width(interval: Interval) -> f64 {
    interval.high - interval.low
}

fn holds(outer: Interval, inner: Interval) -> bool {
    outer.contains(inner.low) && outer.contains(inner.high)
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

    fn bars(low: f64, high: f64) -> Option<Interval> {
        Some(Interval { low, high })
    }

    #[test]
    fn it_stands_still_while_the_bars_fit() {
        let mut axis = Axis::default();
        let first = axis.follow(bars(0.0, 10.0));
        assert_eq!(first, Interval { low: -1.5, high: 11.5 });
        assert_eq!(axis.follow(bars(-1.0, 6.0)), first);
        assert_eq!(axis.follow(bars(2.0, 11.0)), first);
        assert_eq!(axis.follow(None), first);
    }

    #[test]
    fn it_glides_to_where_the_bars_are() {
        let mut axis = Axis::default();
        let mut last = axis.follow(bars(0.0, 10.0));
        for frame in 0..60 {
            let next = axis.follow(bars(50.0, 60.0));
            assert!(next.low <= 50.0 && next.high >= 60.0, "{frame}: {next:?}");
            assert!(frame == 0 || (next.high - last.high).abs() < 5.0, "{frame}: {next:?}");
            last = next;
        }
        assert!(last.low < 50.0 && last.high > 60.0);
        // In the end what was long ago is forgotten.
        (0..400).for_each(|_| last = axis.follow(bars(50.0, 60.0)));
        assert!(last.low > 30.0 && last.low < 50.0 && last.high > 60.0, "{last:?}");
    }

    #[test]
    fn it_is_never_empty() {
        for value in [0.0, 5.0, -1e9] {
            let interval = Axis::default().follow(bars(value, value));
            assert!(width(interval) > 0.0 && (0.49..0.51).contains(&fraction(interval, value)));
        }
        assert_eq!(Axis::default().follow(None), Interval { low: -1.0, high: 1.0 });
        let odd = Interval { low: f64::NAN, high: 1.0 };
        assert_eq!(around([odd, Interval { low: 0.0, high: 2.0 }]), bars(0.0, 2.0));
    }
}

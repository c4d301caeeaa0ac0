//! The common axis of all bars: it holds them always, stands still while they fit well, and glides where they do not.

/// How much wider than the bars the axis is, on both sides together.
const ROOM: f64 = 0.3;
/// The axis narrows when the bars of late take up less of it than this.
const SPARSE: f64 = 0.4;
/// What a frame forgets of where the bars were: half within about fifty frames.
const FORGET: f64 = 0.014;
/// The share of its way that the axis goes in a frame.
const GLIDE: f64 = 0.2;

/// An interval of values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    /// The interval that just holds the others; none if there are none. Values that are not finite do not count.
    pub fn around(parts: impl IntoIterator<Item = Self>) -> Option<Self> {
        let finite = parts.into_iter().filter(|part| part.low.is_finite() && part.high.is_finite());
        finite.reduce(|a, b| Self { low: a.low.min(b.low), high: a.high.max(b.high) })
    }

    /// Its width.
    pub fn width(self) -> f64 {
        self.high - self.low
    }

    /// Where a value stands: 0 at the low end, 1 at the high one.
    pub fn fraction(self, value: f64) -> f64 {
        (value - self.low) / self.width()
    }

    fn holds(self, other: Self) -> bool {
        self.low <= other.low && other.high <= self.high
    }

    /// A share of the way to another interval.
    fn toward(self, other: Self, share: f64) -> Self {
        let step = |from: f64, to: f64| from + share * (to - from);
        Self { low: step(self.low, other.low), high: step(self.high, other.high) }
    }

    /// With room at both ends; never empty.
    fn roomy(self) -> Self {
        let middle = self.low / 2.0 + self.high / 2.0;
        let half = (self.width() * (1.0 + ROOM) / 2.0).max(1e-3 * middle.abs()).max(1e-3);
        Self { low: middle - half, high: middle + half }
    }
}

/// The axis of a film.
#[derive(Default)]
pub struct Axis {
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
    pub fn follow(&mut self, bars: Option<Interval>) -> Interval {
        let Some(bars) = bars else {
            return self.state.as_ref().map_or(Interval { low: -1.0, high: 1.0 }, |state| state.shown);
        };
        let state = self.state.get_or_insert_with(|| {
            let goal = bars.roomy();
            State { shown: goal, goal, recent: bars }
        });
        let faded = state.recent.toward(bars, FORGET);
        state.recent = Interval { low: faded.low.min(bars.low), high: faded.high.max(bars.high) };
        let wanted = state.recent.roomy();
        if !state.goal.holds(state.recent) || wanted.width() < SPARSE * state.goal.width() {
            state.goal = wanted;
        }
        state.shown = state.shown.toward(state.goal, GLIDE);
        // The last of the way is less than a pixel.
        let left = (state.shown.low - state.goal.low).abs() + (state.shown.high - state.goal.high).abs();
        if left < 2e-3 * state.goal.width() {
            state.shown = state.goal;
        }
        // Whatever the glide, the bars are seen.
        state.shown = Interval { low: state.shown.low.min(bars.low), high: state.shown.high.max(bars.high) };
        state.shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert!(interval.width() > 0.0 && (0.49..0.51).contains(&interval.fraction(value)));
        }
        assert_eq!(Axis::default().follow(None), Interval { low: -1.0, high: 1.0 });
        let odd = Interval { low: f64::NAN, high: 1.0 };
        assert_eq!(Interval::around([odd, Interval { low: 0.0, high: 2.0 }]), bars(0.0, 2.0));
    }
}

//! Where the time of a training goes. For people: nothing depends on it.

use std::time::{Duration, Instant};

/// Where the time of the host went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    measured: bool,
    /// From observations to actions. On a GPU this waits for the gradient steps before it.
    pub acting: Duration,
    /// Gradient steps. On a GPU, putting them on the stream.
    pub learning: Duration,
    /// In the environments.
    pub stepping: Duration,
    /// Storing transitions.
    pub remembering: Duration,
    /// Greedy episodes.
    pub evaluating: Duration,
}

impl Timeline {
    /// Nothing yet. A clock takes time too: of a step on the CPU too much to be always on.
    pub(crate) fn new(measured: bool) -> Self {
        Self { measured, ..Self::default() }
    }
}

impl std::fmt::Display for Timeline {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let parts = [
            ("acting", self.acting),
            ("learning", self.learning),
            ("environments", self.stepping),
            ("replay", self.remembering),
            ("evaluation", self.evaluating),
        ];
        let parts = parts.map(|(name, time)| format!("{name} {:.1} s", time.as_secs_f64()));
        f.write_str(&parts.join(", "))
    }
}

/// A stopwatch for one step.
pub(crate) struct Clock<'a>(&'a mut Timeline, Option<Instant>);

impl<'a> Clock<'a> {
    /// Starts it, if the timeline is measured.
    pub fn start(timeline: &'a mut Timeline) -> Self {
        let now = timeline.measured.then(Instant::now);
        Self(timeline, now)
    }

    /// Adds the time since the last lap to a part.
    pub fn lap(&mut self, part: fn(&mut Timeline) -> &mut Duration) {
        if let Some(before) = self.1 {
            let now = Instant::now();
            *part(self.0) += now - before;
            self.1 = Some(now);
        }
    }
}

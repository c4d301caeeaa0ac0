//! Where the time of a crew goes.

use std::time::{Duration, Instant};

/// Where the time of the host went. For people: nothing depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// Sending observations up and waiting for outputs, and so for the gradient steps before them.
    pub acting: Duration,
    /// Putting gradient steps on the stream.
    pub launching: Duration,
    /// In the environments.
    pub stepping: Duration,
    /// Writing down what happened.
    pub remembering: Duration,
    /// Greedy episodes.
    pub evaluating: Duration,
}

impl std::fmt::Display for Timeline {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let parts = [
            ("acting", self.acting),
            ("launching", self.launching),
            ("environments", self.stepping),
            ("remembering", self.remembering),
            ("evaluation", self.evaluating),
        ];
        let parts = parts.map(|(name, time)| format!("{name} {:.1} s", time.as_secs_f64()));
        f.write_str(&parts.join(", "))
    }
}

/// A stopwatch.
pub(super) struct Clock(Instant);

impl Clock {
    /// Starts it.
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Adds the time since the last lap.
    pub fn lap(&mut self, to: &mut Duration) {
        let now = Instant::now();
        *to += now - self.0;
        self.0 = now;
    }
}

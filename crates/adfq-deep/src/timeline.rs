//! Where the time of a training goes: one table whose parts add up to all of it. For people: nothing depends on it.

use std::time::{Duration, Instant};

/// Where the time of the host went. Each moment is in one part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// Before the first step: environments, memory, what is read back, kernels.
    pub starting: Duration,
    /// Steps and gradient steps together, where they are not told apart: on the CPU a clock would take too much of a step.
    pub training: Duration,
    /// From observations to actions. On a GPU this waits for the gradient steps before it, and the next ones are put on the
    /// stream in it, unless environments are in other processes.
    pub acting: Duration,
    /// Gradient steps. On a GPU, putting them on the stream where environments are in other processes, and waiting for them where
    /// metrics are due.
    pub learning: Duration,
    /// In the environments.
    pub stepping: Duration,
    /// Storing transitions.
    pub remembering: Duration,
    /// Greedy episodes.
    pub evaluating: Duration,
    /// Rows of metrics.
    pub logging: Duration,
    /// Taking checkpoints: the copy, not the writing, which goes on beside training.
    pub saving: Duration,
    /// Waiting for checkpoints that are being written: for one before the next, and for the last.
    pub waiting: Duration,
    /// Digests and results at the end.
    pub finishing: Duration,
    /// All else between steps.
    pub other: Duration,
}

impl Timeline {
    /// All parts by their names, in the order in which they come.
    pub fn parts(&self) -> [(&'static str, Duration); 12] {
        [
            ("start", self.starting),
            ("training", self.training),
            ("acting", self.acting),
            ("learning", self.learning),
            ("environments", self.stepping),
            ("replay", self.remembering),
            ("evaluation", self.evaluating),
            ("logs", self.logging),
            ("taking checkpoints", self.saving),
            ("waiting for checkpoints", self.waiting),
            ("end", self.finishing),
            ("other", self.other),
        ]
    }

    /// All of it.
    pub fn sum(&self) -> Duration {
        self.parts().iter().map(|(_, time)| *time).sum()
    }

    /// What part of all this time is, in percent.
    pub fn percent(&self, part: Duration) -> f64 {
        100.0 * part.as_secs_f64() / self.sum().as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

/// Several trainings, one after the other or side by side.
impl std::ops::AddAssign for Timeline {
    fn add_assign(&mut self, other: Self) {
        self.starting += other.starting;
        self.training += other.training;
        self.acting += other.acting;
        self.learning += other.learning;
        self.stepping += other.stepping;
        self.remembering += other.remembering;
        self.evaluating += other.evaluating;
        self.logging += other.logging;
        self.saving += other.saving;
        self.waiting += other.waiting;
        self.finishing += other.finishing;
        self.other += other.other;
    }
}

/// Parts that would be shown as 0.0 % are left out.
impl std::fmt::Display for Timeline {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{:.1} s", self.sum().as_secs_f64())?;
        for (i, (name, time)) in
            self.parts().iter().filter(|(_, time)| self.percent(*time) >= 0.05).enumerate()
        {
            let (before, percent) = (if i == 0 { ": " } else { ", " }, self.percent(*time));
            write!(f, "{before}{name} {:.1} s ({percent:.1} %)", time.as_secs_f64())?;
        }
        Ok(())
    }
}

/// A part of the table.
pub(crate) type Part = fn(&mut Timeline) -> &mut Duration;

/// A clock that never stands still: what passes between two laps is the later one's.
pub(crate) struct Stopwatch {
    pub timeline: Timeline,
    /// Whether the parts of a step are told apart.
    fine: bool,
    lap: Instant,
}

impl Stopwatch {
    /// Begins now.
    pub fn new(fine: bool) -> Self {
        Self { timeline: Timeline::default(), fine, lap: Instant::now() }
    }

    /// It began earlier.
    pub fn begin_at(&mut self, begun: Instant) {
        self.lap = begun;
    }

    /// The time since the last lap was spent on this.
    pub fn lap(&mut self, part: Part) {
        let now = Instant::now();
        *part(&mut self.timeline) += now - self.lap;
        self.lap = now;
    }

    /// The same for a part of a step.
    pub fn lap_in_step(&mut self, part: Part) {
        if self.fine {
            self.lap(part);
        }
    }

    /// The time since the last lap was spent on steps, as far as no part of them has it.
    pub fn lap_after_steps(&mut self) {
        self.lap(if self.fine { |timeline| &mut timeline.other } else { |timeline| &mut timeline.training });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_moment_is_in_one_part() {
        for fine in [false, true] {
            let begun = Instant::now();
            let mut watch = Stopwatch::new(fine);
            watch.begin_at(begun);
            watch.lap(|timeline| &mut timeline.starting);
            watch.lap_in_step(|timeline| &mut timeline.acting);
            watch.lap_after_steps();
            watch.lap(|timeline| &mut timeline.saving);
            assert_eq!(watch.timeline.sum(), watch.lap - begun);
            assert_eq!(watch.timeline.acting.is_zero() && watch.timeline.other.is_zero(), !fine);
        }
    }

    #[test]
    fn the_table_shows_what_took_time() {
        let second = Duration::from_secs(1);
        let mut all = Timeline { training: 8 * second, saving: second, ..Timeline::default() };
        all += Timeline { waiting: second, ..Timeline::default() };
        assert_eq!(
            all.to_string(),
            "10.0 s: training 8.0 s (80.0 %), taking checkpoints 1.0 s (10.0 %), waiting for checkpoints 1.0 s (10.0 %)"
        );
        assert_eq!(Timeline::default().to_string(), "0.0 s");
    }
}

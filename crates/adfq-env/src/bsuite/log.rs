//! What bsuite logs of a run, from which its scores are computed: five counts of its own, and what the environment reports.

use super::Info;
use crate::Step;
use serde::{Deserialize, Serialize};

/// Episodes are logged whose number is one of these, times a power of ten, in tenths.
const LOGGED: [u64; 13] = [10, 12, 14, 17, 20, 25, 30, 40, 50, 60, 70, 80, 90];

/// The counts of one environment over its whole run. After each step comes [`Log::step`]. When [`Log::is_due`], [`Log::row`] with
/// [`Env::info`](crate::Env::info) is the row that the package writes.
///
/// ```
/// use adfq_env::bsuite::Log;
/// use adfq_env::{Env, make};
///
/// let (mut env, mut log) = (make("bsuite:bandit/0")?, Log::default());
/// let mut frame = vec![0; env.space().frame_bytes()];
/// let mut rows = Vec::new();
/// for _ in 0..20 {
///     env.reset(None, &mut frame)?;
///     log.step(&env.step(0, &mut frame)?);
///     if log.is_due() {
///         rows.push(log.row(&env.info()));
///     }
/// }
/// // The first ten, and 12, 14, 17, 20.
/// assert_eq!(rows.len(), 14);
/// assert_eq!(rows[0][1..5], [("episode", 1.0), ("total_return", 0.4), ("episode_len", 1.0), ("episode_return", 0.4)]);
/// assert_eq!(rows[0][5], ("total_regret", 0.6));
/// # Ok::<(), adfq_env::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Log {
    steps: u64,
    episode: u64,
    total_return: f64,
    /// Of the episode that the latest step belongs to.
    episode_len: u64,
    episode_return: f64,
    /// That step was its last.
    ended: bool,
}

impl Log {
    /// Counts a step.
    pub fn step(&mut self, step: &Step) {
        if self.ended {
            (self.episode_len, self.episode_return) = (0, 0.0);
        }
        self.steps += 1;
        self.episode_len += 1;
        self.total_return += step.reward;
        self.episode_return += step.reward;
        self.ended = step.ended();
        self.episode += u64::from(self.ended);
    }

    /// The episodes that ended so far.
    pub fn episodes(&self) -> u64 {
        self.episode
    }

    /// Whether an episode has just ended that the package logs: 1, 2, … 9, 10, 12, 14, 17, 20, 25, 30, 40, … 90, 100, 120, ….
    pub fn is_due(&self) -> bool {
        let mut power = 1;
        while power * 10 <= self.episode {
            power *= 10;
        }
        self.ended && LOGGED.iter().any(|&tenths| tenths * power == 10 * self.episode)
    }

    /// The columns of the package and their values: `steps`, `episode`, `total_return`, `episode_len`, `episode_return`, and those of `info`.
    pub fn row(&self, info: &[(&'static str, f64)]) -> Info {
        let counts = [
            ("steps", self.steps as f64),
            ("episode", self.episode as f64),
            ("total_return", self.total_return),
            ("episode_len", self.episode_len as f64),
            ("episode_return", self.episode_return),
        ];
        counts.into_iter().chain(info.iter().copied()).collect()
    }
}

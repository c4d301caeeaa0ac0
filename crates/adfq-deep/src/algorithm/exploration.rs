//! How much an agent still explores: what its episodes are for, and what they have paid.
//!
//! Before the environment has paid there is nothing to exploit. Then less and less is left to explore:
//!
//! ```text
//! f = 1/√(1 + m)          m: episodes in which the environment has paid
//! ```
//!
//! f is 1 again as long as it clearly pays more to explore than to follow the means: these have led into a corner. How f is used is
//! not known here.

use super::Received;
use serde::{Deserialize, Serialize};

/// Episodes over which it is averaged what they pay.
const LATELY: f64 = 32.0;

/// What an episode is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Mode {
    /// Not decided before its first state is seen.
    #[default]
    Undecided,
    Greedy,
    Explore,
}

/// Mean and variance of what episodes of a kind have paid of late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Paid {
    episodes: u64,
    mean: f64,
    var: f64,
}

impl Paid {
    fn see(&mut self, total: f64) {
        self.episodes += 1;
        let (rate, off) = (1.0 / (self.episodes as f64).min(LATELY), total - self.mean);
        self.mean += rate * off;
        self.var += rate * ((1.0 - rate) * off * off - self.var);
    }

    /// Whether it is clearly more than another kind has paid: by two standard errors of the difference.
    fn is_more(&self, other: &Self) -> bool {
        let square = |paid: &Self| paid.var / (paid.episodes as f64).min(LATELY);
        let enough = self.episodes.min(other.episodes) as f64 >= LATELY / 4.0;
        enough && self.mean - other.mean > 2.0 * (square(self) + square(other)).sqrt()
    }
}

/// What episodes have paid.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Successes {
    /// Whether every step so far had a negative reward: then the end of an episode is the success.
    costs: bool,
    /// m.
    episodes: u64,
    /// What those have paid that follow the means, and what those that explore.
    greedy: Paid,
    explore: Paid,
}

impl Default for Successes {
    fn default() -> Self {
        Self { costs: true, episodes: 0, greedy: Paid::default(), explore: Paid::default() }
    }
}

impl Successes {
    /// Whether a step is a success.
    pub fn see(&mut self, received: &Received) -> bool {
        let success = received.reward > 0.0 || received.terminated && self.costs;
        self.costs &= received.reward < 0.0 || received.terminated;
        success
    }

    /// An episode has ended: what it was for, whether there was a success in it, and the sum of its rewards.
    pub fn end(&mut self, mode: Mode, succeeded: bool, total: f64) {
        self.episodes += u64::from(succeeded);
        match mode {
            Mode::Greedy => self.greedy.see(total),
            Mode::Explore => self.explore.see(total),
            Mode::Undecided => {}
        }
    }

    /// f.
    pub fn left(&self) -> f64 {
        if self.explore.is_more(&self.greedy) { 1.0 } else { 1.0 / (1.0 + self.episodes as f64).sqrt() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where every step costs, the end is the success; where some cost nothing, only a reward is.
    #[test]
    fn exploration_lasts_until_something_is_found() {
        let step =
            |reward: f32, terminated: bool| Received { action: 0, reward, terminated, ended: terminated };
        let after = |steps: &[Received]| {
            let mut successes = Successes::default();
            steps.iter().map(|step| successes.see(step)).collect::<Vec<_>>()
        };
        assert_eq!(after(&[step(-1.0, false), step(-1.0, true)]), [false, true]);
        assert_eq!(after(&[step(0.0, false), step(-1.0, true)]), [false, false]);
        assert_eq!(after(&[step(0.0, false), step(1.0, true)]), [false, true]);
        let mut successes = Successes::default();
        assert_eq!(successes.left(), 1.0);
        successes.episodes = 400;
        assert!(successes.left() < 0.1);
    }

    /// Means that have led into a corner are given up as long as exploring pays more.
    #[test]
    fn exploration_comes_back_where_it_pays_more() {
        let mut successes = Successes { episodes: 400, ..Successes::default() };
        let mut play = |mode: Mode, totals: [f64; 2], times: usize| {
            totals.repeat(times).iter().for_each(|&total| successes.end(mode, total > 0.0, total));
            successes.left() == 1.0
        };
        assert!(!play(Mode::Explore, [0.0, 200.0], 20), "nothing to compare with");
        assert!(!play(Mode::Greedy, [0.0, 210.0], 20), "no difference");
        assert!(play(Mode::Greedy, [0.0, 0.0], 40));
        assert!(!play(Mode::Greedy, [300.0, 900.0], 40));
    }
}

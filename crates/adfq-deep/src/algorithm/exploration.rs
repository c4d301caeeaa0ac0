//! How much an agent still explores: what its episodes are for, and what they have paid.
//!
//! Before the environment has paid there is nothing to exploit. Then less and less is left to explore:
//!
//! ```text
//! f = 1/√(1 + m)          m: episodes in which the environment has paid, less those in which the means have lost
//! ```
//!
//! Where rewards are noise, the means lose as often as they are paid, so m stays small and exploration goes on.
//!
//! f is 1 again as long as it clearly pays more to explore than to follow the means: these have led into a corner. How f is used is
//! not known here. εz-greedy exploration (Dabney et al. 2021) is here too: random actions, each repeated for a while.

use super::Received;
use adfq::random::ChaCha8Rng;
use rand::RngExt;
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

/// A random action that is repeated, and how often yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Repeated(Option<(usize, u64)>);

impl Repeated {
    /// The random action of this step, if there is one. Where none is under way, one is begun with probability `begin`.
    pub fn next(&mut self, begin: f64, actions: usize, rng: &mut ChaCha8Rng) -> Option<usize> {
        if self.0.is_none() && rng.random::<f64>() < begin {
            // P(k or more) = 1/k, so that k has the tail k⁻².
            let times = (1.0 / (1.0 - rng.random::<f64>())).min(10_000.0) as u64;
            self.0 = Some((rng.random_range(0..actions), times));
        }
        let (action, left) = self.0.take()?;
        self.0 = (left > 1).then_some((action, left - 1));
        Some(action)
    }
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
    /// m, never below 0.
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
        if succeeded {
            self.episodes += 1;
        } else if mode == Mode::Greedy && total < 0.0 {
            self.episodes = self.episodes.saturating_sub(1);
        }
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
    use adfq::random::stream;

    /// P(k or more) = 1/k.
    #[test]
    fn random_actions_are_repeated() {
        let (mut rng, mut lengths) = (stream(7, "actions"), vec![]);
        while lengths.len() < 4_000 {
            let mut repeated = Repeated::default();
            assert!(repeated.next(1.0, 3, &mut rng).is_some_and(|action| action < 3));
            lengths.push(repeated.0.map_or(1, |(_, left)| left + 1));
        }
        for least in [1, 2, 4, 10] {
            let share = lengths.iter().filter(|length| **length >= least).count() as f64 / 4_000.0;
            let expected = 1.0 / least as f64;
            let sd = (expected * (1.0 - expected) / 4_000.0).sqrt();
            assert!((share - expected).abs() <= 4.0 * sd, "{least}: {share}");
        }
        assert_eq!(Repeated::default().next(0.0, 3, &mut rng), None);
    }

    /// The same action as often as it was drawn, and then another draw.
    #[test]
    fn a_random_action_ends() {
        let (mut repeated, mut rng) = (Repeated(Some((2, 3))), stream(7, "actions"));
        let actions = [(); 4].map(|()| repeated.next(0.0, 5, &mut rng));
        assert_eq!(actions, [Some(2), Some(2), Some(2), None]);
    }

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

    /// Rewards of either sign that nobody can help are no success. Those that exploration loses do not count.
    #[test]
    fn noise_is_no_success() {
        let after = |mode: Mode, totals: [f64; 2]| {
            let mut successes = Successes::default();
            totals.repeat(200).iter().for_each(|&total| successes.end(mode, total > 0.0, total));
            successes.episodes
        };
        assert_eq!(after(Mode::Greedy, [-1.0, 1.0]), 1);
        assert_eq!(after(Mode::Greedy, [0.0, 1.0]), 200);
        assert_eq!(after(Mode::Explore, [-1.0, 1.0]), 200);
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

//! What is measured while training: a row of `metrics.csv`, and the sums and windows behind it.

use adfq_env::Step;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Episodes over which the training return is averaged.
const WINDOW: usize = 100;

/// Training as it stands at one step. No field depends on a clock: a resumed run writes the same rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metrics {
    /// Environment steps so far.
    pub step: u64,
    /// Episodes that ended so far.
    pub episodes: u64,
    /// Gradient steps so far.
    pub updates: u64,
    /// Mean return of the last 100 episodes; NaN before the first ends.
    pub train_return: f64,
    /// Mean of the same with only the signs of rewards summed, as learning on Atari sees them.
    pub train_clipped_return: f64,
    /// Their mean length.
    pub episode_length: f64,
    /// Mean loss since the last row; NaN before the first gradient step. So for the four below.
    pub loss: f64,
    /// Mean norm of the gradient before clipping.
    pub gradient_norm: f64,
    /// Mean of μ(s,a), or Q(s,a), over the batches.
    pub mean_q: f64,
    /// Mean of σ(s,a) over the batches; NaN without beliefs.
    pub mean_sigma: f64,
    /// ε; NaN without one.
    pub epsilon: f64,
    /// What the algorithm measures beside these.
    pub own: Vec<(&'static str, f64)>,
}

impl Metrics {
    /// The names of the columns, in their order.
    const COLUMNS: [&str; 11] = [
        "step",
        "episodes",
        "updates",
        "train_return",
        "train_clipped_return",
        "episode_length",
        "loss",
        "gradient_norm",
        "mean_q",
        "mean_sigma",
        "epsilon",
    ];

    /// The first line of `metrics.csv`, with the columns of the algorithm's own.
    pub(crate) fn header(own: &[&str]) -> String {
        [&Self::COLUMNS, own].concat().join(",")
    }

    /// Names and values of all columns.
    pub(crate) fn scalars(&self) -> impl Iterator<Item = (&'static str, f64)> {
        Self::COLUMNS.into_iter().zip(self.values()).chain(self.own.iter().copied())
    }

    /// The values of the columns that all agents have.
    fn values(&self) -> [f64; 11] {
        [
            self.step as f64,
            self.episodes as f64,
            self.updates as f64,
            self.train_return,
            self.train_clipped_return,
            self.episode_length,
            self.loss,
            self.gradient_norm,
            self.mean_q,
            self.mean_sigma,
            self.epsilon,
        ]
    }

    /// A line of `metrics.csv`; what is not there yet is left empty.
    pub(crate) fn csv(&self) -> String {
        let show = |value: f64| if value.is_nan() { String::new() } else { value.to_string() };
        self.scalars().map(|(_, value)| show(value)).collect::<Vec<_>>().join(",")
    }
}

/// What one gradient step was like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Learned {
    /// The loss.
    pub loss: f32,
    /// The norm of the gradient before clipping.
    pub gradient_norm: f32,
    /// Mean of μ(s,a), or Q(s,a), over the batch.
    pub mean_q: f32,
    /// Mean of σ(s,a) over the batch; NaN without beliefs.
    pub mean_sigma: f32,
}

/// A whole game that ended: a life lost is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Episode {
    /// Sum of rewards, undiscounted and unclipped.
    pub total: f64,
    /// Sum of the rewards' signs: what is left where rewards are clipped.
    pub clipped: f64,
    /// Steps.
    pub length: u64,
}

impl Episode {
    /// Counts in a step.
    pub(crate) fn step(&mut self, reward: f64) {
        self.total += reward;
        self.clipped += sign(reward);
        self.length += 1;
    }
}

/// A clipped reward: -1, 0 or 1.
pub(crate) fn sign(reward: f64) -> f64 {
    if reward == 0.0 { 0.0 } else { reward.signum() }
}

/// Sums since the last row and the last episodes; saved in a checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stats {
    /// Episodes under way, one for each environment.
    running: Vec<Episode>,
    last: VecDeque<Episode>,
    episodes: u64,
    updates: u64,
    sums: [f64; 4],
    summed: u64,
}

impl Stats {
    /// Nothing yet, in this many environments.
    pub fn new(envs: usize) -> Self {
        Self { running: vec![Episode::default(); envs], ..Self::default() }
    }

    /// Whether these can be the numbers of a run in this many environments after so many steps.
    pub fn fits(&self, envs: usize, step: u64) -> bool {
        let counts = [self.episodes, self.updates, self.summed];
        self.running.len() == envs && self.last.len() <= WINDOW && counts.iter().all(|&count| count <= step)
    }

    /// A step in an environment. Returns go on over lost lives, to the end of the game.
    pub fn step(&mut self, env: usize, step: &Step) {
        let episode = &mut self.running[env];
        episode.step(step.reward);
        if step.game_over() {
            self.last.push_back(std::mem::take(episode));
            self.episodes += 1;
            if self.last.len() > WINDOW {
                self.last.pop_front();
            }
        }
    }

    /// The episode under way in an environment will not be seen to its end, and is not reported.
    pub fn interrupt(&mut self, env: usize) {
        self.running[env] = Episode::default();
    }

    /// A gradient step.
    pub fn learned(&mut self, learned: &Learned) {
        let Learned { loss, gradient_norm, mean_q, mean_sigma } = *learned;
        for (sum, value) in self.sums.iter_mut().zip([loss, gradient_norm, mean_q, mean_sigma]) {
            *sum += f64::from(value);
        }
        self.summed += 1;
        self.updates += 1;
    }

    /// Gradient steps so far.
    pub fn updates(&self) -> u64 {
        self.updates
    }

    /// The row at this step; what was summed starts anew.
    pub fn row(&mut self, step: u64, epsilon: Option<f64>) -> Metrics {
        let row = self.peek(step, epsilon);
        (self.sums, self.summed) = ([0.0; 4], 0);
        row
    }

    /// The row as it would be now.
    pub fn peek(&self, step: u64, epsilon: Option<f64>) -> Metrics {
        // 0/0 is NaN: nothing yet.
        let mean = |of: fn(&Episode) -> f64| self.last.iter().map(of).sum::<f64>() / self.last.len() as f64;
        let [loss, gradient_norm, mean_q, mean_sigma] = self.sums.map(|sum| sum / self.summed as f64);
        Metrics {
            step,
            episodes: self.episodes,
            updates: self.updates,
            train_return: mean(|episode| episode.total),
            train_clipped_return: mean(|episode| episode.clipped),
            episode_length: mean(|episode| episode.length as f64),
            loss,
            gradient_norm,
            mean_q,
            mean_sigma,
            epsilon: epsilon.unwrap_or(f64::NAN),
            own: vec![],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(reward: f64, terminated: bool) -> Step {
        Step { reward, terminated, ..Step::default() }
    }

    #[test]
    fn returns_are_those_of_the_last_hundred_episodes() {
        let mut stats = Stats::new(2);
        for i in 0..150 {
            stats.step(0, &step(1.0, false));
            stats.step(1, &step(f64::from(i), true));
        }
        let row = stats.row(300, None);
        assert_eq!((row.episodes, row.train_return, row.episode_length), (150, 99.5, 1.0));
        stats.step(0, &step(1.0, true));
        assert_eq!(stats.peek(301, None).episode_length, (99.0 + 151.0) / 100.0);
    }

    #[test]
    fn a_lost_life_ends_no_game() {
        let mut stats = Stats::new(1);
        for (reward, terminated, life_lost) in [(7.0, false, false), (-0.5, true, true), (0.0, true, false)] {
            assert_eq!(stats.peek(0, None).episodes, 0);
            stats.step(0, &Step { reward, terminated, life_lost, truncated: false });
        }
        let row = stats.peek(3, None);
        assert_eq!((row.episodes, row.episode_length), (1, 3.0));
        assert_eq!((row.train_return, row.train_clipped_return), (6.5, 0.0));
    }

    #[test]
    fn an_algorithm_has_columns_of_its_own() {
        let row = Metrics { own: vec![("a", 0.5), ("b", f64::NAN)], ..Metrics::default() };
        assert_eq!(row.csv(), "0,0,0,0,0,0,0,0,0,0,0,0.5,");
        assert_eq!(Metrics::header(&["a", "b"]), Metrics::header(&[]) + ",a,b");
    }

    #[test]
    fn interrupted_episodes_are_not_reported() {
        let mut stats = Stats::new(2);
        stats.step(0, &step(5.0, true));
        stats.step(0, &step(100.0, false));
        stats.step(1, &step(7.0, false));
        stats.interrupt(0);
        stats.step(0, &step(1.0, true));
        let row = stats.peek(4, None);
        assert_eq!((row.episodes, row.train_return, row.episode_length), (2, 3.0, 1.0));
        // The other environment goes on.
        stats.step(1, &step(2.0, true));
        assert_eq!(stats.peek(5, None).train_return, 5.0);
    }

    #[test]
    fn sums_start_anew_with_each_row() {
        let mut stats = Stats::new(1);
        assert_eq!(stats.row(0, Some(0.5)).csv(), "0,0,0,,,,,,,,0.5");
        let learned = |loss| Learned { loss, gradient_norm: 1.0, mean_q: 2.0, mean_sigma: f32::NAN };
        stats.learned(&learned(1.0));
        stats.learned(&learned(3.0));
        assert_eq!(stats.row(2, None).csv(), "2,0,2,,,,2,1,2,,");
        assert!(stats.peek(3, None).loss.is_nan());
    }
}

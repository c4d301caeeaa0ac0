//! What is worth a notice while a run trains: it goes on as it is, but somebody may want to know.

use adfq_deep::metrics::Metrics;
use adfq_deep::{Config, Digits};
use indicatif::HumanCount;

/// Rows of metrics in which σ has to be at its floor.
const ROWS: u32 = 3;
/// The share of the run over which the return has to stay where it is.
const LONG: f64 = 0.25;
/// The share of itself by which a return moves if it moves at all.
const MOVED: f64 = 0.01;

/// Settings were chosen for rewards of about 1. Those of LunarLander, up to 100, still do.
const LARGE_REWARD: f64 = 150.0;

/// What has been seen of a run so far.
pub struct Notices {
    /// The least σ that beliefs can have, and the setting that it follows from.
    floor: Option<(f64, String)>,
    rows_at_floor: u32,
    /// Since when the training return is where it is, and where that is.
    stands: Option<(u64, f64)>,
    /// Steps after which that is long.
    long: u64,
    /// Whether it was said that rewards are large.
    told_of_rewards: bool,
}

impl Notices {
    /// Nothing seen yet.
    pub fn new(config: &Config) -> Self {
        let min_var = config.own.get(&config.agent).and_then(|own| own.get("min_var")?.as_float());
        let floor = min_var.map(|min_var| (min_var.sqrt(), format!("{}.min_var", config.agent)));
        let long = (config.steps as f64 * LONG).ceil() as u64;
        Self { floor, rows_at_floor: 0, stands: None, long, told_of_rewards: false }
    }

    /// What there is to say after this row, with the size of the largest reward that learning has seen.
    pub fn see(&mut self, metrics: &Metrics, reward: f64) -> Vec<String> {
        self.sigma(metrics).into_iter().chain(self.standing(metrics)).chain(self.rewards(reward)).collect()
    }

    /// The prior, the Huber loss and the learning rate all depend on the scale of rewards.
    fn rewards(&mut self, largest: f64) -> Option<String> {
        if self.told_of_rewards || largest <= LARGE_REWARD {
            return None;
        }
        self.told_of_rewards = true;
        let largest = Digits(largest);
        Some(format!(
            "rewards are as large as {largest}, and settings are for about 1: divide them (--wrap), learn from their \
             signs (learning.clip_rewards=true), or raise learning.huber and the prior's sd"
        ))
    }

    fn sigma(&mut self, metrics: &Metrics) -> Option<String> {
        let (floor, setting) = self.floor.as_ref()?;
        // The network's σ is a float: a little more than the floor is the floor.
        let at_floor = metrics.mean_sigma <= floor * 1.05;
        self.rows_at_floor = if at_floor { self.rows_at_floor + 1 } else { 0 };
        let floor = Digits(*floor);
        (self.rows_at_floor == ROWS).then(|| {
            format!("σ is at its floor of {floor} ({setting}): the agent takes all it believes for certain")
        })
    }

    /// Said once for each place at which it stands.
    fn standing(&mut self, metrics: &Metrics) -> Option<String> {
        let now = metrics.train_return;
        if now.is_nan() {
            return None;
        }
        let (since, there) = *self.stands.get_or_insert((metrics.step, now));
        if (now - there).abs() > MOVED * there.abs() {
            self.stands = Some((metrics.step, now));
            return None;
        }
        if metrics.step - since < self.long {
            return None;
        }
        // Not again before it has moved.
        self.long = u64::MAX;
        let (since, there) = (HumanCount(since), Digits(there));
        Some(format!("the training return has stayed at {there} since step {since}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notices() -> Notices {
        Notices::new(&Config::for_env("cartpole").unwrap())
    }

    fn row(step: u64, train_return: f64, mean_sigma: f64) -> Metrics {
        Metrics { step, train_return, mean_sigma, ..Metrics::default() }
    }

    #[test]
    fn a_sigma_at_its_floor_is_told_once() {
        let (mut notices, floor) = (notices(), 1e-5_f64.sqrt());
        let sigmas = [1.0, floor, floor, 1.0, floor, floor, floor * 1.01, floor, floor];
        let said: Vec<_> =
            sigmas.iter().map(|&sigma| notices.see(&row(1, f64::NAN, sigma), 1.0).len()).collect();
        assert_eq!(said, [0, 0, 0, 0, 0, 0, 1, 0, 0]);
    }

    #[test]
    fn a_return_that_stands_still_is_told_once() {
        let mut notices = notices(); // 100,000 steps
        for (step, value, said) in
            [(1_000, f64::NAN, 0), (2_000, 20.0, 0), (26_000, 20.1, 0), (27_000, 20.1, 1), (28_000, 20.1, 0)]
        {
            let lines = notices.see(&row(step, value, 1.0), 1.0);
            assert_eq!(lines.len(), said, "{lines:?}");
        }
        let mut moving = self::notices();
        assert!((0..100).all(|i| moving.see(&row(1_000 * i, 1.02_f64.powi(i as i32), 1.0), 1.0).is_empty()));
    }
    #[test]
    fn large_rewards_are_told_once() {
        let mut notices = notices();
        let mut said = |reward| notices.see(&row(1, f64::NAN, 1.0), reward);
        assert!(said(1.0).is_empty() && said(100.0).is_empty());
        let lines = said(1e4);
        assert!(lines[0].starts_with("rewards are as large as 10,000,"), "{lines:?}");
        assert!(said(1e5).is_empty());
    }
}

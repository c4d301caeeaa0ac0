//! A learned table against the truth.

use super::LearnedState;
use crate::Result;
use crate::solve::Solved;
use adfq::mdp::{Mdp, average_reward};
use serde::Serialize;

/// How good a run was. States in which an agent can never find itself do not count.
///
/// ```
/// use adfq_lab::learn::{LearnSettings, learn};
///
/// let mdp = adfq::mdp::named("loop")?;
/// let score = learn(&mdp, &LearnSettings::for_mdp(&mdp), |_| {})?.score;
/// assert!(score.average_greedy <= score.average_optimal && score.average_optimal == 0.4);
/// # Ok::<(), adfq_lab::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Score {
    /// The reward per step while learning.
    pub average_learning: f64,
    /// The long-run reward per step of the greedy policy that was learned, computed from the model.
    pub average_greedy: f64,
    /// That of the optimal policy.
    pub average_optimal: f64,
    /// The share of states in which the greedy action is optimal.
    pub right: f64,
    /// The root of the mean squared difference between the means and Q*.
    pub rmse: f64,
    /// The share of Q* within one standard deviation of its belief; a calibrated belief has .683.
    pub within_one_sd: Option<f64>,
    /// The share within two; a calibrated belief has .954.
    pub within_two_sd: Option<f64>,
}

impl Score {
    pub(super) fn of(
        mdp: &Mdp,
        solved: &Solved,
        states: &[LearnedState],
        steps: u64,
        reward: f64,
    ) -> Result<Self> {
        let greedy: Vec<usize> = states.iter().map(|state| state.greedy).collect();
        let reached = || states.iter().filter(|state| state.reachable);
        let errors: Vec<f64> = reached().flat_map(|s| s.mean.iter().zip(&s.q).map(|(m, q)| m - q)).collect();
        let sds: Option<Vec<&Vec<f64>>> = reached().map(|s| s.sd.as_ref()).collect();
        let has_sds = sds.is_some();
        let within = |width: f64| {
            let sds = sds.iter().flat_map(|rows| rows.iter().copied().flatten());
            let inside = errors.iter().zip(sds).map(|(error, sd)| error.abs() <= width * sd);
            has_sds.then(|| share(inside))
        };
        Ok(Self {
            average_learning: if steps == 0 { 0.0 } else { reward / steps as f64 },
            average_greedy: average_reward(mdp, &greedy)?,
            average_optimal: solved.average_reward,
            right: share(reached().map(LearnedState::is_right)),
            rmse: (errors.iter().map(|e| e * e).sum::<f64>() / errors.len() as f64).sqrt(),
            within_one_sd: within(1.0),
            within_two_sd: within(2.0),
        })
    }
}

/// The share of `true`.
fn share(answers: impl Iterator<Item = bool>) -> f64 {
    let (yes, all) = answers.fold((0, 0), |(yes, all), answer| (yes + u32::from(answer), all + 1));
    f64::from(yes) / f64::from(all)
}

//! How long a trial is expected to take, so that a study can say so before it starts.
//!
//! The figures were measured on Maze with slip (see `docs/calibration.md`); another machine is off by a factor that is about
//! the same for all of them.

use crate::experiment::run::Trial;
use crate::learner::Learner;
use adfq::agent::NoiseModel;
use adfq::update::Rule;

/// Seconds of one trial in a domain with so many pairs (s,a).
pub fn seconds(trial: &Trial, pairs: usize) -> f64 {
    let pairs = pairs as f64;
    let look = 120e-9 * pairs;
    trial.steps as f64 * step(&trial.contender.learner, pairs) + trial.looks as f64 * look
}

/// Seconds of one step: acting, moving and learning.
fn step(learner: &Learner, pairs: f64) -> f64 {
    match learner {
        Learner::Adfq { replay: true, .. } => 4e-6,
        Learner::Adfq { rule: Rule::Exact, noise: NoiseModel::None, .. } => 3e-6,
        Learner::Adfq { rule: Rule::Exact, .. } => 6e-6,
        Learner::Adfq { .. } => 0.4e-6,
        Learner::QLearning { .. } => 0.1e-6,
        // One pass over the covariance of all pairs.
        Learner::KtdQ(_) => 1e-6 + 0.18e-3 * (pairs / 1_056.0) * (pairs / 1_056.0),
        Learner::BayesianQ { .. } => 18e-6,
        Learner::SplitStream { .. } => 0.3e-6,
        Learner::SplitAdfq { settings, .. } => 0.6e-6 + 0.5e-6 * f64::from(settings.sweeps),
    }
}

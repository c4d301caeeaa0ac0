//! How near beliefs are to the truth, at the end of a run and on the way there.

use super::share;
use crate::solve::Solved;
use adfq::Belief;
use adfq::agent::{Agent, Step};
use adfq::mdp::Mdp;
use serde::Serialize;

/// How near means and beliefs are to Q*, over some pairs of state and action. States in which an agent can never find itself
/// do not count.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Accuracy {
    /// How many pairs.
    pub pairs: u64,
    /// The root of the mean squared difference between the means and Q*.
    pub rmse: f64,
    /// The share of Q* within one standard deviation of its belief; a calibrated belief has .683.
    pub within_one_sd: Option<f64>,
    /// The share within two; a calibrated belief has .954.
    pub within_two_sd: Option<f64>,
}

impl Accuracy {
    /// Over the pairs that `counts` chooses.
    pub(super) fn of(agent: &dyn Agent, solved: &Solved, counts: impl Fn(usize, usize) -> bool) -> Self {
        let (mut errors, mut sds, mut believes) = (vec![], vec![], true);
        for (state, truth) in solved.states.iter().enumerate().filter(|(_, truth)| truth.reachable) {
            let beliefs = agent.beliefs(state);
            believes &= beliefs.is_some();
            let beliefs = beliefs.unwrap_or_default();
            for (action, (mean, q)) in agent.means(state).iter().zip(&truth.q).enumerate() {
                if counts(state, action) {
                    errors.push(mean - q);
                    sds.extend(beliefs.get(action).map(Belief::sd));
                }
            }
        }
        let within = |width: f64| {
            let inside = errors.iter().zip(&sds).map(|(error, sd)| error.abs() <= width * sd);
            believes.then(|| share(inside))
        };
        Self {
            pairs: errors.len() as u64,
            rmse: (errors.iter().map(|e| e * e).sum::<f64>() / errors.len() as f64).sqrt(),
            within_one_sd: within(1.0),
            within_two_sd: within(2.0),
        }
    }
}

/// What had been earned and learned after some steps of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Moment {
    /// The steps taken.
    pub step: u64,
    /// Episodes that had ended.
    pub episodes: u64,
    /// The rewards collected up to here, summed.
    pub reward: f64,
    /// Over all pairs.
    #[serde(flatten)]
    pub all: Accuracy,
    /// Over the pairs that had been tried.
    pub visited: Accuracy,
}

/// Follows a run: counts visits and looks at the beliefs from time to time.
pub(super) struct Record<'a> {
    solved: &'a Solved,
    /// For each state, how often each action was taken.
    pub visits: Vec<Vec<u64>>,
    pub curve: Vec<Moment>,
    episodes: u64,
    reward: f64,
}

impl<'a> Record<'a> {
    pub fn new(mdp: &Mdp, solved: &'a Solved) -> Self {
        let visits = vec![vec![0; mdp.actions()]; mdp.states()];
        Self { solved, visits, curve: vec![], episodes: 0, reward: 0.0 }
    }

    /// A step was taken.
    pub fn see(&mut self, step: &Step) {
        self.visits[step.state][step.action] += 1;
        self.episodes += u64::from(step.terminal);
        self.reward += step.reward;
    }

    /// Adds a moment to the curve.
    pub fn look(&mut self, step: u64, agent: &dyn Agent) {
        let tried = |state: usize, action: usize| self.visits[state][action] > 0;
        self.curve.push(Moment {
            step,
            episodes: self.episodes,
            reward: self.reward,
            all: Accuracy::of(agent, self.solved, |_, _| true),
            visited: Accuracy::of(agent, self.solved, tried),
        });
    }
}

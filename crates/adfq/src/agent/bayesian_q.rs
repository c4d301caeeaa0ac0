//! Bayesian Q-learning (Dearden, Friedman and Russell 1998): independent normal-gamma beliefs over the mean and
//! the precision of the return of every (s,a).
//!
//! A transition shows r + γR′, where R′, the return from the action with the largest mean in s′, is not seen but
//! believed in. [`Updating`] says how the belief about (s,a) takes that in. To act: [`Thompson`](crate::policy::Thompson)
//! is the paper's Q-value sampling, [`Vpi`](crate::policy::Vpi) its myopic-VPI.

mod mixture;
mod normal_gamma;

pub use normal_gamma::NormalGamma;

use super::table::{argmax, discount};
use super::{Agent, QTable, Step};
use crate::random::ChaCha8Rng;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// How a belief takes in a return that it only knows by another belief.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Updating {
    /// As though one return with the expected first two moments of r + γR′ had been seen: fast, but it takes the
    /// guess for an observation, and so grows sure too soon.
    #[default]
    Moment,
    /// The mixture of the posteriors after each possible R′, brought back to a normal-gamma law: slower, and
    /// careful with an uncertain R′.
    Mixture,
}

/// Bayesian Q-learning on a table.
///
/// ```
/// use adfq::agent::{Agent, BayesianQ, NormalGamma, Step, Updating};
///
/// let prior = NormalGamma::from_moments(0.0, 10.0, 1.0, 2.0)?;
/// let mut agent = BayesianQ::new(2, 2, 0.95, prior, Updating::Mixture)?;
/// let step = Step { state: 1, action: 0, reward: 2.0, next_state: 0, terminal: true };
/// for _ in 0..100 {
///     agent.update(&step)?;
/// }
/// assert!((agent.means(1)[0] - 2.0).abs() < 0.01 && agent.var(1, 0) < 0.01);
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct BayesianQ {
    /// The means of `beliefs`.
    table: QTable,
    discount: f64,
    updating: Updating,
    beliefs: Vec<NormalGamma>,
    steps: u64,
}

impl BayesianQ {
    /// A table in which every pair starts with the same belief.
    pub fn new(
        states: usize,
        actions: usize,
        gamma: f64,
        prior: NormalGamma,
        updating: Updating,
    ) -> Result<Self> {
        let prior = prior.checked()?;
        let table = QTable::new(states, actions, prior.mean)?;
        let beliefs = vec![prior; table.len()];
        Ok(Self { table, discount: discount(gamma)?, updating, beliefs, steps: 0 })
    }

    /// The belief about the return of (s,a).
    pub fn belief(&self, state: usize, action: usize) -> &NormalGamma {
        &self.beliefs[self.table.shape.index(state, action)]
    }
}

impl Agent for BayesianQ {
    #[inline]
    fn table(&self) -> &QTable {
        &self.table
    }

    /// Learns from one transition. [`Error::Diverged`] says that the new belief is none any more (a variance that
    /// overflowed, say); the old one is then kept.
    fn update(&mut self, step: &Step) -> Result<()> {
        self.table.check(step)?;
        self.steps += 1;
        let prior = self.belief(step.state, step.action);
        let posterior = if step.terminal {
            prior.posterior(step.reward, 0.0)
        } else {
            let next = self.belief(step.next_state, argmax(self.means(step.next_state)));
            let gamma = self.discount;
            match self.updating {
                Updating::Moment => {
                    prior.posterior(step.reward + gamma * next.mean, gamma * gamma * next.return_var())
                }
                Updating::Mixture => mixture::mixture(prior, step.reward, gamma, next),
            }
        };
        let posterior = posterior.checked().map_err(|error| match error {
            Error::Setting { name: quantity, value, .. } => {
                Error::Diverged { agent: "Bayesian Q-learning", step: self.steps, quantity, value }
            }
            other => other,
        })?;
        let pair = self.table.shape.index(step.state, step.action);
        (self.beliefs[pair], self.table.means[pair]) = (posterior, posterior.mean);
        Ok(())
    }

    fn var(&self, state: usize, action: usize) -> f64 {
        self.belief(state, action).var()
    }

    /// One draw from the Student-t marginal of Q(s,a).
    fn sample(&self, state: usize, action: usize, rng: &mut ChaCha8Rng) -> f64 {
        self.belief(state, action).sample(rng)
    }

    fn gain(&self, state: usize, action: usize, gap: f64) -> f64 {
        self.belief(state, action).gain(gap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::toy;
    use crate::policy::{EpsilonGreedy, Thompson, Vpi};
    use crate::random::stream;

    fn agent(states: usize, updating: Updating) -> BayesianQ {
        let prior = NormalGamma::from_moments(10.0, 100.0, 1.0, 1.5).unwrap();
        BayesianQ::new(states, 2, toy::DISCOUNT, prior, updating).unwrap()
    }

    #[test]
    fn mixture_updating_learns_the_values_of_loop() {
        let mut learner = agent(9, Updating::Mixture);
        toy::walk_loop(&mut learner, 20_000, &mut stream(1, "loop"));
        assert!(toy::loop_error(&learner) < 0.04, "{}", toy::loop_error(&learner));
    }

    /// The paper's finding: moment updating is sure of its first guesses, and values lag behind.
    #[test]
    fn moment_updating_lags_behind() {
        let mut learner = agent(9, Updating::Moment);
        let before = toy::loop_error(&learner);
        toy::walk_loop(&mut learner, 20_000, &mut stream(1, "loop"));
        let after = toy::loop_error(&learner);
        assert!(after > 0.5 && after < 0.6 * before, "{before} {after}");
    }

    #[test]
    fn both_find_the_better_ring_by_both_policies() {
        for updating in [Updating::Moment, Updating::Mixture] {
            let mut rng = stream(3, "ring");
            let (mut sampling, mut curious) = (agent(9, updating), agent(9, updating));
            toy::act_in_loop(&mut sampling, &mut Thompson, 5_000, &mut rng);
            toy::act_in_loop(&mut curious, &mut Vpi, 5_000, &mut rng);
            for mut learner in [sampling, curious] {
                let collected = toy::act_in_loop(&mut learner, &mut EpsilonGreedy::greedy(), 1_000, &mut rng);
                assert_eq!(collected, 400.0, "{updating:?}");
            }
        }
    }

    /// Every pull ends an episode, so the update is the exact posterior: mean, and variance of a pull, come out.
    #[test]
    fn learns_a_bandit() {
        let mut learner = agent(1, Updating::Mixture);
        let averages = toy::pull_bandit(&mut learner, 20_000, &mut stream(2, "bandit"));
        for (a, average) in averages.into_iter().enumerate() {
            let belief = learner.belief(0, a);
            assert!((belief.mean - average).abs() < 1e-4, "{} {average}", belief.mean);
            assert!((belief.noise_var() - average * (1.0 - average)).abs() < 0.001, "{}", belief.noise_var());
        }
    }

    #[test]
    fn an_overflow_is_divergence_and_keeps_the_belief() {
        let mut learner = agent(1, Updating::Moment);
        let step = Step { state: 0, action: 0, reward: 1e200, next_state: 0, terminal: true };
        let error = learner.update(&step);
        assert!(matches!(error, Err(Error::Diverged { step: 1, quantity: "beta", .. })), "{error:?}");
        assert_eq!(learner.means(0), [10.0, 10.0]);
    }
}

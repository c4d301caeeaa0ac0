//! Random MDPs, to try solvers and agents on problems nobody chose.

use super::{Mdp, MdpBuilder, MdpError, Outcome};
use crate::{Result, random::stream};
use rand::{Rng, RngExt};

/// Random MDPs of the Garnet kind (Archibald, McKinnon and Thomas 1995): every (s,a) leads to `branching` states.
///
/// The next states are distinct and uniform, their probabilities uniform on the simplex (a flat Dirichlet), the mean
/// rewards uniform on [−1, 1], and each outcome is terminal with probability `ending`. Episodes start in state 0. With
/// `sigma` each reward is its mean ± `sigma` with equal probability, in place of the normal noise of Bhatnagar et al.
/// (2009): the same mean and variance in a finite model.
///
/// ```
/// use adfq::mdp::Garnet;
///
/// let garnet = Garnet { states: 20, actions: 3, branching: 4, ..Garnet::default() };
/// let mdp = garnet.mdp(7)?;
/// assert_eq!(mdp.outcomes(5, 2).len(), 4);
/// assert_eq!(mdp, garnet.mdp(7)?);
/// assert_ne!(mdp, garnet.mdp(8)?);
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Garnet {
    /// Number of states.
    pub states: usize,
    /// Number of actions.
    pub actions: usize,
    /// Number of next states of every (s,a), at most the number of states.
    pub branching: usize,
    /// The probability that an outcome ends the episode.
    pub ending: f64,
    /// The standard deviation of a reward about its mean; at least 0.
    pub sigma: f64,
    /// The discount γ.
    pub gamma: f64,
}

impl Default for Garnet {
    /// Ten states, two actions, three next states each, continuing, rewards without noise, γ = .95.
    fn default() -> Self {
        Self { states: 10, actions: 2, branching: 3, ending: 0.0, sigma: 0.0, gamma: 0.95 }
    }
}

impl Garnet {
    /// The MDP drawn with this seed.
    pub fn mdp(&self, seed: u64) -> Result<Mdp> {
        self.check()?;
        let mut rng = stream(seed, "garnet");
        let mut mdp =
            MdpBuilder::new(format!("garnet-{seed}"), self.states, self.actions, self.gamma).start(0);
        let mut targets: Vec<usize> = (0..self.states).collect();
        for pair in 0..self.states * self.actions {
            let probabilities = flat_dirichlet(self.branching, &mut rng);
            for (i, probability) in probabilities.into_iter().enumerate() {
                // One step of a Fisher–Yates shuffle: the first few of a random order.
                targets.swap(i, rng.random_range(i..self.states));
                let reward = rng.random_range(-1.0..=1.0);
                let terminal = rng.random::<f64>() < self.ending;
                let outcome = Outcome { probability, next_state: targets[i], reward, terminal };
                let (state, action) = (pair / self.actions, pair % self.actions);
                self.noisy(outcome).into_iter().for_each(|outcome| mdp.add(state, action, outcome));
            }
        }
        mdp.build()
    }

    /// The outcome with its reward moved up and down by `sigma`. Without noise the two halves coincide and become one.
    fn noisy(&self, outcome: Outcome) -> [Outcome; 2] {
        [self.sigma, -self.sigma].map(|noise| Outcome {
            probability: 0.5 * outcome.probability,
            reward: outcome.reward + noise,
            ..outcome
        })
    }

    fn check(&self) -> Result<(), MdpError> {
        let wrong =
            |parameter, range, value| Err(MdpError::Parameter { domain: "garnet", parameter, range, value });
        if !(1..=self.states).contains(&self.branching) {
            return wrong("branching", "from 1 to the number of states", self.branching as f64);
        }
        if !(0.0..=1.0).contains(&self.ending) {
            return wrong("ending", "from 0 to 1", self.ending);
        }
        if !(self.sigma >= 0.0 && self.sigma.is_finite()) {
            return wrong("sigma", "finite and at least 0", self.sigma);
        }
        Ok(())
    }
}

/// Uniform on the simplex: exponential numbers divided by their sum.
fn flat_dirichlet<R: Rng>(count: usize, rng: &mut R) -> Vec<f64> {
    // 1 − u lies in (0, 1], and the added 1e-12 keeps every probability above 0.
    let mut weights: Vec<f64> = (0..count).map(|_| 1e-12 - libm::log(1.0 - rng.random::<f64>())).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|w| *w /= sum);
    weights
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mdp::{policy_iteration, value_iteration};
    use proptest::prelude::*;

    proptest! {
        /// Whatever is drawn is a valid MDP, solvable in two ways with one result.
        #[test]
        fn validate_and_solve(seed: u64, states in 1..30usize, actions in 1..5usize, spread in 0.0..1.0, ending in 0.0..1.0, gamma in 0.0..0.99) {
            let branching = 1 + ((states - 1) as f64 * spread) as usize;
            let mdp = Garnet { states, actions, branching, ending, gamma, ..Garnet::default() }.mdp(seed).unwrap();
            let exact = policy_iteration(&mdp).unwrap();
            let close = value_iteration(&mdp, 1e-11).unwrap();
            for (x, y) in exact.q.iter().zip(&close.q) {
                prop_assert!((x - y).abs() < 1e-10, "{x} {y}");
            }
            prop_assert_eq!(exact.policy, close.policy);
        }
    }

    #[test]
    fn noise_leaves_the_mean_and_has_its_variance() {
        let still = Garnet::default().mdp(3).unwrap();
        let noisy = Garnet { sigma: 0.5, ..Garnet::default() }.mdp(3).unwrap();
        assert_eq!(noisy.outcomes(4, 1).len(), 2 * still.outcomes(4, 1).len());
        assert!((noisy.mean_reward(4, 1) - still.mean_reward(4, 1)).abs() < 1e-12);
        let square =
            |mdp: &Mdp| mdp.outcomes(4, 1).iter().map(|o| o.probability * o.reward * o.reward).sum::<f64>();
        assert!((square(&noisy) - square(&still) - 0.25).abs() < 1e-12);
    }

    #[test]
    fn says_what_is_wrong() {
        let error = Garnet { states: 3, branching: 4, ..Garnet::default() }.mdp(0).unwrap_err();
        assert_eq!(
            error.to_string(),
            "garnet: branching must be from 1 to the number of states, but it is 4"
        );
    }
}

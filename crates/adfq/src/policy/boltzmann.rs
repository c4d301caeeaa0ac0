//! Boltzmann exploration: actions in proportion to e^(Q/T).

use super::{Policy, weighted};
use crate::Result;
use crate::agent::Agent;
use crate::agent::table::{maximum, setting};
use crate::random::ChaCha8Rng;
use smallvec::SmallVec;

/// Chooses action a with probability ∝ exp(μ(s,a)/T): greedy as the temperature T → 0, uniform as T → ∞.
///
/// ```
/// use adfq::policy::Boltzmann;
///
/// let chances = Boltzmann::new(0.5)?.probabilities(&[1000.0, 1000.5]);
/// assert!((chances[1] / chances[0] - 1.0_f64.exp()).abs() < 1e-12);
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Boltzmann {
    temperature: f64,
}

impl Boltzmann {
    /// A soft-max with a positive temperature.
    pub fn new(temperature: f64) -> Result<Self> {
        let good = temperature > 0.0 && temperature.is_finite();
        Ok(Self { temperature: setting("temperature", temperature, good, "positive and finite")? })
    }

    /// The probability of each action, given their means.
    pub fn probabilities(&self, means: &[f64]) -> Vec<f64> {
        let weights = self.weights(means);
        let sum: f64 = weights.iter().sum();
        weights.iter().map(|weight| weight / sum).collect()
    }

    /// Less the largest mean, no exponent is above 0: nothing overflows and the sum is at least 1.
    fn weights(&self, means: &[f64]) -> SmallVec<[f64; 16]> {
        let largest = maximum(means);
        means.iter().map(|mean| libm::exp((mean - largest) / self.temperature)).collect()
    }
}

impl<A: Agent + ?Sized> Policy<A> for Boltzmann {
    fn act(&mut self, agent: &A, state: usize, rng: &mut ChaCha8Rng) -> usize {
        weighted::draw(&self.weights(agent.means(state)), rng)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn probabilities_are_a_shift_free_ordered_distribution(
            means in prop::collection::vec(-1e3..1e3, 1..20),
            temperature in 1e-3..1e3,
            shift in -1e3..1e3,
        ) {
            let policy = Boltzmann::new(temperature).unwrap();
            let chances = policy.probabilities(&means);
            prop_assert!((chances.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let shifted = policy.probabilities(&means.iter().map(|m| m + shift).collect::<Vec<_>>());
            for (i, chance) in chances.iter().enumerate() {
                prop_assert!((0.0..=1.0).contains(chance));
                // A shift rounds means of 10³ by 10⁻¹³, which the temperature magnifies.
                prop_assert!((chance - shifted[i]).abs() < 1e-9);
                for (j, other) in chances.iter().enumerate() {
                    prop_assert!(means[i] < means[j] || chance >= other);
                }
            }
        }
    }

    #[test]
    fn a_cold_policy_is_greedy_and_a_bad_temperature_an_error() {
        assert_eq!(Boltzmann::new(1e-3).unwrap().probabilities(&[0.0, 1e6, 0.0]), [0.0, 1.0, 0.0]);
        for temperature in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Boltzmann::new(temperature).is_err());
        }
    }
}

//! Policies that draw an action with fixed chances: all alike, by the soft maximum of their means, or by their uncertainty.

use super::Policy;
use crate::Result;
use crate::agent::Agent;
use crate::agent::table::{maximum, setting};
use crate::random::ChaCha8Rng;
use rand::RngExt;
use smallvec::SmallVec;

/// Chooses every action with the same probability: the random walk, and the trajectories of the paper's first experiment.
///
/// ```
/// use adfq::agent::{LearningRate, QLearning};
/// use adfq::policy::{Policy, Uniform};
/// use adfq::random::stream;
///
/// let agent = QLearning::new(1, 3, 0.9, LearningRate::Inverse, 0.0)?;
/// let mut rng = stream(0, "uniform");
/// let mut seen = [false; 3];
/// (0..100).for_each(|_| seen[Uniform.act(&agent, 0, &mut rng)] = true);
/// assert_eq!(seen, [true; 3]);
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Uniform;

impl<A: Agent + ?Sized> Policy<A> for Uniform {
    #[inline]
    fn act(&mut self, agent: &A, _state: usize, rng: &mut ChaCha8Rng) -> usize {
        rng.random_range(0..agent.actions())
    }
}

/// Boltzmann exploration: chooses action a with probability ∝ exp(μ(s,a)/T): greedy as the temperature T → 0, uniform as T → ∞.
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
        draw(&self.weights(agent.means(state)), rng)
    }
}

/// The active learning scheme of KTD-Q (Geist and Pietquin 2010): chooses action a with probability ∝ the sd of the belief
/// over Q(s,a); the means play no part.
///
/// ```
/// use adfq::agent::{KtdQ, KtdSettings};
/// use adfq::policy::{Active, Policy};
/// use adfq::random::stream;
///
/// let agent = KtdQ::new(1, 2, 0.9, KtdSettings::default())?;
/// let mut rng = stream(0, "active");
/// let ones: usize = (0..1000).map(|_| Active.act(&agent, 0, &mut rng)).sum();
/// assert!((400..600).contains(&ones)); // equally unknown
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Active;

impl<A: Agent + ?Sized> Policy<A> for Active {
    fn act(&mut self, agent: &A, state: usize, rng: &mut ChaCha8Rng) -> usize {
        let sds: SmallVec<[f64; 16]> = (0..agent.actions()).map(|a| agent.var(state, a).sqrt()).collect();
        draw(&sds, rng)
    }
}

/// An index with probability ∝ its weight. Weights are not negative and not all 0 (if they are, the last index is
/// drawn).
fn draw(weights: &[f64], rng: &mut ChaCha8Rng) -> usize {
    let mut left = rng.random::<f64>() * weights.iter().sum::<f64>();
    for (index, weight) in weights.iter().enumerate() {
        left -= weight;
        if left < 0.0 {
            return index;
        }
    }
    // Rounding can leave a speck: it belongs to the last index that can be drawn at all.
    weights.iter().rposition(|&weight| weight > 0.0).unwrap_or(weights.len().saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;
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

    #[test]
    fn frequencies_follow_the_weights() {
        let (mut rng, mut counts) = (stream(1, "weights"), [0; 4]);
        (0..60_000).for_each(|_| counts[draw(&[1.0, 0.0, 2.0, 3.0], &mut rng)] += 1);
        // Expected 10,000, 0, 20,000 and 30,000 with sds of about 100.
        assert_eq!(counts[1], 0);
        for (count, expected) in [(counts[0], 10_000), (counts[2], 20_000), (counts[3], 30_000)] {
            assert!(i32::abs(count - expected) < 500, "{counts:?}");
        }
    }
}

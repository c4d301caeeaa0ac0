//! Every action alike: the random walk, and the off-policy trajectories of the paper's first experiment.

use super::Policy;
use crate::agent::Agent;
use crate::random::ChaCha8Rng;
use rand::RngExt;

/// Chooses every action with the same probability.
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

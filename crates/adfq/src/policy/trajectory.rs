//! A fixed list of actions: so that several agents can learn from one and the same trajectory.

use super::Policy;
use crate::agent::Agent;
use crate::random::ChaCha8Rng;
use crate::{Error, Result};

/// Replays a list of actions, whatever the state and the agent, and starts over at its end.
///
/// ```
/// use adfq::agent::{LearningRate, QLearning};
/// use adfq::policy::{Policy, Trajectory};
/// use adfq::random::stream;
///
/// let agent = QLearning::new(1, 3, 0.9, LearningRate::Inverse, 0.0)?;
/// let (mut replayed, mut rng) = (Trajectory::new(vec![2, 0])?, stream(0, "unused"));
/// let actions: Vec<usize> = (0..5).map(|_| replayed.act(&agent, 0, &mut rng)).collect();
/// assert_eq!(actions, [2, 0, 2, 0, 2]);
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    actions: Vec<usize>,
    next: usize,
}

impl Trajectory {
    /// The policy that replays `actions`, of which there must be at least one.
    pub fn new(actions: Vec<usize>) -> Result<Self> {
        if actions.is_empty() {
            return Err(Error::Setting { name: "actions of a trajectory", value: 0.0, need: "at least 1" });
        }
        Ok(Self { actions, next: 0 })
    }
}

impl<A: Agent + ?Sized> Policy<A> for Trajectory {
    fn act(&mut self, _agent: &A, _state: usize, _rng: &mut ChaCha8Rng) -> usize {
        let action = self.actions[self.next];
        self.next = (self.next + 1) % self.actions.len();
        action
    }
}

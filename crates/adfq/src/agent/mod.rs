//! What learns: tables of action values that one observed transition at a time changes.
//!
//! How an agent chooses what to do lives in [`policy`](crate::policy); what it acts in, in [`mdp`](crate::mdp).

mod adfq;
mod bayesian_q;
mod ktd_q;
mod prior;
mod q_learning;
mod replay;
mod split_adfq;
mod split_stream;
pub(crate) mod table;
#[cfg(test)]
mod toy;

pub use adfq::{Adfq, AdfqSettings, NoiseModel};
pub use bayesian_q::{BayesianQ, NormalGamma, Updating};
pub use ktd_q::{KtdQ, KtdSettings};
pub use prior::{Prior, Rewards};
pub use q_learning::{LearningRate, QLearning};
pub use replay::Replay;
pub use split_adfq::{Heir, SplitAdfq, SplitSettings};
pub use split_stream::{NoiseFrom, SplitStream, StreamSettings};

use crate::Result;
use rand::Rng;

/// One observed transition ⟨s, a, r, s′⟩, the τ of the paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The state s.
    pub state: usize,
    /// The action a taken there.
    pub action: usize,
    /// The reward r received.
    pub reward: f64,
    /// The state s′ reached. Where `terminal` is set nothing follows and its value is 0.
    pub next_state: usize,
    /// Whether the episode ended with this transition.
    pub terminal: bool,
}

/// An agent: an estimate of Q(s, ·) for every state, and a way to learn from a transition.
pub trait Agent {
    /// Number of states |S|.
    fn states(&self) -> usize;
    /// Number of actions |A|, the same in every state.
    fn actions(&self) -> usize;
    /// The current estimates (means, where the agent holds beliefs) of Q(s, ·), one per action.
    fn means(&self, state: usize) -> &[f64];
    /// Learns from one transition.
    fn update(&mut self, step: &Step) -> Result<()>;
}

/// An agent that knows how much it does not know: a belief over each Q(s,a).
pub trait Believer: Agent {
    /// The variance of the belief over Q(s,a).
    fn var(&self, state: usize, action: usize) -> f64;
    /// One draw from the belief over Q(s,a).
    fn sample<R: Rng>(&self, state: usize, action: usize, rng: &mut R) -> f64;
}

//! How an agent chooses what to do. Policies hold no values of their own: they read an agent's.

mod epsilon_greedy;
mod optimist;
mod thompson;
mod vpi;
mod weighted;

pub use epsilon_greedy::{Epsilon, EpsilonGreedy, best};
pub use optimist::Optimist;
pub use thompson::Thompson;
pub use vpi::Vpi;
pub use weighted::{Active, Boltzmann, Uniform};

use crate::agent::Agent;
use crate::random::ChaCha8Rng;

/// A way to choose an action in a state, given what an agent of type `A` believes.
///
/// The policies of this module are written for every `A`: for a known agent they are compiled together with it; a
/// `Box<dyn Policy>` takes any agent.
pub trait Policy<A: Agent + ?Sized = dyn Agent>: Send + Sync {
    /// The action to take in `state`.
    fn act(&mut self, agent: &A, state: usize, rng: &mut ChaCha8Rng) -> usize;
}

/// Any policy: one of this module, which is compiled together with the agent that follows it, or one of your own.
///
/// ```
/// use adfq::policy::{AnyPolicy, Uniform};
///
/// assert!(matches!(AnyPolicy::from(Uniform), AnyPolicy::Own(_))); // every policy can be made into one
/// ```
#[expect(missing_docs, reason = "each is named after the policy it holds")]
pub enum AnyPolicy {
    Active(Active),
    Boltzmann(Boltzmann),
    EpsilonGreedy(EpsilonGreedy),
    Optimist(Optimist),
    Thompson(Thompson),
    Uniform(Uniform),
    Vpi(Vpi),
    Own(Box<dyn Policy>),
}

impl<P: Policy + 'static> From<P> for AnyPolicy {
    fn from(policy: P) -> Self {
        Self::Own(Box::new(policy))
    }
}

impl<A: Agent + 'static> Policy<A> for Box<dyn Policy> {
    fn act(&mut self, agent: &A, state: usize, rng: &mut ChaCha8Rng) -> usize {
        (**self).act(agent, state, rng)
    }
}

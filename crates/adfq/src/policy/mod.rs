//! How an agent chooses what to do. Policies hold no values of their own: they read an agent's.

mod active;
mod boltzmann;
mod epsilon_greedy;
mod optimist;
mod thompson;
mod trajectory;
mod uniform;
mod vpi;
mod weighted;

pub use active::Active;
pub use boltzmann::Boltzmann;
pub use epsilon_greedy::{Epsilon, EpsilonGreedy, best};
pub use optimist::{Hopeful, Optimist};
pub use thompson::Thompson;
pub use trajectory::Trajectory;
pub use uniform::Uniform;
pub use vpi::{ValueOfInformation, Vpi, gaussian_gain};

use rand::Rng;

/// A way to choose an action in a state, given what an agent of type `A` believes.
pub trait Policy<A: ?Sized> {
    /// The action to take in `state`.
    fn act<R: Rng>(&mut self, agent: &A, state: usize, rng: &mut R) -> usize;
}

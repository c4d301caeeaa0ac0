//! How an agent chooses what to do. Policies hold no values of their own: they read an agent's.

use rand::Rng;

/// A way to choose an action in a state, given what an agent of type `A` believes.
pub trait Policy<A: ?Sized> {
    /// The action to take in `state`.
    fn act<R: Rng>(&mut self, agent: &A, state: usize, rng: &mut R) -> usize;
}

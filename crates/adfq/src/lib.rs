//! Assumed Density Filtering Q-learning (ADFQ): Q-learning that knows what it does not know.

pub mod agent;
mod belief;
mod error;
mod exponential;
mod normal;
pub mod mdp;
pub mod policy;
pub mod random;
pub mod update;

pub use belief::Belief;
pub use error::{Error, Result};

//! Assumed Density Filtering Q-learning (ADFQ): Q-learning that knows what it does not know.

pub mod agent;
mod belief;
mod error;
mod exponential;
pub mod mdp;
mod normal;
pub mod policy;
pub mod random;
mod special;
pub mod update;

pub use belief::Belief;
pub use error::{Error, Result};

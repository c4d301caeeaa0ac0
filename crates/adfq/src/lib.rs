//! Assumed Density Filtering Q-learning (ADFQ): Q-learning that knows what it does not know.

pub mod agent;
pub mod batch;
mod belief;
pub mod density;
mod error;
mod exponential;
mod maximum;
pub mod mdp;
mod normal;
pub mod policy;
pub mod random;
mod special;
pub mod update;

pub use belief::Belief;
pub use error::{Error, Result};
pub use maximum::MaxOfGaussians;

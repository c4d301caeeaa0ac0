//! Assumed Density Filtering Q-learning (ADFQ).

pub mod agent;
mod belief;
mod error;
pub mod policy;
pub mod random;
mod special;

pub use belief::Belief;
pub use error::{Error, Result};

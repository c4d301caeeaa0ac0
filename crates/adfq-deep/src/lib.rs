//! Deep ADFQ, Split ADFQ, DQN and Double DQN: [`replay`] → [`target`] → [`learner`] → [`trainer`], and [`checkpoint`]s.
//!
//! ```text
//! env ──observation──▶ network ──beliefs──▶ policy ──action──▶ env
//!  └──transition──▶ replay ──batch──▶ target (the ADFQ update) ──▶ loss ──▶ network
//! ```
//!
//! A [`Config`] decides everything; the same one gives the same bits at any number of threads and across a resume.
//! A [`run::Run`] is the folder that a training run leaves behind. Progress bars and plots live elsewhere.

pub mod checkpoint;
pub mod config;
#[cfg(feature = "cuda")]
pub mod cuda;
mod error;
pub mod evaluate;
mod host;
pub mod learner;
mod observation;
pub mod own_variance;
pub mod policy;
pub mod replay;
pub mod run;
pub mod split;
pub mod stats;
pub mod summary;
pub mod target;
pub mod trainer;

pub use config::Config;
pub use error::{Bytes, Error, Result};
pub use host::Host;
pub use trainer::{Observer, Trainer};

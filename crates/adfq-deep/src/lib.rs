//! Deep agents: what is learned ([`algorithm`]), from what ([`replay`]), where it is computed (`backend`), the loop
//! that joins them ([`Trainer`]), and the run folder that it leaves behind ([`run`]).
//!
//! ```text
//! env ──observation──▶ network ──beliefs──▶ policy ──action──▶ env
//!  └──transition──▶ replay ──batch──▶ algorithm (targets, loss) ──▶ network
//! ```
//!
//! Most users need two names: a [`Training`] trains, stops and resumes; an [`Agent`] is what was learned.
//!
//! ```
//! # let folder = tempfile::tempdir().unwrap();
//! # let folder = folder.path().join("run");
//! use adfq_deep::{Agent, Training};
//!
//! Training::new("cartpole").agent("adfq").steps(300).run(&folder)?;
//! let mut agent = Agent::load(&folder)?;
//! let decision = agent.act(&[0.0, 0.0, 0.05, 0.0])?;
//! assert_eq!(decision.beliefs.unwrap().len(), 2);
//! # Ok::<(), adfq_deep::Error>(())
//! ```
//!
//! A [`Config`] decides everything; the same one gives the same bits at any number of threads and across a resume.
//! Progress bars and plots live elsewhere.

mod agent;
pub mod algorithm;
pub mod backend;
pub mod config;
mod digits;
mod error;
pub mod evaluate;
pub mod export;
mod host;
pub mod learner;
pub mod metrics;
mod observation;
mod policy;
pub mod replay;
pub mod rollout;
pub mod run;
mod timeline;
mod trainer;
pub mod training;

pub use adfq_env as env;
pub use agent::{Agent, Decision};
pub use config::Config;
pub use digits::Digits;
pub use error::{Bytes, Error, Result};
pub use host::Host;
pub use run::{Best, Checkpoint, Restart, Run, RunFolder, Summary};
pub use timeline::Timeline;
pub use trainer::{Observer, Observers, Stop, Trainer};
pub use training::{Device, Training};

/// The README and the tutorials, whose examples are run like any other.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/tutorial-rust.md")]
    struct FromRust;
    #[doc = include_str!("../../../docs/tutorial-own-environment.md")]
    struct OwnEnvironment;
}

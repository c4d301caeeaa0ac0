//! Assumed Density Filtering Q-learning (ADFQ): Q-learning that knows what it does not know.
//!
//! ADFQ (Jeong, Zhang, Lee and Pappas) keeps a Gaussian [`Belief`] over every Q(s,a). After a transition the belief of
//! (s,a) is updated from the reward and the beliefs of *all* next actions, in closed form; the variance drives
//! exploration and sets the learning rate, and as it shrinks the update becomes Q-learning.
//!
//! | module | what lives there |
//! |---|---|
//! | [`update`] | the update rules: the paper's, exact moments, an even grid, and the split update, whose beliefs stay honest; noise; the Q-learning limit |
//! | [`MaxOfGaussians`], [`density`] | the distributions behind them, for tests and pictures |
//! | [`batch`] | the same updates over arrays |
//! | [`agent`], [`policy`] | tabular agents (ADFQ, Split ADFQ, Q-learning, KTD-Q, Bayesian Q-learning) and how they choose |
//! | [`mdp`] | finite MDPs with an exact model: domains, a simulator, solvers, files |
//! | [`spec`], [`run`] | agents and policies by name, and the loop in which they act and learn |
//! | [`random`] | named streams of random numbers |
//!
//! ```
//! use adfq::spec::{AgentKind, RunSpec};
//! use adfq::{MaxOfGaussians, mdp};
//!
//! // ADFQ with Thompson sampling on Loop.
//! let mdp = mdp::named("loop")?;
//! let mut session = RunSpec { seed: 7, ..RunSpec::of(AgentKind::Adfq, &mdp) }.session(&mdp)?;
//! session.run(10_000)?;
//! let beliefs = session.agent().beliefs(0).expect("ADFQ holds beliefs");
//! assert!(beliefs[1].mean() > beliefs[0].mean(), "the second ring pays more");
//! assert!(MaxOfGaussians::new(&beliefs)?.probabilities()?[1] > 0.99);
//! # Ok::<(), adfq::Error>(())
//! ```

/// The README, whose example is run like any other.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

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
pub mod run;
pub mod spec;
mod special;
pub mod update;

pub use belief::Belief;
pub use error::{Error, Result};
pub use maximum::MaxOfGaussians;
pub use run::Session;

/// The version of this crate, by which results computed with it can be told apart.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

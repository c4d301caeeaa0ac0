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
//! | [`random`] | named streams of random numbers |
//!
//! ```
//! use adfq::agent::{Adfq, AdfqSettings, Agent};
//! use adfq::policy::{Policy, Thompson};
//! use adfq::random::stream;
//! use adfq::{Belief, mdp};
//!
//! // Thompson sampling on Loop, from an optimistic prior.
//! let domain = mdp::named("loop")?;
//! let settings = AdfqSettings::default();
//! let prior = Belief::new(20.0, 100.0)?;
//! let mut agent = Adfq::new(domain.states(), domain.actions(), domain.gamma(), prior, settings)?;
//! let mut rng = stream(7, "example");
//! let mut state = domain.start(&mut rng);
//! for _ in 0..10_000 {
//!     let action = Thompson.act(&agent, state, &mut rng);
//!     let step = domain.step(state, action, &mut rng);
//!     agent.update(&step)?;
//!     state = if step.terminal { domain.start(&mut rng) } else { step.next_state };
//! }
//! assert!(agent.means(0)[1] > agent.means(0)[0], "the second ring pays more");
//! # Ok::<(), adfq::Error>(())
//! ```

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

/// The version of this crate, by which results computed with it can be told apart.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

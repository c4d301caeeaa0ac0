//! Finite Markov decision processes on which Q* is known.
//!
//! A domain states its transitions once, as an exact [`Mdp`]: the simulator samples from it ([`Mdp::step`]) and the
//! solver computes Q* from it ([`policy_iteration`]), so the two cannot disagree. The paper's domains and a few
//! others are ready made ([`named`]); a user's own comes from a [`mod@file`] or an [`MdpBuilder`].
//!
//! ```
//! use adfq::{mdp, random::stream};
//!
//! let mdp = mdp::named("loop")?;
//! let mut rng = stream(1, "docs");
//! let start = mdp.start(&mut rng);
//! let step = mdp.step(start, 1, &mut rng);
//! assert_eq!((step.state, step.next_state, step.reward), (0, 5, 0.0));
//!
//! let best = mdp::policy_iteration(&mdp)?;
//! assert_eq!(best.policy[start], 1);
//! # Ok::<(), adfq::Error>(())
//! ```

mod builder;
mod chain;
mod deep_sea;
mod error;
pub mod file;
mod grid;
mod layout;
mod linear;
mod loop_;
mod markov;
mod maze;
mod model;
mod random;
mod registry;
mod simple;
mod slip;
mod solve;

pub use builder::MdpBuilder;
pub use chain::chain;
pub use deep_sea::DeepSea;
pub use error::MdpError;
pub use grid::Grid;
pub use layout::Layout;
pub use loop_::loop_;
pub use markov::average_reward;
pub use maze::{maze, minimaze};
pub use model::{Mdp, Outcome};
pub use random::Garnet;
pub use registry::{closest, named, names, suggestion};
pub use simple::simple;
pub use solve::{Solution, policy_iteration, value_iteration};

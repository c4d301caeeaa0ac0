//! Finite Markov decision processes on which Q* is known.
//!
//! A domain states its transitions once, as an exact [`Mdp`]: the simulator samples from it ([`Mdp::step`]) and the
//! solver computes Q* from it ([`fn@solve`]), so the two cannot disagree. The paper's domains and a few
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
mod cliff_walking;
mod components;
mod deep_sea;
mod domains;
mod error;
pub mod file;
mod grid_world;
mod large;
mod layout;
mod linear;
mod markov;
mod model;
mod payments;
mod random_mdp;
mod registry;
mod reverse;
mod river_swim;
mod six_arms;
mod solve;
mod sparse;
mod taxi;

pub use builder::MdpBuilder;
pub use cliff_walking::cliff_walking;
pub use deep_sea::DeepSea;
pub use domains::{chain, loop_, maze, minimaze, simple};
pub use error::MdpError;
pub use grid_world::Grid;
pub use large::modified_policy_iteration;
pub use layout::Layout;
pub use markov::average_reward;
pub use model::{Mdp, Outcome};
pub use random_mdp::Garnet;
pub use registry::{closest, named, names, suggestion};
pub use river_swim::river_swim;
pub use six_arms::six_arms;
pub use solve::{Solution, policy_iteration, solve, value_iteration};
pub use taxi::taxi;

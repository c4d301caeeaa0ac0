//! Learning on a GPU: N runs at once, everything that repeats on the device.
//!
//! A [`Fleet`] is N runs with the same space, network and batch, each with its own seed, agent and numbers. Frames lie on the
//! device, once, as bytes; so do priorities, networks and optimisers. One gradient step of all runs is one launch of a
//! captured graph: draw, put observations together, three passes of the networks, targets, loss, backward, Adam, priorities.
//! The host pushes what happened in the environments, and reads metrics when they are there, without waiting.
//!
//! Which transitions can be sampled is decided on the host, by the same code as for [`Replay`](crate::replay::Replay), and
//! random numbers come from the same generators: draws are those of the CPU, bit for bit. Each run's numbers are the same
//! whoever shares its launches. Networks are [`adfq_nn::cuda`]'s. A [`Crew`] is the trainers of such runs: it acts, steps their
//! environments while the fleet learns, evaluates and brings checkpoints back.

mod acting;
mod crew;
mod fleet;
mod host;
mod memory;
mod raw;
mod saved;
mod sizes;
mod step;
mod timeline;
mod update;
mod watching;

pub use acting::Acting;
pub use crew::Crew;
pub use fleet::Fleet;
pub use memory::Drawn;
pub use timeline::Timeline;
pub use update::Updates;

//! Neural networks as flat buffers: a specification, forward and backward passes, Adam. No agent, no environment.
//!
//! A [`Spec`] says what a network is; a [`Network`] is a checked one and knows where each tensor lies in a flat buffer
//! of f32 that the caller owns. So a target network is a copy of a slice, an optimiser is one loop and a checkpoint is
//! one slice. Every pass has a leading axis of independent copies, and the memory it works in is a [`Workspace`].
//!
//! Results have the same bits at any number of threads, for any split of a batch into calls and at any vector width:
//! every sum has one fixed order.

mod adam;
mod conv;
#[cfg(feature = "cuda")]
pub mod cuda;
mod dense;
mod error;
mod head;
mod init;
mod kernel;
mod layout;
mod loss;
mod network;
mod normal;
mod pass;
mod size;
mod spec;
mod workspace;

pub use adam::{Adam, AdamSettings, Clip};
pub use error::{Error, Result};
pub use init::{Init, Output, Weights};
pub use loss::huber;
pub use network::{Network, Role, Tensor};
pub use size::Size;
pub use spec::{Head, Layer, Padding, Spec};
pub use workspace::Workspace;

//! The CUDA engine: the same networks, the same flat buffers, on a GPU.
//!
//! A [`Device`] is a GPU and its stream; an [`Engine`] holds the parameters, gradients and moments of N stacked copies of
//! a network; a [`Pass`] is the memory of forward (and backward) passes; a [`Graph`] replays what was once captured.
//! Kernels are written for each network when its engine is made, and compiled then (NVRTC), so the program builds
//! without CUDA and says what is missing when a device is opened.
//!
//! Products use the matrix units in TF32 (inputs rounded to 11 bits, sums in f32; bytes and their weights as f16, which has
//! as many bits; small perceptrons as good as f32), or f32 throughout in [`Precision::Full`]. Every sum has one fixed order, whatever the number of copies: the same bits twice, and for a copy
//! alone or beside others. They are not the bits of the CPU engine.
//!
//! What is learned (targets, losses) and where observations come from is for the caller.

mod backward;
mod buffer;
mod compile;
mod device;
mod engine;
mod forward;
mod graph;
mod kernels;
mod launch;
mod optimiser;
mod params;
mod pass;
mod plan;
mod resident;
mod source;

pub use buffer::Buffer;
pub use device::{Device, available};
pub use engine::{Engine, Observations, Precision, Stored, Which};
pub use graph::{Event, Graph};
pub use launch::{Kernel, Module, Scalar};
pub use pass::{Input, Pass, View};

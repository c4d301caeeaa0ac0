//! Atari games without Python.

mod action;
mod env;
mod games;
pub mod machine;
pub mod roms;
mod screen;

pub use action::Action;
pub use env::{Atari, Settings};
pub use games::{Game, Ram};
pub use screen::{SIDE, Screen};

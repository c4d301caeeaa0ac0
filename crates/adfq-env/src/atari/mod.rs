//! Atari games without Python: the console ([`machine`]), what ALE makes of a game's memory ([`Game`]), what an agent sees ([`Screen`]), where cartridges
//! come from ([`roms`]), and the environment of all these ([`Atari`]).
//!
//! Everything follows `ale-py`, byte for byte, without its source, which is under the GPL and was not read: from descriptions of the hardware,
//! and from watching what the package does.

mod action;
mod emulator;
mod env;
mod games;
pub mod machine;
pub mod palette;
pub mod roms;
mod screen;

pub use action::Action;
pub use emulator::Emulator;
pub use env::{Atari, Settings};
pub use games::{Game, Ram};
pub use palette::Palette;
pub use screen::{SIDE, Screen};

pub(crate) use emulator::env;

//! Atari games without Python.

pub mod machine;

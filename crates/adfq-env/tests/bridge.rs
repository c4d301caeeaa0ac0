//! The bridge against the real Gymnasium in a real Python: what crosses it, and all that can go wrong with it.
//!
//! `scripts/python.sh` installs what these tests need; without it they say so and pass, except in CI.

mod bridge {
    mod atari;
    mod crossing;
    mod failing;
    mod interpreter;
    pub mod python;
    mod reference;
    mod spaces;
    mod tables;
    mod wrappers;
}

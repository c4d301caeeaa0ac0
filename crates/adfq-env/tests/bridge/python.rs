//! Environments of the tests, and the Python that runs them.

pub use super::interpreter::python;
use adfq_env::{Args, Bridge, Maker};
use std::path::PathBuf;

/// An environment of `envs.py`, or of Gymnasium itself.
pub fn maker(python: PathBuf, name: &str, args: serde_json::Value) -> Maker {
    let args: Args = serde_json::from_value(args).unwrap();
    Maker { args, bridge: Bridge { python: Some(python), ..Bridge::default() }, ..Maker::new(name) }
}

/// An environment of `envs.py`: tests run in the folder of the crate, which is where Python looks first.
pub fn own(python: PathBuf, class: &str, args: serde_json::Value) -> Maker {
    maker(python, &format!("gym:tests.bridge.envs:{class}-v0"), args)
}

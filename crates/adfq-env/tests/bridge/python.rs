//! The Python of the tests.

use adfq_env::{Args, Bridge, Maker};
use std::path::{Path, PathBuf};

/// The interpreter that `scripts/python.sh` made, or the one named by `ADFQ_TEST_PYTHON`.
pub fn python() -> Option<PathBuf> {
    let made = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/python/bin/python");
    let named = std::env::var_os("ADFQ_TEST_PYTHON").map(PathBuf::from);
    let found = named.or_else(|| made.exists().then_some(made));
    if found.is_none() {
        assert!(std::env::var_os("CI").is_none(), "run scripts/python.sh first");
        println!("not tested: there is no Python with Gymnasium; scripts/python.sh installs it");
    }
    found
}

/// An environment of `envs.py`, or of Gymnasium itself.
pub fn maker(python: PathBuf, name: &str, args: serde_json::Value) -> Maker {
    let args: Args = serde_json::from_value(args).unwrap();
    Maker { args, bridge: Bridge { python: Some(python), ..Bridge::default() }, ..Maker::new(name) }
}

/// An environment of `envs.py`: tests run in the folder of the crate, which is where Python looks first.
pub fn own(python: PathBuf, class: &str, args: serde_json::Value) -> Maker {
    maker(python, &format!("gym:tests.bridge.envs:{class}-v0"), args)
}

//! The Python of the tests. The tests of other crates use this file too.

use std::path::{Path, PathBuf};

/// The interpreter that `scripts/python.sh` made, or the one named by `ADFQ_TEST_PYTHON`. Without either the tests that
/// need one say so and pass, except in CI.
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

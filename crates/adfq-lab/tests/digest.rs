//! The digest of the sources that the cache of trials rests on.

#[path = "../build.rs"]
#[expect(dead_code, reason = "its main is for Cargo")]
mod build;

use std::fs;
use std::path::PathBuf;
use tempfile::{TempDir, tempdir};

/// A folder with two sources, one of them in a folder of its own.
fn sources() -> (TempDir, [PathBuf; 1]) {
    let folder = tempdir().unwrap();
    fs::create_dir(folder.path().join("update")).unwrap();
    fs::write(folder.path().join("lib.rs"), "mod update;").unwrap();
    fs::write(folder.path().join("update/exact.rs"), "a + b").unwrap();
    let path = folder.path().to_owned();
    (folder, [path])
}

#[test]
fn every_change_of_a_source_changes_it() {
    let (folder, places) = sources();
    let first = build::digest(&places).unwrap();
    let (_other, elsewhere) = sources();
    assert_eq!(build::digest(&elsewhere).unwrap(), first, "where the sources lie does not count");

    let source = folder.path().join("update/exact.rs");
    fs::write(&source, "a - b").unwrap();
    let changed = build::digest(&places).unwrap();
    assert_ne!(changed, first, "another content");
    fs::write(&source, "a + b").unwrap();
    assert_eq!(build::digest(&places).unwrap(), first, "the content of before");
    fs::rename(&source, folder.path().join("update/noisy.rs")).unwrap();
    let renamed = build::digest(&places).unwrap();
    assert_ne!(renamed, first, "another name");
    fs::write(folder.path().join("new.rs"), "").unwrap();
    assert_ne!(build::digest(&places).unwrap(), renamed, "one more file");
}

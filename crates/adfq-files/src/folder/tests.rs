//! Folders in which a stranger has put something.

use super::*;
use crate::{Appender, Container, Lock};
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;
use tempfile::tempdir;

const NAME: &str = "metrics.csv";

/// Everything that can be done with a file in a folder.
fn uses(folder: &Folder) -> Vec<Error> {
    vec![
        folder.read(NAME).unwrap_err(),
        folder.len_of(NAME).unwrap_err(),
        folder.write(NAME, b"new").unwrap_err(),
        Appender::open_in(folder, NAME, 0).unwrap_err(),
        Appender::open_in(folder, NAME, 2).unwrap_err(),
        Container::read_in(folder, NAME, "checkpoint", 1).unwrap_err(),
        Container::new("checkpoint", 1).write_in(folder, NAME).unwrap_err(),
        folder.check_own(NAME).unwrap_err(),
    ]
}

#[test]
fn links_are_refused_and_what_they_lead_to_stays() {
    let dir = tempdir().unwrap();
    let (inside, outside) = (dir.path().join("run"), dir.path().join("diary.txt"));
    fs::create_dir(&inside).unwrap();
    fs::write(&outside, "dear diary").unwrap();
    symlink(&outside, inside.join(NAME)).unwrap();
    let folder = Folder::open(&inside).unwrap();
    for error in uses(&folder) {
        assert!(matches!(&error, Error::Link(path) if path.ends_with("run/metrics.csv")), "{error}");
    }
    symlink(&outside, inside.join(".lock")).unwrap();
    assert!(matches!(Lock::acquire(&inside), Err(Error::Link(_))));
    symlink(&outside, inside.join(".result.json.1-0.adfq-partial")).unwrap();
    assert!(matches!(folder.remove_stale(), Err(Error::Link(_))));
    assert_eq!(fs::read_to_string(&outside).unwrap(), "dear diary");
    assert_eq!(folder.names().unwrap().len(), 3);
}

#[test]
fn links_that_lead_nowhere_are_refused_too() {
    let dir = tempdir().unwrap();
    symlink(dir.path().join("nowhere"), dir.path().join(NAME)).unwrap();
    let folder = Folder::open(dir.path()).unwrap();
    assert!(uses(&folder).iter().all(|error| matches!(error, Error::Link(_))));
    assert!(folder.has(NAME) && !dir.path().join("nowhere").exists());
}

/// A pipe that nobody writes to: to open it would take for ever.
#[test]
fn pipes_and_folders_are_no_files() {
    let dir = tempdir().unwrap();
    let folder = Folder::open(dir.path()).unwrap();
    assert!(Command::new("mkfifo").arg(dir.path().join(NAME)).status().unwrap().success());
    for error in uses(&folder) {
        assert!(error.to_string().ends_with("metrics.csv is a pipe and not a file; take it away"), "{error}");
    }
    fs::remove_file(dir.path().join(NAME)).unwrap();
    fs::create_dir(dir.path().join(NAME)).unwrap();
    for error in uses(&folder) {
        assert!(matches!(error, Error::NotRegular { what: "a folder", .. }), "{error}");
    }
}

#[test]
fn a_folder_in_a_folder_is_no_link_and_no_file() {
    let dir = tempdir().unwrap();
    let folder = Folder::open(dir.path()).unwrap();
    fs::create_dir(dir.path().join("elsewhere")).unwrap();
    symlink(dir.path().join("elsewhere"), dir.path().join("checkpoints")).unwrap();
    assert!(matches!(folder.child("checkpoints"), Err(Error::Link(_))));
    assert!(matches!(folder.create_child("checkpoints"), Err(Error::Link(_))));
    fs::write(dir.path().join("file"), "").unwrap();
    assert!(matches!(folder.create_child("file"), Err(Error::Folder { .. })));
    folder.create_child("new").unwrap().write("a", b"1").unwrap();
    assert_eq!(folder.child("new").unwrap().read("a").unwrap(), b"1");
    // The way to the folder is the user's.
    let linked = Folder::open(dir.path().join("checkpoints")).unwrap();
    linked.write("a", b"2").unwrap();
    assert_eq!(fs::read(dir.path().join("elsewhere/a")).unwrap(), b"2");
}

#[test]
fn a_folder_that_is_gone_is_noticed_by_every_write() {
    let dir = tempdir().unwrap();
    let (here, there) = (dir.path().join("here"), dir.path().join("there"));
    for change in ["remove", "move", "replace"] {
        let folder = Folder::create(&here).unwrap();
        let mut log = Appender::open_in(&folder, NAME, 0).unwrap();
        log.write(b"1").unwrap();
        match change {
            "remove" => fs::remove_dir_all(&here).unwrap(),
            _ => fs::rename(&here, &there).unwrap(),
        }
        if change == "replace" {
            fs::create_dir(&here).unwrap();
        }
        for error in [log.write(b"2").unwrap_err(), folder.write("new", b"").unwrap_err()] {
            match change {
                "remove" => assert!(matches!(error, Error::Removed(_)), "{error}"),
                _ => assert!(matches!(error, Error::Moved(_)), "{error}"),
            }
            assert!(error.to_string().contains("here is gone: it was"), "{error}");
        }
        match change {
            "replace" => assert_eq!(fs::read_dir(&here).unwrap().count(), 0),
            _ => assert!(!here.exists()),
        }
        let _ = fs::remove_dir_all(&here);
        let _ = fs::remove_dir_all(&there);
    }
}

#[test]
fn a_log_that_was_replaced_is_noticed() {
    let dir = tempdir().unwrap();
    let folder = Folder::open(dir.path()).unwrap();
    let mut log = Appender::open_in(&folder, NAME, 0).unwrap();
    log.write(b"1").unwrap();
    fs::remove_file(dir.path().join(NAME)).unwrap();
    assert!(matches!(log.write(b"2"), Err(Error::Replaced(_))));
    fs::write(dir.path().join(NAME), "mine").unwrap();
    assert!(matches!(log.write(b"2"), Err(Error::Replaced(_))));
    assert_eq!(fs::read(dir.path().join(NAME)).unwrap(), b"mine");
}

//! What can go wrong, made to go wrong: each gives one clear line, and leaves no process behind.

use super::python::{Maker, maker, own, python};
use adfq_env::{EnvSpec, Error, Gym, Registry, make};
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Steps until something goes wrong, and says what.
fn fail(maker: &Maker) -> Error {
    let run = || -> adfq_env::Result<()> {
        let mut envs = maker.envs(2)?;
        envs.reset(0)?;
        loop {
            envs.step(&[0, 1])?;
        }
    };
    run().unwrap_err()
}

fn wrong(python: &Path, how: &str) -> Maker {
    own(python.to_owned(), "Wrong", json!({"how": how}))
}

#[test]
fn what_an_environment_raises_is_shown() {
    let Some(python) = python() else { return };
    let error = fail(&wrong(&python, "raise")).to_string();
    let first = error.lines().next().unwrap();
    assert_eq!(
        first,
        "gym:tests.bridge.envs:Wrong-v0 (environment 0) raised ZeroDivisionError: division by zero"
    );
    assert!(error.contains("Traceback") && error.contains("return 1 / 0"), "{error}");
    let error = fail(&wrong(&python, "reset")).to_string();
    assert!(error.contains("(environment 0) raised RuntimeError: no luck with resetting\n"), "{error}");
    let error = fail(&wrong(&python, "make")).to_string();
    assert!(error.contains("raised RuntimeError: no luck with making\n"), "{error}");
    let error = fail(&wrong(&python, "shape")).to_string();
    assert!(error.contains("reset gave an observation of shape (3,), the space promises (4,)"), "{error}");
    let error = fail(&wrong(&python, "nan")).to_string();
    assert!(error.contains("gave an observation that is not finite (environment 0)"), "{error}");
}

#[test]
fn a_worker_that_dies_or_hangs_is_an_error() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    for (how, said) in [
        ("kill", "died (signal: 9 (SIGKILL))"),
        ("exit", "died (exit status: 3)"),
        ("hang", "did not answer within 2 s, and its worker was ended"),
        ("sleep", "raise the limit (Gym::timeout)"),
    ] {
        for spin in [Gym::default().spin, false] {
            let pid = folder.path().join("pid");
            let mut maker = own(python.clone(), "Wrong", json!({"how": how, "pid": pid}));
            maker.gym = Gym { timeout: Duration::from_secs(2), spin, ..maker.gym };
            let error = fail(&maker).to_string();
            assert!(error.contains(said), "{error}");
            let worker = Path::new("/proc").join(fs::read_to_string(&pid).unwrap());
            assert!(!worker.exists(), "{how}: the worker is still there");
        }
    }
}

#[test]
fn what_cannot_be_made_is_said_in_one_line() {
    let Some(python) = python() else { return };
    let said = |maker: Maker| maker.env().err().unwrap().to_string();
    let gym = |name: &str| said(maker(python.clone(), name, json!({})));
    let counter = |kind: &str| said(own(python.clone(), "Counter", json!({"kind": kind})));
    for (message, parts) in [
        (gym("gym:CartPool-v1"), ["gym:CartPool-v1 cannot be made: ", "CartPole"]),
        (gym("gym:CartPole-v99"), ["gym:CartPole-v99 cannot be made: ", "v1"]),
        (gym("gym:no_such_module:Env-v0"), ["cannot be made", "no_such_module"]),
        (gym("gym:"), ["gym: cannot be made: ", "Malformed environment ID"]),
        (gym("atari:pongg"), ["there is no environment \"atari:pongg\"", "did you mean \"atari:pong\"?"]),
        (counter("dict"), ["the observations of gym:tests.bridge.envs:Counter-v0 are Dict(", "wrap"]),
        (counter("bits"), ["the observations of", "MultiBinary(4)"]),
        (counter("integers"), ["the observations of", "int32"]),
        (
            said(own(python.clone(), "Continuous", json!({}))),
            ["the actions of", "Box(-1.0, 1.0, (2,), float32)"],
        ),
    ] {
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
    let message = said(own(python.clone(), "Counter", json!({"no_such_argument": 1})));
    assert!(message.lines().next().unwrap().contains("no_such_argument"), "{message}");
}

#[test]
fn no_python_and_no_packages() {
    let missing = maker(PathBuf::from("no/such/python"), "gym:CartPole-v1", json!({}));
    let error = missing.env().err().unwrap().to_string();
    assert!(error.contains("tried no/such/python") && error.contains("(Gym::python)"), "{error}");

    let Some(python) = python() else { return };
    // The same Python without its packages.
    let folder = tempfile::tempdir().unwrap();
    let bare = folder.path().join("python");
    fs::write(&bare, format!("#!/bin/sh\nexec {} -I -S \"$@\"\n", python.display())).unwrap();
    fs::set_permissions(&bare, fs::Permissions::from_mode(0o755)).unwrap();
    for (name, package) in [("gym:CartPole-v1", "gymnasium>=1.0"), ("atari:pong", "ale-py>=0.12")] {
        let error = maker(bare.clone(), name, json!({})).env().err().unwrap().to_string();
        let remedy = format!("install it with: {} -m pip install '{package}'", bare.display());
        assert!(error.ends_with(&remedy), "{error}");
    }
}

#[test]
fn our_own_environments_take_no_arguments() {
    let args = serde_json::from_value(json!({"gravity": 1})).unwrap();
    let spec = EnvSpec { args, ..EnvSpec::new("cartpole") };
    let error = Registry::default().env(&spec).err().unwrap().to_string();
    assert!(error.starts_with("cartpole takes no arguments, but \"gravity\" was given"), "{error}");
    assert!(make("cartpole").is_ok());
}

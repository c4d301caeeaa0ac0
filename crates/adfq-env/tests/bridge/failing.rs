//! What can go wrong, made to go wrong: each gives one clear line, and leaves no process behind.

use super::python::{Maker, maker, own, python};
use adfq_env::{EnvSpec, Error, Gym, Registry, make};
use serde_json::json;
use std::fs;
use std::num::NonZeroUsize;
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
    assert!(error.contains("gave an observation of shape (3,), the space promises (4,)"), "{error}");
    let error = fail(&wrong(&python, "nan")).to_string();
    assert!(error.contains("gave an observation that is not finite (environment 0)"), "{error}");
}

/// Whatever is wrong, and whenever it comes, is said in one line.
#[test]
fn what_environments_give_is_checked() {
    let Some(python) = python() else { return };
    let given = |kind: &str, what: &str, value: &str, when: &str| {
        let maker =
            own(python.clone(), "Gives", json!({"kind": kind, "what": what, "value": value, "when": when}));
        let run = || -> adfq_env::Result<()> {
            let mut envs = maker.envs(2)?;
            envs.reset(0)?;
            (0..4).try_for_each(|_| envs.step(&[0, 1]).map(drop))
        };
        run().err().map(|error| error.to_string())
    };
    let observations = [
        ("float", "nan", "an observation that is not finite"),
        ("float", "infinite", "an observation that is not finite"),
        ("float", "overflowing", "an observation that is not finite"),
        ("float", "one", "an observation of shape (1,), the space promises (3,)"),
        ("float", "column", "an observation of shape (3, 1), the space promises (3,)"),
        ("float", "none", "an observation that is no array of numbers: None"),
        (
            "float",
            "object",
            "an observation that is no array of numbers: array([None, None, None], dtype=object)",
        ),
        ("float", "text", "an observation that is no array of numbers: 'abc'"),
        ("float", "ragged", "an observation that is no array of numbers: [[0], [1, 2], 3]"),
        ("bytes", "large", "an observation with the number 300, the space promises uint8"),
        ("bytes", "negative", "an observation with the number -1, the space promises uint8"),
        ("bytes", "fraction", "an observation with the number 1.5, the space promises uint8"),
        ("bytes", "nan", "an observation with the number nan, the space promises uint8"),
        ("bytes", "one", "an observation of shape (1,), the space promises (3,)"),
        ("discrete", "beyond", "the observation 6, the space promises 2 to 5"),
        ("discrete", "below", "the observation 1, the space promises 2 to 5"),
        ("discrete", "half", "an observation that is no integer: 2.5"),
        ("discrete", "none", "an observation that is no integer: None"),
    ];
    for (kind, value, said) in observations {
        let expected = format!(
            "gym:tests.bridge.envs:Gives-v0 gave {said} (environment 0): mend the environment, or wrap it"
        );
        for when in ["reset", "step", "end", "next"] {
            assert_eq!(given(kind, "observation", value, when), Some(expected.clone()), "{when}");
        }
    }
    for (what, value, said) in [
        ("reward", "nan", "the reward NaN, which is not finite as an f32"),
        ("reward", "none", "a reward that is no number: None"),
        ("reward", "array", "a reward that is no number: array([1.])"),
        ("reward", "text", "a reward that is no number: 'abc'"),
        ("reward", "huge", "which is not finite as an f32"),
        ("terminated", "array", "a value for terminated that is neither true nor false: array([1.])"),
        ("terminated", "none", "a value for terminated that is neither true nor false: None"),
        ("truncated", "two", "a value for truncated that is neither true nor false: 2"),
    ] {
        let error = given("float", what, value, "step").unwrap();
        assert!(error.contains(&format!("{said} (environment 0)")) && error.lines().count() == 1, "{error}");
    }
    // What is not quite as promised and yet beyond doubt is taken.
    for (kind, what, value) in [
        ("float", "observation", "list"),
        ("float", "observation", "doubles"),
        ("bytes", "observation", "list"),
        ("bytes", "observation", "doubles"),
        ("discrete", "observation", "scalar"),
        ("float", "reward", "integer"),
        ("float", "reward", "single"),
        ("float", "truncated", "truth"),
        ("float", "terminated", "integer"),
    ] {
        assert_eq!(given(kind, what, value, "step"), None, "{kind} {what} {value}");
    }
}

/// A worker that is gone is known to be gone, though a child of it holds its end of the socket. Its children go with it.
#[test]
fn children_end_with_their_worker() {
    let Some(python) = python() else { return };
    for (how, said) in [("raise", "ZeroDivisionError"), ("kill", "SIGKILL"), ("fork", "SIGKILL")] {
        for spin in [Gym::default().spin, false] {
            let folder = tempfile::tempdir().unwrap();
            let children = folder.path().join("children");
            let mut maker = own(python.clone(), "Parent", json!({"how": how, "child": children}));
            // A worker that counted as hung would say so after this time.
            maker.gym = Gym { timeout: Duration::from_secs(50), spin, ..maker.gym };
            let error = fail(&maker).to_string();
            assert!(error.contains(said), "{how}: {error}");
            let children = fs::read_to_string(children).unwrap();
            assert_eq!(children.lines().count(), 2);
            children.lines().for_each(|child| wait_until_gone(&Path::new("/proc").join(child)));
        }
    }
}

/// Waits until a process is gone, or a zombie that nobody has asked about.
fn wait_until_gone(process: &Path) {
    let state = || fs::read_to_string(process.join("status")).unwrap_or_default();
    while state().lines().any(|line| line.starts_with("State:") && !line.contains('Z')) {
        std::thread::yield_now();
    }
}

/// The environments of a worker that failed begin anew, and those of others go on.
#[test]
fn a_failed_worker_is_started_anew() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    for (how, spin) in [("raise", true), ("kill", true), ("hang", true), ("nan", true), ("raise", false)] {
        let mark = folder.path().join(format!("{how} {spin}"));
        let mut maker = own(python.clone(), "Once", json!({"how": how, "mark": mark}));
        let (workers, timeout) = (NonZeroUsize::new(2).unwrap(), Duration::from_secs(2));
        maker.gym = Gym { workers, timeout, spin: spin && Gym::default().spin, ..maker.gym };
        let mut envs = maker.envs(4).unwrap();
        envs.reset(0).unwrap();
        assert_eq!(envs.restart(1).unwrap(), None, "nothing has failed");
        (0..9).try_for_each(|_| envs.step(&[0; 4]).map(|_| ())).unwrap();
        let error = envs.step(&[0; 4]).unwrap_err();
        let restarted = envs.restart(1).unwrap().unwrap();
        assert!(restarted == (0..2) || restarted == (2..4), "{error} {restarted:?}");
        let steps = envs.finish().unwrap().to_vec();
        for (i, step) in steps.iter().enumerate() {
            assert_eq!(step.reward == 0.0, restarted.contains(&i), "{how}: {steps:?}");
        }
        // The new episodes are those of this seed.
        let mut others = maker.envs(4).unwrap();
        others.reset(1).unwrap();
        let bytes = envs.space().frame_bytes();
        let at = restarted.start * bytes..restarted.end * bytes;
        assert_eq!(envs.frames()[at.clone()], others.frames()[at.clone()]);
        let (now, then) = (envs.step(&[0; 4]).unwrap().to_vec(), others.step(&[0; 4]).unwrap());
        assert_eq!(now[restarted.clone()], then[restarted]);
        assert_eq!(envs.frames()[at.clone()], others.frames()[at]);
    }
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
    for (message, parts) in [
        (gym("gym:CartPool-v1"), ["gym:CartPool-v1 cannot be made: ", "CartPole"]),
        (gym("gym:CartPole-v99"), ["gym:CartPole-v99 cannot be made: ", "v1"]),
        (gym("gym:no_such_module:Env-v0"), ["cannot be made", "no_such_module"]),
        (gym("gym:"), ["gym: cannot be made: ", "Malformed environment ID"]),
        (gym("atari:pongg"), ["there is no environment \"atari:pongg\"", "did you mean \"atari:pong\"?"]),
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
    let cart = ("gym:CartPole-v1", json!({}), "gymnasium>=1.0");
    let pong = ("atari:pong", json!({"emulator": "ale"}), "ale-py>=0.12");
    for (name, args, package) in [cart, pong] {
        let error = maker(bare.clone(), name, args).env().err().unwrap().to_string();
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

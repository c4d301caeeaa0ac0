//! Atari on our own emulator as a user runs it: killed and resumed to the bit, and what is refused.

mod common;

#[path = "../../adfq-env/tests/bridge/interpreter.rs"]
mod interpreter;

use common::{complaint, record, succeed, text};
use interpreter::python;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::tempdir;

/// A run of some seconds that passes through everything.
const SHORT: [&str; 10] = [
    "steps=1200",
    "envs=2",
    "learning.warmup=200",
    "learning.batch=4",
    "learning.every=40",
    "replay.capacity=600",
    "logging.metrics=50",
    "logging.checkpoint=100",
    "evaluation.every=0",
    "evaluation.final_episodes=1",
];

fn adfq(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_adfq"));
    command.args(arguments).stdin(Stdio::null());
    command
}

fn train(folder: &Path, python: &Path, arguments: &[&str]) -> Command {
    let mut command = adfq(&["train", "atari:pong", "--keep-replay", "--out"]);
    command.arg(folder).arg("--python").arg(python).args(SHORT.iter().flat_map(|setting| ["--set", setting]));
    command.args(["--set", "evaluation.env_args.max_num_frames_per_episode=400"]).args(arguments);
    command
}

#[test]
fn pong_killed_and_resumed_ends_like_one_never_stopped() {
    let Some(python) = python() else { return };
    let folder = tempdir().unwrap();
    let (whole, killed) = (folder.path().join("whole"), folder.path().join("killed"));
    succeed(train(&whole, &python, &["--sticky"]));
    assert!(text(whole.join("config.toml")).contains("emulator = \"native\""));
    let mut run = train(&killed, &python, &["--sticky"]).stderr(Stdio::null()).spawn().unwrap();
    let lines = || std::fs::read_to_string(killed.join("metrics.csv")).map_or(0, |text| text.lines().count());
    while lines() < 10 && run.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    run.kill().unwrap();
    assert!(!run.wait().unwrap().success(), "it was to be killed");
    let mut resume = adfq(&["train", "--resume"]);
    resume.arg(&killed).arg("--python").arg(&python);
    succeed(resume);
    assert_eq!(record(&killed), record(&whole));
}

#[test]
fn what_cannot_be_played_is_said() {
    let folder = tempdir().unwrap();
    let roms = folder.path().to_str().unwrap();
    for (arguments, expected) in [
        (
            vec!["train", "cartpole", "--emulator", "native"],
            "--emulator is for the games of Atari (atari:GAME), and cartpole is none",
        ),
        (vec!["train", "atari:pacman", "--emulator", "native"], "atari:pacman cannot be played without ALE"),
        (
            vec!["train", "atari:pong", "--roms", roms],
            "no file there has the MD5 sum 60e0ea3cbe0913d39803477945e9e5ec",
        ),
        (vec!["train", "atari:pong", "--emulator", "stella"], "[possible values: native, ale]"),
        (vec!["train", "atari:pong", "--python", "no/such/python"], "there is no Python"),
    ] {
        let mut command = adfq(&arguments);
        command.current_dir(folder.path()).env_remove("ADFQ_ROMS");
        let said = complaint(command);
        assert!(said.contains(expected), "{said}");
    }
}

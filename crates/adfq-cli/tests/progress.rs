//! What is shown while runs train: lines where there is no terminal, bars where there is one.
#![cfg(unix)]

mod common;

use common::succeed;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::tempdir;

/// One row of metrics and one evaluation, at the end: what is shown before comes from a clock of its own.
const QUIET: [&str; 4] =
    ["steps=30000", "logging.metrics=30000", "evaluation.every=30000", "evaluation.final_episodes=2"];

fn train(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_adfq"));
    command.args(["train", "deepsea-6", "--agent", "dqn", "--out"]).arg(folder);
    command.args(QUIET.iter().flat_map(|setting| ["--set", setting])).args(arguments).stdin(Stdio::null());
    command
}

#[test]
fn without_a_terminal_a_line_says_how_far_the_run_is() {
    let dir = tempdir().unwrap();
    let output = succeed(train(&dir.path().join("run"), &["--progress", "0.001"]));
    let said = String::from_utf8(output.stderr).unwrap();
    let line = said.lines().rfind(|line| line.contains("steps/s, ") && line.contains(" left")).unwrap();
    assert!(line.starts_with("deepsea-6 dqn-epsilon seed 0: step "), "{line}");
    // It comes between rows of metrics.
    let between = |line: &str| line.contains("training return ") && !line.contains("step 30,000 of");
    assert!(said.lines().any(between), "{said}");
}

#[test]
fn several_runs_have_a_line_for_all() {
    let dir = tempdir().unwrap();
    let output = succeed(train(&dir.path().join("runs"), &["--seeds", "0..2", "--progress", "0.001"]));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("all 3 runs: step ") && said.contains(" of 90,000, "), "{said}");
}

/// The parts add up to the whole, in the file and in the line at the end, and lines on the way show them too.
#[test]
fn the_table_of_times_accounts_for_the_wall_clock() {
    let dir = tempdir().unwrap();
    let busy = [
        "--set",
        "logging.metrics=1000",
        "--set",
        "logging.checkpoint=1000",
        "--set",
        "evaluation.every=5000",
    ];
    let one = succeed(train(&dir.path().join("one"), &[&busy[..], &["--progress", "0.001"]].concat()));
    let several = succeed(train(&dir.path().join("several"), &[&busy[..], &["--seeds", "0..2"]].concat()));
    let of_several =
        std::fs::read_dir(dir.path().join("several")).unwrap().map(|entry| entry.unwrap().path());
    let folders: Vec<_> = of_several.chain([dir.path().join("one")]).collect();
    assert_eq!(folders.len(), 4);
    for folder in folders {
        let times = std::fs::read_to_string(folder.join("times.json")).unwrap();
        let times: serde_json::Value = serde_json::from_str(&times).unwrap();
        let parts = times["parts"].as_object().unwrap();
        let sum: f64 = parts.values().map(|part| part.as_f64().unwrap()).sum();
        let wall = times["wall"].as_f64().unwrap();
        assert!(sum >= 0.98 * wall && sum <= 1.001 * wall, "{times}");
        for part in [
            "start",
            "training",
            "evaluation",
            "logs",
            "taking checkpoints",
            "waiting for checkpoints",
            "end",
        ] {
            assert!(parts[part].as_f64().unwrap() > 0.0, "{part}: {times}");
        }
    }
    let said = |output: std::process::Output| String::from_utf8(output.stderr).unwrap();
    let (one, several) = (said(one), said(several));
    let table =
        |said: &str, begins: &str| said.lines().any(|line| line.starts_with(begins) && line.contains(" %)"));
    assert!(table(&one, "where the time went: "), "{one}");
    assert!(table(&several, "where the time of the runs went: "), "{several}");
    assert!(one.lines().any(|line| line.contains(" left") && line.contains("; time: ")), "{one}");
}

#[test]
fn the_interval_must_be_one() {
    let dir = tempdir().unwrap();
    for seconds in ["0", "-1", "nan", "soon"] {
        let error = common::complaint(train(&dir.path().join("run"), &[&format!("--progress={seconds}")]));
        assert!(error.contains("is no number of seconds above 0"), "{error}");
    }
}

/// `script` lends a terminal. A dumb one gets lines, and a narrow one fewer words.
#[test]
fn on_a_terminal_a_bar_moves_between_rows_of_metrics() {
    let dir = tempdir().unwrap();
    for (term, columns, bars, words) in
        [("xterm", 140, true, "steps/s, "), ("dumb", 140, false, ""), ("xterm", 80, false, "%, ")]
    {
        let run = dir.path().join(format!("{term}-{columns}"));
        let line = format!("{:?}", train(&run, &[])).replace('"', "'");
        let line = format!("stty rows 40 cols {columns}; {line}");
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).env("TERM", term).stdin(Stdio::null());
        let Ok(output) = command.output() else {
            eprintln!("skipped: there is no program `script` here");
            return;
        };
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{shown}");
        assert_eq!(shown.contains("█"), bars, "{shown}");
        assert!(shown.contains(words), "{shown}");
        if columns == 80 {
            assert!(shown.contains(", return ") && shown.contains("/s, "), "{shown}");
        }
        assert!(run.join("result.json").exists());
    }
}

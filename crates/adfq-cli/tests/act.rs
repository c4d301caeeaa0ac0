//! `adfq act` from the outside: a program that has an environment of its own talks to a trained agent.

mod common;

use common::{refused, succeed};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tempfile::tempdir;

fn adfq(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_adfq"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Trains for a moment: what is learned does not matter here.
fn train(run: &Path, env: &str, agent: &str) {
    let mut command = adfq(&["train", env, "--agent", agent, "--steps", "300", "--out"]);
    command.arg(run).args([
        "--set",
        "learning.warmup=100",
        "--set",
        "evaluation={every=300, episodes=1, final_episodes=1, max_steps=50}",
    ]);
    succeed(command);
}

fn act(run: &Path) -> Child {
    adfq(&["act"]).arg(run).spawn().unwrap()
}

/// Gives all lines at once and returns the answers.
fn answers(run: &Path, lines: &[&str]) -> Vec<Value> {
    let mut child = act(run);
    child.stdin.take().unwrap().write_all((lines.join("\n") + "\n").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn answers_come_line_by_line_and_end_with_the_input() {
    let folder = tempdir().unwrap();
    let run = folder.path().join("run");
    train(&run, "cartpole", "adfq");
    let mut child = act(&run);
    let (mut input, mut output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    // Each answer is there before the next line is given.
    for position in ["0.01", "0.5"] {
        writeln!(input, "[{position}, -0.02, 0.03, 0.04]").unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        let numbers = |key: &str| -> Vec<f64> {
            answer[key].as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
        };
        let (mean, sd) = (numbers("mean"), numbers("sd"));
        assert!(mean.len() == 2 && sd.len() == 2 && sd.iter().all(|&sd| sd > 0.0), "{line}");
        assert_eq!(answer["action"], usize::from(mean[1] > mean[0]), "{line}");
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

/// What `act` says of an observation is what `eval` believes of it.
#[test]
fn beliefs_are_those_of_an_evaluation() {
    let folder = tempdir().unwrap();
    let (run, csv) = (folder.path().join("run"), folder.path().join("beliefs.csv"));
    // A state of DeepSea can be written down: the agent stands in the first row, then in the second.
    train(&run, "deepsea-3", "dqn");
    let mut eval = adfq(&["eval", "--episodes", "1"]);
    succeed({
        eval.arg(&run).arg("--beliefs").arg(&csv);
        eval
    });
    let table = std::fs::read_to_string(csv).unwrap();
    let first: Vec<f64> =
        table.lines().nth(1).unwrap().split(',').map(|cell| cell.parse().unwrap()).collect();
    let answer = &answers(&run, &["[1, 0, 0, 0, 0, 0, 0, 0, 0]"])[0];
    assert_eq!(answer["action"], first[2] as u64);
    for action in 0..2 {
        assert!((answer["mean"][action].as_f64().unwrap() - first[3 + action]).abs() < 1e-6, "{answer}");
    }
    assert!(answer["sd"].is_null(), "{answer}");
}

#[test]
fn a_bad_line_is_answered_and_the_next_one_read() {
    let folder = tempdir().unwrap();
    let run = folder.path().join("run");
    train(&run, "deepsea-3", "dqn");
    let good = "[[[1], [0], [0]], [[0], [0], [0]], [[0], [0], [0]]]";
    let answered = answers(
        &run,
        &[
            good,
            "[1, 0",
            "",
            "[1, 0, 0]",
            "[0.5, 0, 0, 0, 0, 0, 0, 0, 0]",
            r#"{"reset": true}"#,
            r#"{"reset": true, "observation": [1, 0, 0, 0, 0, 0, 0, 0, 0]}"#,
        ],
    );
    assert_eq!(answered.len(), 6);
    let lines: Vec<&Value> = answered[1..4].iter().map(|answer| &answer["line"]).collect();
    assert_eq!(lines, [2, 4, 5], "{answered:?}");
    assert_eq!(answered[2]["error"], "an observation has 9 numbers, and here are 3");
    assert_eq!(answered[4], serde_json::json!({ "reset": true }));
    assert_eq!(answered[5], answered[0]);
}

#[test]
fn a_reader_that_has_seen_enough_ends_it_quietly() {
    let folder = tempdir().unwrap();
    let run = folder.path().join("run");
    train(&run, "cartpole", "dqn");
    let mut child = act(&run);
    drop(child.stdout.take());
    let mut input = child.stdin.take().unwrap();
    // The pipe breaks on either side: whoever writes on finds it closed.
    while writeln!(input, "[0, 0, 0, 0]").is_ok() {}
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn what_is_no_run_says_so() {
    assert!(refused(&["act", "nowhere"]).contains("nowhere"));
}

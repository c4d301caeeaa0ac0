//! `adfq bench` from the outside. How fast anything is is not tested.

#[path = "../../adfq-env/tests/bridge/interpreter.rs"]
mod interpreter;

mod common;

use common::{printed, refused};
use serde_json::Value;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn rows_as_text() {
    let text = printed(&["bench", "--quick", "--only", "push,env deepsea-10"]);
    assert!(text.starts_with("adfq ") && text.contains(" on "), "{text}");
    let names: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("  "))
        .filter_map(|line| line.split("  ").next())
        .filter(|name| !name.is_empty())
        .collect();
    let seas = ["env deepsea-10", "env deepsea-10-stochastic", "env deepsea-10-shuffled-1"];
    assert_eq!(names, [&["replay push"], &seas[..]].concat(), "{text}");
    assert!(text.contains("\nreplay\n") && text.contains("\nenvironments\n"), "{text}");
}

#[test]
fn rows_as_json() {
    let only = "mlp,env cartpole,train cartpole dqn 64-64";
    let text = printed(&["bench", "--quick", "--json", "--threads", "1", "--only", only]);
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: HashSet<&str> = rows.iter().filter_map(|row| row["name"].as_str()).collect();
    assert_eq!(names.len(), rows.len());
    for name in
        ["gradient step mlp 4-64-64", "forward mlp 4-64-64", "env cartpole", "train cartpole dqn 64-64"]
    {
        assert!(names.contains(name), "{name} in {text}");
    }
    for row in &rows {
        let number = |field: &str| row[field].as_f64().unwrap_or_else(|| panic!("{field} in {row}"));
        assert_eq!(number("threads"), 1.0);
        assert!(number("min_us") > 0.0 && number("median_us") >= number("min_us"), "{row}");
        assert!((number("steps_per_s") * number("median_us") / 1e6 - 1.0).abs() < 1e-9, "{row}");
        assert!(row["cpu"].is_string() && number("processors") >= 1.0 && row["version"].is_string(), "{row}");
    }
    let training = rows.iter().find(|row| row["group"] == "end to end").unwrap();
    assert_eq!((&training["operations"], &training["gradient_steps"]), (&20_000.into(), &4_750.into()));
}

/// A virtual environment with Gymnasium and without ale-py.
fn without_atari(folder: &Path, python: &Path) {
    let made = Command::new(python).args(["-m", "venv", "--without-pip"]).arg(folder).status().unwrap();
    assert!(made.success());
    let site = |bin: &Path| {
        let code = "import sysconfig; print(sysconfig.get_path('purelib'), end='')";
        PathBuf::from(
            String::from_utf8(Command::new(bin).args(["-c", code]).output().unwrap().stdout).unwrap(),
        )
    };
    let (from, to) = (site(python), site(&folder.join("bin/python")));
    for package in std::fs::read_dir(from).unwrap() {
        let package = package.unwrap();
        if !package.file_name().to_string_lossy().starts_with("ale_py") {
            std::os::unix::fs::symlink(package.path(), to.join(package.file_name())).unwrap();
        }
    }
}

#[test]
fn what_is_left_out_is_what_is_not_there() {
    let Some(python) = interpreter::python() else { return };
    let folder = tempfile::tempdir().unwrap();
    without_atari(folder.path(), &python);
    let bench = |env: &Path, only: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_adfq"));
        command.args(["bench", "--quick", "--json", "--only", only]).env("VIRTUAL_ENV", env);
        let output = command.output().unwrap();
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).unwrap();
        let row =
            |line: &str| serde_json::from_str::<Value>(line).unwrap()["name"].as_str().unwrap().to_owned();
        (text.lines().map(row).collect::<Vec<_>>(), String::from_utf8(output.stderr).unwrap())
    };
    let (rows, said) = bench(folder.path(), "bridge cartpole,bridge pong");
    assert_eq!(rows, ["bridge cartpole, 1 envs", "bridge cartpole, 8 envs", "bridge cartpole, 64 envs"]);
    let missing = "bridge pong, 1 envs; bridge pong, 8 envs; bridge pong, 64 envs";
    assert!(
        said.starts_with(&format!("without 3 of 6 rows of the bridge ({missing}): atari:pong needs")),
        "{said}"
    );
    let (rows, said) = bench(folder.path(), "bridge pong,replay push");
    assert_eq!(rows, ["replay push"]);
    assert!(said.starts_with("without the rows of the bridge: "), "{said}");
}

#[test]
fn mistakes_are_explained_in_one_line() {
    let error = refused(&["bench", "--only", "replay,atary"]);
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(
        error.starts_with("error: nothing is called \"atary\"; choose from: gradient step mlp"),
        "{error}"
    );
    assert!(
        error.contains(", env cartpole, ") && error.ends_with("train minatar breakout adfq\n"),
        "{error}"
    );
    assert!(refused(&["bench", "--threads", "0"]).contains("--threads"));
    assert!(printed(&["bench", "--help"]).contains("Examples:"));
}

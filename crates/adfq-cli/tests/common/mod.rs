//! Runs the program as a user would.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What one run of the program printed.
#[allow(dead_code, reason = "each test file is a program of its own, and not all of them need it")]
pub struct Outcome {
    pub success: bool,
    pub stdout: String,
    pub stderr: String,
}

/// Runs `adfq` with these arguments in a folder.
#[allow(dead_code, reason = "each test file is a program of its own, and not all of them need it")]
pub fn adfq_in(folder: &Path, arguments: &[&str]) -> Outcome {
    let output =
        Command::new(env!("CARGO_BIN_EXE_adfq")).args(arguments).current_dir(folder).output().unwrap();
    Outcome {
        success: output.status.success(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The standard output of a run that must succeed.
#[allow(dead_code, reason = "each test file is a program of its own, and not all of them need it")]
pub fn printed(arguments: &[&str]) -> String {
    let outcome = adfq_in(Path::new("."), arguments);
    assert!(outcome.success, "{arguments:?}: {}", outcome.stderr);
    outcome.stdout
}

/// The error of a run that must fail, and print nothing else.
#[allow(dead_code, reason = "each test file is a program of its own, and not all of them need it")]
pub fn refused(arguments: &[&str]) -> String {
    let outcome = adfq_in(Path::new("."), arguments);
    assert!(!outcome.success && outcome.stdout.is_empty(), "{arguments:?}: {}", outcome.stdout);
    outcome.stderr
}

/// What a command that must succeed has said.
#[allow(dead_code, reason = "each test file is a program of its own, and not all of them need it")]
#[track_caller]
pub fn succeed(mut command: Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// What a command that must fail has said.
#[allow(dead_code, reason = "each test file is a program of its own, and not all of them need it")]
#[track_caller]
pub fn complaint(mut command: Command) -> String {
    let output = command.output().unwrap();
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).unwrap()
}

/// The command with one more argument.
#[allow(dead_code, reason = "each test file is a program of its own, and not all of them need it")]
pub fn with(mut command: Command, argument: &str) -> Command {
    command.arg(argument);
    command
}

/// What a command that must succeed has said to people.
#[allow(dead_code, reason = "each test file is a program of its own, and not all of them need it")]
#[track_caller]
pub fn said(command: Command) -> String {
    String::from_utf8(succeed(command).stderr).unwrap()
}

/// What a file holds.
#[allow(dead_code, reason = "each test file is a program of its own, and not all of them need it")]
pub fn text(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap()
}

/// The files of a run folder that say what the run was; `result.json` holds digests of parameters and replay memory.
#[allow(dead_code, reason = "each test file is a program of its own, and not all of them need it")]
pub fn record(folder: &Path) -> [String; 3] {
    ["result.json", "metrics.csv", "evaluations.csv"].map(|name| text(folder.join(name)))
}

/// The files in `checkpoints` whose names begin so, in their order.
#[allow(dead_code, reason = "each test file is a program of its own, and not all of them need it")]
pub fn saved(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.join("checkpoints")).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> =
        entries.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(prefix)).collect();
    found.sort();
    found
}

/// A small MDP as a user would write it.
#[allow(dead_code, reason = "each test file is a program of its own, and not all of them need it")]
pub const GARDEN: &str = "\
# gamma: 0.9
# start: home
state,action,probability,next_state,reward,terminal
home,stay,1,home,1,false
home,leave,0.8,away,5,true
home,leave,0.2,home,0,false
";

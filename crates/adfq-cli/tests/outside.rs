//! Training in environments of Gymnasium and Atari, with the real packages: runs that are killed, whose workers are
//! killed, raise or hang, and what they leave behind.
//!
//! `scripts/python.sh` installs what these tests need; without it they say so and pass, except in CI.

#[path = "../../adfq-env/tests/bridge/interpreter.rs"]
mod interpreter;

mod common;

use common::{complaint, succeed};
use interpreter::python;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::tempdir;

/// Some thousand steps of Atari in a test: small batches, few of them, and evaluations that end.
const SHORT: [&str; 10] = [
    "steps=2400",
    "envs=4",
    "learning.warmup=800",
    "learning.batch=8",
    "learning.every=16",
    "logging.metrics=80",
    "logging.checkpoint=400",
    "evaluation.every=1200",
    "evaluation.final_episodes=1",
    "evaluation.max_steps=150",
];

/// The program, run where Python finds `tests.bridge.envs`.
fn adfq(arguments: &[&str], python: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_adfq"));
    command.arg(arguments[0]).arg("--python").arg(python).args(&arguments[1..]).stdin(Stdio::null());
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../adfq-env"));
    command
}

fn train(env: &str, settings: &[&str], folder: &Path, python: &Path) -> Command {
    let mut command = adfq(&["train", env, "--out"], python);
    command.arg(folder).args(settings.iter().flat_map(|setting| ["--set", setting]));
    command
}

fn resume(folder: &Path, python: &Path) -> Command {
    let mut command = adfq(&["train", "--resume"], python);
    command.arg(folder);
    command
}

/// Waits until `metrics.csv` has this many lines.
fn wait_for(lines: usize, folder: &Path, run: &mut Child) {
    let count = || fs::read_to_string(folder.join("metrics.csv")).map_or(0, |text| text.lines().count());
    while count() < lines && run.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
}

/// The processes that this one has started, by their folders in /proc.
fn children(parent: u32) -> Vec<PathBuf> {
    let own = |path: &Path| {
        let status = fs::read_to_string(path.join("status")).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
        line.trim().parse().ok().filter(|&found: &u32| found == parent)
    };
    let folders = fs::read_dir("/proc").unwrap().filter_map(|entry| Some(entry.ok()?.path()));
    folders.filter(|path| own(path).is_some()).collect()
}

/// Waits until a process is gone, or a zombie that nobody has asked about.
fn wait_until_gone(process: &Path) {
    let state = || fs::read_to_string(process.join("status")).unwrap_or_default();
    while state().lines().any(|line| line.starts_with("State:") && !line.contains('Z')) {
        std::thread::yield_now();
    }
}

fn kill(process: &Path) {
    let pid = process.file_name().unwrap();
    assert!(Command::new("kill").arg("-KILL").arg(pid).status().unwrap().success());
}

fn result(folder: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.join("result.json")).unwrap()).unwrap()
}

/// Training of Pong is killed in the middle and goes on, and the program's workers die with it.
#[test]
fn pong_is_killed_resumed_and_evaluated() {
    let Some(python) = python() else { return };
    let folder = tempdir().unwrap();
    let run_folder = folder.path().join("pong");
    let mut command = train("atari:pong", &SHORT, &run_folder, &python);
    let mut run = command.stderr(Stdio::null()).spawn().unwrap();
    wait_for(20, &run_folder, &mut run);
    let workers = children(run.id());
    assert_eq!(workers.len(), 2, "one to train in and one to evaluate in");
    run.kill().unwrap();
    assert!(!run.wait().unwrap().success(), "it was to be killed");
    workers.iter().for_each(|worker| wait_until_gone(worker));

    // The same future twice over: what is not saved is drawn from the seed and the step.
    let copy = folder.path().join("copy");
    copy_folder(&run_folder, &copy);
    succeed(resume(&run_folder, &python));
    succeed(resume(&copy, &python));
    assert_eq!(result(&run_folder), result(&copy));
    assert_eq!(result(&run_folder)["steps"], 2400);
    let metrics = fs::read_to_string(run_folder.join("metrics.csv")).unwrap();
    assert_eq!(metrics.lines().count(), 1 + 2400 / 80, "{metrics}");
    assert_eq!(metrics, fs::read_to_string(copy.join("metrics.csv")).unwrap());

    let eval = |arguments: &[&str]| {
        let mut command = adfq(&["eval"], &python);
        command.arg(&run_folder).args(["--episodes", "1", "--json"]).args(arguments);
        serde_json::from_slice::<Value>(&succeed(command).stdout).unwrap()
    };
    let episode = &eval(&[])["episodes"][0];
    assert!(episode["total"].as_f64().unwrap() <= 0.0, "{episode}");
    assert_eq!(episode["total"], episode["clipped"], "Pong's points are ones");
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy_folder(&path, &target),
            false => drop(fs::copy(&path, target).unwrap()),
        }
    }
}

/// A run in a small environment that goes wrong in some way.
fn goes_wrong(how: &str, folder: &Path, python: &Path) -> Command {
    let how = format!("env_args.how={how}");
    let settings = ["steps=4000", "envs=2", "logging.metrics=4", "logging.checkpoint=8", &how];
    train("gym:tests.bridge.envs:Wrong-v0", &settings, folder, python)
}

#[test]
fn an_environment_that_raises_stops_training_with_its_traceback() {
    let Some(python) = python() else { return };
    let folder = tempdir().unwrap();
    let run_folder = folder.path().join("run");
    let said = complaint(goes_wrong("raise", &run_folder, &python));
    assert!(said.contains("(environment 0) raised ZeroDivisionError: division by zero"), "{said}");
    assert!(said.contains("return 1 / 0"), "{said}");
    // Both environments took nine steps: two checkpoints, at 8 and 16.
    assert!(said.contains("step-000000000016.adfq"), "{said}");
    assert!(said.contains(&format!("adfq train --resume {}", run_folder.display())), "{said}");
}

#[test]
fn an_environment_that_hangs_stops_training() {
    let Some(python) = python() else { return };
    let folder = tempdir().unwrap();
    let mut command = goes_wrong("hang", &folder.path().join("run"), &python);
    command.args(["--worker-timeout", "1"]);
    let said = complaint(command);
    assert!(said.contains("did not answer within 1 s"), "{said}");
    assert!(said.contains("hint: give it longer with --worker-timeout SECONDS"), "{said}");
}

/// Not even a worker that is busy in C, and lets no other thread of Python run, outlives the program.
#[test]
fn a_busy_worker_dies_with_the_program() {
    let Some(python) = python() else { return };
    let folder = tempdir().unwrap();
    let mark = folder.path().join("mark");
    let mut command = goes_wrong("busy", &folder.path().join("run"), &python);
    command.arg("--set").arg(format!("env_args.mark='{}'", mark.display()));
    let mut run = command.stderr(Stdio::null()).spawn().unwrap();
    while !mark.exists() && run.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    let workers = children(run.id());
    assert_eq!(workers.len(), 2);
    run.kill().unwrap();
    run.wait().unwrap();
    workers.iter().for_each(|worker| wait_until_gone(worker));
}

/// Whoever kills a worker, training stops, the checkpoint stays good, and nothing of the other worker is left.
#[test]
fn a_worker_that_is_killed_stops_training() {
    let Some(python) = python() else { return };
    let folder = tempdir().unwrap();
    let run_folder = folder.path().join("run");
    let settings = ["steps=100000000", "envs=2", "logging.metrics=100", "logging.checkpoint=200"];
    let mut command = train("gym:CartPole-v1", &settings, &run_folder, &python);
    let mut run = command.args(["--workers", "2"]).stderr(Stdio::piped()).spawn().unwrap();
    wait_for(10, &run_folder, &mut run);
    let workers = children(run.id());
    assert_eq!(workers.len(), 3);
    workers.iter().for_each(|worker| kill(worker));
    let output = run.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("died (signal: 9 (SIGKILL))"), "{said}");
    assert!(said.contains("adfq train --resume"), "{said}");
    workers.iter().for_each(|worker| wait_until_gone(worker));
}

#[test]
fn lunar_lander_as_in_the_documentation() {
    let Some(python) = python() else { return };
    let folder = tempdir().unwrap();
    let run_folder = folder.path().join("lander");
    let settings =
        ["steps=3000", "learning.warmup=500", "evaluation.every=1500", "evaluation.final_episodes=2"];
    succeed(train("gym:LunarLander-v3", &settings, &run_folder, &python));
    let film = folder.path().join("lander.gif");
    let mut command = adfq(&["eval"], &python);
    succeed({
        command.arg(&run_folder).args(["--episodes", "1", "--video"]).arg(&film);
        command
    });
    assert!(fs::metadata(&film).unwrap().len() > 10_000);
}

#[test]
fn mistakes_are_explained() {
    let Some(python) = python() else { return };
    let folder = tempdir().unwrap();
    let said =
        |env: &str, settings: &[&str]| complaint(train(env, settings, &folder.path().join("run"), &python));
    for (said, part) in [
        (said("gym:CartPool-v1", &[]), "error: gym:CartPool-v1 cannot be made: "),
        (said("atari:pongo", &[]), "did you mean \"atari:pong\"?"),
        (said("gym:tests.bridge.envs:Counter-v0", &["env_args.kind=dict"]), " are Dict("),
        (said("cartpole", &["env_args.gravity=1"]), "cartpole takes no arguments, but \"gravity\" was given"),
        (
            said("cartpole", &["env_args.gravity=1"]),
            "\nhint: arguments are given by --set env_args.NAME=VALUE",
        ),
        (
            complaint(train("gym:CartPole-v1", &[], &folder.path().join("run"), Path::new("no/python"))),
            "\nhint: name an interpreter with --python PATH",
        ),
    ] {
        assert!(said.contains(part), "{said}");
        assert_eq!(said.lines().filter(|line| line.starts_with("error: ")).count(), 1, "{said}");
        assert!(!folder.path().join("run").exists(), "{said}");
    }
}

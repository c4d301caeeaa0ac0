//! Runs that go on: trained longer, stopped at a return, not evaluated at all, and named by what differs.

mod common;

use common::{complaint, said, saved, succeed, text, with};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::tempdir;

/// Small, with prioritised replay, an ε and a learning rate that fall over the run, and three environments whose steps do not
/// divide the run's.
const SMALL: [&str; 10] = [
    "steps=1000",
    "envs=3",
    "policy=epsilon",
    "learning.warmup=200",
    "learning.batch=16",
    "replay.capacity=600",
    "logging.metrics=100",
    "logging.checkpoint=200",
    "evaluation.every=300",
    "evaluation.final_episodes=5",
];

fn adfq(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_adfq"));
    command.args(arguments).stdin(Stdio::null());
    command
}

fn train(folder: &Path, settings: &[&str]) -> Command {
    let mut command = adfq(&["train", "cartpole", "--out"]);
    command.arg(folder);
    command.args(SMALL.iter().chain(settings).flat_map(|setting| ["--set", setting]));
    command
}

fn resume(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = adfq(&["train", "--resume"]);
    command.arg(folder).args(arguments);
    command
}

fn eval(folder: &Path, checkpoint: &str) -> Command {
    let mut command = adfq(&["eval", "--episodes", "2", "--json", "--checkpoint", checkpoint]);
    command.arg(folder);
    command
}

/// The files that say what a run was.
fn record(folder: &Path) -> [String; 4] {
    ["config.toml", "result.json", "metrics.csv", "evaluations.csv"].map(|name| text(folder.join(name)))
}

fn result(folder: &Path) -> serde_json::Value {
    serde_json::from_str(&text(folder.join("result.json"))).unwrap()
}

fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-r").args([from, to]).status().unwrap().success());
}

/// The new configuration says what was done: a run that is trained by it from its start ends with the same bits.
#[test]
fn a_run_that_kept_its_memory_is_trained_longer_to_the_bit() {
    let dir = tempdir().unwrap();
    let [longer, again, whole, late] = ["longer", "again", "whole", "late"].map(|name| dir.path().join(name));
    succeed(with(train(&longer, &[]), "--keep-replay"));
    assert!(!saved(&longer, "replay-").is_empty());
    let first = record(&longer);
    copy(&longer, &again);
    let told = said(resume(&longer, &["--steps", "1700", "--keep-replay"]));
    assert!(told.contains("at step 1,002 of 1,700") && !told.contains("exact"), "{told}");
    let [config, result, metrics, evaluations] = record(&longer);
    assert!(config.contains("steps = 1700\nearlier_ends = [1000]\n"), "{config}");
    assert!(result.contains("\"steps\": 1701,") && !result.contains("exact"), "{result}");
    assert!(metrics.starts_with(&first[2]) && evaluations.starts_with(&first[3]));
    succeed(resume(&again, &["--steps", "1700"]));
    assert_eq!(record(&again), record(&longer));
    let mut fresh = adfq(&["train", "cartpole", "--config"]);
    fresh.arg(longer.join("config.toml")).arg("--out").arg(&whole);
    succeed(fresh);
    assert_eq!(record(&whole), record(&longer));
    // Also if the checkpoint at the old end is damaged, and the one before it, of another schedule, is used.
    succeed(with(train(&late, &[]), "--keep-replay"));
    fs::write(saved(&late, "step-").pop().unwrap(), "torn").unwrap();
    let told = said(resume(&late, &["--steps", "1700"]));
    assert!(told.contains("an earlier checkpoint is used"), "{told}");
    assert_eq!(record(&late), record(&longer));
}

#[test]
fn a_finished_run_gives_its_memory_back_and_is_trained_longer_without() {
    let dir = tempdir().unwrap();
    let (run, again) = (dir.path().join("run"), dir.path().join("again"));
    succeed(train(&run, &[]));
    assert!(saved(&run, "replay-").is_empty());
    let told = said(resume(&run, &[]));
    assert!(told.contains("is finished: cartpole, calibrated with epsilon, seed 0: "), "{told}");
    copy(&run, &again);
    let told = said(resume(&run, &["--steps", "1700"]));
    let lost = "this run is not exact: what environment 0 did up to step 1002 was lost";
    assert!(told.contains("the replay memory was given back") && told.contains(lost), "{told}");
    assert_eq!((&result(&run)["steps"], &result(&run)["exact"]), (&1701.into(), &false.into()));
    assert!(said(resume(&run, &[])).contains(lost));
    // Not exact, but the same bits each time, however it goes on from the new configuration.
    let config = text(again.join("config.toml"));
    let config = config.replace("steps = 1000\n", "steps = 1700\nearlier_ends = [1000]\n");
    fs::write(again.join("config.toml"), config).unwrap();
    succeed(resume(&again, &[]));
    assert_eq!(record(&again), record(&run));
}

#[test]
fn what_is_not_longer_is_refused() {
    let dir = tempdir().unwrap();
    let run = dir.path().join("run");
    succeed(train(&run, &[]));
    let before = record(&run);
    for steps in ["1000", "999"] {
        let error = complaint(resume(&run, &["--steps", steps]));
        assert_eq!(
            error,
            format!("error: {} has 1000 steps already; give more to train it longer\n", run.display())
        );
    }
    assert_eq!(record(&run), before);
    // The same command again finds nothing left to do.
    succeed(resume(&run, &["--steps", "1200", "--keep-replay"]));
    assert!(said(resume(&run, &["--steps", "1200"])).contains("is finished: "));
    // By hand, the number of steps is as fixed as any other setting.
    let config = text(run.join("config.toml")).replace("steps = 1200\n", "steps = 1300\n");
    fs::write(run.join("config.toml"), config).unwrap();
    assert!(complaint(resume(&run, &[])).contains("was changed after the run began"));
}

#[test]
fn the_best_checkpoint_is_kept_beside_the_newest() {
    let dir = tempdir().unwrap();
    let (run, stopped) = (dir.path().join("run"), dir.path().join("stopped"));
    let often = ["evaluation.every=30", "evaluation.episodes=1"];
    succeed(train(&run, &often));
    // The largest mean of all evaluations, and of equal ones the last.
    let evaluations = text(run.join("evaluations.csv"));
    let mut means: Vec<(u64, Vec<f64>)> = vec![];
    for row in evaluations.lines().skip(1) {
        let fields: Vec<&str> = row.split(',').collect();
        let (step, value) = (fields[0].parse().unwrap(), fields[2].parse().unwrap());
        match means.last_mut() {
            Some((last, returns)) if *last == step => returns.push(value),
            _ => means.push((step, vec![value])),
        }
    }
    let means =
        means.iter().map(|(step, returns)| (*step, returns.iter().sum::<f64>() / returns.len() as f64));
    let best = means.fold((0, f64::MIN), |best, next| if next.1 >= best.1 { next } else { best });
    assert_eq!(result(&run)["best"], serde_json::json!({"step": best.0, "mean_return": best.1}));
    assert_ne!(best.0, 1002, "another seed is needed: the last evaluation is the best");
    let step = |which: &str| -> u64 {
        let json: serde_json::Value = serde_json::from_slice(&succeed(eval(&run, which)).stdout).unwrap();
        json["step"].as_u64().unwrap()
    };
    assert_eq!((step("last"), step("best"), step(&best.0.to_string())), (1002, best.0, best.0));
    let error = complaint(eval(&run, "7"));
    assert!(
        error.contains("it has no checkpoint of step 7; there are those of ") && error.contains("1002"),
        "{error}"
    );
    assert!(complaint(eval(&run, "worst")).contains("say last, best, or a step"));
    // A run that was stopped on its way has the same in the end, and no other.
    let whole = saved(&run, "best-");
    succeed(with(train(&stopped, &often), "--keep-replay"));
    saved(&stopped, "step-").pop().map(fs::remove_file).unwrap().unwrap();
    fs::remove_file(stopped.join("result.json")).unwrap();
    succeed(resume(&stopped, &[]));
    assert_eq!(record(&stopped), record(&run));
    let bytes = |paths: &[PathBuf]| paths.iter().map(|path| fs::read(path).unwrap()).collect::<Vec<_>>();
    assert_eq!(bytes(&saved(&stopped, "best-")), bytes(&whole));
}

/// With three environments the multiples of 250 are passed at 252, 501, 750 and 1002.
#[test]
fn checkpoints_are_kept_for_good_where_that_is_asked_for() {
    let dir = tempdir().unwrap();
    let (run, stopped) = (dir.path().join("run"), dir.path().join("stopped"));
    let keep = ["logging.keep=250", "logging.checkpoint=100"];
    succeed(train(&run, &keep));
    let names = |run: &Path| {
        let files = saved(run, "kept-");
        files.iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&run), [252, 501, 750, 1002].map(|step| format!("kept-{step:012}.adfq")));
    let json: serde_json::Value = serde_json::from_slice(&succeed(eval(&run, "252")).stdout).unwrap();
    assert_eq!(json["step"], 252);
    // They change nothing, and a run that is resumed has the same ones.
    succeed(with(train(&stopped, &keep), "--keep-replay"));
    saved(&stopped, "step-").pop().map(fs::remove_file).unwrap().unwrap();
    fs::remove_file(stopped.join("result.json")).unwrap();
    succeed(resume(&stopped, &[]));
    let bytes =
        |run: &Path| saved(run, "kept-").iter().map(|path| fs::read(path).unwrap()).collect::<Vec<_>>();
    assert_eq!(bytes(&stopped), bytes(&run));
    let plain = dir.path().join("plain");
    succeed(train(&plain, &["logging.checkpoint=100"]));
    assert_eq!(result(&plain), result(&run));
}

#[test]
fn training_ends_at_the_return_asked_for() {
    let dir = tempdir().unwrap();
    let run = dir.path().join("run");
    succeed(train(&run, &["evaluation.stop_at=1", "evaluation.every=300", "logging.checkpoint=10000"]));
    let ended = result(&run);
    assert_eq!((&ended["steps"], &ended["ended_early"]), (&300.into(), &true.into()));
    assert_eq!(text(run.join("metrics.csv")).lines().count(), 1 + 3);
    assert!(said(resume(&run, &[])).contains("after 300 steps, the return asked for"));
    let error = complaint(resume(&run, &["--steps", "2000"]));
    assert!(error.contains("ended at step 300 because it had reached evaluation.stop_at"), "{error}");
    succeed(eval(&run, "last"));
    // Killed between its last checkpoint and its result, it ends where it had ended.
    let before = record(&run);
    fs::remove_dir_all(&run).unwrap();
    succeed(with(train(&run, &["evaluation.stop_at=1", "evaluation.every=300"]), "--keep-replay"));
    fs::remove_file(run.join("result.json")).unwrap();
    succeed(resume(&run, &[]));
    assert_eq!(record(&run)[1..], before[1..]);
}

#[test]
fn a_run_without_evaluations_is_trained_and_compared_by_its_training() {
    let dir = tempdir().unwrap();
    let runs = dir.path().join("runs");
    let told = said(with(train(&runs, &["evaluation.every=0"]), "--seeds=0,1"));
    assert!(told.contains("2 of 2 runs finished") && told.contains("not evaluated"), "{told}");
    let mut folders: Vec<_> = fs::read_dir(&runs).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    let ended = result(&folders[0]);
    assert_eq!((&ended["mean_return"], &ended["episodes"]), (&serde_json::Value::Null, &0.into()));
    assert_eq!(text(folders[0].join("evaluations.csv")).lines().count(), 1);
    let compare = |arguments: &[&str]| {
        let mut command = adfq(&["compare"]);
        command.arg(&runs).args(arguments);
        command
    };
    succeed(compare(&["--training"]));
    let error = complaint(compare(&[]));
    assert!(error.contains("--training"), "{error}");
    let error = complaint(eval(&folders[0], "best"));
    assert!(error.contains("it has no best checkpoint, because it was never evaluated"), "{error}");
    succeed(eval(&folders[0], "last"));
    assert!(said(resume(&folders[0], &[])).contains("not evaluated after 1002 steps"));
    let error = complaint(train(&dir.path().join("x"), &["evaluation.every=0", "evaluation.stop_at=1"]));
    assert!(error.contains("evaluation.every must be at least 1 where evaluation.stop_at is set"), "{error}");
}

#[test]
fn folders_are_named_by_what_differs() {
    let dir = tempdir().unwrap();
    let start = |arguments: &[&str]| {
        let mut command = adfq(&["train", "cartpole", "--steps", "64"]);
        command.args(arguments).current_dir(dir.path());
        command
    };
    let discount = ["--set", "learning.discount=0.9"];
    succeed(start(&[]));
    succeed(start(&discount));
    succeed(start(&[&discount[..], &["--seeds", "1,2"]].concat()));
    succeed(start(&[&discount[..], &["--seeds", "1,2", "--out", "sweep"]].concat()));
    for name in ["runs/cartpole-calibrated-doubt-0", "runs/cartpole-calibrated-doubt-learning.discount=0.9-0"]
    {
        assert!(dir.path().join(name).join("result.json").exists(), "{name}");
    }
    for folder in ["runs", "sweep"] {
        let name = format!("{folder}/cartpole-calibrated-doubt-learning.discount=0.9-2");
        assert!(dir.path().join(&name).join("result.json").exists(), "{name}");
    }
    // The same sweep again has nothing to do.
    let told = said(start(&[&discount[..], &["--seeds", "1,2"]].concat()));
    assert!(told.contains("2 of 2 runs finished") && told.matches("is finished: ").count() == 2, "{told}");
}

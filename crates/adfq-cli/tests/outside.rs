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
    command.args(["--emulator", "ale"]);
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
    // As soon as one is dead, the program stops the others, and may be quicker than we are.
    let pids = workers.iter().map(|worker| worker.file_name().unwrap());
    Command::new("kill").arg("-KILL").args(pids).stderr(Stdio::null()).status().unwrap();
    let output = run.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("died (signal: 9 (SIGKILL))"), "{said}");
    assert!(said.contains("adfq train --resume"), "{said}");
    workers.iter().for_each(|worker| wait_until_gone(worker));
}

/// The children of a worker die with the program too.
#[test]
fn children_of_a_worker_die_with_the_program() {
    let Some(python) = python() else { return };
    let folder = tempdir().unwrap();
    let (run_folder, list) = (folder.path().join("run"), folder.path().join("children"));
    let child = format!("env_args.child='{}'", list.display());
    let settings = ["steps=100000000", "envs=2", "logging.metrics=100", "env_args.how=live", &child];
    let mut command = train("gym:tests.bridge.envs:Parent-v0", &settings, &run_folder, &python);
    let mut run = command.stderr(Stdio::null()).spawn().unwrap();
    wait_for(3, &run_folder, &mut run);
    run.kill().unwrap();
    run.wait().unwrap();
    // Those of the environment that was made to see its space are gone already.
    let list = fs::read_to_string(list).unwrap();
    assert_eq!(list.lines().count(), 4);
    list.lines().for_each(|child| wait_until_gone(&Path::new("/proc").join(child)));
}

/// A short run in an environment that fails once, unless `mark` is there, and what came of it.
fn fails_once(how: &str, mark: &Path, settings: &[&str], python: &Path) -> (Value, Vec<String>, String) {
    let folder = tempdir().unwrap();
    let run_folder = folder.path().join("run");
    let (how, mark) = (format!("env_args.how='{how}'"), format!("env_args.mark='{}'", mark.display()));
    let all = [
        &["steps=200", "envs=2", "learning.warmup=50", "logging.metrics=20", "evaluation.max_steps=30"],
        settings,
        &[&how, &mark],
    ];
    let mut command = train("gym:tests.bridge.envs:Once-v0", &all.concat(), &run_folder, python);
    command.args(["--restart-failed", "1", "--worker-timeout", "2"]);
    let said = String::from_utf8(succeed(command).stderr).unwrap();
    let read = |name: &str| fs::read_to_string(run_folder.join(name)).unwrap();
    (result(&run_folder), vec![read("metrics.csv"), read("evaluations.csv")], said)
}

/// Training goes on without the episodes that were lost, and does so in the same way each time.
#[test]
fn an_environment_that_fails_in_training_is_started_anew() {
    let Some(python) = python() else { return };
    let folder = tempdir().unwrap();
    let mark = folder.path().join("mark");
    let settings = ["evaluation.every=200", "evaluation.final_episodes=2"];
    for (how, reason) in [
        ("raise", "(environment 0) raised ZeroDivisionError: division by zero"),
        ("kill", "died (signal: 9 (SIGKILL))"),
        ("hang", "did not answer within 2 s"),
        ("nan", "gave an observation that is not finite (environment 0)"),
    ] {
        let first = fails_once(how, &mark, &settings, &python);
        assert_eq!(first.0["restarts"], 1);
        assert_eq!((&first.0["steps"], first.1[0].lines().count()), (&200.into(), 1 + 10));
        let told: Vec<_> = first.2.lines().filter(|line| line.contains("restart")).collect();
        assert!(matches!(told[..], [line] if line.contains(reason)), "{}", first.2);
        assert!(told[0].contains("step 18: restart 1 of environments, 0 more allowed: "), "{}", first.2);
        fs::remove_file(&mark).unwrap();
        let second = fails_once(how, &mark, &settings, &python);
        assert_eq!((&first.0, &first.1), (&second.0, &second.1), "{how}");
        fs::remove_file(&mark).unwrap();
    }
}

/// An episode of an evaluation is played again from its start: the run ends as if nothing had been.
#[test]
fn an_environment_that_fails_in_evaluation_is_started_anew() {
    let Some(python) = python() else { return };
    let folder = tempdir().unwrap();
    let mark = folder.path().join("mark");
    // Evaluated before any environment of training takes its tenth step.
    let settings = ["evaluation.every=8", "evaluation.episodes=2", "evaluation.final_episodes=2"];
    for how in ["raise", "kill"] {
        let failed = fails_once(how, &mark, &settings, &python);
        assert!(failed.2.contains("step 8: restart 1 of environments"), "{}", failed.2);
        // Now the mark is there, and nothing fails.
        let never = fails_once(how, &mark, &settings, &python);
        assert_eq!((&failed.0["restarts"], &never.0["restarts"]), (&1.into(), &0.into()));
        assert_eq!((&failed.0["parameters"], &failed.1), (&never.0["parameters"], &never.1), "{how}");
        fs::remove_file(&mark).unwrap();
    }
}

/// An environment that fails each time uses up what is allowed, and then the run stops as it would have at first.
#[test]
fn an_environment_that_always_fails_stops_training() {
    let Some(python) = python() else { return };
    let folder = tempdir().unwrap();
    let run_folder = folder.path().join("run");
    let mut command = goes_wrong("raise", &run_folder, &python);
    command.args(["--restart-failed", "2"]);
    let said = complaint(command);
    for line in ["restart 1 of environments, 1 more allowed", "restart 2 of environments, 0 more allowed"] {
        assert_eq!(said.matches(line).count(), 1, "{said}");
    }
    assert!(said.contains("error: ") && said.contains("raised ZeroDivisionError"), "{said}");
    assert!(said.contains("step-000000000056.adfq"), "three times nine steps of two: {said}");
}

/// Workers are killed, then the program: the run goes on both times, and the count is that of all of it.
#[test]
fn restarts_are_counted_across_a_resume() {
    let Some(python) = python() else { return };
    let folder = tempdir().unwrap();
    let run_folder = folder.path().join("run");
    let settings = [
        "steps=6000",
        "envs=2",
        "learning.every=20",
        "logging.metrics=100",
        "logging.checkpoint=200",
        "evaluation.every=6000",
        "evaluation.final_episodes=1",
    ];
    let mut command = train("gym:CartPole-v1", &settings, &run_folder, &python);
    let mut run = command.args(["--restart-failed", "9"]).stderr(Stdio::null()).spawn().unwrap();
    wait_for(10, &run_folder, &mut run);
    children(run.id()).iter().for_each(|worker| kill(worker));
    wait_for(20, &run_folder, &mut run);
    run.kill().unwrap();
    assert!(!run.wait().unwrap().success(), "it was to be killed");
    succeed(resume(&run_folder, &python));
    assert_eq!(result(&run_folder)["restarts"], 1);
    assert_eq!(result(&run_folder)["steps"], 6000);
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
        (said("gym:tests.bridge.spaces:Unfit-v0", &["env_args.kind=text"]), " are Dict("),
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

/// An agent that was trained in Python's environments acts without Python, and keeps the frames that it sees stacked.
#[test]
fn acting_needs_no_python_and_stacks_frames() {
    let Some(python) = python() else { return };
    let folder = tempdir().unwrap();
    let run = folder.path().join("run");
    succeed(train("atari:pong", &SHORT, &run, &python));
    let frame = |light: usize| -> String {
        let pixels: Vec<String> = (0..84 * 84).map(|i| ((i * light + i / 84) % 256).to_string()).collect();
        format!("[{}]", pixels.join(","))
    };
    let (first, second) = (frame(1), frame(7));
    let begin = |frame: &str| format!("{{\"reset\": true, \"observation\": {frame}}}");
    let lines = [begin(&first), second.clone(), begin(&second), begin(&first), second.clone(), first.clone()];
    let input = folder.path().join("lines.jsonl");
    fs::write(&input, lines.join("\n")).unwrap();
    let mut act = Command::new(env!("CARGO_BIN_EXE_adfq"));
    // Nothing can be started from here.
    act.arg("act").arg(&run).arg(&input).env("PATH", folder.path()).env_remove("VIRTUAL_ENV");
    let text = String::from_utf8(succeed(act).stdout).unwrap();
    let answers: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(answers.iter().all(|answer| answer["mean"].as_array().unwrap().len() == 6), "{text}");
    assert_eq!(answers[..2], answers[3..5], "an episode begins anew");
    assert_ne!(answers[1], answers[2], "the frame before it counts");
    assert_ne!(answers[5], answers[0], "so do the frames before");
}

/// Rollouts start from saved states. No worker is started to find out that there are none.
#[test]
fn beliefs_cannot_be_held_against_the_truth_where_nothing_can_be_saved() {
    let Some(python) = python() else { return };
    let folder = tempdir().unwrap();
    let run = folder.path().join("run");
    let short = ["steps=60", "learning.warmup=20", "evaluation.final_episodes=1"];
    succeed(train("gym:CartPole-v1", &short, &run, &python));
    let mut beliefs = Command::new(env!("CARGO_BIN_EXE_adfq"));
    beliefs.arg("beliefs").arg(&run);
    let said = complaint(beliefs);
    assert!(said.contains("rollouts start from saved states, and gym:CartPole-v1 cannot be saved"), "{said}");
}

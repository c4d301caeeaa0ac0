//! Run folders in a world that is not kind to them: links of strangers, files that are damaged or gone, folders that are
//! moved away, full disks, and signals in the middle of an evaluation.
#![cfg(unix)]

mod common;

use common::{complaint, record, said, saved, succeed, text, with};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::tempdir;

const EVENTS: &str = "events.out.tfevents.0.adfq";

/// Small, with many checkpoints and a memory that is overwritten.
const SMALL: [&str; 9] = [
    "steps=2000",
    "learning.warmup=300",
    "learning.batch=16",
    "replay.capacity=1000",
    "replay.n_step=3",
    "logging.metrics=100",
    "logging.checkpoint=200",
    "evaluation.every=500",
    "evaluation.final_episodes=5",
];

fn adfq(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_adfq"));
    command.args(arguments).stdin(Stdio::null());
    command
}

fn train(folder: &Path, env: &str, settings: &[&str]) -> Command {
    let mut command = adfq(&["train", env, "--out"]);
    command.arg(folder);
    command.args(SMALL.iter().chain(settings).flat_map(|setting| ["--set", setting]));
    // What is finished is set back in many tests, and then needs its memory.
    command.arg("--keep-replay");
    command
}

/// The folder of the run with this seed in a sweep.
#[track_caller]
fn of_sweep(folder: &Path, seed: u64) -> PathBuf {
    let mut entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.find(|path| path.to_string_lossy().ends_with(&format!("-{seed}"))).unwrap()
}

fn resume(folder: &Path) -> Command {
    let mut command = adfq(&["train", "--resume"]);
    command.arg(folder);
    command
}

fn on(verb: &str, folder: &Path) -> Command {
    let mut command = adfq(&[verb]);
    command.arg(folder);
    command
}

/// Makes a finished run one that was stopped before its last checkpoint.
fn set_back(folder: &Path) {
    fs::remove_file(saved(folder, "step-").pop().unwrap()).unwrap();
    fs::remove_file(folder.join("result.json")).unwrap();
}

fn wait_for_rows(folder: &Path, rows: usize) {
    while fs::read_to_string(folder.join("metrics.csv")).map_or(0, |text| text.lines().count()) <= rows {
        std::thread::yield_now();
    }
}

fn terminate(child: &Child) {
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
}

fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-r").args([from, to]).status().unwrap().success());
}

/// Everything in a run folder that could be a link, as one to a file, or folder, of the user's.
#[test]
fn links_in_a_run_folder_are_refused_and_lead_to_no_harm() {
    let dir = tempdir().unwrap();
    let good = dir.path().join("good");
    succeed(train(&good, "cartpole", &[]));
    set_back(&good);
    let [last] = &saved(&good, "step-")[..] else { panic!() };
    let segment = saved(&good, "replay-").pop().unwrap();
    let inside = |path: &Path| path.strip_prefix(&good).unwrap().to_str().unwrap().to_owned();
    let mut names = [".lock", "config.toml", "metrics.csv", "evaluations.csv", EVENTS, "result.json"]
        .map(str::to_owned)
        .to_vec();
    names.extend([inside(last), inside(&segment), "checkpoints/step-000000000400.adfq".to_owned()]);
    names.extend([".result.json.7-0.adfq-partial", "checkpoints/.step.7-0.adfq-partial"].map(str::to_owned));
    for (number, name) in names.iter().enumerate() {
        let (run, outside) = (dir.path().join(format!("run-{number}")), dir.path().join("outside"));
        copy(&good, &run);
        // A link to the file itself: what it leads to would pass for it.
        match run.join(name).exists() {
            true => fs::rename(run.join(name), &outside).unwrap(),
            false => fs::write(&outside, "dear diary").unwrap(),
        }
        let before = fs::read(&outside).unwrap();
        symlink(&outside, run.join(name)).unwrap();
        let error = complaint(resume(&run));
        let named = format!("error: {} is a symbolic link, which is not followed;", run.join(name).display());
        assert!(error.contains(&named) && error.lines().count() == 1, "{name}: {error}");
        let reads: &[&str] = match name.as_str() {
            "config.toml" => &["eval", "compare"],
            "evaluations.csv" => &["compare"],
            name if name == inside(last) => &["eval"],
            _ => &[],
        };
        for verb in reads {
            let error = complaint(on(verb, &run));
            assert!(error.contains(&named), "{verb} {name}: {error}");
        }
        assert_eq!(fs::read(&outside).unwrap(), before, "{name}");
        fs::remove_file(&outside).unwrap();
    }
    let (run, outside) = (dir.path().join("run"), dir.path().join("folder"));
    copy(&good, &run);
    fs::rename(run.join("checkpoints"), &outside).unwrap();
    symlink(&outside, run.join("checkpoints")).unwrap();
    let before = fs::read_dir(&outside).unwrap().count();
    for command in [resume(&run), on("eval", &run)] {
        assert!(complaint(command).contains("run/checkpoints is a symbolic link"));
    }
    assert_eq!(fs::read_dir(&outside).unwrap().count(), before);
}

#[test]
fn links_in_a_new_folder_and_in_a_sweep_are_refused_too() {
    let dir = tempdir().unwrap();
    let (run, outside) = (dir.path().join("run"), dir.path().join("diary"));
    fs::write(&outside, "dear diary").unwrap();
    for name in [".lock", ".config.toml.7-0.adfq-partial"] {
        fs::create_dir(&run).unwrap();
        symlink(&outside, run.join(name)).unwrap();
        let error = complaint(train(&run, "cartpole", &[]));
        assert!(error.contains("is a symbolic link") && error.contains(name), "{error}");
        fs::remove_dir_all(&run).unwrap();
    }
    let sweep = || {
        let mut command = train(&run, "cartpole", &["steps=400"]);
        command.args(["--seeds", "0,1"]);
        command
    };
    succeed(sweep());
    let result = of_sweep(&run, 1).join("result.json");
    fs::remove_file(&result).unwrap();
    symlink(&outside, &result).unwrap();
    let error = complaint(sweep());
    assert!(error.contains(&format!("{} is a symbolic link", result.display())), "{error}");
    assert_eq!(text(&outside), "dear diary");
    // The way to a folder is the user's.
    let linked = dir.path().join("linked");
    symlink(of_sweep(&run, 0), &linked).unwrap();
    succeed(resume(&linked));
    succeed(with(on("eval", &linked), "--episodes=1"));
}

/// To open a pipe that nobody writes to would take for ever.
#[test]
fn pipes_are_refused_and_not_waited_for() {
    let dir = tempdir().unwrap();
    let run = dir.path().join("run");
    succeed(train(&run, "cartpole", &["steps=400"]));
    fs::remove_file(run.join("result.json")).unwrap();
    for (name, verbs) in
        [("metrics.csv", &[][..]), ("evaluations.csv", &["compare"]), ("config.toml", &["compare", "eval"])]
    {
        let (path, kept) = (run.join(name), dir.path().join("kept"));
        fs::rename(&path, &kept).unwrap();
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        for command in verbs.iter().map(|verb| on(verb, &run)).chain([resume(&run)]) {
            let error = complaint(command);
            assert!(error.contains(&format!("{} is a pipe and not a file", path.display())), "{error}");
        }
        fs::rename(&kept, &path).unwrap();
    }
}

/// An agent that knows nothing yet needs the whole 500 steps of each of Acrobot's episodes.
const LONG: [&str; 4] =
    ["steps=1100", "evaluation.every=1000", "evaluation.episodes=600", "evaluation.final_episodes=400"];

/// Once the row of metrics is written, the evaluation of that step is what comes next.
#[test]
fn a_signal_stops_an_evaluation_and_the_run_ends_like_one_never_stopped() {
    let dir = tempdir().unwrap();
    let (whole, stopped) = (dir.path().join("whole"), dir.path().join("stopped"));
    succeed(train(&whole, "acrobot", &LONG));
    let stop = |child: Child| {
        terminate(&child);
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(143), "{said}");
        said
    };
    let stop_at = |rows: usize, mut command: Command| {
        let child = command.stderr(Stdio::piped()).spawn().unwrap();
        wait_for_rows(&stopped, rows);
        stop(child)
    };
    let evaluated = || text(stopped.join("evaluations.csv")).lines().count() - 1;
    assert!(stop_at(10, train(&stopped, "acrobot", &LONG)).contains("stopped at step 1,000 of 1,100"));
    assert_eq!((evaluated(), text(stopped.join("metrics.csv")).lines().count()), (0, 11));
    // Again: the row is there already, and must not be written twice. The evaluation begins once the run is taken up.
    let mut child = resume(&stopped).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let mut output = BufReader::new(child.stderr.take().unwrap());
    while !line.contains("resuming") {
        assert_ne!(output.read_line(&mut line).unwrap(), 0, "{line}");
    }
    stop(child);
    output.read_to_string(&mut line).unwrap();
    assert!(line.contains("stopped at step 1,000 of 1,100"), "{line}");
    assert_eq!((evaluated(), text(stopped.join("metrics.csv")).lines().count()), (0, 11));
    // And in the evaluation at the end.
    assert!(stop_at(11, resume(&stopped)).contains("stopped at step 1,100 of 1,100"));
    assert_eq!(evaluated(), 600);
    succeed(resume(&stopped));
    assert_eq!(record(&stopped), record(&whole));
    let checkpoints = |folder: &Path| {
        saved(folder, "step-").iter().map(|path| path.file_name().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(checkpoints(&stopped), checkpoints(&whole));
}

#[test]
fn several_runs_are_stopped_within_their_evaluations() {
    let dir = tempdir().unwrap();
    let (whole, stopped) = (dir.path().join("whole"), dir.path().join("stopped"));
    let sweep = |folder: &Path| {
        let mut command = train(folder, "acrobot", &LONG);
        command.args(["--seeds", "0,1", "--jobs", "2"]);
        command
    };
    succeed(sweep(&whole));
    let child = sweep(&stopped).stderr(Stdio::null()).spawn().unwrap();
    let names = [0, 1].map(|seed| of_sweep(&whole, seed).file_name().unwrap().to_owned());
    names.iter().for_each(|name| wait_for_rows(&stopped.join(name), 10));
    terminate(&child);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(143));
    succeed(sweep(&stopped));
    for name in names {
        assert_eq!(record(&stopped.join(&name)), record(&whole.join(&name)));
    }
}

#[test]
fn a_signal_ends_eval_at_once() {
    let dir = tempdir().unwrap();
    let run = dir.path().join("run");
    succeed(train(&run, "cartpole", &["steps=400"]));
    let mut child = with(on("eval", &run), "--episodes=100000000").spawn().unwrap();
    terminate(&child);
    let status = child.wait().unwrap();
    assert!(status.signal() == Some(15) || status.code() == Some(143), "{status}");
}

fn spoil(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).unwrap();
}

/// One file that both checkpoints need: the run says what is gone, and goes on without.
#[test]
fn a_bad_replay_segment_is_named_and_the_memory_refilled() {
    let dir = tempdir().unwrap();
    let prioritised = ["envs=2", "replay.priority={alpha=0.6,beta=0.4,epsilon=1e-6}"];
    let good = dir.path().join("good");
    succeed(train(&good, "cartpole", &prioritised));
    assert_eq!(saved(&good, "step-").len(), 2);
    // Written at step 1,600, which both checkpoints need, of the first environment.
    let segments = saved(&good, "replay-0-");
    let shared = &segments[segments.len() - 3];
    let shared = shared.strip_prefix(&good).unwrap();
    let harms: [fn(&Path); 2] = [spoil, |path| fs::remove_file(path).unwrap()];
    for (number, harm) in harms.iter().enumerate() {
        let run = dir.path().join(format!("run-{number}"));
        copy(&good, &run);
        harm(&run.join(shared));
        fs::remove_file(run.join("result.json")).unwrap();
        let logs = || ["metrics.csv", "evaluations.csv"].map(|name| text(run.join(name)));
        let before = logs();
        let error = complaint(resume(&run));
        assert!(error.contains(&run.join(shared).display().to_string()), "{error}");
        assert!(error.contains("what environment 0 did up to step 1600 cannot be remembered"), "{error}");
        let command = format!("adfq train --resume {} --refill", run.display());
        assert!(error.contains(&command), "{error}");
        assert_eq!(logs(), before);
        fs::remove_file(saved(&run, "step-").pop().unwrap()).unwrap();
        let told = said(with(resume(&run), "--refill"));
        let lost = "this run is not exact: what environment 0 did up to step 1600 was lost";
        assert!(told.contains(lost) && told.contains("resuming"), "{told}");
        let result: serde_json::Value = serde_json::from_str(&text(run.join("result.json"))).unwrap();
        assert_eq!(result["exact"], false);
        assert_eq!(result["lost"], serde_json::json!([{"env": 0, "until_step": 1600}]));
        assert_ne!(result["parameters"], serde_json::Value::Null);
        // Later resumes need no option, and say it again.
        assert!(said(resume(&run)).contains(lost));
        assert_eq!(text(run.join("config.toml")), text(good.join("config.toml")));
    }
    assert!(!text(good.join("result.json")).contains("exact"));
}

#[test]
fn a_run_goes_on_without_any_replay_memory_at_all() {
    let dir = tempdir().unwrap();
    for env in ["cartpole", "minatar/breakout"] {
        let run = dir.path().join(env.replace('/', "-"));
        succeed(train(&run, env, &["envs=1", "steps=1000", "logging.checkpoint=500", "learning.batch=64"]));
        set_back(&run);
        saved(&run, "replay-").iter().for_each(|path| fs::remove_file(path).unwrap());
        let told = said(with(resume(&run), "--refill"));
        assert!(told.contains("did up to step 500 was lost"), "{told}");
        let [result, metrics, _] = record(&run);
        assert!(result.contains("\"exact\": false") && metrics.lines().count() == 11, "{metrics}");
    }
}

#[test]
fn an_option_that_is_not_needed_changes_nothing() {
    let dir = tempdir().unwrap();
    let run = dir.path().join("run");
    succeed(train(&run, "cartpole", &[]));
    let before = record(&run);
    set_back(&run);
    assert!(!said(with(resume(&run), "--refill")).contains("exact"));
    assert_eq!(record(&run), before);
}

#[test]
fn a_damaged_or_missing_log_never_stops_a_run() {
    let dir = tempdir().unwrap();
    let (whole, run) = (dir.path().join("whole"), dir.path().join("run"));
    succeed(train(&whole, "cartpole", &[]));
    copy(&whole, &run);
    set_back(&run);
    fs::remove_file(run.join("metrics.csv")).unwrap();
    let cut =
        |name: &str, to: usize| fs::write(run.join(name), &fs::read(run.join(name)).unwrap()[..to]).unwrap();
    let rows = text(run.join("evaluations.csv"));
    let third = rows.match_indices('\n').nth(2).unwrap().0 + 1;
    cut("evaluations.csv", third + 3);
    cut(EVENTS, 200);
    let told = said(resume(&run));
    let warned = |name: &str, gone: &str| {
        let line = format!("warning: {} is damaged or missing: {gone}", run.join(name).display());
        assert!(told.contains(&line), "{told}");
    };
    warned("metrics.csv", "what it held up to step 1800 is gone");
    warned("evaluations.csv", "what it held from step 500 to step 1800 is gone");
    warned(EVENTS, "what it held up to step 1800 is gone");
    let [result, metrics, evaluations] = record(&run);
    let [expected, all, _] = record(&whole);
    assert_eq!(result, expected);
    let steps: Vec<&str> = metrics.lines().map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(steps, ["step", "1900", "2000"]);
    assert!(all.ends_with(&metrics[metrics.find('\n').unwrap() + 1..]), "{metrics}");
    assert!(evaluations.starts_with(&rows[..third]) && evaluations.lines().count() == 3 + 5, "{evaluations}");
    let events = fs::read(run.join(EVENTS)).unwrap();
    assert_eq!(adfq_files::tensorboard::whole_records(&events), events.len() as u64);
}

#[test]
fn an_older_checkpoint_is_not_used_in_silence() {
    let dir = tempdir().unwrap();
    let run = dir.path().join("run");
    succeed(train(&run, "cartpole", &["steps=400"]));
    let last = saved(&run, "step-").pop().unwrap();
    spoil(&last);
    let told = said(with(on("eval", &run), "--episodes=1"));
    assert!(told.contains(&format!("warning: {} is corrupt", last.display())), "{told}");
    assert!(told.contains("the checkpoint of step 200 is used"), "{told}");
}

/// Whatever becomes of the folder, training ends with an error, and nothing appears where it was.
#[test]
fn a_folder_that_is_gone_ends_the_training() {
    let dir = tempdir().unwrap();
    let elsewhere = dir.path().join("elsewhere");
    for change in ["removed", "moved", "replaced"] {
        let run = dir.path().join(change);
        let child = train(&run, "cartpole", &["steps=100000000", "evaluation.every=100000000"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        wait_for_rows(&run, 3);
        match change {
            // The run may write a file while its folder is being emptied.
            "removed" => while run.exists() && fs::remove_dir_all(&run).is_err() {},
            _ => fs::rename(&run, &elsewhere).unwrap(),
        }
        if change == "replaced" {
            fs::create_dir(&run).unwrap();
        }
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{told}");
        match change {
            "removed" => assert!(told.contains("removed"), "{told}"),
            _ => {
                let gone = format!("the folder {} is gone: it was moved or replaced", run.display());
                assert!(told.contains(&gone) && told.contains("cannot go on there"), "{told}");
                assert!(elsewhere.join("config.toml").exists());
                fs::remove_dir_all(&elsewhere).unwrap();
            }
        }
        match change {
            "replaced" => assert_eq!(fs::read_dir(&run).unwrap().count(), 0),
            _ => assert!(!run.exists()),
        }
    }
}

/// A small disk, where the user may mount one.
#[cfg(target_os = "linux")]
struct Disk(tempfile::TempDir);

#[cfg(target_os = "linux")]
impl Disk {
    fn mount(bytes: u64) -> Option<Self> {
        let dir = tempdir().unwrap();
        let size = format!("size={bytes}");
        let mount =
            Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(dir.path()).output();
        mount.is_ok_and(|output| output.status.success()).then_some(Self(dir))
    }
}

#[cfg(target_os = "linux")]
impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

/// The command that the message names is the one that goes on, whether there is a checkpoint yet or not.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_names_the_command_that_goes_on() {
    let dir = tempdir().unwrap();
    let whole = dir.path().join("whole");
    succeed(train(&whole, "cartpole", &[]));
    let checkpoint = fs::metadata(saved(&whole, "step-").pop().unwrap()).unwrap().len();
    for (room, state) in
        [(checkpoint / 2, "there is no checkpoint yet"), (checkpoint * 3 / 2, "the last checkpoint is ")]
    {
        let ballast = 20 * checkpoint;
        let Some(disk) = Disk::mount(ballast + room + 64 * 1024) else {
            eprintln!("skipped: this user may not mount a small disk");
            return;
        };
        fs::write(disk.0.path().join("ballast"), vec![0; ballast as usize]).unwrap();
        let run = disk.0.path().join("run");
        let error = complaint(train(&run, "cartpole", &[]));
        assert!(error.contains("error: the disk is full: ") && error.contains(state), "{error}");
        assert!(!error.contains("run the same command again"), "{error}");
        let hint = format!("hint: then go on with: adfq train --resume {}", run.display());
        assert!(error.contains(&hint), "{error}");
        fs::remove_file(disk.0.path().join("ballast")).unwrap();
        succeed(resume(&run));
        assert_eq!(record(&run), record(&whole));
    }
}

/// 10 × 10 cells in four channels: 400 bytes as they come, 50 as bits, and 9 for the step. The memory read back is the same.
#[test]
fn a_cell_of_minatar_is_a_bit_on_disk() {
    let dir = tempdir().unwrap();
    let (whole, part) = (dir.path().join("whole"), dir.path().join("part"));
    let train = |folder: &Path| train(folder, "minatar/breakout", &["envs=2", "replay.capacity=4000"]);
    succeed(train(&whole));
    let bytes: u64 = saved(&whole, "replay-").iter().map(|path| fs::metadata(path).unwrap().len()).sum();
    assert!((2_000 * 59..2_000 * 80).contains(&bytes), "{bytes}");
    copy(&whole, &part);
    set_back(&part);
    assert!(said(resume(&part)).contains("at step 1,800 of 2,000"));
    assert_eq!(record(&part), record(&whole));
}

#[test]
fn a_bad_configuration_names_its_file_and_line() {
    let dir = tempdir().unwrap();
    let run = dir.path().join("run");
    succeed(train(&run, "cartpole", &["steps=400"]));
    let good = text(run.join("config.toml"));
    let (line, _) = good
        .lines()
        .zip(1..)
        .map(|(line, number)| (number, line))
        .find(|(_, line)| line.starts_with("batch"))
        .unwrap();
    let cases = [
        (good.replace("batch = ", "bach = "), format!("line {line}: ")),
        (good.replace("batch = ", "batch = ["), format!("line {}: ", line + 1)),
        (good.replace("batch = 16", "batch = 0"), "learning.batch".to_owned()),
    ];
    for (bad, expected) in cases {
        let file = dir.path().join("mine.toml");
        fs::write(&file, &bad).unwrap();
        fs::write(run.join("config.toml"), &bad).unwrap();
        let mut new = adfq(&["train", "cartpole", "--config"]);
        new.arg(&file).arg("--out").arg(dir.path().join("other"));
        for (command, path) in [(new, &file), (resume(&run), &run.join("config.toml"))] {
            let error = complaint(command);
            assert!(error.starts_with(&format!("error: {}: ", path.display())), "{error}");
            assert!(error.contains(&expected), "{expected}: {error}");
        }
    }
    assert!(
        complaint(adfq(&["train", "cartpole", "--config", "nowhere.toml"]))
            .contains("cannot read nowhere.toml")
    );
}

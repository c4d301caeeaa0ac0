//! `adfq train` as a user runs it: runs that are killed, stopped, torn, watched and evaluated.

mod common;

use adfq_files::Lock;
use common::{record, succeed, with};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::tempdir;

/// Settings small enough for a test and large enough to pass through everything: warm-up, many checkpoints, a memory
/// that is overwritten, evaluations.
const SMALL: [&str; 8] = [
    "steps=6000",
    "learning.warmup=300",
    "learning.target={hard=250}",
    "replay.capacity=1000",
    "logging.metrics=100",
    "logging.checkpoint=400",
    "evaluation.every=1000",
    "evaluation.final_episodes=10",
];

fn adfq(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_adfq"));
    command.args(arguments).stdin(Stdio::null());
    command
}

fn train(folder: &Path, env: &str, arguments: &[&str]) -> Command {
    let mut command = adfq(&["train", env, "--out"]);
    command.arg(folder);
    command.args(SMALL.iter().flat_map(|setting| ["--set", setting]));
    // What is finished is set back in some tests, and then needs its memory.
    command.arg("--keep-replay").args(arguments);
    command
}

/// The folder of the run with this beginning of its name and this seed among those of a sweep.
#[track_caller]
fn of_sweep(folder: &Path, start: &str, seed: u64) -> PathBuf {
    let mut entries =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let fits = |name: &String| name.starts_with(&format!("{start}-")) && name.ends_with(&format!("-{seed}"));
    folder.join(entries.find(fits).unwrap())
}

fn resume(folder: &Path) -> Command {
    let mut command = adfq(&["train", "--resume"]);
    command.arg(folder);
    command
}

/// What a command that must fail has said: its error, and below it nothing but hints.
#[track_caller]
fn complaint(command: Command) -> String {
    let text = common::complaint(command);
    let last = text.lines().rfind(|line| !line.starts_with("hint: "));
    assert!(last.is_some_and(|line| line.starts_with("error: ")), "{text}");
    text
}

/// What a run reached, whatever its configuration.
fn result(folder: &Path) -> String {
    fs::read_to_string(folder.join("result.json")).unwrap()
}

/// Kills the run as soon as `metrics.csv` has this many lines: wherever it then is, between checkpoints or within one.
/// Says whether it was still running.
fn kill_after(lines: usize, folder: &Path, mut run: Child) -> bool {
    let count = || fs::read_to_string(folder.join("metrics.csv")).map_or(0, |text| text.lines().count());
    while count() < lines && run.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    run.kill().unwrap();
    !run.wait().unwrap().success()
}

fn killed_and_resumed(env: &str, arguments: &[&str]) {
    let folder = tempdir().unwrap();
    let (whole, killed) = (folder.path().join("whole"), folder.path().join("killed"));
    succeed(train(&whole, env, arguments));
    let quiet = |mut command: Command| command.stderr(Stdio::null()).spawn().unwrap();
    let mut hits = u32::from(kill_after(2, &killed, quiet(train(&killed, env, arguments))));
    for lines in [9, 17, 30, 44] {
        hits += u32::from(kill_after(lines, &killed, quiet(resume(&killed))));
    }
    assert!(hits > 0, "no kill came before the end");
    succeed(resume(&killed));
    assert_eq!(record(&killed), record(&whole));
}

#[test]
fn adfq_killed_at_any_moment_ends_like_one_never_stopped() {
    killed_and_resumed("cartpole", &["--set", "replay.priority={alpha=0.6,beta=0.4,epsilon=1e-6}"]);
}

#[test]
fn dqn_killed_at_any_moment_ends_like_one_never_stopped() {
    killed_and_resumed("cartpole", &["--agent", "dqn", "--envs", "3", "--set", "replay.n_step=3"]);
}

#[test]
fn double_dqn_killed_at_any_moment_ends_like_one_never_stopped() {
    killed_and_resumed("deepsea-6", &["--agent", "ddqn", "--set", "learning.target={soft=0.01}"]);
}

#[test]
fn split_killed_at_any_moment_ends_like_one_never_stopped() {
    killed_and_resumed("deepsea-6", &["--agent", "split", "--envs", "2", "--set", "split.features=32"]);
}

#[test]
fn bsuite_killed_at_any_moment_ends_like_one_never_stopped() {
    killed_and_resumed("bsuite:catch_noise/8", &["--envs", "2"]);
}

/// MinAtar's network is large enough to run on several threads.
#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    let folder = tempdir().unwrap();
    let records = [1, 2, 8].map(|threads| {
        let out = folder.path().join(threads.to_string());
        let mut command = train(&out, "minatar/breakout", &["--set", "steps=600", "--threads"]);
        command.arg(threads.to_string());
        succeed(command);
        record(&out)
    });
    assert_eq!(records[0], records[1]);
    assert_eq!(records[0], records[2]);
}

fn checkpoints(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.join("checkpoints")).unwrap().map(|entry| entry.unwrap().path());
    let is_checkpoint = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with("step-");
    let mut found: Vec<_> = entries.filter(is_checkpoint).collect();
    found.sort();
    found
}

#[test]
fn a_torn_checkpoint_is_refused_and_the_one_before_it_used() {
    let folder = tempdir().unwrap();
    let run = folder.path().join("run");
    succeed(train(&run, "cartpole", &[]));
    let (whole, kept) = (record(&run), checkpoints(&run));
    assert_eq!(kept.len(), 2);
    let spoilers: [fn(&mut Vec<u8>); 2] = [|bytes| bytes.truncate(bytes.len() / 2), |bytes| bytes[1000] ^= 1];
    for spoil in spoilers {
        let last = checkpoints(&run).pop().unwrap();
        let mut bytes = fs::read(&last).unwrap();
        spoil(&mut bytes);
        fs::write(&last, bytes).unwrap();
        fs::remove_file(run.join("result.json")).unwrap();
        let output = succeed(with(resume(&run), "--keep-replay"));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("warning") && said.contains(last.to_str().unwrap()), "{said}");
        assert_eq!(record(&run), whole);
    }
}

#[test]
fn mistakes_get_one_clear_line() {
    let error = complaint(adfq(&["train", "cartpole", "--agent", "dqn", "--policy", "optimist"]));
    assert_eq!(error, "error: the agent dqn cannot follow the policy optimist; it knows epsilon\n");
    let error = complaint(adfq(&["train", "cartpole", "--agents", "dqn,adqf-ts"]));
    assert!(
        error.contains("there is no agent \"adqf-ts\"; there are adfq, bootstrapped, calibrated, ddqn,"),
        "{error}"
    );
    let folder = tempdir().unwrap();
    let run = folder.path().join("run");
    let unknown = complaint(train(&run, "cartpol", &[]));
    assert!(unknown.contains("cartpol") && unknown.contains("cartpole") && !run.exists(), "{unknown}");
    assert!(complaint(train(&run, "cartpole", &["--set", "learning.bach=3"])).contains("bach"));
    assert!(
        complaint(train(&run, "cartpole", &["--set", "learning.discount=1.5"])).contains("between 0 and 1")
    );
    let huge = complaint(train(&run, "cartpole", &["--set", "replay.capacity=4000000000"]));
    assert!(huge.contains("would fit"), "{huge}");
    let countless = complaint(train(&run, "cartpole", &["--envs", "9223372036854775808"]));
    assert!(countless.contains("replay.capacity must be room for a batch"), "{countless}");
    let atari = complaint(train(&run, "cartpole", &["--preset", "atari-paper"]));
    assert!(atari.contains("atari-paper is for the games of Atari") && atari.contains("cartpole"), "{atari}");
    let sticky = complaint(train(&run, "cartpole", &["--sticky"]));
    assert!(sticky.contains("--sticky is for the games of Atari"), "{sticky}");
    let argument = complaint(train(&run, "cartpole", &["--set", "env_args.gravity=-5.0"]));
    assert!(argument.contains("cartpole takes no arguments") && argument.contains("gravity"), "{argument}");
    assert!(
        complaint(train(&run, "cartpole", &["--set", "env=acrobot"]))
            .contains("the setting env must be given as the environment")
    );
    assert!(complaint(resume(&run)).contains("not a run"));
    assert!(!run.exists());
    succeed(train(&run, "cartpole", &["--set", "steps=1000"]));
    assert!(complaint(train(&run, "cartpole", &[])).contains("--resume"));
    fs::remove_file(run.join("result.json")).unwrap();
    let _held = Lock::acquire(&run).unwrap();
    assert!(complaint(resume(&run)).contains("in use"));
}

#[test]
fn fewer_steps_of_the_paper_are_evaluated_a_hundred_times_too() {
    let folder = tempdir().unwrap();
    let run = folder.path().join("run");
    let mut command = adfq(&["train", "cartpole", "--preset", "paper", "--steps", "1200", "--out"]);
    command.arg(&run).args(["--set", "evaluation.episodes=1", "--set", "evaluation.final_episodes=1"]);
    command.args(["--workers", "2", "--worker-timeout", "5"]);
    succeed(command);
    let [_, metrics, evaluations] = record(&run);
    assert_eq!(evaluations.lines().next(), Some("step,episode,return,clipped_return,length"));
    assert_eq!(evaluations.lines().count(), 101);
    assert!(metrics.starts_with("step,episodes,updates,train_return,train_clipped_return,"), "{metrics}");
}

#[test]
fn a_checkpoint_of_another_version_is_refused_by_name() {
    let folder = tempdir().unwrap();
    let run = folder.path().join("run");
    succeed(train(&run, "cartpole", &["--set", "steps=1000"]));
    // A later format: every checkpoint says so, and none can be used.
    for path in checkpoints(&run) {
        adfq_files::Container::new("checkpoint", 99).write(path).unwrap();
    }
    fs::remove_file(run.join("result.json")).unwrap();
    let mut eval = adfq(&["eval"]);
    eval.arg(&run);
    let before = fs::read(run.join("metrics.csv")).unwrap();
    for command in [eval, resume(&run)] {
        let said = complaint(command);
        assert!(said.contains("a checkpoint of format 99") && said.contains("reads format 6"), "{said}");
    }
    // Starting over would have thrown away what was there.
    assert_eq!(fs::read(run.join("metrics.csv")).unwrap(), before);
}

/// A signal between two checkpoints: what was reached is saved, the program says how to go on, and its exit status says
/// that it was stopped.
#[test]
#[cfg(unix)]
fn an_interrupted_run_saves_and_ends_like_one_never_stopped() {
    let folder = tempdir().unwrap();
    let whole = folder.path().join("whole");
    let never = ["--set", "logging.checkpoint=1000000"];
    succeed(train(&whole, "cartpole", &never));
    for (signal, status) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        let stopped = folder.path().join(signal);
        let child = train(&stopped, "cartpole", &never).stderr(Stdio::piped()).spawn().unwrap();
        while fs::read_to_string(stopped.join("metrics.csv")).map_or(0, |text| text.lines().count()) < 8 {
            std::thread::yield_now();
        }
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{said}");
        assert!(said.contains("go on with: adfq train --resume") && !said.contains("error"), "{said}");
        let resumed = String::from_utf8(succeed(resume(&stopped)).stderr).unwrap();
        assert!(!resumed.contains("at step 0 of"), "{resumed}");
        assert_eq!(result(&stopped), result(&whole), "{signal}");
    }
}

#[test]
fn a_trained_agent_is_evaluated_filmed_and_its_beliefs_written() {
    let folder = tempdir().unwrap();
    let run = folder.path().join("run");
    succeed(train(&run, "cartpole", &["--set", "steps=1000"]));
    let (film, beliefs) = (folder.path().join("film.gif"), folder.path().join("beliefs.csv"));
    let mut eval = adfq(&["eval", "--episodes", "2", "--json"]);
    eval.arg(&run).arg("--video").arg(&film).arg("--beliefs").arg(&beliefs);
    let output = succeed(eval);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    // CartPole pays 1 a step: clipping changes nothing.
    assert_eq!(json["clipped_mean"], json["mean"]);
    assert_eq!(json["episodes"][1]["clipped"], json["episodes"][1]["total"]);
    let lengths: u64 = (0..2).map(|i| json["episodes"][i]["length"].as_u64().unwrap()).sum();
    let text = fs::read_to_string(beliefs).unwrap();
    assert_eq!(text.lines().next(), Some("episode,step,action,mean_0,mean_1,sd_0,sd_1"));
    assert_eq!(text.lines().count() as u64, 1 + lengths);
    assert!(fs::read(film).unwrap().starts_with(b"GIF89a"));
}

#[test]
fn several_seeds_run_side_by_side_and_each_as_if_alone() {
    let folder = tempdir().unwrap();
    let (all, one) = (folder.path().join("all"), folder.path().join("one"));
    let output = succeed(train(&all, "cartpole", &["--seeds", "0..2", "--set", "steps=1000"]));
    assert!(String::from_utf8(output.stderr).unwrap().contains("3 of 3 runs finished"));
    succeed(train(&one, "cartpole", &["--seed", "1", "--set", "steps=1000"]));
    assert_eq!(record(&of_sweep(&all, "cartpole-calibrated-doubt", 1)), record(&one));
    assert_ne!(record(&of_sweep(&all, "cartpole-calibrated-doubt", 0)), record(&one));
}

#[test]
fn several_agents_run_side_by_side_and_each_as_if_alone() {
    let folder = tempdir().unwrap();
    let (all, one) = (folder.path().join("all"), folder.path().join("one"));
    let agents = ["--agents", "adfq-eps,ddqn", "--seeds", "3,4", "--set", "steps=1000"];
    let said = String::from_utf8(succeed(train(&all, "cartpole", &agents)).stderr).unwrap();
    assert!(
        said.contains("4 of 4 runs finished") && said.contains("ddqn with epsilon, 2 runs: mean"),
        "{said}"
    );
    succeed(train(&one, "cartpole", &["--agent", "ddqn", "--seed", "4", "--set", "steps=1000"]));
    assert_eq!(record(&of_sweep(&all, "cartpole-ddqn-epsilon", 4)), record(&one));
    // One agent of the list alone is that agent too.
    let alone = folder.path().join("alone");
    succeed(train(&alone, "cartpole", &["--agents", "ddqn", "--seed", "4", "--set", "steps=1000"]));
    assert_eq!(record(&alone), record(&one));
    assert_ne!(record(&of_sweep(&all, "cartpole-adfq-epsilon", 4)), record(&one));
}

#[test]
fn several_environments_run_side_by_side_and_are_resumed_together() {
    let folder = tempdir().unwrap();
    let (all, one) = (folder.path().join("all"), folder.path().join("one"));
    let short = ["--set", "steps=1000"];
    let said = String::from_utf8(succeed(train(&all, "cartpole,acrobot", &short)).stderr).unwrap();
    assert!(
        said.contains("2 of 2 runs finished") && said.contains("acrobot, calibrated with doubt, 1 run: mean"),
        "{said}"
    );
    for run in ["cartpole calibrated-doubt seed 0", "acrobot calibrated-doubt seed 0"] {
        assert!(said.lines().any(|line| line.contains("greedy return") && line.ends_with(run)), "{said}");
    }
    succeed(train(&one, "acrobot", &short));
    let runs = ["cartpole", "acrobot"].map(|env| of_sweep(&all, &format!("{env}-calibrated-doubt"), 0));
    assert_eq!(record(&runs[1]), record(&one));
    let before = runs.each_ref().map(|run| record(run));
    for run in &runs {
        fs::remove_file(checkpoints(run).pop().unwrap()).unwrap();
        fs::remove_file(run.join("result.json")).unwrap();
    }
    let mut command = resume(&runs[0]);
    command.arg(&runs[1]);
    let said = String::from_utf8(succeed(command).stderr).unwrap();
    assert!(said.matches("at step 800 of 1,000").count() == 2, "{said}");
    assert_eq!(runs.each_ref().map(|run| record(run)), before);
}

/// The same command again: what was stopped goes on, what is missing is trained, what is finished stays.
#[test]
fn several_runs_are_continued_by_the_same_command() {
    let folder = tempdir().unwrap();
    let all = folder.path().join("all");
    let sweep = ["--agents", "dqn,bootstrapped", "--seeds", "0,1", "--set", "steps=1000"];
    succeed(train(&all, "cartpole", &sweep));
    let runs: Vec<_> =
        [("dqn-epsilon", 0), ("dqn-epsilon", 1), ("bootstrapped-head", 0), ("bootstrapped-head", 1)]
            .iter()
            .map(|(name, seed)| of_sweep(&all, &format!("cartpole-{name}"), *seed))
            .collect();
    let before: Vec<_> = runs.iter().map(|run| record(run)).collect();
    fs::remove_dir_all(&runs[0]).unwrap();
    fs::remove_file(checkpoints(&runs[2]).pop().unwrap()).unwrap();
    fs::remove_file(runs[2].join("result.json")).unwrap();
    let said = String::from_utf8(succeed(train(&all, "cartpole", &sweep)).stderr).unwrap();
    assert!(said.contains("4 of 4 runs finished"), "{said}");
    assert!(said.contains("at step 800 of 1,000") && said.matches("resuming").count() == 1, "{said}");
    assert_eq!(runs.iter().map(|run| record(run)).collect::<Vec<_>>(), before);
    let other = [&sweep[..], &["--preset", "paper"]].concat();
    let said = common::complaint(train(&all, "cartpole", &other));
    assert!(said.contains("another configuration"), "{said}");
}

/// Output that nobody reads, or that cannot be written, does not stop a training.
#[test]
#[cfg(unix)]
fn a_run_survives_its_terminal() {
    let folder = tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_adfq");
    for (name, redirection) in [("closed", "2>&-"), ("gone", "2>&1 | head -1"), ("full", "2>/dev/full")] {
        let run = folder.path().join(name);
        let settings = "--steps 1000 --set evaluation.every=200 --set evaluation.episodes=1";
        let line = format!("{program} train cartpole --out {} {settings} {redirection}", run.display());
        let status = Command::new("sh").args(["-c", &line]).stdout(Stdio::null()).status().unwrap();
        assert!(status.success(), "{name}");
        assert!(run.join("result.json").exists(), "{name}");
    }
}

#[test]
fn nothing_of_the_users_is_overwritten_or_removed() {
    let folder = tempdir().unwrap();
    let (taken, run) = (folder.path().join("taken"), folder.path().join("run"));
    fs::create_dir(&taken).unwrap();
    fs::write(taken.join("metrics.csv"), "mine").unwrap();
    let said = complaint(train(&taken, "cartpole", &[]));
    assert!(said.contains("is not empty") && said.contains("metrics.csv"), "{said}");
    assert_eq!(fs::read_to_string(taken.join("metrics.csv")).unwrap(), "mine");
    succeed(train(&run, "cartpole", &["--set", "steps=1000"]));
    let kept = ["backup.adfq", "step-000000000400 (copy).adfq", "replay-0.adfq", "notes.txt"]
        .map(|name| run.join("checkpoints").join(name));
    kept.iter().for_each(|path| fs::write(path, "mine").unwrap());
    fs::remove_file(checkpoints(&run).pop().unwrap()).unwrap();
    fs::remove_file(run.join("result.json")).unwrap();
    succeed(resume(&run));
    assert!(kept.iter().all(|path| fs::read_to_string(path).unwrap() == "mine"));
}

#[test]
fn a_configuration_file_is_enough() {
    let folder = tempdir().unwrap();
    let [first, again, other] = ["first", "again", "other"].map(|name| folder.path().join(name));
    succeed(train(&first, "cartpole", &["--steps", "1e3", "--agent", "dqn"]));
    let config = first.join("config.toml");
    let from_file = |out: &Path, arguments: &[&str]| {
        let mut command = adfq(&["train", "--config"]);
        command.arg(&config).arg("--out").arg(out).args(arguments);
        command
    };
    succeed(from_file(&again, &[]));
    assert_eq!(record(&again), record(&first));
    // What is given beside the file wins over it, as with the name of an environment.
    succeed(from_file(&other, &["--seed", "5", "--steps", "400"]));
    assert_eq!(
        fs::read_to_string(other.join("config.toml")).unwrap().lines().next(),
        Some("env = \"cartpole\"")
    );
    let said = common::complaint(adfq(&["train"]));
    assert!(said.contains("required arguments"), "{said}");
}

#[test]
fn the_version_is_that_of_the_program() {
    let said = String::from_utf8(succeed(adfq(&["--version"])).stdout).unwrap();
    assert_eq!(said, format!("adfq {}\n", env!("CARGO_PKG_VERSION")));
}

/// What TensorBoard shows of it is tested where event files are written.
#[test]
fn tensorboard_gets_the_settings_and_no_chart_that_says_nothing() {
    let folder = tempdir().unwrap();
    for (name, clips) in [("whole", "false"), ("clipped", "true")] {
        let run = folder.path().join(name);
        let clip = format!("learning.clip_rewards={clips}");
        succeed(train(&run, "cartpole", &["--steps", "1000", "--set", "steps=1000", "--set", &clip]));
        let events = fs::read(run.join("events.out.tfevents.0.adfq")).unwrap();
        let count =
            |text: &str| events.windows(text.len()).filter(|window| *window == text.as_bytes()).count();
        for once in ["_hparams_/session_start_info", "learning.batch", "_hparams_/session_end_info"] {
            assert_eq!(count(once), 1, "{name}: {once}");
        }
        assert!(count("evaluation/return") > 0);
        assert_eq!(count("clipped_return") > 0, clips == "true", "{name}");
        assert!(count("episode_length") > 0);
    }
}

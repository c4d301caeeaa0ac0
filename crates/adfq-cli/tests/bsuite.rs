//! `adfq bsuite` from the outside: the package's own score functions agree with ours on the same files, a sweep that is killed goes on,
//! and the number of threads changes nothing.
//!
//! `scripts/python.sh` installs the package; without it the tests that need it say so and pass, except in CI.

#[path = "../../adfq-env/tests/bridge/interpreter.rs"]
mod interpreter;

mod common;

use adfq_env::Step;
use adfq_env::bsuite::{Log, Setting, Task, settings};
use common::{Outcome, adfq_in, refused, succeed, text};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::tempdir;

/// The folder of DQN's results.
const DQN: &str = "out/dqn-epsilon/seed-0";
/// Images made up for tests, in the format of MNIST.
const MNIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../adfq-env/tests/recorded/bsuite/mnist");

/// Runs `adfq bsuite` with these arguments in a folder, where its results go to `out`.
fn bsuite(folder: &Path, arguments: &[&str]) -> Outcome {
    adfq_in(folder, &[&["bsuite", "--out", "out"], arguments].concat())
}

#[track_caller]
fn run(folder: &Path, arguments: &[&str]) -> Outcome {
    let outcome = bsuite(folder, arguments);
    assert!(outcome.success, "{arguments:?}: {}", outcome.stderr);
    outcome
}

/// The CSV files of DQN, by name.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder.join(DQN)).unwrap().map(|entry| entry.unwrap().path());
    let csv = entries.filter(|path| path.extension().is_some_and(|ending| ending == "csv"));
    csv.map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), text(&path))).collect()
}

/// A Python with the package.
fn package() -> Option<PathBuf> {
    let python = interpreter::python()?;
    let found = Command::new(&python).args(["-c", "import bsuite"]).stderr(Stdio::null()).status().unwrap();
    if !found.success() {
        assert!(std::env::var_os("CI").is_none(), "run scripts/python.sh first");
        println!("not tested: there is no package bsuite; scripts/python.sh installs it");
    }
    found.success().then_some(python)
}

/// The package's scores of these folders.
fn scored_by_package(python: &Path, folders: &[PathBuf]) -> Vec<Value> {
    let mut score = Command::new(python);
    score.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/bsuite_score.py")).args(folders);
    let printed = String::from_utf8(succeed(score).stdout).unwrap();
    // The package prints remarks of its own.
    let lines = printed.lines().filter(|line| line.starts_with('{'));
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Ours of the first agent, by name: experiments, whether they are finished, and abilities.
fn ours(json: &str) -> Value {
    let scores: Value = serde_json::from_str(json).unwrap();
    let (mut experiments, mut finished, mut tags) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for it in scores["agents"][0]["experiments"].as_array().unwrap() {
        let name = it["experiment"].as_str().unwrap().to_owned();
        finished.insert(name.clone(), it["finished"].clone());
        experiments.insert(name, it["score"]["value"].clone());
    }
    for tag in scores["agents"][0]["tags"].as_array().unwrap() {
        tags.insert(tag[0].as_str().unwrap().to_owned(), tag[1]["value"].clone());
    }
    serde_json::json!({ "experiments": experiments, "finished": finished, "tags": tags })
}

/// The same names with the same numbers, to 1e-9.
#[track_caller]
fn assert_same(ours: &Value, theirs: &Value) {
    for part in ["experiments", "tags"] {
        let (ours, theirs) = (ours[part].as_object().unwrap(), theirs[part].as_object().unwrap());
        assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>());
        for (name, own) in ours {
            let (own, their) = (own.as_f64(), theirs[name].as_f64());
            let same = own.zip(their).map_or(own == their, |(own, their)| (own - their).abs() < 1e-9);
            assert!(same, "{name}: {own:?} and {their:?}");
        }
    }
    assert_eq!(ours["finished"], theirs["finished"]);
}

/// Numbers from 0 to 1, the same ones for the same seed.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The episodes that the package logs, up to this one.
fn logged(episodes: u64) -> Vec<f64> {
    let (mut log, mut due) = (Log::default(), vec![]);
    for episode in 1..=episodes {
        log.step(&Step { terminated: true, ..Step::default() });
        due.extend(log.is_due().then_some(episode as f64));
    }
    due
}

/// A made-up file of a setting, of an agent that is as good as chance will have it and becomes better at some time.
fn made_up(setting: &Setting, episodes: u64, chance: &mut Chance) -> String {
    let (quality, begins, best) = (chance.next(), 10_f64.powf(5.0 * chance.next()), chance.next());
    let mut rows = String::new();
    let mut names: Vec<&str> = vec![];
    for episode in logged(episodes.min(setting.experiment.episodes)) {
        let good = quality * (episode - begins).max(0.0) + 0.3 * quality * chance.next();
        let bad = episode - good;
        let columns: Vec<(&str, f64)> = match setting.task {
            Task::Bandit { .. } => vec![("total_regret", 0.7 * bad)],
            Task::Catch | Task::Mnist => vec![("total_regret", 2.0 * bad)],
            Task::UmbrellaLength { .. } | Task::UmbrellaDistract { .. } => vec![("total_regret", bad)],
            Task::MemoryLen { .. } | Task::MemorySize { .. } => {
                vec![("total_perfect", (0.5 * episode + 0.5 * good).floor()), ("total_regret", bad)]
            }
            Task::DeepSea { .. } | Task::DeepSeaStochastic { .. } => {
                vec![("total_bad_episodes", bad.floor()), ("denoised_return", good.floor())]
            }
            Task::Cartpole => vec![("raw_return", 1000.0 * good), ("best_episode", 1000.0 * best)],
            Task::CartpoleSwingup { .. } => {
                vec![("raw_return", good), ("total_upright", good), ("best_episode", 200.0 * best)]
            }
            Task::MountainCar => vec![("raw_return", -1000.0 * bad - 100.0 * good)],
            Task::DiscountingChain { .. } => vec![],
        };
        let total_return = match setting.task {
            Task::DiscountingChain { .. } => episode + 0.1 * good,
            _ => 700.0 * good,
        };
        let counts = [("steps", 9.0 * episode), ("episode", episode), ("total_return", total_return)];
        let columns: Vec<_> = counts.into_iter().chain(columns).collect();
        names = columns.iter().map(|(name, _)| *name).collect();
        let row: Vec<String> = columns.iter().map(|(_, x)| format!("{x:?}")).collect();
        rows += &format!("{}\n", row.join(","));
    }
    format!("{}\n{rows}", names.join(","))
}

/// Results of all 468 settings that no agent has made, of whole and of shorter sweeps: the package's functions give our scores.
#[test]
fn the_package_scores_made_up_results_as_we_do() {
    let Some(python) = package() else { return };
    let folder = tempdir().unwrap();
    let (mut scores, mut folders) = (vec![], vec![]);
    for (number, episodes) in [10_000, 10_000, 10_000, 700, 100].into_iter().enumerate() {
        let (chance, sweep) = (&mut Chance(number as u64 + 1), folder.path().join(number.to_string()));
        fs::create_dir_all(sweep.join(DQN)).unwrap();
        for setting in settings() {
            let file = format!("bsuite_id_-_{}-{}.csv", setting.experiment.name, setting.index);
            fs::write(sweep.join(DQN).join(file), made_up(&setting, episodes, chance)).unwrap();
        }
        let most = episodes.to_string();
        let short: &[&str] = if episodes < 10_000 { &["--episodes", &most] } else { &[] };
        let outcome = run(&sweep, &[&["--agents", "dqn", "--mnist", MNIST, "--json"], short].concat());
        assert!(outcome.stderr.contains(", 468 were finished before"), "{}", outcome.stderr);
        scores.push(ours(&outcome.stdout));
        folders.push(sweep.join(DQN));
    }
    let theirs = scored_by_package(&python, &folders);
    assert_eq!(theirs.len(), scores.len());
    for (ours, theirs) in scores.iter().zip(&theirs) {
        assert_same(ours, theirs);
    }
    // The scores are such that the comparison says something.
    let between = |it: &&Value| it.as_f64().is_some_and(|score| score > 0.01 && score < 0.99);
    let told = scores.iter().flat_map(|it| it["experiments"].as_object().unwrap().values()).filter(between);
    assert!(told.count() > 60);
}

/// A short sweep of one setting of every experiment, MNIST included: the package reads our files and gives our scores.
#[test]
fn the_package_reads_what_a_sweep_writes() {
    let folder = tempdir().unwrap();
    let arguments = ["--agents", "dqn", "--quick", "--episodes", "14", "--mnist", MNIST];
    let outcome = run(folder.path(), &arguments);
    assert!(outcome.stderr.contains("23 settings to run, on "), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("these are not the scores of bsuite"), "{}", outcome.stderr);
    for part in ["\nmnist_scale ", "  1 of 20 ", "\ncredit assignment ", "\nall experiments "] {
        assert!(outcome.stdout.contains(part), "{part:?} in {}", outcome.stdout);
    }
    for file in ["scores.json", "scores.csv", "abilities.csv", "radar.svg", "bars.svg", "report.html"] {
        assert!(folder.path().join("out").join(file).exists(), "{file}");
    }
    let report = text(folder.path().join("out/report.html"));
    assert!(report.contains("At most 14 episodes were run in each setting"));
    assert!(report.contains("adfq bsuite --agents dqn --quick --seeds 0 --mnist FOLDER --episodes 14"));
    let catch = &files(folder.path())["bsuite_id_-_catch-10.csv"];
    assert!(
        catch.starts_with("steps,episode,total_return,episode_len,episode_return,total_regret\n9,1,"),
        "{catch}"
    );
    assert_eq!(catch.lines().count(), 13, "the first ten episodes, 12 and 14");
    // Scoring the same folder once more, as JSON.
    let again = run(folder.path(), &[&arguments[..], &["--json"]].concat());
    if let Some(python) = package() {
        let theirs = scored_by_package(&python, &[folder.path().join(DQN)]);
        assert_same(&ours(&again.stdout), &theirs[0]);
    }
}

/// Every agent runs, each in a folder of its own, and several seeds give intervals.
#[test]
fn agents_and_seeds_are_compared() {
    let folder = tempdir().unwrap();
    let agents = "split,adfq-ts,dqn,boot-dqn,bootstrapped";
    let words = ["--agents", agents, "--only", "catch/0,memory_len/1", "--episodes", "40", "--seeds", "0..2"];
    let outcome = run(folder.path(), &words);
    assert!(outcome.stderr.contains("24 settings to run"), "boot-dqn is bootstrapped: {}", outcome.stderr);
    let head = outcome.stdout.lines().next().unwrap();
    let labels = ["experiment", "settings", "Split ADFQ", "ADFQ-TS", "DQN", "Bootstrapped DQN"];
    assert_eq!(head.split("  ").map(str::trim).filter(|word| !word.is_empty()).collect::<Vec<_>>(), labels);
    assert!(outcome.stdout.lines().nth(1).unwrap().contains('['), "{}", outcome.stdout);
    for agent in ["split-optimist", "adfq-thompson", "dqn-epsilon", "bootstrapped-head"] {
        for seed in 0..3 {
            let file = format!("out/{agent}/seed-{seed}/bsuite_id_-_memory_len-1.csv");
            assert!(folder.path().join(&file).exists(), "{file}");
        }
    }
    assert_ne!(
        text(folder.path().join(DQN).join("bsuite_id_-_catch-0.csv")),
        text(folder.path().join("out/dqn-epsilon/seed-1/bsuite_id_-_catch-0.csv"))
    );
}

/// Settings of one experiment may be the same but for chance: they are different runs. The number of threads changes nothing.
#[test]
fn threads_change_nothing_and_settings_have_chance_of_their_own() {
    let [one, two] = [tempdir().unwrap(), tempdir().unwrap()];
    let words =
        ["--agents", "dqn", "--only", "catch/0,catch/1,bandit/0,discounting_chain/2", "--episodes", "30"];
    let printed = run(one.path(), &[&words[..], &["--threads", "1"]].concat()).stdout;
    assert_eq!(run(two.path(), &[&words[..], &["--threads", "2"]].concat()).stdout, printed);
    let (one, two) = (files(one.path()), files(two.path()));
    assert_eq!(one.len(), 4);
    assert_eq!(one, two);
    assert_ne!(one["bsuite_id_-_catch-0.csv"], one["bsuite_id_-_catch-1.csv"]);
}

/// Killed in the middle, the same command goes on with what is missing and ends with the same files.
#[test]
fn a_sweep_that_is_killed_goes_on() {
    let [whole, killed] = [tempdir().unwrap(), tempdir().unwrap()];
    let words = ["--agents", "dqn", "--only", "umbrella_length", "--episodes", "100", "--threads", "1"];
    run(whole.path(), &words);
    let mut command = Command::new(env!("CARGO_BIN_EXE_adfq"));
    command.args(["bsuite", "--out", "out"]).args(words).current_dir(killed.path());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let some = || killed.path().join(DQN).exists() && files(killed.path()).len() >= 2;
    while !some() && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    assert!(!child.wait().unwrap().success(), "the kill came after the end");
    let kept = files(killed.path()).len();
    let outcome = run(killed.path(), &words);
    for said in ["settings to run, ", "settings run in "].map(|what| format!("{} {what}", 23 - kept)) {
        assert!(outcome.stderr.contains(&said), "{said} in {}", outcome.stderr);
    }
    assert!(outcome.stderr.contains(&format!("{kept} were finished before")), "{}", outcome.stderr);
    assert_eq!(files(killed.path()), files(whole.path()));
}

/// Ctrl-C stops in the middle of a setting and says how to go on.
#[test]
fn a_signal_stops_a_sweep() {
    let folder = tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_adfq"));
    command.args([
        "bsuite",
        "--out",
        "out",
        "--agents",
        "dqn",
        "--only",
        "cartpole_swingup/0",
        "--threads",
        "1",
    ]);
    let mut child =
        command.current_dir(folder.path()).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    while !folder.path().join(DQN).join("settings.toml").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it began");
        std::thread::yield_now();
    }
    let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.ends_with("stopped; the same command goes on with what is missing\n"), "{said}");
    assert!(files(folder.path()).is_empty());
}

#[test]
fn names_that_there_are_not_are_refused() {
    let error = refused(&["bsuite", "--agents", "dqm"]);
    assert!(error.contains("dqm") && error.contains("bootstrapped"), "{error}");
    let error = refused(&["bsuite", "--only", "exploraton"]);
    assert!(error.contains("nothing is called \"exploraton\"; did you mean \"exploration\"?"), "{error}");
    let error = refused(&["bsuite", "--only", "catch/20"]);
    assert!(error.contains("catch/0 to catch/19"), "{error}");
    let error = refused(&["bsuite", "--set", "learning.bach=3"]);
    assert!(error.contains("bach"), "{error}");
    let error = refused(&["bsuite", "--only", "mnist"]);
    assert!(
        error.contains("20 settings with MNIST are left out") && error.contains("nothing is left to run"),
        "{error}"
    );
}

/// Results of other settings are not continued, nor mixed with these.
#[test]
fn a_folder_of_other_settings_is_refused() {
    let folder = tempdir().unwrap();
    let words = ["--agents", "dqn", "--only", "bandit/0", "--episodes", "20"];
    run(folder.path(), &words);
    for other in [&["--set", "learning.batch=16"][..], &["--episodes", "30"]] {
        let words = [&words[..4], if other[0] == "--set" { &words[4..] } else { &[] }, other].concat();
        let outcome = bsuite(folder.path(), &words);
        assert!(!outcome.success);
        assert!(outcome.stderr.contains("holds results of other settings than these"), "{}", outcome.stderr);
    }
    let more = run(folder.path(), &["--agents", "dqn", "--only", "bandit/0,bandit/1", "--episodes", "20"]);
    assert!(more.stderr.contains("1 settings run"), "{}", more.stderr);
}

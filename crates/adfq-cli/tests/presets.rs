//! The settings that come with the program: what lists them, who takes them, and what goes before them.

mod common;

use adfq_deep::Config;
use common::{complaint, succeed};
use std::path::Path;
use std::process::Command;
use tempfile::tempdir;

fn adfq(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_adfq"));
    command.args(arguments);
    command
}

/// A short training of CartPole: what it says, and its configuration.
fn train(folder: &Path, arguments: &[&str]) -> (String, Config) {
    let mut command =
        adfq(&["train", "cartpole", "--steps", "200", "--set", "evaluation.final_episodes=1", "--out"]);
    command.arg(folder).args(arguments);
    let said = String::from_utf8(succeed(command).stderr).unwrap();
    (said, Config::from_file(&folder.join("config.toml")).unwrap())
}

#[test]
fn they_are_listed_with_what_they_reach() {
    let listed = String::from_utf8(succeed(adfq(&["presets"])).stdout).unwrap();
    for word in
        ["--preset paper", "cartpole", "gym:LunarLander-v3", "adfq", "dqn", "95 %", "general settings"]
    {
        assert!(listed.contains(word), "{word}: {listed}");
    }
    let one = String::from_utf8(succeed(adfq(&["presets", "gym:CartPole-v1"])).stdout).unwrap();
    assert!(one.contains("--set 'replay.n_step=5'") && !one.contains("LunarLander"), "{one}");
    // A return is that of one environment, also where the settings are for several.
    let pong = String::from_utf8(succeed(adfq(&["presets", "atari:pong"])).stdout).unwrap();
    assert!(pong.contains("atari:*, judged on atari:kung_fu_master"), "{pong}");
    let error = complaint(adfq(&["presets", "nowhere"]));
    assert!(error.contains("no tuned settings for nowhere") && error.contains("--preset default"), "{error}");
}

#[test]
fn a_training_takes_them_and_says_so() {
    let dir = tempdir().unwrap();
    let (said, tuned) = train(&dir.path().join("tuned"), &["--agent", "adfq"]);
    assert!(
        said.contains("settings tuned for cartpole and adfq") && said.contains("--preset default"),
        "{said}"
    );
    let (said, general) = train(&dir.path().join("general"), &["--agent", "adfq", "--preset", "default"]);
    assert!(!said.contains("tuned"), "{said}");
    assert_eq!((tuned.replay.n_step, general.replay.n_step), (5, 1));
    // What is set on the command line goes before them.
    let (_, own) = train(&dir.path().join("own"), &["--agent", "adfq", "--set", "replay.n_step=2"]);
    assert_eq!((own.replay.n_step, own.learning), (2, tuned.learning));
    // They belong to an agent and its policy.
    let (said, other) = train(&dir.path().join("epsilon"), &["--agents", "adfq-eps"]);
    assert!(!said.contains("tuned"), "{said}");
    assert_eq!(other.replay, general.replay);
    // A configuration file is taken as it is.
    let file = dir.path().join("general/config.toml");
    let (said, again) = train(&dir.path().join("again"), &["--config", file.to_str().unwrap()]);
    assert!(!said.contains("tuned"), "{said}");
    assert_eq!(again, general);
}

#[test]
fn agents_without_any_train_for_as_many_steps() {
    let dir = tempdir().unwrap();
    let mut command = adfq(&["train", "cartpole", "--agents", "adfq,split", "--set", "steps=300", "--out"]);
    command.arg(dir.path().join("runs"));
    let said = String::from_utf8(succeed(command).stderr).unwrap();
    assert!(said.contains("tuned for cartpole and adfq") && !said.contains("and split"), "{said}");
}

#[test]
fn a_wrong_name_lists_those_there_are() {
    let error = complaint(adfq(&["train", "cartpole", "--preset", "best"]));
    assert!(error.contains("tuned, default, paper, atari-paper, bsuite"), "{error}");
}

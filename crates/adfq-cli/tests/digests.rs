//! What every deep agent learns, pinned: digests of parameters, replay memory and logs after a short run.
//!
//! A change that moves one of these changes every recorded result. If that is meant, say so in the changelog and write
//! the new digests that the failing test prints.

mod common;

use common::succeed;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Small enough for a test, large enough to pass through warm-up, target copies, a full memory and an evaluation.
const SETTINGS: [&str; 8] = [
    "steps=1200",
    "learning.warmup=200",
    "learning.target={hard=250}",
    "replay.capacity=700",
    "logging.metrics=100",
    "logging.checkpoint=500",
    "evaluation={every=600, episodes=2, final_episodes=3, max_steps=200}",
    "seed=3",
];

/// FNV-1a over bytes.
fn digest(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// Digests of parameters, replay memory, metrics and evaluations after training.
fn train(folder: &Path, env: &str, agent: &str, envs: usize) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_adfq"));
    let (agent, policy) = agent.split_once(' ').unwrap();
    command.args(["train", env, "--agent", agent, "--policy", policy, "--envs", &envs.to_string()]);
    command.args(["--preset", "default", "--out"]);
    let run = folder.join("run");
    command.arg(&run);
    command.args(SETTINGS.iter().flat_map(|setting| ["--set", setting]));
    succeed(command);
    let result: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(run.join("result.json")).unwrap()).unwrap();
    let text = |key: &str| result[key].as_str().unwrap().to_owned();
    let log = |name: &str| format!("{:016x}", digest(&fs::read(run.join(name)).unwrap()));
    [text("parameters"), text("replay"), log("metrics.csv"), log("evaluations.csv")].join(" ")
}

#[test]
fn every_agent_learns_the_same_bits() {
    let expected = include_str!("digests.txt");
    let mut found = String::new();
    for env in ["cartpole", "minatar/breakout"] {
        for agent in [
            "adfq thompson",
            "adfq epsilon",
            "dqn epsilon",
            "ddqn epsilon",
            "split optimist",
            "split thompson",
        ] {
            for envs in [1, 3] {
                let folder = tempfile::tempdir().unwrap();
                found += &format!("{env} {agent} {envs} {}\n", train(folder.path(), env, agent, envs));
            }
        }
    }
    assert_eq!(found, expected, "what is learned has changed; now it is:\n{found}");
}

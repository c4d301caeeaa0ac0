//! `adfq compare` from the outside.

mod common;

use common::{adfq_in, printed, refused};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Two agents with three seeds each on two environments; the second agent is better by 10 in every run.
fn runs(folder: &Path) {
    for (env, scale) in [("cartpole", 100), ("breakout", 1)] {
        for (agent, better) in [("dqn", 0), ("ddqn", 10)] {
            for seed in 0..3 {
                let run = folder.join(format!("{env}/{agent}-{seed}"));
                fs::create_dir_all(&run).unwrap();
                let head =
                    format!("env = \"{env}\"\nagent = \"{agent}\"\npolicy = \"epsilon\"\nseed = {seed}\n");
                fs::write(run.join("config.toml"), head + "steps = 3000\n[learning]\nbatch = 32\n").unwrap();
                let row = |i: i32| {
                    let value = scale * i * (better + seed + 1);
                    format!("{},0,{value},9\n{},1,{value},9\n", 1000 * i, 1000 * i)
                };
                let rows: String = (1..=3).map(row).collect();
                fs::write(run.join("evaluations.csv"), format!("step,episode,return,length\n{rows}30"))
                    .unwrap();
            }
        }
    }
}

#[test]
fn prints_tables_and_writes_pictures() {
    let folder = tempfile::tempdir().unwrap();
    runs(&folder.path().join("runs"));
    let outcome = adfq_in(folder.path(), &["compare", "runs", "--out", "new/out"]);
    assert!(outcome.success, "{}", outcome.stderr);
    assert_eq!(outcome.stderr, "wrote the report to new/out/report.html\n");
    for part in [
        "cartpole: 3 evaluations up to step 3,000\n",
        "\nDouble DQN      3  36.00 [33.00, 39.00]  24.00 [22.00, 26.00]\n",
        "\nP(row > column), final return\n                          DQN         Double DQN\n",
        "\nOver 2 environments, final return normalised: 0 is the lowest and 1 the highest mean",
        "intervals that are too short, and an IQM of fewer than four is the mean",
    ] {
        assert!(outcome.stdout.contains(part), "{part:?} in {}", outcome.stdout);
    }
    for file in ["report.html", "compare.json", "curves.csv", "seeds.csv", "cartpole.svg", "breakout.svg"] {
        assert!(folder.path().join("new/out").join(file).is_file(), "{file}");
    }
    let again = adfq_in(folder.path(), &["compare", "runs/breakout", "runs/cartpole"]);
    assert_eq!(again.stdout, outcome.stdout);
}

#[test]
fn json_has_everything() {
    let folder = tempfile::tempdir().unwrap();
    runs(folder.path());
    let outcome = adfq_in(folder.path(), &["compare", ".", "--json", "--seed", "5"]);
    let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(json["seed"], 5);
    assert_eq!(json["labels"], serde_json::json!(["DQN", "Double DQN"]));
    assert_eq!(json["environments"][0]["entries"][1]["final_return"]["value"], 36.0);
    assert_eq!(
        json["environments"][0]["entries"][1]["runs"][2]["curve"],
        serde_json::json!([13.0, 26.0, 39.0])
    );
    assert_eq!(json["aggregate"]["improvement"][1]["probability"]["value"], 1.0);
}

#[test]
fn mistakes_are_explained_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let complaint = |arguments: &[&str]| {
        let outcome = adfq_in(folder.path(), arguments);
        assert!(!outcome.success && outcome.stdout.is_empty(), "{}", outcome.stdout);
        assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
        outcome.stderr
    };
    assert!(complaint(&["compare", "."]).starts_with("error: . is not a run: neither it nor a folder in it"));
    assert!(complaint(&["compare", "nowhere"]).contains("nowhere"));
    runs(folder.path());
    fs::write(folder.path().join("cartpole/dqn-1/evaluations.csv"), "step,episode,return,length\n1,0,?,1\n")
        .unwrap();
    let wrong =
        "error: ./cartpole/dqn-1/evaluations.csv, line 2: the return is \"?\", which is no finite number\n";
    assert_eq!(complaint(&["compare", "."]), wrong);
    fs::write(folder.path().join("file"), "in the way").unwrap();
    assert!(complaint(&["compare", "breakout", "--out", "file/out"]).contains("file/out"));
    assert!(refused(&["compare"]).contains("<RUN>..."));
    assert!(printed(&["compare", "--help"]).contains("Examples:"));
}

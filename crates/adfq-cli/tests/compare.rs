//! `adfq compare` from the outside.

mod common;

use common::{adfq_in, printed, refused};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Two agents with three seeds each on two environments; the second agent is better by 10 in every run.
fn runs(folder: &Path) {
    for (env, scale) in [("cartpole", 100), ("minatar/breakout", 1)] {
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
        "\n            seeds   final return [95 %]           area [95 %]\n",
        "\nDouble DQN      3  36.00 [33.00, 39.00]  24.00 [22.00, 26.00]\n",
        "\nP(row > column) [95 %], final return\n                          DQN         Double DQN\n",
        "\nOver 2 environments, final return normalised: 0 is random play and 1 a good player\n",
        "22.20  475.0  measured, Gymnasium\n",
        "intervals that are too short, and an IQM of fewer than four is the mean",
    ] {
        assert!(outcome.stdout.contains(part), "{part:?} in {}", outcome.stdout);
    }
    for file in
        ["report.html", "compare.json", "curves.csv", "seeds.csv", "cartpole.svg", "minatar-breakout.svg"]
    {
        assert!(folder.path().join("new/out").join(file).is_file(), "{file}");
    }
    let again = adfq_in(folder.path(), &["compare", "runs/minatar", "runs/cartpole"]);
    assert_eq!(again.stdout, outcome.stdout);
}

/// A run that took all of its steps, with an evaluation every 1,000.
fn done(folder: &Path, env: &str, agent: &str, seed: u64, steps: u64, reached: u64) {
    fs::create_dir_all(folder).unwrap();
    let head = format!(
        "env = \"{env}\"\nagent = \"{agent}\"\npolicy = \"epsilon\"\nseed = {seed}\nsteps = {steps}\n"
    );
    fs::write(folder.join("config.toml"), head).unwrap();
    let row = |step: u64| format!("{step},0,{},9\n", reached * step / steps);
    let rows: String = (1..=steps / 1000).map(|i| row(1000 * i)).collect();
    fs::write(folder.join("evaluations.csv"), format!("step,episode,return,length\n{rows}")).unwrap();
}

/// What a few quick tries leave behind: they are named, and neither the long runs nor other environments suffer.
#[test]
fn quick_tries_are_left_out_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let runs = folder.path().join("runs");
    for seed in 0..3 {
        done(&runs.join(format!("dqn-{seed}")), "cartpole", "dqn", seed, 20_000, 500);
    }
    done(&runs.join("try-1"), "cartpole", "ddqn", 0, 1000, 20);
    done(&runs.join("try-2"), "cartpole", "dqn", 0, 2000, 20);
    done(&runs.join("other"), "acrobot", "dqn", 0, 3000, 10);
    done(&runs.join("started"), "cartpole", "adfq", 0, 500, 1);
    let outcome = adfq_in(folder.path(), &["compare", "runs"]);
    assert!(outcome.success, "{}", outcome.stderr);
    for part in [
        "acrobot: 3 evaluations up to step 3,000\n",
        "There is one seed: intervals need two or more.\n",
        "cartpole: 20 evaluations up to step 20,000\n",
        "\nDQN      3  500.0 [500.0, 500.0]  ",
        "\nLeft out: runs/try-1 ends at step 1,000.\n",
        "\nLeft out: runs/try-2 ends at step 2,000.\n",
        "\nNo run of Double DQN is compared here.\n",
        "\nLeft out: runs/started has no evaluation yet.\n",
    ] {
        assert!(outcome.stdout.contains(part), "{part:?} in {}", outcome.stdout);
    }
    assert!(!outcome.stdout.contains("steps="), "{}", outcome.stdout);
    // A length that is asked for is the one that is compared.
    let early = adfq_in(folder.path(), &["compare", "runs", "--steps", "1500"]);
    assert!(early.stdout.contains("cartpole: 1 evaluation up to step 1,000\n"), "{}", early.stdout);
    assert!(early.stdout.contains("\nDouble DQN      1 "), "{}", early.stdout);
    let nothing = adfq_in(folder.path(), &["compare", "runs/dqn-0", "--steps", "999"]);
    assert_eq!(nothing.stderr, "error: no run has anything up to step 999\n");
}

/// Which of two single runs is better says nothing about the next two.
#[test]
fn one_seed_each_has_no_probability() {
    let folder = tempfile::tempdir().unwrap();
    done(&folder.path().join("a"), "cartpole", "dqn", 0, 3000, 100);
    done(&folder.path().join("b"), "cartpole", "ddqn", 0, 3000, 200);
    let text = adfq_in(folder.path(), &["compare", "."]).stdout;
    assert!(text.contains("P(row > column) needs them on both sides") && !text.contains("95 %]"), "{text}");
    let json = adfq_in(folder.path(), &["compare", ".", "--json"]).stdout;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["environments"][0]["improvement"], serde_json::json!([]));
}

/// The report names the command that wrote it. Run again, it writes the same bytes.
#[test]
fn the_command_in_the_report_can_be_run_again() {
    let folder = tempfile::tempdir().unwrap();
    done(&folder.path().join("my runs/a"), "cartpole", "dqn", 0, 3000, 100);
    let arguments = ["compare", "my runs", "--out", "it's here", "--steps", "2000", "--seed", "3"];
    assert!(adfq_in(folder.path(), &arguments).success);
    let page = || fs::read_to_string(folder.path().join("it's here/report.html")).unwrap();
    let first = page();
    let command = first.split("<code>").nth(1).unwrap().split("</code>").next().unwrap();
    let command = command.replace("&#39;", "'").replace("&quot;", "\"");
    let words = shlex::split(&command).unwrap();
    assert_eq!(words[..8], ["adfq", "compare", "my runs", "--out", "it's here", "--steps", "2000", "--seed"]);
    fs::remove_dir_all(folder.path().join("it's here")).unwrap();
    let again: Vec<&str> = words[1..].iter().map(String::as_str).collect();
    assert!(adfq_in(folder.path(), &again).success);
    assert_eq!(page(), first);
}

/// One evaluation, and two agents with the same curve: the pictures show both.
#[test]
fn figures_show_something() {
    let folder = tempfile::tempdir().unwrap();
    let svg = |steps: u64| {
        for agent in ["dqn", "ddqn"] {
            done(&folder.path().join("runs").join(agent), "cartpole", agent, 0, steps, 100);
        }
        assert!(adfq_in(folder.path(), &["compare", "runs", "--out", "out"]).success);
        fs::read_to_string(folder.path().join("out/cartpole.svg")).unwrap()
    };
    let dots = svg(1000);
    assert!(dots.contains("data-kind=\"bars\" data-label=\"\" data-points=\"2\""), "{dots}");
    assert!(dots.contains("evaluation return at step 1,000") && dots.contains("Double DQN"), "{dots}");
    let curves = svg(3000);
    assert!(
        curves.contains("stroke-dasharray=\"none\"") && curves.contains("stroke-dasharray=\"6 4\""),
        "{curves}"
    );
}

#[test]
fn json_has_everything() {
    let folder = tempfile::tempdir().unwrap();
    runs(folder.path());
    let outcome = adfq_in(folder.path(), &["compare", ".", "--json", "--seed", "5"]);
    let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(json["seed"], 5);
    assert_eq!(json["labels"], serde_json::json!(["DQN", "Double DQN"]));
    assert_eq!(json["environments"][1]["entries"][1]["final_return"]["value"], 36.0);
    assert_eq!(
        json["environments"][1]["entries"][1]["runs"][2]["curve"],
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
    assert!(complaint(&["compare", "minatar", "--out", "file/out"]).contains("file/out"));
    assert!(refused(&["compare"]).contains("<RUN>..."));
    assert!(printed(&["compare", "--help"]).contains("Examples:"));
}

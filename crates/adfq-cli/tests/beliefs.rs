//! `adfq beliefs` from the outside.

mod common;

use common::{Outcome, adfq_in};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Trains briefly on a DeepSea of six rows.
fn train(folder: &Path, agent: &str, env: &str) {
    let short = ["--steps", "1500", "--set", "learning.warmup=200", "--set", "evaluation.every=500"];
    let words = [&["train", env, "--agent", agent, "--out", agent][..], &short].concat();
    let outcome = adfq_in(folder, &words);
    assert!(outcome.success, "{}", outcome.stderr);
}

fn json(outcome: &Outcome) -> Value {
    assert!(outcome.success, "{}", outcome.stderr);
    serde_json::from_str(&outcome.stdout).unwrap()
}

fn error_of(folder: &Path, arguments: &[&str]) -> String {
    let outcome = adfq_in(folder, arguments);
    assert!(!outcome.success && outcome.stdout.is_empty(), "{arguments:?}: {}", outcome.stdout);
    outcome.stderr
}

/// Every agent with beliefs, an ensemble included, against its own policy and against Q*.
#[test]
fn measures_every_agent_with_beliefs() {
    let folder = tempfile::tempdir().unwrap();
    for agent in ["split", "bootstrapped", "adfq"] {
        train(folder.path(), agent, "deepsea-6");
        let words = ["beliefs", agent, "--checkpoint", "last", "--states", "8", "--rollouts", "32", "--json"];
        let one = adfq_in(folder.path(), &[&words[..], &["--threads", "1"]].concat());
        let two = adfq_in(folder.path(), &[&words[..], &["--threads", "2"]].concat());
        assert_eq!(one.stdout, two.stdout);
        let run = &json(&one)[0];
        assert_eq!((&run["env"], &run["agent"]), (&Value::from("deepsea-6"), &Value::from(agent)));
        let checked = &run["checkpoints"][0];
        assert_eq!(checked["step"], 1500);
        assert_eq!(checked["cut"], 0.0);
        let found = checked["found"].as_array().unwrap();
        assert_eq!(found.len(), 8, "three kinds of states and all, against two truths");
        for it in found {
            let share = |name: &str| it[name]["value"].as_f64().unwrap();
            assert!(share("within_1") <= share("within_2") && share("within_2") <= 1.0);
            assert!(share("crps") >= 0.0 && it["mean_sd"].as_f64().unwrap() > 0.0);
            let states = if it["met_in"].is_null() { 24 } else { 8 };
            assert_eq!((&it["states"], &it["values"]), (&states.into(), &(2 * states).into()));
        }
        // What is kept in the run folder is the same.
        let kept: Value =
            serde_json::from_slice(&fs::read(folder.path().join(agent).join("beliefs.json")).unwrap())
                .unwrap();
        assert_eq!(&kept, run);
    }
}

/// The table, the page and its files, of all checkpoints that are kept; and the columns beside returns.
#[test]
fn prints_a_table_and_writes_a_page() {
    let folder = tempfile::tempdir().unwrap();
    train(folder.path(), "split", "deepsea-6-stochastic");
    let words = ["beliefs", "split", "--states", "4", "--rollouts", "16", "--out", "page"];
    let outcome = adfq_in(folder.path(), &words);
    assert!(outcome.success, "{}", outcome.stderr);
    assert_eq!(outcome.stderr, "wrote the page to page/report.html\n");
    for part in [
        "split: deepsea-6-stochastic, split with optimist, γ = 0.99, checkpoint of step 1,500\n",
        "\nstates         against  within ±σ  within ±2σ [95 %]",
        "\nevaluation  own policy ",
        "\nall                 Q* ",
        " rollouts; for ",
        "Mean standard error ",
    ] {
        assert!(outcome.stdout.contains(part), "{part:?} in {}", outcome.stdout);
    }
    let kept = fs::read_dir(folder.path().join("split/checkpoints")).unwrap().flatten().filter(|file| {
        let name = file.file_name().into_string().unwrap();
        name.starts_with("step-") || name.starts_with("best-")
    });
    let tables = outcome.stdout.matches("checkpoint of step").count();
    assert!(tables >= 1 && tables <= kept.count());
    let page = folder.path().join("page");
    let csv = fs::read_to_string(page.join("values.csv")).unwrap();
    assert!(csv.starts_with("run,step,states,state,action,mean,sd,truth,standard_error,rollouts,optimum\n"));
    assert_eq!(csv.lines().count(), 1 + tables * 3 * 4 * 2);
    assert!(
        fs::read_to_string(page.join("calibration-1-1500.svg")).unwrap().contains("share it should hold")
    );
    let html = fs::read_to_string(page.join("report.html")).unwrap();
    assert!(html.contains("Beliefs and the truth") && html.contains("adfq beliefs split --checkpoint all"));

    let compared = adfq_in(folder.path(), &["compare", "split"]).stdout;
    for part in ["within ±2σ", "rank corr.", "are what `adfq beliefs` measured", "for 1 of 1 runs"] {
        assert!(compared.contains(part), "{part:?} in {compared}");
    }
    fs::write(folder.path().join("split/beliefs.json"), "{}").unwrap();
    let compared = adfq_in(folder.path(), &["compare", "split"]).stdout;
    assert!(!compared.contains("rank corr."), "{compared}");
    assert!(
        compared.contains("Not shown: split/beliefs.json, line 1: it is not what adfq beliefs writes"),
        "{compared}"
    );
}

/// CartPole has no chance beyond its start, and nothing exact is known of it.
#[test]
fn an_environment_without_chance_needs_two_rollouts() {
    let folder = tempfile::tempdir().unwrap();
    train(folder.path(), "adfq", "cartpole");
    let run = &json(&adfq_in(
        folder.path(),
        &["beliefs", "adfq", "--checkpoint", "last", "--states", "5", "--json"],
    ))[0];
    let checked = &run["checkpoints"][0];
    assert_eq!(
        (&checked["deterministic"], &checked["rollouts"]),
        (&Value::from(true), &Value::from(2 * 3 * 5 * 2))
    );
    assert_eq!(checked["found"].as_array().unwrap().len(), 4);
    assert_eq!(checked["found"][0]["mean_standard_error"], 0.0);
    assert_eq!(checked["precise"], 1.0);
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    train(folder.path(), "dqn", "deepsea-6");
    let error = error_of(folder.path(), &["beliefs", "dqn", "--states", "2"]);
    assert!(error.contains("dqn: the agent dqn has no beliefs to hold against the truth"), "{error}");
    let error = error_of(folder.path(), &["beliefs", "dqn", "--checkpoint", "77"]);
    assert!(error.contains("it has no checkpoint of step 77; there are those of"), "{error}");
    let error = error_of(folder.path(), &["beliefs", "dqn", "--checkpoint", "worst"]);
    assert!(error.contains("say all, last, best, or a step"), "{error}");
    let error = error_of(folder.path(), &["beliefs", "dqn", "--rollouts", "1"]);
    assert!(error.contains("it is a number from 2 on"), "{error}");
    let error = error_of(folder.path(), &["beliefs", "nothing"]);
    assert!(error.contains("nothing is not a run"), "{error}");
    assert!(!folder.path().join("dqn/beliefs.json").exists());
}

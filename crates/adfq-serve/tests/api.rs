//! What the server answers, against numbers that are known.

mod common;

use adfq::update::{NoiseKind, Rule, Update};
use adfq_deep::{Agent, Host, Training};
use adfq_lab::compare::{Comparison, Returns, Run};
use adfq_lab::learn::{LearnSettings, record};
use adfq_lab::lines::LineUpdate;
use common::{Events, get, json, post, serve, write_run};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use tempfile::tempdir;

#[test]
fn runs_are_told_with_their_numbers() {
    let dir = tempdir().unwrap();
    write_run(&dir.path().join("a"), "dqn", 7, &[1.0, 4.0]);
    fs::create_dir(dir.path().join("b")).unwrap();
    fs::write(dir.path().join("b/config.toml"), "seed = [").unwrap();
    fs::write(dir.path().join("b/metrics.csv"), "step\n").unwrap();
    let server = serve(dir.path());
    let table = json(get(server.address(), "/api/runs"));
    let rows = table["runs"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    for (field, value) in [
        ("id", json!("a")),
        ("agent", json!("dqn")),
        ("seed", json!(7)),
        ("step", json!(200)),
        ("steps", json!(200)),
        ("train_return", json!(4.0)),
        ("evaluation", json!(8.0)),
        ("state", json!("stopped")),
    ] {
        assert_eq!(rows[0][field], value, "{field}");
    }
    assert_eq!(rows[1]["state"], "malformed");
    assert!(rows[1]["why"].as_str().unwrap().contains("config.toml"), "{}", rows[1]);
    assert_eq!(table["quantities"], json!(["episodes", "loss", "step", "train_return"]));
}

#[test]
fn changes_are_told_by_themselves() {
    let dir = tempdir().unwrap();
    write_run(&dir.path().join("a"), "dqn", 0, &[1.0]);
    let server = serve(dir.path());
    let mut events = Events::open(server.address(), "/api/events");
    let (name, table) = events.next();
    assert_eq!((name.as_str(), table["runs"].as_array().unwrap().len()), ("table", 1));
    let mut file = fs::File::options().append(true).open(dir.path().join("a/metrics.csv")).unwrap();
    file.write_all(b"200,5,6.5,0.1\n").unwrap();
    let change = events.find(|name, data| name == "change" && data["runs"][0]["step"] == 200);
    assert_eq!(change["runs"][0]["train_return"], 6.5);
    write_run(&dir.path().join("new"), "adfq", 0, &[3.0]);
    events.find(|_, data| data["runs"][0]["id"] == "new");
    fs::remove_dir_all(dir.path().join("a")).unwrap();
    events.find(|_, data| data["gone"] == json!(["a"]));
    // A second server over the same folder knows the same.
    drop(server);
    let again = serve(dir.path());
    assert_eq!(json(get(again.address(), "/api/runs"))["runs"].as_array().unwrap().len(), 1);
}

#[test]
fn curves_are_the_rows_of_the_logs() {
    let dir = tempdir().unwrap();
    write_run(&dir.path().join("a"), "dqn", 0, &[1.0, 4.0, 2.0]);
    write_run(&dir.path().join("b"), "dqn", 1, &[2.0, 5.0, 3.0]);
    let server = serve(dir.path());
    let ask = |body: Value| json(post(server.address(), "/api/curves", &body.to_string()));
    let curves = ask(json!({ "runs": ["a", "b", "nowhere"], "y": "train_return" }));
    assert_eq!(curves["grids"], json!([[100.0, 200.0, 300.0]]));
    assert_eq!(curves["lines"][1]["y"], json!([2.0, 5.0, 3.0]));
    assert_eq!((&curves["lines"][1]["run"], &curves["lines"][1]["label"]), (&json!("b"), &json!("DQN")));
    assert_eq!(curves["missing"]["nowhere"], "there is no run \"nowhere\"");
    let evaluations = ask(json!({ "runs": ["a"], "y": "evaluation" }));
    assert_eq!(evaluations["lines"][0]["y"], json!([2.0, 8.0, 4.0]));
    let nothing = ask(json!({ "runs": ["a"], "y": "mean_sigma" }));
    assert_eq!(nothing["missing"]["a"], "a has no \"mean_sigma\"");
}

/// The last point of a band is what `adfq compare` says of the final return, to the last digit.
#[test]
fn bands_have_the_numbers_of_compare() {
    let dir = tempdir().unwrap();
    for seed in 0..6 {
        let x = seed as f64;
        write_run(&dir.path().join(format!("dqn-{seed}")), "dqn", seed, &[x, 2.0 * x + 1.0, x * x]);
        write_run(&dir.path().join(format!("adfq-{seed}")), "adfq", seed, &[x, x + 1.0, 9.0 - x]);
    }
    let server = serve(dir.path());
    let ids: Vec<String> = (0..6).flat_map(|s| [format!("dqn-{s}"), format!("adfq-{s}")]).collect();
    let request = json!({ "runs": ids, "y": "evaluation" }).to_string();
    let bands = json(post(server.address(), "/api/bands", &request));
    let read = |id: &String| Run::read(&dir.path().join(id), Returns::Evaluation).unwrap();
    let compared = Comparison::of(ids.iter().map(read).collect(), 0).unwrap();
    for entry in &compared.environments[0].entries {
        let bands = bands["bands"].as_array().unwrap();
        let band = bands.iter().find(|band| band["label"] == entry.label.as_str()).unwrap();
        let last = |field: &str| band[field].as_array().unwrap().last().unwrap().as_f64().unwrap();
        let interval = entry.final_return.interval.unwrap();
        assert_eq!((last("iqm"), band["seeds"].as_u64()), (entry.final_return.value, Some(6)));
        assert_eq!((last("low"), last("high")), (interval.low, interval.high));
    }
    let answer = json(post(server.address(), "/api/compare", &json!({ "runs": ids }).to_string()));
    let told: Comparison = serde_json::from_value(answer["comparison"].clone()).unwrap();
    assert_eq!(
        told.environments[0].entries[0].final_return,
        compared.environments[0].entries[0].final_return
    );
    assert!(answer["pictures"][0][1].as_str().unwrap().starts_with("<svg"));
    assert!(answer["summary"].as_str().unwrap().contains("ADFQ-TS"));
    let (status, page) = post(server.address(), "/api/compare/report", &json!({ "runs": ids }).to_string());
    assert!(status == 200 && page.contains("Runs compared"), "{status}");
    assert_eq!(post(server.address(), "/api/compare", r#"{"runs":[]}"#).0, 400);
}

#[test]
fn the_explorer_has_the_numbers_of_adfq_update() {
    let dir = tempdir().unwrap();
    let server = serve(dir.path());
    for noise in [0.0, 0.3] {
        let question = json!({
            "prior": { "mean": 0.25, "var": 1.5 }, "reward": 1.0, "discount": 0.9, "noise": noise,
            "next": [{ "mean": 2.0, "var": 4.0 }, { "mean": 3.0, "var": 1.0 }, { "mean": -1.0, "var": 0.1 }],
        });
        let answer = json(post(server.address(), "/api/update", &question.to_string()));
        let line = json!({
            "mu_sa": 0.25, "var_sa": 1.5, "r": 1.0, "gamma": 0.9, "var_w": noise,
            "mu_next": [2.0, 3.0, -1.0], "var_next": [4.0, 1.0, 0.1],
        });
        for (rule, name) in [(Rule::Exact, "exact"), (Rule::Analytic, "analytic")] {
            let update = Update::new(rule).with_floor(0.0).unwrap();
            let lines = LineUpdate { update, noise: NoiseKind::Exact, terminal_var: 0.0, components: false };
            let told: Value = serde_json::from_str(&lines.apply(&line.to_string()).unwrap()).unwrap();
            for field in ["mean", "var"] {
                let (ours, its) = (answer[name][field].as_f64().unwrap(), told[field].as_f64().unwrap());
                assert!((ours / its - 1.0).abs() < 1e-12, "{name} {field}: {ours} {its}");
            }
        }
    }
    assert_eq!(json(get(server.address(), "/api/presets")).as_array().unwrap().len(), 4);
}

/// The episode is that of `adfq eval`, step by step.
#[test]
fn an_episode_is_played_as_adfq_eval_plays_it() {
    let dir = tempdir().unwrap();
    let folder = dir.path().join("run");
    Training::new("cartpole").agent("adfq").steps(300).run(&folder).unwrap();
    let before = contents(dir.path());
    let server = serve(dir.path());
    let mut events = Events::open(server.address(), "/api/episode?run=run&seed=3");
    let (name, start) = events.next();
    assert_eq!((name.as_str(), start["actions"].clone()), ("start", json!(["left", "right"])), "{start}");
    let (mut agent, host) = (Agent::load(&folder).unwrap(), Host::default());
    let (env, mut seen) = (host.env(agent.config(), false).unwrap(), vec![]);
    let episodes = agent
        .play(env, "eval/3", 1, |step| {
            seen.push((step.action, f64::from(step.estimates[0].mean)));
            Ok(())
        })
        .unwrap();
    for (i, (action, mean)) in seen.iter().enumerate() {
        let (name, step) = events.next();
        assert_eq!((name.as_str(), step["step"].as_u64()), ("step", Some(i as u64)));
        assert_eq!((step["action"].as_u64(), step["mean"][0].as_f64()), (Some(*action as u64), Some(*mean)));
        let best: f64 = step["p_best"].as_array().unwrap().iter().map(|p| p.as_f64().unwrap()).sum();
        assert!((best - 1.0).abs() < 1e-9 && step["sd"][0].as_f64().unwrap() > 0.0);
        assert!(step["picture"].as_str().unwrap().starts_with("iVBORw0KGgo"), "a PNG");
    }
    let (name, end) = events.next();
    assert_eq!((name.as_str(), end["total"].as_f64()), ("end", Some(episodes[0].total)));
    let steps = json(get(server.address(), "/api/checkpoints?run=run"));
    assert_eq!(steps["steps"], json!([300]));
    assert_eq!(get(server.address(), "/api/episode?run=run&checkpoint=worst").0, 400);
    let mut missing = Events::open(server.address(), "/api/episode?run=run&checkpoint=7");
    assert!(missing.next().1["error"].as_str().unwrap().contains("no checkpoint of step 7"));
    assert_eq!(json(get(server.address(), "/api/runs"))["runs"][0]["state"], "finished");
    drop(server);
    assert_eq!(contents(dir.path()), before, "the server has written something");
}

/// Names, lengths and times of all files below a folder.
fn contents(folder: &std::path::Path) -> Vec<(std::path::PathBuf, u64, std::time::SystemTime)> {
    let mut all = vec![];
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let data = entry.metadata().unwrap();
        if data.is_dir() {
            all.extend(contents(&entry.path()));
        }
        all.push((entry.path(), data.len(), data.modified().unwrap()));
    }
    all.sort();
    all
}

#[test]
fn a_recording_is_given_as_it_was_written() {
    let dir = tempdir().unwrap();
    let mdp = adfq::mdp::named("minimaze").unwrap();
    let settings = LearnSettings { steps: 2_000, ..LearnSettings::for_mdp(&mdp) };
    let (learned, recording) = record(&mdp, &settings, |_| {}).unwrap();
    recording.write(&dir.path().join("table")).unwrap();
    let server = serve(dir.path());
    assert_eq!(json(get(server.address(), "/api/runs"))["recordings"], json!([{ "id": "table" }]));
    let told = json(get(server.address(), "/api/recording?run=table"));
    let moments = told["moments"].as_array().unwrap();
    assert_eq!(moments.last().unwrap()["mean"][0][0].as_f64(), Some(learned.states[0].mean[0]));
    assert_eq!(get(server.address(), "/api/recording?run=other").0, 404);
}

#[test]
fn a_report_is_served_and_nothing_in_it_is_run() {
    let dir = tempdir().unwrap();
    fs::create_dir_all(dir.path().join("paper/figures")).unwrap();
    fs::write(dir.path().join("paper/index.html"), "<title>The paper</title><script>alert(1)</script>")
        .unwrap();
    fs::write(dir.path().join("paper/figures/a.svg"), "<svg/>").unwrap();
    fs::write(dir.path().join("secret.csv"), "no").unwrap();
    let server = serve(dir.path());
    let reports = json(get(server.address(), "/api/runs"))["reports"].clone();
    assert_eq!(reports, json!([{ "id": "paper", "page": "index.html", "title": "The paper" }]));
    let head = format!(
        "GET /report/paper/index.html HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
        server.address()
    );
    let answer = String::from_utf8(common::raw(server.address(), head.as_bytes())).unwrap();
    assert!(
        answer.contains("content-security-policy: sandbox") && answer.contains("default-src 'none'"),
        "{answer}"
    );
    assert_eq!(get(server.address(), "/report/paper/figures/a.svg"), (200, "<svg/>".to_owned()));
    assert_eq!(get(server.address(), "/report/secret.csv").0, 404);
}

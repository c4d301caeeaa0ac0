//! What no machine can give is refused in one line, before it is asked for; and no name commands the terminal.

mod common;

use common::{adfq_in, printed, refused};
use std::fmt::Write;

/// The lines of an error, without clap's advice.
#[track_caller]
fn one_line(arguments: &[&str], says: &str) {
    let error = refused(arguments);
    let said: Vec<&str> = error.lines().filter(|line| line.starts_with("error: ")).collect();
    assert!(
        said.len() == 1 && said[0].contains(says) && !error.contains("panicked"),
        "{arguments:?}: {error}"
    );
}

/// 2^31, 2^62 and 10^18.
const HUGE: [&str; 3] = ["2147483648", "4611686018427387904", "1000000000000000000"];

#[test]
fn networks_batches_and_environments_that_do_not_fit_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run").display().to_string();
    for huge in HUGE {
        for (option, says) in [
            (
                format!("network.layers=[{{dense={{units={huge}}}}},{{dense={{units={huge}}}}}]"),
                "smaller network.layers",
            ),
            (format!("network.dueling={huge}"), "smaller network.layers"),
            (format!("learning.batch={huge}"), "replay.capacity must be room for a batch"),
            (format!("replay.capacity={huge}"), "the replay memory needs"),
            (format!("envs={huge}"), "room for a batch"),
        ] {
            one_line(&["train", "cartpole", "--steps", "100", "--set", &option, "--out", &out], says);
        }
        one_line(
            &[
                "train",
                "cartpole",
                "--agent",
                "split",
                "--steps",
                "100",
                "--set",
                &format!("split.features={huge}"),
                "--out",
                &out,
            ],
            "fewer split.features",
        );
        one_line(&["train", "cartpole", "--steps", "100", "--envs", huge, "--out", &out], "room for a batch");
    }
    assert!(!folder.path().join("run").exists(), "nothing was written");
}

#[test]
fn numbers_of_threads_and_repetitions_have_a_bound() {
    for huge in HUGE.into_iter().chain(["10000", "0", "-1"]) {
        let threads = format!("--threads={huge}");
        let says = if huge.len() > 2 { "ask for at most" } else { "it is a number from 1 to" };
        for command in [&["train", "cartpole"][..], &["study", "calibration"], &["paper"], &["bench"]] {
            one_line(&[command, &[&threads]].concat(), says);
        }
        one_line(&["train", "cartpole", &format!("--jobs={huge}")], says);
        one_line(&["train", "cartpole", &format!("--workers={huge}")], says);
    }
    for huge in HUGE {
        one_line(&["train", "cartpole", "--seeds", &format!("0..{huge}")], "more than 100000 seeds");
        one_line(&["study", "calibration", "--seeds", huge], "it is a number from 1 to 100000");
        one_line(&["paper", "--trials", huge], "it is a number from 1 to 100000");
        one_line(&["solve", &format!("deepsea-{huge}")], "from 1 to 10000");
    }
}

/// A ring of so many states, as a file.
fn ring(states: usize) -> String {
    let mut text =
        "# gamma: 0.9\n# start: 0\nstate,action,probability,next_state,reward,terminal\n".to_owned();
    for state in 0..states {
        let (next, reward) = ((state + 1) % states, u8::from(state == 0));
        writeln!(text, "{state},on,1,{next},{reward},false").unwrap();
        writeln!(text, "{state},wait,1,{state},0,false").unwrap();
    }
    text
}

#[test]
fn many_states_are_solved_and_printed_whole() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ring.csv"), ring(25_000)).unwrap();
    let solved = adfq_in(folder.path(), &["solve", "ring.csv", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&solved.stdout).expect("JSON");
    assert!((json["start_value"].as_f64().unwrap() - 1.0).abs() < 1e-12);
    assert!((json["average_reward"].as_f64().unwrap() - 4e-5).abs() < 1e-12);
    assert!(json["bound"].as_f64().unwrap() < 1e-10);
    let csv = adfq_in(folder.path(), &["solve", "ring.csv", "--format", "csv"]).stdout;
    assert_eq!(csv.lines().count(), 1 + 2 * 25_000);
    assert_eq!(csv.matches("state,action").count(), 1, "one header");
    let text = adfq_in(folder.path(), &["solve", "ring.csv"]).stdout;
    assert!(text.lines().count() < 100 && text.contains("No value is further than"), "{text}");

    // KTD-Q keeps a covariance of all pairs: 800 GB for the 450,000 of a larger ring.
    std::fs::write(folder.path().join("large.csv"), ring(225_000)).unwrap();
    let learned = adfq_in(folder.path(), &["learn", "large.csv", "--agent", "ktd-q", "--steps", "10"]);
    assert!(
        learned.stderr.contains("ktd-q needs 810.0 GB for 450000 states and actions"),
        "{}",
        learned.stderr
    );
}

#[test]
fn discount_0_is_a_task_like_any_other() {
    for agent in ["adfq", "split", "q-learning", "ktd-q", "bayesian-q", "psrl", "vi", "rmax", "ucbvi"] {
        let arguments = ["learn", "loop", "--gamma", "0", "--agent", agent, "--steps", "20000", "--json"];
        let learned: serde_json::Value = serde_json::from_str(&printed(&arguments)).unwrap();
        // The step back from the end of the first ring pays 1, and nothing else counts.
        let (mean, q) = (&learned["states"][4]["mean"][0], &learned["states"][4]["q"][0]);
        assert_eq!(q.as_f64(), Some(1.0));
        assert!((mean.as_f64().unwrap() - 1.0).abs() < 0.05, "{agent}: {mean}");
    }
    let folder = tempfile::tempdir().unwrap();
    let settings = ["--set", "learning.discount=0", "--set", "evaluation.final_episodes=1", "--out", "run"];
    let trained =
        adfq_in(folder.path(), &[&["train", "cartpole", "--steps", "1500"][..], &settings].concat());
    assert!(trained.success, "{}", trained.stderr);
}

#[test]
fn names_do_not_command_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let name = "run\u{1b}[2J\u{9b}1m";
    let quick = ["--steps", "200", "--set", "evaluation.every=100", "--set", "evaluation.final_episodes=1"];
    let runs: [&[&str]; 5] = [
        &[&["train", "cartpole", "--out", name][..], &quick].concat(),
        &["train", "cartpole", "--out", name],
        &["eval", name, "--episodes", "1"],
        &["compare", name],
        &["eval", "no\u{1b}[2Jsuch"],
    ];
    for arguments in runs {
        let outcome = adfq_in(folder.path(), arguments);
        for text in [&outcome.stdout, &outcome.stderr] {
            assert!(!text.contains(['\u{1b}', '\u{9b}']), "{arguments:?}: {text:?}");
        }
    }
    assert!(adfq_in(folder.path(), &["train", "cartpole", "--out", name]).stderr.contains("run\\u001b[2J"));
}

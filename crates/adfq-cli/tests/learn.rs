//! `adfq learn` from the outside.

mod common;

use common::{GARDEN, adfq_in, printed, refused};
use serde_json::Value;

#[test]
fn shows_beliefs_and_how_good_they_are() {
    let text = printed(&["learn", "loop"]);
    assert!(text.starts_with("split with optimist on loop"), "{text}");
    assert!(text.contains("10,000 steps, seed 0; every Q(s,a) starts at N("), "{text}");
    let first = text.lines().find(|line| line.starts_with("0 ")).unwrap();
    assert!(first.contains('±') && first.contains('*') && first.ends_with("yes"), "{first}");
    for line in ["while learning", "greedy policy", "value at the start", "distance to Q*", "beliefs"] {
        assert!(text.contains(&format!("\n{line}")), "{line} in {text}");
    }
}

#[test]
fn a_maze_is_drawn() {
    let text = printed(&["learn", "minimaze", "--steps", "500"]);
    assert!(text.contains("The greedy action in each cell") && text.contains("no flag"), "{text}");
    // So few steps leave something unseen.
    assert!(text.contains('·'), "{text}");
    assert!(text.contains(" episodes, reward "), "{text}");
}

#[test]
fn a_seed_decides_what_is_printed() {
    let run = |seed: &str| printed(&["learn", "chain", "--steps", "2000", "--seed", seed]);
    assert_eq!(run("3"), run("3"));
    assert_ne!(run("3"), run("4"));
}

#[test]
fn every_agent_learns_loop() {
    for agent in ["split", "adfq", "q-learning", "ktd-q", "bayesian-q"] {
        let text = printed(&["learn", "loop", "--agent", agent, "--json"]);
        let json: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["settings"]["agent"], agent);
        let [greedy, optimal] =
            ["average_greedy", "average_optimal"].map(|key| json["score"][key].as_f64().unwrap());
        assert!((greedy / optimal - 1.0).abs() < 1e-9, "{agent}: {greedy} of {optimal}");
        assert_eq!(json["states"][0]["sd"].is_null(), agent == "q-learning");
    }
}

#[test]
fn json_holds_what_the_text_shows() {
    let json: Value =
        serde_json::from_str(&printed(&["learn", "loop", "--json", "--noise", "none"])).unwrap();
    assert_eq!(json["settings"]["noise"]["kind"], "none");
    assert_eq!(json["actions"], serde_json::json!(["a", "b"]));
    let best: f64 = json["states"][0]["best"].as_array().unwrap().iter().map(|p| p.as_f64().unwrap()).sum();
    assert!((best - 1.0).abs() < 1e-12);
}

#[test]
fn a_file_of_ones_own() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("garden.csv"), GARDEN).unwrap();
    let outcome = adfq_in(folder.path(), &["learn", "garden.csv"]);
    assert!(outcome.success, "{}", outcome.stderr);
    assert!(
        outcome.stdout.contains("on garden: 2 states, 2 actions, gamma 0.9, episodic"),
        "{}",
        outcome.stdout
    );
    assert!(outcome.stderr.contains("steps/s"), "{}", outcome.stderr);
    std::fs::write(folder.path().join("garden.csv"), GARDEN.replace(",5,", ",five,")).unwrap();
    let outcome = adfq_in(folder.path(), &["learn", "garden.csv"]);
    assert!(
        outcome.stderr.starts_with("error: garden.csv: line 5: the reward is \"five\""),
        "{}",
        outcome.stderr
    );
}

#[test]
fn what_does_not_exist_names_what_does() {
    for (arguments, message) in [
        (&["mase"][..], "did you mean \"maze\"?"),
        (&["nowhere.json"], "nowhere.json: cannot read the file"),
        (&["loop", "--agent", "sarsa"], "choose one of split, adfq, q-learning, ktd-q, bayesian-q"),
        (&["loop", "--policy", "ucb"], "choose one of optimist, thompson, epsilon,"),
        (
            &["loop", "--agent", "q-learning", "--policy", "vpi"],
            "it takes epsilon, greedy, boltzmann, uniform",
        ),
        (&["loop", "--policy", "boltzmann"], "needs a temperature"),
        (&["loop", "--rule", "exact", "--noise", "approximate"], "`exact` does not take approximate noise"),
        (&["loop", "--prior", "wide"], "is none of auto, MEAN,VAR, range:MIN,MAX"),
        (&["loop", "--prior", "0,-1"], "must be positive and finite, but it is -1"),
        (&["loop", "--policy", "epsilon", "--epsilon", "3"], "must be between 0 and 1, but it is 3"),
        (&["loop", "--noise", "exact", "--var-w", "-1"], "must be finite and not negative, but it is -1"),
        (&["loop", "--terminal-var", "-1"], "must be finite, not negative, but it is -1"),
        (&["loop", "--steps", "0"], "0 is not in 1.."),
    ] {
        let error = refused(&[&["learn"], arguments].concat());
        assert!(error.starts_with("error: ") && error.contains(message), "{arguments:?}: {error}");
    }
}

#[test]
fn an_option_that_would_do_nothing_is_refused() {
    for (arguments, message) in [
        (
            &["loop", "--agent", "q-learning", "--rule", "exact"][..],
            "--rule is for the agent adfq, not for q-learning",
        ),
        (&["loop", "--epsilon", "0.2"], "--epsilon is for the policy epsilon, not for optimist"),
        (&["loop", "--agent", "split", "--prior", "0,1"], "for MEAN,VAR add --agent adfq"),
        (&["loop", "--agent", "adfq", "--policy", "optimist"], "it takes thompson, epsilon"),
        (&["loop", "--var-w", "3"], "--noise"),
    ] {
        let error = refused(&[&["learn"], arguments].concat());
        assert!(error.contains(message), "{arguments:?}: {error}");
    }
}

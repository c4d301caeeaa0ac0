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

/// All that `--agent` takes.
const AGENTS: [&str; 12] = [
    "split",
    "adfq",
    "q-learning",
    "ktd-q",
    "bayesian-q",
    "psrl",
    "vi",
    "rmax",
    "mbie",
    "beb",
    "ucbvi",
    "q-optimistic",
];

#[test]
fn every_agent_learns_loop() {
    for agent in AGENTS {
        // Without a bonus nothing but chance leads the planner once around the longer ring.
        let luck: &[&str] = if agent == "vi" { &["--epsilon", "0.5"] } else { &[] };
        let text = printed(&[&["learn", "loop", "--agent", agent, "--json"][..], luck].concat());
        let json: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["settings"]["agent"], agent);
        let [greedy, optimal] =
            ["average_greedy", "average_optimal"].map(|key| json["score"][key].as_f64().unwrap());
        assert!((greedy / optimal - 1.0).abs() < 1e-9, "{agent}: {greedy} of {optimal}");
        let believes = ["split", "adfq", "ktd-q", "bayesian-q", "psrl"].contains(&agent);
        assert_eq!(json["states"][0]["sd"].is_null(), !believes);
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
        (&["race"], "no MDP named \"race\"; known names: "),
        (&["nowhere.json"], "nowhere.json: cannot read the file"),
        (
            &["loop", "--agent", "sarsa"],
            "choose one of split, adfq, q-learning, ktd-q, bayesian-q, psrl, vi, rmax, mbie, beb, ucbvi, q-optimistic",
        ),
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

/// Blackjack in small: draw 1 to 3 and stop in time. Without a discount, as everybody plays it. A reward comes only with
/// the end of an episode.
const BLACKJACK: &str = "\
# gamma: 1
# start: 0
state,action,probability,next_state,reward,terminal
0,draw,0.5,2,0,false
0,draw,0.5,3,0,false
0,stop,1,over,-1,true
2,draw,0.5,3,0,false
2,draw,0.5,over,-1,true
2,stop,0.5,over,1,true
2,stop,0.5,over,-1,true
3,draw,1,over,-1,true
3,stop,0.75,over,1,true
3,stop,0.25,over,-1,true
";

#[test]
fn tasks_with_episodes_need_no_discount() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("blackjack.csv"), BLACKJACK).unwrap();
    for agent in AGENTS {
        let outcome =
            adfq_in(folder.path(), &["learn", "blackjack.csv", "--agent", agent, "--seed", "1", "--json"]);
        assert!(outcome.success, "{agent}: {}", outcome.stderr);
        let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
        assert_eq!((&json["gamma"], &json["settings"]["agent"]), (&1.0.into(), &agent.into()));
        // Q* lies between -1 and 1, and so do values that are learned.
        let means =
            json["states"].as_array().unwrap().iter().flat_map(|state| state["mean"].as_array().unwrap());
        assert!(means.map(|mean| mean.as_f64().unwrap()).all(|mean| mean.abs() <= 1.0), "{agent}");
        // Whether beliefs are good is not what this is about; the default agent finds the best policy.
        assert!(agent != "split" || json["score"]["right"] == 1.0, "{}", outcome.stdout);
    }
    // With a declared range the values of a maze at γ = 1 lie between 0 and its three flags: N(0, 1.5²). Without one the unit is 1.
    for (prior, var) in [("range:0,3", 2.25), ("auto", 0.25)] {
        let json = printed(&["learn", "maze", "--gamma", "1", "--steps", "500", "--json", "--prior", prior]);
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!((&json["start"]["mean"], &json["start"]["var"]), (&0.0.into(), &var.into()), "{prior}");
    }
    assert!(refused(&["learn", "loop", "--gamma", "1"]).contains("every episode has to end"));
}

#[test]
fn a_range_without_a_third_number_is_one_reward_an_episode() {
    for agent in ["split", "adfq"] {
        let start = |prior: &str| {
            let run = ["learn", "maze", "--agent", agent, "--steps", "100", "--json", "--prior", prior];
            let json: Value = serde_json::from_str(&printed(&run)).unwrap();
            json["start"].clone()
        };
        assert_eq!(start("range:0,3"), start("range:0,3,1"), "{agent}");
        assert_ne!(start("range:0,3"), start("range:0,3,2"), "{agent}");
    }
}

#[test]
fn json_holds_the_curve_and_the_visits_of_each_pair() {
    let text = printed(&["learn", "minimaze", "--steps", "1e3", "--seed", "2", "--json"]);
    let json: Value = serde_json::from_str(&text).unwrap();
    let curve = json["curve"].as_array().unwrap();
    assert_eq!(curve.len(), 100);
    let steps: Vec<u64> = curve.iter().map(|moment| moment["step"].as_u64().unwrap()).collect();
    assert!(steps.windows(2).all(|pair| pair[0] < pair[1]) && steps[99] == 1_000);
    let last = &curve[99];
    for key in ["rmse", "within_one_sd", "within_two_sd"] {
        assert_eq!(last[key], json["score"][key], "{key}");
        assert_eq!(last["visited"][key], json["visited"][key], "{key}");
    }
    assert_eq!((&last["reward"], &last["episodes"]), (&json["reward"], &json["episodes"]));

    // The coverage of the pairs that were tried can be measured from outside.
    let (mut tried, mut inside) = (0, 0);
    for (state, visits) in
        json["states"].as_array().unwrap().iter().zip(json["pair_visits"].as_array().unwrap())
    {
        let number = |key: &str, action: usize| state[key][action].as_f64().unwrap();
        let visits: Vec<u64> = visits.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
        assert_eq!(state["visits"], visits.iter().sum::<u64>());
        for action in (0..visits.len()).filter(|&action| visits[action] > 0) {
            let error = number("mean", action) - number("q", action);
            tried += 1;
            inside += u32::from(error.abs() <= 2.0 * number("sd", action));
        }
    }
    assert_eq!(json["visited"]["pairs"], tried);
    assert_eq!(json["visited"]["within_two_sd"], f64::from(inside) / f64::from(tried));
}

#[test]
fn counts_may_have_an_exponent() {
    let steps = |steps: &str| printed(&["learn", "loop", "--steps", steps]);
    assert_eq!(steps("2e3"), steps("2000"));
    for (steps, message) in
        [("1.5", "not a whole number"), ("1e-3", "not a whole number"), ("-5", "is not in 1..")]
    {
        let error = refused(&["learn", "loop", "--steps", steps]);
        assert!(error.contains(message), "{error}");
    }
    assert!(
        refused(&["train", "cartpole", "--steps", "1e3", "--envs", "2.5"]).contains("not a whole number")
    );
    assert!(refused(&["eval", "nowhere", "--episodes", "0.5"]).contains("not a whole number"));
}

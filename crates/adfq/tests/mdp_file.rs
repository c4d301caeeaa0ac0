//! MDPs from files: what is read, what is written, and how errors lead to the line that causes them.

use adfq::mdp::{
    self, Garnet, Mdp, MdpBuilder, Outcome,
    file::{load, parse_csv, parse_json, to_csv, to_json},
};
use proptest::prelude::*;

/// Everything but the map, which files do not hold, by way of a builder without one.
fn without_map(mdp: &Mdp) -> Mdp {
    let labels = |count, label: &dyn Fn(usize) -> String| (0..count).map(label).collect::<Vec<_>>();
    let mut copy = MdpBuilder::new(mdp.name(), mdp.states(), mdp.actions(), mdp.gamma())
        .state_labels(labels(mdp.states(), &|state| mdp.state_label(state).into_owned()))
        .action_labels(labels(mdp.actions(), &|action| mdp.action_label(action).into_owned()));
    for state in 0..mdp.states() {
        for action in 0..mdp.actions() {
            mdp.outcomes(state, action).iter().for_each(|&outcome| copy.add(state, action, outcome));
        }
    }
    mdp.starts()
        .iter()
        .fold(copy, |copy, &(state, probability)| copy.start_with(state, probability))
        .build()
        .unwrap()
}

#[test]
fn every_domain_survives_both_formats() {
    for name in mdp::names() {
        let mdp = without_map(&mdp::named(&name).unwrap());
        assert_eq!(parse_csv(&to_csv(&mdp)).unwrap(), mdp);
        assert_eq!(parse_json(&to_json(&mdp)).unwrap(), mdp);
    }
}

#[test]
fn odd_names_survive_both_formats() {
    let mdp = MdpBuilder::new("odd: \"names\", #1", 3, 1, 0.5)
        .outcome(0, 0, Outcome::goes(1.0, 1, -1e-300))
        .outcome(1, 0, Outcome::ends(1.0 / 3.0, 2, 1e300))
        .outcome(1, 0, Outcome::goes(2.0 / 3.0, 0, 0.1 + 0.2))
        .start_with(0, 0.25)
        .start_with(1, 0.75)
        .state_labels(["#a, b", "x=1", "\u{e9}tat \"\u{3b3}\""])
        .action_labels(["\"go\""])
        .build()
        .unwrap();
    assert_eq!(parse_csv(&to_csv(&mdp)).unwrap(), mdp);
    assert_eq!(parse_json(&to_json(&mdp)).unwrap(), mdp);
}

proptest! {
    #[test]
    fn random_mdps_survive_both_formats(seed: u64, states in 1..12usize, actions in 1..4usize, ending in 0.0..0.5) {
        let mdp = Garnet { states, actions, branching: states.div_ceil(2), ending, gamma: 0.9, ..Garnet::default() }.mdp(seed).unwrap();
        prop_assert_eq!(&parse_csv(&to_csv(&mdp)).unwrap(), &mdp);
        prop_assert_eq!(&parse_json(&to_json(&mdp)).unwrap(), &mdp);
    }

    /// Whatever the text, reading it answers.
    #[test]
    fn reading_never_panics(text in "[ -~\n]{0,80}", rows in "(([ab01#\",=.-]|true|,){0,12}\n){0,6}") {
        let header = "state,action,probability,next_state,reward,terminal";
        let _ = parse_csv(&text);
        let _ = parse_csv(&format!("# gamma: 0.9\n# start: {text}\n{header}\n{rows}"));
        let _ = parse_json(&text);
        let _ = parse_json(&format!("{{\"gamma\": 1, \"start\": 0, \"transitions\": [{rows}]}}"));
    }
}

#[test]
fn columns_and_rows_come_in_any_order() {
    let text = "# a garden of my own\n# start: 1 = 0.5, 0=0.5\n\n# gamma: 1\n\
        note, terminal, reward, state, next_state, action, probability\n\
        last,  TRUE,     2,      1,     0,          go,     1\n\
        first, 0,        1,      0,     1,          go,     1\n";
    let mdp = parse_csv(text).unwrap();
    assert_eq!(mdp.starts(), [(0, 0.5), (1, 0.5)]);
    assert_eq!(mdp.outcomes(0, 0), [Outcome::goes(1.0, 1, 1.0)]);
    assert_eq!(mdp.outcomes(1, 0), [Outcome::ends(1.0, 0, 2.0)]);
    assert_eq!((mdp.name(), mdp.action_label(0)), ("unnamed", "go".into()));
}

const HEAD: &str = "# gamma: 0.9\n# start: a\nstate,action,probability,next_state,reward,terminal\n";

#[test]
fn csv_errors_name_the_line() {
    let with_rows = |rows: &str| format!("{HEAD}{rows}");
    let cases = [
        (
            with_rows("a,x,0.5,a,0,false\na,y,1,a,0,0\na,x,0.25,a,1,false"),
            "lines 4, 6: the probabilities of state a, action x sum to 0.75, not 1",
        ),
        (
            with_rows("a,x,1,a,0,false\na,x,0.5,a,0,false"),
            "lines 4, 5: the probabilities of state a, action x sum to 1.5",
        ),
        (with_rows("a,x,1,b,0,false"), "line 4: state b is unknown: it has no transitions of its own"),
        (
            with_rows("a,x,1,a,0,false\na,y,1,b,0,true\nb,x,1,a,0,false"),
            "line 6: state b has no outcome for action y",
        ),
        (with_rows("a,x,half,a,0,false"), "line 4: the probability is \"half\", which is not a number"),
        (with_rows("a,x,1,a,,false"), "line 4: the reward is \"\", which is not a number"),
        (
            with_rows("\na,x,NaN,a,0,false"),
            "line 5: state a, action x: a probability must lie above 0 and at most at 1, but it is NaN",
        ),
        (
            with_rows("a,x,0,a,0,false"),
            "line 4: state a, action x: a probability must lie above 0 and at most at 1, but it is 0",
        ),
        (with_rows("a,x,1,a,NaN,false"), "line 4: state a, action x: a reward must be finite, but it is NaN"),
        (
            with_rows("a,x,1,a,-inf,false"),
            "line 4: state a, action x: a reward must be finite, but it is -inf",
        ),
        (with_rows("a,x,1,a,0,maybe"), "line 4: terminal is \"maybe\", neither true nor false"),
        (with_rows("a,x,1,a,0"), "line 4: 5 fields, but the header has 6"),
        (with_rows("a,x,1,,0,true"), "line 4: the next_state is empty"),
        (with_rows("\"a,x,1,a,0,true"), "line 4: a quote is never closed"),
        (with_rows(""), "no transitions: add what can happen"),
        (HEAD.replace(",reward", ""), "line 3: the column \"reward\" is missing"),
        (with_rows("a,x,1,a,0,true").replace("# start: a\n", ""), "no start: add the line"),
        (with_rows("b,x,1,b,0,true"), "line 2: state a is unknown"),
        (
            with_rows("a,x,1,a,0,true").replace("start: a", "start: a=0.5"),
            "line 2: the probabilities of the start states must be positive and sum to 1, but they sum to 0.5",
        ),
        (
            with_rows("a,x,1,a,0,true").replace("start: a", "start: a=b"),
            "line 2: the start's probability is \"b\", which is not a number",
        ),
        (with_rows("a,x,1,a,0,true").replace("# gamma: 0.9", "# discount: 0.9"), "no gamma: add the line"),
        (
            with_rows("a,x,1,a,0,true").replace("0.9", "1.1"),
            "the discount gamma must lie between 0 and 1, but it is 1.1",
        ),
        (
            with_rows("a,x,1,a,0,true").replace("0.9", "high"),
            "line 1: gamma is \"high\", which is not a number",
        ),
        (
            String::new(),
            "there is no header: begin with the line state,action,probability,next_state,reward,terminal",
        ),
    ];
    for (text, want) in cases {
        let error = parse_csv(&text).unwrap_err().to_string();
        assert!(error.starts_with(want), "{error:?} does not start with {want:?}, for\n{text}");
    }
}

#[test]
fn json_errors_name_the_transition_and_the_line() {
    let good = r#"{"state": "a", "action": 0, "probability": 1, "next_state": "a", "reward": 0}"#;
    let with = |transitions: &str| {
        format!("{{\"gamma\": 0.9,\n\"start\": \"a\",\n\"transitions\": [\n{transitions}\n]}}")
    };
    let cases = [
        (
            with(&good.replace("1,", "0.5,")),
            "transition 1 (line 4): the probabilities of state a, action 0 sum to 0.5",
        ),
        (
            with(&format!("{},\n\n{}", good.replace("1,", "0.5,"), good.replace("1,", "0.2,"))),
            "transitions 1, 2 (lines 4, 6): the probabilities of state a, action 0 sum to 0.7",
        ),
        (
            with(&good.replace("\"next_state\": \"a\"", "\"next_state\": 7")),
            "transition 1 (line 4): state 7 is unknown",
        ),
        (
            with(&good.replace("1,", "-1,")),
            "transition 1 (line 4): state a, action 0: a probability must lie above 0",
        ),
        (
            with(&good.replace("1,", "\"1\",")),
            "transition 1 (line 4): invalid type: string \"1\", expected f64",
        ),
        (
            with(&format!("{good},\n{}", good.replace("reward", "rewards"))),
            "transition 2 (line 5): unknown field `rewards`",
        ),
        (with(&good.replace("\"action\": 0, ", "")), "transition 1 (line 4): missing field `action`"),
        (
            with(&good.replace("\"action\": 0", "\"action\": [0]")),
            "transition 1 (line 4): expected a name or a whole number",
        ),
        (with(&good.replace(": 0}", ": NaN}")), "line 4: expected value"),
        (with(good).replace("\"start\": \"a\",", ""), "no start: add the line"),
        (
            with(good).replace("\"start\": \"a\"", "\"start\": {\"a\": 0.5}"),
            "\"start\": the probabilities of the start states must be positive and sum to 1",
        ),
        (with(good).replace("\"start\": \"a\"", "\"start\": \"b\""), "\"start\": state b is unknown"),
        (
            with(good).replace("\"start\": \"a\"", "\"start\": [1]"),
            "line 2: expected as start a state or an object",
        ),
        (with(good).replace("\"gamma\": 0.9,", ""), "no gamma: add the line"),
        (with(good).replace("transitions", "moves"), "line 3: unknown field `moves`"),
    ];
    for (text, want) in cases {
        let error = parse_json(&text).unwrap_err().to_string();
        assert!(error.starts_with(want), "{error:?} does not start with {want:?}, for\n{text}");
    }
}

#[test]
fn files_are_loaded_by_their_ending() {
    let folder = std::env::temp_dir().join(format!("adfq-mdp-file-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mdp = mdp::named("loop-stochastic").unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    assert_eq!(load(write("a.json", &to_json(&mdp))).unwrap(), mdp);
    let nameless = to_csv(&mdp).replace("# name: loop-stochastic\n", "");
    assert_eq!(load(write("garden.csv", &nameless)).unwrap().name(), "garden");

    let error = |path: std::path::PathBuf| load(path).unwrap_err().to_string();
    assert!(
        error(write("b.csv", &HEAD.replace("reward", "r")))
            .contains("b.csv: line 3: the column \"reward\" is missing")
    );
    assert!(error(write("b.txt", "")).ends_with("b.txt: the name of the file must end in .csv or .json"));
    assert!(error(folder.join("none.csv")).contains("none.csv: cannot read the file: "));
    std::fs::remove_dir_all(&folder).unwrap();
}

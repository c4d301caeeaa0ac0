//! `adfq solve` from the outside.

mod common;

use common::{GARDEN, adfq_in, printed, refused};
use serde_json::Value;

#[test]
fn prints_values_policy_and_average() {
    let text = printed(&["solve", "loop"]);
    assert!(text.starts_with("loop: 9 states, 2 actions, gamma 0.95, continuing\n"), "{text}");
    assert!(text.contains("\n0      6.387  7.201  7.201       b\n"), "{text}");
    assert!(text.contains("worth 7.201040; it earns 0.400000 a step"), "{text}");
}

#[test]
fn a_maze_is_drawn_for_every_set_of_flags() {
    let text = printed(&["solve", "minimaze"]);
    for title in ["no flag", "with A ", "with BC", "with ABC"] {
        assert!(text.contains(title), "{title} in {text}");
    }
    assert!(text.contains("↓ ██F ██G"), "{text}");
    assert!(text.contains("more states are not shown)"), "{text}");
    assert!(!printed(&["solve", "minimaze", "--all"]).contains("more states"));
}

#[test]
fn formats_agree() {
    let json: Value = serde_json::from_str(&printed(&["solve", "chain", "--format", "json"])).unwrap();
    assert!((json["states"][0]["q"][0].as_f64().unwrap() - 61.37948).abs() < 1e-5);
    assert_eq!(json["states"][0]["optimal"], serde_json::json!([true, false]));
    let csv = printed(&["solve", "chain", "--format", "csv"]);
    let first: Vec<&str> = csv.lines().nth(1).unwrap().split(',').collect();
    assert_eq!(first[..2], ["0", "a"]);
    assert_eq!(first[2].parse::<f64>().unwrap(), json["states"][0]["q"][0].as_f64().unwrap());
}

#[test]
fn gamma_can_be_chosen() {
    assert!(printed(&["solve", "maze", "--gamma", "1"]).contains("worth 3.000000"));
    assert!(refused(&["solve", "maze", "--gamma", "2"]).contains("must lie between 0 and 1, but it is 2"));
    assert!(refused(&["solve", "loop", "--gamma", "1"]).contains("at gamma 1 every episode has to end"));
}

#[test]
fn lists_every_domain_and_each_can_be_solved() {
    let list = printed(&["solve", "--list"]);
    assert_eq!(list.lines().count(), adfq::mdp::names().len());
    for line in list.lines() {
        let (name, what) = line.split_once(' ').unwrap();
        assert!(!what.trim().is_empty(), "{name}");
        printed(&["solve", name]);
    }
}

#[test]
fn an_exported_model_is_the_same_model() {
    let folder = tempfile::tempdir().unwrap();
    for file in ["loop.csv", "loop.json"] {
        let exported = adfq_in(folder.path(), &["solve", "loop", "--export", file]);
        assert!(exported.success && exported.stderr.contains(file), "{}", exported.stderr);
        assert_eq!(adfq_in(folder.path(), &["solve", file]).stdout, printed(&["solve", "loop"]));
    }
    let wrong = adfq_in(folder.path(), &["solve", "loop", "--export", "loop.txt"]);
    assert!(!wrong.success && wrong.stderr.contains("must end in .csv or .json"), "{}", wrong.stderr);
}

#[test]
fn wrong_names_and_files_say_what_to_do() {
    assert!(refused(&["solve", "lop"]).contains("did you mean \"loop\"?"));
    assert!(refused(&["solve", "nowhere.csv"]).contains("nowhere.csv: cannot read the file"));
    assert!(refused(&["solve"]).contains("<DOMAIN|FILE>"));
    let folder = tempfile::tempdir().unwrap();
    for (broken, message) in [
        (GARDEN.replace("0.8", "0.7"), "lines 5, 6: the probabilities of state home, action leave sum to"),
        (GARDEN.replace(",5,", ",five,"), "line 5: the reward is \"five\", which is not a number"),
        (GARDEN.replace("1,home,1,false", "1,home,1"), "line 4: 5 fields, but the header has 6"),
    ] {
        std::fs::write(folder.path().join("garden.csv"), broken).unwrap();
        let outcome = adfq_in(folder.path(), &["solve", "garden.csv"]);
        assert!(!outcome.success && outcome.stderr.contains(message), "{}", outcome.stderr);
        assert!(outcome.stderr.starts_with("error: garden.csv: "), "{}", outcome.stderr);
    }
}

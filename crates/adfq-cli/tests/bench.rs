//! `adfq bench` from the outside. How fast anything is is not tested.

mod common;

use common::{printed, refused};
use serde_json::Value;
use std::collections::HashSet;

#[test]
fn rows_as_text() {
    let text = printed(&["bench", "--quick", "--only", "push,env deepsea-10"]);
    assert!(text.starts_with("adfq ") && text.contains(" on "), "{text}");
    let names: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("  "))
        .filter_map(|line| line.split("  ").next())
        .filter(|name| !name.is_empty())
        .collect();
    let seas = ["env deepsea-10", "env deepsea-10-stochastic", "env deepsea-10-shuffled-1"];
    assert_eq!(names, [&["replay push"], &seas[..]].concat(), "{text}");
    assert!(text.contains("\nreplay\n") && text.contains("\nenvironments\n"), "{text}");
}

#[test]
fn rows_as_json() {
    let only = "mlp,env cartpole,train cartpole dqn 64-64";
    let text = printed(&["bench", "--quick", "--json", "--threads", "1", "--only", only]);
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: HashSet<&str> = rows.iter().filter_map(|row| row["name"].as_str()).collect();
    assert_eq!(names.len(), rows.len());
    for name in
        ["gradient step mlp 4-64-64", "forward mlp 4-64-64", "env cartpole", "train cartpole dqn 64-64"]
    {
        assert!(names.contains(name), "{name} in {text}");
    }
    for row in &rows {
        let number = |field: &str| row[field].as_f64().unwrap_or_else(|| panic!("{field} in {row}"));
        assert_eq!(number("threads"), 1.0);
        assert!(number("min_us") > 0.0 && number("median_us") >= number("min_us"), "{row}");
        assert!((number("steps_per_s") * number("median_us") / 1e6 - 1.0).abs() < 1e-9, "{row}");
        assert!(row["cpu"].is_string() && number("processors") >= 1.0 && row["version"].is_string(), "{row}");
    }
    let training = rows.iter().find(|row| row["group"] == "end to end").unwrap();
    assert_eq!((&training["operations"], &training["gradient_steps"]), (&20_000.into(), &4_750.into()));
}

#[test]
fn mistakes_are_explained_in_one_line() {
    let error = refused(&["bench", "--only", "replay,atary"]);
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(
        error.starts_with("error: nothing is called \"atary\"; choose from: gradient step mlp"),
        "{error}"
    );
    assert!(
        error.contains(", env cartpole, ") && error.ends_with("train minatar breakout adfq\n"),
        "{error}"
    );
    assert!(refused(&["bench", "--threads", "0"]).contains("--threads"));
    assert!(printed(&["bench", "--help"]).contains("Examples:"));
}

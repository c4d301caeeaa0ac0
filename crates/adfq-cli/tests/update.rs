//! `adfq update` as a user runs it: the golden files, wrong lines, broken pipes.

use flate2::read::GzDecoder;
use serde_json::Value;
use std::io::{Read, Write};
use std::process::{Command, Output, Stdio};

fn adfq(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_adfq"))
        .arg("update")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_owned();
    // From a thread of its own: a program that answers while it reads would otherwise wait for us, and we for it.
    let writer = std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let output = child.wait_with_output().expect("the program ends");
    writer.join().expect("the writer ends");
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// Runs a golden file through the program and counts the lines within the tolerance of its README.
fn reproduces(compressed: &[u8], args: &[&str], class: f64) {
    let mut golden = String::new();
    GzDecoder::new(compressed).read_to_string(&mut golden).expect("a golden file");
    let output = adfq(args, &golden);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let updated = text(&output.stdout);
    assert_eq!(updated.lines().count(), 999);
    for (reference, updated) in golden.lines().zip(updated.lines()) {
        let [reference, updated] =
            [reference, updated].map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let number = |value: &Value, field: &str| value[field].as_f64().expect("a number");
        assert_eq!(reference["mean_hp"], updated["mean_hp"], "other fields pass through");
        let (mean, var) = (number(&reference, "mean"), number(&reference, "var"));
        let limit = |field| class + 200.0 * number(&reference, field).max(1e-15);
        assert!((number(&updated, "mean") - mean).abs() <= var.sqrt() * limit("cond_mean"), "{updated}");
        assert!((number(&updated, "var") / var - 1.0).abs() <= limit("cond_var"), "{updated}");
    }
}

#[test]
fn golden_analytic() {
    let golden = include_bytes!("../../adfq/tests/golden/analytic.jsonl.gz");
    reproduces(golden, &["--rule", "analytic", "--noise", "approximate"], 1e-12);
}

#[test]
fn golden_exact_and_noise() {
    let golden = include_bytes!("../../adfq/tests/golden/exact.jsonl.gz");
    reproduces(golden, &["--rule", "exact", "--noise", "none"], 1e-7);
    let golden = include_bytes!("../../adfq/tests/golden/noise.jsonl.gz");
    reproduces(golden, &["--rule", "exact", "--noise", "exact"], 1e-7);
}

const GOOD: &str = r#"{"mu_sa":0,"var_sa":1,"r":0,"gamma":0.9,"mu_next":[1,2],"var_next":[1,1]}"#;
const BAD: &str = r#"{"mu_sa":0,"var_sa":-1,"r":0,"gamma":0.9,"mu_next":[1,2],"var_next":[1,1]}"#;

#[test]
fn a_bad_line_stops_with_its_number() {
    let output = adfq(&[], &format!("{GOOD}\n\n{BAD}\n{GOOD}\n"));
    assert!(!output.status.success());
    assert_eq!(text(&output.stdout).lines().count(), 1, "what was good before it has been written");
    let message = text(&output.stderr);
    assert!(
        message.starts_with("error: line 3: `var_sa`: the variance of a belief must be positive"),
        "{message}"
    );
}

#[test]
fn keep_going_reports_it_in_place() {
    let output = adfq(&["--keep-going"], &format!("{GOOD}\n{BAD}\nnonsense\n{GOOD}\n"));
    assert!(output.status.success());
    let lines: Vec<Value> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 4);
    assert!(lines[1]["error"].as_str().expect("text").contains("-1"));
    assert_eq!(lines[2]["line"], 3);
    assert!(lines[3]["mean"].is_number());
    assert!(text(&output.stderr).contains("2 of 4 lines"));
}

#[test]
fn the_example_of_the_help_works() {
    let help = text(&adfq(&["--help"], "").stdout);
    let example = help.split("echo '").nth(1).expect("an example");
    let line = example.split('\'').next().expect("a quoted line");
    let output = adfq(&["--rule", "exact"], line);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let updated: Value = serde_json::from_str(&text(&output.stdout)).expect("JSON");
    assert!((updated["mean"].as_f64().expect("a number") - 2.301_186_203_338).abs() < 1e-9, "{updated}");
}

#[test]
fn what_cannot_be_is_said() {
    for (args, input, message) in [
        (&["--rule", "exact", "--noise", "approximate"][..], GOOD, "does not take approximate noise"),
        (&["--rule", "grid", "--samples", "1"], GOOD, "a grid needs at least 2 samples"),
        (&["--rule", "grid", "--samples", "1000000000000000000"], GOOD, "at most 10000000"),
        (&["--floor", "-1"], GOOD, "the variance floor"),
        (&["no-such-file.jsonl"], "", "cannot read no-such-file.jsonl"),
        (&["--rule", "magic"], "", "[possible values: analytic, exact, grid]"),
        (&[], "\u{0}\n", "line 1: not a JSON object"),
    ] {
        let output = adfq(args, input);
        assert!(!output.status.success(), "{args:?}");
        assert!(text(&output.stderr).contains(message), "{args:?}: {}", text(&output.stderr));
    }
}

#[test]
fn the_floor_is_kept_and_components_add_up() {
    let output = adfq(&["--floor", "5", "--components"], GOOD);
    let updated: Value = serde_json::from_str(&text(&output.stdout)).expect("JSON");
    assert_eq!(updated["var"], 5.0);
    let weights = updated["weight"].as_array().expect("a list");
    assert!((weights.iter().filter_map(Value::as_f64).sum::<f64>() - 1.0).abs() < 1e-15);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_adfq"))
        .arg("update")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || (0..20_000).try_for_each(|_| writeln!(stdin, "{GOOD}")));
    let output = child.wait_with_output().expect("the program ends");
    drop(writer.join());
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
}

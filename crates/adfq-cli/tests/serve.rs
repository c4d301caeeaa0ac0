//! `adfq serve` and what feeds it, from the outside: a link, an answer, and an end by Ctrl-C. The page itself is tested in a
//! browser (`scripts/test_browser.sh`).

mod common;

use common::{adfq_in, refused};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use tempfile::tempdir;

/// Asks for a path at a link of the program.
fn ask(link: &str, path: &str) -> String {
    let address = link.trim_start_matches("http://").split('/').next().unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn interrupt(child: &Child) {
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
}

#[test]
fn prints_a_link_answers_and_ends_by_ctrl_c() {
    let dir = tempdir().unwrap();
    let trained =
        adfq_in(dir.path(), &["train", "cartpole", "--agent", "dqn", "--steps", "30", "--out", "runs/a"]);
    assert!(trained.success, "{}", trained.stderr);
    let mut child = Command::new(env!("CARGO_BIN_EXE_adfq"))
        .current_dir(dir.path())
        .args(["serve", "runs", "--port", "0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut link = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut link).unwrap();
    assert!(link.starts_with("http://127.0.0.1:"), "{link}");
    let table = ask(link.trim(), "/api/runs");
    assert!(table.contains(r#""id":"a""#) && table.contains(r#""state":"finished""#), "{table}");
    assert!(ask(link.trim(), "/").contains("<title>adfq</title>"));
    interrupt(&child);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_training_is_served_as_long_as_it_goes_on() {
    let dir = tempdir().unwrap();
    let words = ["train", "cartpole", "--agent", "dqn", "--steps", "1e9", "--out", "out/run", "--serve"];
    let mut child = Command::new(env!("CARGO_BIN_EXE_adfq"))
        .current_dir(dir.path())
        .args(words)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let line = lines.find(|line| line.starts_with("watch it at ")).unwrap();
    let link = line.trim_start_matches("watch it at ").to_owned();
    assert!(ask(&link, "/api/runs").starts_with("HTTP/1.1 200"));
    interrupt(&child);
    // What it says on the way must be read, or it would wait for a reader.
    lines.for_each(drop);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let address = link.trim_start_matches("http://").trim_end_matches('/');
    assert!(TcpStream::connect(address).is_err(), "the page is there without the training");
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let error = refused(&["serve", "nowhere"]);
    assert!(error.contains("nowhere: cannot be served (No such file or directory"), "{error}");
}

#[test]
fn learn_records_beliefs_and_prints_the_same() {
    let dir = tempdir().unwrap();
    let words = ["learn", "minimaze", "--steps", "500"];
    let (plain, recorded) =
        (adfq_in(dir.path(), &words), adfq_in(dir.path(), &[&words[..], &["--out", "table"]].concat()));
    assert!(recorded.success && plain.stdout == recorded.stdout, "{}", recorded.stderr);
    let text = std::fs::read_to_string(dir.path().join("table/recording.json")).unwrap();
    let recording: serde_json::Value = serde_json::from_str(&text).unwrap();
    let moments = recording["moments"].as_array().unwrap();
    // Of 100 moments the first are so near to each other that some are one.
    assert_eq!((moments.len(), moments.last().unwrap()["step"].as_u64()), (96, Some(500)));
}

/// Why a training failed stands in its folder, until it goes on.
#[test]
fn a_failure_is_noted_and_forgotten() {
    let dir = tempdir().unwrap();
    let words =
        ["train", "cartpole", "--agent", "ddqn", "--steps", "8000", "--set", "learning.adam.rate=1e30"];
    let failed =
        adfq_in(dir.path(), &[&words[..], &["--set", "logging.checkpoint=500", "--out", "run"]].concat());
    assert!(!failed.success);
    let noted = std::fs::read_to_string(dir.path().join("run/failure.txt")).unwrap();
    assert!(
        !noted.trim().is_empty() && failed.stderr.contains(noted.trim()),
        "{noted} is not in {}",
        failed.stderr
    );
    // It fails in the same way, and while it trains nothing is noted: the file is a new one.
    let before = std::fs::metadata(dir.path().join("run/failure.txt")).unwrap().modified().unwrap();
    adfq_in(dir.path(), &["train", "--resume", "run"]);
    let after = std::fs::metadata(dir.path().join("run/failure.txt")).unwrap().modified().unwrap();
    assert!(after > before);
}

//! `adfq paper` as a user runs it.

use std::path::Path;
use std::process::{Command, Output};
use tempfile::tempdir;

fn paper(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_adfq"))
        .arg("paper")
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

#[test]
fn a_quick_run_says_where_its_report_is() {
    let folder = tempdir().unwrap();
    let output = paper(folder.path(), &["--quick", "--only", "simple", "--trials", "1", "--threads", "2"]);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}");
    assert!(printed.contains("Convergence on the simple MDP") && printed.contains("adfq-paper/index.html"));
    let html = std::fs::read_to_string(folder.path().join("adfq-paper/index.html")).unwrap();
    assert!(html.contains("adfq paper --only simple --quick --trials 1 --seed 7"));
}

#[test]
fn mistakes_are_explained() {
    let folder = tempdir().unwrap();
    let complaint = |arguments: &[&str]| {
        let output = paper(folder.path(), arguments);
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(complaint(&["--only", "lop"]).contains("nothing is called \"lop\"; choose from: experiments "));
    assert!(complaint(&["--trials", "0"]).contains("--trials"));
    std::fs::write(folder.path().join("file"), "in the way").unwrap();
    assert!(complaint(&["--out", "file/out", "--only", "simple"]).contains("file/out"));
}

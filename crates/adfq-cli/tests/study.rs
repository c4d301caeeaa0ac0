//! `adfq study calibration` and `adfq study rivals` as a user runs them.

mod common;

use common::{adfq_in, refused};
use std::collections::BTreeMap;
use std::path::Path;
use tempfile::tempdir;

const QUICK: [&str; 9] = [
    "study",
    "calibration",
    "--quick",
    "--domains",
    "loop,deepsea-8",
    "--agents",
    "adfq,q-constant",
    "--seeds",
    "1",
];

/// The report and its data, by name.
fn report(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let data = std::fs::read_dir(folder.join("data")).unwrap().map(|entry| entry.unwrap().path());
    let all = data.chain([folder.join("index.html"), folder.join("ablation.md")]);
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    all.map(|path| (name(&path), std::fs::read(&path).unwrap())).collect()
}

#[test]
fn a_quick_study_is_the_same_at_any_number_of_threads_and_when_repeated() {
    let folder = tempdir().unwrap();
    let study = |out: &str, threads: &str| {
        let arguments = [&QUICK[..], &["--out", out, "--threads", threads]].concat();
        let outcome = adfq_in(folder.path(), &arguments);
        assert!(outcome.success, "{}", outcome.stderr);
        assert!(outcome.stdout.contains("Targets of the study: ADFQ meets "), "{}", outcome.stdout);
        assert!(outcome.stderr.contains("units, about "), "{}", outcome.stderr);
        report(&folder.path().join(out))
    };
    let one = study("one", "1");
    assert!(one == study("two", "2"));
    assert!(one == study("one", "2"), "with everything there");
    let html = String::from_utf8(one["index.html"].clone()).unwrap();
    assert!(html.contains("--domains loop,deepsea-8 --quick --seeds 1 --seed 7"));
}

#[test]
fn fair_rivals_are_the_same_at_any_number_of_threads_and_when_repeated() {
    let folder = tempdir().unwrap();
    let rivals = |out: &str, threads: &str| {
        let chosen = ["--domains", "riverswim-6,garnet-30,taxi", "--agents", "split,psrl,beb,q-optimistic"];
        let common = ["study", "rivals", "--quick", "--out", out, "--threads", threads];
        let outcome = adfq_in(folder.path(), &[&common[..], &chosen[..]].concat());
        assert!(outcome.success, "{}", outcome.stderr);
        assert!(outcome.stdout.contains("Fair rivals: Split ADFQ earns "), "{}", outcome.stdout);
        let data = folder.path().join(out).join("data");
        ["rivals", "rivals_by_domain", "rivals_scores", "tuning"]
            .map(|name| std::fs::read_to_string(data.join(format!("{name}.csv"))).unwrap())
    };
    let one = rivals("one", "1");
    assert!(one == rivals("two", "2"));
    assert!(one == rivals("one", "2"), "with everything there");
    // Split ADFQ, and three rivals twice; in three domains with two trials each.
    assert_eq!(one[0].lines().count(), 1 + 7);
    assert_eq!(one[2].lines().count(), 1 + 7 * 3 * 2);
    assert!(one[0].contains("\"PSRL, one setting\"") && one[0].contains("\"PSRL, tuned\""), "{}", one[0]);
}

#[test]
fn mistakes_are_explained() {
    let complaint = refused(&["study", "calibration", "--agents", "sarsa"]);
    assert!(
        complaint.contains("nothing is called \"sarsa\"; choose from: adfq, adfq-tuned, "),
        "{complaint}"
    );
    let complaint = refused(&["study", "calibration", "--domains", "mase"]);
    assert!(complaint.contains("choose from: simple, simple10, chain, "), "{complaint}");
    let complaint = refused(&["study", "rivals", "--agents", "sarsa"]);
    assert!(complaint.contains("choose from: split, psrl, vi, rmax, mbie, beb, ucbvi, "), "{complaint}");
}

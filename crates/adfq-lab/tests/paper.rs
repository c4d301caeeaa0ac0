//! All experiments at a fiftieth of their length: what is written, that threads and interruptions change nothing,
//! and what happens when nothing can be written.

mod common;

use adfq_lab::Error;
use adfq_lab::experiment::{Plan, Stop};
use adfq_lab::paper::Paper;
use adfq_report::plot::Layer;
use adfq_report::report::Report;
use common::{assert_same, files};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::tempdir;

const PLAN: Plan = Plan { seed: 3, trials: 2, shorten: 50, ktd_on_maze: false };

fn paper(only: &[&str]) -> Paper {
    let only: Vec<String> = only.iter().map(|word| word.to_string()).collect();
    Paper::new(PLAN, &only, "adfq paper").unwrap()
}

/// Runs on so many threads, and returns how many units were done.
fn run(paper: &Paper, out: &Path, threads: usize, stop: &Stop) -> (Result<Report, Error>, usize) {
    let done = AtomicUsize::new(0);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let count = || {
        done.fetch_add(1, Ordering::Relaxed);
    };
    let report = pool.install(|| paper.run(out, stop, count));
    (report, done.into_inner())
}

#[test]
fn threads_and_interruptions_change_no_byte() {
    let (one, two, resumed) = (tempdir().unwrap(), tempdir().unwrap(), tempdir().unwrap());
    let all = paper(&[]);
    let (report, done) = run(&all, one.path(), 1, &Stop::default());
    report.unwrap();
    assert_eq!(done, all.units());
    run(&all, two.path(), 2, &Stop::default()).0.unwrap();
    let expected = files(one.path());
    assert_same(&expected, &files(two.path()));

    // Stop a third run half-way, as Ctrl-C would.
    let (stop, count) = (Stop::default(), AtomicUsize::new(0));
    let interrupted = all.run(resumed.path(), &stop, || {
        if count.fetch_add(1, Ordering::Relaxed) == all.units() / 2 {
            stop.raise();
        }
    });
    assert!(matches!(interrupted, Err(Error::Interrupted)));
    let left = files(resumed.path());
    assert!(left.keys().all(|name| name.starts_with(".cache/") && !name.ends_with("partial")));
    assert!(left.len() > all.units() / 3 && left.len() < all.units());
    run(&all, resumed.path(), 2, &Stop::default()).0.unwrap();
    assert_same(&expected, &files(resumed.path()));

    // And once more, with everything there.
    run(&all, resumed.path(), 2, &Stop::default()).0.unwrap();
    assert_same(&expected, &files(resumed.path()));
    Paper::forget(resumed.path()).unwrap();
    assert_eq!(fs::read_dir(resumed.path().join(".cache")).unwrap().count(), 1, "only .gitignore is left");
}

#[test]
fn everything_is_written_down() {
    let out = tempdir().unwrap();
    let chosen = paper(&[]);
    let report = run(&chosen, out.path(), 2, &Stop::default()).0.unwrap();
    let written = files(out.path());
    let learned =
        ["rmse", "discrete_rmse", "discrete_eval", "calibration_1sd", "calibration_2sd", "two_phase"];
    let computed = ["update", "illustration", "simple_mdp", "simple_mdp_true_variance", "var_decrease"];
    for name in learned.into_iter().chain(computed) {
        for file in ["figures/NAME.svg", "data/NAME.csv"] {
            let file = file.replace("NAME", name);
            assert!(written.get(&file).is_some_and(|bytes| !bytes.is_empty()), "{file}");
        }
    }
    assert!(
        written
            .keys()
            .all(|name| name.starts_with(".cache/") || !name.ends_with(".png") && !name.ends_with(".json"))
    );
    for section in &report.sections {
        assert!(!section.claims.is_empty() && !section.tables.is_empty(), "{}", section.title);
        for link in &section.links {
            assert!(written.contains_key(&link.file), "{} is linked but missing", link.file);
        }
    }
    let html = String::from_utf8(written["index.html"].clone()).unwrap();
    assert!(html.contains("It rests on 2 trials") && html.contains("50 times shorter"));
    assert!(!html.contains("<script") && !html.contains("src="));
}

/// The labels of a panel's lines, each with its number of points.
fn lines(report: &Report, section: usize, panel: usize) -> Vec<(&str, usize)> {
    let layers = report.sections[section].figures[0].panels[panel].layers.iter();
    layers
        .filter_map(|layer| match layer {
            Layer::Line(line) => Some((line.label.as_str(), line.points.len())),
            _ => None,
        })
        .collect()
}

#[test]
fn figures_hold_a_line_per_agent_and_a_point_per_look() {
    let out = tempdir().unwrap();
    let report = run(&paper(&["loop"]), out.path(), 2, &Stop::default()).0.unwrap();
    let rmse = |plain| {
        [
            ("ADFQ", 101),
            ("ADFQ without replay", plain),
            ("ADFQ exact", 101),
            ("Q-learning", 101),
            ("KTD-Q", 101),
        ]
    };
    // Nobody replays in a deterministic domain: one gap keeps the place in the legend.
    assert_eq!(lines(&report, 0, 0), rmse(1));
    assert_eq!(lines(&report, 0, 1), rmse(101));
    let agents = [
        "ADFQ TS",
        "ADFQ ε-greedy",
        "ADFQ TS (neutral prior)",
        "ADFQ ε-greedy (neutral prior)",
        "Q-learning ε-greedy",
        "Q-learning Boltzmann",
        "KTD-Q ε-greedy",
        "KTD-Q active",
    ];
    assert_eq!(lines(&report, 1, 0), agents.map(|label| (label, 101)));
    let believers = ["ADFQ", "ADFQ exact", "KTD-Q", "Bayesian Q-learning"];
    assert_eq!(lines(&report, 2, 0), believers.map(|label| (label, 101)));
    let phases = report.sections[3].figures[0].panels[0].layers.iter();
    let bars =
        phases.filter_map(|layer| if let Layer::Bars(bars) = layer { Some(bars.bars.len()) } else { None });
    assert_eq!(bars.collect::<Vec<_>>(), [8, 8]);
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error_before_any_work() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "in the way").unwrap();
    let (report, done) = run(&paper(&["rmse"]), &file.join("out"), 1, &Stop::default());
    let message = report.unwrap_err().to_string();
    assert!(message.contains("file/out") && done == 0, "{message}");
}

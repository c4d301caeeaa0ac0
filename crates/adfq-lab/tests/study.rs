//! The study of calibration, far too short to show anything: what is written, and that threads and interruptions change
//! nothing.

mod common;

use adfq_lab::Error;
use adfq_lab::experiment::{Plan, Stop};
use adfq_lab::study::{Settings, Study};
use adfq_report::plot::Layer;
use adfq_report::report::Report;
use adfq_report::table::Cell;
use common::{assert_same, files};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::tempdir;

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(String::from).collect()
}

fn study(agents: &str, domains: &str) -> Result<Study, Error> {
    let plan = Plan { seed: 3, trials: 2, shorten: 200, ..Plan::default() };
    let settings = Settings { plan, tuning_trials: 1, agents: words(agents), domains: words(domains) };
    Study::new(settings, "adfq study calibration")
}

/// Runs on so many threads.
fn run(study: &Study, out: &Path, threads: usize) -> Report {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| study.run(out, &Stop::default(), || {})).unwrap()
}

#[test]
fn threads_and_interruptions_change_no_byte() {
    let (one, two) = (tempdir().unwrap(), tempdir().unwrap());
    let study = study("", "chain maze deepsea-8 random-10").unwrap();
    run(&study, one.path(), 1);
    let expected = files(one.path());

    // The second run is stopped half-way, as Ctrl-C would, and then continued on two threads.
    let (stop, count) = (Stop::default(), AtomicUsize::new(0));
    let interrupted = study.run(two.path(), &stop, || {
        if count.fetch_add(1, Ordering::Relaxed) == study.units() / 2 {
            stop.raise();
        }
    });
    assert!(matches!(interrupted, Err(Error::Interrupted)));
    let left = files(two.path());
    assert!(left.keys().all(|name| name.starts_with(".cache/") && !name.ends_with("partial")));
    assert!(left.len() > study.units() / 3 && left.len() < study.units());
    run(&study, two.path(), 2);
    assert_same(&expected, &files(two.path()));
}

#[test]
fn every_unit_is_announced() {
    let out = tempdir().unwrap();
    let study = study("adfq-tuned q-learning", "loop").unwrap();
    let done = AtomicUsize::new(0);
    let count = || {
        done.fetch_add(1, Ordering::Relaxed);
    };
    study.run(out.path(), &Stop::default(), count).unwrap();
    assert_eq!(done.into_inner(), study.units());
    assert!(study.expected_seconds() > 0.0);
}

#[test]
fn everything_is_written_down() {
    let out = tempdir().unwrap();
    let report = run(
        &study("adfq q-learning bayesian-q", "chain maze deepsea-20 random-30-episodic").unwrap(),
        out.path(),
        2,
    );
    let written = files(out.path());
    for section in &report.sections {
        for link in &section.links {
            assert!(written.contains_key(&link.file), "{} is linked but missing", link.file);
        }
    }
    for figure in ["coverage_small", "rmse_mazes", "crps_random", "area", "reward", "phases", "maze_beliefs"]
    {
        assert!(written.contains_key(&format!("figures/{figure}.svg")), "{figure}");
    }
    let targets = &report.sections[0].tables[0].1;
    // Four domains: area, reward and two of coverage each; two phases of Chain; DeepSea with 20 rows.
    assert_eq!(targets.rows().len(), 4 * 4 + 2 + 1);
    for row in targets.rows() {
        let Cell::Text(verdict) = &row[3] else { panic!("{row:?}") };
        assert_eq!(verdict == "✗ missed", row[4] != Cell::Text(String::new()), "{row:?}");
    }
    let ablation = String::from_utf8(written["ablation.md"].clone()).unwrap();
    assert_eq!(ablation.lines().count(), 2 + 3);
    assert!(ablation.lines().all(|line| line.matches('|').count() == 15), "{ablation}");
}

/// Coverage is a matter of those who have beliefs; all of them are in the picture.
#[test]
fn figures_of_coverage_show_believers_only() {
    let out = tempdir().unwrap();
    let report = run(&study("adfq q-learning ktd-q", "loop").unwrap(), out.path(), 2);
    let walks = report.sections.iter().find(|section| section.title.contains("random walks")).unwrap();
    let lines = |figure: usize| {
        let layers = walks.figures[figure].panels[0].layers.iter();
        let label =
            |layer: &Layer| if let Layer::Line(line) = layer { Some(line.label.clone()) } else { None };
        layers.filter_map(label).collect::<Vec<_>>()
    };
    assert_eq!(lines(0), ["ADFQ", "KTD-Q"]);
    assert_eq!(lines(1), ["ADFQ", "Q-learning", "KTD-Q"]);
}

#[test]
fn whole_names_mean_themselves_and_parts_all_that_have_them() {
    let labels = |agents: &str| {
        let out = tempdir().unwrap();
        let report = run(&study(agents, "loop").unwrap(), out.path(), 2);
        report.sections[0].tables[1].1.rows().len()
    };
    assert_eq!([labels("adfq"), labels("adfq-")], [1, 2]);
    let Err(error) = study("sarsa", "") else { panic!("there is no sarsa") };
    assert!(
        error.to_string().starts_with("nothing is called \"sarsa\"; choose from: adfq, adfq-tuned, "),
        "{error}"
    );
    assert!(study("", "").is_ok());
}

/// The table in the documentation is the one that the committed run has written.
#[test]
fn the_documentation_shows_the_committed_table() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |file: &str| std::fs::read_to_string(root.join(file)).unwrap();
    let (page, table) = (read("docs/calibration.md"), read("results/calibration/ablation.md"));
    assert!(table.lines().count() > 10);
    assert!(page.contains(&format!("<!-- ablation.md -->\n{table}<!-- end of ablation.md -->")));
}

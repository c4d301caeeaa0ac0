//! From trials to a report, on a terminal: threads, a bar, Ctrl-C, and what came out. What is tried is the business of
//! [`paper`](crate::paper) and [`study`](crate::study).

use crate::output::{print, say};
use adfq_lab::experiment::Stop;
use adfq_report::report::Report;
use adfq_report::verdict::Verdict;
use anyhow::{Context, Result};
use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::fmt::Write;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// More repetitions of a trial than anybody waits for.
const MOST_REPETITIONS: usize = 100_000;

/// How often a trial is repeated. All trials are listed before the first begins, so their number has a bound.
pub fn parse_repetitions(text: &str) -> Result<NonZeroUsize, String> {
    let number = text.parse().ok().filter(|number: &NonZeroUsize| number.get() <= MOST_REPETITIONS);
    number.ok_or_else(|| format!("it is a number from 1 to {MOST_REPETITIONS}"))
}

/// So many threads, or one for each core.
pub fn pool(threads: Option<NonZeroUsize>) -> Result<ThreadPool> {
    ThreadPoolBuilder::new()
        .num_threads(threads.map_or(0, NonZeroUsize::get))
        .build()
        .context("cannot start threads; try fewer with --threads")
}

/// Works through so many units, which `work` tells of one by one, and prints what the report in the folder `out` says.
pub fn run(
    pool: &ThreadPool,
    units: usize,
    out: &Path,
    work: impl FnOnce(&Stop, &(dyn Fn() + Sync)) -> adfq_lab::Result<Report> + Send,
) -> Result<()> {
    let stop = Arc::new(Stop::default());
    listen(Arc::clone(&stop))?;
    let (bar, start) = (progress_bar(units)?, Instant::now());
    let report = pool.install(|| work(&stop, &|| bar.inc(1)));
    bar.finish_and_clear();
    let mut text = String::new();
    for section in &report?.sections {
        let _ = writeln!(text, "{}", section.title);
        for claim in &section.claims {
            let _ = writeln!(text, "  {} {}{}", sign(claim.verdict), claim.text, suffix(claim.verdict));
        }
    }
    let (took, page) = (HumanDuration(start.elapsed()), out.join("index.html"));
    print(&format!("{text}\n{units} units in {took}. The report: {}\n", page.display()))
}

/// The first Ctrl-C asks the work to stop, a second one ends the program.
fn listen(stop: Arc<Stop>) -> Result<()> {
    ctrlc::set_handler(move || {
        if stop.is_raised() {
            std::process::exit(130);
        }
        stop.raise();
        say("\nstopping; press Ctrl-C again to stop at once");
    })
    .context("cannot listen for Ctrl-C")
}

/// A bar on the error output, which `indicatif` hides where that is no terminal.
fn progress_bar(units: usize) -> Result<ProgressBar> {
    let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} trials, {eta} left")?;
    Ok(ProgressBar::new(units as u64).with_style(style))
}

fn sign(verdict: Verdict) -> char {
    match verdict {
        Verdict::Holds => '✓',
        Verdict::DoesNotHold => '✗',
        Verdict::NotDecided => '?',
    }
}

fn suffix(verdict: Verdict) -> String {
    if verdict == Verdict::Holds { String::new() } else { format!(" [{verdict}]") }
}

//! `adfq paper`: the paper's experiments, from trials to a report.

use adfq_lab::experiment::{Plan, Stop};
use adfq_lab::paper::Paper;
use adfq_lab::verdict::Verdict;
use anyhow::{Context, Result};
use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// Run the paper's experiments again and write a report
///
/// Trials are kept in OUT/.cache, so that the same command continues after an interruption. One seed gives the same
/// numbers whatever the number of threads.
#[derive(clap::Args)]
pub struct Args {
    /// Run only these experiments or domains (names or parts of them, separated by commas)
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    only: Vec<String>,
    /// Repetitions of every trial [default: 10, with --quick 3]
    #[arg(long)]
    trials: Option<NonZeroUsize>,
    /// Seed of all randomness
    #[arg(long, default_value_t = 7)]
    seed: u64,
    /// Threads [default: one per core]
    #[arg(long)]
    threads: Option<NonZeroUsize>,
    /// Folder for the report, its figures and data
    #[arg(long, default_value = "adfq-paper", value_name = "FOLDER")]
    out: PathBuf,
    /// Fewer and shorter trials, for a first look
    #[arg(long)]
    quick: bool,
    /// Leave out KTD-Q on Maze, the slowest part; --quick does so too
    #[arg(long)]
    without_ktd_maze: bool,
    /// Forget the trials of earlier runs in this folder
    #[arg(long)]
    fresh: bool,
}

pub fn run(args: &Args) -> Result<()> {
    let paper = Paper::new(args.plan(), &args.only, args.command())?;
    if args.fresh {
        Paper::forget(&args.out)?;
    }
    let stop = Arc::new(Stop::default());
    listen(Arc::clone(&stop))?;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(args.threads.map_or(0, NonZeroUsize::get))
        .build()
        .context("cannot start threads; try fewer with --threads")?;
    let (bar, start) = (progress_bar(paper.units())?, Instant::now());
    let report = pool.install(|| paper.run(&args.out, &stop, || bar.inc(1)));
    bar.finish_and_clear();
    for section in &report?.sections {
        println!("{}", section.title);
        for claim in &section.claims {
            println!("  {} {}{}", sign(claim.verdict), claim.text, suffix(claim.verdict));
        }
    }
    let report = args.out.join("index.html");
    println!(
        "\n{} units in {}. The report: {}",
        paper.units(),
        HumanDuration(start.elapsed()),
        report.display()
    );
    Ok(())
}

impl Args {
    fn plan(&self) -> Plan {
        let base = if self.quick { Plan::quick() } else { Plan::default() };
        Plan {
            seed: self.seed,
            trials: self.trials.map_or(base.trials, NonZeroUsize::get),
            ktd_on_maze: base.ktd_on_maze && !self.without_ktd_maze,
            ..base
        }
    }

    /// The command line as someone else would type it: what decides the numbers, without paths and threads.
    fn command(&self) -> String {
        let mut words = vec!["adfq paper".to_owned()];
        if !self.only.is_empty() {
            words.push(format!("--only {}", self.only.join(",")));
        }
        if self.quick {
            words.push("--quick".to_owned());
        }
        if self.without_ktd_maze {
            words.push("--without-ktd-maze".to_owned());
        }
        words.push(format!("--trials {} --seed {}", self.plan().trials, self.seed));
        words.join(" ")
    }
}

/// The first Ctrl-C asks the work to stop, a second one ends the program.
pub fn listen(stop: Arc<Stop>) -> Result<()> {
    ctrlc::set_handler(move || {
        if stop.is_raised() {
            std::process::exit(130);
        }
        stop.raise();
        eprintln!("\nstopping; press Ctrl-C again to stop at once");
    })
    .context("cannot listen for Ctrl-C")
}

/// A bar on the error output, which `indicatif` hides where that is no terminal.
pub fn progress_bar(units: usize) -> Result<ProgressBar> {
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

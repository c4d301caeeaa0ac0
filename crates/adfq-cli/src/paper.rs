//! `adfq paper`: the paper's experiments, from trials to a report.

use crate::report;
use adfq_lab::experiment::Plan;
use adfq_lab::paper::Paper;
use anyhow::Result;
use std::num::NonZeroUsize;
use std::path::PathBuf;

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
    #[arg(long, value_parser = crate::report::parse_repetitions)]
    trials: Option<NonZeroUsize>,
    /// Seed of all randomness
    #[arg(long, default_value_t = 7)]
    seed: u64,
    /// Threads [default: one per core]
    #[arg(long, value_parser = crate::host::parse_threads)]
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
    let pool = report::pool(args.threads)?;
    report::run(&pool, paper.units(), &args.out, |stop, done| paper.run(&args.out, stop, done))
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

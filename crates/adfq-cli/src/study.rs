//! `adfq study`: measurements beyond the paper, from trials to a report.

use crate::output::say;
use crate::report;
use adfq_lab::experiment::Plan;
use adfq_lab::study::{Settings, Study};
use anyhow::Result;
use indicatif::HumanDuration;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// Run a study of our own and write a report
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    study: Which,
}

#[derive(clap::Subcommand)]
enum Which {
    Calibration(Calibration),
}

/// Can beliefs be trusted, and what does that cost?
///
/// Every agent on 21 domains: error and coverage on shared random walks, reward with its own exploration. Trials are
/// kept in OUT/.cache, so that the same command continues after an interruption. One seed gives the same numbers
/// whatever the number of threads.
#[derive(clap::Args)]
struct Calibration {
    /// Only these agents (names or parts of them, separated by commas)
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    agents: Vec<String>,
    /// Only these domains (names or parts of them, separated by commas)
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    domains: Vec<String>,
    /// Repetitions of every trial, each with seeds of its own [default: 20, with --quick 2]
    #[arg(long, value_parser = crate::report::parse_repetitions)]
    seeds: Option<NonZeroUsize>,
    /// Seed of all randomness
    #[arg(long, default_value_t = 7)]
    seed: u64,
    /// Threads [default: one per core]
    #[arg(long, value_parser = crate::host::parse_threads)]
    threads: Option<NonZeroUsize>,
    /// Folder for the report, its figures and data
    #[arg(long, default_value = "adfq-calibration", value_name = "FOLDER")]
    out: PathBuf,
    /// Fewer and much shorter trials, for a first look
    #[arg(long)]
    quick: bool,
    /// Forget what earlier runs in this folder left of the chosen agents and domains
    #[arg(long)]
    fresh: bool,
}

pub fn run(args: &Args) -> Result<()> {
    let Which::Calibration(args) = &args.study;
    let study = Study::new(args.settings(), args.command())?;
    if args.fresh {
        study.forget(&args.out)?;
    }
    let pool = report::pool(args.threads)?;
    let expected = Duration::from_secs_f64(study.expected_seconds() / pool.current_num_threads() as f64);
    say(&format!(
        "{} units, about {} on {} threads if nothing is there yet",
        study.units(),
        HumanDuration(expected),
        pool.current_num_threads()
    ));
    report::run(&pool, study.units(), &args.out, |stop, done| study.run(&args.out, stop, done))
}

impl Calibration {
    fn settings(&self) -> Settings {
        let base = if self.quick { Settings::quick() } else { Settings::default() };
        let trials = self.seeds.map_or(base.plan.trials, NonZeroUsize::get);
        Settings {
            plan: Plan { seed: self.seed, trials, ..base.plan },
            agents: self.agents.clone(),
            domains: self.domains.clone(),
            ..base
        }
    }

    /// The command line as someone else would type it: what decides the numbers, without paths and threads.
    fn command(&self) -> String {
        let mut words = vec!["adfq study calibration".to_owned()];
        for (option, names) in [("--agents", &self.agents), ("--domains", &self.domains)] {
            if !names.is_empty() {
                words.push(format!("{option} {}", names.join(",")));
            }
        }
        if self.quick {
            words.push("--quick".to_owned());
        }
        words.push(format!("--seeds {} --seed {}", self.settings().plan.trials, self.seed));
        words.join(" ")
    }
}

//! `adfq study`: measurements beyond the paper, from trials to a report.

use crate::output::say;
use crate::report;
use adfq_lab::experiment::Plan;
use adfq_lab::study::{Rivals, Settings, Study};
use anyhow::Result;
use indicatif::HumanDuration;
use rayon::ThreadPool;
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
    /// Can beliefs be trusted, and what does that cost?
    ///
    /// Every agent on 21 domains: error and coverage on shared random walks, reward with its own exploration. Trials are
    /// kept in OUT/.cache, so that the same command continues after an interruption. One seed gives the same numbers
    /// whatever the number of threads.
    Calibration(Options),
    /// What does Split ADFQ earn beside agents that keep counts of outcomes too?
    ///
    /// PSRL, value iteration on the empirical model, R-max, MBIE-EB, BEB, UCBVI and optimistic Q-learning, each tuned for every domain
    /// and with one setting for all, on 19 domains, of which seven were never tuned on. Trials are kept in OUT/.cache, so
    /// that the same command continues after an interruption. One seed gives the same numbers whatever the number of
    /// threads.
    Rivals(Options),
}

#[derive(clap::Args)]
struct Options {
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
    /// Folder for the report, its figures and data [default: adfq-calibration or adfq-rivals]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Fewer and much shorter trials, for a first look
    #[arg(long)]
    quick: bool,
    /// Forget what earlier runs in this folder left of the chosen agents and domains
    #[arg(long)]
    fresh: bool,
}

pub fn run(args: &Args) -> Result<()> {
    match &args.study {
        Which::Calibration(options) => {
            let study = Study::new(options.settings(), options.command("calibration"))?;
            let out = options.out("calibration");
            if options.fresh {
                study.forget(&out)?;
            }
            let pool = options.pool(study.units(), study.expected_seconds())?;
            report::run(&pool, study.units(), &out, |stop, done| study.run(&out, stop, done))
        }
        Which::Rivals(options) => {
            let rivals = Rivals::new(options.settings(), options.command("rivals"))?;
            let out = options.out("rivals");
            if options.fresh {
                rivals.forget(&out)?;
            }
            let pool = options.pool(rivals.units(), rivals.expected_seconds())?;
            report::run(&pool, rivals.units(), &out, |stop, done| rivals.run(&out, stop, done))
        }
    }
}

impl Options {
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

    fn out(&self, study: &str) -> PathBuf {
        self.out.clone().unwrap_or_else(|| format!("adfq-{study}").into())
    }

    /// The threads, after a line on what they will have to do.
    fn pool(&self, units: usize, seconds: f64) -> Result<ThreadPool> {
        let pool = report::pool(self.threads)?;
        let threads = pool.current_num_threads();
        let expected = HumanDuration(Duration::from_secs_f64(seconds / threads as f64));
        say(&format!("{units} units, about {expected} on {threads} threads if nothing is there yet"));
        Ok(pool)
    }

    /// The command line as someone else would type it: what decides the numbers, without paths and threads.
    fn command(&self, study: &str) -> String {
        let mut words = vec![format!("adfq study {study}")];
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

//! `adfq beliefs`: what an agent believes, held against the truth.

use crate::output::{print, say};
use adfq_deep::Checkpoint;
use adfq_deep::run::folder::kept_steps;
use adfq_lab::beliefs::{FILE, Settings, measure, save, summary, write};
use anyhow::{Context, Result};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Hold what a trained agent believes against the returns of its own greedy policy
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  adfq beliefs runs/deepsea-10-split-optimist-0
  adfq beliefs runs/cartpole-calibrated-doubt-0 --checkpoint last --states 100
  adfq beliefs runs/deepsea-* --out beliefs      # also a page with calibration curves, CSV and JSON

States are met in training (the exploration of the run, from the checkpoint on), in evaluation
(greedy play) and in random play. Each one is saved; every action is taken from there, and the
greedy policy is followed to the end. What is found also goes to beliefs.json in the run folder,
where adfq compare finds it. The environment must be one that can be saved: all but gym: and atari:.

The same command prints the same result, on any number of threads.")]
pub struct Args {
    /// Run folders
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    /// The checkpoint: all that are kept, last, best (that of the best evaluation), or that of a step
    #[arg(long, value_name = "WHICH", default_value = "all")]
    checkpoint: Which,
    /// States of each kind
    #[arg(long, value_name = "N", default_value_t = Settings::default().states, value_parser = crate::count::parse_usize)]
    states: usize,
    /// The most rollouts for one action in one state; fewer where their standard error is small beside σ
    #[arg(long, value_name = "N", default_value_t = Settings::default().rollouts, value_parser = parse_rollouts)]
    rollouts: usize,
    /// The seed of states and rollouts
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Threads [default: one per core]
    #[arg(long, value_parser = crate::host::parse_threads)]
    threads: Option<NonZeroUsize>,
    /// Write a page with calibration curves, every value as CSV, and JSON to this folder
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Print one JSON list with everything, a run an entry
    #[arg(long)]
    json: bool,
}

/// The checkpoints that are asked for.
#[derive(Clone, Copy)]
enum Which {
    All,
    One(Checkpoint),
}

impl FromStr for Which {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let one = |_| "say all, last, best, or a step".to_owned();
        if text == "all" { Ok(Self::All) } else { text.parse().map(Self::One).map_err(one) }
    }
}

impl Which {
    fn of(self, run: &Path) -> Result<Vec<Checkpoint>> {
        match self {
            Self::All => Ok(kept_steps(run)?.into_iter().map(Checkpoint::Step).collect()),
            Self::One(checkpoint) => Ok(vec![checkpoint]),
        }
    }
}

/// One rollout does not tell its own spread.
fn parse_rollouts(text: &str) -> Result<usize, String> {
    let rollouts = crate::count::parse_usize(text)?;
    if rollouts >= 2 { Ok(rollouts) } else { Err("it is a number from 2 on".to_owned()) }
}

impl Args {
    /// The command line that gives the same again, from the same folder.
    fn command(&self) -> String {
        let runs = self.runs.iter().map(|run| run.display().to_string());
        let mut words: Vec<String> =
            ["adfq".to_owned(), "beliefs".to_owned()].into_iter().chain(runs).collect();
        let which = match self.checkpoint {
            Which::All => "all".to_owned(),
            Which::One(Checkpoint::Last) => "last".to_owned(),
            Which::One(Checkpoint::Best) => "best".to_owned(),
            Which::One(Checkpoint::Step(step)) => step.to_string(),
        };
        for (name, value) in [
            ("--checkpoint", which),
            ("--states", self.states.to_string()),
            ("--rollouts", self.rollouts.to_string()),
            ("--seed", self.seed.to_string()),
        ] {
            words.extend([name.to_owned(), value]);
        }
        words.extend(self.out.iter().flat_map(|out| ["--out".to_owned(), out.display().to_string()]));
        let quoted = words.iter().map(|word| shlex::try_quote(word).unwrap_or(word.as_str().into()));
        quoted.collect::<Vec<_>>().join(" ")
    }
}

pub fn run(args: &Args) -> Result<()> {
    let host = adfq_deep::Host::here();
    let settings = Settings { states: args.states, rollouts: args.rollouts, seed: args.seed };
    let pool = crate::report::pool(args.threads)?;
    let mut measured = vec![];
    for run in &args.runs {
        let which = args.checkpoint.of(run)?;
        let found = pool.install(|| measure(run, &host, &which, settings));
        measured.push(found.with_context(|| run.display().to_string())?);
    }
    for beliefs in &measured {
        // A folder may be read-only, and the result is no worse for it.
        if let Err(error) = save(beliefs) {
            say(&format!("warning: {FILE} is not written, and adfq compare will not show it: {error}"));
        }
    }
    if let Some(out) = &args.out {
        write(&measured, out, &args.command())?;
        say(&format!("wrote the page to {}", out.join("report.html").display()));
    }
    match args.json {
        true => print(&(serde_json::to_string_pretty(&measured)? + "\n")),
        false => print(&summary(&measured)),
    }
}

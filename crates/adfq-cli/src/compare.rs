//! `adfq compare`: training runs side by side.

use crate::output::{print, say};
use adfq_lab::compare::{Comparison, Returns, Run, find, summary, write};
use anyhow::Result;
use std::path::PathBuf;

/// Compare training runs over seeds: final return, area under the curve, who beats whom, learning curves
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  adfq compare runs/                        # every run below the folder
  adfq compare runs/adfq-* runs/dqn-*
  adfq compare runs/ --out comparison       # also curves as SVG and PNG, CSV, JSON and a report
  adfq compare runs/ --training             # by what training episodes returned
  adfq compare runs/ --json > compare.json

Runs of one environment that differ in nothing but the seed are pooled. Where runs of one agent
and policy differ in more, the label says in what: DQN (learning.batch=64). Runs of different
length are compared up to the end of the shortest. A run that is under way may be compared.

The same command prints the same result.")]
pub struct Args {
    /// Run folders, or folders in which runs are searched for
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    /// Write learning curves, tables and a report to this folder
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Compare the returns of training episodes, exploration included, in place of those of evaluations
    #[arg(long)]
    training: bool,
    /// The seed of the bootstrap
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print one JSON object with everything
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<()> {
    let folders = find(&args.runs)?;
    let returns = if args.training { Returns::Training } else { Returns::Evaluation };
    let runs = folders.iter().map(|folder| Run::read(folder, returns)).collect::<Result<_, _>>()?;
    let comparison = Comparison::of(runs, args.seed)?;
    if let Some(out) = &args.out {
        let training = if args.training { " --training" } else { "" };
        write(&comparison, out, &format!("adfq compare RUN…{training} --seed {}", args.seed))?;
    }
    match args.json {
        true => print(&(serde_json::to_string_pretty(&comparison)? + "\n"))?,
        false => print(&summary(&comparison))?,
    }
    if let Some(out) = &args.out {
        say(&format!("wrote the report to {}", out.join("report.html").display()));
    }
    Ok(())
}

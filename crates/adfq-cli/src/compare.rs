//! `adfq compare`: training runs side by side.

use crate::output::{print, say};
use adfq_lab::Error;
use adfq_lab::compare::{Comparison, Returns, Run, find, summary, write};
use anyhow::{Result, bail};
use std::path::PathBuf;

/// Compare training runs over seeds: final return, area under the curve, who beats whom, learning curves
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  adfq compare runs/                        # every run below the folder
  adfq compare runs/adfq-* runs/dqn-*
  adfq compare runs/ --out comparison       # also curves as SVG, CSV, JSON and a report
  adfq compare runs/ --training             # by what training episodes returned
  adfq compare runs/ --steps 50000          # by what was reached up to step 50,000
  adfq compare runs/ --json > compare.json

Runs of one environment that differ in nothing but the seed are pooled. Where runs of one agent
and policy differ in more, the label says in what: DQN (learning.batch=64). The number of steps
is no label: each environment is compared at the length at which most training can be, and runs
that do not reach it are left out by name. A run that is under way may be compared.

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
    /// Compare what was reached up to this step
    #[arg(long, value_name = "N")]
    steps: Option<u64>,
    /// The seed of the bootstrap
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print one JSON object with everything
    #[arg(long)]
    json: bool,
}

impl Args {
    /// The command line that gives the same again, from the same folder.
    fn command(&self) -> String {
        let mut words = vec!["adfq".to_owned(), "compare".to_owned()];
        words.extend(self.runs.iter().map(|path| path.display().to_string()));
        let with_value = |name: &str, value: String| [name.to_owned(), value];
        words.extend(self.out.iter().flat_map(|out| with_value("--out", out.display().to_string())));
        words.extend(self.training.then(|| "--training".to_owned()));
        words.extend(self.steps.into_iter().flat_map(|steps| with_value("--steps", steps.to_string())));
        words.extend(with_value("--seed", self.seed.to_string()));
        let quoted = words.iter().map(|word| shlex::try_quote(word).unwrap_or(word.as_str().into()));
        quoted.collect::<Vec<_>>().join(" ")
    }
}

pub fn run(args: &Args) -> Result<()> {
    let returns = if args.training { Returns::Training } else { Returns::Evaluation };
    let (runs, unread) = read(&find(&args.runs)?, returns, args.steps)?;
    let mut comparison = Comparison::of(runs, args.seed)?;
    comparison.notes.extend(unread);
    if let Some(out) = &args.out {
        write(&comparison, out, &args.command())?;
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

/// The runs with something to compare, and a line for each of the others. It is an error if there are only others.
fn read(folders: &[PathBuf], returns: Returns, steps: Option<u64>) -> Result<(Vec<Run>, Vec<String>)> {
    let (mut runs, mut unread, mut first) = (vec![], vec![], None);
    for folder in folders {
        let run = match Run::read(folder, returns) {
            Err(error @ (Error::NoEvaluations(_) | Error::NoEpisodes(_))) => {
                let what =
                    if returns == Returns::Evaluation { "evaluation" } else { "training episode that ended" };
                unread.push(format!("Left out: {} has no {what} yet.", folder.display()));
                first.get_or_insert(error);
                continue;
            }
            run => run?,
        };
        match steps {
            None => runs.push(run),
            Some(steps) => match run.until(steps) {
                Some(run) => runs.push(run),
                None => {
                    unread.push(format!("Left out: {} has nothing up to step {steps}.", folder.display()))
                }
            },
        }
    }
    match (runs.is_empty(), first, steps) {
        (false, ..) => Ok((runs, unread)),
        (true, Some(error), _) => Err(error.into()),
        (true, None, steps) => bail!("no run has anything up to step {}", steps.unwrap_or(0)),
    }
}

//! `adfq bench`: how fast things are here.

use crate::output::{print, say};
use adfq_env::Gym;
use adfq_lab::bench::{Lines, Machine, Pace, select};
use anyhow::{Context, Result};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Measure steps/s of networks, replay, environments and training on this machine
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  adfq bench                            # all of it, in less than a minute
  adfq bench --quick --only replay
  adfq bench --only gradient,train --threads 1
  adfq bench --json > bench.jsonl       # one object a row

A gradient step is the whole of it, batch of 32: target network, the ADFQ update, loss, gradient,
clipping, Adam. \"train cartpole\" is a run of 20,000 steps from the first to the last, with the settings
of benches/peers; \"train minatar\" is timed once learning has begun. Neither evaluates nor writes files.
Let nothing else run meanwhile: two threads that share a core wait for each other.")]
pub struct Args {
    /// Only rows whose name or group contains one of these words (separated by commas)
    #[arg(long, value_delimiter = ',', value_name = "WORD")]
    only: Vec<String>,
    /// Fewer and shorter samples, for a first look
    #[arg(long)]
    quick: bool,
    /// Threads of the network [default: one for each core]
    #[arg(long, value_name = "N", value_parser = crate::host::parse_threads)]
    threads: Option<NonZeroUsize>,
    /// The Python of the rows about environments in worker processes [default: the active virtual environment's]
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Print one JSON object a row
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<()> {
    let gym = Gym { python: args.python.clone(), ..Gym::default() };
    let benches = select(&args.only, &gym)?;
    if let Some(threads) = args.threads {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads.get())
            .build_global()
            .context("cannot start threads; try fewer with --threads")?;
    }
    let pace = if args.quick { Pace::quick() } else { Pace::default() };
    let mut lines = Lines::new(&benches);
    if !args.json {
        print(&lines.head(&Machine::here()))?;
    }
    let mut left_out = LeftOut::default();
    for bench in &benches {
        let row = match bench.run(&pace) {
            // Not everybody has Python and all packages; who names a Python wants to know.
            Err(error) if bench.needs_python() && args.python.is_none() => {
                left_out.add(bench.name(), &error);
                continue;
            }
            row => row?,
        };
        match args.json {
            true => print(&(serde_json::to_string(&row)? + "\n"))?,
            false => print(&lines.row(&row))?,
        }
    }
    let of_bridge = benches.iter().filter(|bench| bench.needs_python()).count();
    left_out.notice(of_bridge).iter().for_each(|line| say(line));
    Ok(())
}

/// Rows that cannot be measured with the Python there is.
#[derive(Default)]
struct LeftOut {
    names: Vec<String>,
    /// What was wrong with the first of them.
    reason: String,
}

impl LeftOut {
    fn add(&mut self, name: &str, error: &adfq_lab::Error) {
        if self.names.is_empty() {
            self.reason = error.to_string();
        }
        self.names.push(name.to_owned());
    }

    /// What to say when all rows are printed, of which so many are about the bridge.
    fn notice(&self, of_bridge: usize) -> Option<String> {
        let rows = match self.names.len() {
            0 => return None,
            all if all == of_bridge => "the rows of the bridge".to_owned(),
            some => format!("{some} of {of_bridge} rows of the bridge ({})", self.names.join("; ")),
        };
        Some(format!("without {rows}: {}", self.reason))
    }
}

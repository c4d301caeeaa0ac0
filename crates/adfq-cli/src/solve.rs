//! `adfq solve`: what is optimal in an MDP.

use crate::output::{print, print_json, say};
use adfq::mdp::file::{to_csv, to_json};
use adfq_files::write_atomic;
use adfq_lab::{domain, solve::Solved, text};
use anyhow::{Result, bail};
use clap::ValueEnum;
use std::path::PathBuf;

/// Solve an MDP: Q*, V*, the optimal policy and what it earns
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  adfq solve --list
  adfq solve loop
  adfq solve maze --gamma 0.99
  adfq solve chain --format csv > chain-q.csv
  adfq solve loop --export loop.csv        # the model as a file, to be changed
  adfq solve loop.csv

A file has one outcome a line under the header
  state,action,probability,next_state,reward,terminal
and the comments `# gamma: 0.9` and `# start: home`; or it is the same as JSON.

Up to 2,500 states the solution is exact. Beyond, no value is further from V* than a relative 1e-10, unless gamma
is so near to 1 that rounding forbids it; --format json says how far it can be.")]
pub struct Args {
    /// A built-in domain (see --list), or a file that ends in .csv or .json
    #[arg(value_name = "DOMAIN|FILE", required_unless_present = "list")]
    domain: Option<String>,
    /// List the built-in domains
    #[arg(long)]
    list: bool,
    /// Another discount than the domain's own
    #[arg(long, allow_negative_numbers = true)]
    gamma: Option<f64>,
    /// How to print the solution
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Show all states, also those that cannot be reached
    #[arg(long)]
    all: bool,
    /// Write the model itself to a .csv or .json file instead of solving it
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// A table for people, and a map for grid worlds
    Text,
    /// One JSON object with everything
    Json,
    /// One line for each state and action
    Csv,
}

pub fn run(args: &Args) -> Result<()> {
    let Some(name) = args.domain.as_ref().filter(|_| !args.list) else {
        let lines = domain::list().into_iter().map(|(name, what)| format!("{name:<22} {what}\n"));
        return print(&lines.collect::<String>());
    };
    let mut mdp = domain::open(name)?;
    if let Some(gamma) = args.gamma {
        mdp = mdp.with_gamma(gamma)?;
    }
    if let Some(path) = &args.export {
        let model = match path.extension().and_then(|end| end.to_str()) {
            Some("csv") => to_csv(&mdp),
            Some("json") => to_json(&mdp),
            _ => bail!("{}: the name of the file must end in .csv or .json", path.display()),
        };
        write_atomic(path, model.as_bytes())?;
        say(&format!("wrote {} to {}", mdp.name(), path.display()));
        return Ok(());
    }
    let solved = Solved::of(&mdp)?;
    match args.format {
        Format::Text => print(&text::solved(&mdp, &solved, args.all)),
        Format::Json => print_json(&solved),
        Format::Csv => solved.csv().try_for_each(|lines| print(&lines?)),
    }
}

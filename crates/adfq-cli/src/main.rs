//! The program `adfq`: reads arguments, calls the libraries, prints. No logic of its own; each verb has a file.

use clap::{Parser, Subcommand};
use std::process::ExitCode;

mod paper;
mod update;

/// Bayesian Q-learning that knows what it does not know (ADFQ)
#[derive(Parser)]
#[command(version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Paper(paper::Args),
    Update(update::Args),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Paper(args) => paper::run(&args),
        Command::Update(args) => update::run(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

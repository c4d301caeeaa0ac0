//! The program `adfq`: reads arguments, calls the libraries, prints. No logic of its own; each verb has a file.

use clap::{Parser, Subcommand};
use std::process::ExitCode;

mod bench;
mod compare;
mod device;
mod eval;
mod host;
mod learn;
mod output;
mod paper;
mod progress;
mod report;
mod solve;
mod study;
mod train;
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
    Train(train::Args),
    Eval(eval::Args),
    Compare(compare::Args),
    Bench(bench::Args),
    Solve(solve::Args),
    Learn(learn::Args),
    Paper(paper::Args),
    Study(study::Args),
    Update(update::Args),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Train(args) => train::run(&args),
        Command::Eval(args) => eval::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Solve(args) => solve::run(&args),
        Command::Learn(args) => learn::run(&args),
        Command::Paper(args) => paper::run(&args),
        Command::Study(args) => study::run(&args),
        Command::Update(args) => update::run(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", message(&error));
            ExitCode::FAILURE
        }
    }
}

/// The error and its causes, each said once: our own messages already end in the system's words.
fn message(error: &anyhow::Error) -> String {
    error.chain().map(|cause| cause.to_string()).fold(String::new(), |said, cause| {
        match said.contains(&cause) {
            true => said,
            false if said.is_empty() => cause,
            false => format!("{said}: {cause}"),
        }
    })
}

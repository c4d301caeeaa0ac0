//! The program `adfq`: reads arguments, calls the libraries, prints. No logic of its own; each verb has a file.

use crate::output::say;
use clap::{Parser, Subcommand};
use std::process::ExitCode;

mod act;
mod beliefs;
mod bench;
mod bsuite;
mod compare;
mod count;
mod device;
mod eval;
mod export;
mod heartbeat;
mod host;
mod learn;
mod notices;
mod output;
mod paper;
mod presets;
mod progress;
mod report;
mod serve;
mod solve;
mod stream;
mod study;
mod train;
mod trust;
mod update;

/// Bayesian Q-learning that knows what it does not know (ADFQ)
#[derive(Parser)]
// The package has another name than the program, and `--version` is about the program.
#[command(name = "adfq", version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Train(Box<train::Args>),
    Eval(eval::Args),
    Act(act::Args),
    Beliefs(beliefs::Args),
    Export(export::Args),
    Presets(presets::Args),
    Compare(compare::Args),
    Serve(serve::Args),
    Bsuite(bsuite::Args),
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
        Command::Act(args) => act::run(&args),
        Command::Beliefs(args) => beliefs::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Presets(args) => presets::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Bsuite(args) => bsuite::run(&args),
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
            if let Some(&progress::Stopped(signal)) = error.downcast_ref() {
                return ExitCode::from(128_u8.saturating_add(signal as u8));
            }
            say(&format!("error: {}", message(&error)));
            ExitCode::FAILURE
        }
    }
}

/// The error and its causes, each said once: our own messages already end in the system's words. Below it comes the option
/// that helps, where there is one.
pub(crate) fn message(error: &anyhow::Error) -> String {
    let said = error.chain().map(|cause| cause.to_string()).fold(String::new(), |said, cause| {
        match said.contains(&cause) {
            true => said,
            false if said.is_empty() => cause,
            false => format!("{said}: {cause}"),
        }
    });
    error.chain().flat_map(hints).fold(said, |said, hint| format!("{said}\nhint: {hint}"))
}

/// The libraries speak of their own settings; this is how the program names them.
fn hints(error: &(dyn std::error::Error + 'static)) -> Vec<String> {
    use adfq_env::Error::{Argument, Gymnasium, Hung, NoPython, Space, Start, Stranger, Untrusted};
    let (mut hints, mut env) = (vec![], error.downcast_ref::<adfq_env::Error>());
    match error.downcast_ref::<adfq_deep::Error>() {
        Some(adfq_deep::Error::Env(error)) => env = Some(error),
        Some(adfq_deep::Error::Stopped { source, folder, .. }) => {
            env = Some(source);
            hints.push(format!("go on with: adfq train --resume {}", folder.display()));
        }
        Some(adfq_deep::Error::DiskFull { folder, .. }) => {
            hints.push(format!("then go on with: adfq train --resume {}", folder.display()));
        }
        Some(adfq_deep::Error::Segment { folder, .. }) => {
            let on = format!("adfq train --resume {} --refill", folder.display());
            hints.push(format!("go on with what is left of the memory by: {on}"));
        }
        Some(adfq_deep::Error::RunExists { path }) => {
            hints.push(format!("go on with it by: adfq train --resume {}", path.display()));
        }
        _ => {}
    }
    if let Some(adfq_lab::Error::NeverEvaluated(_)) = error.downcast_ref() {
        hints.push("compare the returns of training episodes with --training".to_owned());
    }
    let option = match env {
        Some(NoPython { .. } | Start { .. }) => Some("name an interpreter with --python PATH"),
        Some(Gymnasium { reason, .. }) if reason.contains("Gym::python") => {
            Some("name one with --python PATH")
        }
        Some(Hung { .. }) => Some("give it longer with --worker-timeout SECONDS"),
        Some(Untrusted { .. } | Stranger { .. }) => Some("allow it with --trust"),
        Some(Space { .. }) => {
            Some("wrap the environment with --wrap NAME, one of gymnasium.wrappers or MODULE:CLASS")
        }
        Some(Argument { .. }) => {
            Some("arguments are given by --set env_args.NAME=VALUE, or in the configuration file")
        }
        _ => None,
    };
    hints.extend(option.map(str::to_owned));
    hints
}

#[cfg(test)]
mod tests {
    use super::*;
    use adfq_env::Error;

    #[test]
    fn options_that_help_are_named_however_deep_the_error_lies() {
        let hung = || Error::Hung { env: "gym:Slow-v0".to_owned(), seconds: 1.0 };
        let stopped =
            || adfq_deep::Error::Stopped { source: Box::new(hung()), folder: "run".into(), good: None };
        let errors: [anyhow::Error; 3] =
            [hung().into(), adfq_deep::Error::from(hung()).into(), stopped().into()];
        for error in errors {
            let said = message(&error.context("seed 3"));
            assert!(said.starts_with("seed 3: gym:Slow-v0 did not answer within 1 s"), "{said}");
            assert!(said.ends_with("\nhint: give it longer with --worker-timeout SECONDS"), "{said}");
        }
        assert!(!message(&Error::NoEpisode.into()).contains("hint"));
    }
}

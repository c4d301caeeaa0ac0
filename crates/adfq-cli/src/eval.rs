//! `adfq eval`: what a trained agent does, and what it believes while doing it.

use crate::output::{draw, print, say};
use adfq_deep::algorithm::Estimate;
use adfq_deep::config::is_atari;
use adfq_deep::evaluate::{Evaluation, Evaluator, Seen};
use adfq_deep::run::folder::{Loaded, read_learner};
use adfq_deep::{Checkpoint, Digits};
use adfq_env::atari::Emulator;
use adfq_env::to_text;
use adfq_files::write_atomic;
use adfq_lab::video::{Recorded, Recorder};
use anyhow::{Result, bail};
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Frames a second, in a video unless told otherwise, and on the terminal.
const RATE: u32 = 25;

/// Play greedy episodes with a trained agent
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  adfq eval runs/cartpole-calibrated-doubt-0 --episodes 100
  adfq eval runs/cartpole-calibrated-doubt-0 --episodes 1 --video cartpole.mp4
  adfq eval runs/minatar-breakout-calibrated-doubt-0 --episodes 1 --watch
  adfq eval runs/cartpole-calibrated-doubt-0 --episodes 3 --beliefs beliefs.csv
  adfq eval runs/cartpole-calibrated-doubt-0 --checkpoint best
  adfq eval runs/gym-lunarlander-v3-calibrated-doubt-0 --eval-env-args gravity=-5.0

By default the last good checkpoint is used, of a run under way too. The same command gives the same episodes.")]
pub struct Args {
    /// A run folder
    run: PathBuf,
    /// How many episodes
    #[arg(long, default_value_t = 100, value_parser = crate::count::parse, allow_negative_numbers = true)]
    episodes: u64,
    /// The checkpoint: last, best (that of the best evaluation), or that of a step, if it is still there
    #[arg(long, value_name = "WHICH", default_value = "last")]
    checkpoint: Checkpoint,
    /// The seed of the episodes; training used others
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Write the beliefs of every step to this CSV file
    #[arg(long, value_name = "FILE")]
    beliefs: Option<PathBuf>,
    /// Record the episodes, with the beliefs beside them, into this .mp4 or .gif
    #[arg(long, value_name = "FILE", alias = "gif")]
    video: Option<PathBuf>,
    /// Frames a second of the video
    #[arg(long, value_name = "N", default_value_t = RATE, requires = "video")]
    fps: u32,
    /// Show the episodes in the terminal
    #[arg(long)]
    watch: bool,
    /// Play in an environment with this argument, over those of the run. May be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = crate::train::parse_argument)]
    eval_env_args: Vec<String>,
    /// Who plays atari:GAME: native or ale [default: who did in training]
    #[arg(long, value_name = "WHO", value_parser = crate::host::EMULATORS)]
    emulator: Option<String>,
    #[command(flatten)]
    host: crate::host::HostArgs,
    #[command(flatten)]
    trust: crate::trust::TrustArgs,
    /// Print one JSON object with the return and length of each episode
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<()> {
    let mut host = args.host.host();
    let Loaded { mut config, mut learner, step, warnings } = read_learner(&args.run, &host, args.checkpoint)?;
    if let (Some(_), false) = (&args.emulator, is_atari(&config.env)) {
        bail!("--emulator is for the games of Atari (atari:GAME), and {} is none", config.env);
    }
    let emulator =
        args.emulator.iter().map(|who| format!("evaluation.env_args.{}={who}", Emulator::ARGUMENT));
    for argument in args.eval_env_args.iter().cloned().chain(emulator) {
        config = config.with(&argument)?;
    }
    warnings.iter().for_each(|warning| say(&format!("warning: {warning}")));
    args.trust.settle(&mut host, std::slice::from_ref(&config))?;
    let pictures = args.video.is_some() || args.watch;
    let mut evaluator = Evaluator::new(&config, &learner, host.env(&config, pictures)?)?;
    let mut beliefs = String::new();
    let recorder = |path: &PathBuf| Recorder::new(path, args.fps, &config.env, &config.agent, step);
    let mut video = args.video.as_ref().map(recorder).transpose()?;
    let name = format!("eval/{}", args.seed);
    let episodes = evaluator.play(&mut learner, &name, args.episodes as usize, |seen| {
        if args.beliefs.is_some() {
            write_beliefs(&mut beliefs, &config.policy, seen);
        }
        if let (Some(video), Some(path)) = (&mut video, &args.video) {
            video.record(seen).map_err(|error| stop(path, error))?;
        }
        if args.watch {
            show(seen)?;
        }
        Ok(())
    })?;
    if let Some(path) = &args.beliefs {
        write_atomic(path, beliefs.as_bytes())?;
    }
    if let Some(video) = video {
        let Recorded { frames, left_out } = video.finish()?;
        if left_out > 0 {
            say(&format!(
                "the GIF ends after {frames} frames, {left_out} before the end; an .mp4 holds all of them"
            ));
        }
    }
    let evaluation = Evaluation { step, episodes };
    if args.json {
        let json = serde_json::json!({
            "env": config.env,
            "agent": config.agent,
            "step": step,
            "mean": evaluation.mean(),
            "clipped_mean": evaluation.mean_clipped(),
            "standard_error": evaluation.standard_error(),
            "episodes": evaluation.episodes,
        });
        return print(&format!("{json:#}\n"));
    }
    print(&format!(
        "{}, {} after {step} steps: {} ± {} over {} greedy episodes, from {} to {}\n",
        config.env,
        config.agent,
        Digits(evaluation.mean()),
        Digits(evaluation.standard_error()),
        args.episodes,
        evaluation.least(),
        evaluation.greatest(),
    ))
}

/// A line for each step: where, what was done, and mean and sd of every action, or its value without beliefs. What the
/// agent's own policy maximises is a column too.
fn write_beliefs(lines: &mut String, policy: &str, seen: &Seen) {
    let believes = seen.estimates.iter().all(|estimate| !estimate.sd.is_nan());
    let scores = seen.estimates.iter().any(|estimate| estimate.score != estimate.mean);
    let mut columns: Vec<(&str, Vec<f32>)> = vec![];
    let column = |of: fn(&Estimate) -> f32| seen.estimates.iter().map(of).collect::<Vec<_>>();
    columns.push((if believes { "mean" } else { "q" }, column(|estimate| estimate.mean)));
    if believes {
        columns.push(("sd", column(|estimate| estimate.sd)));
    }
    if scores || policy == "optimist" {
        columns.push(("hope", column(|estimate| estimate.score)));
    }
    if lines.is_empty() {
        let name = |(what, values): &(&str, Vec<f32>)| {
            (0..values.len()).map(|action| format!(",{what}_{action}")).collect::<String>()
        };
        let _ = writeln!(lines, "episode,step,action{}", columns.iter().map(name).collect::<String>());
    }
    let _ = write!(lines, "{},{},{}", seen.episode, seen.step, seen.action);
    columns.iter().flat_map(|(_, values)| values).for_each(|value| {
        let _ = write!(lines, ",{value}");
    });
    lines.push('\n');
}

/// One step on the terminal: the picture, and beneath it what the agent believes.
fn show(seen: &Seen) -> adfq_deep::Result<()> {
    let mut text = format!("\x1b[H\x1b[2J{}", to_text(&seen.env.render()?, 60));
    let _ = writeln!(text, "episode {}, step {}", seen.episode + 1, seen.step);
    for (action, (name, estimate)) in seen.env.action_names().iter().zip(seen.estimates).enumerate() {
        let chosen = if action == seen.action { '▶' } else { ' ' };
        let _ = write!(text, "{chosen} {name:<8}{:>10.3}", estimate.mean);
        if !estimate.sd.is_nan() {
            let _ = write!(text, " ± {:.3}", estimate.sd);
        }
        text.push('\n');
    }
    // A reader that went away is noticed when the result is printed.
    let _ = draw(&text);
    std::thread::sleep(Duration::from_secs(1) / RATE);
    Ok(())
}

/// What a video that cannot go on is to the evaluation.
fn stop(path: &Path, error: adfq_lab::Error) -> adfq_deep::Error {
    match error {
        adfq_lab::Error::Deep(error) => error,
        adfq_lab::Error::File(error) => error.into(),
        error => adfq_files::Error::io("record into", path, io::Error::other(error)).into(),
    }
}

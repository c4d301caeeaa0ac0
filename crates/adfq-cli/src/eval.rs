//! `adfq eval`: what a trained agent does, and what it believes while doing it.

use crate::output::print;
use adfq_deep::config::AgentKind;
use adfq_deep::evaluate::{Evaluation, Evaluator, Seen};
use adfq_deep::run::read_learner;
use adfq_env::{Picture, to_text};
use adfq_files::write_atomic;
use anyhow::{Context, Result};
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

/// Frames a second, in a GIF and on the terminal.
const RATE: u16 = 25;
/// Longer films are cut off: a GIF holds every frame in memory.
const LONGEST_GIF: usize = 2_000;

/// Play greedy episodes with a trained agent
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  adfq eval runs/cartpole-adfq-thompson-0 --episodes 100
  adfq eval runs/cartpole-adfq-thompson-0 --episodes 1 --gif cartpole.gif
  adfq eval runs/minatar-breakout-adfq-thompson-0 --episodes 1 --watch
  adfq eval runs/cartpole-adfq-thompson-0 --episodes 3 --beliefs beliefs.csv

The last good checkpoint is used, of a run under way too. The same command gives the same episodes.")]
pub struct Args {
    /// A run folder
    run: PathBuf,
    /// How many episodes
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    episodes: u64,
    /// The seed of the episodes; training used others
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Write the beliefs of every step to this CSV file
    #[arg(long, value_name = "FILE")]
    beliefs: Option<PathBuf>,
    /// Film the episodes into this GIF
    #[arg(long, value_name = "FILE")]
    gif: Option<PathBuf>,
    /// Show the episodes in the terminal
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    host: crate::host::HostArgs,
    /// Print one JSON object with the return and length of each episode
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<()> {
    let (config, learner, step) = read_learner(&args.run)?;
    let pictures = args.gif.is_some() || args.watch;
    let mut evaluator = Evaluator::new(&config, &learner, args.host.host().env(&config, pictures)?)?;
    let (mut beliefs, mut film) = (String::new(), vec![]);
    let name = format!("eval/{}", args.seed);
    let episodes = evaluator.play(&learner, &name, args.episodes as usize, |seen| {
        if args.beliefs.is_some() {
            write_beliefs(&mut beliefs, config.agent, seen);
        }
        if args.gif.is_some() && film.len() < LONGEST_GIF {
            film.push(seen.env.render()?);
        }
        if args.watch {
            show(config.agent, seen)?;
        }
        Ok(())
    })?;
    if let Some(path) = &args.beliefs {
        write_atomic(path, beliefs.as_bytes())?;
    }
    if let Some(path) = &args.gif {
        write_atomic(path, &gif(&film).context("the film cannot be made")?)?;
        if film.len() == LONGEST_GIF {
            eprintln!("the film ends after {LONGEST_GIF} frames");
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
        "{}, {} after {step} steps: {:.1} ± {:.1} over {} greedy episodes, from {} to {}\n",
        config.env,
        config.agent.name(),
        evaluation.mean(),
        evaluation.standard_error(),
        args.episodes,
        evaluation.least(),
        evaluation.greatest(),
    ))
}

/// A line for each step: where, what was done, and mean and sd of every action.
fn write_beliefs(lines: &mut String, agent: AgentKind, seen: &Seen) {
    let actions = seen.env.space().actions;
    let names = |what: &str| (0..actions).map(|action| format!(",{what}_{action}")).collect::<String>();
    let has_beliefs = agent == AgentKind::Adfq;
    if lines.is_empty() {
        let columns = if has_beliefs { names("mean") + &names("sd") } else { names("q") };
        let _ = writeln!(lines, "episode,step,action{columns}");
    }
    let _ = write!(lines, "{},{},{}", seen.episode, seen.step, seen.action);
    for (i, &output) in seen.row.iter().enumerate() {
        let value = if i < actions { output } else { (-output).exp() };
        let _ = write!(lines, ",{value}");
    }
    lines.push('\n');
}

/// One step on the terminal: the picture, and beneath it what the agent believes.
fn show(agent: AgentKind, seen: &Seen) -> adfq_deep::Result<()> {
    let (actions, names) = (seen.env.space().actions, seen.env.action_names());
    let mut text = format!("\x1b[H\x1b[2J{}", to_text(&seen.env.render()?, 60));
    let _ = writeln!(text, "episode {}, step {}", seen.episode + 1, seen.step);
    for (action, name) in names.iter().enumerate() {
        let chosen = if action == seen.action { '▶' } else { ' ' };
        let _ = write!(text, "{chosen} {name:<8}{:>10.3}", seen.row[action]);
        if agent == AgentKind::Adfq {
            let _ = write!(text, " ± {:.3}", (-seen.row[actions + action]).exp());
        }
        text.push('\n');
    }
    // A reader that went away is noticed when the result is printed.
    let _ = print(&text);
    std::thread::sleep(Duration::from_secs(1) / u32::from(RATE));
    Ok(())
}

fn gif(film: &[Picture]) -> Result<Vec<u8>> {
    let first = film.first().context("there are no frames")?;
    let (width, height) = (u16::try_from(first.width)?, u16::try_from(first.height)?);
    let mut bytes = vec![];
    let mut encoder = gif::Encoder::new(&mut bytes, width, height, &[])?;
    encoder.set_repeat(gif::Repeat::Infinite)?;
    for picture in film {
        let mut frame = gif::Frame::from_rgb_speed(width, height, &picture.rgb, 10);
        frame.delay = 100 / RATE;
        encoder.write_frame(&frame)?;
    }
    drop(encoder);
    Ok(bytes)
}

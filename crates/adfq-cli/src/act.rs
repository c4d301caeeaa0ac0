//! `adfq act`: what a trained agent does, for programs that have an environment of their own.

use crate::output::say;
use crate::stream::Stream;
use adfq_deep::Agent;
use adfq_lab::actions::ActionLines;
use anyhow::Result;
use std::path::PathBuf;

const EXAMPLE: &str = r#"Example, one line in and one line out:

  echo '[0.01, -0.02, 0.03, 0.04]' | adfq act runs/first
  {"action":1,"mean":[70.36100006103516,70.5575942993164],"sd":[0.003162277629598975,0.003162277629598975]}

An observation is a JSON array with the numbers of one frame, as the environment gives them: nested in the frame's shape, or all in one array. Bytes are not scaled. Where the agent sees several frames stacked, earlier ones are kept from line to line; {"reset": true} or {"reset": true, "observation": [...]} starts an episode, and so does the first line. A reset without an observation is answered by {"reset":true}.

The action is the one with the largest mean, the first of several. "sd" is null where the agent has no beliefs. Each answer is written at once. A bad line is answered by {"error": ..., "line": NUMBER}, changes nothing, and the next line is read. Python is not needed, whatever the environment."#;

/// Answer observations with actions and beliefs: JSON lines in, JSON lines out
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct Args {
    /// A run folder; its last good checkpoint is used
    run: PathBuf,
    /// File to read [default: standard input]
    file: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<()> {
    let agent = Agent::load(&args.run)?;
    agent.warnings().iter().for_each(|warning| say(&format!("warning: {warning}")));
    let mut lines = ActionLines::new(agent);
    let stream = Stream { file: args.file.as_deref(), keep_going: true, at_once: true };
    stream.answer(|line| Ok(lines.answer(line)?))
}

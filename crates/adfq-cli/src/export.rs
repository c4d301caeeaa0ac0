//! `adfq export`: a trained network, for other programs.

use crate::output::{print, say};
use adfq_deep::{Agent, export};
use adfq_files::write_atomic;
use anyhow::{Result, bail};
use std::path::PathBuf;

/// Write a trained network as ONNX or safetensors
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  adfq export runs/cartpole-calibrated-doubt-0 policy.onnx
  adfq export runs/cartpole-calibrated-doubt-0 policy.safetensors

ONNX: the input \"observation\" is what the network sees, a row for each observation: frames
stacked along the innermost axis, channels innermost, bytes multiplied by their scale (1/255 for
pixels). The outputs are \"mean\" and \"sd\" of Q(s,a) for each action, and \"action\", the first with
the largest mean. DQN and Double DQN have no \"sd\". The beliefs of split and bootstrapped are more
than their network, and cannot be written as ONNX; nor can those of calibrated where it uses its
table, as on DeepSea.

safetensors: the tensors of the network alone, of any agent. Dense weights are [in, out], those of
convolutions [height, width, in, out].

Both say where they come from in their metadata, under \"adfq\".")]
pub struct Args {
    /// A run folder; its last good checkpoint is used
    run: PathBuf,
    /// The file to write, which ends in .onnx or .safetensors
    file: PathBuf,
}

pub fn run(args: &Args) -> Result<()> {
    let ending = args.file.extension().and_then(|ending| ending.to_str()).map(str::to_lowercase);
    let encode = match ending.as_deref() {
        Some("onnx") => export::onnx,
        Some("safetensors") => export::safetensors,
        _ => bail!("{}: the name must end in .onnx or .safetensors", args.file.display()),
    };
    let agent = Agent::load(&args.run)?;
    agent.warnings().iter().for_each(|warning| say(&format!("warning: {warning}")));
    write_atomic(&args.file, &encode(&agent)?)?;
    let config = agent.config();
    print(&format!(
        "{}: {} in {} after {} steps\n",
        args.file.display(),
        config.agent,
        config.env,
        agent.step()
    ))
}

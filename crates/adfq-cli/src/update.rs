//! `adfq update`: one belief update for each JSON line.

use anyhow::Result;

/// Update beliefs read as JSON lines
#[derive(clap::Args)]
pub struct Args {}

pub fn run(_: &Args) -> Result<()> {
    Ok(())
}

//! `adfq presets`: the settings that come with the program, and what they reach.

use crate::output::print;
use adfq_deep::Digits;
use adfq_deep::config::{Reached, Tuned};
use anyhow::{Result, bail};
use indicatif::HumanCount;

/// List the settings that come with the program, and what they reach
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  adfq presets
  adfq presets cartpole          # with the settings themselves
  adfq train cartpole --preset default")]
pub struct Args {
    /// Only those for this environment, with the settings themselves
    env: Option<String>,
}

const NAMED: &str = "\
--preset tuned          the settings below, or default where there are none; taken unless another is named
--preset default        our general settings for the kind of environment
--preset paper          those of the paper
--preset atari-paper    those of the paper's Atari experiments, for atari:GAME
--preset bsuite         those of the DQN of the package bsuite, which adfq bsuite gives to every agent
";

pub fn run(args: &Args) -> Result<()> {
    let Some(env) = &args.env else {
        let all: Vec<_> = Tuned::all().iter().collect();
        return print(&format!("{NAMED}\n{}", table(&all)));
    };
    let found: Vec<_> = Tuned::in_env(env).collect();
    if found.is_empty() {
        bail!("there are no tuned settings for {env}: the general ones are taken (--preset default)");
    }
    let settings: String = found.iter().map(|tuned| settings(tuned)).collect();
    print(&format!("{}{settings}", table(&found)))
}

/// The line that says which settings a training takes.
pub fn taken(tuned: &Tuned) -> String {
    let Tuned { env, agent, steps, judged_on, reached, .. } = tuned;
    let place = judged_on.as_ref().map(|env| format!(" on {env}")).unwrap_or_default();
    let settings = if tuned.settings().is_empty() {
        "the general settings, of all that were tried"
    } else {
        "settings tuned"
    };
    format!(
        "{settings} for {env} and {agent} ({} in {} steps{place} over {} seeds); --preset default takes the general ones",
        interval(reached),
        HumanCount(*steps),
        reached.seeds,
    )
}

/// A row for each, with columns that are as wide as they have to be.
fn table(all: &[&Tuned]) -> String {
    let head = [
        "environment",
        "agent",
        "policy",
        "steps",
        "tuned: return [95 %]",
        "general settings",
        "seeds",
        "tried",
    ];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(all.iter().map(|tuned| row(tuned)));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<_> = (0..head.len()).map(width).collect();
    let line = |row: &[String; 8]| {
        let cells: Vec<_> = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}")).collect();
        format!("{}\n", cells.join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

fn row(tuned: &Tuned) -> [String; 8] {
    let Tuned { env, agent, policy, steps, tried, judged_on, reached, general, .. } = tuned;
    [
        judged_on.as_ref().map_or(env.clone(), |played| format!("{env}, judged on {played}")),
        agent.clone(),
        policy.clone(),
        HumanCount(*steps).to_string(),
        interval(reached),
        interval(general),
        reached.seeds.to_string(),
        tried.to_string(),
    ]
}

fn interval(Reached { mean, low, high, .. }: &Reached) -> String {
    format!("{} [{}, {}]", Digits(*mean), Digits(*low), Digits(*high))
}

/// The settings as options of `adfq train`.
fn settings(tuned: &Tuned) -> String {
    let lines = tuned.settings().iter().map(|(name, value)| format!("  --set '{name}={value}'\n"));
    let lines: String = lines.collect();
    let lines = if lines.is_empty() {
        "  none: the general ones were the best that was found\n".to_owned()
    } else {
        lines
    };
    format!("\n{} and {}:\n{lines}", tuned.env, tuned.agent)
}

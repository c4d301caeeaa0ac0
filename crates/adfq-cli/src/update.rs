//! `adfq update`: one belief update for each JSON line.

use crate::stream::Stream;
use adfq::update::{Grid, NoiseKind, Rule, Update};
use adfq_lab::lines::LineUpdate;
use anyhow::Result;
use clap::ValueEnum;
use std::path::PathBuf;

const EXAMPLE: &str = r#"Example, one line in and one line out:

  echo '{"mu_sa":0,"var_sa":1,"r":1,"gamma":0.9,"mu_next":[2,3],"var_next":[4,1]}' | adfq update

Each line needs mu_sa and var_sa (the prior belief over Q(s,a)), r, gamma, mu_next and var_next (the beliefs of the next state, one for each action). var_w is the noise variance, 0 if left out; "terminal": true says that nothing follows. All other fields pass through. Numbers are written with 17 significant digits."#;

/// Update beliefs: JSON lines in, the same lines with the posterior's mean and var out
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct Args {
    /// File to read [default: standard input]
    file: Option<PathBuf>,
    /// Update rule: the paper's closed form, the true moments, or the paper's evenly spaced samples
    #[arg(long, value_enum, default_value_t = RuleArg::Analytic)]
    rule: RuleArg,
    /// How var_w is treated: left out, as the paper approximates it (analytic rule only), or exactly
    #[arg(long, value_enum, default_value_t = NoiseArg::Exact)]
    noise: NoiseArg,
    /// Target variance of terminal transitions, on top of the noise; the authors of ADFQ use 1e-3
    #[arg(long, default_value_t = 0.0, value_name = "VAR", allow_negative_numbers = true)]
    terminal_var: f64,
    /// Least variance to return; agents use 1e-10, this verb shows the posterior as it is
    #[arg(long, default_value_t = 0.0, value_name = "VAR", allow_negative_numbers = true)]
    floor: f64,
    /// Samples of the grid rule
    #[arg(long, default_value_t = Grid::default().samples())]
    samples: usize,
    /// Add mu_star, sd_star and weight: the components of the posterior, one for each next action
    #[arg(long)]
    components: bool,
    /// Write a bad line as {"error": ..., "line": ...} and go on, instead of stopping there
    #[arg(long)]
    keep_going: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum RuleArg {
    Analytic,
    Exact,
    Grid,
}

#[derive(Clone, Copy, ValueEnum)]
enum NoiseArg {
    None,
    Approximate,
    Exact,
}

impl Args {
    fn line_update(&self) -> Result<LineUpdate> {
        let rule = match self.rule {
            RuleArg::Analytic => Rule::Analytic,
            RuleArg::Exact => Rule::Exact,
            RuleArg::Grid => Rule::Grid(Grid::new(self.samples, Grid::default().reach())?),
        };
        let noise = match self.noise {
            NoiseArg::None => NoiseKind::None,
            NoiseArg::Approximate => NoiseKind::Approximate,
            NoiseArg::Exact => NoiseKind::Exact,
        };
        let update = Update::new(rule).with_floor(self.floor)?;
        Ok(LineUpdate { update, noise, terminal_var: self.terminal_var, components: self.components })
    }
}

pub fn run(args: &Args) -> Result<()> {
    let lines = args.line_update()?;
    let stream = Stream { file: args.file.as_deref(), keep_going: args.keep_going, at_once: false };
    stream.answer(|line| Ok(lines.apply(line)?))
}

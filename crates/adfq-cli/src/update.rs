//! `adfq update`: one belief update for each JSON line.

use crate::output::say;
use adfq::update::{Grid, NoiseKind, Rule, Update};
use adfq_lab::lines::LineUpdate;
use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, ErrorKind, Write};
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

    fn open(&self) -> Result<Box<dyn BufRead>> {
        Ok(match &self.file {
            None => Box::new(io::stdin().lock()),
            Some(path) => {
                let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
                Box::new(BufReader::new(file))
            }
        })
    }
}

pub fn run(args: &Args) -> Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    match copy_updated(args, &mut out).and_then(|()| Ok(out.flush()?)) {
        // Whoever reads has seen enough, as in `adfq update … | head`.
        Err(error) if is_broken_pipe(&error) => Ok(()),
        outcome => outcome,
    }
}

fn copy_updated(args: &Args, out: &mut impl Write) -> Result<()> {
    let lines = args.line_update()?;
    let mut input = args.open()?;
    let (mut buffer, mut number, mut bad) = (Vec::new(), 0_u64, 0_u64);
    while read_line(input.as_mut(), &mut buffer)? {
        number += 1;
        if buffer.trim_ascii().is_empty() {
            continue;
        }
        let updated = std::str::from_utf8(&buffer)
            .context("not UTF-8 text")
            .and_then(|line| lines.apply(line).map_err(anyhow::Error::from));
        match updated {
            Ok(line) => writeln!(out, "{line}")?,
            Err(error) if args.keep_going => {
                bad += 1;
                let message = serde_json::json!({ "error": error.to_string(), "line": number });
                writeln!(out, "{message}")?;
            }
            Err(error) => {
                out.flush()?;
                bail!("line {number}: {error} (--keep-going reports such lines and goes on)");
            }
        }
    }
    if bad > 0 {
        out.flush()?;
        say(&format!("{bad} of {number} lines could not be updated; their output lines say why"));
    }
    Ok(())
}

fn read_line(input: &mut dyn BufRead, buffer: &mut Vec<u8>) -> Result<bool> {
    buffer.clear();
    Ok(input.read_until(b'\n', buffer).context("cannot read the input")? > 0)
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

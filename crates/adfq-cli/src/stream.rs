//! JSON lines in, JSON lines out: what `update` and `act` have in common.

use crate::output::say;
use anyhow::{Context, Result, bail};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, ErrorKind, Write};
use std::path::Path;

/// How lines are answered.
pub struct Stream<'a> {
    /// The file to read; none for the standard input.
    pub file: Option<&'a Path>,
    /// Whether a bad line is answered by `{"error": ..., "line": ...}`. Otherwise it is the end.
    pub keep_going: bool,
    /// Whether every answer is written at once: somebody may wait for it before the next line is given.
    pub at_once: bool,
}

impl Stream<'_> {
    /// Answers every line that is not empty. It ends with the input, or quietly when nobody reads the answers any more.
    pub fn answer(&self, mut reply: impl FnMut(&str) -> Result<String>) -> Result<()> {
        let mut out = BufWriter::new(io::stdout().lock());
        match self.copy(&mut out, &mut reply).and_then(|()| Ok(out.flush()?)) {
            // Whoever reads has seen enough, as in `adfq update … | head`.
            Err(error) if is_broken_pipe(&error) => Ok(()),
            outcome => outcome,
        }
    }

    fn copy(&self, out: &mut impl Write, reply: &mut dyn FnMut(&str) -> Result<String>) -> Result<()> {
        let mut input = self.open()?;
        let (mut buffer, mut number, mut bad) = (Vec::new(), 0_u64, 0_u64);
        while read_line(input.as_mut(), &mut buffer)? {
            number += 1;
            if buffer.trim_ascii().is_empty() {
                continue;
            }
            match std::str::from_utf8(&buffer).context("not UTF-8 text").and_then(&mut *reply) {
                Ok(line) => writeln!(out, "{line}")?,
                Err(error) if self.keep_going => {
                    bad += 1;
                    let message = serde_json::json!({ "error": error.to_string(), "line": number });
                    writeln!(out, "{message}")?;
                }
                Err(error) => {
                    out.flush()?;
                    bail!("line {number}: {error} (--keep-going reports such lines and goes on)");
                }
            }
            if self.at_once {
                out.flush()?;
            }
        }
        if bad > 0 {
            out.flush()?;
            say(&format!("{bad} of {number} lines could not be used; their output lines say why"));
        }
        Ok(())
    }

    fn open(&self) -> Result<Box<dyn BufRead>> {
        Ok(match self.file {
            None => Box::new(io::stdin().lock()),
            Some(path) => {
                let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
                Box::new(BufReader::new(file))
            }
        })
    }
}

fn read_line(input: &mut dyn BufRead, buffer: &mut Vec<u8>) -> Result<bool> {
    buffer.clear();
    Ok(input.read_until(b'\n', buffer).context("cannot read the input")? > 0)
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

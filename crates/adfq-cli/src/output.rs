//! Printing that does not mind when the reader has seen enough, as in `adfq solve maze | head`, or when nobody reads at all.

use anyhow::{Context, Result};
use std::io::{ErrorKind, Write, stderr, stdout};

/// Writes to the standard output.
pub fn print(text: &str) -> Result<()> {
    let mut out = stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write the result"),
    }
}

/// Writes a line to the error output. If that is closed or full, nothing happens: no work stops because nobody listens.
pub fn say(line: &str) {
    let _ = writeln!(stderr(), "{line}");
}

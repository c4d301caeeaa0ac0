//! Printing that does not mind when the reader has seen enough, as in `adfq solve maze | head`, or when nobody reads at all.
//! Names of folders, environments and agents come from files that somebody else may have made: what would command the
//! terminal is spelled out.

use anyhow::{Context, Result};
use serde::Serialize;
use std::borrow::Cow;
use std::io::{BufWriter, ErrorKind, Write, stderr, stdout};

/// Writes text to the standard output.
pub fn print(text: &str) -> Result<()> {
    draw(&plain(text))
}

/// Writes to the standard output as it is, commands to the terminal included.
pub fn draw(text: &str) -> Result<()> {
    let mut out = stdout().lock();
    finish(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Writes a value to the standard output as JSON, however large it is. Its texts must be free of control characters.
pub fn print_json(value: &impl Serialize) -> Result<()> {
    let mut out = BufWriter::new(stdout().lock());
    let written = serde_json::to_writer_pretty(&mut out, value).map_err(Into::into);
    finish(written.and_then(|()| writeln!(out)).and_then(|()| out.flush()))
}

fn finish(written: std::io::Result<()>) -> Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write the result"),
    }
}

/// Writes a line to the error output. If that is closed or full, nothing happens: no work stops because nobody listens.
pub fn say(line: &str) {
    let _ = writeln!(stderr(), "{}", plain(line));
}

/// The text with control characters other than line ends and tabs spelled out as in JSON, where they stand in strings.
pub fn plain(text: &str) -> Cow<'_, str> {
    let commands = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(commands) {
        return Cow::Borrowed(text);
    }
    let spelled = |c: char| if commands(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    Cow::Owned(text.chars().map(spelled).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_commands_the_terminal() {
        assert_eq!(plain("runs/\x1b[2Ja\r\u{9b}1m\x7f"), "runs/\\u001b[2Ja\\u000d\\u009b1m\\u007f");
        assert!(matches!(plain("two\nlines\tσ ± 1\n"), Cow::Borrowed(_)));
        let json = serde_json::to_string("\x1b\u{85}").unwrap();
        assert_eq!(serde_json::from_str::<String>(&plain(&json)).unwrap(), "\x1b\u{85}");
    }
}

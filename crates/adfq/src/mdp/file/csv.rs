//! MDPs as comma-separated lines. A field with a comma, a quote or a `#` in front stands in double quotes, a quote
//! inside it is doubled; a record is one line.

use super::{
    at,
    draft::{Draft, Row},
};
use crate::mdp::{Mdp, MdpError};
use std::borrow::Cow;
use std::fmt::Write;

const COLUMNS: [&str; 6] = ["state", "action", "probability", "next_state", "reward", "terminal"];

/// The text of a CSV file that describes this MDP.
///
/// ```
/// use adfq::mdp::{file, named};
///
/// let text = file::to_csv(&named("loop")?);
/// assert!(text.starts_with("# name: loop\n# gamma: 0.95\n# start: 0\nstate,action,"));
/// assert!(text.contains("\n8,b,1,0,2,false\n"));
/// assert_eq!(file::parse_csv(&text)?, named("loop")?);
/// # Ok::<(), adfq::Error>(())
/// ```
pub fn to_csv(mdp: &Mdp) -> String {
    let state = |state| quoted(&mdp.state_label(state));
    let starts: Vec<String> =
        mdp.starts().iter().map(|&(s, p)| start_entry(&mdp.state_label(s), p)).collect();
    let mut text =
        format!("# name: {}\n# gamma: {}\n# start: {}\n", mdp.name(), mdp.gamma(), starts.join(", "));
    text += &COLUMNS.join(",");
    text.push('\n');
    for (s, a) in (0..mdp.states()).flat_map(|s| (0..mdp.actions()).map(move |a| (s, a))) {
        for o in mdp.outcomes(s, a) {
            let (from, action, to) = (state(s), quoted(&mdp.action_label(a)), state(o.next_state));
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{from},{action},{},{to},{},{}", o.probability, o.reward, o.terminal);
        }
    }
    text
}

/// "s0" if it is the only start, else "s0=0.5"; also where the name itself has an equals sign.
fn start_entry(label: &str, probability: f64) -> String {
    if probability == 1.0 && !label.contains('=') {
        quoted(label)
    } else {
        quoted(&format!("{label}={probability}"))
    }
}

fn quoted(field: &str) -> String {
    if field.starts_with('#') || field.contains([',', '"']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.into()
    }
}

pub(super) fn read(text: &str) -> Result<Draft, MdpError> {
    let mut draft = Draft::default();
    let mut header: Option<Header> = None;
    // Spreadsheets like to begin a file with a byte order mark.
    for (line, content) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let (line, content) = (line + 1, content.trim());
        let place = || format!("line {line}");
        if content.is_empty() {
            continue;
        }
        if let Some(comment) = content.strip_prefix('#') {
            read_comment(&mut draft, comment, line).map_err(|e| at(place(), e))?;
            continue;
        }
        let fields = split(content).map_err(|e| at(place(), e))?;
        match &header {
            None => header = Some(Header::new(&fields).map_err(|e| at(place(), e))?),
            Some(header) => header.read_row(&mut draft, &fields, line).map_err(|e| at(place(), e))?,
        }
    }
    match header {
        None => {
            Err(MdpError::Syntax(format!("there is no header: begin with the line {}", COLUMNS.join(","))))
        }
        Some(_) => Ok(draft),
    }
}

/// `# name: …`, `# gamma: …` and `# start: …` mean something; all other comments are for people.
fn read_comment(draft: &mut Draft, comment: &str, line: usize) -> Result<(), MdpError> {
    let Some((key, value)) = comment.split_once(':') else { return Ok(()) };
    match key.trim() {
        "name" => draft.name = Some(value.trim().into()),
        "gamma" => draft.gamma = Some(number("gamma", value.trim())?),
        "start" => {
            let entries = split(value)?.into_iter().map(|entry| match entry.rsplit_once('=') {
                Some((name, probability)) => {
                    Ok((name.trim().into(), number("the start's probability", probability)?))
                }
                None => Ok((entry.into_owned(), 1.0)),
            });
            draft.starts = entries.collect::<Result<_, MdpError>>()?;
            draft.start_place = format!("line {line}");
        }
        _ => {}
    }
    Ok(())
}

/// In which column each of [`COLUMNS`] stands.
struct Header {
    columns: [usize; COLUMNS.len()],
    width: usize,
}

impl Header {
    fn new(fields: &[Cow<str>]) -> Result<Self, MdpError> {
        let mut columns = [0; COLUMNS.len()];
        for (column, name) in columns.iter_mut().zip(COLUMNS) {
            *column = fields.iter().position(|field| field == name).ok_or_else(|| {
                MdpError::Syntax(format!(
                    "the column {name:?} is missing; the header needs {}",
                    COLUMNS.join(",")
                ))
            })?;
        }
        Ok(Self { columns, width: fields.len() })
    }

    fn read_row(&self, draft: &mut Draft, fields: &[Cow<str>], line: usize) -> Result<(), MdpError> {
        if fields.len() != self.width {
            let problem = format!("{} fields, but the header has {}", fields.len(), self.width);
            return Err(MdpError::Syntax(problem));
        }
        let [state, action, probability, next_state, reward, terminal] = self.columns.map(|c| &*fields[c]);
        for (column, name) in [("state", state), ("action", action), ("next_state", next_state)] {
            if name.is_empty() {
                return Err(MdpError::Syntax(format!("the {column} is empty")));
            }
        }
        let (probability, reward) = (number("the probability", probability)?, number("the reward", reward)?);
        let terminal = match terminal.to_ascii_lowercase().as_str() {
            "true" | "1" => true,
            "false" | "0" => false,
            _ => return Err(MdpError::Syntax(format!("terminal is {terminal:?}, neither true nor false"))),
        };
        draft.rows.push(Row {
            line,
            state: draft.states.number(state),
            action: draft.actions.number(action),
            next_state: draft.states.number(next_state),
            terminal,
            probability,
            reward,
        });
        Ok(())
    }
}

fn number(what: &str, text: &str) -> Result<f64, MdpError> {
    text.trim().parse().map_err(|_| MdpError::Syntax(format!("{what} is {text:?}, which is not a number")))
}

/// The fields of a line, without the blanks around them and the quotes.
fn split(line: &str) -> Result<Vec<Cow<'_, str>>, MdpError> {
    let mut fields = Vec::with_capacity(COLUMNS.len());
    let mut rest = line.trim();
    loop {
        let (field, after) = match rest.strip_prefix('"') {
            Some(quoted) => {
                let (field, after) = unquote(quoted)?;
                (Cow::Owned(field), after)
            }
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                (Cow::Borrowed(rest[..end].trim()), &rest[end..])
            }
        };
        fields.push(field);
        match after.strip_prefix(',') {
            Some(next) => rest = next.trim_start(),
            None if after.is_empty() => return Ok(fields),
            None => return Err(MdpError::Syntax(format!("a comma is missing before {after:?}"))),
        }
    }
}

/// The field up to its closing quote, and what comes after.
fn unquote(text: &str) -> Result<(String, &str), MdpError> {
    let mut field = String::new();
    let mut rest = text;
    while let Some((part, after)) = rest.split_once('"') {
        field += part;
        match after.strip_prefix('"') {
            Some(more) => {
                field.push('"');
                rest = more;
            }
            None => return Ok((field, after.trim_start())),
        }
    }
    Err(MdpError::Syntax("a quote is never closed".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_fields() {
        let fields = |line| split(line).unwrap();
        assert_eq!(fields("a, b ,,1"), ["a", "b", "", "1"]);
        assert_eq!(fields(r#" "a,b" , "say ""hi""" ,"#), ["a,b", r#"say "hi""#, ""]);
        assert_eq!(split(r#""a"b"#).unwrap_err().to_string(), "a comma is missing before \"b\"");
        assert_eq!(split(r#"x,"a"#).unwrap_err().to_string(), "a quote is never closed");
    }
}

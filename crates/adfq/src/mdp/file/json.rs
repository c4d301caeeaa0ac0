//! MDPs as JSON.

use super::{
    at,
    draft::{Draft, Row},
};
use crate::mdp::{Mdp, MdpError};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use std::{borrow::Cow, collections::BTreeMap};

/// The text of a JSON file that describes this MDP, one transition a line.
///
/// ```
/// use adfq::mdp::{file, named};
///
/// let chain = named("chain")?;
/// assert_eq!(file::parse_json(&file::to_json(&chain))?, chain);
/// # Ok::<(), adfq::Error>(())
/// ```
pub fn to_json(mdp: &Mdp) -> String {
    let state = |state| name(mdp.state_label(state), state);
    let action = |action| name(mdp.action_label(action), action);
    let pairs = (0..mdp.states()).flat_map(|s| (0..mdp.actions()).map(move |a| (s, a)));
    let transitions: Vec<String> = pairs
        .flat_map(|(s, a)| mdp.outcomes(s, a).iter().map(move |o| (s, a, o)))
        .map(|(s, a, o)| {
            let (from, action, to) = (state(s), action(a), state(o.next_state));
            let (probability, reward) = (Value::from(o.probability), Value::from(o.reward));
            format!(
                r#"    {{"state":{from},"action":{action},"probability":{probability},"next_state":{to},"reward":{reward},"terminal":{}}}"#,
                o.terminal
            )
        })
        .collect();
    let start: Value = match mdp.starts() {
        &[(only, 1.0)] => state(only),
        starts => starts.iter().map(|&(s, p)| (mdp.state_label(s).into_owned(), Value::from(p))).collect(),
    };
    let (name, gamma) = (Value::from(mdp.name()), Value::from(mdp.gamma()));
    let transitions = transitions.join(",\n");
    format!(
        "{{\n  \"name\": {name},\n  \"gamma\": {gamma},\n  \"start\": {start},\n  \"transitions\": [\n{transitions}\n  ]\n}}\n"
    )
}

/// A label that is just the index is written as a number.
fn name(label: Cow<str>, index: usize) -> Value {
    if label == index.to_string() { index.into() } else { label.into_owned().into() }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document<'a> {
    name: Option<String>,
    gamma: Option<f64>,
    start: Option<Start>,
    #[serde(borrow)]
    transitions: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Transition {
    state: Name,
    action: Name,
    probability: f64,
    next_state: Name,
    reward: f64,
    #[serde(default)]
    terminal: bool,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a name or a whole number for a state or an action")]
enum Name {
    Text(String),
    Number(u64),
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected as start a state or an object of states and their probabilities")]
enum Start {
    One(Name),
    Many(BTreeMap<String, f64>),
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        match name {
            Name::Text(text) => text,
            Name::Number(number) => number.to_string(),
        }
    }
}

pub(super) fn read(text: &str) -> Result<Draft, MdpError> {
    let document: Document =
        serde_json::from_str(text).map_err(|e| at(format!("line {}", e.line()), syntax(&e)))?;
    let starts = match document.start {
        None => vec![],
        Some(Start::One(name)) => vec![(name.into(), 1.0)],
        Some(Start::Many(states)) => states.into_iter().collect(),
    };
    let mut draft = Draft {
        name: document.name,
        gamma: document.gamma,
        starts,
        start_place: "\"start\"".into(),
        counted: true,
        ..Draft::default()
    };
    let (mut line, mut counted) = (1, 0);
    for (index, raw) in document.transitions.iter().enumerate() {
        // A raw value is a slice of the text, so where it lies in memory tells where it stands in the file.
        let offset = raw.get().as_ptr() as usize - text.as_ptr() as usize;
        line += text[counted..offset].matches('\n').count();
        counted = offset;
        read_transition(&mut draft, raw.get(), index + 1, line)?;
    }
    Ok(draft)
}

fn read_transition(draft: &mut Draft, text: &str, transition: usize, line: usize) -> Result<(), MdpError> {
    let read: Transition = serde_json::from_str(text)
        .map_err(|e| at(format!("transition {transition} (line {line})"), syntax(&e)))?;
    draft.rows.push(Row {
        line,
        state: draft.states.number(&String::from(read.state)),
        action: draft.actions.number(&String::from(read.action)),
        next_state: draft.states.number(&String::from(read.next_state)),
        terminal: read.terminal,
        probability: read.probability,
        reward: read.reward,
    });
    Ok(())
}

/// What serde says, without its own idea of the place.
fn syntax(error: &serde_json::Error) -> MdpError {
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    MdpError::Syntax(message.strip_suffix(&place).unwrap_or(&message).into())
}

//! One run folder as the trainer left it: what was asked for, and what its evaluations gave.

use crate::stats::mean;
use crate::{Error, Result};
use adfq_deep::config::{AgentKind, PolicyKind};
use adfq_deep::run::{CONFIG, EVALUATIONS, EVALUATIONS_HEADER as HEADER};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// The header of runs before there were clipped returns.
const OLD_HEADER: &str = "step,episode,return,length";

/// What `config.toml` says, as far as a comparison has to understand it: runs of an older version, with fewer settings,
/// can be compared too.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Head {
    /// The environment.
    pub env: String,
    /// What learned.
    pub agent: AgentKind,
    /// How it explored.
    pub policy: PolicyKind,
    /// The seed of the run.
    pub seed: u64,
    /// Environment steps it was to take.
    pub steps: u64,
}

/// The evaluation episodes at one step.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// Environment steps before it.
    pub step: u64,
    /// The return of each episode.
    pub returns: Vec<f64>,
}

impl Evaluation {
    /// The mean return.
    pub fn mean(&self) -> f64 {
        mean(&self.returns)
    }
}

/// A run, read.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Where it lies.
    pub folder: PathBuf,
    /// What was run.
    pub head: Head,
    /// All settings that may change what is learned or measured, by their full names: `learning.batch`.
    pub settings: BTreeMap<String, String>,
    /// The evaluations, at increasing steps; at least one.
    pub evaluations: Vec<Evaluation>,
}

impl Run {
    /// Reads a run folder, also one whose run is under way or was killed: a last evaluation that is not whole yet is
    /// left out.
    pub fn read(folder: &Path) -> Result<Self> {
        let (head, table) = read_config(folder)?;
        let mut evaluations = read_evaluations(&folder.join(EVALUATIONS))?;
        if evaluations.last().is_some_and(|last| is_partial(last, &head, &table)) {
            evaluations.pop();
        }
        if evaluations.is_empty() {
            return Err(Error::NoEvaluations(folder.to_owned()));
        }
        Ok(Self { folder: folder.to_owned(), settings: settings(&table), head, evaluations })
    }

    /// The step of the last evaluation.
    pub fn last_step(&self) -> u64 {
        self.evaluations.last().map_or(0, |evaluation| evaluation.step)
    }
}

fn read_config(folder: &Path) -> Result<(Head, Table)> {
    let path = folder.join(CONFIG);
    let text = fs::read_to_string(&path).map_err(|source| adfq_files::Error::io("read", &path, source))?;
    let table: Table = toml::from_str(&text).map_err(|error| not_a_config(folder, &error))?;
    let head = Head::deserialize(table.clone()).map_err(|error| not_a_config(folder, &error))?;
    Ok((head, table))
}

/// The parser's message without its picture of the place, on one line.
fn not_a_config(folder: &Path, error: &toml::de::Error) -> Error {
    let reason = format!("{CONFIG} cannot be understood ({})", error.message().trim().replace('\n', ", "));
    Error::NotARun { path: folder.to_owned(), reason }
}

/// Whether episodes are missing: a kill may tear an evaluation between two rows, which only the settings can tell.
fn is_partial(last: &Evaluation, head: &Head, table: &Table) -> bool {
    let key = if last.step >= head.steps { "final_episodes" } else { "episodes" };
    let asked =
        table.get("evaluation").and_then(|evaluation| evaluation.get(key)).and_then(Value::as_integer);
    asked.is_some_and(|asked| (last.returns.len() as i64) < asked)
}

/// Flat names and values of all but what names the run, and `logging`, which changes nothing that is compared.
fn settings(table: &Table) -> BTreeMap<String, String> {
    let mut flat = BTreeMap::new();
    let own = |key: &str| ["env", "agent", "policy", "seed", "logging"].contains(&key);
    table.iter().filter(|(key, _)| !own(key)).for_each(|(key, value)| flatten(key, value, &mut flat));
    flat
}

fn flatten(name: &str, value: &Value, into: &mut BTreeMap<String, String>) {
    match value {
        Value::Table(table) => {
            table.iter().for_each(|(key, value)| flatten(&format!("{name}.{key}"), value, into));
        }
        // The trainer's numbers are f32 for the most part: 0.1 as f32 reads 0.10000000149011612 as f64.
        Value::Float(x) if f64::from(*x as f32) == *x => {
            into.insert(name.to_owned(), format!("{:?}", *x as f32));
        }
        Value::String(text) => {
            into.insert(name.to_owned(), text.clone());
        }
        other => {
            into.insert(name.to_owned(), other.to_string());
        }
    }
}

fn read_evaluations(path: &Path) -> Result<Vec<Evaluation>> {
    let bytes = fs::read(path).map_err(|source| adfq_files::Error::io("read", path, source))?;
    // What follows the last line break is a line that is still being written, or never was written to its end.
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let text = String::from_utf8_lossy(&bytes[..whole]);
    let mut evaluations: Vec<Evaluation> = vec![];
    let mut columns = 0;
    for (number, line) in (1..).zip(text.lines()) {
        let wrong = |reason: String| Error::Line { path: path.to_owned(), line: number, reason };
        if number == 1 {
            if ![HEADER, OLD_HEADER].contains(&line) {
                return Err(wrong(format!("the header is {line:?}, not {HEADER:?}")));
            }
            columns = line.split(',').count();
            continue;
        }
        let (step, value) = row(line, columns).map_err(wrong)?;
        match evaluations.last_mut() {
            Some(last) if step < last.step => {
                return Err(wrong(format!("step {step} comes after step {}", last.step)));
            }
            Some(last) if step == last.step => last.returns.push(value),
            _ => evaluations.push(Evaluation { step, returns: vec![value] }),
        }
    }
    Ok(evaluations)
}

/// Step and return of a line, or what is wrong with it. Both come before what newer files have in addition.
fn row(line: &str, columns: usize) -> std::result::Result<(u64, f64), String> {
    let fields: Vec<&str> = line.split(',').collect();
    let (step, value) = match fields[..] {
        [step, _episode, value, ..] if fields.len() == columns => (step, value),
        _ => return Err(format!("{} fields, but the header has {columns}", fields.len())),
    };
    let step = step.parse().map_err(|_| format!("the step is {step:?}, which is no whole number"))?;
    match value.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok((step, number)),
        _ => Err(format!("the return is {value:?}, which is no finite number")),
    }
}

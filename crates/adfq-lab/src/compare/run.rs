//! One run folder as the trainer left it: what was asked for, and what it reached.

use super::Returns;
use crate::stats::mean;
use crate::{Error, Result};
use adfq_deep::run::folder::CONFIG;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// What `config.toml` says, as far as a comparison has to understand it: runs of an older version, with fewer settings,
/// can be compared too.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Head {
    /// The environment.
    pub env: String,
    /// What learned.
    pub agent: String,
    /// How it explored.
    pub policy: String,
    /// The seed of the run.
    pub seed: u64,
    /// Environment steps it was to take.
    pub steps: u64,
}

/// What a run had reached at one step: its evaluation episodes there, or the mean of its last training episodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// Environment steps before it.
    pub step: u64,
    /// The return of each episode, or that mean.
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
    /// Which returns were read.
    pub returns: Returns,
    /// What it reached, at increasing steps; at least one.
    pub evaluations: Vec<Evaluation>,
}

impl Run {
    /// Reads a run folder, also one whose run is under way or was killed: a last evaluation that is not whole yet is
    /// left out.
    pub fn read(folder: &Path, returns: Returns) -> Result<Self> {
        let (head, table) = read_config(folder)?;
        let mut evaluations = returns.read(folder)?;
        let is_torn = |last: &Evaluation| returns == Returns::Evaluation && is_partial(last, &head, &table);
        if evaluations.last().is_some_and(is_torn) {
            evaluations.pop();
        }
        if evaluations.is_empty() {
            return Err(match returns {
                Returns::Evaluation => Error::NoEvaluations(folder.to_owned()),
                Returns::Training => Error::NoEpisodes(folder.to_owned()),
            });
        }
        Ok(Self { folder: folder.to_owned(), settings: settings(&table), head, returns, evaluations })
    }

    /// The last step that is known.
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

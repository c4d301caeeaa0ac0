//! Run folders as the trainer left them: which folders are runs, what was asked for, and what was reached.

use super::believed;
use crate::beliefs::Checked;
use crate::stats::mean;
use crate::{Error, Result};
use adfq_deep::run::folder::{CONFIG, EVALUATIONS, EVALUATIONS_HEADER, METRICS};
use adfq_files::Folder;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// The run folders among these paths and below them, each once, in the order of their names.
///
/// A folder with `config.toml` and `evaluations.csv` is a run, and nothing below it is looked at. A link that
/// is named itself is followed; one below is not, so the search ends.
///
/// ```
/// # let dir = tempfile::tempdir().unwrap();
/// # let runs = dir.path();
/// use adfq_lab::compare::find;
///
/// std::fs::create_dir_all(runs.join("dqn/seed-0")).unwrap();
/// std::fs::write(runs.join("dqn/seed-0/config.toml"), "").unwrap();
/// std::fs::write(runs.join("dqn/seed-0/evaluations.csv"), "").unwrap();
/// assert_eq!(find(&[runs.to_owned(), runs.join("dqn/seed-0")])?, [runs.join("dqn/seed-0")]);
/// assert!(find(&[runs.join("ddqn")]).is_err());
/// # Ok::<(), adfq_lab::Error>(())
/// ```
pub fn find(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let (mut found, mut seen) = (vec![], BTreeSet::new());
    for path in paths {
        let mut below = vec![];
        search(path, &mut below)?;
        if below.is_empty() {
            return Err(not_a_run(path));
        }
        for folder in below {
            let real =
                fs::canonicalize(&folder).map_err(|source| adfq_files::Error::io("read", &folder, source))?;
            if seen.insert(real) {
                found.push(folder);
            }
        }
    }
    Ok(found)
}

fn search(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    // A link of that name is found too, and refused when it is read.
    let is_run = |folder: Folder| folder.has(CONFIG) && folder.has(EVALUATIONS);
    if Folder::open(folder).is_ok_and(is_run) {
        found.push(folder.to_owned());
        return Ok(());
    }
    let failed = |source| adfq_files::Error::io("list", folder, source);
    let mut below = vec![];
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.file_type().map_err(failed)?.is_dir() {
            below.push(entry.path());
        }
    }
    below.sort();
    below.iter().try_for_each(|folder| search(folder, found))
}

fn not_a_run(path: &Path) -> Error {
    let reason = match path.join(CONFIG).is_file() {
        true => format!("it has no {EVALUATIONS}"),
        false => format!("neither it nor a folder in it has {CONFIG} and {EVALUATIONS}"),
    };
    Error::NotARun { path: path.to_owned(), reason }
}

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
    /// All settings that may change what is learned or measured, by their full names: `learning.batch`. The number of
    /// steps is none of them.
    pub settings: BTreeMap<String, String>,
    /// Which returns were read.
    pub returns: Returns,
    /// What it reached, at increasing steps; at least one.
    pub evaluations: Vec<Evaluation>,
    /// What was measured of its beliefs at the last checkpoint, or why that cannot be read; none if nothing was measured.
    pub beliefs: Option<std::result::Result<Checked, String>>,
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
                Returns::Evaluation if never_evaluated(&table) => Error::NeverEvaluated(folder.to_owned()),
                Returns::Evaluation => Error::NoEvaluations(folder.to_owned()),
                Returns::Training => Error::NoEpisodes(folder.to_owned()),
            });
        }
        let (settings, beliefs) = (settings(&table), believed::read(folder));
        Ok(Self { folder: folder.to_owned(), settings, head, returns, evaluations, beliefs })
    }

    /// What a run is, without what it reached: enough for its label.
    pub fn named(folder: &Path) -> Result<Self> {
        let (head, table) = read_config(folder)?;
        let (folder, settings) = (folder.to_owned(), settings(&table));
        Ok(Self { folder, settings, head, returns: Returns::Training, evaluations: vec![], beliefs: None })
    }

    /// The run as if it had been asked for no more than so many steps; nothing if nothing is known up to there.
    pub fn until(mut self, steps: u64) -> Option<Self> {
        self.head.steps = self.head.steps.min(steps);
        self.evaluations.retain(|evaluation| evaluation.step <= steps);
        (!self.evaluations.is_empty()).then_some(self)
    }

    /// The last step that is known.
    pub fn last_step(&self) -> u64 {
        self.evaluations.last().map_or(0, |evaluation| evaluation.step)
    }
}

fn read_config(folder: &Path) -> Result<(Head, Table)> {
    let bytes = Folder::open(folder)?.read(CONFIG)?;
    let text = String::from_utf8_lossy(&bytes);
    let table: Table = toml::from_str(&text).map_err(|error| not_a_config(folder, &text, &error))?;
    let head = Head::deserialize(table.clone()).map_err(|error| not_a_config(folder, &text, &error))?;
    Ok((head, table))
}

/// The parser's message without its picture of the place, on one line.
fn not_a_config(folder: &Path, text: &str, error: &toml::de::Error) -> Error {
    let line =
        error.span().and_then(|span| text.get(..span.start)).map(|before| before.matches('\n').count() + 1);
    let line = line.map_or(String::new(), |line| format!("line {line}: "));
    let message = error.message().trim().replace('\n', ", ");
    let reason = format!("{CONFIG} cannot be understood ({line}{message})");
    Error::NotARun { path: folder.to_owned(), reason }
}

/// Whether episodes are missing: a kill may tear an evaluation between two rows, which only the settings can tell.
fn is_partial(last: &Evaluation, head: &Head, table: &Table) -> bool {
    let asked = |key: &str| table.get("evaluation")?.get(key)?.as_integer();
    let asked = match last.step >= head.steps {
        true => asked("final_episodes"),
        // The last one before a run was made longer has as many episodes as one at an end.
        false if table.contains_key("earlier_ends") => asked("final_episodes").min(asked("episodes")),
        false => asked("episodes"),
    };
    asked.is_some_and(|asked| (last.returns.len() as i64) < asked)
}

/// Whether evaluation was off.
fn never_evaluated(table: &Table) -> bool {
    let every = table.get("evaluation").and_then(|evaluation| evaluation.get("every"));
    every.and_then(Value::as_integer) == Some(0)
}

/// Flat names and values of all but what names the run, its length, and `logging`, which changes nothing that is
/// compared.
fn settings(table: &Table) -> BTreeMap<String, String> {
    let mut flat = BTreeMap::new();
    let own = |key: &str| ["env", "agent", "policy", "seed", "steps", "logging"].contains(&key);
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

/// The header of evaluations before there were clipped returns.
const OLD_HEADER: &str = "step,episode,return,length";
const TRAINING: &str = "train_return";

/// The returns that runs are compared by.
///
/// ```
/// use adfq_lab::compare::Returns;
/// assert_eq!(Returns::default(), Returns::Evaluation);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Returns {
    /// Those of evaluation episodes.
    #[default]
    Evaluation,
    /// Those of the last 100 training episodes, exploration included, at each row of the metrics.
    Training,
}

impl Returns {
    /// All of a run, at increasing steps. Of a line that is still being written nothing is taken.
    fn read(self, folder: &Path) -> Result<Vec<Evaluation>> {
        let name = if self == Self::Evaluation { EVALUATIONS } else { METRICS };
        let (path, bytes) = (folder.join(name), Folder::open(folder)?.read(name)?);
        let Some(end) = bytes.iter().rposition(|&byte| byte == b'\n') else { return Ok(vec![]) };
        let wrong = |line: u64, reason: String| Error::Line { path: path.clone(), line, reason };
        let unreadable =
            |error: csv::Error| wrong(error.position().map_or(1, csv::Position::line), error.to_string());
        // Rows of a wrong length are told by our own words.
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(&bytes[..=end]);
        let header = reader.headers().map_err(unreadable)?.clone();
        let value = self.column(&header).map_err(|reason| wrong(1, reason))?;
        let mut read = vec![];
        for record in reader.records() {
            let record = record.map_err(unreadable)?;
            let line = record.position().map_or(1, csv::Position::line);
            if record.len() != header.len() {
                let reason = format!("{} fields, but the header has {}", record.len(), header.len());
                return Err(wrong(line, reason));
            }
            let row = self.row(&record[0], &record[value]).map_err(|reason| wrong(line, reason))?;
            if let Some((step, value)) = row {
                push(&mut read, step, value).map_err(|reason| wrong(line, reason))?;
            }
        }
        Ok(read)
    }

    /// Which column holds the return; the first is the step.
    fn column(self, header: &csv::StringRecord) -> std::result::Result<usize, String> {
        let text = header.iter().collect::<Vec<_>>().join(",");
        match self {
            Self::Evaluation if [EVALUATIONS_HEADER, OLD_HEADER].contains(&text.as_str()) => Ok(2),
            Self::Evaluation => Err(format!("the header is {text:?}, not {EVALUATIONS_HEADER:?}")),
            Self::Training => header
                .iter()
                .position(|name| name == TRAINING)
                .filter(|_| header.get(0) == Some("step"))
                .ok_or_else(|| format!("the header is {text:?}, without \"step\" and {TRAINING:?}")),
        }
    }

    /// Step and return of a row, or what is wrong with it. Before its first episode has ended a run has no training
    /// return.
    fn row(self, step: &str, value: &str) -> std::result::Result<Option<(u64, f64)>, String> {
        let step = step.parse().map_err(|_| format!("the step is {step:?}, which is no whole number"))?;
        match value.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Some((step, number))),
            Err(_) if value.is_empty() && self == Self::Training => Ok(None),
            _ => Err(format!("the return is {value:?}, which is no finite number")),
        }
    }

    /// What such returns are called, one of them or several.
    pub(crate) fn noun(self, count: usize) -> &'static str {
        match (self, count) {
            (Self::Evaluation, 1) => "evaluation",
            (Self::Evaluation, _) => "evaluations",
            (Self::Training, 1) => "row of metrics",
            (Self::Training, _) => "rows of metrics",
        }
    }

    /// The name of an axis.
    pub(crate) fn axis(self) -> &'static str {
        match self {
            Self::Evaluation => "evaluation return",
            Self::Training => "training return",
        }
    }

    /// What the final return and the area are.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Self::Evaluation => {
                "Final return: mean over the episodes of the last evaluation that all compared runs have; area: mean over \
                 evaluations."
            }
            Self::Training => {
                "Final return: mean over the last 100 training episodes, at the last step that all compared runs have; area: \
                 mean over steps. Training episodes explore."
            }
        }
    }
}

fn push(read: &mut Vec<Evaluation>, step: u64, value: f64) -> std::result::Result<(), String> {
    match read.last_mut() {
        Some(last) if step < last.step => return Err(format!("step {step} comes after step {}", last.step)),
        Some(last) if step == last.step => last.returns.push(value),
        _ => read.push(Evaluation { step, returns: vec![value] }),
    }
    Ok(())
}

//! What lies under the root: runs, recordings of tabular runs, and reports. How it is read from the folders is `scan`'s.

use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// A process holds the folder and trains.
    Training,
    /// Nobody trains, and the run has not come to its end: it can be resumed.
    Stopped,
    /// It has come to its end.
    Finished,
    /// Training ended by an error, which `why` tells.
    Failed,
    /// The folder cannot be understood; `why` tells the reason.
    Malformed,
}

/// A run as the table shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunRow {
    /// Its folder, relative to the root, with `/` between names; `.` is the root itself.
    pub id: String,
    /// The environment.
    pub env: String,
    /// What learns.
    pub agent: String,
    /// How it explores.
    pub policy: String,
    /// The seed.
    pub seed: u64,
    /// Environment steps so far, by the last row of the metrics.
    pub step: u64,
    /// Environment steps in all.
    pub steps: u64,
    /// Mean return of the last 100 training episodes.
    pub train_return: Option<f64>,
    /// Mean return of the last evaluation.
    pub evaluation: Option<f64>,
    /// Environment steps a second, over the last rows.
    pub speed: Option<f64>,
    /// How it stands.
    pub state: State,
    /// Why it failed, or cannot be understood.
    pub why: Option<String>,
    /// When it last wrote a row, in seconds since 1970.
    pub changed: Option<f64>,
}

impl RunRow {
    /// A run that cannot be understood.
    pub fn malformed(id: &str, why: String) -> Self {
        Self {
            id: id.to_owned(),
            env: String::new(),
            agent: String::new(),
            policy: String::new(),
            seed: 0,
            step: 0,
            steps: 0,
            train_return: None,
            evaluation: None,
            speed: None,
            state: State::Malformed,
            why: Some(why),
            changed: None,
        }
    }
}

/// A tabular run whose beliefs were recorded (`adfq learn --out`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct RecordingRow {
    /// Its folder, relative to the root.
    pub id: String,
}

/// A page that `adfq paper`, `adfq study`, `adfq compare` or the like has written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ReportRow {
    /// Its folder, relative to the root.
    pub id: String,
    /// The file to open.
    pub page: String,
    /// The title of the page.
    pub title: String,
}

/// All that is known, at one moment. It is cheap to copy.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Table {
    /// The runs, by id.
    #[serde(serialize_with = "values")]
    pub runs: Arc<BTreeMap<String, RunRow>>,
    /// Recordings of tabular runs.
    pub recordings: Vec<RecordingRow>,
    /// Reports.
    pub reports: Vec<ReportRow>,
    /// The columns that metrics have, over all runs.
    pub quantities: Vec<String>,
    /// What was left out, if there was more than is looked at.
    pub notes: Vec<String>,
}

fn values<S: serde::Serializer>(runs: &Arc<BTreeMap<String, RunRow>>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(runs.values())
}

/// What is different from an earlier table.
#[derive(Debug, Serialize)]
pub struct Change {
    /// Rows that are new or others now.
    pub runs: Vec<RunRow>,
    /// Runs that are gone.
    pub gone: Vec<String>,
    /// All recordings.
    pub recordings: Vec<RecordingRow>,
    /// All reports.
    pub reports: Vec<ReportRow>,
    /// All columns that metrics have.
    pub quantities: Vec<String>,
}

impl Table {
    /// What has changed since; none if nothing has.
    pub fn since(&self, earlier: &Self) -> Option<Change> {
        let is_new = |row: &&RunRow| earlier.runs.get(&row.id) != Some(*row);
        let change = Change {
            runs: self.runs.values().filter(is_new).cloned().collect(),
            gone: earlier.runs.keys().filter(|id| !self.runs.contains_key(*id)).cloned().collect(),
            recordings: self.recordings.clone(),
            reports: self.reports.clone(),
            quantities: self.quantities.clone(),
        };
        let same = change.runs.is_empty()
            && change.gone.is_empty()
            && self.recordings == earlier.recordings
            && self.reports == earlier.reports
            && self.quantities == earlier.quantities;
        (!same).then_some(change)
    }
}

//! What `adfq compare` writes, computed for the runs that are ticked.

use crate::guard::MOST_COMPARISONS;
use crate::server::Shared;
use crate::{Error, Result};
use adfq_lab::compare::{Comparison, Returns, Run, page, pictures, summary};
use axum::Json;
use axum::extract::State;
use axum::response::Html;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Runs of one comparison.
const MOST_RUNS: usize = 2_000;

/// Which runs are compared.
#[derive(Clone, Debug, Deserialize)]
pub struct CompareRequest {
    /// The runs, by id.
    pub runs: Vec<String>,
    /// By which returns.
    #[serde(default)]
    pub returns: Returns,
    /// Up to which step.
    pub steps: Option<u64>,
    /// The seed of the bootstrap.
    #[serde(default)]
    pub seed: u64,
}

/// A comparison, as data, text and pictures.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// What `adfq compare --json` prints.
    pub comparison: Comparison,
    /// What `adfq compare` prints.
    pub summary: String,
    /// The learning curves of each environment, by its name, as SVG.
    pub pictures: Vec<(String, String)>,
    /// The command that gives the same.
    pub command: String,
}

/// `POST /api/compare`.
pub(crate) async fn compare(
    State(shared): State<Arc<Shared>>,
    Json(request): Json<CompareRequest>,
) -> Result<Json<Compared>> {
    computed(shared, request, |comparison, command| {
        let (summary, pictures) = (summary(&comparison), pictures(&comparison)?);
        Ok(Json(Compared { comparison, summary, pictures, command }))
    })
    .await
}

/// `POST /api/compare/report`: the page that `adfq compare --out` writes.
pub(crate) async fn report(
    State(shared): State<Arc<Shared>>,
    Json(request): Json<CompareRequest>,
) -> Result<Html<String>> {
    computed(shared, request, |comparison, command| Ok(Html(page(&comparison, &command)?))).await
}

async fn computed<T: Send + 'static>(
    shared: Arc<Shared>,
    request: CompareRequest,
    then: impl FnOnce(Comparison, String) -> Result<T> + Send + 'static,
) -> Result<T> {
    let seat = shared.comparisons.clone().try_acquire_owned();
    let seat = seat.map_err(|_| Error::Busy(format!("{MOST_COMPARISONS} comparisons are being computed")))?;
    shared
        .blocking(move |shared| {
            let _seat = seat;
            let (comparison, command) = comparison(shared, &request)?;
            then(comparison, command)
        })
        .await
}

fn comparison(shared: &Shared, request: &CompareRequest) -> Result<(Comparison, String)> {
    if request.runs.is_empty() || request.runs.len() > MOST_RUNS {
        return Err(Error::Request(format!("between 1 and {MOST_RUNS} runs can be compared")));
    }
    let ids: BTreeSet<&String> = request.runs.iter().collect();
    let (mut runs, mut notes) = (vec![], vec![]);
    let mut command = "adfq compare".to_owned();
    for id in ids {
        let folder = shared.run_folder(id)?;
        command += &format!(" {}", quoted(&folder.path().to_string_lossy()));
        let run = Run::read(folder.path(), request.returns);
        let until = |run: Run| request.steps.map_or(Some(run.clone()), |steps| run.until(steps));
        match run.map(until) {
            Ok(Some(run)) => runs.push(run),
            Ok(None) => notes.push(format!("Left out: {id} has nothing up to that step.")),
            Err(error) => notes.push(format!("Left out: {error}.")),
        }
    }
    if runs.is_empty() {
        let why = notes.first().cloned().unwrap_or_default();
        return Err(Error::Request(format!("None of these runs can be compared. {why}")));
    }
    if request.returns == Returns::Training {
        command += " --training";
    }
    if let Some(steps) = request.steps {
        command += &format!(" --steps {steps}");
    }
    command += &format!(" --seed {}", request.seed);
    let mut comparison = Comparison::of(runs, request.seed)?;
    comparison.notes.extend(notes);
    Ok((comparison, command))
}

/// A word of a command line.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    match word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

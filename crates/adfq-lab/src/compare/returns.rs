//! Which returns are compared, and how they are read from the files of a run.

use super::Evaluation;
use crate::{Error, Result};
use adfq_deep::run::folder::{EVALUATIONS, EVALUATIONS_HEADER as HEADER, METRICS};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

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
    pub(super) fn read(self, folder: &Path) -> Result<Vec<Evaluation>> {
        let path = folder.join(if self == Self::Evaluation { EVALUATIONS } else { METRICS });
        let bytes = fs::read(&path).map_err(|source| adfq_files::Error::io("read", &path, source))?;
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let text = String::from_utf8_lossy(&bytes[..whole]);
        let (mut read, mut shape) = (vec![], Shape { columns: 0, value: 0 });
        for (number, line) in (1..).zip(text.lines()) {
            let wrong = |reason: String| Error::Line { path: path.clone(), line: number, reason };
            if number == 1 {
                shape = self.shape(line).map_err(wrong)?;
            } else if let Some((step, value)) = shape.row(line, self).map_err(wrong)? {
                push(&mut read, step, value).map_err(wrong)?;
            }
        }
        Ok(read)
    }

    fn shape(self, header: &str) -> std::result::Result<Shape, String> {
        let columns = header.split(',').count();
        let value = match self {
            Self::Evaluation if [HEADER, OLD_HEADER].contains(&header) => Some(2),
            Self::Evaluation => return Err(format!("the header is {header:?}, not {HEADER:?}")),
            Self::Training if header.starts_with("step,") => header.split(',').position(|it| it == TRAINING),
            Self::Training => None,
        };
        let value =
            value.ok_or_else(|| format!("the header is {header:?}, without \"step\" and {TRAINING:?}"))?;
        Ok(Shape { columns, value })
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

    /// The setting that says how often there are such.
    pub(super) fn interval(self) -> &'static str {
        match self {
            Self::Evaluation => "evaluation.every",
            Self::Training => "logging.metrics",
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
                "Final return: mean over the episodes of the last evaluation that all runs have; area: mean over \
                 evaluations."
            }
            Self::Training => {
                "Final return: mean over the last 100 training episodes, at the last step that all runs have; area: \
                 mean over steps. Training episodes explore."
            }
        }
    }
}

/// How many fields a line has, and which is the return; the first is the step.
struct Shape {
    columns: usize,
    value: usize,
}

impl Shape {
    /// Step and return of a line, or what is wrong with it. Before its first episode has ended a run has no training return.
    fn row(&self, line: &str, returns: Returns) -> std::result::Result<Option<(u64, f64)>, String> {
        let fields: Vec<&str> = line.split(',').collect();
        if fields.len() != self.columns {
            return Err(format!("{} fields, but the header has {}", fields.len(), self.columns));
        }
        let (step, value) = (fields[0], fields[self.value]);
        let step = step.parse().map_err(|_| format!("the step is {step:?}, which is no whole number"))?;
        match value.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Some((step, number))),
            Err(_) if value.is_empty() && returns == Returns::Training => Ok(None),
            _ => Err(format!("the return is {value:?}, which is no finite number")),
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

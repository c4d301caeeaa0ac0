//! What a run writes down while it trains: CSV files for everybody, and events for TensorBoard.

use super::Run;
use super::checkpoint::LogLengths;
use super::folder::{EVALUATIONS, EVALUATIONS_HEADER, EVENTS, METRICS};
use crate::Result;
use crate::evaluate::Evaluation;
use crate::metrics::{Episode, Metrics};
use crate::trainer::Observer;
use adfq_files::Appender;
use adfq_files::tensorboard::EventWriter;
use std::path::Path;
use std::time::SystemTime;

/// Seconds since 1970, for TensorBoard alone: nothing else in a run depends on a clock.
pub type Clock = Box<dyn FnMut() -> f64 + Send>;

/// The time of day.
pub fn time_of_day() -> Clock {
    Box::new(|| SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0.0, |now| now.as_secs_f64()))
}

/// Writes `metrics.csv` and `evaluations.csv`.
pub(super) struct CsvLogs {
    metrics: Appender,
    evaluations: Appender,
}

impl CsvLogs {
    /// Goes on from these lengths; what is beyond was written by a future that got lost.
    pub fn open(folder: &Path, lengths: LogLengths, own: &[&str]) -> Result<Self> {
        let mut metrics = Appender::open(folder.join(METRICS), lengths.metrics)?;
        let mut evaluations = Appender::open(folder.join(EVALUATIONS), lengths.evaluations)?;
        if metrics.len() == 0 {
            metrics.write((Metrics::header(own) + "\n").as_bytes())?;
        }
        if evaluations.len() == 0 {
            evaluations.write((EVALUATIONS_HEADER.to_owned() + "\n").as_bytes())?;
        }
        Ok(Self { metrics, evaluations })
    }
}

impl Observer for CsvLogs {
    fn metrics(&mut self, _: &Run, metrics: &Metrics) -> Result<()> {
        Ok(self.metrics.write((metrics.csv() + "\n").as_bytes())?)
    }

    fn evaluated(&mut self, _: &Run, evaluation: &Evaluation) -> Result<()> {
        let rows = evaluation.episodes.iter().enumerate();
        let rows: String = rows
            .map(|(i, &Episode { total, clipped, length })| {
                format!("{},{i},{total},{clipped},{length}\n", evaluation.step)
            })
            .collect();
        Ok(self.evaluations.write(rows.as_bytes())?)
    }

    fn checkpoint(&mut self, _: &Run) -> Result<()> {
        self.metrics.sync()?;
        Ok(self.evaluations.sync()?)
    }
}

/// Writes TensorBoard events.
pub(super) struct TensorBoard {
    events: EventWriter,
    clock: Clock,
}

impl TensorBoard {
    /// Goes on from this length.
    pub fn open(folder: &Path, length: u64, mut clock: Clock) -> Result<Self> {
        Ok(Self { events: EventWriter::open(folder.join(EVENTS), length, clock())?, clock })
    }
}

impl Observer for TensorBoard {
    fn metrics(&mut self, _: &Run, metrics: &Metrics) -> Result<()> {
        let scalars = metrics.scalars().skip(1).filter(|(_, value)| !value.is_nan());
        let named: Vec<_> = scalars.map(|(name, value)| (format!("train/{name}"), value)).collect();
        let scalars: Vec<_> = named.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        Ok(self.events.scalars((self.clock)(), metrics.step, &scalars)?)
    }

    fn evaluated(&mut self, _: &Run, evaluation: &Evaluation) -> Result<()> {
        let returns = [
            ("evaluation/return", evaluation.mean()),
            ("evaluation/clipped_return", evaluation.mean_clipped()),
        ];
        Ok(self.events.scalars((self.clock)(), evaluation.step, &returns)?)
    }

    fn checkpoint(&mut self, _: &Run) -> Result<()> {
        Ok(self.events.sync()?)
    }
}

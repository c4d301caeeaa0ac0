//! What a run writes down while it trains: CSV files for everybody, and events for TensorBoard.

use super::checkpoint::LogLengths;
use super::folder::{EVALUATIONS, EVALUATIONS_HEADER, EVENTS, METRICS};
use super::{Run, Summary};
use crate::evaluate::Evaluation;
use crate::metrics::{Episode, Metrics};
use crate::trainer::Observer;
use crate::{Config, Error, Result};
use adfq_files::tensorboard::{EventWriter, Setting, whole_records};
use adfq_files::{Appender, Folder, Syncer};
use std::time::SystemTime;

/// Seconds since 1970, for TensorBoard alone: nothing else in a run depends on a clock.
pub type Clock = Box<dyn FnMut() -> f64 + Send>;

/// The time of day.
pub fn time_of_day() -> Clock {
    Box::new(|| SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0.0, |now| now.as_secs_f64()))
}

/// How much of each log can be kept, where something may have happened to the files since the checkpoint at this step, and
/// a line for each that has lost something. No log is needed to go on: what is gone is gone.
pub(super) fn what_is_left(
    folder: &Folder,
    lengths: LogLengths,
    step: u64,
) -> Result<(LogLengths, Vec<String>)> {
    let mut warnings = vec![];
    let mut left = |name: &str, length: u64, whole: fn(&[u8]) -> u64| -> Result<u64> {
        let bytes = start_of(folder, name, length)?;
        let left = whole(&bytes);
        if left < length {
            let gone = match last_step(&bytes[..left as usize]) {
                Some(last) => format!("what it held from step {last} to step {step} is gone"),
                None => format!("what it held up to step {step} is gone"),
            };
            warnings.push(format!("{} is damaged or missing: {gone}", folder.path().join(name).display()));
        }
        Ok(left)
    };
    let lengths = LogLengths {
        metrics: left(METRICS, lengths.metrics, whole_lines)?,
        evaluations: left(EVALUATIONS, lengths.evaluations, whole_lines)?,
        events: left(EVENTS, lengths.events, whole_records)?,
    };
    Ok((lengths, warnings))
}

/// The first bytes of a file, as many as there are. A file that is missing has none.
fn start_of(folder: &Folder, name: &str, length: u64) -> Result<Vec<u8>> {
    match folder.read(name) {
        Ok(mut bytes) => {
            bytes.truncate(usize::try_from(length).unwrap_or(usize::MAX));
            Ok(bytes)
        }
        Err(error) if error.is_not_found() => Ok(vec![]),
        Err(error) => Err(error.into()),
    }
}

fn whole_lines(bytes: &[u8]) -> u64 {
    bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end as u64 + 1)
}

/// The step of the last row of a table; none if it has no row.
fn last_step(table: &[u8]) -> Option<u64> {
    let row = std::str::from_utf8(table).ok()?.lines().next_back()?;
    row.split(',').next()?.parse().ok()
}

/// Writes `metrics.csv` and `evaluations.csv`.
pub(super) struct CsvLogs {
    metrics: Appender,
    evaluations: Appender,
}

impl CsvLogs {
    /// Goes on from these lengths; what is beyond was written by a future that got lost.
    pub fn open(folder: &Folder, lengths: LogLengths, own: &[&str]) -> Result<Self> {
        let mut metrics = Appender::open_in(folder, METRICS, lengths.metrics)?;
        let mut evaluations = Appender::open_in(folder, EVALUATIONS, lengths.evaluations)?;
        if metrics.len() == 0 {
            metrics.write((Metrics::header(own) + "\n").as_bytes())?;
        }
        if evaluations.len() == 0 {
            evaluations.write((EVALUATIONS_HEADER.to_owned() + "\n").as_bytes())?;
        }
        Ok(Self { metrics, evaluations })
    }

    /// What makes the rows survive a power cut.
    pub fn syncers(&self) -> [Syncer; 2] {
        [self.metrics.syncer(), self.evaluations.syncer()]
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
}

/// Writes TensorBoard events.
pub(super) struct TensorBoard {
    events: EventWriter,
    clock: Clock,
    /// Whether learning sees only the signs of rewards. If not, their sum is of no interest.
    clipped: bool,
}

impl TensorBoard {
    /// Goes on from this length. A file without anything gets the settings of the run.
    pub fn open(folder: &Folder, length: u64, config: &Config, mut clock: Clock) -> Result<Self> {
        let mut events = EventWriter::open_in(folder, EVENTS, length, clock())?;
        if length == 0 {
            events.settings(clock(), &settings(config)?)?;
        }
        Ok(Self { events, clock, clipped: config.learning.clip_rewards })
    }

    /// What makes the events survive a power cut.
    pub fn syncer(&self) -> Syncer {
        self.events.syncer()
    }

    /// Whether there is a chart of this quantity.
    fn shows(&self, name: &str) -> bool {
        self.clipped || !name.ends_with("clipped_return")
    }
}

impl Observer for TensorBoard {
    fn metrics(&mut self, _: &Run, metrics: &Metrics) -> Result<()> {
        let scalars = metrics.scalars().skip(1).filter(|(name, value)| !value.is_nan() && self.shows(name));
        let named: Vec<_> = scalars.map(|(name, value)| (format!("train/{name}"), value)).collect();
        let scalars: Vec<_> = named.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        Ok(self.events.scalars((self.clock)(), metrics.step, &scalars)?)
    }

    fn evaluated(&mut self, _: &Run, evaluation: &Evaluation) -> Result<()> {
        let mut returns = vec![
            ("evaluation/return", evaluation.mean()),
            ("evaluation/clipped_return", evaluation.mean_clipped()),
        ];
        returns.retain(|(name, _)| self.shows(name));
        Ok(self.events.scalars((self.clock)(), evaluation.step, &returns)?)
    }

    fn finished(&mut self, run: &Run, _: &Summary) -> Result<()> {
        Ok(self.events.finished((self.clock)(), run.step())?)
    }
}

/// All settings of a run, as TensorBoard lists them: `learning.batch` is 64.
fn settings(config: &Config) -> Result<Vec<(String, Setting)>> {
    let table = toml::Table::try_from(config).map_err(|error| Error::Toml(error.to_string()))?;
    let mut settings = vec![];
    flatten("", &table, &mut settings);
    Ok(settings)
}

fn flatten(prefix: &str, table: &toml::Table, out: &mut Vec<(String, Setting)>) {
    for (name, value) in table {
        let name = format!("{prefix}{name}");
        let setting = match value {
            toml::Value::Table(table) => {
                flatten(&format!("{name}."), table, out);
                continue;
            }
            toml::Value::Integer(number) => Setting::Number(*number as f64),
            toml::Value::Float(number) => Setting::Number(*number),
            toml::Value::Boolean(flag) => Setting::Flag(*flag),
            toml::Value::String(text) => Setting::Text(text.clone()),
            other => Setting::Text(other.to_string()),
        };
        out.push((name, setting));
    }
}

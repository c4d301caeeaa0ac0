//! Columns of the logs of runs, kept in memory while they are looked at. A column that was read before costs what its file has
//! grown by since.

use crate::tail::{Grown, Tail, whole_lines};
use crate::{Error, Result};
use adfq_deep::run::folder::{EVALUATIONS, EVENTS, METRICS};
use adfq_files::{Folder, tensorboard};
use std::collections::HashMap;
use std::fs::File;
use std::sync::Arc;

/// How many numbers are kept, in all columns: 64 MB.
const MOST_NUMBERS: usize = 8_000_000;

/// A quantity over steps. What is not there is NaN.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Environment steps, increasing.
    pub steps: Vec<f64>,
    /// The value at each.
    pub values: Vec<f64>,
}

impl Series {
    fn len(&self) -> usize {
        self.steps.len() + self.values.len()
    }
}

/// What a column is read from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// A column of `metrics.csv`.
    Metrics(String),
    /// Means of evaluations.
    Evaluations,
    /// When each step was reached, in seconds since 1970.
    Times,
}

/// A column in the making.
#[derive(Default)]
struct Column {
    tail: Tail,
    /// Which field of a row it is; none before the header was read.
    field: Option<usize>,
    series: Arc<Series>,
    /// Returns of the evaluation that may still grow: its step, their sum and number.
    evaluation: (f64, f64, f64),
    used: u64,
}

/// All columns that were asked for.
#[derive(Default)]
pub struct Columns {
    columns: HashMap<(String, Source), Column>,
    clock: u64,
}

impl Columns {
    /// The series of a run, up to what its folder holds now.
    pub fn get(&mut self, run: &str, folder: &Folder, source: &Source) -> Result<Arc<Series>> {
        self.clock += 1;
        let key = (run.to_owned(), source.clone());
        let mut column = self.columns.remove(&key).unwrap_or_default();
        column.used = self.clock;
        column.grow(run, folder, source)?;
        let series = column.series.clone();
        self.columns.insert(key, column);
        self.make_room();
        Ok(series)
    }

    /// Forgets the columns that were not asked for the longest.
    fn make_room(&mut self) {
        let mut kept: usize = self.columns.values().map(|column| column.series.len()).sum();
        while kept > MOST_NUMBERS && self.columns.len() > 1 {
            let oldest = self.columns.iter().min_by_key(|(_, column)| column.used);
            let Some(key) = oldest.map(|(key, _)| key.clone()) else { return };
            kept -= self.columns.remove(&key).map_or(0, |column| column.series.len());
        }
    }
}

impl Column {
    fn grow(&mut self, run: &str, folder: &Folder, source: &Source) -> Result<()> {
        let name = match source {
            Source::Metrics(_) => METRICS,
            Source::Evaluations => EVALUATIONS,
            Source::Times => EVENTS,
        };
        let mut file = folder.open_file(name)?;
        while let Some(bytes) = self
            .next(&mut file, source)
            .map_err(|source| adfq_files::Error::io("read", &folder.path().join(name), source))?
        {
            match source {
                Source::Times => self.add_times(&bytes),
                Source::Metrics(column) => self.add_rows(run, &bytes, column)?,
                Source::Evaluations => self.add_evaluations(&bytes),
            }
        }
        Ok(())
    }

    /// The next piece of the file; none at its end.
    fn next(&mut self, file: &mut File, source: &Source) -> std::io::Result<Option<Vec<u8>>> {
        let whole = match source {
            Source::Times => |bytes: &[u8]| tensorboard::whole_records(bytes) as usize,
            _ => whole_lines,
        };
        Ok(match self.tail.read(file, whole)? {
            Grown::Same => None,
            Grown::More(bytes) => Some(bytes),
            Grown::Anew(bytes) => {
                (self.field, self.series, self.evaluation) = (None, Arc::default(), (0.0, 0.0, 0.0));
                Some(bytes)
            }
        })
    }

    fn add_times(&mut self, bytes: &[u8]) {
        let series = Arc::make_mut(&mut self.series);
        for (step, time) in tensorboard::times(bytes).0 {
            series.steps.push(step as f64);
            series.values.push(time);
        }
    }

    fn add_rows(&mut self, run: &str, bytes: &[u8], column: &str) -> Result<()> {
        let text = String::from_utf8_lossy(bytes);
        let mut lines = text.lines();
        if self.field.is_none() {
            let at = lines.next().unwrap_or_default().split(',').position(|name| name == column);
            let missing = || Error::NoQuantity { run: run.to_owned(), quantity: column.to_owned() };
            self.field = Some(at.ok_or_else(missing)?);
        }
        let (field, series) = (self.field.unwrap_or(0), Arc::make_mut(&mut self.series));
        for line in lines {
            let Some((step, rest)) = line.split_once(',') else { continue };
            let value = match field {
                0 => Some(step),
                field => rest.split(',').nth(field - 1),
            };
            // A row that is torn is left out; one before the first episode has an empty field.
            if let (Ok(step), Some(value)) = (step.parse::<f64>(), value) {
                series.steps.push(step);
                series.values.push(value.parse().unwrap_or(f64::NAN));
            }
        }
        Ok(())
    }

    /// The mean of each evaluation. That of the last one is brought up to date while its episodes come.
    fn add_evaluations(&mut self, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        let series = Arc::make_mut(&mut self.series);
        for line in text.lines() {
            let mut fields = line.split(',');
            let step = fields.next().and_then(|step| step.parse::<f64>().ok());
            let value = fields.nth(1).and_then(|value| value.parse::<f64>().ok());
            let (Some(step), Some(value)) = (step, value) else { continue };
            let (last, sum, count) = self.evaluation;
            self.evaluation = match count > 0.0 && last == step {
                true => (step, sum + value, count + 1.0),
                false => (step, value, 1.0),
            };
            if self.evaluation.2 == 1.0 {
                series.steps.push(step);
                series.values.push(value);
            } else if let Some(mean) = series.values.last_mut() {
                *mean = self.evaluation.1 / self.evaluation.2;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn columns_grow_with_their_file_and_start_anew_where_it_was_cut_back() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, mut columns) = (Folder::open(dir.path()).unwrap(), Columns::default());
        let path = dir.path().join(METRICS);
        std::fs::write(&path, "step,loss,mean_q\n1,,\n2,0.5,3\n3,0.2").unwrap();
        let loss = Source::Metrics("loss".to_owned());
        let mut get = |source: &Source| columns.get("r", &folder, source);
        let series = get(&loss).unwrap();
        assert!(series.steps == [1.0, 2.0] && series.values[0].is_nan() && series.values[1] == 0.5);
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(b"5,4\n").unwrap();
        assert_eq!(get(&loss).unwrap().values[1..], [0.5, 0.25]);
        assert_eq!(get(&Source::Metrics("mean_q".to_owned())).unwrap().values[1..], [3.0, 4.0]);
        assert!(matches!(get(&Source::Metrics("x".to_owned())), Err(Error::NoQuantity { .. })));
        std::fs::write(&path, "step,loss,mean_q\n1,9,9\n").unwrap();
        assert_eq!(get(&loss).unwrap().values, [9.0]);
    }

    #[test]
    fn evaluations_are_means_that_grow() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, mut columns) = (Folder::open(dir.path()).unwrap(), Columns::default());
        let path = dir.path().join(EVALUATIONS);
        std::fs::write(&path, "step,episode,return,clipped_return,length\n10,0,1,1,1\n10,1,2,1,1\n").unwrap();
        let mut get = || columns.get("r", &folder, &Source::Evaluations).unwrap();
        assert_eq!((&get().steps[..], &get().values[..]), (&[10.0][..], &[1.5][..]));
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(b"10,2,6,1,1\n20,0,7,1,1\n").unwrap();
        assert_eq!((&get().steps[..], &get().values[..]), (&[10.0, 20.0][..], &[3.0, 7.0][..]));
    }
}

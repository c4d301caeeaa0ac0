//! The rows that a setting has logged, and the CSV file of the package that holds them.

use crate::{Error, Result};
use adfq_env::bsuite::Setting;
use adfq_files::{Folder, write_atomic};
use std::path::Path;

/// Rows of numbers under named columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    columns: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl Rows {
    /// Adds a row; all have the columns of the first.
    pub fn push(&mut self, row: impl IntoIterator<Item = (String, f64)>) -> Result<()> {
        let (columns, values): (Vec<String>, Vec<f64>) = row.into_iter().unzip();
        if self.rows.is_empty() {
            self.columns = columns;
        }
        if values.len() != self.columns.len() {
            return Err(adfq_report::Error::Row { expected: self.columns.len(), found: values.len() }.into());
        }
        self.rows.push(values);
        Ok(())
    }

    /// The numbers of a column, row by row.
    pub fn column(&self, name: &str) -> Result<Vec<f64>> {
        let missing = || Error::NoColumn { column: name.to_owned(), known: self.columns.join(", ") };
        let at = self.columns.iter().position(|column| column == name).ok_or_else(missing)?;
        Ok(self.rows.iter().map(|row| row[at]).collect())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// As CSV. Numbers read back to the same bits; whole ones are written as such, as the package does with its counts.
    pub fn csv(&self) -> String {
        let line = |row: &Vec<f64>| row.iter().map(|x| number(*x)).collect::<Vec<_>>().join(",") + "\n";
        self.columns.join(",") + "\n" + &self.rows.iter().map(line).collect::<String>()
    }

    /// From CSV; `path` is named in errors.
    fn parse(text: &str, path: &Path) -> Result<Self> {
        let mut lines = text.lines();
        let columns: Vec<String> = lines.next().unwrap_or_default().split(',').map(str::to_owned).collect();
        let mut rows = vec![];
        for (i, line) in lines.enumerate() {
            let row: Option<Vec<f64>> = line.split(',').map(|number| number.parse().ok()).collect();
            let wrong =
                |reason: &str| Error::Line { path: path.into(), line: i as u64 + 2, reason: reason.into() };
            let row = row.ok_or_else(|| wrong("it holds what is no number"))?;
            if row.len() != columns.len() {
                return Err(wrong("it has not one number for each column"));
            }
            rows.push(row);
        }
        Ok(Self { columns, rows })
    }
}

fn number(x: f64) -> String {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if x.fract() == 0.0 && x.abs() < EXACT { format!("{}", x as i64) } else { format!("{x:?}") }
}

/// The name of the file of a setting, by which the package's loader knows it.
pub fn file_name(setting: &Setting) -> String {
    format!("bsuite_id_-_{}-{}.csv", setting.experiment.name, setting.index)
}

/// Writes the rows of a setting, all at once: a file that is there is whole.
pub fn write(folder: &Path, setting: &Setting, rows: &Rows) -> Result<()> {
    Ok(write_atomic(folder.join(file_name(setting)), rows.csv().as_bytes())?)
}

/// The rows of a setting, if it is finished.
pub fn read(folder: &Path, setting: &Setting) -> Result<Option<Rows>> {
    let (name, folder) = (file_name(setting), Folder::open(folder)?);
    let bytes = match folder.read(&name) {
        Err(error) if error.is_not_found() => return Ok(None),
        bytes => bytes?,
    };
    let rows = Rows::parse(&String::from_utf8_lossy(&bytes), &folder.path().join(&name))?;
    Ok(Some(rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use adfq_env::bsuite::setting;

    #[test]
    fn rows_read_back_as_they_were() {
        let (folder, setting) = (tempfile::tempdir().unwrap(), setting("catch_noise/7").unwrap());
        assert_eq!(read(folder.path(), &setting).unwrap(), None);
        let mut rows = Rows::default();
        let row = |x: f64| [("episode".to_owned(), 1.0), ("total_regret".to_owned(), x)];
        for x in [0.1, -2.0, 1e-300, 1e300, f64::NAN] {
            rows.push(row(x)).unwrap();
        }
        write(folder.path(), &setting, &rows).unwrap();
        let path = folder.path().join("bsuite_id_-_catch_noise-7.csv");
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("episode,total_regret\n1,0.1\n1,-2\n1,1e-300\n1,1e300\n"), "{text}");
        let again = read(folder.path(), &setting).unwrap().unwrap();
        assert_eq!(again.csv(), rows.csv());
        assert!(rows.push([("episode".to_owned(), 1.0)]).is_err());

        std::fs::write(&path, "episode,total_regret\n1,2\n1,x\n").unwrap();
        let error = read(folder.path(), &setting).unwrap_err().to_string();
        assert!(error.ends_with("catch_noise-7.csv, line 3: it holds what is no number"), "{error}");
    }
}

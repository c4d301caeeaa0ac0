//! Tables as data: named columns and rows of cells, written as CSV.

use crate::{Error, Result};

/// One cell of a [`Table`].
///
/// ```
/// use adfq_report::table::Cell;
///
/// assert_eq!(Cell::from(0.1), Cell::Number(0.1));
/// assert_eq!(Cell::from("ADFQ"), Cell::Text("ADFQ".to_owned()));
/// assert_eq!(Cell::from(3_usize), Cell::Count(3));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing was measured.
    Empty,
    /// A whole number.
    Count(u64),
    /// A measured number.
    Number(f64),
    /// A name.
    Text(String),
}

impl From<f64> for Cell {
    fn from(x: f64) -> Self {
        Self::Number(x)
    }
}

impl From<usize> for Cell {
    fn from(n: usize) -> Self {
        Self::Count(n as u64)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(cell: Option<T>) -> Self {
        cell.map_or(Self::Empty, T::into)
    }
}

/// A table whose rows all have one cell per column.
///
/// ```
/// use adfq_report::table::Table;
///
/// let mut table = Table::new(["agent", "trial", "rmse"]);
/// table.push(["ADFQ".into(), 0_usize.into(), 0.1.into()])?;
/// table.push(["Q, ε-greedy".into(), 0_usize.into(), 1e-300.into()])?;
/// assert_eq!(table.csv(), "agent,trial,rmse\nADFQ,0,0.1\n\"Q, ε-greedy\",0,1e-300\n");
/// assert!(table.push([1.5.into()]).is_err());
/// # Ok::<(), adfq_report::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table with these columns and no rows yet.
    pub fn new<S: Into<String>>(columns: impl IntoIterator<Item = S>) -> Self {
        Self { columns: columns.into_iter().map(S::into).collect(), rows: Vec::new() }
    }

    /// A table of rows whose length is known to fit.
    pub(crate) fn of<const N: usize>(columns: [&str; N], rows: impl IntoIterator<Item = [Cell; N]>) -> Self {
        let rows = rows.into_iter().map(Vec::from).collect();
        Self { columns: columns.map(String::from).to_vec(), rows }
    }

    /// Adds a row, which must have one cell per column.
    pub fn push(&mut self, row: impl IntoIterator<Item = Cell>) -> Result<()> {
        let row: Vec<Cell> = row.into_iter().collect();
        if row.len() != self.columns.len() {
            return Err(Error::Row { expected: self.columns.len(), found: row.len() });
        }
        self.rows.push(row);
        Ok(())
    }

    /// The names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The rows, from top to bottom.
    pub fn rows(&self) -> &[Vec<Cell>] {
        &self.rows
    }

    /// The table as Markdown, with numbers to four digits.
    ///
    /// ```
    /// use adfq_report::table::Table;
    ///
    /// let mut table = Table::new(["agent", "rmse"]);
    /// table.push(["ADFQ".into(), 0.123456.into()])?;
    /// assert_eq!(table.markdown(), "| agent | rmse |\n|---|---:|\n| ADFQ | 0.1235 |\n");
    /// # Ok::<(), adfq_report::Error>(())
    /// ```
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let is_number = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.into_iter().any(|cell| matches!(cell, Cell::Count(_) | Cell::Number(_)))
        };
        let rule = (0..self.columns.len()).map(|column| if is_number(column) { "---:|" } else { "---|" });
        let rows = self.rows.iter().map(|row| line(row.iter().map(Cell::markdown).collect()));
        let head = line(self.columns.iter().map(|name| piped(name)).collect());
        format!("{head}|{}\n{}", rule.collect::<String>(), rows.collect::<String>())
    }

    /// The table as CSV (RFC 4180 quoting, lines end in `\n`). Numbers are written with the fewest digits that read
    /// back to the same bits; NaN, inf and -inf by these names.
    pub fn csv(&self) -> String {
        let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(vec![]);
        let rows = self.rows.iter().map(|row| row.iter().map(Cell::csv).collect());
        for record in [self.columns.clone()].into_iter().chain(rows) {
            // Writing to memory cannot fail.
            let _ = writer.write_record(&record);
        }
        String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
    }
}

impl Cell {
    fn markdown(&self) -> String {
        match self {
            Self::Empty => String::new(),
            Self::Count(n) => n.to_string(),
            Self::Number(x) => crate::text::short(*x),
            Self::Text(text) => piped(text),
        }
    }

    fn csv(&self) -> String {
        match self {
            Self::Empty => String::new(),
            Self::Count(n) => n.to_string(),
            // `{:?}` is the shortest notation that round-trips, with an exponent where `{}` would print zeros.
            Self::Number(x) => format!("{x:?}"),
            Self::Text(text) => text.clone(),
        }
    }
}

/// A text for a cell of Markdown, which a bar would end.
fn piped(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_is_quoted_where_it_must_be() {
        let mut table = Table::new(["a \"b\"", "c"]);
        table.push(["x\ny".into(), Cell::Empty]).unwrap();
        table.push([f64::NAN.into(), f64::NEG_INFINITY.into()]).unwrap();
        assert_eq!(table.csv(), "\"a \"\"b\"\"\",c\n\"x\ny\",\nNaN,-inf\n");
    }

    proptest! {
        #[test]
        fn numbers_read_back_to_the_same_bits(x in proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL | proptest::num::f64::ZERO) {
            prop_assert_eq!(Cell::from(x).csv().parse::<f64>().unwrap().to_bits(), x.to_bits());
        }
    }
}

//! Rows of cells, padded so that columns line up.

/// Lines from a header and rows of the same length. The first column is flush left, the others flush right.
pub(super) fn align(header: Vec<String>, rows: Vec<Vec<String>>) -> String {
    let width = |row: &Vec<String>, column: usize| row.get(column).map_or(0, |cell| cell.chars().count());
    let widths: Vec<usize> = (0..header.len())
        .map(|column| rows.iter().chain([&header]).map(|row| width(row, column)).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in [&header].into_iter().chain(&rows) {
        let mut line = String::new();
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            match column {
                0 => line += &format!("{cell:<width$}"),
                _ => line += &format!("  {cell:>width$}"),
            }
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_by_character() {
        let row = |cells: &[&str]| cells.iter().map(|cell| cell.to_string()).collect::<Vec<_>>();
        let text = align(row(&["state", "a"]), vec![row(&["0", "1 ± 2"]), row(&["längere", "3"])]);
        assert_eq!(text, "state        a\n0        1 ± 2\nlängere      3\n");
    }
}

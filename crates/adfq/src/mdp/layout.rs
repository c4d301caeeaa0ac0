//! The map of a grid world, for people to look at. Nothing here takes part in learning or solving.

/// A map drawn with one character a cell, and where on it each state is.
///
/// ```
/// let maze = adfq::mdp::named("minimaze")?;
/// let layout = maze.layout().unwrap();
/// let (start, _) = maze.starts()[0];
/// assert_eq!(layout.picture(start), "@WFWG\nOOOOO\nWOOOW\nFOWFW\n");
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    rows: Vec<String>,
    cells: Vec<Option<(usize, usize)>>,
}

impl Layout {
    /// A map from its rows and, for each state, its row and column; `None` for a state that is nowhere on it.
    pub fn new(rows: Vec<String>, cells: Vec<Option<(usize, usize)>>) -> Self {
        Self { rows, cells }
    }

    /// The row and the column of a state, if it has a place on the map.
    pub fn cell(&self, state: usize) -> Option<(usize, usize)> {
        self.cells.get(state).copied().flatten()
    }

    /// The map with an `@` where the agent is.
    pub fn picture(&self, state: usize) -> String {
        let agent = self.cell(state);
        let mut picture = String::new();
        for (row, line) in self.rows.iter().enumerate() {
            picture.extend(
                line.chars().enumerate().map(|(col, c)| if agent == Some((row, col)) { '@' } else { c }),
            );
            picture.push('\n');
        }
        picture
    }
}

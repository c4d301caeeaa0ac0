//! Grid worlds drawn in characters: collect the flags, then leave through the goal.

use super::{Layout, Mdp, MdpBuilder, MdpError, Outcome};
use crate::Result;

/// More flags than this make more states than anyone wants.
const MOST_FLAGS: usize = 10;

/// Up, right, down, left: the next one is a turn to the right.
const MOVES: [(isize, isize); 4] = [(-1, 0), (0, 1), (1, 0), (0, -1)];
const MOVE_NAMES: [&str; 4] = ["up", "right", "down", "left"];

/// A map of walls `W`, open cells `O`, flags `F`, goals `G` and one start `S`.
///
/// A state is a cell and the set of flags collected so far: `set · cells + cell`, with cells and flags counted in
/// reading order. Entering a flag's cell collects it; entering a goal ends the episode and pays the number of flags.
/// A move against a wall or the border stays where it is.
///
/// ```
/// use adfq::mdp::{Grid, policy_iteration};
///
/// let mdp = Grid::parse(&["SOG", "OWW", "FWW"])?.mdp("detour", 0.0, 0.9)?;
/// assert_eq!(mdp.states(), 5 * 2);
/// // Two steps down to the flag, two back, two to the goal, which pays 1 with the sixth.
/// assert!((policy_iteration(&mdp)?.value[0] - 0.9f64.powi(5)).abs() < 1e-15);
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    rows: Vec<String>,
    /// Row, column and character of each cell that is no wall.
    cells: Vec<(usize, usize, char)>,
    start: usize,
}

impl Grid {
    /// Reads a map, one string a row.
    pub fn parse(rows: &[&str]) -> Result<Self> {
        let wrong = |problem: String| Err(MdpError::Grid(problem).into());
        let mut cells = Vec::new();
        for (row, line) in rows.iter().enumerate() {
            if line.chars().count() != rows[0].chars().count() {
                return wrong(format!("row {row} is not as long as row 0; draw missing cells as W"));
            }
            for (column, character) in line.chars().enumerate() {
                match character {
                    'W' => {}
                    'S' | 'O' | 'F' | 'G' => cells.push((row, column, character)),
                    _ => {
                        return wrong(format!(
                            "row {row}, column {column} is {character:?}, not one of S O F G W"
                        ));
                    }
                }
            }
        }
        let count = |kind| cells.iter().filter(|&&(_, _, c)| c == kind).count();
        let Some(start) = cells.iter().position(|&(_, _, c)| c == 'S').filter(|_| count('S') == 1) else {
            return wrong(format!("it has {} starts S and needs exactly one", count('S')));
        };
        if count('F') > MOST_FLAGS {
            return wrong(format!(
                "it has {} flags F, and each doubles the states: use at most {MOST_FLAGS}",
                count('F')
            ));
        }
        Ok(Self { rows: rows.iter().map(|row| row.to_string()).collect(), cells, start })
    }

    /// The MDP on this map. With probability `slip` a move turns to the right: up becomes right, right down, and so on.
    pub fn mdp(&self, name: &str, slip: f64, gamma: f64) -> Result<Mdp> {
        let sets = 1 << self.flags();
        let states = || (0..sets).flat_map(|set| (0..self.cells.len()).map(move |cell| (set, cell)));
        let position = |(_, cell): (usize, usize)| Some((self.cells[cell].0, self.cells[cell].1));
        let mut mdp = MdpBuilder::new(name, sets * self.cells.len(), MOVES.len(), gamma)
            .start(self.start)
            .state_labels(states().map(|(set, cell)| self.label(set, cell)))
            .action_labels(MOVE_NAMES)
            .layout(Layout::new(self.rows.clone(), states().map(position).collect()));
        for (set, cell) in states().filter(|&(_, cell)| self.cells[cell].2 != 'G') {
            for action in 0..MOVES.len() {
                for (probability, direction) in slipping("grid", slip, action, (action + 1) % MOVES.len())? {
                    let arrival = self.arrive(set, self.neighbour(cell, MOVES[direction]));
                    mdp.add(set * self.cells.len() + cell, action, Outcome { probability, ..arrival });
                }
            }
        }
        mdp.build()
    }

    fn flags(&self) -> usize {
        self.cells.iter().filter(|&&(_, _, c)| c == 'F').count()
    }

    /// The cell one move away, or the same where a wall is in the way.
    fn neighbour(&self, cell: usize, (down, right): (isize, isize)) -> usize {
        let (row, column, _) = self.cells[cell];
        let (row, column) = (row.checked_add_signed(down), column.checked_add_signed(right));
        let there = self.cells.iter().position(|&(r, c, _)| (Some(r), Some(c)) == (row, column));
        there.unwrap_or(cell)
    }

    /// What happens on entering a cell with a set of flags.
    fn arrive(&self, set: usize, cell: usize) -> Outcome {
        let next = |set| set * self.cells.len() + cell;
        match self.cells[cell].2 {
            'G' => Outcome::ends(1.0, next(set), f64::from(set.count_ones())),
            'F' => {
                let flag = self.cells[..cell].iter().filter(|&&(_, _, c)| c == 'F').count();
                Outcome::goes(1.0, next(set | 1 << flag), 0.0)
            }
            _ => Outcome::goes(1.0, next(set), 0.0),
        }
    }

    /// A state as "r2c3" or, with the first and the third flag, "r2c3+AC".
    fn label(&self, set: usize, cell: usize) -> String {
        let (row, column, _) = self.cells[cell];
        let flags: String = ('A'..)
            .take(self.flags())
            .enumerate()
            .filter(|(i, _)| set >> i & 1 == 1)
            .map(|(_, c)| c)
            .collect();
        let plus = if flags.is_empty() { "" } else { "+" };
        format!("r{row}c{column}{plus}{flags}")
    }
}

/// Actions that do not always do what they should, the one kind of noise in Loop, Chain and the mazes: what is performed,
/// and with which probability, when one means to do `intended` and may slip to `other`.
pub(super) fn slipping<T>(
    domain: &'static str,
    slip: f64,
    intended: T,
    other: T,
) -> Result<impl Iterator<Item = (f64, T)>, MdpError> {
    if !(0.0..=1.0).contains(&slip) {
        return Err(MdpError::Parameter { domain, parameter: "slip", range: "from 0 to 1", value: slip });
    }
    Ok([(1.0 - slip, intended), (slip, other)].into_iter().filter(|&(probability, _)| probability > 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_is_wrong_with_a_map() {
        let error = |rows: &[&str]| Grid::parse(rows).unwrap_err().to_string();
        assert_eq!(
            error(&["SO", "G"]),
            "the grid cannot be read: row 1 is not as long as row 0; draw missing cells as W"
        );
        assert_eq!(error(&["Sx"]), "the grid cannot be read: row 0, column 1 is 'x', not one of S O F G W");
        assert_eq!(error(&[]), "the grid cannot be read: it has 0 starts S and needs exactly one");
        assert_eq!(error(&["SSG"]), "the grid cannot be read: it has 2 starts S and needs exactly one");
        assert!(error(&["SFFFFFFFFFFFG"]).contains("it has 11 flags F"));
    }

    /// On "SF" over "OG", worked by hand.
    #[test]
    fn moves_slips_flags_and_goal() {
        let mdp = Grid::parse(&["SF", "OG"]).unwrap().mdp("tiny", 0.25, 0.9).unwrap();
        let [up, right, down, left] = [0, 1, 2, 3];
        let (start, flag, flag_taken) = (0, 1, 4 + 1);
        assert_eq!(
            mdp.outcomes(start, up),
            [Outcome::goes(0.75, start, 0.0), Outcome::goes(0.25, flag_taken, 0.0)]
        );
        assert_eq!(
            mdp.outcomes(start, right),
            [Outcome::goes(0.75, flag_taken, 0.0), Outcome::goes(0.25, 2, 0.0)]
        );
        // Left slips to up: against the border twice, merged.
        assert_eq!(mdp.outcomes(start, left), [Outcome::goes(1.0, start, 0.0)]);
        assert_eq!(
            mdp.outcomes(flag_taken, down),
            [Outcome::ends(0.75, 7, 1.0), Outcome::goes(0.25, 4, 0.0)]
        );
        assert_eq!(mdp.outcomes(2, right), [Outcome::ends(0.75, 3, 0.0), Outcome::goes(0.25, 2, 0.0)]);
        assert_eq!((mdp.state_label(0), mdp.state_label(flag_taken)), ("r0c0".into(), "r0c1+A".into()));
        let reachable: Vec<usize> = (0..8).filter(|&s| mdp.reachable()[s]).collect();
        assert_eq!(
            reachable,
            [start, 2, 4, flag_taken, 6],
            "nobody is on {flag} without the flag, nor beyond the goal"
        );
    }
}

//! Maze (Dearden, Friedman and Russell 1998; paper App. E) and the smaller MiniMaze, as maps for [`Grid`].

use super::{Grid, Mdp};
use crate::Result;

const MAZE: [&str; 6] = ["SWFOWOG", "OWOOWOO", "OOOOOOO", "WWOOOWW", "OOOOOOF", "FOOOOOW"];
const MINIMAZE: [&str; 4] = ["SWFWG", "OOOOO", "WOOOW", "FOWFW"];

/// Maze: three flags, 33 cells × 8 sets of flags = 264 states, four moves, γ = .95, episodic.
///
/// With probability `slip` a move turns to the right (.1 in the paper's stochastic version).
///
/// ```
/// let maze = adfq::mdp::maze(0.0)?;
/// assert_eq!((maze.states(), maze.actions(), maze.is_continuing()), (264, 4, false));
/// # Ok::<(), adfq::Error>(())
/// ```
pub fn maze(slip: f64) -> Result<Mdp> {
    build("maze", &MAZE, slip)
}

/// MiniMaze: three flags, 14 cells × 8 sets of flags = 112 states, four moves, γ = .95, episodic.
///
/// ```
/// assert_eq!(adfq::mdp::minimaze(0.1)?.states(), 112);
/// # Ok::<(), adfq::Error>(())
/// ```
pub fn minimaze(slip: f64) -> Result<Mdp> {
    build("minimaze", &MINIMAZE, slip)
}

fn build(name: &str, rows: &[&str], slip: f64) -> Result<Mdp> {
    let suffix = if slip == 0.0 { "" } else { "-stochastic" };
    Grid::parse(rows)?.mdp(&format!("{name}{suffix}"), slip, 0.95)
}

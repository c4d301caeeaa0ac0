//! CliffWalking (Sutton and Barto 2018, example 6.6), as in Gymnasium's table.

use super::{Mdp, MdpBuilder, Outcome};
use crate::Result;

const ROWS: usize = 4;
const COLUMNS: usize = 12;
const START: usize = (ROWS - 1) * COLUMNS;
const GOAL: usize = ROWS * COLUMNS - 1;

/// CliffWalking: 4 × 12 cells, four moves, episodic.
///
/// Every step costs 1. The start is the lower left cell and the goal, which ends the episode, the lower right one. Between
/// them is a cliff: who steps there pays 100 and is back at the start, and the episode goes on. States and actions (up,
/// right, down, left) have Gymnasium's numbers (CliffWalking-v1, not slippery), whose table has no discount: γ is .95 here.
///
/// ```
/// use adfq::mdp::{cliff_walking, policy_iteration};
///
/// // Thirteen steps along the edge.
/// let best = policy_iteration(&cliff_walking()?.with_gamma(1.0)?)?;
/// assert!((best.value[36] + 13.0).abs() < 1e-9);
/// # Ok::<(), adfq::Error>(())
/// ```
pub fn cliff_walking() -> Result<Mdp> {
    let mut mdp = MdpBuilder::new("cliffwalking", ROWS * COLUMNS, 4, 0.95)
        .start(START)
        .action_labels(["up", "right", "down", "left"]);
    for state in 0..ROWS * COLUMNS {
        for action in 0..4 {
            mdp.add(state, action, outcome(state, action));
        }
    }
    mdp.build()
}

fn outcome(state: usize, action: usize) -> Outcome {
    let (row, column) = (state / COLUMNS, state % COLUMNS);
    let (row, column) = match action {
        0 => (row.saturating_sub(1), column),
        1 => (row, (column + 1).min(COLUMNS - 1)),
        2 => ((row + 1).min(ROWS - 1), column),
        _ => (row, column.saturating_sub(1)),
    };
    match row * COLUMNS + column {
        GOAL => Outcome::ends(1.0, GOAL, -1.0),
        next if next > START => Outcome::goes(1.0, START, -100.0),
        next => Outcome::goes(1.0, next, -1.0),
    }
}

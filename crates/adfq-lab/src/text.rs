//! Results as text for a terminal: aligned tables, and maps with arrows for grid worlds. Nothing is computed here.

pub(crate) mod grid;
mod learned;
mod solved;

pub use grid::{Mark, arrows};
pub use learned::learned;
pub use solved::solved;

/// How many states a table shows unless all are asked for.
pub const MOST_STATES: usize = 40;

/// How many maps are drawn unless all are asked for.
const MOST_MAPS: usize = 16;

/// The line that says that a table is not whole.
fn more(left_out: usize) -> String {
    match left_out {
        0 => String::new(),
        n => format!("({n} more states are not shown)\n"),
    }
}

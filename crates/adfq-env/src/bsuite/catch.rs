//! Catch: a ball falls down ten rows, and a paddle in the last one has to be below it.

use super::{Chance, Info, Problem, flags, names};
use crate::Space;
use serde::{Deserialize, Serialize};

const ROWS: usize = 10;
const COLUMNS: usize = 5;

/// Catch. Cells with the ball or the paddle are 1. The episode ends with 1 or -1 when the ball is down.
#[derive(Clone, Debug)]
pub struct Catch;

/// Where the ball and the paddle are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CatchState {
    /// Row and column.
    ball: [usize; 2],
    /// The column.
    paddle: usize,
    regret: f64,
}

impl Default for CatchState {
    fn default() -> Self {
        Self { ball: [0, COLUMNS / 2], paddle: COLUMNS / 2, regret: 0.0 }
    }
}

impl Problem for Catch {
    type State = CatchState;

    fn space(&self) -> Space {
        flags(ROWS, COLUMNS, 3)
    }

    fn action_names(&self) -> Vec<String> {
        names(["left", "stay", "right"])
    }

    fn start(&self, state: &mut CatchState, chance: &mut dyn Chance) {
        state.ball = [0, chance.below(COLUMNS as u32) as usize];
        state.paddle = COLUMNS / 2;
    }

    fn act(&self, state: &mut CatchState, action: usize, _chance: &mut dyn Chance) -> (f64, bool) {
        state.paddle = (state.paddle + action).saturating_sub(1).min(COLUMNS - 1);
        state.ball[0] += 1;
        if state.ball[0] < ROWS - 1 {
            return (0.0, false);
        }
        let reward = if state.paddle == state.ball[1] { 1.0 } else { -1.0 };
        state.regret += 1.0 - reward;
        (reward, true)
    }

    fn observe(&self, state: &CatchState, numbers: &mut [f32]) {
        numbers.fill(0.0);
        for [row, column] in [state.ball, [ROWS - 1, state.paddle]] {
            numbers[row * COLUMNS + column] = 1.0;
        }
    }

    fn info(&self, state: &CatchState) -> Info {
        vec![("total_regret", state.regret)]
    }

    fn holds(&self, state: &CatchState, running: bool) -> bool {
        let [row, column] = state.ball;
        column.max(state.paddle) < COLUMNS && row < ROWS - usize::from(running)
    }
}

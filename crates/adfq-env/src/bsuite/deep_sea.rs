//! DeepSea: N rows down, one step to the left or the right in each, and a treasure at the end of a single path. Which of the two
//! actions is right is drawn for each cell.
//!
//! [`MdpEnv::deep_sea`](crate::MdpEnv::deep_sea) steps an exact finite model of it. Such a model has no normal rewards, and it counts
//! no bad episodes; hence this one.

use super::numpy::RandomState;
use super::{Chance, Info, Problem, flags, names};
use crate::Space;
use serde::{Deserialize, Serialize};

/// What the way to the treasure costs in all.
const MOVE_COST: f64 = 0.01;

/// DeepSea. The cell of the diver is 1; after the last step all are 0.
#[derive(Clone, Debug)]
pub struct DeepSea {
    size: usize,
    stochastic: bool,
    /// For each cell the action that goes right.
    right: Vec<bool>,
}

/// Where the diver is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeepSeaState {
    row: usize,
    column: usize,
    /// The only way to the treasure was left.
    bad: bool,
    bad_episodes: u64,
    treasures: f64,
}

impl DeepSea {
    /// A sea of `size` rows with the actions of this seed. In a stochastic one a step to the right fails with probability 1/N, and the
    /// two corners of the last row pay normal noise.
    pub fn new(size: usize, mapping_seed: u32, stochastic: bool) -> Self {
        let mut random = RandomState::new(mapping_seed);
        Self { size, stochastic, right: (0..size * size).map(|_| random.flip()).collect() }
    }
}

impl Problem for DeepSea {
    type State = DeepSeaState;

    fn space(&self) -> Space {
        flags(self.size, self.size, 2)
    }

    fn action_names(&self) -> Vec<String> {
        names(["0", "1"])
    }

    fn start(&self, state: &mut DeepSeaState, _chance: &mut dyn Chance) {
        (state.row, state.column, state.bad) = (0, 0, false);
    }

    fn act(&self, state: &mut DeepSeaState, action: usize, chance: &mut dyn Chance) -> (f64, bool) {
        let DeepSeaState { row, column, .. } = *state;
        let (size, last) = (self.size as f64, self.size - 1);
        let is_right = (action == 1) == self.right[row * self.size + column];
        let mut reward = 0.0;
        if is_right && column == last {
            reward += 1.0;
            state.treasures += 1.0;
        }
        if self.stochastic && row == last && (column == 0 || column == last) {
            reward += chance.normal();
        }
        if is_right {
            if !self.stochastic || chance.unit() > 1.0 / size {
                state.column = (column + 1).min(last);
            }
            reward -= MOVE_COST / size;
        } else {
            state.bad |= row == column;
            state.column = column.saturating_sub(1);
        }
        state.row += 1;
        let is_over = state.row == self.size;
        state.bad_episodes += u64::from(is_over && state.bad);
        (reward, is_over)
    }

    fn observe(&self, state: &DeepSeaState, numbers: &mut [f32]) {
        numbers.fill(0.0);
        if state.row < self.size {
            numbers[state.row * self.size + state.column] = 1.0;
        }
    }

    fn info(&self, state: &DeepSeaState) -> Info {
        vec![("total_bad_episodes", state.bad_episodes as f64), ("denoised_return", state.treasures)]
    }

    fn holds(&self, state: &DeepSeaState, running: bool) -> bool {
        state.column < self.size && state.row <= self.size - usize::from(running)
    }
}

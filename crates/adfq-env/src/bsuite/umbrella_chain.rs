//! It will rain at the end of the chain, or not: only the first action, to take an umbrella, matters. Rewards on the way and
//! distracting bits in each frame are noise.

use super::{Chance, Info, Problem, names};
use crate::Space;
use serde::{Deserialize, Serialize};

/// The umbrella. A frame is (rain, umbrella, the time left from 1 to 0, the distracting bits). The last step is worth 1 or -1.
#[derive(Clone, Debug)]
pub struct UmbrellaChain {
    length: u32,
    distractors: usize,
}

/// Whether it will rain, and how far the episode is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UmbrellaChainState {
    rain: bool,
    umbrella: bool,
    /// The steps taken.
    time: u32,
    distractors: Vec<bool>,
    regret: f64,
}

impl UmbrellaChain {
    /// A chain of `length` steps, at least one, with so many distracting bits.
    pub fn new(length: u32, distractors: usize) -> Self {
        Self { length, distractors }
    }

    fn distract(&self, state: &mut UmbrellaChainState, chance: &mut dyn Chance) {
        state.distractors.clear();
        state.distractors.extend((0..self.distractors).map(|_| chance.flip()));
    }
}

impl Problem for UmbrellaChain {
    type State = UmbrellaChainState;

    fn space(&self) -> Space {
        Space::flat(3 + self.distractors, 2)
    }

    fn action_names(&self) -> Vec<String> {
        names(["leave", "take"])
    }

    fn start(&self, state: &mut UmbrellaChainState, chance: &mut dyn Chance) {
        state.time = 0;
        state.rain = chance.flip();
        state.umbrella = chance.flip();
        self.distract(state, chance);
    }

    fn act(&self, state: &mut UmbrellaChainState, action: usize, chance: &mut dyn Chance) -> (f64, bool) {
        state.time += 1;
        if state.time == 1 {
            state.umbrella = action == 1;
        }
        let is_over = state.time == self.length;
        let is_good = if is_over { state.umbrella == state.rain } else { chance.flip() };
        if is_over && !is_good {
            state.regret += 2.0;
        }
        self.distract(state, chance);
        (if is_good { 1.0 } else { -1.0 }, is_over)
    }

    fn observe(&self, state: &UmbrellaChainState, numbers: &mut [f32]) {
        let left = 1.0 - f64::from(state.time) / f64::from(self.length);
        let known = [f32::from(state.rain), f32::from(state.umbrella), left as f32];
        let bits = state.distractors.iter().map(|&bit| f32::from(bit));
        numbers.iter_mut().zip(known.into_iter().chain(bits)).for_each(|(number, shown)| *number = shown);
    }

    fn info(&self, state: &UmbrellaChainState) -> Info {
        vec![("total_regret", state.regret)]
    }

    fn holds(&self, state: &UmbrellaChainState, running: bool) -> bool {
        let drawn = state.distractors.len() == self.distractors;
        // Before the first episode there are no distractors.
        (drawn || !running && state.distractors.is_empty()) && state.time <= self.length - u32::from(running)
    }
}

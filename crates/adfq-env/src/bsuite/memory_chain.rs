//! Bits are shown in the first step, and one of them is asked for in the last.

use super::{Chance, Info, Problem, names};
use crate::Space;
use serde::{Deserialize, Serialize};

/// A memory of some bits over some steps. A frame is (the time left from 1 to 0, which bit is asked for, the bits). The bits are -1 or 1
/// in the first frames and 0 later, and the question is shown before the last step. The answer is worth 1 or -1.
#[derive(Clone, Debug)]
pub struct MemoryChain {
    length: u32,
    bits: usize,
}

/// What was shown and what will be asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MemoryChainState {
    bits: Vec<bool>,
    question: usize,
    /// The steps taken.
    time: u32,
    perfect: u64,
    regret: f64,
}

impl MemoryChain {
    /// `bits` bits to remember over `length` steps, at least one of each.
    pub fn new(length: u32, bits: usize) -> Self {
        Self { length, bits }
    }
}

impl Problem for MemoryChain {
    type State = MemoryChainState;

    fn space(&self) -> Space {
        Space::flat(self.bits + 2, 2)
    }

    fn action_names(&self) -> Vec<String> {
        names(["0", "1"])
    }

    fn start(&self, state: &mut MemoryChainState, chance: &mut dyn Chance) {
        state.bits.clear();
        state.bits.extend((0..self.bits).map(|_| chance.flip()));
        state.question = chance.below(self.bits as u32) as usize;
        state.time = 0;
    }

    fn act(&self, state: &mut MemoryChainState, action: usize, _chance: &mut dyn Chance) -> (f64, bool) {
        state.time += 1;
        if state.time <= self.length {
            return (0.0, false);
        }
        if (action == 1) == state.bits[state.question] {
            state.perfect += 1;
            return (1.0, true);
        }
        state.regret += 2.0;
        (-1.0, true)
    }

    /// As in the package, the frame after a step shows the time before it: the first step sees the bits once more.
    fn observe(&self, state: &MemoryChainState, numbers: &mut [f32]) {
        let time = state.time.saturating_sub(1);
        numbers.fill(0.0);
        numbers[0] = (1.0 - f64::from(time) / f64::from(self.length)) as f32;
        if time == self.length - 1 {
            numbers[1] = state.question as f32;
        }
        if time == 0 {
            let shown = state.bits.iter().map(|&bit| if bit { 1.0 } else { -1.0 });
            numbers[2..].iter_mut().zip(shown).for_each(|(number, bit)| *number = bit);
        }
    }

    fn info(&self, state: &MemoryChainState) -> Info {
        vec![("total_perfect", state.perfect as f64), ("total_regret", state.regret)]
    }

    fn holds(&self, state: &MemoryChainState, running: bool) -> bool {
        let shown = state.bits.len() == self.bits && state.question < self.bits;
        // Before the first episode there are no bits.
        (shown || !running && state.bits.is_empty()) && state.time <= self.length + u32::from(!running)
    }
}

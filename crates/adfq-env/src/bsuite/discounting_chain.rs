//! The first action chooses one of five chains, which pay once, after 1, 3, 10, 30 or 100 steps. One of them pays a tenth more.

use super::{Chance, Info, Problem};
use crate::Space;
use serde::{Deserialize, Serialize};

/// After how many steps each chain pays.
const PAYS_AT: [u32; 5] = [1, 3, 10, 30, 100];
/// Steps of an episode.
const LENGTH: u32 = 100;

/// The chains. A frame is (the chain, or -1 before the first action; the time from 0 to 1).
#[derive(Clone, Debug)]
pub struct DiscountingChain {
    /// The chain that pays more.
    bonus: usize,
}

/// How far the episode is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DiscountingChainState {
    chain: Option<u8>,
    time: u32,
}

impl DiscountingChain {
    /// The chain that pays more is this number, or the rest of it by five.
    pub fn new(mapping_seed: u32) -> Self {
        Self { bonus: mapping_seed as usize % PAYS_AT.len() }
    }
}

impl Problem for DiscountingChain {
    type State = DiscountingChainState;

    fn space(&self) -> Space {
        Space::flat(2, PAYS_AT.len())
    }

    fn action_names(&self) -> Vec<String> {
        PAYS_AT.iter().map(|steps| format!("after {steps}")).collect()
    }

    fn start(&self, state: &mut DiscountingChainState, _chance: &mut dyn Chance) {
        *state = DiscountingChainState::default();
    }

    fn act(&self, state: &mut DiscountingChainState, action: usize, _chance: &mut dyn Chance) -> (f64, bool) {
        let chain = usize::from(*state.chain.get_or_insert(action as u8));
        state.time += 1;
        let pay = if chain == self.bonus { 1.1 } else { 1.0 };
        let reward = if state.time == PAYS_AT[chain] { pay } else { 0.0 };
        (reward, state.time == LENGTH)
    }

    fn observe(&self, state: &DiscountingChainState, numbers: &mut [f32]) {
        numbers[0] = state.chain.map_or(-1.0, f32::from);
        numbers[1] = (f64::from(state.time) / f64::from(LENGTH)) as f32;
    }

    fn info(&self, _state: &DiscountingChainState) -> Info {
        Vec::new()
    }

    fn holds(&self, state: &DiscountingChainState, running: bool) -> bool {
        let chain = state.chain.is_none_or(|chain| usize::from(chain) < PAYS_AT.len());
        chain && state.time <= LENGTH - u32::from(running)
    }
}

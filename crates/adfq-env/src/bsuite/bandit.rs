//! A bandit of eleven arms that pay 0, 0.1, … 1, in an order that the setting fixes. There is nothing to see.

use super::numpy::RandomState;
use super::{Chance, Info, Problem};
use crate::Space;
use serde::{Deserialize, Serialize};

const ARMS: u32 = 11;

/// A bandit. An episode is one pull of an arm.
#[derive(Clone, Debug)]
pub struct Bandit {
    rewards: Vec<f64>,
}

/// What the arms that were pulled did not pay.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BanditState {
    regret: f64,
}

impl Bandit {
    /// The bandit whose arms are in the order of this seed.
    pub fn new(mapping_seed: u32) -> Self {
        let order = RandomState::new(mapping_seed).permutation(ARMS);
        Self { rewards: order.into_iter().map(|tenths| f64::from(tenths) * 0.1).collect() }
    }
}

impl Problem for Bandit {
    type State = BanditState;

    fn space(&self) -> Space {
        Space::flat(1, self.rewards.len())
    }

    fn action_names(&self) -> Vec<String> {
        (0..self.rewards.len()).map(|arm| format!("arm {arm}")).collect()
    }

    fn start(&self, _state: &mut BanditState, _chance: &mut dyn Chance) {}

    fn act(&self, state: &mut BanditState, action: usize, _chance: &mut dyn Chance) -> (f64, bool) {
        let reward = self.rewards[action];
        state.regret += 1.0 - reward;
        (reward, true)
    }

    fn observe(&self, _state: &BanditState, numbers: &mut [f32]) {
        numbers.fill(1.0);
    }

    fn info(&self, state: &BanditState) -> Info {
        vec![("total_regret", state.regret)]
    }
}

//! MountainCar of bsuite: the hill and the car of [`MountainCar`](crate::MountainCar), with the time in the frame and an end after 1,000 steps.

use super::{Chance, Info, Problem, names};
use crate::classic::{MountainCarSystem, System};
use crate::{Picture, Space};
use serde::{Deserialize, Serialize};

/// Steps of the longest episode.
const LONGEST: u32 = 1000;

/// The car. A frame is (position, velocity, time from 0 to 1). Each step costs 1.
#[derive(Clone, Debug)]
pub struct MountainCar;

/// Where the car is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MountainCarState {
    /// Position and velocity.
    car: [f64; 2],
    /// The steps taken.
    time: u32,
    returned: f64,
}

impl Default for MountainCarState {
    fn default() -> Self {
        Self { car: MountainCarSystem::REST, time: 0, returned: 0.0 }
    }
}

impl Problem for MountainCar {
    type State = MountainCarState;

    fn space(&self) -> Space {
        Space::flat(3, 3)
    }

    fn action_names(&self) -> Vec<String> {
        names(["left", "stay", "right"])
    }

    fn start(&self, state: &mut MountainCarState, chance: &mut dyn Chance) {
        state.car = MountainCarSystem::start(|low, high| low + (high - low) * chance.unit());
        state.time = 0;
    }

    fn act(&self, state: &mut MountainCarState, action: usize, _chance: &mut dyn Chance) -> (f64, bool) {
        // The two packages agree in all that can happen: a car at the flag never rolls back.
        let (car, reward, is_at_flag) = MountainCarSystem::advance(state.car, action);
        state.car = car;
        state.time += 1;
        state.returned += reward;
        (reward, is_at_flag || state.time == LONGEST)
    }

    fn observe(&self, state: &MountainCarState, numbers: &mut [f32]) {
        let [position, velocity] = state.car;
        let shown = [position, velocity, f64::from(state.time) / f64::from(LONGEST)];
        numbers.iter_mut().zip(shown).for_each(|(number, shown)| *number = shown as f32);
    }

    fn info(&self, state: &MountainCarState) -> Info {
        vec![("raw_return", state.returned)]
    }

    fn holds(&self, state: &MountainCarState, running: bool) -> bool {
        let mut bounds = state.car.iter().zip(MountainCarSystem::BOUNDS);
        bounds.all(|(number, (_, [low, high], _))| (low..=high).contains(&number))
            && state.time <= LONGEST - u32::from(running)
    }

    fn draw(&self, state: &MountainCarState) -> Option<Picture> {
        Some(MountainCarSystem::draw(state.car))
    }
}

//! Classic control: CartPole, Acrobot and MountainCar with the dynamics of Gymnasium 1.4, tested against its steps.
//!
//! The state is kept in f64 and every sum and product taken in Gymnasium's order; frames are its observations, f32.
//! Sine and cosine come from `libm`, so that a run is the same bits on every machine; numpy's may differ from them in
//! the last bit. As there, an environment by itself has no time limit: a [`TimeLimit`](crate::TimeLimit) or
//! [`make`](crate::make) adds it.

mod acrobot;
mod cart_pole;
mod mountain_car;

pub use acrobot::Acrobot;
pub use cart_pole::CartPole;
pub use mountain_car::MountainCar;

use crate::{Element, Error, Result, Space};

/// The space of an environment with these numbers of f32 and of actions.
fn space(numbers: usize, actions: usize) -> Space {
    Space { frame: vec![numbers], element: Element::F32, stack: 1, actions }
}

/// Refuses a number of the state that lies outside its range.
fn check_within(
    env: &'static str,
    quantity: &'static str,
    value: f64,
    (low, high): (f64, f64),
    range: &'static str,
) -> Result<()> {
    // The comparisons are false for NaN.
    if value >= low && value <= high { Ok(()) } else { Err(Error::Physics { env, quantity, value, range }) }
}

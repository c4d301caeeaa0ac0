//! The cart with a pole of bsuite, in steps of 10 ms and with a third action that does nothing: to balance the pole ([`Cartpole`]), or
//! to swing it up first ([`CartpoleSwingup`]). Both share the equations of motion and the end after ten seconds, which an agent sees coming.

use super::{Chance, Info, Problem, names};
use crate::classic::{CartPoleSystem, System};
use crate::{Picture, Space};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

const GRAVITY: f64 = 9.8;
const POLE_MASS: f64 = 0.1;
const TOTAL_MASS: f64 = 1.0 + POLE_MASS;
/// Half the pole's length.
const LENGTH: f64 = 0.5;
const POLE_MASS_LENGTH: f64 = POLE_MASS * LENGTH;
const FORCE: f64 = 10.0;
/// Seconds of a step.
const TAU: f64 = 0.01;
/// Seconds of an episode.
const LONGEST: f64 = 10.0;
/// How far the cart may go.
const X_LIMIT: f64 = 3.0;
/// Every number of a first state is within this of where it should be.
const START: f64 = 0.05;
/// The pole is balanced as long as the cosine of its angle is above this.
const BALANCED: f64 = 0.8;
/// A pole that turns faster is not upright, even at the top.
const THETA_DOT_LIMIT: f64 = 1.0;
/// What a push costs in swinging up.
const MOVE_COST: f64 = 0.1;

/// The cart, the pole and the time since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Cart {
    x: f64,
    x_dot: f64,
    theta: f64,
    theta_dot: f64,
    time: f64,
}

impl Cart {
    /// At rest but for a little, with the pole at this angle.
    fn start(theta: f64, chance: &mut dyn Chance) -> Self {
        let mut little = || -START + 2.0 * START * chance.unit();
        let (x, x_dot) = (little(), little());
        let theta = theta + little();
        Self { x, x_dot, theta, theta_dot: little(), time: 0.0 }
    }

    /// One Euler step of the equations of motion. Actions 0, 1, 2 push to the left, not at all, to the right.
    fn push(self, action: usize) -> Self {
        let Self { x, x_dot, theta, theta_dot, time } = self;
        let force = (action as f64 - 1.0) * FORCE;
        let (sin, cos) = libm::sincos(theta);
        let pushed = (force + POLE_MASS_LENGTH * (theta_dot * theta_dot) * sin) / TOTAL_MASS;
        let theta_acc =
            (GRAVITY * sin - cos * pushed) / (LENGTH * (4.0 / 3.0 - POLE_MASS * (cos * cos) / TOTAL_MASS));
        let x_acc = pushed - POLE_MASS_LENGTH * theta_acc * cos / TOTAL_MASS;
        Self {
            x: x + TAU * x_dot,
            x_dot: x_dot + TAU * x_acc,
            theta: (theta + TAU * theta_dot).rem_euclid(2.0 * PI),
            theta_dot: theta_dot + TAU * theta_acc,
            time: time + TAU,
        }
    }

    /// The six numbers that both tasks show.
    fn observe(self, numbers: &mut [f32]) {
        let (sin, cos) = libm::sincos(self.theta);
        let shown = [self.x / X_LIMIT, self.x_dot / X_LIMIT, sin, cos, self.theta_dot, self.time / LONGEST];
        numbers.iter_mut().zip(shown).for_each(|(number, shown)| *number = shown as f32);
    }

    fn is_finite(self) -> bool {
        [self.x, self.x_dot, self.theta, self.theta_dot, self.time].into_iter().all(f64::is_finite)
    }

    fn draw(self) -> Picture {
        CartPoleSystem::draw([self.x, self.x_dot, self.theta, self.theta_dot])
    }
}

/// Rewards as bsuite counts them: all of them, those of this episode, and of the best one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Returns {
    all: f64,
    episode: f64,
    best: f64,
}

impl Returns {
    fn add(&mut self, reward: f64, is_over: bool) {
        self.all += reward;
        self.episode += reward;
        if is_over {
            self.best = self.best.max(self.episode);
        }
    }
}

/// Balance the pole: each step pays 1 until it falls, the cart goes too far or the time is over. A frame is (x, ẋ, sin θ, cos θ, θ̇,
/// time), the first two by 3 and the time by 10.
#[derive(Clone, Debug)]
pub struct Cartpole;

/// Where the cart is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CartpoleState {
    cart: Cart,
    returns: Returns,
}

impl Problem for Cartpole {
    type State = CartpoleState;

    fn space(&self) -> Space {
        Space::flat(6, 3)
    }

    fn action_names(&self) -> Vec<String> {
        names(["left", "stay", "right"])
    }

    fn start(&self, state: &mut CartpoleState, chance: &mut dyn Chance) {
        state.cart = Cart::start(0.0, chance);
        state.returns.episode = 0.0;
    }

    fn act(&self, state: &mut CartpoleState, action: usize, _chance: &mut dyn Chance) -> (f64, bool) {
        state.cart = state.cart.push(action);
        let Cart { x, theta, time, .. } = state.cart;
        let is_balanced = libm::cos(theta) > BALANCED && x.abs() < X_LIMIT;
        let (reward, is_over) = (f64::from(u8::from(is_balanced)), time > LONGEST || !is_balanced);
        state.returns.add(reward, is_over);
        (reward, is_over)
    }

    fn observe(&self, state: &CartpoleState, numbers: &mut [f32]) {
        state.cart.observe(numbers);
    }

    fn info(&self, state: &CartpoleState) -> Info {
        vec![("raw_return", state.returns.all), ("best_episode", state.returns.best)]
    }

    fn holds(&self, state: &CartpoleState, _running: bool) -> bool {
        state.cart.is_finite()
    }

    fn draw(&self, state: &CartpoleState) -> Option<Picture> {
        Some(state.cart.draw())
    }
}

/// Swing the pole up: it starts hanging, each push costs 0.1, and each step with the pole upright near the middle pays 1. A frame has two
/// numbers more than that of [`Cartpole`]: 1 or -1 for a cart near enough, and for a pole slow enough.
#[derive(Clone, Debug)]
pub struct CartpoleSwingup {
    height: f64,
    x: f64,
}

/// Where the cart is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CartpoleSwingupState {
    cart: Cart,
    returns: Returns,
    upright: f64,
}

impl Default for CartpoleSwingupState {
    fn default() -> Self {
        Self { cart: Cart { theta: PI, ..Cart::default() }, returns: Returns::default(), upright: 0.0 }
    }
}

impl CartpoleSwingup {
    /// Upright is where the cosine of the angle is above `height_threshold` and the cart within `x_reward_threshold`.
    pub fn new(height_threshold: f64, x_reward_threshold: f64) -> Self {
        Self { height: height_threshold, x: x_reward_threshold }
    }
}

impl Problem for CartpoleSwingup {
    type State = CartpoleSwingupState;

    fn space(&self) -> Space {
        Space::flat(8, 3)
    }

    fn action_names(&self) -> Vec<String> {
        names(["left", "stay", "right"])
    }

    fn start(&self, state: &mut CartpoleSwingupState, chance: &mut dyn Chance) {
        state.cart = Cart::start(PI, chance);
        state.returns.episode = 0.0;
    }

    fn act(&self, state: &mut CartpoleSwingupState, action: usize, _chance: &mut dyn Chance) -> (f64, bool) {
        state.cart = state.cart.push(action);
        let Cart { x, theta, theta_dot, time, .. } = state.cart;
        let is_upright =
            libm::cos(theta) > self.height && theta_dot.abs() < THETA_DOT_LIMIT && x.abs() < self.x;
        let mut reward = if action == 1 { 0.0 } else { -MOVE_COST };
        if is_upright {
            reward += 1.0;
            state.upright += 1.0;
        }
        let is_over = time > LONGEST || x.abs() > X_LIMIT;
        state.returns.add(reward, is_over);
        (reward, is_over)
    }

    fn observe(&self, state: &CartpoleSwingupState, numbers: &mut [f32]) {
        state.cart.observe(numbers);
        let sign = |is_within| if is_within { 1.0 } else { -1.0 };
        numbers[6] = sign(state.cart.x.abs() < self.x);
        numbers[7] = sign(state.cart.theta_dot.abs() < THETA_DOT_LIMIT);
    }

    fn info(&self, state: &CartpoleSwingupState) -> Info {
        let Returns { all, best, .. } = state.returns;
        vec![("raw_return", all), ("total_upright", state.upright), ("best_episode", best)]
    }

    fn holds(&self, state: &CartpoleSwingupState, _running: bool) -> bool {
        state.cart.is_finite()
    }

    fn draw(&self, state: &CartpoleSwingupState) -> Option<Picture> {
        Some(state.cart.draw())
    }
}

//! Classic control: CartPole, Acrobot and MountainCar with the dynamics of Gymnasium 1.4, tested against its steps.
//!
//! The state is kept in f64 and every sum and product taken in Gymnasium's order; frames are its observations, f32.
//! Sine and cosine come from `libm`, so that a run is the same bits on every machine; numpy's may differ from them in
//! the last bit. As there, an environment by itself has no time limit: a [`TimeLimit`](crate::TimeLimit) or
//! [`make`](crate::make) adds it.
//!
//! Each system has a file with its equations and its picture. Here is the environment around them.

mod acrobot;
mod cart_pole;
mod mountain_car;

pub use acrobot::Acrobot;
pub use cart_pole::CartPole;
pub(crate) use cart_pole::CartPoleSystem;
pub use mountain_car::MountainCar;
pub(crate) use mountain_car::MountainCarSystem;

use crate::episode::Episode;
use crate::{Env, Error, Picture, Result, Space, Step};
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::Debug;

/// A mechanical system: where it starts, how an action moves it, and what is seen of it.
pub trait System: Send {
    /// Positions and velocities.
    type State: AsRef<[f64]> + Copy + Debug + Serialize + DeserializeOwned + Send;
    /// What it is called.
    const NAME: &'static str;
    /// For each number of the state what it is called, its bounds, and these in words.
    const BOUNDS: &'static [(&'static str, [f64; 2], &'static str)];
    /// What the actions are called.
    const ACTIONS: &'static [&'static str];
    /// Numbers in a frame.
    const NUMBERS: usize;
    /// The state before the first episode.
    const REST: Self::State;

    /// The first state of an episode, from a source of uniform numbers in [low, high).
    fn start(uniform: impl FnMut(f64, f64) -> f64) -> Self::State;

    /// The state after an action, the reward, and whether the episode ended.
    fn advance(state: Self::State, action: usize) -> (Self::State, f64, bool);

    /// What an agent sees.
    fn observe(state: Self::State) -> impl AsRef<[f32]>;

    /// What people see.
    fn draw(state: Self::State) -> Picture;
}

/// A system as an environment.
#[derive(Clone, Debug)]
pub struct Control<S: System> {
    space: Space,
    episode: Episode<S::State>,
}

impl<S: System> Control<S> {
    /// Before the first episode.
    pub fn new() -> Self {
        Self { space: Space::flat(S::NUMBERS, S::ACTIONS.len()), episode: Episode::new(S::REST) }
    }

    /// The present state.
    pub fn state(&self) -> S::State {
        self.episode.state
    }

    /// Starts an episode in this state, or refuses a number out of its bounds.
    pub fn set_state(&mut self, state: S::State) -> Result<()> {
        check::<S>(&state)?;
        self.episode.start(state);
        Ok(())
    }
}

impl<S: System> Default for Control<S> {
    fn default() -> Self {
        Self::new()
    }
}

fn check<S: System>(state: &S::State) -> Result<()> {
    for (&value, &(quantity, [low, high], range)) in state.as_ref().iter().zip(S::BOUNDS) {
        // NaN lies in no range.
        if !(low..=high).contains(&value) {
            return Err(Error::Physics { env: S::NAME, quantity, value, range });
        }
    }
    Ok(())
}

impl<S: System> Env for Control<S> {
    fn space(&self) -> &Space {
        &self.space
    }

    fn reset(&mut self, seed: Option<u64>, frame: &mut [u8]) -> Result<()> {
        self.space.check_frame(frame)?;
        self.episode.seed(seed);
        let state = S::start(|low, high| self.episode.uniform(low, high));
        self.episode.start(state);
        self.space.write(S::observe(state).as_ref(), frame)
    }

    fn step(&mut self, action: usize, frame: &mut [u8]) -> Result<Step> {
        self.episode.check(&self.space, action, frame)?;
        let (state, reward, terminated) = S::advance(self.episode.state, action);
        (self.episode.state, self.episode.running) = (state, !terminated);
        self.space.write(S::observe(state).as_ref(), frame)?;
        Ok(Step { reward, terminated, ..Step::default() })
    }

    fn save(&self) -> Result<Option<Vec<u8>>> {
        self.episode.save(S::NAME)
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        self.episode = Episode::restore(S::NAME, state, check::<S>)?;
        Ok(())
    }

    fn reseed(&mut self, seed: u64) -> Result<()> {
        self.episode.seed(Some(seed));
        Ok(())
    }

    fn render(&self) -> Result<Picture> {
        Ok(S::draw(self.episode.state))
    }

    fn action_names(&self) -> Vec<String> {
        S::ACTIONS.iter().map(|&name| name.to_owned()).collect()
    }
}

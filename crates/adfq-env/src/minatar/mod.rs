//! The MinAtar games of Young and Tian (2019, arXiv:1903.03176): five Atari games on a grid of 10 × 10 cells, one
//! channel of flags for each kind of thing.
//!
//! Written from the published rules (the paper, the package's README, and what gymnax, under Apache-2.0, makes of them)
//! and from the observed behaviour of the package MinAtar 1.0.15, whose games these follow step by step
//! (`tests/recorded/minatar`); the package is under GPL-3 and none of its code is used. Here are the words all games
//! share and what a game has to do ([`Game`]). One game is one file; sticky actions and the stop at the end are in
//! [`Play`], the environment around a game is [`MinAtar`].

mod asterix;
mod breakout;
mod env;
mod freeway;
mod seaquest;
mod space_invaders;

pub use asterix::Asterix;
pub use breakout::Breakout;
pub use env::{MinAtar, Play, Settings};
pub use freeway::Freeway;
pub use seaquest::Seaquest;
pub use space_invaders::SpaceInvaders;

use adfq::random::ChaCha8Rng;
use rand::RngExt;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// Rows and columns of the grid.
pub const SIDE: usize = 10;

/// A game: how it starts, what an action does, and what of it can be seen.
///
/// A game knows neither sticky actions nor that it may be asked to go on after its end: [`Play`] sees to both.
pub trait Game: Clone + Serialize + DeserializeOwned + Send {
    /// What it is called, in lower case.
    const NAME: &'static str;
    /// Kinds of things, each with a channel of its own.
    const CHANNELS: usize;
    /// The actions that do something, in the order of [`Action::ALL`].
    const MINIMAL_ACTIONS: &'static [Action];

    /// A game before its first [`Game::reset`], with or without difficulty that grows over time.
    fn new(ramping: bool) -> Self;

    /// Starts an episode.
    fn reset(&mut self, chance: &mut impl Chance);

    /// One step: the reward, and whether that was the last.
    fn act(&mut self, action: Action, chance: &mut impl Chance) -> (f64, Over);

    /// Sets to 1 what can be seen, with [`mark`]; the frame of [`SIDE`] × [`SIDE`] × [`Game::CHANNELS`] bytes, channels
    /// innermost, arrives zeroed.
    fn draw(&self, frame: &mut [u8]);
}

/// Whether a game goes on. The package knows only that a game is over; a learner has to know why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Over {
    /// It goes on.
    #[default]
    No,
    /// It ended: nothing more can be won or lost.
    Ended,
    /// A clock that the agent cannot see ran out: the episode is cut off, its value beyond is not zero.
    TimeUp,
}

/// What a player can do, in the package's order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// Nothing.
    #[default]
    Noop,
    /// Go left.
    Left,
    /// Go up.
    Up,
    /// Go right.
    Right,
    /// Go down.
    Down,
    /// Fire.
    Fire,
}

impl Action {
    /// All of them, in the package's order.
    pub const ALL: &'static [Self] = &[Self::Noop, Self::Left, Self::Up, Self::Right, Self::Down, Self::Fire];

    /// What it is called, for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Noop => "noop",
            Self::Left => "left",
            Self::Up => "up",
            Self::Right => "right",
            Self::Down => "down",
            Self::Fire => "fire",
        }
    }
}

/// Where a game's chance comes from: its generator, or in tests what the package drew.
pub trait Chance {
    /// Uniform in 0..n, for n of at least 1.
    fn below(&mut self, n: u32) -> u32;

    /// Uniform in [0, 1).
    fn unit(&mut self) -> f64;
}

impl Chance for ChaCha8Rng {
    fn below(&mut self, n: u32) -> u32 {
        self.random_range(0..n)
    }

    fn unit(&mut self) -> f64 {
        self.random()
    }
}

/// Sets the flag of one channel at one cell of the frame of `G`. A cell beyond the grid is nowhere to be seen.
pub fn mark<G: Game>(frame: &mut [u8], row: usize, column: usize, channel: usize) {
    if row < SIDE && column < SIDE {
        frame[(row * SIDE + column) * G::CHANNELS + channel] = 1;
    }
}

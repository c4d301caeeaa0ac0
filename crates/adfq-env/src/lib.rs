//! What an agent acts in. The trait [`Env`] follows Gymnasium: reset with a seed, step with an action, and a step says
//! apart whether the episode *ended* (terminated) or was *cut off* (truncated).
//!
//! Nothing here knows an agent. An environment emits *frames*, plain bytes whose meaning its [`Space`] states; who
//! stacks or stores them does so elsewhere.

mod error;
pub mod minatar;
mod space;

pub use error::{Error, Result};
pub use space::{Element, Space};

/// What one action led to, besides the frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Step {
    /// The reward.
    pub reward: f64,
    /// The episode ended: there is no value beyond.
    pub terminated: bool,
    /// The episode was cut off, by a time limit say: the value beyond is there, but will not be seen.
    pub truncated: bool,
}

/// An environment with finitely many actions.
pub trait Env: Send {
    /// The shape of frames and the number of actions.
    fn space(&self) -> &Space;

    /// Starts an episode and writes its first frame, of [`Space::frame_bytes`] bytes. With a seed the environment's
    /// generator starts anew from it; without, it goes on.
    fn reset(&mut self, seed: Option<u64>, frame: &mut [u8]) -> Result<()>;

    /// Takes an action and writes the frame that follows. After a step that ended the episode comes a reset.
    fn step(&mut self, action: usize, frame: &mut [u8]) -> Result<Step>;

    /// Everything that decides what follows, the generator included: [`Env::restore`] goes on from there bit for bit.
    fn save(&self) -> Result<Vec<u8>>;

    /// Takes up what [`Env::save`] gave.
    fn restore(&mut self, state: &[u8]) -> Result<()>;

    /// A picture of the present state, to look at.
    fn render(&self) -> Result<Picture>;

    /// What the actions are called, for people.
    fn action_names(&self) -> Vec<String> {
        (0..self.space().actions).map(|action| action.to_string()).collect()
    }
}

/// A picture: `height` rows of `width` pixels of red, green and blue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// 3 × width × height bytes.
    pub rgb: Vec<u8>,
}

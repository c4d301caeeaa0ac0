//! What the environments of this crate have in common: a state, whether an episode runs, and a generator.

use crate::{Error, Result, saved};
use adfq::random::{ChaCha8Rng, stream};
use rand::RngExt;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// Everything that decides what follows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Episode<S> {
    pub state: S,
    pub running: bool,
    pub rng: ChaCha8Rng,
}

impl<S: Serialize + DeserializeOwned> Episode<S> {
    /// No episode yet; without a seed the first reset draws from that of seed 0.
    pub fn new(state: S) -> Self {
        Self { state, running: false, rng: stream(0, "env") }
    }

    /// Starts the generator anew, if there is a seed.
    pub fn seed(&mut self, seed: Option<u64>) {
        if let Some(seed) = seed {
            self.rng = stream(seed, "env");
        }
    }

    /// An episode starts in this state.
    pub fn start(&mut self, state: S) {
        (self.state, self.running) = (state, true);
    }

    /// A number from [low, high).
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.rng.random::<f64>()
    }

    /// Whether a step can be taken: the action exists, the frame fits and an episode runs.
    #[inline]
    pub fn check(&self, (action, actions): (usize, usize), frame: &[u8], bytes: usize) -> Result<()> {
        if action >= actions {
            return Err(Error::Action { action, actions });
        }
        check_frame(frame, bytes)?;
        if self.running { Ok(()) } else { Err(Error::NoEpisode) }
    }

    /// Its bytes, marked as those of `env`.
    pub fn save(&self, env: &str) -> Result<Vec<u8>> {
        saved::save(env, self)
    }

    /// The episode in these bytes, if its state passes the check.
    pub fn restore(env: &str, bytes: &[u8], check: impl FnOnce(&S) -> Result<()>) -> Result<Self> {
        let episode: Self = saved::restore(env, bytes)?;
        check(&episode.state).map_err(|error| saved::refuse(env, error))?;
        Ok(episode)
    }
}

/// A frame has to have its length, neither more nor less.
#[inline]
pub(crate) fn check_frame(frame: &[u8], expected: usize) -> Result<()> {
    if frame.len() == expected { Ok(()) } else { Err(Error::Frame { bytes: frame.len(), expected }) }
}

/// Writes numbers as f32 into a frame of their length.
#[inline]
pub(crate) fn write<const N: usize>(frame: &mut [u8], numbers: [f64; N]) {
    for (bytes, number) in frame.chunks_exact_mut(4).zip(numbers) {
        bytes.copy_from_slice(&(number as f32).to_ne_bytes());
    }
}

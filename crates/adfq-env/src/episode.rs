//! What the environments of this crate have in common: an episode (a state, whether it runs, a generator), and how states
//! become bytes: the owner's tag, then the state, in `postcard`. The tag tells a foreign state from one's own; bytes cut
//! short or left over are refused.

use crate::{Error, Result, Space};
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
    pub fn check(&self, space: &Space, action: usize, frame: &[u8]) -> Result<()> {
        if action >= space.actions {
            return Err(Error::Action { action, actions: space.actions });
        }
        space.check_frame(frame)?;
        if self.running { Ok(()) } else { Err(Error::NoEpisode) }
    }

    /// Its bytes, marked as those of `env`.
    pub fn save(&self, env: &str) -> Result<Option<Vec<u8>>> {
        save(env, self).map(Some)
    }

    /// The episode in these bytes, if its state passes the check.
    pub fn restore(env: &str, bytes: &[u8], check: impl FnOnce(&S) -> Result<()>) -> Result<Self> {
        let episode: Self = restore(env, bytes)?;
        check(&episode.state).map_err(|error| refuse(env, error))?;
        Ok(episode)
    }
}

/// The bytes of a state that belongs to `env`.
pub(crate) fn save<T: Serialize>(env: &str, state: &T) -> Result<Vec<u8>> {
    postcard::to_stdvec(&(env, state)).map_err(|error| refuse(env, error))
}

/// The state in bytes that [`save`] gave for the same `env`.
pub(crate) fn restore<T: DeserializeOwned>(env: &str, bytes: &[u8]) -> Result<T> {
    let (tag, rest) = postcard::take_from_bytes::<&str>(bytes).map_err(|error| refuse(env, error))?;
    if tag != env {
        return Err(refuse(env, format!("it is one of {tag:?}")));
    }
    match postcard::take_from_bytes(rest) {
        Ok((state, [])) => Ok(state),
        Ok((_, rest)) => Err(refuse(env, format!("{} bytes are left over", rest.len()))),
        Err(error) => Err(refuse(env, error)),
    }
}

/// The error for a state that does not fit.
pub(crate) fn refuse(env: &str, reason: impl ToString) -> Error {
    Error::State { env: env.to_owned(), reason: reason.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_short_and_long_bytes_are_refused() {
        let bytes = save("a", &(1.5, 300_u32)).unwrap();
        assert_eq!(restore::<(f64, u32)>("a", &bytes).unwrap(), (1.5, 300));
        let error = restore::<(f64, u32)>("b", &bytes).unwrap_err().to_string();
        assert!(error.starts_with("the saved state is not one of b: it is one of \"a\";"), "{error}");
        for length in 0..bytes.len() {
            assert!(restore::<(f64, u32)>("a", &bytes[..length]).is_err(), "{length}");
        }
        let error = restore::<(f64, u32)>("a", &[bytes, vec![0]].concat()).unwrap_err().to_string();
        assert!(error.contains("1 bytes are left over"), "{error}");
    }
}

//! What an agent sees now: the last frames of an episode, stacked.

use crate::replay::Decoder;
use adfq_env::Space;
use serde::{Deserialize, Serialize};

/// The present observation of one environment, as bytes; saved in a checkpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Observation {
    decoder: Decoder,
    frame_bytes: usize,
    /// The frames, oldest first.
    frames: Vec<u8>,
    /// Whether the latest is the first of an episode. Nothing that is saved depends on it.
    #[serde(skip)]
    is_first: bool,
}

impl Observation {
    /// Room for the frames of one observation.
    pub fn new(space: &Space) -> Self {
        Self {
            decoder: Decoder::new(space),
            frame_bytes: space.frame_bytes(),
            frames: vec![0; space.frame_bytes() * space.stack],
            is_first: false,
        }
    }

    /// Whether this is an observation in this space, all of its numbers finite. One that was saved need not be.
    pub fn fits(&self, space: &Space) -> bool {
        let blank = Self::new(space);
        if (&self.decoder, self.frame_bytes, self.frames.len())
            != (&blank.decoder, blank.frame_bytes, blank.frames.len())
        {
            return false;
        }
        let mut numbers = vec![0.0; space.observation_len()];
        self.decode(&mut numbers);
        numbers.iter().all(|number| number.is_finite())
    }

    /// The first frame of an episode: copies of it stand for those before it.
    pub fn start(&mut self, frame: &[u8]) {
        self.frames.chunks_exact_mut(self.frame_bytes).for_each(|slot| slot.copy_from_slice(frame));
        self.is_first = true;
    }

    /// A later frame.
    pub fn push(&mut self, frame: &[u8]) {
        self.frames.copy_within(self.frame_bytes.., 0);
        let latest = self.frames.len() - self.frame_bytes;
        self.frames[latest..].copy_from_slice(frame);
        self.is_first = false;
    }

    /// Whether the latest frame is the first of an episode, as far as that was seen here.
    #[cfg(feature = "cuda")]
    pub fn is_first(&self) -> bool {
        self.is_first
    }

    /// The latest frame.
    pub fn latest(&self) -> &[u8] {
        &self.frames[self.frames.len() - self.frame_bytes..]
    }

    /// The same numbers as bytes, stacked in the same order and not scaled yet: what a GPU gets.
    #[cfg(feature = "cuda")]
    pub fn stacked(&self, out: &mut [u8]) {
        self.decoder.stack_bytes(|k| &self.frames[k * self.frame_bytes..][..self.frame_bytes], out);
    }

    /// The numbers that the network sees.
    pub fn decode(&self, out: &mut [f32]) {
        self.decoder.decode(|k| &self.frames[k * self.frame_bytes..][..self.frame_bytes], out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Such observations stood in checkpoints that were made up, and were taken as they were.
    #[test]
    fn what_was_made_up_does_not_fit() {
        let space = Space::flat(4, 2);
        let good = Observation::new(&space);
        assert!(good.fits(&space));
        assert!(!good.fits(&Space::flat(3, 2)));
        assert!(!Observation { frames: vec![], ..good.clone() }.fits(&space));
        assert!(!Observation { frame_bytes: 8, ..good.clone() }.fits(&space));
        let nan = f32::NAN.to_ne_bytes().repeat(4);
        assert!(!Observation { frames: nan, ..good }.fits(&space));
    }
}

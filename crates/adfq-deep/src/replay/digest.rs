//! One number for all that a memory holds, to tell whether two runs remember the same.

use super::state::encode;
use super::{Replay, Result};
use std::ops::Range;

/// Slots of which the frames are read at once, where they lie elsewhere.
const STRETCH: usize = 1024;

/// An odd multiplier with its bits well mixed: 2⁶⁴ over the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A running digest. Each word is joined in by a bijection, so that one changed word changes the end.
#[derive(Default)]
pub(crate) struct Digest(u64);

impl Digest {
    /// Joins in a word.
    pub fn word(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(GOLDEN);
    }

    /// Joins in bytes, filled up to whole words.
    pub fn bytes(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|&word| self.word(u64::from_le_bytes(word)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.word(u64::from_le_bytes(last));
    }

    /// The digest of all that was joined in.
    pub fn end(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

impl Replay {
    /// A digest of all that is kept, the oldest slot first, with their priorities. Equal memories have equal digests, whatever
    /// way they came about; it is no protection against intent.
    pub fn digest(&self) -> Result<u64> {
        let mut digest = Digest::default();
        for (number, ring) in self.rings.iter().enumerate() {
            digest.word(ring.kept().end);
            for places in ring.pieces(ring.kept()) {
                for start in places.clone().step_by(STRETCH) {
                    let stretch = start..places.end.min(start + STRETCH);
                    self.join_in(&mut digest, number, stretch)?;
                }
            }
        }
        digest.word(self.state().largest.to_bits());
        Ok(digest.end())
    }

    /// Joins in the slots at these places of an environment.
    fn join_in(&self, digest: &mut Digest, env: usize, places: Range<usize>) -> Result<()> {
        let ring = &self.rings[env];
        let frames = ring.frames_at(places.clone())?;
        let slots = ring.slots_at(places.clone()).iter().zip(frames.chunks_exact(self.layout.frame_bytes));
        for (place, (slot, frame)) in places.zip(slots) {
            digest.bytes(&encode(slot));
            digest.bytes(frame);
            if let Some(priorities) = &self.priorities {
                let weight = priorities.tree.get(env * self.layout.slots + place);
                digest.word(u64::from(weight.to_bits()));
            }
        }
        Ok(())
    }
}

//! One number for all that a memory holds, to tell whether two runs remember the same.

use super::Replay;
use super::state::encode;

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
    pub fn digest(&self) -> u64 {
        let mut digest = Digest::default();
        for (number, ring) in self.rings.iter().enumerate() {
            digest.word(ring.kept().end);
            for counter in ring.kept() {
                digest.bytes(&encode(ring.slot(counter)));
                digest.bytes(ring.frame(counter));
                if let Some(priorities) = &self.priorities {
                    let weight = priorities.tree.get(number * self.layout.slots + ring.place(counter));
                    digest.word(u64::from(weight.to_bits()));
                }
            }
        }
        digest.word(self.state().largest.to_bits());
        digest.end()
    }
}

//! Collisions: fifteen latches, one for each pair of objects that overlapped since they were cleared.

use super::mask::Mask;
use super::super::tape::Tape;
use super::{BALL, M0, M1, P0, P1, PLAYFIELD};

/// The pairs in the order of the registers CXM0P to CXPPMM, bit 7 before bit 6. CXBLPF has one bit.
const PAIRS: [(usize, usize); 16] = [
    (M0, P1), (M0, P0), (M1, P0), (M1, P1), (P0, PLAYFIELD), (P0, BALL), (P1, PLAYFIELD), (P1, BALL),
    (M0, PLAYFIELD), (M0, BALL), (M1, PLAYFIELD), (M1, BALL), (BALL, PLAYFIELD), (BALL, BALL), (P0, P1), (M0, M1),
];

/// The latches: bit `i` for pair `i`.
#[derive(Clone, Copy, Default)]
pub(super) struct Collisions {
    latched: u16,
}

impl Collisions {
    /// Notes which objects overlap within the span.
    #[inline]
    pub(super) fn add(&mut self, masks: &[Mask; 6], span: &Mask) {
        for word in 0..3 {
            let within = span.0[word];
            if within == 0 {
                continue;
            }
            let (mut one, mut two) = (0, 0);
            for mask in masks {
                two |= one & mask.0[word];
                one |= mask.0[word];
            }
            if two & within != 0 {
                self.add_word(masks, word, two & within);
            }
        }
    }

    #[cold]
    fn add_word(&mut self, masks: &[Mask; 6], word: usize, within: u64) {
        for (i, &(a, b)) in PAIRS.iter().enumerate() {
            if a != b && masks[a].0[word] & masks[b].0[word] & within != 0 {
                self.latched |= 1 << i;
            }
        }
    }

    pub(super) fn clear(&mut self) {
        self.latched = 0;
    }

    /// The bits 7 and 6 of a register.
    pub(super) fn read(&self, register: u8) -> u8 {
        let pair = self.latched >> (2 * register);
        (pair as u8 & 1) << 7 | (pair as u8 & 2) << 5
    }

    pub(super) fn state(&mut self, tape: &mut Tape) {
        tape.word(&mut self.latched);
    }
}

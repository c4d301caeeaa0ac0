//! Collisions: fifteen latches, one for each pair of objects that overlapped since they were cleared.

use super::super::tape::Tape;
use super::mask::Mask;
use super::{BALL, M0, M1, P0, P1, PLAYFIELD};

/// The pairs in the order of the registers CXM0P to CXPPMM, bit 7 before bit 6. CXBLPF has one bit.
const PAIRS: [(usize, usize); 16] = [
    (M0, P1),
    (M0, P0),
    (M1, P0),
    (M1, P1),
    (P0, PLAYFIELD),
    (P0, BALL),
    (P1, PLAYFIELD),
    (P1, BALL),
    (M0, PLAYFIELD),
    (M0, BALL),
    (M1, PLAYFIELD),
    (M1, BALL),
    (BALL, PLAYFIELD),
    (BALL, BALL),
    (P0, P1),
    (M0, M1),
];

/// The latches: bit `i` for pair `i`.
#[derive(Clone, Copy, Default)]
pub(super) struct Collisions {
    latched: u16,
}

impl Collisions {
    /// Notes which objects have one of these pixels in common.
    pub(super) fn add(&mut self, masks: &[Mask; 6], pixels: &Mask) {
        if pixels.is_empty() {
            return;
        }
        for (i, &(a, b)) in PAIRS.iter().enumerate() {
            if a != b && !masks[a].and(&masks[b]).and(pixels).is_empty() {
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

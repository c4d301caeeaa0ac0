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

/// The pairs among each set of objects.
static AMONG: [u16; 64] = {
    let mut table = [0; 64];
    let mut set = 0;
    while set < 64 {
        let mut i = 0;
        while i < 16 {
            let (a, b) = PAIRS[i];
            if a != b && set >> a & 1 == 1 && set >> b & 1 == 1 {
                table[set] |= 1 << i;
            }
            i += 1;
        }
        set += 1;
    }
    table
};

/// Whether any two have one of these pixels in common. On most lines none have, and this is less work than to ask for each pair.
#[inline(always)]
fn overlap(masks: &[Mask; 6], pixels: &Mask) -> bool {
    let (mut one, mut two) = (Mask::EMPTY, Mask::EMPTY);
    for mask in masks {
        (two, one) = (two.or(&one.and(mask)), one.or(mask));
    }
    !two.and(pixels).is_empty()
}

/// The latches: bit `i` for pair `i`.
#[derive(Clone, Copy, Default)]
pub(super) struct Collisions {
    latched: u16,
}

impl Collisions {
    /// Whether there may be more to note while just these objects have pixels.
    #[inline]
    pub(super) fn can_grow(&self, present: u8) -> bool {
        AMONG[usize::from(present & 0x3F)] & !self.latched != 0
    }

    /// Notes which objects have one of these pixels in common.
    pub(super) fn add(&mut self, masks: &[Mask; 6], present: u8, pixels: &Mask) {
        if !overlap(masks, pixels) {
            return;
        }
        let mut left = AMONG[usize::from(present & 0x3F)] & !self.latched;
        while left != 0 {
            let i = left.trailing_zeros();
            let (a, b) = PAIRS[i as usize];
            if !masks[a].and(&masks[b]).and(pixels).is_empty() {
                self.latched |= 1 << i;
            }
            left &= left - 1;
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

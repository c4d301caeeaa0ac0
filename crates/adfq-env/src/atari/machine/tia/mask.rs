//! Sets of pixels of a scanline.

/// The visible pixels of a line.
pub(super) const WIDTH: i32 = 160;

/// A set of the 160 pixels: pixel `x` is bit `x % 64` of word `x / 64`.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Mask(pub(super) [u64; 3]);

impl Mask {
    pub(super) const EMPTY: Self = Self([0; 3]);

    /// All pixels from `from` up to but without `to`.
    #[inline]
    pub(super) fn span(from: i32, to: i32) -> Self {
        Self([word(from, to), word(from - 64, to - 64), word(from - 128, to - 128)])
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0[0] | self.0[1] | self.0[2] == 0
    }

    #[inline]
    pub(super) fn and(&self, other: &Self) -> Self {
        Self([self.0[0] & other.0[0], self.0[1] & other.0[1], self.0[2] & other.0[2]])
    }

    #[inline]
    pub(super) fn or(&self, other: &Self) -> Self {
        Self([self.0[0] | other.0[0], self.0[1] | other.0[1], self.0[2] | other.0[2]])
    }

    /// Adds the pixels of a pattern whose bit 0 is at `x`. What leaves the line on the right enters on the left, as the
    /// counters of the chip have it.
    #[inline]
    pub(super) fn add(&mut self, pattern: u32, x: u8) {
        let wide = u128::from(pattern) << (x % 64);
        let (low, high) = (wide as u64, (wide >> 64) as u64);
        // All ones for the word in which `x` lies: cheaper than a branch.
        let is = |word: u8| u64::from(x / 64 == word).wrapping_neg();
        self.0[0] |= low & is(0) | low >> 32 & is(2);
        self.0[1] |= high & is(0) | low & is(1);
        // The last word has 32 pixels.
        self.0[2] |= high & is(1) | low & 0xFFFF_FFFF & is(2);
    }
}

/// The bits from `from` up to `to` of a word; both may lie outside of it.
#[inline]
fn word(from: i32, to: i32) -> u64 {
    below(to) & !below(from)
}

#[inline]
fn below(bit: i32) -> u64 {
    if bit <= 0 {
        0
    } else if bit >= 64 {
        u64::MAX
    } else {
        (1 << bit) - 1
    }
}

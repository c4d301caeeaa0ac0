//! Sets of pixels of a scanline.

/// The visible pixels of a line.
pub(super) const WIDTH: i32 = 160;

/// A set of the 160 pixels: pixel `x` is bit `x % 64` of word `x / 64`.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Mask(pub(super) [u64; 3]);

impl Mask {
    pub(super) const EMPTY: Self = Self([0; 3]);

    /// All pixels from `from` up to but without `to`, both on the line.
    #[inline]
    pub(super) fn span(from: i32, to: i32) -> Self {
        let (Self(below), Self(left_out)) = (BELOW[to as usize], BELOW[from as usize]);
        Self([below[0] & !left_out[0], below[1] & !left_out[1], below[2] & !left_out[2]])
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

    /// The pixels of a pattern of at most 80 bits whose bit 0 is at `x`. What leaves the line on the right enters on the left, as the
    /// counters of the chip have it.
    #[inline]
    pub(super) fn at(pattern: u128, x: u8) -> Self {
        let (low, high) = (pattern as u64, (pattern >> 64) as u64);
        let shift = u32::from(x) % 64;
        // What a shift pushes out of a word.
        let out = |word: u64| word >> 1 >> (63 - shift);
        let [a, b, c] = [low << shift, out(low) | high << shift, out(high)];
        // From the word in which `x` lies on. The last word has 32 pixels.
        match x / 64 {
            0 => Self([a, b, c]),
            1 => Self([b >> 32 | c << 32, a, b & 0xFFFF_FFFF]),
            _ => Self([a >> 32 | b << 32, b >> 32 | c << 32, a & 0xFFFF_FFFF]),
        }
    }
}

/// The pixels to the left of each, and all of them.
static BELOW: [Mask; WIDTH as usize + 1] = {
    let mut table = [Mask::EMPTY; WIDTH as usize + 1];
    let mut x = 0;
    while x < WIDTH as usize {
        table[x + 1] = table[x];
        table[x + 1].0[x / 64] |= 1 << (x % 64);
        x += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_go_round_the_line() {
        for pattern in [1_u128, 0xFF, 0xFFFF_FFFF, 0xB1 | 0x8D << 16 | 0x01 << 32 | 0x81 << 64] {
            for x in 0..WIDTH {
                let mut expected = Mask::EMPTY;
                for bit in (0..80).filter(|bit| pattern >> bit & 1 == 1) {
                    let pixel = (x + bit) % WIDTH;
                    expected = expected.or(&Mask::span(pixel, pixel + 1));
                }
                assert_eq!(Mask::at(pattern, x as u8), expected, "{pattern:x} at {x}");
            }
        }
    }
}

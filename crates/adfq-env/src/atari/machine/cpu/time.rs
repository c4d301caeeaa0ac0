//! The clock, and the count of instructions, in one number.

/// Cycles since power on, in the upper 48 bits, and instructions since the frame began. One addition moves both on.
#[derive(Clone, Copy, Default)]
pub(super) struct Time(u64);

/// Bits of the count.
const BITS: u32 = 16;

impl Time {
    /// So many cycles after power on, at the beginning of a frame.
    #[inline(always)]
    pub(super) fn at(clock: u64) -> Self {
        Self(clock << BITS)
    }

    #[inline(always)]
    pub(super) fn clock(self) -> u64 {
        self.0 >> BITS
    }

    #[inline(always)]
    pub(super) fn instructions(self) -> u16 {
        self.0 as u16
    }

    /// So many cycles and instructions later.
    #[inline(always)]
    pub(super) fn after(self, cycles: u64, instructions: u64) -> Self {
        Self(self.0 + (cycles << BITS | instructions))
    }

    /// The processor stood still until then.
    #[inline(always)]
    pub(super) fn until(self, clock: u64) -> Self {
        Self(clock << BITS | u64::from(self.instructions()))
    }
}

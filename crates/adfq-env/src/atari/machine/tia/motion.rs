//! HMOVE: how far each object moves.
//!
//! After the strobe the chip sends an object up to fifteen extra clocks, one in four colour clocks. How many is the value in
//! its motion register, with the top bit inverted. An extra clock moves the object a pixel to the left, but only while the
//! line is blank: in the visible part it merges with the ordinary clock. In time the strobe also makes the blank eight
//! pixels longer, which moves everything to the right by eight and shows as the *comb* on the left.

/// By how many pixels to the left, and whether there is a comb.
pub(super) struct Motion {
    sent: i32,
    missed: i32,
    pub(super) comb: bool,
    /// The strobe comes so late that it is one of the next line.
    pub(super) late: bool,
}

impl Motion {
    /// The strobe in the given cycle of a line.
    pub(super) fn at(cycle: i32) -> Self {
        if cycle < 20 {
            Self { sent: ((67 - 3 * cycle) / 4).min(15), missed: 0, comb: true, late: false }
        } else if cycle < 74 {
            Self { sent: 15, missed: ((219 - 3 * cycle) / 4).clamp(0, 15), comb: false, late: false }
        } else {
            Self { sent: 15, missed: 0, comb: true, late: true }
        }
    }

    /// How far an object with this motion register goes to the left.
    pub(super) fn left(&self, register: u8) -> i32 {
        let clocks = i32::from(register >> 4 ^ 8);
        (clocks.min(self.sent) - self.missed).max(0) - if self.comb { 8 } else { 0 }
    }
}

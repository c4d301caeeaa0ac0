//! The chip in Pitfall II: it fetches graphics from two kilobytes of its own, draws random numbers and makes music.
//!
//! There are eight fetchers. Each has a counter that runs down through the graphics, and a top and a bottom between which
//! its flag is set.

use super::tape::Tape;

/// The fetchers and the random number.
#[derive(Clone)]
pub(super) struct Dpc {
    counters: [u16; 8],
    tops: [u8; 8],
    bottoms: [u8; 8],
    flags: [u8; 8],
    random: u8,
}

impl Dpc {
    pub(super) fn new() -> Self {
        Self { counters: [0; 8], tops: [0; 8], bottoms: [0; 8], flags: [0; 8], random: 1 }
    }

    /// Reads a register below $40: the function in bits 3 to 5, the fetcher in bits 0 to 2.
    pub(super) fn read(&mut self, place: u16, graphics: &[u8]) -> u8 {
        self.clock_random();
        let (function, fetcher) = (place >> 3 & 7, usize::from(place & 7));
        let low = self.counters[fetcher] as u8;
        if low == self.tops[fetcher] {
            self.flags[fetcher] = 0xFF;
        } else if low == self.bottoms[fetcher] {
            self.flags[fetcher] = 0;
        }
        // The graphics lie in memory from the end.
        let byte = graphics[usize::from(2047 - (self.counters[fetcher] & 0x7FF))];
        let value = match function {
            0 if fetcher < 4 => self.random,
            0 => 0,
            1 => byte,
            2 => byte & self.flags[fetcher],
            7 => self.flags[fetcher],
            _ => 0,
        };
        self.counters[fetcher] = self.counters[fetcher].wrapping_sub(1) & 0x7FF;
        value
    }

    /// Writes a register from $40 on.
    pub(super) fn write(&mut self, place: u16, value: u8) {
        self.clock_random();
        let (function, fetcher) = (place >> 3 & 7, usize::from(place & 7));
        match function {
            0 => {
                self.tops[fetcher] = value;
                self.flags[fetcher] = 0;
            }
            1 => self.bottoms[fetcher] = value,
            2 => self.counters[fetcher] = self.counters[fetcher] & 0x700 | u16::from(value),
            3 => self.counters[fetcher] = u16::from(value & 7) << 8 | self.counters[fetcher] & 0xFF,
            6 => self.random = 1,
            _ => {}
        }
    }

    /// A shift register whose new bit is the exclusive nor of four taps.
    fn clock_random(&mut self) {
        let taps = self.random >> 7 ^ self.random >> 5 ^ self.random >> 4 ^ self.random >> 3;
        self.random = self.random << 1 | !taps & 1;
    }

    pub(super) fn state(&mut self, tape: &mut Tape) {
        for counter in &mut self.counters {
            tape.word(counter);
        }
        tape.bytes(&mut self.tops);
        tape.bytes(&mut self.bottoms);
        tape.bytes(&mut self.flags);
        tape.byte(&mut self.random);
    }
}

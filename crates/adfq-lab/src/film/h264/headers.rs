//! What precedes the macroblocks: parameter sets and slice headers (H.264, 7.3.2.1, 7.3.2.2, 7.3.3).

use crate::film::bits::{Bits, unit};
use crate::film::yuv::BLOCK;
use crate::{Error, Result};

/// Constrained baseline, which every decoder knows.
pub const PROFILE: u8 = 66;
pub const CONSTRAINTS: u8 = 0b1100_0000;
/// Frames are numbered modulo 2 to this power.
const NUMBER_BITS: u32 = 4;

/// Levels by macroblocks in a frame and in a second (table A-1). Below 3.1 there is nothing to gain.
const LEVELS: [(u8, u32, u32); 6] = [
    (31, 3_600, 108_000),
    (32, 5_120, 216_000),
    (40, 8_192, 245_760),
    (50, 22_080, 589_824),
    (51, 36_864, 983_040),
    (52, 36_864, 2_073_600),
];

/// The form of a film.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub width: usize,
    pub height: usize,
    /// Frames a second.
    pub rate: u32,
    /// Ten times the level's number.
    pub level: u8,
}

impl Shape {
    /// A form that decoders can show, or an error.
    pub fn new(width: usize, height: usize, rate: u32) -> Result<Self> {
        let refuse = |reason: &str| Error::FilmPicture { width, height, reason: reason.into() };
        if width == 0 || height == 0 {
            return Err(refuse("it has no pixels"));
        }
        let (columns, rows) = (width.div_ceil(BLOCK), height.div_ceil(BLOCK));
        let blocks = u32::try_from(columns * rows).map_err(|_| refuse("it is too large for H.264"))?;
        let fits = |&&(_, most, a_second): &&(u8, u32, u32)| {
            // No side may be longer than √(8 × the most macroblocks) (A.3.1).
            let side = (columns * columns).max(rows * rows) <= 8 * most as usize;
            side && blocks <= most && u64::from(blocks) * u64::from(rate) <= u64::from(a_second)
        };
        let level =
            LEVELS.iter().find(fits).ok_or_else(|| refuse("no level of H.264 has so much in a second"))?;
        Ok(Self { width, height, rate, level: level.0 })
    }

    /// The size that is shown: a decoder crops to pairs of pixels.
    pub fn shown(&self) -> (usize, usize) {
        (self.width.next_multiple_of(2), self.height.next_multiple_of(2))
    }

    /// Macroblocks in a row, and rows of them.
    pub fn blocks(&self) -> (usize, usize) {
        (self.width.div_ceil(BLOCK), self.height.div_ceil(BLOCK))
    }
}

/// The sequence parameter set, as a NAL unit.
pub fn sequence(shape: &Shape) -> Vec<u8> {
    let mut bits = Bits::default();
    [PROFILE, CONSTRAINTS, shape.level].iter().for_each(|&byte| bits.put(byte.into(), 8));
    bits.unsigned(0); // its number
    bits.unsigned(NUMBER_BITS - 4);
    bits.unsigned(2); // pictures are shown in the order in which they come
    bits.unsigned(1); // one reference frame
    bits.flag(false); // no gaps in the numbers
    let (columns, rows) = shape.blocks();
    bits.unsigned(columns as u32 - 1);
    bits.unsigned(rows as u32 - 1);
    bits.flag(true); // frames, not fields
    bits.flag(true); // direct_8x8_inference, of no use without B slices
    crop(&mut bits, shape);
    bits.flag(true);
    usability(&mut bits, shape.rate);
    unit(0x67, &bits.finish())
}

/// What of the whole macroblocks is not shown, in pairs of pixels. A last odd column or row is shown twice.
fn crop(bits: &mut Bits, shape: &Shape) {
    let pairs = |length: usize| ((length.div_ceil(BLOCK) * BLOCK - length) / 2) as u32;
    let (right, bottom) = (pairs(shape.width), pairs(shape.height));
    bits.flag(right + bottom > 0);
    if right + bottom > 0 {
        [0, right, 0, bottom].iter().for_each(|&length| bits.unsigned(length));
    }
}

/// Video usability information (annex E).
fn usability(bits: &mut Bits, rate: u32) {
    bits.flag(true); // aspect ratio
    bits.put(1, 8); // square pixels
    bits.flag(false); // overscan
    bits.flag(true); // video signal
    bits.put(5, 3); // of no particular format
    bits.flag(false); // limited range
    bits.flag(true);
    (0..3).for_each(|_| bits.put(6, 8)); // primaries, transfer and matrix of BT.601
    bits.flag(true); // chroma location
    bits.unsigned(1); // the middle of four pixels
    bits.unsigned(1);
    bits.flag(true); // timing
    bits.put(1, 32);
    bits.put(2 * rate, 32); // in fields
    bits.flag(true);
    bits.flag(false); // no hypothetical decoders
    bits.flag(false);
    bits.flag(false); // no picture structure messages
    bits.flag(true); // restrictions
    bits.flag(true); // vectors over the edge, unused
    bits.unsigned(0); // bytes in a picture: any
    bits.unsigned(0); // bits in a macroblock: any
    bits.unsigned(16);
    bits.unsigned(16);
    bits.unsigned(0); // nothing is reordered, so that a decoder shows each frame at once
    bits.unsigned(1); // frames to keep
}

/// The picture parameter set, as a NAL unit.
pub fn picture() -> Vec<u8> {
    let mut bits = Bits::default();
    bits.unsigned(0); // its number
    bits.unsigned(0); // that of the sequence parameter set
    bits.flag(false); // CAVLC
    bits.flag(false); // no field order
    bits.unsigned(0); // one slice group
    bits.unsigned(0); // one reference in list 0
    bits.unsigned(0);
    bits.flag(false); // no weights
    bits.put(0, 2);
    bits.signed(0); // QP 26 unless a slice says otherwise
    bits.signed(0);
    bits.signed(0); // chroma as luma
    bits.flag(true); // slices control the deblocking filter
    bits.flag(false);
    bits.flag(false);
    unit(0x68, &bits.finish())
}

/// The header of a slice that is a whole frame. `key` is the number of key frames so far, for one of them; `number`
/// counts the frames since the last.
pub fn slice(bits: &mut Bits, key: Option<u32>, number: u32, qp: i32) {
    bits.unsigned(0); // the first macroblock
    bits.unsigned(if key.is_some() { 7 } else { 5 }); // all slices are I, or P
    bits.unsigned(0); // the picture parameter set
    bits.put(number % (1 << NUMBER_BITS), NUMBER_BITS);
    match key {
        Some(count) => {
            bits.unsigned(count % 2); // neighbouring key frames have to differ
            bits.flag(false);
            bits.flag(false); // a short-term reference
        }
        None => {
            bits.flag(false); // as many references as the parameter set says
            bits.flag(false); // in their order
            bits.flag(false); // a frame replaces the oldest reference
        }
    }
    bits.signed(qp - 26);
    bits.unsigned(1); // no deblocking filter
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_follow_size_and_rate() {
        let level = |width, height, rate| Shape::new(width, height, rate).map(|shape| shape.level).ok();
        assert_eq!(level(800, 440, 25), Some(31));
        assert_eq!(level(1280, 720, 30), Some(31));
        assert_eq!(level(1280, 720, 31), Some(32));
        assert_eq!(level(1920, 1080, 30), Some(40));
        assert_eq!(level(3840, 2160, 60), Some(52));
        assert_eq!(level(16, 16 * 300, 1), Some(50));
        assert_eq!(level(10_000, 10_000, 25), None);
        assert_eq!(level(0, 3, 25), None);
        let error = Shape::new(10_000, 10_000, 25).unwrap_err().to_string();
        assert!(error.contains("10000 × 10000"), "{error}");
    }

    /// The first bytes of both sets are known; the rest is read by decoders in other tests.
    #[test]
    fn sets_begin_as_the_standard_says() {
        let set = sequence(&Shape::new(800, 440, 25).unwrap());
        assert_eq!(set[..4], [0x67, 66, 0xc0, 31]);
        assert_eq!(picture(), [0x68, 0b1100_1110, 0b0011_1100, 0b1000_0000]);
    }
}

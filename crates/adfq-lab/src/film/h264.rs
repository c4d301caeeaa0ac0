//! A small H.264 encoder for pictures that hardly change: a macroblock as it was is skipped, any other one is stored
//! as it is. What a decoder shows is exactly what came in.
//!
//! Colours are the work of [`yuv`](super::yuv), the file that of [`mp4`](super::mp4).

mod headers;

use super::bits::{Bits, unit};
use super::yuv::{BLOCK, Planes};
use crate::Result;
pub use headers::{CONSTRAINTS, PROFILE, Shape};

/// Every so many frames comes one that needs no other, to which players can jump.
const KEY_INTERVAL: u32 = 250;

/// Where frames become NAL units.
pub struct Encoder {
    shape: Shape,
    /// The last frame.
    shown: Option<Planes>,
    /// Frames since the last key frame, and key frames so far.
    number: u32,
    keys: u32,
}

/// A coded frame.
pub struct Coded {
    /// The NAL unit.
    pub unit: Vec<u8>,
    /// Whether it can be decoded without those before it.
    pub key: bool,
}

impl Encoder {
    /// An encoder for frames of this size.
    pub fn new(width: usize, height: usize, rate: u32) -> Result<Self> {
        Ok(Self { shape: Shape::new(width, height, rate)?, shown: None, number: 0, keys: 0 })
    }

    /// The form of the film.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The sequence and the picture parameter set.
    pub fn parameters(&self) -> [Vec<u8>; 2] {
        [headers::sequence(&self.shape), headers::picture()]
    }

    /// The next frame, of the encoder's size.
    pub fn encode(&mut self, planes: Planes) -> Coded {
        let before = self.shown.take().filter(|_| self.number < KEY_INTERVAL);
        let key = before.is_none();
        if key {
            self.number = 0;
        }
        let mut bits = Bits::default();
        headers::slice(&mut bits, key.then_some(self.keys), self.number, 26);
        self.blocks(&mut bits, &planes, before.as_ref());
        self.keys += u32::from(key);
        self.number += 1;
        self.shown = Some(planes);
        // Both are references of the highest kind: of type 5 for key frames, else 1.
        Coded { unit: unit(if key { 0x65 } else { 0x61 }, &bits.finish()), key }
    }

    fn blocks(&self, bits: &mut Bits, planes: &Planes, before: Option<&Planes>) {
        let (columns, rows) = self.shape.blocks();
        let mut skipped = 0;
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
            match before {
                Some(before) if same(planes, before, column, row) => {
                    skipped += 1;
                    continue;
                }
                Some(_) => bits.unsigned(std::mem::take(&mut skipped)),
                None => {}
            }
            // I_PCM is type 25 among the intra types, which in P slices come after five others.
            bits.unsigned(if before.is_some() { 30 } else { 25 });
            bits.align();
            each_run(column, row, |plane, x, y, length| bits.extend(planes.0[plane].run(x, y, length)));
        }
        if skipped > 0 {
            bits.unsigned(skipped);
        }
    }
}

/// The rows of a macroblock's samples: which plane, where, and how long.
fn each_run(column: usize, row: usize, mut take: impl FnMut(usize, usize, usize, usize)) {
    for plane in 0..3 {
        let side = if plane == 0 { BLOCK } else { BLOCK / 2 };
        (0..side).for_each(|line| take(plane, column * side, row * side + line, side));
    }
}

/// Whether a macroblock is what it was.
fn same(planes: &Planes, before: &Planes, column: usize, row: usize) -> bool {
    let mut same = true;
    each_run(column, row, |plane, x, y, length| {
        same = same && planes.0[plane].run(x, y, length) == before.0[plane].run(x, y, length);
    });
    same
}

#[cfg(test)]
mod tests {
    use super::*;
    use adfq::random::stream;
    use adfq_env::Picture;
    use proptest::prelude::*;
    use rand::Rng;
    use rusty_h264_decoder::Decoder;

    /// The stream as decoders without a container want it.
    fn annex_b(units: &[Vec<u8>]) -> Vec<u8> {
        units.iter().flat_map(|unit| [[0, 0, 0, 1].as_slice(), unit].concat()).collect()
    }

    /// Codes the film, decodes it with somebody else's decoder, and compares every sample that is shown.
    fn check(film: &[Picture]) -> Vec<bool> {
        let mut encoder = Encoder::new(film[0].width, film[0].height, 25).unwrap();
        let (width, height) = encoder.shape().shown();
        let mut decoder = Decoder::new();
        assert!(decoder.decode(&annex_b(&encoder.parameters())).unwrap().is_none());
        let mut keys = vec![];
        for picture in film {
            let planes = Planes::of(picture);
            let coded = encoder.encode(planes.clone());
            keys.push(coded.key);
            let shown = decoder.decode(&annex_b(&[coded.unit])).unwrap().unwrap();
            assert_eq!((shown.width, shown.height), (width, height));
            for (plane, samples) in planes.0.iter().zip([shown.y, shown.u, shown.v]) {
                let half = if plane.width == planes.0[0].width { 1 } else { 2 };
                for (y, row) in samples.chunks_exact(width / half).enumerate() {
                    assert!(row == plane.run(0, y, width / half), "frame {}, row {y}", keys.len());
                }
            }
        }
        keys
    }

    fn noise(width: usize, height: usize, seed: u64) -> Picture {
        let mut rgb = vec![0; 3 * width * height];
        stream(seed, "noise").fill_bytes(&mut rgb);
        Picture { width, height, rgb }
    }

    #[test]
    fn key_frames_come_in_time_and_are_whole() {
        let film: Vec<_> = (0..260).map(|i| noise(20, 18, i / 3)).collect();
        let keys: Vec<_> = check(&film).iter().enumerate().filter(|(_, key)| **key).map(|(i, _)| i).collect();
        assert_eq!(keys, [0, 250]);
    }

    #[test]
    fn a_picture_that_stays_costs_next_to_nothing() {
        let mut encoder = Encoder::new(800, 432, 25).unwrap();
        let planes = Planes::of(&noise(800, 432, 0));
        encoder.encode(planes.clone());
        assert!(encoder.encode(planes).unit.len() < 16);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn decoders_show_what_was_filmed(
            width in 1..70_usize,
            height in 1..50_usize,
            changes in proptest::collection::vec((0..3500_usize, 1..400_usize, any::<u8>()), 1..12),
        ) {
            let mut picture = noise(width, height, 1);
            let mut film = vec![picture.clone()];
            for (from, length, value) in changes {
                let from = from % picture.rgb.len();
                let to = picture.rgb.len().min(from + length);
                // Flat parts have long runs of zeros where emulation prevention has work to do.
                picture.rgb[from..to].fill(value / 128 * 255);
                film.push(picture.clone());
            }
            check(&film);
        }
    }
}

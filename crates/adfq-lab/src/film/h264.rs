//! A small H.264 encoder for pictures that hardly change: a macroblock as it was is skipped, of any other one the
//! change is coded, coarsely while it moves and finely once it stays. There is no motion; in key frames macroblocks are
//! predicted by the mean of their edges.
//!
//! Colours are the work of [`yuv`](super::yuv), the file that of [`mp4`](super::mp4).

mod cavlc;
mod headers;
mod macroblock;
mod tables;
mod transform;

use super::bits::{Bits, unit};
use super::yuv::{BLOCK, Plane, Planes};
use crate::Result;
pub use headers::{CONSTRAINTS, PROFILE, Shape};
use macroblock::{Frame, Place};
use transform::Quantiser;

/// Every so many frames comes one that needs no other, to which players can jump.
const KEY_INTERVAL: u32 = 250;
/// While a macroblock changes, its coefficients have steps of 4; when it stays they get steps of 2, so that what moved
/// away leaves no shadow.
const MOVING: Quantiser = Quantiser::new(16);
const STILL: Quantiser = Quantiser::new(10);

/// Where frames become NAL units.
pub struct Encoder {
    shape: Shape,
    /// The last frame as it was meant, and as decoders show it.
    last: Option<(Planes, Planes)>,
    /// Which macroblocks decoders show finely.
    fine: Vec<bool>,
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
        let shape = Shape::new(width, height, rate)?;
        Ok(Self { shape, last: None, fine: vec![], number: 0, keys: 0 })
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
        let last = self.last.take().filter(|_| self.number < KEY_INTERVAL);
        let key = last.is_none();
        if key {
            self.number = 0;
        }
        let mut bits = Bits::default();
        headers::slice(&mut bits, key.then_some(self.keys), self.number, STILL.qp);
        let shown = match last {
            Some((before, shown)) => self.follow(&mut bits, &planes, &before, shown),
            None => self.begin(&mut bits, &planes),
        };
        self.keys += u32::from(key);
        self.number += 1;
        self.last = Some((planes, shown));
        // Both are references of the highest kind: of type 5 for key frames, else 1.
        Coded { unit: unit(if key { 0x65 } else { 0x61 }, &bits.finish()), key }
    }

    /// The column and row of every macroblock, in the order of the stream.
    fn places(&self) -> impl Iterator<Item = Place> + use<> {
        let (columns, rows) = self.shape.blocks();
        (0..rows).flat_map(move |row| (0..columns).map(move |column| (column, row)))
    }

    /// A key frame; gives what decoders show.
    fn begin(&mut self, bits: &mut Bits, planes: &Planes) -> Planes {
        let mut shown = Planes([0, 1, 2].map(|i| Plane::new(planes.0[i].width, planes.0[i].height)));
        let mut frame = Frame::new(planes, &mut shown, STILL.qp);
        self.places().for_each(|place| frame.begin(bits, place, &STILL));
        self.fine = vec![true; self.places().count()];
        shown
    }

    /// A frame after another, `before`, which decoders show as `shown`.
    fn follow(&mut self, bits: &mut Bits, planes: &Planes, before: &Planes, mut shown: Planes) -> Planes {
        let mut frame = Frame::new(planes, &mut shown, STILL.qp);
        let mut skipped = 0;
        for (place, fine) in self.places().zip(&mut self.fine) {
            let still = same(planes, before, place);
            let done = still && *fine;
            *fine = still;
            if !done && frame.follow(bits, place, skipped, if still { &STILL } else { &MOVING }) {
                skipped = 0;
            } else {
                skipped += 1;
            }
        }
        if skipped > 0 {
            bits.unsigned(skipped);
        }
        shown
    }
}

/// Whether a macroblock is what it was.
fn same(planes: &Planes, before: &Planes, (column, row): Place) -> bool {
    planes.0.iter().zip(&before.0).enumerate().all(|(i, (new, old))| {
        let side = if i == 0 { BLOCK } else { BLOCK / 2 };
        (side * row..side * (row + 1))
            .all(|y| new.run(side * column, y, side) == old.run(side * column, y, side))
    })
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

    /// Codes the film and decodes it with somebody else's decoder, which must show what the encoder believes it does,
    /// and nearly what was filmed. Gives which frames are key frames.
    fn check(film: &[Picture]) -> Vec<bool> {
        let mut encoder = Encoder::new(film[0].width, film[0].height, 25).unwrap();
        let (width, height) = encoder.shape().shown();
        let mut decoder = Decoder::new();
        assert!(decoder.decode(&annex_b(&encoder.parameters())).unwrap().is_none());
        let mut keys = vec![];
        for picture in film {
            let coded = encoder.encode(Planes::of(picture));
            keys.push(coded.key);
            let shown = decoder.decode(&annex_b(&[coded.unit])).unwrap().unwrap();
            assert_eq!((shown.width, shown.height), (width, height));
            let (source, expected) = encoder.last.as_ref().unwrap();
            for (i, samples) in [shown.y, shown.u, shown.v].iter().enumerate() {
                let width = if i == 0 { width } else { width / 2 };
                for (y, row) in samples.chunks_exact(width).enumerate() {
                    assert!(row == expected.0[i].run(0, y, width), "frame {}, row {y}", keys.len());
                }
                let pairs = source.0[i].samples.iter().zip(&expected.0[i].samples);
                let squares: f64 = pairs.map(|(a, b)| f64::from(a.abs_diff(*b)).powi(2)).sum();
                let error = (squares / source.0[i].samples.len() as f64).sqrt();
                // No coefficient is further off than two thirds of a step, 2^((16 − 4) / 6), and so it is with the
                // samples' mean square, but for rounding.
                assert!(error < 2.0 / 3.0 * 4.0 + 0.5, "frame {}: {error}", keys.len());
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
        assert!(encoder.encode(planes.clone()).unit.len() > 100_000);
        assert!(encoder.encode(planes).unit.len() < 16);
    }

    #[test]
    fn what_stays_becomes_fine() {
        let mut encoder = Encoder::new(64, 48, 25).unwrap();
        let worst = |encoder: &Encoder| {
            let (source, shown) = encoder.last.as_ref().unwrap();
            let errors =
                |i: usize| source.0[i].samples.iter().zip(&shown.0[i].samples).map(|(a, b)| a.abs_diff(*b));
            (0..3).flat_map(errors).max().unwrap()
        };
        encoder.encode(Planes::of(&noise(64, 48, 0)));
        let planes = Planes::of(&noise(64, 48, 1));
        let sizes = [(); 3].map(|()| encoder.encode(planes.clone()).unit.len());
        assert!(sizes[0] > sizes[1] && sizes[1] > 16 && sizes[2] < 16, "{sizes:?}");
        assert!(worst(&encoder) <= 3, "{}", worst(&encoder));
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

//! MP4 with H.264: `rusty_h264-encoder` codes the frames, `muxide` writes the file around them.
//!
//! Sizes and times of the encoders that were tried are in `docs/training.md`.

use crate::{Error, Result};
use adfq_env::Picture;
use muxide::api::{Muxer, MuxerBuilder, VideoCodec};
use rusty_h264_common::{Profile, YuvFrame};
use rusty_h264_encoder::{Encoder, EncoderConfig, Preset};

/// The most frames a second.
pub const FASTEST: u32 = 120;
/// Every so many frames comes one that needs no other, to which players can jump.
const KEY_INTERVAL: u32 = 250;
/// How coarse the frames are coded. Text stays sharp: the signal-to-noise ratio is above 50 dB.
const QUANTISER: u8 = 24;
/// How many earlier frames a frame may repeat. Bars and axes that move to and fro make three much better than one.
const REFERENCES: u32 = 3;
/// The side of a macroblock, the unit in which H.264 codes.
const BLOCK: usize = 16;

/// Levels by macroblocks in a frame and in a second (H.264, table A-1). Below 3.1 there is nothing to gain.
const LEVELS: [(u8, u32, u32); 6] = [
    (31, 3_600, 108_000),
    (32, 5_120, 216_000),
    (40, 8_192, 245_760),
    (50, 22_080, 589_824),
    (51, 36_864, 983_040),
    (52, 36_864, 2_073_600),
];

/// An MP4 under construction. Coded frames stay in memory, about 40 kB for a second, because the index of the file
/// comes before them: so a browser can play before it has the whole file.
pub struct Movie {
    encoder: Encoder,
    muxer: Muxer<Vec<u8>>,
    rate: u32,
    frames: u32,
}

impl Movie {
    /// The beginning of a video of this size, which must be even.
    pub fn new(width: usize, height: usize, rate: u32) -> Result<Self> {
        let settings = EncoderConfig {
            profile: Profile::Main,
            preset: Preset::Fast,
            level_idc: level(width, height, rate)?,
            qp: QUANTISER,
            gop_size: KEY_INTERVAL,
            num_ref_frames: REFERENCES,
            framerate: rate as f32,
            // Without a look ahead and a search for cuts every frame is coded as it comes.
            mbtree: false,
            lookahead: 0,
            scenecut: 0,
            ..EncoderConfig::new(width, height)
        };
        let encoder = Encoder::new(settings).map_err(failed)?;
        // Levels bound the sides: they fit.
        let (columns, rows) = (width as u32, height as u32);
        let muxer = MuxerBuilder::new(vec![])
            .video(VideoCodec::H264, columns, rows, rate.into())
            .with_fast_start(true)
            .build()
            .map_err(failed)?;
        Ok(Self { encoder, muxer, rate, frames: 0 })
    }

    /// The next frame, of the size of the video.
    pub fn push(&mut self, picture: &Picture) -> Result<()> {
        let coded = self.encoder.try_encode(&yuv(picture)).map_err(failed)?;
        let time = f64::from(self.frames) / f64::from(self.rate);
        let key = self.frames.is_multiple_of(KEY_INTERVAL);
        self.muxer.write_video(time, &coded, key).map_err(failed)?;
        self.frames += 1;
        Ok(())
    }

    /// The bytes of the file.
    pub fn finish(mut self) -> Result<Vec<u8>> {
        self.muxer.finish_in_place().map_err(failed)?;
        Ok(self.muxer.into_writer())
    }
}

fn failed(error: impl ToString) -> Error {
    Error::VideoCoding(error.to_string())
}

/// The lowest level that decoders need for such frames.
fn level(width: usize, height: usize, rate: u32) -> Result<u8> {
    let refuse = |reason: &str| Error::VideoPicture { width, height, reason: reason.into() };
    if width == 0 || height == 0 || width % 2 + height % 2 > 0 {
        return Err(refuse("an MP4 has an even number of pixels in both directions"));
    }
    let (columns, rows) = (width.div_ceil(BLOCK), height.div_ceil(BLOCK));
    let blocks = u32::try_from(columns * rows).map_err(|_| refuse("it is too large for H.264"))?;
    let fits = |&&(_, most, a_second): &&(u8, u32, u32)| {
        // No side may be longer than √(8 × the most macroblocks) (A.3.1).
        let side = (columns * columns).max(rows * rows) <= 8 * most as usize;
        side && blocks <= most && u64::from(blocks) * u64::from(rate) <= u64::from(a_second)
    };
    let found =
        LEVELS.iter().find(fits).ok_or_else(|| refuse("no level of H.264 has so much in a second"))?;
    Ok(found.0)
}

/// Y at every pixel, Cb and Cr at every second one in both directions (ITU-R BT.601, limited range).
fn yuv(picture: &Picture) -> YuvFrame {
    let (width, height) = (picture.width, picture.height);
    let y = picture.rgb.chunks_exact(3).map(brightness).collect();
    let (mut u, mut v) = (Vec::with_capacity(width * height / 4), Vec::with_capacity(width * height / 4));
    for rows in picture.rgb.chunks_exact(6 * width) {
        let (above, below) = rows.split_at(3 * width);
        for (above, below) in above.chunks_exact(6).zip(below.chunks_exact(6)) {
            let sum = |i: usize| [above[i], above[i + 3], below[i], below[i + 3]].map(i32::from).iter().sum();
            let (cb, cr) = colour([0, 1, 2].map(sum));
            u.push(cb);
            v.push(cr);
        }
    }
    YuvFrame { width, height, y, u, v }
}

/// 16 + (65.481 R + 128.553 G + 24.966 B) / 255, in units of 2⁻¹⁶.
fn brightness(rgb: &[u8]) -> u8 {
    let sum = 16_829 * u32::from(rgb[0]) + 33_039 * u32::from(rgb[1]) + 6_416 * u32::from(rgb[2]);
    (16 + ((sum + (1 << 15)) >> 16)) as u8
}

/// 128 + (−37.797 R − 74.203 G + 112 B) / 255 and 128 + (112 R − 93.786 G − 18.214 B) / 255, in units of 2⁻¹⁶, for
/// the sum of four pixels.
fn colour([red, green, blue]: [i32; 3]) -> (u8, u8) {
    let round = |sum: i32| (128 + ((sum + (1 << 17)) >> 18)) as u8;
    (
        round(-9_714 * red - 19_070 * green + 28_784 * blue),
        round(28_784 * red - 24_103 * green - 4_681 * blue),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use adfq::random::stream;
    use rand::RngExt;
    use rusty_h264_decoder::Decoder;

    fn flat(width: usize, height: usize, rgb: [u8; 3]) -> Picture {
        Picture { width, height, rgb: rgb.repeat(width * height) }
    }

    /// The colour bars of BT.601 at full amplitude.
    #[test]
    fn colours_are_those_of_the_recommendation() {
        let of = |rgb| {
            let frame = yuv(&flat(4, 2, rgb));
            assert_eq!((frame.y.len(), frame.u.len(), frame.v.len()), (8, 2, 2));
            [frame.y[7], frame.u[1], frame.v[1]]
        };
        assert_eq!(of([0, 0, 0]), [16, 128, 128]);
        assert_eq!(of([255, 255, 255]), [235, 128, 128]);
        assert_eq!(of([255, 0, 0]), [81, 90, 240]);
        assert_eq!(of([0, 255, 0]), [145, 54, 34]);
        assert_eq!(of([0, 0, 255]), [41, 240, 110]);
        assert_eq!(of([127, 127, 127]), [125, 128, 128]);
        // Black, white, blue and red share one colour.
        let rgb = [[0, 0, 0], [255, 255, 255], [0, 0, 255], [255, 0, 0]].concat();
        assert_eq!(yuv(&Picture { width: 2, height: 2, rgb }).u, [147]);
    }

    /// The next box of a file: its kind, its body and what follows.
    fn split(bytes: &[u8]) -> (&[u8], &[u8], &[u8]) {
        let length = u32::from_be_bytes(bytes[..4].try_into().unwrap()) as usize;
        (&bytes[4..8], &bytes[8..length], &bytes[length..])
    }

    /// The coded frames of a file, as a decoder without a container wants them.
    fn units(file: &[u8]) -> Vec<Vec<u8>> {
        let (mut kinds, mut rest, mut media) = (vec![], file, &[][..]);
        while !rest.is_empty() {
            let (kind, body, after) = split(rest);
            kinds.push(std::str::from_utf8(kind).unwrap());
            (media, rest) = (body, after);
        }
        assert_eq!(kinds, ["ftyp", "moov", "mdat"], "the index comes before the frames");
        let mut units = vec![];
        while !media.is_empty() {
            let length = u32::from_be_bytes(media[..4].try_into().unwrap()) as usize;
            units.push([&[0, 0, 0, 1], &media[4..4 + length]].concat());
            media = &media[4 + length..];
        }
        units
    }

    /// Somebody else's decoder shows nearly what was recorded.
    #[test]
    fn decoders_show_what_was_recorded() {
        let mut rng = stream(1, "video");
        let mut picture = flat(96, 64, [255; 3]);
        let mut movie = Movie::new(96, 64, 25).unwrap();
        let (mut pictures, frames) = (vec![], 260);
        for _ in 0..frames {
            let (from, length) = (rng.random_range(0..picture.rgb.len() - 400), rng.random_range(1..400));
            let value = rng.random_range(0..=255);
            picture.rgb[from..from + length].fill(value);
            movie.push(&picture).unwrap();
            pictures.push(yuv(&picture));
        }
        let mut decoder = Decoder::new();
        let (mut shown, mut keys) = (vec![], vec![]);
        for unit in units(&movie.finish().unwrap()) {
            if unit[4] & 31 == 5 {
                keys.push(shown.len());
            }
            shown.extend(decoder.decode(&unit).unwrap());
        }
        assert_eq!((shown.len(), keys), (frames, vec![0, 250]));
        let error = |(shown, meant): (&YuvFrame, &YuvFrame)| {
            assert_eq!((shown.width, shown.height), (96, 64));
            let pairs = shown.y.iter().zip(&meant.y);
            let squares: f64 = pairs.map(|(a, b)| f64::from(a.abs_diff(*b)).powi(2)).sum();
            (squares / meant.y.len() as f64).sqrt()
        };
        let errors: Vec<f64> = shown.iter().zip(&pictures).map(error).collect();
        // A quantiser of 24 has steps of 10. With its dead zone no coefficient is further off than 5/6 of a step, and so
        // it is with the samples' mean square. Errors that are uniform within half a step have a mean square of 10²/12.
        let worst = errors.iter().copied().fold(0.0, f64::max);
        assert!(worst < 5.0 / 6.0 * 10.0, "{worst}");
        let mean = adfq_report::stats::mean(&errors);
        assert!(mean < 10.0 / 12_f64.sqrt(), "{mean}");
    }

    #[test]
    fn a_picture_that_stays_costs_next_to_nothing() {
        let size = |frames: usize| {
            let mut movie = Movie::new(800, 432, 25).unwrap();
            (0..frames).for_each(|_| movie.push(&flat(800, 432, [200, 30, 90])).unwrap());
            movie.finish().unwrap().len()
        };
        assert!((size(101) - size(1)) / 100 < 100);
    }

    #[test]
    fn levels_follow_size_and_rate() {
        let level = |width, height, rate| level(width, height, rate).ok();
        assert_eq!(level(1080, 432, 25), Some(31));
        assert_eq!(level(1280, 720, 30), Some(31));
        assert_eq!(level(1280, 720, 60), Some(32));
        assert_eq!(level(1920, 1080, 30), Some(40));
        assert_eq!(level(3840, 2160, 60), Some(52));
        assert_eq!(level(3840, 2160, 120), None);
        assert_eq!(level(16, 16 * 200, 1), Some(32));
        assert_eq!([level(0, 2, 25), level(3, 2, 25), level(2, 3, 25)], [None; 3]);
    }
}

//! Pictures as films store them: brightness at every pixel, colour at every second one in both directions.

use adfq_env::Picture;

/// The side of a macroblock, the unit in which H.264 codes.
pub const BLOCK: usize = 16;

/// One of the three components, in rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plane {
    /// Samples in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// The samples.
    pub samples: Vec<u8>,
}

impl Plane {
    /// A plane of zeros.
    pub fn new(width: usize, height: usize) -> Self {
        Self { width, height, samples: vec![0; width * height] }
    }

    /// `length` samples of a row.
    pub fn run(&self, x: usize, y: usize, length: usize) -> &[u8] {
        &self.samples[y * self.width + x..][..length]
    }

    /// As [`Plane::run`], to be written.
    pub fn run_mut(&mut self, x: usize, y: usize, length: usize) -> &mut [u8] {
        &mut self.samples[y * self.width + x..][..length]
    }
}

/// Y, Cb and Cr (ITU-R BT.601, limited range), in whole macroblocks: beyond the picture its edge goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planes(pub [Plane; 3]);

impl Planes {
    /// Converts a picture that has pixels.
    pub fn of(picture: &Picture) -> Self {
        let whole = |length: usize| length.div_ceil(BLOCK) * BLOCK;
        let (width, height) = (whole(picture.width), whole(picture.height));
        let mut y = Plane::new(width, height);
        let mut colours = [(); 2].map(|()| Plane::new(width / 2, height / 2));
        let mut above = vec![[0_u16; 3]; width];
        for row in 0..height {
            let from = 3 * picture.width * row.min(picture.height - 1);
            let line = &picture.rgb[from..from + 3 * picture.width];
            let luma = y.run_mut(0, row, width);
            // A row's colours are added to those of the row above it, with which it shares them.
            let keep = u16::from(row % 2 == 1);
            for ((sample, sum), rgb) in luma.iter_mut().zip(&mut above).zip(line.chunks_exact(3)) {
                *sample = brightness([rgb[0], rgb[1], rgb[2]]);
                (0..3).for_each(|i| sum[i] = keep * sum[i] + u16::from(rgb[i]));
            }
            let (sample, sum) = (luma[picture.width - 1], above[picture.width - 1]);
            luma[picture.width..].fill(sample);
            above[picture.width..].fill(sum);
            if row % 2 == 1 {
                let [cb, cr] = &mut colours;
                let (cb, cr) = (cb.run_mut(0, row / 2, width / 2), cr.run_mut(0, row / 2, width / 2));
                for (x, pair) in above.chunks_exact(2).enumerate() {
                    let sum = [0, 1, 2].map(|i| i32::from(pair[0][i] + pair[1][i]));
                    (cb[x], cr[x]) = colour(sum);
                }
            }
        }
        let [cb, cr] = colours;
        Self([y, cb, cr])
    }
}

/// 16 + (65.481 R + 128.553 G + 24.966 B) / 255, in units of 2⁻¹⁶.
fn brightness([red, green, blue]: [u8; 3]) -> u8 {
    let sum = 16_829 * u32::from(red) + 33_039 * u32::from(green) + 6_416 * u32::from(blue);
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

    fn flat(rgb: [u8; 3]) -> [u8; 3] {
        let planes = Planes::of(&Picture { width: 3, height: 5, rgb: rgb.repeat(15) });
        planes.0.map(|plane| {
            assert!(plane.samples.iter().all(|sample| *sample == plane.samples[0]));
            plane.samples[0]
        })
    }

    /// The colour bars of BT.601 at full amplitude.
    #[test]
    fn colours_are_those_of_the_recommendation() {
        assert_eq!(flat([0, 0, 0]), [16, 128, 128]);
        assert_eq!(flat([255, 255, 255]), [235, 128, 128]);
        assert_eq!(flat([255, 0, 0]), [81, 90, 240]);
        assert_eq!(flat([0, 255, 0]), [145, 54, 34]);
        assert_eq!(flat([0, 0, 255]), [41, 240, 110]);
        assert_eq!(flat([127, 127, 127]), [125, 128, 128]);
    }

    #[test]
    fn edges_go_on_and_colour_is_a_mean_of_four() {
        let rgb = [[0, 0, 0], [255, 255, 255], [0, 0, 255], [255, 0, 0]].concat();
        let Planes([y, cb, cr]) = Planes::of(&Picture { width: 2, height: 2, rgb });
        assert_eq!((y.width, y.height, cb.width, cr.height), (16, 16, 8, 8));
        assert_eq!(y.run(0, 0, 4), [16, 235, 235, 235]);
        assert_eq!(y.run(0, 1, 4), [41, 81, 81, 81]);
        assert_eq!(y.run(0, 15, 4), [41, 81, 81, 81]);
        assert_eq!(cb.run(0, 0, 1), [147]);
        // Beyond the right edge white and red go on: (2·90 + 2·128) / 4.
        assert_eq!(cb.run(1, 0, 1), [109]);
    }
}

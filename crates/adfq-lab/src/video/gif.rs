//! GIF: what changed since the last frame, in colours that are exact as long as there are at most 255 of them.

use crate::{Error, Result};
use adfq_env::Picture;
use std::collections::HashMap;

/// Browsers show shorter delays than two hundredths of a second as ten.
pub const FASTEST: u32 = 50;
/// The index of pixels that stay as they are; colours come after it.
const SAME: u8 = 0;

/// A GIF under construction.
pub struct Animation {
    encoder: gif::Encoder<Vec<u8>>,
    rate: u32,
    frames: u32,
    shown: Option<Picture>,
}

/// A part of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Region {
    left: usize,
    top: usize,
    width: usize,
    height: usize,
}

impl Animation {
    /// The beginning of a GIF that repeats for ever.
    pub fn new(width: usize, height: usize, rate: u32) -> Result<Self> {
        let side = |length: usize| u16::try_from(length).ok().filter(|&length| length > 0);
        let (Some(columns), Some(rows)) = (side(width), side(height)) else {
            let reason = "a GIF has 1 to 65535 pixels in both directions".into();
            return Err(Error::VideoPicture { width, height, reason });
        };
        let mut encoder = gif::Encoder::new(vec![], columns, rows, &[]).map_err(failed)?;
        encoder.set_repeat(gif::Repeat::Infinite).map_err(failed)?;
        Ok(Self { encoder, rate, frames: 0, shown: None })
    }

    /// The next frame, of the size of the first.
    pub fn push(&mut self, picture: &Picture) -> Result<()> {
        let region = changed(picture, self.shown.as_ref());
        let (pixels, palette) = indices(picture, self.shown.as_ref(), region);
        // Sizes have been checked against those of the file.
        let [left, top, width, height] =
            [region.left, region.top, region.width, region.height].map(|length| length as u16);
        let mut frame = gif::Frame::from_palette_pixels(width, height, pixels, palette, Some(SAME));
        (frame.left, frame.top, frame.delay) = (left, top, self.delay());
        self.encoder.write_frame(&frame).map_err(failed)?;
        self.frames += 1;
        self.shown = Some(picture.clone());
        Ok(())
    }

    /// The bytes of the file.
    pub fn finish(self) -> Result<Vec<u8>> {
        self.encoder.into_inner().map_err(failed)
    }

    /// How long the next frame is shown, in hundredths of a second: 3, 3, 4 at thirty frames a second.
    fn delay(&self) -> u16 {
        let due = |frame: u64| 100 * frame / u64::from(self.rate);
        let frame = u64::from(self.frames);
        (due(frame + 1) - due(frame)) as u16
    }
}

fn failed(error: gif::EncodingError) -> Error {
    Error::VideoCoding(error.to_string())
}

fn pixel(picture: &Picture, x: usize, y: usize) -> &[u8] {
    &picture.rgb[3 * (y * picture.width + x)..][..3]
}

/// The smallest region with all that is new; a single pixel where nothing is.
fn changed(picture: &Picture, shown: Option<&Picture>) -> Region {
    let Some(shown) = shown else {
        return Region { left: 0, top: 0, width: picture.width, height: picture.height };
    };
    let (mut left, mut right, mut top, mut bottom) = (usize::MAX, 0, usize::MAX, 0);
    let rows = picture.rgb.chunks_exact(3 * picture.width).zip(shown.rgb.chunks_exact(3 * picture.width));
    for (y, (new, old)) in rows.enumerate() {
        let Some(first) = new.iter().zip(old).position(|(new, old)| new != old) else { continue };
        let last = new.iter().zip(old).rposition(|(new, old)| new != old).unwrap_or(first);
        (left, right) = (left.min(first / 3), right.max(last / 3));
        (top, bottom) = (top.min(y), y);
    }
    match top {
        usize::MAX => Region { left: 0, top: 0, width: 1, height: 1 },
        _ => Region { left, top, width: right - left + 1, height: bottom - top + 1 },
    }
}

/// Each pixel of the region as an index into a palette, and the palette.
fn indices(picture: &Picture, shown: Option<&Picture>, region: Region) -> (Vec<u8>, Vec<u8>) {
    // Too many colours are made fewer by dropping their lowest bits. With six gone there are 64 at most.
    (0..=6)
        .find_map(|dropped| try_indices(picture, shown, region, dropped))
        .unwrap_or_else(|| (vec![SAME; region.width * region.height], vec![0; 3]))
}

fn try_indices(
    picture: &Picture,
    shown: Option<&Picture>,
    region: Region,
    dropped: u32,
) -> Option<(Vec<u8>, Vec<u8>)> {
    let mut palette: HashMap<[u8; 3], u8> = HashMap::new();
    let mut colours = vec![0; 3];
    let mut pixels = Vec::with_capacity(region.width * region.height);
    // Neighbours are often equal.
    let mut last: Option<([u8; 3], u8)> = None;
    for y in region.top..region.top + region.height {
        for x in region.left..region.left + region.width {
            let rgb = pixel(picture, x, y);
            if shown.is_some_and(|shown| pixel(shown, x, y) == rgb) {
                pixels.push(SAME);
                continue;
            }
            let colour = [rgb[0], rgb[1], rgb[2]].map(|value| coarse(value, dropped));
            let index = match last {
                Some((same, index)) if same == colour => index,
                _ => match palette.get(&colour) {
                    Some(&index) => index,
                    None => {
                        let index = u8::try_from(palette.len() + 1).ok()?;
                        palette.insert(colour, index);
                        colours.extend(colour);
                        index
                    }
                },
            };
            last = Some((colour, index));
            pixels.push(index);
        }
    }
    Some((pixels, colours))
}

/// The value without its lowest bits, stretched such that 255 stays 255.
fn coarse(value: u8, dropped: u32) -> u8 {
    let most = u32::from(u8::MAX >> dropped);
    ((u32::from(value >> dropped) * 255 + most / 2) / most) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn play(pictures: &[Picture], rate: u32) -> (Vec<Vec<u8>>, Vec<u16>) {
        let first = &pictures[0];
        let mut animation = Animation::new(first.width, first.height, rate).unwrap();
        pictures.iter().for_each(|picture| animation.push(picture).unwrap());
        let bytes = animation.finish().unwrap();
        let mut options = gif::DecodeOptions::new();
        options.set_color_output(gif::ColorOutput::RGBA);
        let mut decoder = options.read_info(bytes.as_slice()).unwrap();
        let mut canvas = vec![0; first.rgb.len()];
        let (mut shown, mut delays) = (vec![], vec![]);
        while let Some(frame) = decoder.read_next_frame().unwrap() {
            delays.push(frame.delay);
            for (i, rgba) in frame.buffer.chunks_exact(4).enumerate().filter(|(_, rgba)| rgba[3] > 0) {
                let (x, y) = (i % frame.width as usize, i / frame.width as usize);
                let at = (y + frame.top as usize) * first.width + x + frame.left as usize;
                canvas[3 * at..][..3].copy_from_slice(&rgba[..3]);
            }
            shown.push(canvas.clone());
        }
        (shown, delays)
    }

    fn picture(colour: impl Fn(usize) -> [u8; 3]) -> Picture {
        Picture { width: 40, height: 30, rgb: (0..1200).flat_map(colour).collect() }
    }

    #[test]
    fn frames_are_exact_while_there_are_few_colours() {
        let video: Vec<Picture> = (0..5)
            .map(|frame| {
                picture(|i| if i / 3 == 7 * frame { [200, frame as u8, 9] } else { [(i % 100) as u8; 3] })
            })
            .chain([picture(|i| [(i % 100) as u8; 3]), picture(|i| [(i % 100) as u8; 3])])
            .collect();
        let (shown, delays) = play(&video, 30);
        assert_eq!(delays, [3, 3, 4, 3, 3, 4, 3]);
        assert!(shown.iter().zip(&video).all(|(shown, picture)| *shown == picture.rgb) && shown.len() == 7);
    }

    #[test]
    fn many_colours_become_fewer_but_stay_close() {
        let many = picture(|i| [(i % 256) as u8, (i / 5) as u8, (i * 7 % 256) as u8]);
        let (shown, _) = play(std::slice::from_ref(&many), 25);
        let worst = shown[0].iter().zip(&many.rgb).map(|(a, b)| a.abs_diff(*b)).max().unwrap();
        assert!((1..64).contains(&worst), "{worst}");
    }

    #[test]
    fn what_no_gif_can_hold_is_refused() {
        assert!(Animation::new(70_000, 5, 25).is_err());
        assert!(Animation::new(0, 5, 25).is_err());
    }
}

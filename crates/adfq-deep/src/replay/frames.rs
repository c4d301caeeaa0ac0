//! From the bytes of frames to the numbers of an observation: conversion, scale and stacking.

use adfq_env::{Element, Space};
use serde::{Deserialize, Serialize};

/// How frames become observations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Decoder {
    element: Element,
    stack: usize,
    /// Numbers along the innermost axis of a frame, along which frames are stacked.
    inner: usize,
    /// Numbers in an observation.
    pub len: usize,
}

impl Decoder {
    pub fn new(space: &Space) -> Self {
        let inner = space.frame.last().copied().unwrap_or(1);
        Self { element: space.element, stack: space.stack, inner, len: space.observation_len() }
    }

    /// Writes the observation that stacks `frame(0)`, the earliest, to `frame(stack - 1)`.
    pub fn decode<'a>(&self, frame: impl Fn(usize) -> &'a [u8], out: &mut [f32]) {
        match (self.element, self.stack, self.inner) {
            (Element::U8 { scale }, 1, _) => scaled(frame(0), scale, out),
            (Element::U8 { scale }, 4, 1) => interleaved(std::array::from_fn(frame), scale, out),
            (Element::U8 { scale }, ..) => self.stacked(frame, out, |from, to| scaled(from, scale, to)),
            (Element::F32, 1, _) => copied(frame(0), out),
            (Element::F32, ..) => self.stacked(frame, out, copied),
        }
    }

    /// Writes the bytes of that observation as they are.
    #[cfg(feature = "cuda")]
    pub fn stack_bytes<'a>(&self, frame: impl Fn(usize) -> &'a [u8], out: &mut [u8]) {
        let inner = self.inner * self.element.bytes();
        for k in 0..self.stack {
            let places = out.chunks_exact_mut(inner * self.stack);
            for (row, place) in frame(k).chunks_exact(inner).zip(places) {
                place[k * inner..][..inner].copy_from_slice(row);
            }
        }
    }

    /// Each row of the innermost axis by itself.
    fn stacked<'a>(
        &self,
        frame: impl Fn(usize) -> &'a [u8],
        out: &mut [f32],
        decode: impl Fn(&[u8], &mut [f32]),
    ) {
        for k in 0..self.stack {
            let rows = frame(k).chunks_exact(self.inner * self.element.bytes());
            let places = out.chunks_exact_mut(self.inner * self.stack);
            rows.zip(places).for_each(|(row, place)| decode(row, &mut place[k * self.inner..][..self.inner]));
        }
    }
}

fn scaled(bytes: &[u8], scale: f32, out: &mut [f32]) {
    out.iter_mut().zip(bytes).for_each(|(number, &byte)| *number = f32::from(byte) * scale);
}

/// Bytes into numbers rather than numbers out of bytes: only the numbers are sure to be aligned.
fn copied(bytes: &[u8], out: &mut [f32]) {
    bytemuck::cast_slice_mut(out).copy_from_slice(bytes);
}

/// Four frames of one channel: bytes first, four to a word, since whole words convert in vector registers.
fn interleaved(frames: [&[u8]; 4], scale: f32, out: &mut [f32]) {
    const CHUNK: usize = 64;
    let mut words = [0_u32; CHUNK];
    for (i, out) in out.chunks_mut(4 * CHUNK).enumerate() {
        let count = out.len() / 4;
        let [a, b, c, d] = frames.map(|frame| &frame[i * CHUNK..][..count]);
        for (j, word) in words[..count].iter_mut().enumerate() {
            let joined =
                u32::from(a[j]) | u32::from(b[j]) << 8 | u32::from(c[j]) << 16 | u32::from(d[j]) << 24;
            *word = joined.to_le();
        }
        scaled(bytemuck::cast_slice(&words[..count]), scale, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number `channel` of pixel `p` in frame k of the stack, one by one.
    fn check(frame: &[usize], element: Element, stack: usize) {
        let space = Space { frame: frame.to_vec(), element, stack, actions: 1 };
        let number = |k: usize, i: usize| match element {
            Element::U8 { .. } => ((k * 89 + i * 7 + 3) % 256) as f32,
            Element::F32 => (k * 1000 + i) as f32 / 7.0,
        };
        let bytes = |k: usize| -> Vec<u8> {
            (0..space.frame_len())
                .flat_map(|i| match element {
                    Element::U8 { .. } => vec![number(k, i) as u8],
                    Element::F32 => number(k, i).to_ne_bytes().to_vec(),
                })
                .collect()
        };
        let frames: Vec<Vec<u8>> = (0..stack).map(bytes).collect();
        let mut out = vec![f32::NAN; space.observation_len()];
        Decoder::new(&space).decode(|k| &frames[k], &mut out);
        let (channels, scale) = (
            frame[frame.len() - 1],
            match element {
                Element::U8 { scale } => scale,
                Element::F32 => 1.0,
            },
        );
        for (at, &got) in out.iter().enumerate() {
            let (pixel, rest) = (at / (channels * stack), at % (channels * stack));
            let (k, channel) = (rest / channels, rest % channels);
            assert_eq!(got, number(k, pixel * channels + channel) * scale, "{space:?} at {at}");
        }
    }

    #[test]
    fn every_number_lands_in_its_place() {
        let pixels = Element::U8 { scale: 1.0 / 255.0 };
        for element in [pixels, Element::U8 { scale: 1.0 }, Element::F32] {
            for stack in 1..=5 {
                for frame in [&[4][..], &[1], &[84, 84, 1], &[10, 10, 4], &[9, 7, 1], &[5, 3, 2]] {
                    check(frame, element, stack);
                }
            }
        }
    }
}

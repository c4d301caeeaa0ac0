//! How the frames of a segment are stored: at their information where that is known, which is a bit for each byte of 0 or 1,
//! and otherwise compressed. LZ4 packs Atari's frames to a thirtieth, several times faster than a disk takes them.

use super::bits::{pack, packed_len, unpack};
use lz4_flex::frame::{FrameDecoder, FrameEncoder};
use std::borrow::Cow;
use std::io::{Read, Result, Write};

/// The frames of a segment, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frames {
    /// As the environment wrote them.
    Bytes(Vec<u8>),
    /// Where all bytes are 0 or 1, a bit for each: that of byte i of a frame is bit i % 8 of byte i / 8. Each frame begins
    /// with a byte of its own.
    Bits(Vec<u8>),
    /// The bytes in LZ4's frame format.
    Lz4(Vec<u8>),
}

impl Frames {
    /// So many frames of so many bytes, which lie in these pieces: bits if they are. What is borrowed is copied.
    pub(super) fn of(pieces: Vec<Cow<[u8]>>, count: usize, frame_bytes: usize) -> Self {
        if let Some(bits) = bits_of(pieces.iter().map(|piece| &piece[..]), count, frame_bytes) {
            return Self::Bits(bits);
        }
        let mut pieces = pieces.into_iter();
        let mut bytes = pieces.next().map_or_else(Vec::new, Cow::into_owned);
        bytes.reserve_exact(count * frame_bytes - bytes.len());
        pieces.for_each(|piece| bytes.extend_from_slice(&piece));
        Self::Bytes(bytes)
    }

    /// The same, compressed if that makes them smaller. It takes time: a task for a thread that writes.
    #[must_use]
    pub fn compressed(self) -> Self {
        let Self::Bytes(bytes) = self else { return self };
        let mut encoder = FrameEncoder::new(Vec::new());
        match encoder.write_all(&bytes).map(|()| encoder.finish()) {
            Ok(Ok(packed)) if packed.len() < bytes.len() => Self::Lz4(packed),
            _ => Self::Bytes(bytes),
        }
    }

    /// The bytes to be stored.
    pub fn stored(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) | Self::Bits(bytes) | Self::Lz4(bytes) => bytes,
        }
    }

    /// Reads them one by one, if each has so many bytes.
    pub(super) fn reader(&self, frame_bytes: usize) -> Reader<'_> {
        let (from, packed): (Box<dyn Read>, _) = match self {
            Self::Bytes(bytes) => (Box::new(&bytes[..]), 0),
            Self::Bits(bits) => (Box::new(&bits[..]), packed_len(frame_bytes)),
            Self::Lz4(packed) => (Box::new(FrameDecoder::new(&packed[..])), 0),
        };
        Reader { from, bits: vec![0; packed], frame: vec![0; frame_bytes] }
    }
}

/// A bit for each byte of these frames, if all are 0 or 1.
fn bits_of<'a>(
    pieces: impl Iterator<Item = &'a [u8]> + Clone,
    count: usize,
    frame_bytes: usize,
) -> Option<Vec<u8>> {
    let mut bits = vec![];
    // The first frame says mostly whether it is worth the memory.
    let mut first = pieces.clone();
    if !first.next().is_none_or(|frames| pack(&frames[..frame_bytes], frame_bytes, &mut bits)) {
        return None;
    }
    bits.clear();
    bits.reserve_exact(count * packed_len(frame_bytes));
    let mut pieces = pieces;
    pieces.all(|frames| pack(frames, frame_bytes, &mut bits)).then_some(bits)
}

/// Frames that are read one by one: no more than one of them is unpacked at a time, whatever a file says.
pub(super) struct Reader<'a> {
    from: Box<dyn Read + 'a>,
    /// The bits of a frame; empty if it comes as bytes.
    bits: Vec<u8>,
    frame: Vec<u8>,
}

impl Reader<'_> {
    /// The next frame, as the environment wrote it.
    pub fn next(&mut self) -> Result<&[u8]> {
        match &mut self.bits[..] {
            [] => self.from.read_exact(&mut self.frame)?,
            bits => {
                self.from.read_exact(bits)?;
                unpack(bits, &mut self.frame);
            }
        }
        Ok(&self.frame)
    }

    /// Whether there is no further byte, in a stream that is whole.
    pub fn is_at_end(&mut self) -> bool {
        matches!(self.from.read(&mut [0]), Ok(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    /// Frames of 100 bytes that repeat with small changes, as those of games do.
    fn frames(count: usize) -> Vec<u8> {
        (0..count)
            .flat_map(|t| (0..100).map(move |i| if i == t % 100 { 255 } else { (i / 10) as u8 }))
            .collect()
    }

    fn read(frames: &Frames, count: usize) -> Result<Vec<u8>> {
        let (mut reader, mut all) = (frames.reader(100), vec![]);
        for _ in 0..count {
            all.extend_from_slice(reader.next()?);
        }
        assert!(reader.is_at_end());
        Ok(all)
    }

    #[test]
    fn what_is_compressed_comes_back_and_is_small() {
        // More than a block of LZ4.
        let bytes = frames(5_000);
        let packed = Frames::of(vec![bytes[..300].into(), bytes[300..].into()], 5_000, 100).compressed();
        assert!(
            matches!(&packed, Frames::Lz4(packed) if packed.len() * 4 < bytes.len()),
            "{}",
            packed.stored().len()
        );
        assert!(read(&packed, 5_000).unwrap() == bytes);
    }

    #[test]
    fn what_cannot_be_compressed_stays() {
        let mut noise = vec![0; 10_000];
        adfq::random::stream(0, "noise").fill_bytes(&mut noise);
        let frames = Frames::of(vec![noise[..].into()], 100, 100).compressed();
        assert_eq!(frames, Frames::Bytes(noise.clone()));
        assert!(read(&frames, 100).unwrap() == noise);
        assert_eq!(Frames::of(vec![], 0, 100).compressed(), Frames::Bits(vec![]));
    }

    #[test]
    fn streams_that_are_too_short_too_long_or_damaged_are_errors() {
        let Frames::Lz4(good) = Frames::Bytes(frames(1_000)).compressed() else { panic!() };
        assert!(read(&Frames::Lz4(good.clone()), 1_001).is_err());
        let reader = |frames: Frames| {
            let mut reader = frames.reader(100);
            (0..999).try_for_each(|_| reader.next().map(drop)).is_ok() && reader.is_at_end()
        };
        assert!(!reader(Frames::Lz4(good.clone())));
        assert!(!reader(Frames::Lz4(good[..good.len() / 2].to_vec())));
        assert!(!reader(Frames::Lz4(vec![7; 100])));
    }
}

//! Frames whose bytes are all 0 or 1, as MinAtar's are, at one bit for each byte: an eighth of the space on disk. Each frame
//! begins with a byte of its own.

/// A 1 in each byte of a word.
const ONES: u64 = 0x0101_0101_0101_0101;
/// Moves the lowest bit of byte i of a word to bit i of its highest byte. No two of the products meet in one bit.
const GATHER: u64 = 0x0102_0408_1020_4080;

/// Bytes that the bits of a frame of so many bytes take.
pub(super) fn packed_len(frame_bytes: usize) -> usize {
    frame_bytes.div_ceil(8)
}

/// Appends the bits of these frames. False as soon as a byte is neither 0 nor 1.
pub(super) fn pack(frames: &[u8], frame_bytes: usize, out: &mut Vec<u8>) -> bool {
    frames.chunks_exact(frame_bytes).all(|frame| pack_frame(frame, out))
}

fn pack_frame(frame: &[u8], out: &mut Vec<u8>) -> bool {
    let (words, rest) = frame.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    // All bytes of the frame at once: a decision for each word would cost more than the packing.
    let mut all = u64::from_le_bytes(last);
    out.extend(words.iter().map(|&word| {
        let word = u64::from_le_bytes(word);
        all |= word;
        gather(word)
    }));
    if !rest.is_empty() {
        out.push(gather(u64::from_le_bytes(last)));
    }
    all & !ONES == 0
}

fn gather(word: u64) -> u8 {
    (word.wrapping_mul(GATHER) >> 56) as u8
}

/// Writes the bytes of one frame, given its bits.
pub(super) fn unpack(bits: &[u8], frame: &mut [u8]) {
    for (cells, byte) in frame.chunks_mut(8).zip(bits) {
        cells.iter_mut().enumerate().for_each(|(bit, cell)| *cell = byte >> bit & 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_cell_has_its_bit() {
        let mut bits = vec![];
        assert!(pack(&[1, 0, 0, 0, 0, 0, 0, 1, 0, 1], 10, &mut bits));
        assert_eq!(bits, [0b1000_0001, 0b10]);
        for len in 1..=20 {
            for cell in 0..len {
                let (mut frame, mut bits) = (vec![0; len], vec![]);
                frame[cell] = 1;
                assert!(pack(&frame, len, &mut bits));
                assert_eq!((bits.len(), bits[cell / 8]), (packed_len(len), 1 << (cell % 8)));
                frame[cell] = 2;
                assert!(!pack(&frame, len, &mut bits), "{cell} of {len}");
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_packed_comes_back(len in 1..100_usize, cells in prop::collection::vec(0..=1_u8, 300)) {
            let (frames, mut bits) = (&cells[..cells.len() / len * len], vec![]);
            prop_assert!(pack(frames, len, &mut bits));
            let mut frame = vec![7; len];
            for (expected, bits) in frames.chunks_exact(len).zip(bits.chunks_exact(packed_len(len))) {
                unpack(bits, &mut frame);
                prop_assert_eq!(&frame[..], expected);
            }
        }
    }
}

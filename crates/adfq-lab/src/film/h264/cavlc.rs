//! Coefficients as bits: context-adaptive variable-length codes (H.264, 9.2).

use super::super::bits::Bits;
use super::tables::{CHROMA_CODES, CHROMA_LENGTHS, CHROMA_ZEROS, RUNS, TOKEN_CODES, TOKEN_LENGTHS, ZEROS};
use Context::{Chroma, Near};

/// What decides the code of a block's first symbol.
#[derive(Clone, Copy)]
pub enum Context {
    /// How many coefficients the blocks to the left and above have, on average.
    Near(u8),
    /// The four means of chroma.
    Chroma,
}

/// Writes the levels of a block, from coarse to fine, and says how many are not zero.
pub fn write(bits: &mut Bits, levels: &[i32], context: Context) -> u8 {
    let places: Vec<usize> = (0..levels.len()).filter(|&i| levels[i] != 0).collect();
    let total = places.len();
    // From here on fine comes before coarse.
    let ones = places.iter().rev().take(3).take_while(|&&i| levels[i].abs() == 1).count();
    token(bits, total, ones, context);
    places.iter().rev().take(ones).for_each(|&i| bits.flag(levels[i] < 0));
    sizes(bits, places.iter().rev().skip(ones).map(|&i| levels[i]), total, ones);
    if total == 0 || total == levels.len() {
        return total as u8;
    }
    let mut zeros = places[total - 1] + 1 - total;
    put(bits, if matches!(context, Chroma) { CHROMA_ZEROS[total - 1] } else { ZEROS[total - 1] }[zeros]);
    for pair in places.windows(2).rev() {
        if zeros == 0 {
            break;
        }
        let run = pair[1] - pair[0] - 1;
        put(bits, RUNS[zeros.min(7) - 1][run]);
        zeros -= run;
    }
    total as u8
}

fn put(bits: &mut Bits, (length, code): (u8, u8)) {
    bits.put(code.into(), length.into());
}

/// How many coefficients there are, and how many of the finest are ±1.
fn token(bits: &mut Bits, total: usize, ones: usize, context: Context) {
    let table = match context {
        Chroma => return put(bits, (CHROMA_LENGTHS[ones][total], CHROMA_CODES[ones][total])),
        Near(0 | 1) => 0,
        Near(2 | 3) => 1,
        Near(4..8) => 2,
        Near(_) => return bits.put(if total == 0 { 3 } else { (total - 1) << 2 | ones } as u32, 6),
    };
    put(bits, (TOKEN_LENGTHS[table][ones][total], TOKEN_CODES[table][ones][total]));
}

/// The levels but for the trailing ones (9.2.2.1): a prefix in zeros, and a suffix that grows with the levels.
fn sizes(bits: &mut Bits, levels: impl Iterator<Item = i32>, total: usize, ones: usize) {
    let mut suffix = u32::from(total > 10 && ones < 3);
    for (i, level) in levels.enumerate() {
        let mut code = 2 * level.unsigned_abs() - if level > 0 { 2 } else { 1 };
        // With fewer than three ones, the first level left cannot be one.
        code -= if i == 0 && ones < 3 { 2 } else { 0 };
        let (prefix, rest, length) = match suffix {
            0 if code < 14 => (code, 0, 0),
            0 if code < 30 => (14, code - 14, 4),
            0 => (15, code - 30, 12),
            _ if code < 15 << suffix => (code >> suffix, code & ((1 << suffix) - 1), suffix),
            _ => (15, code - (15 << suffix), 12),
        };
        bits.put(1, prefix + 1);
        bits.put(rest, length);
        suffix = suffix.max(1);
        suffix += u32::from(level.unsigned_abs() > 3 << (suffix - 1) && suffix < 6);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A code in which no word begins another, and which leaves nothing or little unused.
    fn check_code(words: &[(u8, u8)]) {
        let texts: Vec<String> =
            words.iter().map(|&(n, code)| format!("{code:0n$b}", n = n as usize)).collect();
        for (i, a) in texts.iter().enumerate() {
            assert_eq!(a.len(), words[i].0 as usize);
            assert!(texts.iter().enumerate().all(|(j, b)| i == j || !b.starts_with(a.as_str())), "{a}");
        }
    }

    #[test]
    fn tables_are_codes() {
        for (lengths, codes) in TOKEN_LENGTHS.iter().zip(&TOKEN_CODES) {
            let words = lengths.as_flattened().iter().zip(codes.as_flattened());
            check_code(&words.filter(|(length, _)| **length > 0).map(|(a, b)| (*a, *b)).collect::<Vec<_>>());
        }
        let chroma = CHROMA_LENGTHS.as_flattened().iter().zip(CHROMA_CODES.as_flattened());
        check_code(&chroma.filter(|(length, _)| **length > 0).map(|(a, b)| (*a, *b)).collect::<Vec<_>>());
        ZEROS.iter().chain(&CHROMA_ZEROS).chain(&RUNS).for_each(|words| check_code(words));
        assert!(ZEROS.iter().enumerate().all(|(i, words)| words.len() == 16 - i));
    }

    /// A block whose bits can be told by hand: 0, 3, 0, 1, −1, −1, 0, 1, 0, …
    #[test]
    fn a_block_becomes_its_bits() {
        let mut bits = Bits::default();
        let levels = [0, 3, 0, 1, -1, -1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(write(&mut bits, &levels, Near(0)), 5);
        // Token 0000100, signs 0 1 1, the levels 1 and 3, three zeros, runs 1, 0, 0 and 1.
        let bytes = bits.finish();
        let text: String = bytes.iter().map(|byte| format!("{byte:08b}")).collect();
        assert!(text.starts_with("000010001110010111101101"), "{text}");
    }
}

//! The pixels that the movable objects and the playfield cover.

use super::mask::Mask;

/// Where the copies of a player or missile begin, by the low bits of NUSIZ, and how wide a player's pixels are.
pub(super) const COPIES: [(&[u8], u8); 8] = [
    (&[0], 1),
    (&[0, 16], 1),
    (&[0, 32], 1),
    (&[0, 16, 32], 1),
    (&[0, 64], 1),
    (&[0], 2),
    (&[0, 32, 64], 1),
    (&[0], 4),
];

/// The same copies as bits. What is shown once, times this, is all copies of it. Without the first copy it is one less.
static TIMES: [u128; 8] = {
    let mut table = [0; 8];
    let mut size = 0;
    while size < 8 {
        let mut copy = 0;
        while copy < COPIES[size].0.len() {
            table[size] |= 1 << COPIES[size].0[copy];
            copy += 1;
        }
        size += 1;
    }
    table
};

/// The pixels of a player. `main` false: its first copy is not drawn.
pub(super) fn player(graphics: u8, reflected: bool, nusiz: u8, x: u8, main: bool) -> Mask {
    if graphics == 0 {
        return Mask::EMPTY;
    }
    let bits = if reflected { graphics } else { REVERSED[usize::from(graphics)] };
    let size = usize::from(nusiz & 7);
    // A wide player starts a pixel later.
    let (pattern, delay) = match COPIES[size].1 {
        1 => (u32::from(bits), 0),
        2 => (TWICE[usize::from(bits)], 1),
        _ => (FOUR_TIMES[usize::from(bits)], 1),
    };
    let times = TIMES[size] & !u128::from(!main);
    Mask::at(u128::from(pattern) * times, wrap(x + delay))
}

/// The pixels of a missile.
pub(super) fn missile(nusiz: u8, x: u8) -> Mask {
    Mask::at(line(nusiz) * TIMES[usize::from(nusiz & 7)], x)
}

/// The pixels of the ball.
pub(super) fn ball(ctrlpf: u8, x: u8) -> Mask {
    Mask::at(line(ctrlpf), x)
}

/// One, two, four or eight pixels, by the bits 4 and 5 of NUSIZ or CTRLPF.
fn line(register: u8) -> u128 {
    (1 << (1 << (register >> 4 & 3))) - 1
}

/// The pixels of the playfield: twenty bits of four pixels each, twice, the second time reflected or not.
pub(super) fn playfield(pf: [u8; 3], reflected: bool) -> Mask {
    let widened = |byte: u8| u128::from(FOUR_TIMES[usize::from(byte)]);
    let turned = |byte: u8| widened(REVERSED[usize::from(byte)]);
    // PF0 and PF2 are shown from their low bit on, PF1 from its high bit on. PF0 has just its upper four bits.
    let left = widened(pf[0] >> 4) | turned(pf[1]) << 16 | widened(pf[2]) << 48;
    let right =
        if reflected { turned(pf[2]) | widened(pf[1]) << 32 | turned(pf[0] & 0xF0) << 64 } else { left };
    let low = left | right << 80;
    Mask([low as u64, (low >> 64) as u64, (right >> 48) as u64])
}

/// Each byte with its bits in the other order. The left pixel of a player is bit 7 of its register and bit 0 of a mask.
static REVERSED: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = (byte as u8).reverse_bits();
        byte += 1;
    }
    table
};

/// Every bit of a byte twice, and four times.
static TWICE: [u32; 256] = widened(2);
static FOUR_TIMES: [u32; 256] = widened(4);

const fn widened(times: u32) -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[byte] |= ((1 << times) - 1) << (bit * times);
            }
            bit += 1;
        }
        byte += 1;
    }
    table
}

/// A position on the line of 160 pixels.
pub(super) fn wrap(x: u8) -> u8 {
    if x >= 160 { x - 160 } else { x }
}

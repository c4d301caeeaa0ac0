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

/// The pixels of a player. `main` false: its first copy is not drawn.
pub(super) fn player(graphics: u8, reflected: bool, nusiz: u8, x: u8, main: bool) -> Mask {
    let mut mask = Mask::EMPTY;
    if graphics == 0 {
        return mask;
    }
    // The left pixel is bit 7 of the register and bit 0 of a mask.
    let bits = if reflected { graphics } else { graphics.reverse_bits() };
    let (copies, scale) = COPIES[usize::from(nusiz & 7)];
    // A wide player starts a pixel later.
    let (pattern, delay) = match scale {
        1 => (u32::from(bits), 0),
        2 => (TWICE[usize::from(bits)], 1),
        _ => (FOUR_TIMES[usize::from(bits)], 1),
    };
    for &copy in &copies[usize::from(!main)..] {
        mask.add(pattern, wrap(x + copy + delay));
    }
    mask
}

/// The pixels of a missile.
pub(super) fn missile(nusiz: u8, x: u8) -> Mask {
    let mut mask = Mask::EMPTY;
    for &copy in COPIES[usize::from(nusiz & 7)].0 {
        mask.add(line(nusiz), wrap(x + copy));
    }
    mask
}

/// The pixels of the ball.
pub(super) fn ball(ctrlpf: u8, x: u8) -> Mask {
    let mut mask = Mask::EMPTY;
    mask.add(line(ctrlpf), x);
    mask
}

/// One, two, four or eight pixels, by the bits 4 and 5 of NUSIZ or CTRLPF.
fn line(register: u8) -> u32 {
    (1 << (1 << (register >> 4 & 3))) - 1
}

/// The pixels of the playfield: twenty bits of four pixels each, twice, the second time reflected or not.
pub(super) fn playfield(pf: [u8; 3], reflected: bool) -> Mask {
    // PF0 and PF2 are shown from their low bit on, PF1 from its high bit on.
    let left = u128::from(FOUR_TIMES[usize::from(pf[0] >> 4)])
        | u128::from(FOUR_TIMES[usize::from(pf[1].reverse_bits())]) << 16
        | u128::from(FOUR_TIMES[usize::from(pf[2])]) << 48;
    let right = if reflected { left.reverse_bits() >> 48 } else { left };
    let low = left | right << 80;
    Mask([low as u64, (low >> 64) as u64, (right >> 48) as u64])
}

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

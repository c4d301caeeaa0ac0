//! The picture: which object a pixel shows, and the rows that are kept.

use super::super::tape::Tape;
use super::mask::{Mask, WIDTH};
use super::{BALL, Colours, M0, M1, P0, P1, PLAYFIELD};

/// Which lines of a frame are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shown {
    /// The first line, counted from the one in which VSYNC was switched off.
    pub top: u32,
    /// How many there are.
    pub rows: u32,
}

/// The visible rows. There are two pictures in turn: rows that a short frame does not reach show the frame before the last.
#[derive(Clone)]
pub(super) struct Picture {
    shown: Shown,
    pictures: [Vec<u8>; 2],
    /// Which one is being drawn.
    current: usize,
    /// Whether this frame is drawn.
    on: bool,
}

impl Picture {
    pub(super) fn new(shown: Shown) -> Self {
        let picture = vec![0; (shown.rows * WIDTH as u32) as usize];
        Self { shown, pictures: [picture.clone(), picture], current: 0, on: false }
    }

    pub(super) fn shown(&self) -> Shown {
        self.shown
    }

    pub(super) fn pixels(&self) -> &[u8] {
        &self.pictures[self.current]
    }

    /// A new frame begins.
    pub(super) fn begin(&mut self, draw: bool) {
        self.on = draw;
        if draw {
            self.current ^= 1;
        }
    }

    /// Whether this frame is drawn.
    #[inline]
    pub(super) fn is_drawn(&self) -> bool {
        self.on
    }

    /// How many lines from this one on are not shown; 0 if this one is.
    #[inline]
    pub(super) fn hidden_lines(&self, line: u32) -> u32 {
        let Shown { top, rows } = self.shown;
        if line < top {
            top - line
        } else if line < top + rows {
            0
        } else {
            u32::MAX
        }
    }

    /// Draws a line that is shown like the one above.
    #[inline]
    pub(super) fn repeat_row(&mut self, line: u32) {
        let start = (line - self.shown.top) as usize * WIDTH as usize;
        if self.on && start > 0 {
            self.pictures[self.current].copy_within(start - WIDTH as usize..start, start);
        }
    }

    /// The row of a line that is shown, if it is drawn.
    #[inline]
    pub(super) fn row(&mut self, line: u32) -> Option<&mut [u8; WIDTH as usize]> {
        if !self.on {
            return None;
        }
        let start = (line - self.shown.top) as usize * WIDTH as usize;
        self.pictures[self.current].get_mut(start..)?.first_chunk_mut()
    }

    pub(super) fn state(&mut self, tape: &mut Tape) {
        for picture in &mut self.pictures {
            tape.bytes(picture);
        }
        let mut second = self.current == 1;
        tape.flag(&mut second);
        self.current = usize::from(second);
        tape.flag(&mut self.on);
    }
}

/// Draws the objects in these pixels, those that win last: each player with its missile, the first before the second,
/// and before or behind them, by CTRLPF, the playfield and the ball.
pub(super) fn paint(
    row: &mut [u8; WIDTH as usize],
    span: &Mask,
    masks: &[Mask; 6],
    colours: &Colours,
    ctrlpf: u8,
) {
    let mut players = [masks[P0].or(&masks[M0]), masks[P1].or(&masks[M1])];
    let mut playfield = masks[BALL];
    // A score is a playfield whose left half belongs to the first player and whose right half to the second, in colour and
    // rank. Priority overrides it.
    if ctrlpf & 6 == 2 {
        players[0] = players[0].or(&masks[PLAYFIELD].and(&Mask::span(0, WIDTH / 2)));
        players[1] = players[1].or(&masks[PLAYFIELD].and(&Mask::span(WIDTH / 2, WIDTH)));
    } else {
        playfield = playfield.or(&masks[PLAYFIELD]);
    }
    let priority = ctrlpf & 4 != 0;
    if !priority {
        fill(row, &playfield.and(span), colours.playfield);
    }
    fill(row, &players[1].and(span), colours.players[1]);
    fill(row, &players[0].and(span), colours.players[0]);
    if priority {
        fill(row, &playfield.and(span), colours.playfield);
    }
}

/// Gives the pixels of a mask a colour, eight at a time.
#[inline]
fn fill(row: &mut [u8; WIDTH as usize], mask: &Mask, colour: u8) {
    let colours = u64::from(colour) * 0x0101_0101_0101_0101;
    for (eights, word) in row.chunks_mut(64).zip(mask.0) {
        let (eights, _) = eights.as_chunks_mut::<8>();
        let mut left = word;
        while left != 0 {
            let i = left.trailing_zeros() & !7;
            let shown = BYTES[usize::from((left >> i) as u8)];
            left &= !(0xFF << i);
            let pixels = &mut eights[i as usize / 8];
            *pixels = (u64::from_le_bytes(*pixels) & !shown | colours & shown).to_le_bytes();
        }
    }
}

/// Each bit of a byte as a byte of ones or zeros.
static BYTES: [u64; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[byte] |= 0xFF << (8 * bit);
            }
            bit += 1;
        }
        byte += 1;
    }
    table
};

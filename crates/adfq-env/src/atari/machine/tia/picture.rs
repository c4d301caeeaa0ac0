//! The picture: which object a pixel shows, and the rows that are kept.

use super::super::tape::Tape;
use super::mask::{Mask, WIDTH};
use super::{BALL, Colours, M0, M1, P0, P1, PLAYFIELD};

/// The first line of a frame that is shown, and how many are.
const TOP: u32 = 34;
const ROWS: u32 = 210;

/// The visible rows.
#[derive(Clone)]
pub(super) struct Picture {
    pixels: Vec<u8>,
    /// Whether this frame is drawn.
    pub(super) on: bool,
}

impl Picture {
    pub(super) fn new() -> Self {
        Self { pixels: vec![0; (ROWS * WIDTH as u32) as usize], on: false }
    }

    pub(super) fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// How many lines from this one on are not shown; 0 if this one is.
    #[inline]
    pub(super) fn hidden_lines(&self, line: u32) -> u32 {
        if line < TOP {
            TOP - line
        } else if line < TOP + ROWS {
            0
        } else {
            u32::MAX
        }
    }

    /// The row of a line of the frame, if it is drawn.
    #[inline]
    pub(super) fn row(&mut self, line: u32) -> Option<&mut [u8; WIDTH as usize]> {
        let row = line.wrapping_sub(TOP);
        if !self.on || row >= ROWS {
            return None;
        }
        let start = row as usize * WIDTH as usize;
        self.pixels[start..][..WIDTH as usize].first_chunk_mut()
    }

    pub(super) fn state(&mut self, tape: &mut Tape) {
        tape.bytes(&mut self.pixels);
        tape.flag(&mut self.on);
    }
}

/// Draws the objects over the background, those that win last.
pub(super) fn paint(row: &mut [u8], from: i32, to: i32, masks: &[Mask; 6], colours: &Colours, ctrlpf: u8) {
    row[from as usize..to as usize].fill(colours.background);
    let span = Mask::span(from, to);
    let players = |row: &mut [u8]| {
        for i in [1, 0] {
            fill(row, &masks[[P0, P1][i]].or(&masks[[M0, M1][i]]).and(&span), colours.players[i]);
        }
    };
    let playfield_first = ctrlpf & 4 == 0;
    if !playfield_first {
        players(row);
    }
    let playfield = masks[PLAYFIELD].and(&span);
    if ctrlpf & 2 != 0 {
        let half = Mask::span(0, WIDTH / 2);
        fill(row, &playfield.and(&half), colours.players[0]);
        fill(row, &playfield.and(&Mask::span(WIDTH / 2, WIDTH)), colours.players[1]);
    } else {
        fill(row, &playfield, colours.playfield);
    }
    fill(row, &masks[BALL].and(&span), colours.playfield);
    if playfield_first {
        players(row);
    }
}

/// Gives the pixels of a mask a colour, eight at a time.
fn fill(row: &mut [u8], mask: &Mask, colour: u8) {
    if mask.is_empty() {
        return;
    }
    let colours = u64::from(colour) * 0x0101_0101_0101_0101;
    for (i, pixels) in row.chunks_exact_mut(8).enumerate() {
        let byte = mask.byte(i);
        if byte != 0 {
            let shown = BYTES[usize::from(byte)];
            let pixels: &mut [u8; 8] = pixels.try_into().expect("chunks of eight");
            let old = u64::from_le_bytes(*pixels);
            *pixels = (old & !shown | colours & shown).to_le_bytes();
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

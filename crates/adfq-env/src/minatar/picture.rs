//! Pictures of a grid, for people.

use super::SIDE;
use crate::Picture;

/// Pixels along a cell's side, the last of which is left empty: neighbours stay apart.
const CELL: usize = 10;

/// Cells with nothing in them.
const EMPTY: [u8; 3] = [18, 20, 28];

/// A colour for each channel: bright for the player, grey for the third, which in most games is a trail.
const COLOURS: [[u8; 3]; 10] = [
    [255, 255, 255],
    [238, 84, 84],
    [104, 112, 136],
    [242, 190, 66],
    [92, 196, 122],
    [86, 156, 240],
    [186, 112, 224],
    [64, 208, 208],
    [246, 140, 60],
    [240, 130, 190],
];

/// Paints a frame; where several things share a cell, the one of the lowest channel is seen.
pub(super) fn paint(frame: &[u8], channels: usize) -> Picture {
    let side = SIDE * CELL;
    let mut rgb = Vec::with_capacity(3 * side * side);
    for row in frame.chunks_exact(SIDE * channels) {
        let cells =
            row.chunks_exact(channels).map(|cell| [colour(cell).repeat(CELL - 1), EMPTY.to_vec()].concat());
        let line: Vec<u8> = cells.flatten().collect();
        (1..CELL).for_each(|_| rgb.extend_from_slice(&line));
        rgb.extend(EMPTY.repeat(side));
    }
    Picture { width: side, height: side, rgb }
}

/// The colour of a cell.
fn colour(cell: &[u8]) -> [u8; 3] {
    cell.iter().position(|&flag| flag != 0).map_or(EMPTY, |channel| COLOURS[channel % COLOURS.len()])
}

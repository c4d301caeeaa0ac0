//! Pictures in a terminal: each character shows two pixels, one above the other.

use super::Picture;
use std::fmt::Write;

/// Draws a picture with `width` characters a line, in the 24-bit colours of ANSI terminals. Each `▀` has the colour of
/// the upper pixel before that of the lower; a pixel of the terminal is the mean of those of the picture it covers.
/// A picture without pixels, or a width of 0, is an empty text.
///
/// ```
/// use adfq_env::{Picture, to_text};
///
/// // Red above blue.
/// let flag = Picture { width: 1, height: 2, rgb: vec![255, 0, 0, 0, 0, 255] };
/// assert_eq!(to_text(&flag, 1), "\x1b[38;2;255;0;0m\x1b[48;2;0;0;255m▀\x1b[0m\n");
/// ```
pub fn to_text(picture: &Picture, width: usize) -> String {
    if picture.width == 0 || picture.height == 0 || width == 0 {
        return String::new();
    }
    // Two pixels a line, so an even number of rows.
    let lines = (picture.height * width).div_ceil(2 * picture.width);
    let mut text = String::new();
    for line in 0..lines {
        let (mut front, mut back) = (None, None);
        for column in 0..width {
            let [upper, lower] =
                [0, 1].map(|half| mean(picture, (2 * line + half, 2 * lines), (column, width)));
            paint(&mut text, 38, upper, &mut front);
            paint(&mut text, 48, lower, &mut back);
            text.push('▀');
        }
        text.push_str("\x1b[0m\n");
    }
    text
}

/// Changes a colour of the terminal, 38 in front or 48 behind, unless it is that already.
fn paint(text: &mut String, layer: u8, colour: [u8; 3], current: &mut Option<[u8; 3]>) {
    if current.replace(colour) != Some(colour) {
        let [red, green, blue] = colour;
        // Writing into a string cannot fail.
        let _ = write!(text, "\x1b[{layer};2;{red};{green};{blue}m");
    }
}

/// The mean colour of the part of the picture that a place in a grid of `rows` by `columns` covers.
fn mean(picture: &Picture, (row, rows): (usize, usize), (column, columns): (usize, usize)) -> [u8; 3] {
    let range = |i: usize, n: usize, pixels: usize| {
        let start = i * pixels / n;
        start..((i + 1) * pixels / n).max(start + 1)
    };
    let (mut sums, mut count) = ([0; 3], 0);
    for y in range(row, rows, picture.height) {
        for x in range(column, columns, picture.width) {
            let at = 3 * (y * picture.width + x);
            for (sum, value) in sums.iter_mut().zip(&picture.rgb[at..at + 3]) {
                *sum += usize::from(*value);
            }
            count += 1;
        }
    }
    sums.map(|sum| ((sum + count / 2) / count) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_down_by_means_and_up_by_copies() {
        let picture = Picture { width: 2, height: 2, rgb: [[0; 3], [100; 3], [50; 3], [150; 3]].concat() };
        assert_eq!(to_text(&picture, 1), "\x1b[38;2;50;50;50m\x1b[48;2;100;100;100m▀\x1b[0m\n");
        let large = to_text(&picture, 4);
        assert_eq!((large.lines().count(), large.matches('▀').count()), (2, 8));
        // Equal neighbours share their colour codes: two fronts and two backs in each line.
        assert_eq!(large.matches("\x1b[38").count(), 4);
    }

    #[test]
    fn nothing_to_draw_is_no_text() {
        assert_eq!(to_text(&Picture { width: 0, height: 0, rgb: vec![] }, 80), "");
        assert_eq!(to_text(&Picture { width: 1, height: 1, rgb: vec![0; 3] }, 0), "");
    }
}

//! Pictures to look at: what they are, a small software rasteriser to draw them, and how a terminal shows them. Nothing
//! here takes part in learning.

use std::fmt::Write;

/// A picture: `height` rows of `width` pixels of red, green and blue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// 3 × width × height bytes.
    pub rgb: Vec<u8>,
}

pub(crate) type Colour = [u8; 3];
pub(crate) type Point = [f64; 2];

/// Each pixel is tried at this number of points in a row and in a column.
const GRAIN: u16 = 4;

/// A picture in the making.
pub(crate) struct Canvas {
    picture: Picture,
}

impl Canvas {
    /// An empty canvas of this colour.
    pub fn new(width: usize, height: usize, background: Colour) -> Self {
        Self { picture: Picture { width, height, rgb: background.repeat(width * height) } }
    }

    /// The picture.
    pub fn finish(self) -> Picture {
        self.picture
    }

    /// Fills a polygon, which need not be convex.
    pub fn polygon(&mut self, corners: &[Point], colour: Colour) {
        let mut ends = corners.iter();
        let Some(&first) = ends.next() else { return };
        let (low, high) = ends.fold((first, first), |(low, high), p| {
            ([low[0].min(p[0]), low[1].min(p[1])], [high[0].max(p[0]), high[1].max(p[1])])
        });
        self.fill(low, high, colour, |point| encloses(corners, point));
    }

    /// Fills a rectangle between two opposite corners.
    pub fn rectangle(&mut self, [left, top]: Point, [right, bottom]: Point, colour: Colour) {
        self.polygon(&[[left, top], [right, top], [right, bottom], [left, bottom]], colour);
    }

    /// Draws a line of this thickness, with straight ends.
    pub fn line(&mut self, from: Point, to: Point, thickness: f64, colour: Colour) {
        let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
        let length = libm::hypot(dx, dy);
        if length > 0.0 {
            let (x, y) = (-dy / length * thickness / 2.0, dx / length * thickness / 2.0);
            let corner = |p: Point, side: f64| [p[0] + side * x, p[1] + side * y];
            self.polygon(&[corner(from, 1.0), corner(to, 1.0), corner(to, -1.0), corner(from, -1.0)], colour);
        }
    }

    /// Fills a circle.
    pub fn circle(&mut self, [x, y]: Point, radius: f64, colour: Colour) {
        let inside = |[px, py]: Point| (px - x) * (px - x) + (py - y) * (py - y) < radius * radius;
        self.fill([x - radius, y - radius], [x + radius, y + radius], colour, inside);
    }

    /// Mixes the colour into each pixel between two corners by the share of it that is inside.
    fn fill(&mut self, low: Point, high: Point, colour: Colour, inside: impl Fn(Point) -> bool) {
        // The casts saturate, so that a shape far outside covers no pixel.
        let range =
            |low: f64, high: f64, end| (low.floor() as usize).min(end)..(high.ceil() as usize).min(end);
        let Picture { width, height, .. } = self.picture;
        for row in range(low[1], high[1], height) {
            for column in range(low[0], high[0], width) {
                let share = share(row, column, &inside);
                let at = 3 * (row * width + column);
                for (old, new) in self.picture.rgb[at..at + 3].iter_mut().zip(colour) {
                    let whole = GRAIN * GRAIN;
                    let mixed = u16::from(*old) * (whole - share) + u16::from(new) * share;
                    *old = ((mixed + whole / 2) / whole) as u8;
                }
            }
        }
    }
}

/// How many of a pixel's GRAIN² points are inside.
fn share(row: usize, column: usize, inside: impl Fn(Point) -> bool) -> u16 {
    let at = |pixel: usize, step: u16| pixel as f64 + (f64::from(step) + 0.5) / f64::from(GRAIN);
    let points = (0..GRAIN * GRAIN).map(|i| [at(column, i % GRAIN), at(row, i / GRAIN)]);
    points.map(|point| u16::from(inside(point))).sum()
}

/// Whether a ray from the point to the right crosses an odd number of edges.
fn encloses(corners: &[Point], [x, y]: Point) -> bool {
    let mut odd = false;
    let mut from = corners[corners.len() - 1];
    for &to in corners {
        if (from[1] > y) != (to[1] > y) && x < from[0] + (y - from[1]) / (to[1] - from[1]) * (to[0] - from[0])
        {
            odd = !odd;
        }
        from = to;
    }
    odd
}

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

    /// The mean of the red channel is the area covered.
    fn area(draw: impl Fn(&mut Canvas)) -> f64 {
        let mut canvas = Canvas::new(40, 30, [0; 3]);
        draw(&mut canvas);
        canvas.finish().rgb.iter().step_by(3).map(|&red| f64::from(red) / 255.0).sum()
    }

    #[test]
    fn areas() {
        let white = [255; 3];
        assert!((area(|c| c.rectangle([2.0, 3.0], [12.0, 8.0], white)) - 50.0).abs() < 1e-12);
        assert!((area(|c| c.rectangle([2.5, 3.0], [12.25, 8.0], white)) - 48.75).abs() < 0.1);
        assert!((area(|c| c.circle([20.0, 15.0], 10.0, white)) - std::f64::consts::PI * 100.0).abs() < 1.0);
        // No simple slope, along which the points would lie in rows.
        let line = area(|c| c.line([3.1, 3.3], [33.7, 22.9], 2.0, white));
        assert!((line - 2.0 * libm::hypot(30.6, 19.6)).abs() < 0.5, "{line}");
        let dart = [[0.3, 0.2], [20.1, 10.4], [0.7, 19.6], [9.6, 10.3]];
        let twice = |[a, b]: [Point; 2]| a[0] * b[1] - b[0] * a[1];
        let expected: f64 = (0..4).map(|i| twice([dart[i], dart[(i + 1) % 4]])).sum::<f64>() / 2.0;
        let drawn = area(|c| c.polygon(&dart, white));
        assert!((drawn - expected).abs() < 0.5, "{drawn} and not {expected}");
    }

    #[test]
    fn what_is_outside_is_cut_off() {
        let white = [255; 3];
        assert!((area(|c| c.rectangle([-50.0, -50.0], [10.0, 10.0], white)) - 100.0).abs() < 1e-12);
        assert_eq!(area(|c| c.circle([1e300, f64::INFINITY], 5.0, white)), 0.0);
        assert_eq!(area(|c| c.line([f64::NAN, 0.0], [1.0, 1.0], 5.0, white)), 0.0);
        assert_eq!(area(|c| c.polygon(&[], white)), 0.0);
    }

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

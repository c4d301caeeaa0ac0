//! From the console's screen to what an agent sees: the brightness of the last two frames, pixel by pixel the greater one, shrunk to
//! 84 × 84 by area. Every byte is that of ALE's vector environment, which shrinks with OpenCV.
//!
//! A pixel of the small picture is a mean over a rectangle of the large one, weighted by what lies inside. These weights are fractions with one
//! small denominator, so the mean is computed in integers. OpenCV computes in f32: the two differ only where a
//! mean lies just between two bytes. There, and only there, its sum is repeated in its own order.

use super::palette::Palette;

/// Pixels along a side of what an agent sees.
pub const SIDE: usize = 84;
/// Columns of the screen.
pub const WIDTH: usize = 160;
/// 21 small pixels lie on 40 columns, and so on. Each lies on three columns at most.
const COLUMNS: usize = 40;
const SMALL: usize = 21;
const BLOCKS: usize = WIDTH / COLUMNS;
/// The first of three columns beneath each of these pixels, and how much of each lies inside, in columns / [`SMALL`].
const TAPS: [(usize, [u32; 3]); SMALL] = taps();
/// What the shares of a pixel of the small picture add up to if the console shows 210 rows, as it does for most games.
const USUAL: u32 = 200;

/// The pixels of the large picture beneath one of the small, along one axis.
#[derive(Clone)]
struct Span {
    first: usize,
    /// How much of each lies inside, in the unit of its [`Axis`].
    shares: Vec<u16>,
    /// OpenCV's weights for the same pixels.
    weights: Vec<f32>,
}

/// How one axis shrinks.
#[derive(Clone)]
struct Axis {
    spans: Vec<Span>,
    /// The shares of a span add up to this.
    whole: u32,
}

impl Axis {
    /// From so many pixels to [`SIDE`].
    fn new(pixels: usize) -> Self {
        let common = gcd(pixels, SIDE);
        let (whole, unit) = (pixels / common, SIDE / common);
        let span = |small: usize| {
            let (start, end) = (small * whole, (small + 1) * whole);
            let (first, last) = (start / unit, (end - 1) / unit);
            let share = |pixel: usize| end.min((pixel + 1) * unit) - start.max(pixel * unit);
            let shares = (first..=last).map(|pixel| share(pixel) as u16).collect();
            Span { first, shares, weights: weights(small, pixels) }
        };
        Self { spans: (0..SIDE).map(span).collect(), whole: whole as u32 }
    }
}

/// The last ones start earlier, with a share of 0, so as to stay within the columns.
const fn taps() -> [(usize, [u32; 3]); SMALL] {
    let (mut taps, mut small) = ([(0, [0; 3]); SMALL], 0);
    while small < SMALL {
        let (start, end) = (small * COLUMNS, (small + 1) * COLUMNS);
        let first = if start / SMALL < COLUMNS - 3 { start / SMALL } else { COLUMNS - 3 };
        taps[small].0 = first;
        let mut tap = 0;
        while tap < 3 {
            let (left, right) = ((first + tap) * SMALL, (first + tap + 1) * SMALL);
            let (left, right) =
                (if left > start { left } else { start }, if right < end { right } else { end });
            taps[small].1[tap] = right.saturating_sub(left) as u32;
            tap += 1;
        }
        small += 1;
    }
    taps
}

/// OpenCV's weights of the pixels beneath a small one: the part of the first, all of those between, the part of the last.
fn weights(small: usize, pixels: usize) -> Vec<f32> {
    /// A part that is smaller comes from rounding.
    const LEAST: f64 = 1e-3;
    let scale = pixels as f64 / SIDE as f64;
    let start = small as f64 * scale;
    let end = start + scale;
    let width = scale.min(pixels as f64 - start);
    let last = end.floor().min(pixels as f64 - 1.0);
    let first = start.ceil().min(last);
    let part = |part: f64| (part > LEAST).then_some((part.min(1.0).min(width) / width) as f32);
    let between = (first as usize..last as usize).map(|_| (1.0 / width) as f32);
    part(first - start).into_iter().chain(between).chain(part(end - last)).collect()
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The brightness of the screen, and what has to be kept between frames.
#[derive(Clone)]
pub struct Screen {
    palette: &'static Palette,
    rows: Axis,
    columns: Axis,
    /// The brightness of what was seen last, and so of the greater of two frames.
    seen: Vec<u8>,
    /// The frame that was seen last, as the console shows it, and the one before.
    last: Vec<u8>,
    held: Vec<u8>,
    /// Whether the one before is part of what is seen.
    both: bool,
    /// Whether what is seen is the brightness of these frames. Then most rows of the next picture are there already.
    current: bool,
    /// Which rows of the frame held are new since something was seen.
    held_anew: Vec<bool>,
    /// What was written last, and in which of its rows OpenCV had to be asked.
    small: Vec<u8>,
    halves: Vec<bool>,
    /// Which rows of what is seen are new since then, and which are like the one above.
    seen_anew: Vec<bool>,
    like_above: Vec<bool>,
}

impl Screen {
    /// For a console that shows so many rows in these colours.
    pub fn new(height: usize, palette: &'static Palette) -> Self {
        let (rows, columns) = (Axis::new(height), Axis::new(WIDTH));
        let picture = vec![0; height * WIDTH];
        Self {
            palette,
            rows,
            columns,
            seen: picture.clone(),
            last: picture.clone(),
            held: picture,
            both: false,
            current: false,
            held_anew: vec![false; height],
            small: vec![0; SIDE * SIDE],
            halves: vec![false; SIDE],
            seen_anew: vec![true; height],
            like_above: vec![false; height],
        }
    }

    /// Sees this frame alone.
    pub fn see(&mut self, frame: &[u8]) {
        update(self, frame, false);
    }

    /// Keeps a frame for [`Screen::see_both`].
    pub fn hold(&mut self, frame: &[u8]) {
        hold(self, frame);
    }

    #[inline(always)]
    fn hold_here(&mut self, frame: &[u8]) {
        let rows = self.held.as_chunks_mut::<WIDTH>().0.iter_mut().zip(frame.as_chunks().0);
        for ((held, row), anew) in rows.zip(&mut self.held_anew) {
            if !same(held, row) {
                (*held, *anew) = (*row, true);
            }
        }
    }

    /// Sees the greater of this frame and the one held.
    pub fn see_both(&mut self, frame: &[u8]) {
        update(self, frame, true);
    }

    /// Brings the rows up to date that are not those of the picture before.
    #[inline(always)]
    fn update_here(&mut self, frame: &[u8], both: bool) {
        let reuse = self.current && self.both == both;
        (self.current, self.both) = (true, both);
        let (seen, last) = (self.seen.as_chunks_mut::<WIDTH>().0, self.last.as_chunks_mut::<WIDTH>().0);
        let (held, luminance) = (self.held.as_chunks::<WIDTH>().0, &self.palette.luminance);
        for (y, row) in frame.as_chunks::<WIDTH>().0.iter().enumerate() {
            let held_anew = std::mem::take(&mut self.held_anew[y]);
            if reuse && same(&last[y], row) && !(both && held_anew) {
                continue;
            }
            (last[y], self.seen_anew[y]) = (*row, true);
            if y > 0 && same(&last[y - 1], row) && (!both || same(&held[y - 1], &held[y])) {
                seen[y] = seen[y - 1];
                continue;
            }
            seen[y].iter_mut().zip(row).for_each(|(seen, &colour)| *seen = luminance[usize::from(colour)]);
            if both && !same(&held[y], row) {
                brighten(&mut seen[y], &held[y], luminance);
            }
        }
    }

    /// Sees the greater of what was seen and the frame held: the game ended before there was another.
    pub fn see_held(&mut self) {
        let rows = self.seen.chunks_exact_mut(WIDTH).zip(self.held.chunks_exact(WIDTH));
        rows.for_each(|(seen, held)| brighten(seen, held, &self.palette.luminance));
        self.seen_anew.fill(true);
        self.current = false;
    }

    /// The brightness that is seen, before it is shrunk.
    pub fn seen(&self) -> &[u8] {
        &self.seen
    }

    /// The frame held, if it is part of what is seen.
    pub fn held(&self) -> Option<&[u8]> {
        self.both.then_some(&self.held)
    }

    /// Sees what was seen when [`Screen::held`] gave this and the console showed `frame`. False, and nothing changes, if it has another size.
    #[must_use]
    pub fn restore(&mut self, held: Option<&[u8]>, frame: &[u8]) -> bool {
        if held.is_some_and(|held| held.len() != frame.len()) || frame.len() != self.seen.len() {
            return false;
        }
        match held {
            Some(held) => {
                self.hold(held);
                self.see_both(frame);
            }
            None => self.see(frame),
        }
        true
    }

    /// Writes what was seen, shrunk to [`SIDE`] × [`SIDE`].
    pub fn write(&mut self, small: &mut [u8]) {
        shrink(self);
        small.copy_from_slice(&self.small);
    }

    /// Brings the small picture up to date.
    #[inline(always)]
    fn shrink_here(&mut self) {
        let seen = self.seen.as_chunks::<WIDTH>().0;
        for y in 1..seen.len() {
            if self.seen_anew[y - 1] || self.seen_anew[y] {
                self.like_above[y] = same(&seen[y - 1], &seen[y]);
            }
        }
        for y in 0..SIDE {
            let span = &self.rows.spans[y];
            if self.seen_anew[span.first..span.end()].contains(&true) {
                self.shrink_row(y);
            }
        }
        self.seen_anew.fill(false);
    }

    /// Brings a row of small pixels up to date.
    #[inline(always)]
    fn shrink_row(&mut self, y: usize) {
        let mut row = [0; SIDE];
        // Many rows of most games are alike. Where OpenCV rounds halves, it still depends on their weights.
        let first = self.rows.spans[y.saturating_sub(1)].first;
        let alike = || !self.like_above[first + 1..self.rows.spans[y].end()].contains(&false);
        self.halves[y] = if y > 0 && !self.halves[y - 1] && alike() {
            row.copy_from_slice(&self.small[(y - 1) * SIDE..][..SIDE]);
            false
        } else {
            self.write_row(y, &mut row)
        };
        self.small[y * SIDE..][..SIDE].copy_from_slice(&row);
    }

    /// Writes a row of small pixels. Whether there was one for which OpenCV had to be asked.
    #[inline(always)]
    fn write_row(&self, y: usize, small: &mut [u8]) -> bool {
        let span = &self.rows.spans[y];
        let mut sums = [0_u16; WIDTH];
        for (row, &share) in self.seen[span.first * WIDTH..].chunks_exact(WIDTH).zip(&span.shares) {
            sums.iter_mut().zip(row).for_each(|(sum, &pixel)| *sum += share * u16::from(pixel));
        }
        // All blocks of columns shrink alike, so they are worked on side by side.
        let mut beneath = [[0; BLOCKS]; COLUMNS];
        for (column, beneath) in beneath.iter_mut().enumerate() {
            *beneath = std::array::from_fn(|block| u32::from(sums[block * COLUMNS + column]));
        }
        let mut totals = [0; SIDE];
        for (small, (first, shares)) in TAPS.iter().enumerate() {
            let mut total = [0; BLOCKS];
            for (beneath, share) in beneath[*first..][..3].iter().zip(shares) {
                total.iter_mut().zip(beneath).for_each(|(total, sum)| *total += share * sum);
            }
            (0..BLOCKS).for_each(|block| totals[block * SMALL + small] = total[block]);
        }
        // The compiler divides faster by a number that it knows.
        match self.rows.whole * self.columns.whole {
            USUAL => round(&totals, USUAL, small, |x| self.opencv(y, x)),
            whole => round(&totals, whole, small, |x| self.opencv(y, x)),
        }
    }

    /// A small pixel as OpenCV computes it: row by row, in f32, rounded to the nearest and halves to the even.
    fn opencv(&self, y: usize, x: usize) -> u8 {
        let (rows, columns) = (&self.rows.spans[y], &self.columns.spans[x]);
        let row = |row: &[u8]| {
            let beneath = row[columns.first..].iter().zip(&columns.weights);
            beneath.fold(0.0_f32, |sum, (&pixel, weight)| sum + f32::from(pixel) * weight)
        };
        let beneath = self.seen[rows.first * WIDTH..].chunks_exact(WIDTH).zip(&rows.weights);
        beneath.fold(0.0_f32, |sum, (pixels, weight)| sum + weight * row(pixels)).round_ties_even() as u8
    }
}

// The same instructions for wider registers, where the processor has them: the same bytes, sooner.

#[multiversion::multiversion(targets("x86_64+avx2", "x86_64+avx512f+avx512bw+avx512vl"))]
fn hold(screen: &mut Screen, frame: &[u8]) {
    screen.hold_here(frame);
}

#[multiversion::multiversion(targets("x86_64+avx2", "x86_64+avx512f+avx512bw+avx512vl"))]
fn update(screen: &mut Screen, frame: &[u8], both: bool) {
    screen.update_here(frame, both);
}

#[multiversion::multiversion(targets("x86_64+avx2", "x86_64+avx512f+avx512bw+avx512vl"))]
fn shrink(screen: &mut Screen) {
    screen.shrink_here();
}

impl Span {
    fn end(&self) -> usize {
        self.first + self.shares.len()
    }
}

/// Totals divided by `whole`, to the nearest. Whether some lie just between two; these are as `opencv` has them.
#[inline(always)]
fn round(totals: &[u32; SIDE], whole: u32, small: &mut [u8], opencv: impl Fn(usize) -> u8) -> bool {
    let mut between = false;
    for (small, total) in small.iter_mut().zip(totals) {
        let doubled = 2 * total + whole;
        let rounded = doubled / (2 * whole);
        *small = rounded as u8;
        between |= rounded * 2 * whole == doubled;
    }
    if between {
        for x in (0..SIDE).filter(|&x| (2 * totals[x] + whole).is_multiple_of(2 * whole)) {
            small[x] = opencv(x);
        }
    }
    between
}

/// Whether two rows are alike. `==` would be a call, which takes longer than all of the row in wide registers.
#[inline(always)]
fn same(one: &[u8; WIDTH], other: &[u8; WIDTH]) -> bool {
    let pairs = one.as_chunks::<8>().0.iter().zip(other.as_chunks::<8>().0);
    pairs.fold(0, |all, (&one, &other)| all | u64::from_le_bytes(one) ^ u64::from_le_bytes(other)) == 0
}

/// Raises the brightness to that of a frame.
fn brighten(seen: &mut [u8], frame: &[u8], luminance: &[u8; 256]) {
    seen.iter_mut()
        .zip(frame)
        .for_each(|(seen, &colour)| *seen = (*seen).max(luminance[usize::from(colour)]));
}

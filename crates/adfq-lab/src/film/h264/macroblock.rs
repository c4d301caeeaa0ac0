//! A macroblock: 16 × 16 samples of luma in blocks of 4 × 4, and 8 × 8 of both chroma components (H.264, 7.3.5). It is
//! predicted, by the last frame or by the mean of its edges, and the difference is transformed and coded.

use super::cavlc::{self, Context};
use super::transform::{Block, Quantiser, ZIGZAG, backward, forward, hadamard, hadamard_2};
use crate::film::bits::Bits;
use crate::film::yuv::{BLOCK, Plane, Planes};

/// Which parts of a macroblock have coefficients, in the order of their codes (table 9-4, inter).
const PATTERNS: [u8; 48] = [
    0, 16, 1, 2, 4, 8, 32, 3, 5, 10, 12, 15, 47, 7, 11, 13, 14, 6, 9, 31, 35, 37, 42, 44, 33, 34, 36, 40, 39,
    43, 45, 46, 17, 18, 20, 24, 19, 21, 26, 28, 23, 27, 29, 30, 22, 25, 38, 41,
];

/// The column and row of a macroblock.
pub type Place = (usize, usize);

/// A frame that is being coded.
pub struct Frame<'a> {
    /// What is to be shown.
    pub source: &'a Planes,
    /// What decoders show: the last frame, and where a macroblock has been coded, this one.
    pub shown: &'a mut Planes,
    /// The last QP.
    qp: i32,
    counts: [Counts; 3],
}

/// How many coefficients each block has.
struct Counts {
    width: usize,
    counts: Vec<u8>,
}

impl Counts {
    fn new(plane: &Plane) -> Self {
        Self { width: plane.width / 4, counts: vec![0; plane.samples.len() / 16] }
    }

    /// The mean of left and above, where they exist.
    fn near(&self, x: usize, y: usize) -> Context {
        let at = y * self.width + x;
        let left = (x > 0).then(|| self.counts[at - 1]);
        let above = (y > 0).then(|| self.counts[at - self.width]);
        Context::Near(match (left, above) {
            (Some(left), Some(above)) => (left + above).div_ceil(2),
            (left, above) => left.or(above).unwrap_or(0),
        })
    }
}

/// The levels of a macroblock, each block from coarse to fine.
struct Levels {
    /// The means of all luma blocks, where they are coded apart.
    means: Option<Block>,
    luma: [Block; 16],
    chroma_means: [[i32; 4]; 2],
    chroma: [[Block; 4]; 2],
}

/// The place of a luma block, in blocks: four of them make a quarter, and four quarters the macroblock (6.4.3).
fn place(i: usize) -> (usize, usize) {
    (i % 2 + i / 4 % 2 * 2, i / 2 % 2 + i / 8 * 2)
}

impl<'a> Frame<'a> {
    /// A frame whose slice begins with this QP.
    pub fn new(source: &'a Planes, shown: &'a mut Planes, qp: i32) -> Self {
        let counts = [0, 1, 2].map(|i| Counts::new(&source.0[i]));
        Self { source, shown, qp, counts }
    }

    /// Codes a macroblock as the last frame and what changed, after `skipped` others; says whether there was a need.
    pub fn follow(
        &mut self,
        bits: &mut Bits,
        (column, row): Place,
        skipped: u32,
        quantiser: &Quantiser,
    ) -> bool {
        let levels = self.levels((column, row), quantiser, false);
        let pattern = levels.pattern();
        if pattern == 0 {
            return false;
        }
        bits.unsigned(skipped);
        bits.unsigned(0); // one vector for all
        bits.signed(0); // which is zero, as are all before it and so the prediction of it
        bits.signed(0);
        bits.unsigned(PATTERNS.iter().position(|&known| known == pattern).unwrap_or(0) as u32);
        self.step(bits, quantiser);
        self.write(bits, column, row, &levels, pattern);
        self.show(column, row, &levels, quantiser);
        true
    }

    /// Codes a macroblock by itself: the mean of its edges, and how it differs.
    pub fn begin(&mut self, bits: &mut Bits, (column, row): Place, quantiser: &Quantiser) {
        predict(&mut self.shown.0, column, row);
        let levels = self.levels((column, row), quantiser, true);
        let pattern = levels.pattern();
        // Luma has coefficients beside its means in all quarters or in none.
        let luma = u32::from(pattern & 15 > 0);
        bits.unsigned(1 + 2 + 4 * u32::from(pattern / 16) + 12 * luma);
        bits.unsigned(0); // chroma by means too
        self.step(bits, quantiser);
        self.write(bits, column, row, &levels, pattern | if luma > 0 { 15 } else { 0 });
        self.show(column, row, &levels, quantiser);
    }

    /// How QP changes.
    fn step(&mut self, bits: &mut Bits, quantiser: &Quantiser) {
        bits.signed(quantiser.qp - std::mem::replace(&mut self.qp, quantiser.qp));
    }

    /// The difference between a block and its prediction, transformed.
    fn difference(&self, plane: usize, x: usize, y: usize) -> Block {
        let (source, shown) = (&self.source.0[plane], &self.shown.0[plane]);
        let mut block = [0; 16];
        for line in 0..4 {
            let pairs = source.run(x, y + line, 4).iter().zip(shown.run(x, y + line, 4));
            pairs
                .enumerate()
                .for_each(|(i, (new, old))| block[4 * line + i] = i32::from(*new) - i32::from(*old));
        }
        forward(block)
    }

    fn levels(&self, (column, row): Place, quantiser: &Quantiser, apart: bool) -> Levels {
        let scan = |block: Block| ZIGZAG.map(|i| block[i]);
        let mut means = [0; 16];
        let luma = std::array::from_fn(|i| {
            let (x, y) = place(i);
            let mut block = self.difference(0, BLOCK * column + 4 * x, BLOCK * row + 4 * y);
            if apart {
                means[4 * y + x] = std::mem::take(&mut block[0]);
            }
            scan(quantiser.levels(&block))
        });
        let mut chroma_means = [[0; 4]; 2];
        let chroma = [0, 1].map(|plane| {
            let blocks = std::array::from_fn(|i| {
                let (x, y) = (BLOCK / 2 * column + i % 2 * 4, BLOCK / 2 * row + i / 2 * 4);
                let mut block = self.difference(1 + plane, x, y);
                chroma_means[plane][i] = std::mem::take(&mut block[0]);
                scan(quantiser.levels(&block))
            });
            chroma_means[plane] = quantiser.mean_levels(hadamard_2(chroma_means[plane]));
            blocks
        });
        let halves = || hadamard(means).map(|mean| (mean + 1) >> 1);
        let means = apart.then(|| scan(quantiser.mean_levels(halves())));
        Levels { means, luma, chroma_means, chroma }
    }

    fn write(&mut self, bits: &mut Bits, column: usize, row: usize, levels: &Levels, pattern: u8) {
        let apart = usize::from(levels.means.is_some());
        if let Some(means) = &levels.means {
            cavlc::write(bits, means, self.counts[0].near(4 * column, 4 * row));
        }
        for (i, block) in levels.luma.iter().enumerate().filter(|(i, _)| pattern >> (i / 4) & 1 == 1) {
            let (x, y) = place(i);
            self.block(bits, 0, (4 * column + x, 4 * row + y), &block[apart..]);
        }
        if pattern >= 16 {
            for means in &levels.chroma_means {
                cavlc::write(bits, means, Context::Chroma);
            }
        }
        if pattern >= 32 {
            for (plane, blocks) in levels.chroma.iter().enumerate() {
                for (i, block) in blocks.iter().enumerate() {
                    self.block(bits, 1 + plane, (2 * column + i % 2, 2 * row + i / 2), &block[1..]);
                }
            }
        }
    }

    fn block(&mut self, bits: &mut Bits, plane: usize, (x, y): (usize, usize), levels: &[i32]) {
        let counts = &mut self.counts[plane];
        let count = cavlc::write(bits, levels, counts.near(x, y));
        counts.counts[y * counts.width + x] = count;
    }

    /// Adds to the prediction what decoders will add.
    fn show(&mut self, column: usize, row: usize, levels: &Levels, quantiser: &Quantiser) {
        let unscan = |levels: &Block| {
            let mut block = [0; 16];
            ZIGZAG.iter().zip(levels).for_each(|(&i, &level)| block[i] = level);
            block
        };
        let means = levels.means.as_ref().map(|means| quantiser.luma_means(unscan(means)));
        for (i, block) in levels.luma.iter().enumerate() {
            let (x, y) = place(i);
            let mut coefficients = quantiser.coefficients(&unscan(block));
            if let Some(means) = means {
                coefficients[0] = means[4 * y + x];
            }
            add(&mut self.shown.0[0], BLOCK * column + 4 * x, BLOCK * row + 4 * y, coefficients);
        }
        for (plane, blocks) in levels.chroma.iter().enumerate() {
            let means = quantiser.chroma_means(levels.chroma_means[plane]);
            for (i, block) in blocks.iter().enumerate() {
                let mut coefficients = quantiser.coefficients(&unscan(block));
                coefficients[0] = means[i];
                let (x, y) = (BLOCK / 2 * column + i % 2 * 4, BLOCK / 2 * row + i / 2 * 4);
                add(&mut self.shown.0[1 + plane], x, y, coefficients);
            }
        }
    }
}

impl Levels {
    /// Which parts have coefficients: a bit for each quarter of luma, 16 for means of chroma alone, 32 for more of it.
    fn pattern(&self) -> u8 {
        let some = |levels: &[i32]| levels.iter().any(|&level| level != 0);
        let luma = (0..16).filter(|&i| some(&self.luma[i])).fold(0, |pattern, i| pattern | 1 << (i / 4));
        let chroma = if self.chroma.as_flattened().iter().any(|block| some(block)) {
            32
        } else if some(self.chroma_means.as_flattened()) {
            16
        } else {
            0
        };
        luma | chroma
    }
}

fn add(plane: &mut Plane, x: usize, y: usize, coefficients: Block) {
    if coefficients == [0; 16] {
        return;
    }
    for (line, differences) in backward(coefficients).chunks_exact(4).enumerate() {
        for (sample, difference) in plane.run_mut(x, y + line, 4).iter_mut().zip(differences) {
            *sample = (i32::from(*sample) + difference).clamp(0, 255) as u8;
        }
    }
}

/// Fills a macroblock with the means of the samples above and to the left: all of luma with one (8.3.3.3), chroma in
/// quarters (8.3.4).
fn predict(planes: &mut [Plane; 3], column: usize, row: usize) {
    let (x, y) = (BLOCK * column, BLOCK * row);
    let edges = [above(&planes[0], x, y, BLOCK), beside(&planes[0], x, y, BLOCK)];
    fill(&mut planes[0], x, y, BLOCK, mean(&edges, BLOCK));
    let (x, y) = (x / 2, y / 2);
    for plane in &mut planes[1..] {
        // All edges are read before the first quarter is filled.
        let values = [0, 1, 2, 3].map(|i| {
            let above = above(plane, x + i % 2 * 4, y, 4);
            let beside = beside(plane, x, y + i / 2 * 4, 4);
            match i {
                1 => mean(&[above.or(beside), None], 4),
                2 => mean(&[beside.or(above), None], 4),
                _ => mean(&[above, beside], 4),
            }
        });
        (0..4).for_each(|i| fill(plane, x + i % 2 * 4, y + i / 2 * 4, 4, values[i]));
    }
}

/// The sum of the samples above a block.
fn above(plane: &Plane, x: usize, y: usize, side: usize) -> Option<usize> {
    (y > 0).then(|| plane.run(x, y - 1, side).iter().map(|&sample| usize::from(sample)).sum())
}

/// The sum of the samples to the left of a block.
fn beside(plane: &Plane, x: usize, y: usize, side: usize) -> Option<usize> {
    (x > 0).then(|| (y..y + side).map(|y| usize::from(plane.run(x - 1, y, 1)[0])).sum())
}

/// The mean of the edges that exist, or grey.
fn mean(edges: &[Option<usize>; 2], side: usize) -> u8 {
    let count = side * edges.iter().flatten().count();
    let sum: usize = edges.iter().flatten().sum();
    (sum + count / 2).checked_div(count).map_or(128, |mean| mean as u8)
}

fn fill(plane: &mut Plane, x: usize, y: usize, side: usize, value: u8) {
    (y..y + side).for_each(|y| plane.run_mut(x, y, side).fill(value));
}

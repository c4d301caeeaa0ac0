//! The integer transform of 4 × 4 samples and its quantisation (H.264, 8.5), forwards and backwards.

/// Samples in rows, or coefficients with the coarsest first.
pub type Block = [i32; 16];

/// Coefficients from coarse to fine: where each stands in its block (figure 8-8).
pub const ZIGZAG: [usize; 16] = [0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15];

/// By QP modulo 6: the decoder's factors (8.5.9) for coefficients in even rows and columns, in odd ones, and in others.
const FACTORS: [[i32; 3]; 6] =
    [[10, 16, 13], [11, 18, 14], [13, 20, 16], [14, 23, 18], [16, 25, 20], [18, 29, 23]];
/// Their inverses, with the norms of the transform, in units of 2⁻¹⁵.
const INVERSES: [[i64; 3]; 6] = [
    [13_107, 5_243, 8_066],
    [11_916, 4_660, 7_490],
    [10_082, 4_194, 6_554],
    [9_362, 3_647, 5_825],
    [8_192, 3_355, 5_243],
    [7_282, 2_893, 4_559],
];

/// How finely coefficients are kept: QP, below 24 here, so that chroma has the same.
#[derive(Clone, Copy)]
pub struct Quantiser {
    pub qp: i32,
    factors: [i32; 3],
    inverses: [i64; 3],
    shift: u32,
}

impl Quantiser {
    pub const fn new(qp: u32) -> Self {
        let row = (qp % 6) as usize;
        Self { qp: qp as i32, factors: FACTORS[row], inverses: INVERSES[row], shift: qp / 6 }
    }

    /// The levels of coefficients; what is less than a third of a step counts as nothing.
    pub fn levels(&self, coefficients: &Block) -> Block {
        std::array::from_fn(|i| level(coefficients[i], self.inverses[class(i)], 15 + self.shift))
    }

    /// The coefficients that a decoder makes of levels.
    pub fn coefficients(&self, levels: &Block) -> Block {
        std::array::from_fn(|i| (levels[i] * self.factors[class(i)]) << self.shift)
    }

    /// The levels of means that went through another transform, whose norm is twice that of their coefficients.
    pub fn mean_levels<const N: usize>(&self, means: [i32; N]) -> [i32; N] {
        means.map(|mean| level(mean, self.inverses[0], 16 + self.shift))
    }

    /// What a decoder makes of the levels of the means of a 16 × 16 block, transformed back (8.5.10).
    pub fn luma_means(&self, levels: Block) -> Block {
        let (factor, shift) = (16 * self.factors[0], 6 - self.shift);
        hadamard(levels).map(|f| (f * factor + (1 << (shift - 1))) >> shift)
    }

    /// The same of the four means of chroma (8.5.11.2).
    pub fn chroma_means(&self, levels: [i32; 4]) -> [i32; 4] {
        hadamard_2(levels).map(|f| ((f * 16 * self.factors[0]) << self.shift) >> 5)
    }
}

fn level(coefficient: i32, inverse: i64, bits: u32) -> i32 {
    let size = (i64::from(coefficient.abs()) * inverse + (1 << bits) / 3) >> bits;
    size as i32 * coefficient.signum()
}

fn class(i: usize) -> usize {
    match (i / 4 % 2, i % 2) {
        (0, 0) => 0,
        (1, 1) => 1,
        _ => 2,
    }
}

/// Applies `f` to every row and then to every column.
fn both_ways(block: Block, f: impl Fn([i32; 4]) -> [i32; 4]) -> Block {
    let mut half = [0; 16];
    for i in 0..4 {
        half[4 * i..4 * i + 4].copy_from_slice(&f([0, 1, 2, 3].map(|j| block[4 * i + j])));
    }
    let mut whole = [0; 16];
    for j in 0..4 {
        let column = f([0, 1, 2, 3].map(|i| half[4 * i + j]));
        (0..4).for_each(|i| whole[4 * i + j] = column[i]);
    }
    whole
}

/// From samples to coefficients.
pub fn forward(samples: Block) -> Block {
    both_ways(samples, |[a, b, c, d]| {
        let (outer, inner, rise, step) = (a + d, b + c, a - d, b - c);
        [outer + inner, 2 * rise + step, outer - inner, rise - 2 * step]
    })
}

/// From a decoder's coefficients to samples (8.5.12).
pub fn backward(coefficients: Block) -> Block {
    let core = both_ways(coefficients, |[a, b, c, d]| {
        let (even, odd, half, whole) = (a + c, a - c, (b >> 1) - d, b + (d >> 1));
        [even + whole, odd + half, odd - half, even - whole]
    });
    core.map(|x| (x + 32) >> 6)
}

/// Sums and differences of 16 means; its own inverse but for a factor.
pub fn hadamard(means: Block) -> Block {
    both_ways(means, |[a, b, c, d]| [a + b + c + d, a + b - c - d, a - b - c + d, a - b + c - d])
}

/// The same for four.
pub fn hadamard_2([a, b, c, d]: [i32; 4]) -> [i32; 4] {
    [a + b + c + d, a - b + c - d, a + b - c - d, a - b - c + d]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The step is 2^((QP − 4) / 6), so that samples come back the closer the smaller QP is.
        #[test]
        fn samples_come_back(samples in proptest::array::uniform16(-219..=219_i32), qp in 10..24_u32) {
            let quantiser = Quantiser::new(qp);
            let back = backward(quantiser.coefficients(&quantiser.levels(&forward(samples))));
            let step = 2_f64.powf((f64::from(qp) - 4.0) / 6.0);
            for (old, new) in samples.iter().zip(back) {
                prop_assert!(f64::from((old - new).abs()) <= 4.0 * 2.0 / 3.0 * step + 1.0, "{old} {new}");
            }
        }

        #[test]
        fn means_come_back(means in proptest::array::uniform16(-3500..=3500_i32), qp in 10..24_u32) {
            let quantiser = Quantiser::new(qp);
            // As the encoder does it: a mean is a coefficient, 64/16 times a sample when transformed back.
            let levels = quantiser.mean_levels(hadamard(means).map(|mean| (mean + 1) >> 1));
            let step = 2_f64.powf((f64::from(qp) - 4.0) / 6.0);
            for (old, new) in means.iter().zip(quantiser.luma_means(levels)) {
                let error = (f64::from(*old) / 16.0 - f64::from(new) / 64.0).abs();
                prop_assert!(error <= 4.0 * 2.0 / 3.0 * step, "{old} {new}");
            }
        }
    }
}

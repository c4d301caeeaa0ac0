//! A row of sums brought to the mean 0 and the variance 1, and the ReLU after it (layer normalisation, Ba et al. 2016):
//!
//! ```text
//! n = (z - mean z) / √(var z + ε)         y = max(n, 0)
//! ∂z = (∂n - mean ∂n - n mean(∂n · n)) / √(var z + ε)
//! ```
//!
//! The sums z are kept from the way forward, and n is worked out from them again on the way back.

use crate::Layer;
use std::iter::zip;

/// Numbers that are added up side by side. The order is the same on every machine, whatever its vectors are.
const LANES: usize = 16;

/// The outputs of rows of sums, so many numbers each.
pub(crate) fn forward(width: usize, sums: &[f32], output: &mut [f32]) {
    for (z, y) in zip(sums.chunks_exact(width), output.chunks_exact_mut(width)) {
        let (mean, scale) = moments(z);
        for (y, z) in zip(y, z) {
            let n = (z - mean) * scale;
            // A NaN stays one.
            *y = if n < 0.0 { 0.0 } else { n };
        }
    }
}

/// The gradient with respect to the sums, from that with respect to n.
pub(crate) fn backward(width: usize, sums: &[f32], gradient: &[f32], out: &mut [f32]) {
    let rows = zip(sums.chunks_exact(width), gradient.chunks_exact(width));
    for ((z, gradient), out) in zip(rows, out.chunks_exact_mut(width)) {
        let (mean, scale) = moments(z);
        let mean_gradient = average(gradient, gradient, |g, _| g);
        let along = average(gradient, z, |g, z| g * ((z - mean) * scale));
        for ((out, z), g) in zip(zip(out, z), gradient) {
            let n = (z - mean) * scale;
            *out = scale * (g - mean_gradient - n * along);
        }
    }
}

/// The mean of some numbers, and one over their standard deviation.
fn moments(z: &[f32]) -> (f32, f32) {
    let mean = average(z, z, |z, _| z);
    let variance = average(z, z, |z, _| (z - mean) * (z - mean));
    (mean, 1.0 / (variance + Layer::EPSILON).sqrt())
}

fn average(a: &[f32], b: &[f32], term: impl Fn(f32, f32) -> f32) -> f32 {
    let mut sums = [0.0; LANES];
    let (a_lanes, b_lanes) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest = zip(a_lanes.remainder(), b_lanes.remainder());
    for (a, b) in zip(a_lanes, b_lanes) {
        for (sum, (&a, &b)) in zip(&mut sums, zip(a, b)) {
            *sum += term(a, b);
        }
    }
    for (sum, (&a, &b)) in zip(&mut sums, rest) {
        *sum += term(a, b);
    }
    sums.iter().sum::<f32>() / a.len() as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_mean_0_and_variance_1_at_any_scale() {
        for (offset, size) in [(0.0, 1.0), (-30.0, 5.0), (1e3, 100.0)] {
            let z: Vec<f32> = (0..37).map(|i| offset + size * (i as f32 * 1.7).sin()).collect();
            let mut y = vec![f32::NAN; 37];
            forward(37, &z, &mut y);
            let n: Vec<f64> = {
                let (mean, scale) = moments(&z);
                z.iter().map(|z| f64::from((z - mean) * scale)).collect()
            };
            let mean = n.iter().sum::<f64>() / 37.0;
            let variance = n.iter().map(|n| n * n).sum::<f64>() / 37.0;
            assert!(mean.abs() < 1e-4 && (variance - 1.0).abs() < 1e-3, "{mean} {variance}");
            assert!(zip(&y, &n).all(|(&y, &n)| f64::from(y) == n.max(0.0)));
        }
    }

    #[test]
    fn equal_sums_are_finite_and_a_nan_stays() {
        let mut y = [9.0; 3];
        forward(3, &[4.0; 3], &mut y);
        assert_eq!(y, [0.0; 3]);
        forward(3, &[1.0, f32::NAN, 2.0], &mut y);
        assert!(y.iter().all(|y| y.is_nan()));
    }
}

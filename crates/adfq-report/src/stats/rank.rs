//! Rank correlation: whether two quantities rise together, whatever their scales.

use super::mean;

/// Spearman's rank correlation of pairs (xᵢ, yᵢ); equal values share the mean of their ranks. NaN if there are fewer
/// than two pairs, if all values of a side are equal, or if one is NaN.
///
/// ```
/// use adfq_report::stats::spearman;
///
/// assert_eq!(spearman(&[1.0, 2.0, 3.0], &[10.0, 100.0, 1000.0]), 1.0);
/// assert_eq!(spearman(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), -1.0);
/// assert!(spearman(&[1.0, 2.0], &[5.0, 5.0]).is_nan());
/// ```
pub fn spearman(x: &[f64], y: &[f64]) -> f64 {
    if x.len() != y.len() || x.iter().chain(y).any(|value| value.is_nan()) {
        return f64::NAN;
    }
    let (x, y) = (ranks(x), ranks(y));
    let (centre_x, centre_y) = (mean(&x), mean(&y));
    let (mut both, mut of_x, mut of_y) = (0.0, 0.0, 0.0);
    for (x, y) in x.iter().zip(&y) {
        both += (x - centre_x) * (y - centre_y);
        of_x += (x - centre_x) * (x - centre_x);
        of_y += (y - centre_y) * (y - centre_y);
    }
    both / (of_x * of_y).sqrt()
}

/// The rank of each value from 1 on, the mean rank where several are equal.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
    let mut ranks = vec![0.0; values.len()];
    for equal in order.chunk_by(|&i, &j| values[i] == values[j]) {
        let below = order.partition_point(|&i| values[i] < values[equal[0]]);
        let rank = below as f64 + (equal.len() + 1) as f64 / 2.0;
        equal.iter().for_each(|&i| ranks[i] = rank);
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SciPy: spearmanr([1, 2, 2, 4, 5], [2, 1, 3, 3, 9]).statistic.
    #[test]
    fn equal_values_share_their_ranks() {
        assert_eq!(ranks(&[7.0, 3.0, 7.0, 1.0]), [3.5, 2.0, 3.5, 1.0]);
        let found = spearman(&[1.0, 2.0, 2.0, 4.0, 5.0], &[2.0, 1.0, 3.0, 3.0, 9.0]);
        assert!((found - 0.763_157_894_736_842).abs() < 1e-12, "{found}");
    }

    #[test]
    fn nothing_has_no_correlation() {
        assert!(spearman(&[], &[]).is_nan() && spearman(&[1.0], &[1.0]).is_nan());
        assert!(spearman(&[1.0, f64::NAN], &[1.0, 2.0]).is_nan() && spearman(&[1.0], &[1.0, 2.0]).is_nan());
    }
}

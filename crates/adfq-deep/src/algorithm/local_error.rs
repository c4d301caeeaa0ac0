//! How large errors have been where beliefs were alike.
//!
//! A belief has a place on a grid: by the rank of its mean, and by the rank of the variance that the network gave, among steps whose
//! returns are known. The expected size of its error is the mean size of theirs, where those count most whose places are near.

use serde::{Deserialize, Serialize};

/// Knots of the grid in each direction, at quantiles.
const KNOTS: usize = 16;
/// How many knots away a step counts e^-½ times as much.
const REACH: f64 = 1.0;
/// Steps with the mean size of all errors that every knot has beforehand.
const PRIOR: f64 = 1.0;

/// What a step teaches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Known {
    pub mean: f32,
    pub var: f32,
    /// The size of the error.
    pub error: f32,
}

/// The expected size of an error, by the mean that is believed and the variance that the network gives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LocalError {
    /// Means and variances at the knots, in ascending order.
    knots: [Vec<f32>; 2],
    /// The size at each pair of knots; those of one mean stand together.
    sizes: Vec<f32>,
}

impl LocalError {
    /// What the steps teach, of which there is at least one.
    pub(super) fn fit(steps: &[Known]) -> Self {
        let knots =
            [quantiles(steps.iter().map(|step| step.mean)), quantiles(steps.iter().map(|step| step.var))];
        let mut found = Self { knots, sizes: vec![] };
        let mut seen = vec![[0.0_f64; 2]; KNOTS * KNOTS];
        for step in steps {
            for (knot, share) in found.around(step.mean, step.var) {
                seen[knot][0] += f64::from(share);
                seen[knot][1] += f64::from(share * step.error);
            }
        }
        let all = seen.iter().map(|[_, sum]| sum).sum::<f64>() / steps.len() as f64;
        let size = |[count, sum]: [f64; 2]| ((sum + PRIOR * all) / (count + PRIOR)) as f32;
        found.sizes = blurred(&blurred(&seen, 1), KNOTS).into_iter().map(size).collect();
        found
    }

    /// Whether it has as many numbers as it needs. One that was read from a file may not.
    pub(super) fn is_whole(&self) -> bool {
        self.knots.iter().all(|knots| knots.len() == KNOTS) && self.sizes.len() == KNOTS * KNOTS
    }

    /// The size of error that is expected of such a belief.
    pub(super) fn size(&self, mean: f32, var: f32) -> f32 {
        self.around(mean, var).iter().map(|&(knot, share)| share * self.sizes[knot]).sum()
    }

    /// The knots around a belief, and what each has to say of it.
    fn around(&self, mean: f32, var: f32) -> [(usize, f32); 4] {
        let [(row, up), (column, right)] = [place(&self.knots[0], mean), place(&self.knots[1], var)];
        let first = row * KNOTS + column;
        [
            (first, (1.0 - up) * (1.0 - right)),
            (first + 1, (1.0 - up) * right),
            (first + KNOTS, up * (1.0 - right)),
            (first + KNOTS + 1, up * right),
        ]
    }

    /// Means and variances at the knots.
    pub fn knots(&self) -> [&[f32]; 2] {
        self.knots.each_ref().map(Vec::as_slice)
    }

    /// The expected size at each pair of knots; those of one mean stand together.
    pub fn sizes(&self) -> &[f32] {
        &self.sizes
    }
}

/// The knot below a number, and how far it is on the way to the next. Beyond the outermost knots nothing changes.
fn place(knots: &[f32], x: f32) -> (usize, f32) {
    let below = knots.partition_point(|knot| *knot < x).clamp(1, KNOTS - 1) - 1;
    let (from, to) = (knots[below], knots[below + 1]);
    let way = if to > from { (x - from) / (to - from) } else { f32::from(u8::from(x > from)) };
    (below, way.clamp(0.0, 1.0))
}

/// The numbers in the middle of as many parts of the same count.
fn quantiles(numbers: impl Iterator<Item = f32>) -> Vec<f32> {
    let mut numbers: Vec<f32> = numbers.collect();
    numbers.sort_unstable_by(f32::total_cmp);
    (0..KNOTS).map(|knot| numbers[(2 * knot + 1) * numbers.len() / (2 * KNOTS)]).collect()
}

/// Counts and sums with those of other knots added, in one direction.
fn blurred(seen: &[[f64; 2]], stride: usize) -> Vec<[f64; 2]> {
    let weights: Vec<f64> =
        (0..KNOTS).map(|apart| libm::exp(-0.5 * (apart as f64 / REACH).powi(2))).collect();
    let at = |knot: usize| {
        let place = knot / stride % KNOTS;
        let first = knot - place * stride;
        (0..KNOTS).fold([0.0; 2], |[count, sum], other| {
            let (weight, [n, s]) = (weights[place.abs_diff(other)], seen[first + other * stride]);
            [count + weight * n, sum + weight * s]
        })
    };
    (0..seen.len()).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use adfq::random::stream;
    use rand::RngExt;

    /// Steps whose errors are as large as this says.
    fn steps(size: fn(f32, f32) -> f32) -> Vec<Known> {
        let mut rng = stream(3, "steps");
        let mut step = |_| {
            let (mean, var) = (rng.random_range(-5.0..5.0_f32), rng.random_range(0.0..1.0_f32).powi(4));
            Known { mean, var, error: size(mean, var) * rng.random_range(0.0..2.0_f32) }
        };
        (0..4_096).map(&mut step).collect()
    }

    /// The size may depend on the mean, on the variance or on both, and in any way.
    #[test]
    fn it_finds_where_errors_are_large() {
        let forms: [fn(f32, f32) -> f32; 3] = [
            |mean, _| 1.0 + mean.abs(),
            |_, var| 2.0 - var.powf(0.25),
            |mean, var| 1.0 + mean.abs() * var.powf(0.25),
        ];
        for size in forms {
            let local = LocalError::fit(&steps(size));
            for (mean, var) in [(-4.0, 0.5), (-2.0, 0.01), (1.5, 0.1), (2.5, 0.9), (4.0, 0.001)] {
                let (found, expected) = (local.size(mean, var), size(mean, var));
                assert!((found / expected - 1.0).abs() < 0.25, "{mean} {var}: {found} {expected}");
            }
        }
    }

    /// A small change of a belief changes what is expected by little, and nothing changes beyond what was seen.
    #[test]
    fn it_has_no_steps_and_ends_level() {
        let local = LocalError::fit(&steps(|mean, var| 1.0 + mean.abs() + var));
        let [means, vars] = local.knots();
        for (&mean, &var) in means.iter().zip(vars) {
            let [below, above] = [-1e-5, 1e-5].map(|apart| local.size(mean + apart, var + apart * var));
            assert!((above - below).abs() < 1e-3, "{mean} {var}: {below} {above}");
        }
        assert_eq!(local.size(9.0, 7.0), local.size(1e9, f32::INFINITY));
        assert_eq!(local.size(-1e9, 0.0), local.size(-9.0, -1.0));
    }

    /// Where all beliefs are the same there is one size.
    #[test]
    fn numbers_may_be_equal() {
        let local = LocalError::fit(&[Known { mean: 1.0, var: 2.0, error: 3.0 }; 5]);
        assert_eq!(
            [local.size(1.0, 2.0), local.size(0.0, 9.0), local.size(2.0, 0.0)].map(f32::round),
            [3.0; 3]
        );
    }
}

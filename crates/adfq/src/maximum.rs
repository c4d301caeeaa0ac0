//! The maximum of independent Gaussians (paper Eq. max_distribution and App. A): the belief over V(s) = max_a Q(s,a).

use crate::normal::{ln_cdf, ln_pdf};
use crate::update::{Problem, Quadrature};
use crate::{Belief, Error, Result};
use libm::{exp, log};

/// No Gaussian is this many standard deviations from its mean.
const CERTAIN: f64 = 40.0;
/// So many standard deviations from the reference point a Gaussian has lost the digits that its moments need.
const FAR: f64 = 1e6;

/// The distribution of M = max_k X_k with independent X_k ~ N(μ_k, σ_k²). It is not Gaussian.
///
/// ```
/// use adfq::{Belief, MaxOfGaussians};
///
/// let max = MaxOfGaussians::new(&[Belief::new(0.0, 1.0)?; 2])?;
/// // For two standard normals the mean is 1/√π and the variance 1 - 1/π.
/// assert!((max.mean() - 0.5641895835477563).abs() < 1e-9);
/// assert!((max.var() - 0.6816901138162093).abs() < 1e-9);
/// assert!((max.cdf(0.0) - 0.25).abs() < 1e-15);
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MaxOfGaussians {
    beliefs: Vec<Belief>,
    mean: f64,
    var: f64,
}

impl MaxOfGaussians {
    /// The maximum of at least one Gaussian; its moments are computed here, by quadrature (relative error about 1e-9).
    pub fn new(beliefs: &[Belief]) -> Result<Self> {
        let (mean, var) = match beliefs {
            [] => return Err(Error::NoActions),
            [only] => (only.mean(), only.var()),
            _ => moments(beliefs)?,
        };
        Ok(Self { beliefs: beliefs.to_vec(), mean, var })
    }

    /// E\[M\].
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Var\[M\].
    pub fn var(&self) -> f64 {
        self.var
    }

    /// The density p(M = x) = Σ_i φ(z_i)/σ_i Π_{j≠i} Φ(z_j), with z_i = (x - μ_i)/σ_i.
    pub fn pdf(&self, x: f64) -> f64 {
        exp(self.ln_pdf(x))
    }

    /// The logarithm of the density, without underflow in either tail.
    pub fn ln_pdf(&self, x: f64) -> f64 {
        // ln Σ_i exp(ln φ(z_i) - ln σ_i - ln Φ(z_i)) + Σ_j ln Φ(z_j), with the greatest term taken out of the sum.
        let terms = || self.beliefs.iter().map(|belief| ln_hazard(belief, x));
        let greatest = terms().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = terms().map(|term| exp(term - greatest)).sum();
        greatest + log(sum) + self.ln_cdf(x)
    }

    /// The probability that each of them is the maximum, Pr(X_k = M); all add to 1.
    ///
    /// ```
    /// use adfq::{Belief, MaxOfGaussians};
    ///
    /// let max = MaxOfGaussians::new(&[Belief::new(1.0, 1.0)?, Belief::new(0.0, 1.0)?])?;
    /// // Φ(1/√2)
    /// assert!((max.probabilities()?[0] - 0.760_249_938_906_523).abs() < 1e-9);
    /// # Ok::<(), adfq::Error>(())
    /// ```
    pub fn probabilities(&self) -> Result<Vec<f64>> {
        if let [_] = self.beliefs.as_slice() {
            return Ok(vec![1.0]);
        }
        let (mut quadrature, problem) = integrate(&self.beliefs)?;
        let mut probabilities = vec![0.0; self.beliefs.len()];
        for (target, (mass, _, _)) in problem.targets.iter().zip(quadrature.term_moments()) {
            probabilities[target.action as usize] = mass;
        }
        Ok(probabilities)
    }

    /// The distribution function Pr(M ≤ x) = Π_i Φ(z_i).
    pub fn cdf(&self, x: f64) -> f64 {
        exp(self.ln_cdf(x))
    }

    /// The logarithm of the distribution function.
    pub fn ln_cdf(&self, x: f64) -> f64 {
        self.beliefs.iter().map(|belief| ln_cdf((x - belief.mean()) / belief.sd())).sum()
    }
}

/// ln of φ(z)/(σ Φ(z)).
fn ln_hazard(belief: &Belief, x: f64) -> f64 {
    let z = (x - belief.mean()) / belief.sd();
    ln_pdf(z) - log(belief.sd()) - ln_cdf(z)
}

/// The greatest mean, from which the others are measured.
fn greatest_mean(beliefs: &[Belief]) -> f64 {
    beliefs.iter().fold(f64::NEG_INFINITY, |greatest, belief| greatest.max(belief.mean()))
}

fn moments(beliefs: &[Belief]) -> Result<(f64, f64)> {
    let (quadrature, _) = integrate(beliefs)?;
    let (mean, var) =
        quadrature.moments().ok_or(Error::NotRepresentable { mean: f64::NAN, var: f64::NAN })?;
    Ok((greatest_mean(beliefs) + (quadrature.posterior.reference() + mean), var))
}

/// The posterior quadrature without a prior, seen from the greatest mean. Where one that may be the maximum is so narrow that
/// its place would lose digits, it is seen from there: a wide one next to it is known well enough.
fn integrate(beliefs: &[Belief]) -> Result<(Quadrature, Problem)> {
    let origin = greatest_mean(beliefs);
    let mut problem = Problem::default();
    let shifted = beliefs.iter().map(|belief| Belief::new(belief.mean() - origin, belief.var()));
    let shifted = shifted.collect::<Result<Vec<_>>>()?;
    problem.load_beliefs(Belief::STANDARD, 0.0, 1.0, shifted.into_iter())?;
    problem.sort();
    // One that another is above for certain has no part in the maximum.
    let certain =
        problem.targets.iter().fold(f64::NEG_INFINITY, |least, x| least.max(x.y - CERTAIN * x.t.sqrt()));
    let relevant = |b: usize| problem.targets[b].y + CERTAIN * problem.targets[b].t.sqrt() >= certain;
    let candidates =
        problem.targets.iter().enumerate().filter(|(b, _)| relevant(*b)).map(|(_, target)| target);
    let narrowest = candidates.min_by(|a, b| a.t.total_cmp(&b.t));
    let far = narrowest.filter(|target| target.y.abs() > FAR * target.t.sqrt());
    let mut quadrature = Quadrature::default();
    quadrature.posterior.set(&problem.targets, relevant, 0.0, far.map_or(0.0, |target| target.y));
    quadrature.integrate();
    Ok((quadrature, problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn max(parameters: &[(f64, f64)]) -> MaxOfGaussians {
        let beliefs: Vec<_> = parameters.iter().map(|&(mean, var)| Belief::new(mean, var).unwrap()).collect();
        MaxOfGaussians::new(&beliefs).unwrap()
    }

    /// Clark (1961): the moments of the maximum of two Gaussians in closed form.
    fn clark(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
        let spread = (a.1 + b.1).sqrt();
        let z = (a.0 - b.0) / spread;
        let (upper, lower, density) = (exp(ln_cdf(z)), exp(ln_cdf(-z)), exp(ln_pdf(z)));
        let first = a.0 * upper + b.0 * lower + spread * density;
        let second = (a.0 * a.0 + a.1) * upper + (b.0 * b.0 + b.1) * lower + (a.0 + b.0) * spread * density;
        (first, second - first * first)
    }

    #[test]
    fn two_gaussians_as_clark() {
        for (a, b) in [((0.0, 1.0), (0.5, 2.0)), ((3.0, 0.01), (2.0, 4.0)), ((-1.0, 1e-6), (-1.0, 100.0))] {
            let (mean, var) = clark(a, b);
            let max = max(&[a, b]);
            assert!((max.mean() / mean - 1.0).abs() < 1e-9, "{a:?} {b:?}: {} but {mean}", max.mean());
            assert!((max.var() / var - 1.0).abs() < 1e-9, "{a:?} {b:?}: {} but {var}", max.var());
        }
    }

    #[test]
    fn the_density_is_the_slope_of_the_distribution() {
        let max = max(&[(0.0, 1.0), (1.0, 0.25), (0.5, 4.0), (-3.0, 0.01)]);
        for i in -40..60 {
            let (x, h) = (f64::from(i) * 0.1, 1e-5);
            let slope = (max.cdf(x + h) - max.cdf(x - h)) / (2.0 * h);
            assert!((max.pdf(x) - slope).abs() < 1e-9, "at {x}: {} but {slope}", max.pdf(x));
        }
    }

    #[test]
    fn tails_neither_underflow_nor_overflow() {
        let max = max(&[(0.0, 1.0), (0.0, 1.0), (1.0, 1e-4)]);
        for x in [-1e8, -1e3, 1e3, 1e8] {
            assert!(max.ln_pdf(x).is_finite() && max.ln_pdf(x) < -1e4, "at {x}: {}", max.ln_pdf(x));
        }
        assert_eq!(max.cdf(1e3), 1.0);
        assert_eq!(MaxOfGaussians::new(&[]), Err(Error::NoActions));
    }

    #[test]
    fn a_hundred_equal_ones() {
        // E max of 100 standard normals, from tables of order statistics: 2.50759364.
        assert!((max(&[(0.0, 1.0); 100]).mean() - 2.507_593_64).abs() < 1e-8);
    }

    /// Two Gaussians: the first is larger with probability Φ((μ₀ - μ₁)/√(σ₀² + σ₁²)), at any ratio of the widths.
    #[test]
    fn the_probability_that_one_of_two_is_the_maximum_has_a_closed_form() {
        for (gap, first, second) in [
            (0.0, 1.0, 1.0),
            (0.7, 1.0, 2.0),
            (-1.5, 0.3, 1.0),
            (3.0, 1e-5, 10.0),
            (1e-3, 10.0, 1e-6),
            (50.0, 1.0, 1.0),
        ] {
            let (first, second): (f64, f64) = (first * first, second * second);
            let chances = max(&[(5.0 + gap, first), (5.0, second)]).probabilities().unwrap();
            let z: f64 = gap / (first + second).sqrt();
            let closed = exp(ln_cdf(z));
            assert!((chances[0] - closed).abs() < 1e-9, "{gap} {first} {second}: {} {closed}", chances[0]);
            assert!((chances[0] + chances[1] - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn equals_share_and_one_alone_is_the_maximum() {
        for chance in max(&[(2.0, 9.0); 7]).probabilities().unwrap() {
            assert!((chance - 1.0 / 7.0).abs() < 1e-12, "{chance}");
        }
        assert_eq!(max(&[(2.0, 9.0)]).probabilities().unwrap(), [1.0]);
    }

    /// Widths so far apart that a panel is a few units of the last place of where it begins. Fuzzing found that the nodes
    /// were then out of order. The wide Gaussian alone decides the moments: E[(N(m, v))₊] and its variance.
    #[test]
    fn widths_beyond_double_precision() {
        for (wide, narrow) in [
            (
                (614_592_911_069.573_1, 1.277_539_402_701_198_3e65),
                (0.209_883_381_276_422_45, 5.094_667_629_284_855e-9),
            ),
            (
                (5_503_879_024_909.836, 1.751_676_388_588_481e138),
                (8.507_496_965_130_486e-6, 1.632_807_492_600_803_4e-6),
            ),
        ] {
            let (mean, var) = clark(wide, narrow);
            let max = max(&[wide, narrow]);
            assert!((max.mean() / mean - 1.0).abs() < 1e-9, "{wide:?}: {} but {mean}", max.mean());
            assert!((max.var() / var - 1.0).abs() < 1e-9, "{wide:?}: {} but {var}", max.var());
        }
    }
}

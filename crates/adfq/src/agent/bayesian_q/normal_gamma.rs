//! The belief of Bayesian Q-learning about the return of one (s,a): its mean μ and precision τ are unknown.

use crate::agent::table::setting;
use crate::special::student_t_excess;
use crate::{Result, special};
use rand::{Rng, RngExt};
use rand_distr::{Gamma, StandardNormal};
use serde::{Deserialize, Serialize};

/// A normal-gamma law NG(μ₀, λ, α, β): τ ~ Gamma(α, rate β) and μ | τ ~ N(μ₀, 1/(λτ)).
///
/// The return R of (s,a) is N(μ, 1/τ), and Q(s,a) = E R = μ. We ask for α > 1, without which μ has no variance.
///
/// ```
/// use adfq::agent::NormalGamma;
///
/// let belief = NormalGamma::from_moments(1.0, 4.0, 2.0, 1.5)?;
/// assert_eq!((belief.mean, belief.var(), belief.noise_var()), (1.0, 4.0, 2.0));
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NormalGamma {
    /// μ₀, the mean of μ.
    pub mean: f64,
    /// λ, the number of returns that the belief about μ is worth.
    pub lambda: f64,
    /// α, the shape of the precision.
    pub alpha: f64,
    /// β, the rate of the precision.
    pub beta: f64,
}

impl NormalGamma {
    /// The belief with E μ = `mean`, Var μ = `var`, E 1/τ = `noise_var` (the variance of a return about its mean)
    /// and shape `alpha` > 1; the closer to 1, the less is known of that variance.
    pub fn from_moments(mean: f64, var: f64, noise_var: f64, alpha: f64) -> Result<Self> {
        setting("noise_var", noise_var, noise_var > 0.0 && noise_var.is_finite(), "positive and finite")?;
        setting("var", var, var > 0.0 && var.is_finite(), "positive and finite")?;
        Self { mean, lambda: noise_var / var, alpha, beta: noise_var * (alpha - 1.0) }.checked()
    }

    /// The belief itself, if it is one.
    pub(super) fn checked(self) -> Result<Self> {
        let positive = |name, x: f64| setting(name, x, x > 0.0 && x.is_finite(), "positive and finite");
        setting("mean", self.mean, self.mean.is_finite(), "finite")?;
        setting("alpha", self.alpha, self.alpha > 1.0 && self.alpha.is_finite(), "above 1 and finite")?;
        positive("lambda", self.lambda)?;
        positive("beta", self.beta)?;
        Ok(self)
    }

    /// Var μ = β/(λ(α-1)).
    pub fn var(&self) -> f64 {
        self.noise_var() / self.lambda
    }

    /// E 1/τ = β/(α-1), the expected variance of a return about its mean.
    pub fn noise_var(&self) -> f64 {
        self.beta / (self.alpha - 1.0)
    }

    /// The variance (λ+1)/λ · β/(α-1) of the next return, as far as one can tell.
    pub fn return_var(&self) -> f64 {
        self.noise_var() + self.var()
    }

    /// The posterior after one return whose first two moments are `m1` and `m1`² + `spread` (the conjugate update
    /// with n = 1); a return that was observed has no spread.
    pub(super) fn posterior(&self, m1: f64, spread: f64) -> Self {
        let (lambda, surprise) = (self.lambda + 1.0, m1 - self.mean);
        Self {
            mean: self.mean + surprise / lambda,
            lambda,
            alpha: self.alpha + 0.5,
            beta: self.beta + 0.5 * (spread + self.lambda * surprise * surprise / lambda),
        }
    }

    /// The posterior after `count` returns with this mean and this sum of squares about it.
    pub(in crate::agent) fn posterior_of(&self, count: f64, mean: f64, scatter: f64) -> Self {
        let (lambda, surprise) = (self.lambda + count, mean - self.mean);
        Self {
            mean: self.mean + count * surprise / lambda,
            lambda,
            alpha: self.alpha + 0.5 * count,
            beta: self.beta + 0.5 * (scatter + self.lambda * count * surprise * surprise / lambda),
        }
    }

    /// Scale of μ's marginal, μ₀ + scale · t with 2α degrees of freedom.
    fn scale(&self) -> f64 {
        (self.beta / (self.lambda * self.alpha)).sqrt()
    }

    /// E max(μ - μ₀ - gap, 0), the closed form behind myopic-VPI.
    pub(super) fn gain(&self, gap: f64) -> f64 {
        self.scale() * student_t_excess(gap / self.scale(), 2.0 * self.alpha)
    }

    /// Pr(μ > μ₀ + gap), for a gap ≥ 0.
    pub fn tail(&self, gap: f64) -> f64 {
        special::student_t_tail(gap / self.scale(), 2.0 * self.alpha)
    }

    /// One draw of μ: first the precision, then the mean given it.
    pub(in crate::agent) fn sample<R: Rng>(&self, rng: &mut R) -> f64 {
        // The two parameters are positive and finite for every belief we make, so the law exists.
        let tau = Gamma::new(self.alpha, 1.0 / self.beta).map_or(f64::NAN, |law| rng.sample(law));
        let normal: f64 = rng.sample(StandardNormal);
        self.mean + normal / (self.lambda * tau).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    const BELIEF: NormalGamma = NormalGamma { mean: 1.0, lambda: 2.0, alpha: 3.0, beta: 4.0 };

    #[test]
    fn the_posterior_is_the_textbooks() {
        // n = 1, x = 4: μ₀′ = (2·1 + 4)/3, β′ = 4 + ½·2·9/3.
        let expected = NormalGamma { mean: 2.0, lambda: 3.0, alpha: 3.5, beta: 7.0 };
        assert_eq!(BELIEF.posterior(4.0, 0.0), expected);
        assert_eq!(BELIEF.posterior(4.0, 5.0), NormalGamma { beta: 9.5, ..expected });
    }

    /// 1, 2 and 6 one by one, and at once: mean 3, squares about it 4 + 1 + 9.
    #[test]
    fn many_returns_at_once_are_many_one_by_one() {
        let each = [1.0, 2.0, 6.0].iter().fold(BELIEF, |belief, &x| belief.posterior(x, 0.0));
        let once = BELIEF.posterior_of(3.0, 3.0, 14.0);
        for (a, b) in [
            (each.mean, once.mean),
            (each.lambda, once.lambda),
            (each.alpha, once.alpha),
            (each.beta, once.beta),
        ] {
            assert!((a - b).abs() < 1e-12, "{each:?} {once:?}");
        }
    }

    #[test]
    fn draws_have_the_moments_tails_and_gains_of_the_marginal() {
        let (mut rng, draws) = (stream(1, "normal-gamma"), 400_000);
        let (mut sum, mut squares, mut above, mut excess) = (0.0, 0.0, 0.0, 0.0);
        for _ in 0..draws {
            let x = BELIEF.sample(&mut rng) - BELIEF.mean;
            sum += x;
            squares += x * x;
            above += f64::from(u8::from(x > 1.3));
            excess += (x - 1.3).max(0.0);
        }
        let n = f64::from(draws);
        assert_eq!(BELIEF.var(), 1.0);
        // 5 sd each; the fourth moment of a t law with 6 degrees of freedom is 6 (kurtosis).
        assert!((sum / n).abs() < 5.0 / n.sqrt());
        assert!((squares / n - 1.0).abs() < 5.0 * (5.0 / n).sqrt());
        assert!((above / n - BELIEF.tail(1.3)).abs() < 5.0 * (0.1 / n).sqrt());
        assert!((excess / n - BELIEF.gain(1.3)).abs() < 5.0 * (0.1 / n).sqrt());
    }
}

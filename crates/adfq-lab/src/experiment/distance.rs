//! How far an agent is from Q*, and whether it knows: errors, coverage and the continuous ranked probability score.

use super::domain::Domain;
use adfq::agent::{Agent, Believer};
use std::f64::consts::{FRAC_1_SQRT_2, PI, TAU};

impl Domain {
    /// The root mean square of Q - Q* over all pairs.
    pub fn rmse(&self, agent: &impl Agent) -> f64 {
        let square = |pair: &(usize, usize)| {
            let error = self.error(agent, pair);
            error * error
        };
        (self.pairs.iter().map(square).sum::<f64>() / self.pairs.len() as f64).sqrt()
    }

    /// The shares of pairs whose Q* lies within ±1 and ±2 standard deviations of the belief.
    pub fn coverage(&self, agent: &impl Believer) -> [f64; 2] {
        [1.0, 2.0].map(|reach| self.share_within(agent, reach, |_| true))
    }

    /// The share of Q* within so many standard deviations, among the pairs that `counts`; NaN if none does.
    pub fn share_within(
        &self,
        agent: &impl Believer,
        reach: f64,
        counts: impl Fn(&(usize, usize)) -> bool,
    ) -> f64 {
        let (mut within, mut all) = (0, 0);
        for pair in self.pairs.iter().filter(|pair| counts(pair)) {
            let sd = agent.var(pair.0, pair.1).sqrt();
            within += usize::from(self.error(agent, pair).abs() <= reach * sd);
            all += 1;
        }
        within as f64 / all as f64
    }

    /// The continuous ranked probability score of the beliefs, mean over all pairs: see [`crps`].
    pub fn crps(&self, agent: &impl Believer) -> f64 {
        let score = |pair: &(usize, usize)| crps(self.error(agent, pair), agent.var(pair.0, pair.1).sqrt());
        self.pairs.iter().map(score).sum::<f64>() / self.pairs.len() as f64
    }

    fn error(&self, agent: &impl Agent, &(state, action): &(usize, usize)) -> f64 {
        agent.means(state)[action] - self.best.action_values(state)[action]
    }
}

/// The continuous ranked probability score of a Gaussian that misses the truth by `error` (Gneiting and Raftery 2007):
/// σ (z (2Φ(z) − 1) + 2φ(z) − 1/√π) with z = error/σ. It is in the unit of the values and the smaller the better; a
/// belief without doubt scores |error|, so it can be compared with an estimate's absolute error. Beliefs that are not
/// Gaussian (Bayesian Q-learning's) are scored by their mean and variance.
///
/// ```
/// use adfq_lab::experiment::distance::crps;
///
/// assert_eq!(crps(-2.0, 0.0), 2.0);
/// // ∫ (Φ(x) − 1[x ≥ 0])² dx = (√2 − 1)/√π.
/// assert!((crps(0.0, 1.0) - 0.23369497725510913).abs() < 1e-15);
/// // To doubt a wrong value scores better than to be sure of it.
/// assert!(crps(2.0, 1.0) < crps(2.0, 0.1));
/// ```
pub fn crps(error: f64, sd: f64) -> f64 {
    let z = (error / sd).abs();
    // Beyond this φ(z) is 0 in double precision and the score its limit; a needle's z may well be infinite.
    if sd <= 0.0 || z > 40.0 {
        return (error.abs() - sd / PI.sqrt()).max(0.0);
    }
    let density = libm::exp(-0.5 * z * z) / TAU.sqrt();
    sd * (z * libm::erf(z * FRAC_1_SQRT_2) + 2.0 * density - 1.0 / PI.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use adfq::agent::{LearningRate, QLearning};

    #[test]
    fn errors_are_averaged_over_the_pairs_one_can_choose() {
        // s₀ and s₁ have two actions each; the two ends have none. Q* is 2.7, 2.7 at s₀ and -3, 3 at s₁.
        let simple = Domain::named("simple").unwrap();
        assert_eq!(simple.pairs, [(0, 0), (0, 1), (1, 0), (1, 1)]);
        let zero = QLearning::new(4, 2, 0.9, LearningRate::Inverse, 0.0).unwrap();
        let expected = ((2.0 * 2.7 * 2.7 + 2.0 * 9.0) / 4.0_f64).sqrt();
        assert!((simple.rmse(&zero) - expected).abs() < 1e-12);
    }

    /// The definition, ∫ (F(x) − 1[x ≥ truth])² dx, by the midpoint rule.
    #[test]
    fn the_score_is_the_integral_that_defines_it() {
        for (error, sd) in [(0.0, 2.0), (1.0, 0.5), (-3.0, 1.0), (0.2, 4.0)] {
            let (reach, steps) = (60.0, 600_000);
            let width = 2.0 * reach / f64::from(steps);
            let integral: f64 = (0..steps)
                .map(|i| {
                    // The truth is 0, the belief N(error, sd²).
                    let x = -reach + (f64::from(i) + 0.5) * width;
                    let below = 0.5 * libm::erfc(-(x - error) / (sd * 2.0_f64.sqrt()));
                    let gap = below - f64::from(u8::from(x >= 0.0));
                    gap * gap * width
                })
                .sum();
            assert!(
                (crps(error, sd) - integral).abs() < 1e-4,
                "{error} {sd}: {} {integral}",
                crps(error, sd)
            );
        }
    }

    #[test]
    fn the_limits_of_the_score_meet() {
        for error in [3.0, -3.0] {
            assert!((crps(error, 3.0 / 39.999) - crps(error, 3.0 / 40.001)).abs() < 1e-5);
        }
        assert_eq!(crps(1.0, 1e-300), 1.0);
        assert_eq!(crps(0.0, 0.0), 0.0);
    }
}

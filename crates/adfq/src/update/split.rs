//! The split update: the belief over Q(s,a) from everything that (s,a) has led to, with what sampling left open kept
//! apart from what the next states are unsure of.
//!
//! ADFQ multiplies its belief by the same bootstrapped target again and again, as if each time were news. Here a pair
//! keeps a tally of its outcomes instead: outcome j, seen n_j times with rewards that scatter by R_j, is worth T_j = r_j + γV(s′_j) ± √t_j by *today's*
//! beliefs (t_j = 0 at a terminal). With n = Σ n_j, the prior N(m₀, v₀) and the noise w̄ of other pairs:
//!
//! ```text
//! T̄ = Σ n_j T_j / n            S = Σ n_j (T_j - T̄)² + Σ R_j  w = (3 w̄ + S) / n
//! u = 1 / (1/v₀ + n/w)         k = u / v₀
//! μ = k m₀ + (1-k) T̄           σ² = u (1+ρ)/(1-ρ)  +  (1-k)² Σ n_j t_j / n
//! ```
//!
//! What a state is worth, V and its variance, is [`maximum`]'s business. The first part of σ² is the pair's own: only the n real visits shrink it. The second is inherited, an average that no
//! number of visits shrinks. ρ, the echo, is E[γ^τ] for the time τ in which the greedy policy comes back to s: an
//! error of (s,a) returns as part of its own target, and (1+ρ)/(1-ρ) is what the echoes add up to. The derivation and
//! the limits are in `docs/split-adfq.md`.

mod stream;
mod value;

pub use stream::Streamed;
pub use value::{Member, maximum};

use crate::{Belief, Error, Result};

/// How many observations the noise of other pairs counts for: the least number for which the variance of a mean of
/// two, Student's, exists.
const NOISE_WEIGHT: f64 = 3.0;

/// What one outcome of (s,a) is worth by today's beliefs, and how often it was seen.
///
/// Outcomes may be told apart by reward and next state, or by next state alone; then the scatter of their rewards
/// goes along, and the belief is the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// How often, n_j > 0.
    pub count: f64,
    /// T_j = r_j + γV(s′_j), r_j being the mean reward.
    pub mean: f64,
    /// Σ (r - r_j)² over these visits, 0 if all paid the same.
    pub scatter: f64,
    /// t_j = γ² Var V(s′_j), 0 at a terminal.
    pub var: f64,
}

/// What is known about a pair before it is tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SplitPrior {
    /// The belief N(m₀, v₀) over its value.
    pub belief: Belief,
    /// The noise w̄ ≥ 0 that its targets are expected to have.
    pub noise: f64,
}

/// A belief over Q(s,a) whose variance is split by origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SplitBelief {
    /// The mean μ.
    pub mean: f64,
    /// What sampling has left open, u.
    pub sampling: f64,
    /// The pair's own part of the variance: u with its echoes.
    pub own: f64,
    /// The part inherited from the beliefs over the next states.
    pub inherited: f64,
    /// The noise w of one target.
    pub noise: f64,
    /// The scatter S of the targets about their average.
    pub scatter: f64,
    /// The weight 1-k of what was seen; the prior mean has the rest.
    pub trust: f64,
}

impl SplitBelief {
    /// The variance σ² of the belief.
    #[inline]
    pub fn var(&self) -> f64 {
        self.own + self.inherited
    }

    /// The value that is `reach` standard deviations of luck away, in this pair and in all that follow: `ahead` is T̄
    /// taken with the hopeful values of the next states in place of their means, `prior_mean` is m₀.
    ///
    /// What sampling left open here has nothing to do with what it left open further on, so luck here and luck ahead
    /// add up like standard deviations of independent variables, in squares. Luck ahead passes in full where nothing is open here.
    #[inline]
    pub fn hopeful(&self, prior_mean: f64, ahead: f64, reach: f64) -> f64 {
        let ahead = (prior_mean + self.trust * (ahead - prior_mean) - self.mean).max(0.0);
        self.mean + (ahead * ahead + reach * reach * self.sampling).sqrt()
    }
}

/// The split belief over Q(s,a) given its tally; without any target, the prior. The echo ρ lies in [0, 1).
///
/// ```
/// use adfq::Belief;
/// use adfq::update::split::{SplitPrior, Target, update};
///
/// let prior = SplitPrior { belief: Belief::new(0.0, 100.0)?, noise: 1.0 };
/// // Twice to a state worth 5 ± 1, once to the end with a reward of 2.
/// let tally = [
///     Target { count: 2.0, mean: 5.0, scatter: 0.0, var: 1.0 },
///     Target { count: 1.0, mean: 2.0, scatter: 0.0, var: 0.0 },
/// ];
/// let belief = update(&prior, tally, 0.0)?;
/// assert!((belief.noise - 3.0).abs() < 1e-12); // (3 · 1 + 6) / 3
/// assert!((belief.sampling - 1.0 / (0.01 + 1.0)).abs() < 1e-12);
/// assert!((belief.mean - 4.0 / 1.01).abs() < 1e-12);
/// assert!((belief.inherited - (2.0 / 3.0) / 1.01_f64.powi(2)).abs() < 1e-12);
/// # Ok::<(), adfq::Error>(())
/// ```
#[inline]
pub fn update(prior: &SplitPrior, tally: impl IntoIterator<Item = Target>, echo: f64) -> Result<SplitBelief> {
    if !(prior.noise >= 0.0 && prior.noise.is_finite()) {
        return Err(Error::NoiseVariance(prior.noise));
    }
    if !(0.0..1.0).contains(&echo) {
        return Err(Error::Setting { name: "echo", value: echo, need: "at least 0 and below 1" });
    }
    let mut seen = Seen::default();
    for target in tally {
        seen.add(target)?;
    }
    let (m_0, v_0) = (prior.belief.mean(), prior.belief.var());
    if seen.n == 0.0 {
        return Ok(SplitBelief {
            mean: m_0,
            sampling: v_0,
            own: v_0,
            inherited: 0.0,
            noise: prior.noise,
            scatter: 0.0,
            trust: 0.0,
        });
    }
    let noise = (NOISE_WEIGHT * prior.noise + seen.scatter) / seen.n;
    // 1-k = n v₀ / (n v₀ + w) and u = (1-k) w/n: neither divides by a noise that may be 0.
    let trust = 1.0 / (1.0 + noise / seen.n / v_0);
    let sampling = trust * (noise / seen.n);
    let belief = SplitBelief {
        mean: m_0 + trust * (seen.mean - m_0),
        sampling,
        own: sampling * (1.0 + echo) / (1.0 - echo),
        inherited: trust * trust * seen.inherited,
        noise,
        scatter: seen.scatter,
        trust,
    };
    match belief.mean.is_finite() && belief.var().is_finite() {
        true => Ok(belief),
        false => Err(Error::NotRepresentable { mean: belief.mean, var: belief.var() }),
    }
}

/// Running moments of a tally.
#[derive(Default)]
struct Seen {
    /// n.
    n: f64,
    /// T̄.
    mean: f64,
    /// S.
    scatter: f64,
    /// Σ n_j t_j / n.
    inherited: f64,
}

impl Seen {
    #[inline]
    fn add(&mut self, Target { count, mean, scatter, var }: Target) -> Result<()> {
        if !(count > 0.0 && count.is_finite()) {
            return Err(Error::Setting { name: "count", value: count, need: "positive and finite" });
        }
        if !mean.is_finite() {
            return Err(Error::Mean(mean));
        }
        for square in [var, scatter] {
            if !(square >= 0.0 && square.is_finite()) {
                return Err(Error::TargetVariance(square));
            }
        }
        self.n += count;
        // West (1979): of a single outcome the mean is T_j and the scatter 0, exactly, however often it was seen.
        let (share, off) = (count / self.n, mean - self.mean);
        self.mean += share * off;
        self.scatter += scatter + count * off * (mean - self.mean);
        self.inherited += share * (var - self.inherited);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prior(noise: f64) -> SplitPrior {
        SplitPrior { belief: Belief::new(-1.0, 25.0).unwrap(), noise }
    }

    fn once(mean: f64, var: f64) -> Target {
        Target { count: 1.0, mean, scatter: 0.0, var }
    }

    /// w → 0: the exact Bellman backup of mean and variance.
    #[test]
    fn without_noise_it_is_the_bellman_backup() {
        let belief = update(&prior(0.0), [Target { count: 7.0, ..once(3.0, 0.5) }], 0.9).unwrap();
        assert_eq!((belief.mean, belief.own, belief.inherited, belief.trust), (3.0, 0.0, 0.5, 1.0));
    }

    /// n → ∞ with certain next states: the average of the targets, with the variance of an average.
    #[test]
    fn many_visits_are_averaged() {
        let tally = [(6e5, 1.0), (4e5, 0.0)].map(|(count, mean)| Target { count, ..once(mean, 0.0) });
        let belief = update(&prior(1.0), tally, 0.0).unwrap();
        assert!((belief.mean - 0.6).abs() < 1e-7 && (belief.noise - 0.24).abs() < 1e-5);
        assert!((belief.var() / (0.24 / 1e6) - 1.0).abs() < 1e-4);
    }

    /// No number of visits shrinks what is inherited; one visit more, from an average of n, is Q-learning's step 1/n.
    #[test]
    fn visits_do_not_shrink_what_is_inherited() {
        let after = |count| update(&prior(1e-9), [Target { count, ..once(2.0, 4.0) }], 0.0).unwrap();
        assert!((after(1.0).inherited - 4.0).abs() < 1e-6 && (after(1e6).inherited - 4.0).abs() < 1e-6);
        let (flat, next) = (Belief::new(0.0, 1e12).unwrap(), 5.0);
        let flat = SplitPrior { belief: flat, noise: 1.0 };
        let before = update(&flat, [1.0, 2.0, 4.0].map(|mean| once(mean, 0.0)), 0.0).unwrap();
        let after = update(&flat, [1.0, 2.0, 4.0, next].map(|mean| once(mean, 0.0)), 0.0).unwrap();
        assert!((after.mean - (before.mean + (next - before.mean) / 4.0)).abs() < 1e-9);
    }

    /// Rewards 1, 2, 4 on the way to one state, told apart or not.
    #[test]
    fn outcomes_may_be_merged_by_next_state() {
        let apart = update(&prior(0.3), [1.0, 2.0, 4.0].map(|reward| once(reward + 5.0, 0.7)), 0.2).unwrap();
        let (mean, scatter) = (7.0 / 3.0, 1.0 + 4.0 + 16.0 - 49.0 / 3.0);
        let merged = Target { count: 3.0, mean: mean + 5.0, scatter, var: 0.7 };
        let merged = update(&prior(0.3), [merged], 0.2).unwrap();
        assert!((apart.mean - merged.mean).abs() < 1e-12 && (apart.var() - merged.var()).abs() < 1e-12);
        assert!((apart.noise - merged.noise).abs() < 1e-12);
    }

    /// A state that leads to itself: Q = T̄ + γQ, so an error ε of the mean is one of ε/(1-γ) in Q. The variance at the
    /// fixed point of σ² = own + γ²σ² is that of ε/(1-γ).
    #[test]
    fn echoes_of_a_self_loop_add_up() {
        let gamma = 0.95;
        let belief = update(&prior(1.0), [once(0.0, 0.0)], gamma).unwrap();
        let fixed_point = belief.own / (1.0 - gamma * gamma);
        let exact = belief.sampling / (1.0 - gamma).powi(2);
        assert!((fixed_point / exact - 1.0).abs() < 1e-12);
    }

    #[test]
    fn without_a_target_it_is_the_prior() {
        let belief = update(&prior(2.0), [], 0.5).unwrap();
        assert_eq!((belief.mean, belief.var(), belief.noise), (-1.0, 25.0, 2.0));
        assert_eq!(belief.hopeful(-1.0, 1e9, 2.0), -1.0 + 2.0 * 5.0);
    }

    #[test]
    fn what_is_no_target_is_an_error() {
        let fine = once(1.0, 1.0);
        for (bad, error) in [
            (Target { mean: f64::NAN, ..fine }, "the mean of a belief"),
            (Target { var: -1.0, ..fine }, "the target variance"),
            (Target { scatter: f64::INFINITY, ..fine }, "the target variance"),
            (Target { count: 0.0, ..fine }, "the setting `count`"),
        ] {
            let message = update(&prior(1.0), [bad], 0.0).unwrap_err().to_string();
            assert!(message.starts_with(error), "{message}");
        }
        assert!(matches!(update(&prior(-1.0), [fine], 0.0), Err(Error::NoiseVariance(_))));
        assert!(matches!(update(&prior(1.0), [fine], 1.0), Err(Error::Setting { name: "echo", .. })));
        let apart = [once(1e300, 0.0), once(-1e300, 0.0)];
        assert!(matches!(update(&prior(1.0), apart, 0.0), Err(Error::NotRepresentable { .. })));
    }
}

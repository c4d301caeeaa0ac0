//! The value of a state under split beliefs: V = max_b Q(s,b), whose members are anything but independent.
//!
//! Most of what is uncertain about the actions of a state is common to all of them: what comes after. Taken for
//! independent, their maximum is too large on average and too sure, step after step. So V keeps the mean of the greedy
//! action b⁺, and to the variance of that action is added what another one may bring on top. Two actions differ by
//! their own parts alone, hence
//!
//! ```text
//! E[V] = μ_{b⁺}        Var[V] = σ²_{b⁺} + max_b E[(Q_b - Q_{b⁺})₊²],    Q_b - Q_{b⁺} ~ N(μ_b - μ_{b⁺}, own_b + own_{b⁺})
//! ```

use crate::normal::{mills, pdf};

/// No Gaussian is this many standard deviations above its mean.
const CERTAIN: f64 = 40.0;

/// The belief over one action of a state, as far as their maximum depends on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Member {
    /// The mean μ_b.
    pub mean: f64,
    /// The action's own part of the variance; of an action never tried, all of it.
    pub own: f64,
    /// The variance σ²_b.
    pub var: f64,
}

/// Mean and variance of the largest of several values; 0 and 0 if there are none.
///
/// ```
/// use adfq::update::split::{Member, maximum};
///
/// let known = Member { mean: 2.0, own: 0.0, var: 0.5 };
/// // Another action leads to the same place: nothing is gained, and nothing is surer.
/// assert_eq!(maximum([known, known]), (2.0, 0.5));
/// // One that was never tried may be better: half of its variance lies above.
/// assert_eq!(maximum([known, Member { mean: 2.0, own: 8.0, var: 8.0 }]), (2.0, 4.5));
/// ```
#[inline]
pub fn maximum<I: IntoIterator<Item = Member, IntoIter: Clone>>(members: I) -> (f64, f64) {
    let members = members.into_iter().enumerate();
    let larger = |best: (usize, Member), b: (usize, Member)| if b.1.mean > best.1.mean { b } else { best };
    let Some((greedy, best)) = members.clone().reduce(larger) else { return (0.0, 0.0) };
    let mut gain = 0.0;
    for (action, b) in members {
        let apart = b.own + best.own;
        // At most half of the square lies above 0, so most actions need no exponential.
        if action != greedy && 0.5 * apart > gain {
            gain = square_above(best.mean - b.mean, apart).max(gain);
        }
    }
    (best.mean, best.var + gain)
}

/// E[(x - gap)₊²] for x ~ N(0, var), gap ≥ 0 and var > 0.
#[inline]
fn square_above(gap: f64, var: f64) -> f64 {
    let z = gap / var.sqrt();
    if z > CERTAIN {
        return 0.0;
    }
    // (1+z²) Φ(-z) - z φ(z), with Φ(-z) = φ(z) m(z).
    var * (pdf(z) * ((1.0 + z * z) * mills(z) - z)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn untried(mean: f64, var: f64) -> Member {
        Member { mean, own: var, var }
    }

    #[test]
    fn nothing_and_one_are_themselves() {
        assert_eq!(maximum([]), (0.0, 0.0));
        assert_eq!(maximum([untried(-3.0, 2.0)]), (-3.0, 2.0));
    }

    /// E[(x - g)₊²] by the trapezoid rule.
    #[test]
    fn the_square_above_a_gap_is_its_integral() {
        for (gap, var) in [(0.0, 4.0), (0.3, 1.0), (2.0, 9.0), (5.0, 1.0)] {
            let (sd, h): (f64, f64) = (f64::sqrt(var), 1e-3);
            let integrand = |x: f64| (x - gap).powi(2) * pdf(x / sd) / sd;
            let sum: f64 = (1..20_000).map(|i| integrand(gap + f64::from(i) * h * sd) * h * sd).sum();
            assert!((square_above(gap, var) - sum).abs() < 1e-9 * var, "{gap} {var}: {sum}");
        }
    }

    #[test]
    fn the_surest_rival_does_not_hide_the_best() {
        let best = Member { mean: 1.0, own: 0.0, var: 0.1 };
        let (mean, var) = maximum([untried(-1e9, 1.0), best, untried(0.0, 1.0)]);
        assert_eq!(mean, 1.0);
        // (1+1) Φ(-1) - φ(1)
        assert!((var - (0.1 + 2.0 * 0.158_655_253_931_457 - 0.241_970_724_519_143_4)).abs() < 1e-12, "{var}");
    }
}

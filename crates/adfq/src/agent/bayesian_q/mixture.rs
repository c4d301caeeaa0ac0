//! Mixture updating: the belief about (s,a) averaged over what the return from s′ may turn out to be.
//!
//! If the return x from s′ were seen, the belief about (s,a) would become NG(μₓ, λ+1, α+½, βₓ) by the ordinary
//! posterior of y = r + γx. Not seeing it, the belief is the mixture of those over the predictive law of x, a
//! Student-t with location μ₀′, scale √(β′(λ′+1)/(λ′α′)) and 2α′ degrees of freedom. The normal-gamma law nearest to a
//! law p in KL(p ‖ ·) has (Dearden, Friedman and Russell 1998)
//!
//! μ₀ = E[μτ]/E[τ],  λ = 1/(E[μ²τ] - E[τ]μ₀²),  α = max(1+ε, f(ln E[τ] - E[ln τ])),  β = α/E[τ],
//!
//! f being the inverse of ln α - ψ(α). Given x these expectations are closed: E[τ] = (α+½)/βₓ, E[μτ] = μₓE[τ],
//! E[μ²τ] = μₓ²E[τ] + 1/(λ+1) and E[ln τ] = ψ(α+½) - ln βₓ. So what is left is one integral over x.

use super::normal_gamma::NormalGamma;
use crate::special::{inverse_log_minus_digamma, log_minus_digamma};

/// The ε of the theorem, which the paper leaves open.
const EPSILON: f64 = 0.01;

/// Positive nodes and weights of 10-point Gauss-Legendre quadrature on [-1, 1].
const GAUSS: [(f64, f64); 5] = [
    (0.14887433898163122, 0.29552422471475287),
    (0.4333953941292472, 0.26926671930999635),
    (0.6794095682990244, 0.21908636251598204),
    (0.8650633666889845, 0.1494513491505806),
    (0.9739065285171717, 0.06667134430868814),
];

/// The normal-gamma law nearest to the mixture of `prior`'s posteriors after r + γx, x the next return of `next`.
pub(super) fn mixture(prior: &NormalGamma, reward: f64, gamma: f64, next: &NormalGamma) -> NormalGamma {
    let scale = gamma * (next.return_var() * (next.alpha - 1.0) / next.alpha).sqrt();
    if scale == 0.0 {
        return prior.posterior(reward + gamma * next.mean, 0.0);
    }
    let centre = reward + gamma * next.mean;
    let lambda = prior.lambda + 1.0;
    // βₓ = β (1 + ((y-μ₀)/width)²).
    let width = (2.0 * prior.beta * lambda / prior.lambda).sqrt();
    let (mut mass, mut inverse, mut logarithm, mut first, mut second) = (0.0, 0.0, 0.0, 0.0, 0.0);
    let nu = 2.0 * next.alpha;
    for_each_node(nu, (prior.mean - centre) / scale, width / scale, |z, weight| {
        let p = weight * libm::exp(-0.5 * (nu + 1.0) * libm::log1p(z * z / nu));
        let from_prior = (centre - prior.mean + scale * z) / width;
        let growth = 1.0 + from_prior * from_prior; // βₓ/β
        mass += p;
        inverse += p / growth;
        logarithm += p * libm::log(growth);
        first += p / growth * z;
        second += p / growth * z * z;
    });
    // From here on averages: of β/βₓ, of ln βₓ/β, and the mean and variance of y weighted by E[τ|x] ∝ β/βₓ.
    let y_mean = centre + scale * first / inverse;
    let y_var = scale * scale * (second / inverse - (first / inverse).powi(2)).max(0.0);
    let (inverse, logarithm) = (inverse / mass, logarithm / mass);
    let tau = (prior.alpha + 0.5) / prior.beta * inverse;
    let jensen = (libm::log(inverse) + logarithm).max(0.0);
    let alpha = shape(log_minus_digamma(prior.alpha + 0.5) + jensen);
    NormalGamma {
        mean: prior.mean + (y_mean - prior.mean) / lambda,
        lambda: 1.0 / (1.0 / lambda + tau * y_var / (lambda * lambda)),
        alpha,
        beta: alpha / tau,
    }
}

/// max(1+ε, f(gap)).
fn shape(gap: f64) -> f64 {
    let least = 1.0 + EPSILON;
    if gap < log_minus_digamma(least) { inverse_log_minus_digamma(gap) } else { least }
}

/// Nodes and weights for integrals over the whole line of a Student-t density (at 0, scale 1, ν ≥ 2 degrees of freedom)
/// times a function that changes at `centre` on the scale of `width`.
///
/// Gauss-Legendre on panels that double in length with the distance from 0 and from `centre`, out to where the
/// density's tail holds 10⁻¹³ of its mass.
fn for_each_node(nu: f64, centre: f64, width: f64, mut visit: impl FnMut(f64, f64)) {
    let end = (nu * libm::expm1(60.0 / nu)).sqrt();
    let mut edges = vec![-end, end, 0.0];
    grade(&mut edges, 0.0, 1.0, end);
    if centre.abs() < end {
        edges.push(centre);
        grade(&mut edges, centre, width, end);
    }
    edges.sort_unstable_by(f64::total_cmp);
    for panel in edges.windows(2) {
        let (middle, half) = (0.5 * (panel[0] + panel[1]), 0.5 * (panel[1] - panel[0]));
        if half > 0.0 {
            for (node, weight) in GAUSS {
                visit(middle - half * node, half * weight);
                visit(middle + half * node, half * weight);
            }
        }
    }
}

/// Adds `centre` ± `width`, ± 2 `width`, ± 4 `width`, … as far as they lie within ± `end`.
fn grade(edges: &mut Vec<f64>, centre: f64, width: f64, end: f64) {
    // Structure finer than rounding of the positions themselves cannot be seen.
    let mut distance = width.max(1e-12 * (1.0 + centre.abs()));
    while distance < 2.0 * end {
        edges.extend([centre - distance, centre + distance].into_iter().filter(|edge| edge.abs() < end));
        distance *= 2.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The four expectations of the theorem, in the order E τ, E μτ, E μ²τ, E ln τ.
    fn expectations(belief: &NormalGamma) -> [f64; 4] {
        let NormalGamma { mean, lambda, alpha, beta } = *belief;
        let tau = alpha / beta;
        let log_tau = libm::log(alpha) - log_minus_digamma(alpha) - libm::log(beta);
        [tau, mean * tau, mean * mean * tau + 1.0 / lambda, log_tau]
    }

    /// The same of the mixture, by brute force: the trapezoidal rule with x = μ₀′ + scale · sinh u.
    fn brute_force(prior: &NormalGamma, reward: f64, gamma: f64, next: &NormalGamma) -> [f64; 4] {
        let nu = 2.0 * next.alpha;
        let scale = (next.beta * (next.lambda + 1.0) / (next.lambda * next.alpha)).sqrt();
        let (mut sums, mut mass) = ([0.0; 4], 0.0);
        let count = 400_000;
        for i in 0..=count {
            let u = -20.0 + 40.0 * f64::from(i) / f64::from(count);
            let z = u.sinh();
            let p = u.cosh() * (1.0 + z * z / nu).powf(-0.5 * (nu + 1.0));
            let posterior = prior.posterior(reward + gamma * (next.mean + scale * z), 0.0);
            mass += p;
            expectations(&posterior).iter().zip(&mut sums).for_each(|(e, sum)| *sum += p * e);
        }
        sums.map(|sum| sum / mass)
    }

    #[test]
    fn keeps_the_expectations_of_the_mixture() {
        let belief = |mean, lambda, alpha, beta| NormalGamma { mean, lambda, alpha, beta };
        for (prior, reward, next) in [
            (belief(0.0, 1.0, 2.0, 2.0), 1.0, belief(0.5, 1.0, 2.0, 2.0)),
            (belief(0.0, 0.1, 1.3, 5.0), -2.0, belief(3.0, 50.0, 30.0, 20.0)),
            (belief(4.0, 80.0, 40.0, 0.9), 0.0, belief(3.5, 0.2, 1.6, 30.0)),
            (belief(9.0, 20.0, 12.0, 0.1), 0.3, belief(1.0, 30.0, 1.9, 0.2)),
        ] {
            let fitted = mixture(&prior, reward, 0.9, &next);
            let (found, expected) = (expectations(&fitted), brute_force(&prior, reward, 0.9, &next));
            for i in 0..3 {
                let error = (found[i] - expected[i]).abs() / (1.0 + expected[i].abs());
                assert!(error < 1e-9, "{i}: {found:?} {expected:?}");
            }
            assert!(fitted.alpha == 1.0 + EPSILON || (found[3] - expected[3]).abs() < 1e-9, "{fitted:?}");
        }
    }

    #[test]
    fn a_certain_next_return_gives_the_ordinary_posterior() {
        let prior = NormalGamma { mean: 1.0, lambda: 2.0, alpha: 3.0, beta: 4.0 };
        let next = NormalGamma { mean: 2.0, lambda: 1e9, alpha: 1e9, beta: 1e-9 };
        let (fitted, exact) = (mixture(&prior, 0.5, 0.9, &next), prior.posterior(2.3, 0.0));
        for (f, e) in [(fitted.mean, exact.mean), (fitted.lambda, exact.lambda)] {
            assert!((f / e - 1.0).abs() < 1e-9);
        }
        assert!(
            (fitted.alpha / exact.alpha - 1.0).abs() < 1e-6 && (fitted.beta / exact.beta - 1.0).abs() < 1e-6
        );
    }
}

//! The special functions of Bayesian Q-learning: ln x - ψ(x) with its inverse, and the Student-t law.
//!
//! Written on `libm`, so the same bits come out on every platform; the crates that have these functions call the
//! platform's logarithm (and bring a linear algebra library along).

use std::f64::consts::PI;

/// ln x - ψ(x) for x > 0, where ψ is the digamma function: the gap between the logarithm of a Gamma variable's mean
/// and the mean of its logarithm, at shape x.
pub(crate) fn log_minus_digamma(x: f64) -> f64 {
    // ψ(x) = ψ(x + k) - Σ 1/(x + i) brings x to where the asymptotic series has full precision.
    let (mut shifted, mut sum) = (x, 0.0);
    while shifted < 12.0 {
        sum += 1.0 / shifted;
        shifted += 1.0;
    }
    let y = 1.0 / (shifted * shifted);
    let series = y * (1.0 / 12.0 - y * (1.0 / 120.0 - y * (1.0 / 252.0 - y * (1.0 / 240.0 - y / 132.0))));
    let asymptotic = 0.5 / shifted + series;
    if shifted == x { asymptotic } else { asymptotic + sum - libm::log(shifted / x) }
}

/// The derivative 1/x - ψ′(x) of [`log_minus_digamma`].
fn log_minus_digamma_slope(x: f64) -> f64 {
    let (mut shifted, mut sum) = (x, 0.0);
    while shifted < 12.0 {
        sum += 1.0 / (shifted * shifted);
        shifted += 1.0;
    }
    let y = 1.0 / (shifted * shifted);
    let series = y / shifted * (1.0 / 6.0 - y * (1.0 / 30.0 - y * (1.0 / 42.0 - y / 30.0)));
    1.0 / x - 1.0 / shifted - sum - 0.5 * y - series
}

/// The x > 0 with ln x - ψ(x) = y, for y > 0: the f of Dearden, Friedman and Russell (1998).
pub(crate) fn inverse_log_minus_digamma(y: f64) -> f64 {
    // Thom's estimate of a Gamma shape is within 1.5 % for x ≥ 1; below, Newton on 1/x (Minka 2002) still
    // converges, as the function is nearly linear in 1/x.
    let mut x = (1.0 + (1.0 + 4.0 * y / 3.0).sqrt()) / (4.0 * y);
    for _ in 0..50 {
        let step = (log_minus_digamma(x) - y) / (x * x * log_minus_digamma_slope(x));
        let next = 1.0 / (1.0 / x + step);
        if (next - x).abs() <= 4.0 * f64::EPSILON * x {
            return next;
        }
        x = next;
    }
    x
}

/// ln Γ(x + ½) - ln Γ(x) for x > 0. From 20 on a series, as the difference of two large logarithms loses digits.
fn log_gamma_half_step(x: f64) -> f64 {
    if x < 20.0 {
        return libm::lgamma(x + 0.5) - libm::lgamma(x);
    }
    let y = 1.0 / (x * x);
    let series = 1.0 / 8.0 - y * (1.0 / 192.0 - y * (1.0 / 640.0 - y * 17.0 / 14336.0));
    0.5 * libm::log(x) - series / x
}

/// The density of the standard Student-t law with ν degrees of freedom.
pub(crate) fn student_t_density(z: f64, nu: f64) -> f64 {
    let log_peak = log_gamma_half_step(0.5 * nu) - 0.5 * libm::log(PI * nu);
    libm::exp(log_peak - 0.5 * (nu + 1.0) * libm::log1p(z * z / nu))
}

/// The probability that a standard Student-t variable with ν degrees of freedom exceeds z ≥ 0:
/// ½ I_x(ν/2, ½) at x = ν/(ν + z²).
pub(crate) fn student_t_tail(z: f64, nu: f64) -> f64 {
    let (a, b) = (0.5 * nu, 0.5);
    let (x, y) = (nu / (nu + z * z), z * z / (nu + z * z));
    // The continued fraction of I_x(a, b) is fast for x below this; above, I_x(a, b) = 1 - I_y(b, a).
    if x < (a + 1.0) / (a + b + 2.0) {
        0.5 * incomplete_beta_front(z, nu) / a * incomplete_beta_fraction(x, a, b)
    } else {
        0.5 - 0.5 * incomplete_beta_front(z, nu) / b * incomplete_beta_fraction(y, b, a)
    }
}

/// xᵃ yᵇ / B(a, b) at the arguments of [`student_t_tail`].
fn incomplete_beta_front(z: f64, nu: f64) -> f64 {
    let powers = -0.5 * nu * libm::log1p(z * z / nu);
    let root = z / (nu + z * z).sqrt();
    root / PI.sqrt() * libm::exp(log_gamma_half_step(0.5 * nu) + powers)
}

/// The continued fraction of the incomplete beta function (DLMF 8.17.22), by the modified Lentz algorithm.
fn incomplete_beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    let guard = |t: f64| if t.abs() < 1e-300 { 1e-300 } else { t };
    let mut c = 1.0;
    let mut d = 1.0 / guard(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    // It takes O(√max(a, b)) terms: 10,000 are enough for ν = 10⁸.
    for m in 1..10_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / guard(1.0 + term * d);
            c = guard(1.0 + term / c);
            change = c * d;
            fraction *= change;
        }
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    fraction
}

/// Expected excess E max(T - z, 0) of a standard Student-t variable T with ν > 1 degrees of freedom over z ≥ 0:
/// (ν + z²)/(ν - 1) t(z) - z Pr(T > z).
pub(crate) fn student_t_excess(z: f64, nu: f64) -> f64 {
    let peak = (nu + z * z) / (nu - 1.0) * student_t_density(z, nu);
    (peak - z * student_t_tail(z, nu)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64, tolerance: f64) {
        assert!((found / expected - 1.0).abs() < tolerance, "{found:e} instead of {expected:e}");
    }

    // The expected values come from arbitrary-precision arithmetic (mpmath, 30 digits).
    const LOG_MINUS_DIGAMMA: [(f64, f64); 7] = [
        (0.25, 2.8411591722563747),
        (1.0, 0.5772156649015329),
        (1.5, 0.3689751341295879),
        (3.7, 0.14117928028866739),
        (10.0, 0.05083250392732458),
        (250.0, 0.0020013333312000163),
        (1e8, 5.0000000083333336e-09),
    ];

    #[test]
    fn log_minus_digamma_and_its_inverse() {
        for (x, y) in LOG_MINUS_DIGAMMA {
            close(log_minus_digamma(x), y, 1e-13);
            close(inverse_log_minus_digamma(y), x, 1e-12);
        }
    }

    #[test]
    fn gamma_ratio_on_both_sides_of_the_series() {
        close(log_gamma_half_step(7.25), 0.9732729455774445, 1e-14);
        close(log_gamma_half_step(3000.0), 4.003142117158649, 1e-15);
        close(log_gamma_half_step(20.0), libm::lgamma(20.5) - libm::lgamma(20.0), 1e-13);
    }

    #[test]
    fn student_t_tails() {
        for (nu, z, tail) in [
            (2.0, 0.5, 1.0 / 3.0),
            (2.0, 30.0, 0.0005546313409798294),
            (3.3, 1.7, 0.08966163945354028),
            (10.0, 0.0, 0.5),
            (10.0, 4.0, 0.0012591663123683462),
            (201.0, 2.5, 0.0066095632269010315),
            (20_000.0, 3.0, 0.0013515605190602459),
            (5e6, 1.0, 0.15865527812852828),
        ] {
            close(student_t_tail(z, nu), tail, 1e-12);
        }
    }

    #[test]
    fn student_t_densities_and_excesses() {
        for (nu, z, density, excess) in [
            (2.0, 0.5, 0.2962962962962963, 0.5),
            (201.0, 2.5, 0.018081032998859728, 0.00221256237781581),
            (20_000.0, 3.0, 0.004435283303446607, 0.00038281949880522),
        ] {
            close(student_t_density(z, nu), density, 1e-12);
            close(student_t_excess(z, nu), excess, 1e-10);
        }
    }
}

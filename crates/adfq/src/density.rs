//! Densities for pictures: the exact posterior, the analytic mixture, and the three factors of each term of the
//! posterior that the paper's Fig. illustration shows. All are normalised, at any q, without under- or overflow.
//!
//! ```
//! use adfq::density::{Factors, MixtureDensity, PosteriorDensity};
//! use adfq::update::{Next, Noise, Transition};
//! use adfq::Belief;
//!
//! // The paper's example: r = 0, γ = .9, prior N(0, 1), three next actions.
//! let next = [Belief::new(-2.0, 2.0)?, Belief::new(-2.0, 0.5)?, Belief::new(4.5, 0.5)?];
//! let transition = Transition::new(Belief::new(0.0, 1.0)?, 0.0, 0.9, Next::Beliefs(&next))?;
//! let exact = PosteriorDensity::new(&transition)?;
//! let analytic = MixtureDensity::new(&transition, Noise::None)?;
//! assert!((exact.pdf(2.7) - analytic.pdf(2.7)).abs() < 0.05);
//!
//! // The terms of the posterior are products of their factors, and add to it.
//! let terms: f64 = Factors::all(&transition)?.iter().map(|factors| factors.term(2.7)).sum();
//! assert!((terms / exact.pdf(2.7) - 1.0).abs() < 1e-9);
//! # Ok::<(), adfq::Error>(())
//! ```

use crate::normal::{ln_cdf, ln_pdf};
use crate::update::{
    Components, Moments, Noise, Problem, Quadrature, Shape, Transition, Workspace, analytic, exact,
};
use crate::{Belief, Result};
use libm::{exp, log};

/// ln N(q; mean, var).
fn ln_gaussian(q: f64, mean: f64, var: f64) -> f64 {
    let sd = var.sqrt();
    ln_pdf((q - mean) / sd) - log(sd)
}

/// The exact posterior density of Eq. posterior, without noise.
pub struct PosteriorDensity {
    form: Form,
    mean: f64,
    var: f64,
}

enum Form {
    Gaussian,
    /// The maximum of several targets: the quadrature knows the density and its integral.
    Maximum {
        quadrature: Box<Quadrature>,
        origin: f64,
        ln_integral: f64,
    },
}

impl PosteriorDensity {
    /// The density after this transition.
    pub fn new(transition: &Transition) -> Result<Self> {
        let mut workspace = Workspace::default();
        workspace.problem.load(transition)?;
        let Moments { mean, var } = exact::solve(&mut workspace, Noise::None)?;
        let form = match workspace.problem.shape {
            Shape::Gaussian { .. } => Form::Gaussian,
            Shape::Maximum => {
                exact::integrate(&mut workspace, 1.0 / transition.prior().var());
                let quadrature = Box::new(workspace.quadrature);
                let origin = transition.prior().mean() + quadrature.posterior.reference();
                let ln_integral = quadrature.ln_integral();
                match quadrature.moments() {
                    Some(_) => Form::Maximum { quadrature, origin, ln_integral },
                    None => Form::Gaussian,
                }
            }
        };
        Ok(Self { form, mean, var })
    }

    /// The density at q.
    pub fn pdf(&self, q: f64) -> f64 {
        exp(self.ln_pdf(q))
    }

    /// The logarithm of the density at q.
    pub fn ln_pdf(&self, q: f64) -> f64 {
        match &self.form {
            Form::Gaussian => ln_gaussian(q, self.mean, self.var),
            Form::Maximum { quadrature, origin, ln_integral } => {
                quadrature.posterior.ln_density(q - origin) - ln_integral
            }
        }
    }

    /// The Gaussian with the same moments: what assumed density filtering keeps.
    pub fn matched(&self) -> Result<Belief> {
        Belief::new(self.mean, self.var)
    }
}

/// The mixture of Gaussians by which the analytic rule approximates the posterior.
pub struct MixtureDensity {
    components: Components,
}

impl MixtureDensity {
    /// The mixture after this transition, under any noise.
    pub fn new(transition: &Transition, noise: Noise) -> Result<Self> {
        Ok(Self { components: analytic::components(transition, noise)? })
    }

    /// The density at q.
    pub fn pdf(&self, q: f64) -> f64 {
        exp(self.ln_pdf(q))
    }

    /// The logarithm of the density at q.
    pub fn ln_pdf(&self, q: f64) -> f64 {
        let parts = self.components.as_slice();
        let terms = || parts.iter().map(|part| log(part.weight) + ln_gaussian(q, part.mean, part.var));
        let greatest = terms().fold(f64::NEG_INFINITY, f64::max);
        greatest + log(terms().map(|term| exp(term - greatest)).sum::<f64>())
    }

    /// The components.
    pub fn components(&self) -> &Components {
        &self.components
    }
}

/// The factors of one next action's term of the posterior: c_{τ,b} · φ((q-μ̄)/σ̄)/σ̄ · Π_{b′≠b} Φ, over Z.
#[derive(Clone, Debug)]
pub struct Factors {
    /// μ̄ and σ̄² of the product of prior and target (Eq. mean_var_bar).
    product: (f64, f64),
    /// c_{τ,b} as a share of all of them (Eq. weight), and ln(c_{τ,b}/Z).
    weight: f64,
    ln_weight_over_z: f64,
    /// Mean and standard deviation of the other targets.
    others: Vec<(f64, f64)>,
}

impl Factors {
    /// The factors for every next action, in order; none after a terminal transition.
    pub fn all(transition: &Transition) -> Result<Vec<Self>> {
        let mut problem = Problem::default();
        problem.load(transition)?;
        let (mu_0, v_0) = (transition.prior().mean(), transition.prior().var());
        let mut targets = problem.targets.to_vec();
        targets.sort_by_key(|target| target.action);
        let ln_c: Vec<f64> =
            targets.iter().map(|target| ln_gaussian(target.y, 0.0, v_0 + target.t)).collect();
        let greatest = ln_c.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = ln_c.iter().map(|ln_c| exp(ln_c - greatest)).sum();
        let posterior = PosteriorDensity::new(transition)?;
        let mut all: Vec<Self> = (targets.iter().zip(&ln_c))
            .enumerate()
            .map(|(b, (target, ln_c))| {
                let gain = v_0 / (v_0 + target.t);
                let others = targets.iter().enumerate().filter(|(other, _)| *other != b);
                Self {
                    product: (mu_0 + gain * target.y, gain * target.t),
                    weight: exp(ln_c - greatest) / total,
                    ln_weight_over_z: *ln_c,
                    others: others.map(|(_, other)| (mu_0 + other.y, other.t.sqrt())).collect(),
                }
            })
            .collect();
        // Z from the posterior's own normalisation, at its mean.
        let q = posterior.mean;
        let terms: Vec<f64> = all.iter().map(|factors| factors.ln_term(q)).collect();
        let greatest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let ln_z =
            greatest + log(terms.iter().map(|term| exp(term - greatest)).sum::<f64>()) - posterior.ln_pdf(q);
        all.iter_mut().for_each(|factors| factors.ln_weight_over_z -= ln_z);
        Ok(all)
    }

    /// The first factor: the Gaussian density N(q; μ̄_{τ,b}, σ̄²_{τ,b}), the prior times b's target.
    pub fn gaussian(&self, q: f64) -> f64 {
        exp(ln_gaussian(q, self.product.0, self.product.1))
    }

    /// The second factor: c_{τ,b} / Σ c, the weight of b by its TD error.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// The third factor: Π_{b′≠b} Φ((q - r - γμ_{s′,b′}) / (γσ_{s′,b′})), the soft maximum.
    pub fn soft_max(&self, q: f64) -> f64 {
        exp(self.ln_soft_max(q))
    }

    /// The whole term of the posterior density; the terms of all actions add to it.
    pub fn term(&self, q: f64) -> f64 {
        exp(self.ln_term(q))
    }

    fn ln_soft_max(&self, q: f64) -> f64 {
        self.others.iter().map(|(mean, sd)| ln_cdf((q - mean) / sd)).sum()
    }

    fn ln_term(&self, q: f64) -> f64 {
        self.ln_weight_over_z + ln_gaussian(q, self.product.0, self.product.1) + self.ln_soft_max(q)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::update::Next;

    fn transition(next: &[Belief]) -> Transition<'_> {
        Transition::new(Belief::new(0.0, 1.0).unwrap(), 0.5, 0.9, Next::Beliefs(next)).unwrap()
    }

    fn beliefs(parameters: &[(f64, f64)]) -> Vec<Belief> {
        parameters.iter().map(|&(mean, var)| Belief::new(mean, var).unwrap()).collect()
    }

    /// ∫ f and ∫ q f over an even grid.
    fn integrals(f: impl Fn(f64) -> f64) -> (f64, f64) {
        let step = 0.001;
        let points = (-20_000..20_000).map(|i| f64::from(i) * step);
        points.fold((0.0, 0.0), |sum, q| (sum.0 + step * f(q), sum.1 + step * q * f(q)))
    }

    #[test]
    fn all_densities_are_normalised_and_have_the_rule_moments() {
        for parameters in
            [&[(1.0, 1.0), (2.0, 4.0)][..], &[(-2.0, 2.0), (-2.0, 0.5), (4.5, 0.5)], &[(1.0, 2.0)]]
        {
            let next = beliefs(parameters);
            let transition = transition(&next);
            let posterior = PosteriorDensity::new(&transition).unwrap();
            let (mass, mean) = integrals(|q| posterior.pdf(q));
            assert!((mass - 1.0).abs() < 1e-8, "{mass}");
            assert!((mean - exact::update(&transition, Noise::None).unwrap().mean()).abs() < 1e-8);
            for noise in [Noise::None, Noise::Approximate(0.3), Noise::Exact(0.3)] {
                let mixture = MixtureDensity::new(&transition, noise).unwrap();
                let (mass, mean) = integrals(|q| mixture.pdf(q));
                assert!((mass - 1.0).abs() < 1e-8, "{mass}");
                assert!((mean - analytic::update(&transition, noise).unwrap().mean()).abs() < 1e-8);
            }
        }
    }

    #[test]
    fn the_terms_of_the_factors_add_to_the_posterior() {
        let next = beliefs(&[(-2.0, 2.0), (-2.0, 0.5), (4.5, 0.5)]);
        let transition = transition(&next);
        let posterior = PosteriorDensity::new(&transition).unwrap();
        let factors = Factors::all(&transition).unwrap();
        assert!((factors.iter().map(Factors::weight).sum::<f64>() - 1.0).abs() < 1e-14);
        for i in -50..80 {
            let q = f64::from(i) * 0.1;
            let sum: f64 = factors.iter().map(|factors| factors.term(q)).sum();
            assert!((sum - posterior.pdf(q)).abs() <= 1e-9 * posterior.pdf(q).max(1e-300), "at {q}");
        }
    }

    #[test]
    fn far_tails_and_tiny_variances_stay_finite() {
        let next = beliefs(&[(1e6, 1e-10), (-1e6, 1e4), (1e6, 1e-8)]);
        let transition = transition(&next);
        let posterior = PosteriorDensity::new(&transition).unwrap();
        let mixture = MixtureDensity::new(&transition, Noise::None).unwrap();
        for q in [-1e9, -1.0, 0.0, 1.0, 9e5, 1e9] {
            assert!(posterior.ln_pdf(q).is_finite() && mixture.ln_pdf(q).is_finite(), "at {q}");
            assert!(posterior.pdf(q) >= 0.0 && mixture.pdf(q) >= 0.0);
            for factors in Factors::all(&transition).unwrap() {
                assert!(
                    factors.gaussian(q).is_finite()
                        && factors.soft_max(q) <= 1.0
                        && factors.term(q).is_finite()
                );
            }
        }
    }
}

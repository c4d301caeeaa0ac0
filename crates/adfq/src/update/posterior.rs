//! The exact posterior of the paper's Eq. posterior: its density anywhere, up to normalisation.
//!
//! With the prior at 0 the density is, up to a constant,
//!
//! ```text
//! G(x) = N(x; 0, v₀) · F(x) · H(x),    F = Π_b Φ(z_b),    H = Σ_b φ(z_b) / (√t_b Φ(z_b)),    z_b = (x - y_b)/√t_b
//! ```
//!
//! which is the paper's sum over b with the common product taken out: O(|A|) a point instead of O(|A|²).
//!
//! Everything is measured from a reference point near a peak, x = reference + d. Below its target (z < 0) a term
//! has Φ(z) = φ(z) m(-z) with the Mills ratio m; its square z² joins that of the prior. The prior's square and those of
//! the terms far below their targets at the reference point, the *folded* ones, are summed up there, once, as
//! d (2g + K d): so a target a million standard deviations away costs no digits, and rounding can tilt the density but
//! not roughen it. Where all z are positive, the least of them, the *lead*, is treated likewise: its φ is taken out of H.
//!
//! How the density is integrated lives in `quadrature`; the same formulas over many points at once, in `nodes`.

use super::problem::Target;
use crate::exponential::{exp_nonpositive, ln_rough};
use crate::normal::{INV_SQRT_2PI, mills};
use libm::log;

/// A term beyond this many standard deviations from its target at the reference point is folded.
const FAR: f64 = 40.0;
/// Below this z, λ(z) + z and κ(z) are taken from their expansions -1/z and 1: the definitions cancel there.
const FAR_BELOW: f64 = -50.0;
/// A product of Φs below this has its logarithm taken out before it underflows.
pub(crate) const SMALL_PRODUCT: f64 = 1e-100;

/// One next action as the posterior sees it from the reference point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term {
    /// 1/√t_b.
    pub inv_sd: f64,
    /// z_b at the reference point.
    pub z: f64,
    /// Whether its square is part of g and K.
    pub folded: bool,
    /// Whether its peak is high enough to be looked for at all.
    pub relevant: bool,
    /// The greatest width that the term can have, (ρ₀ + p_b)^-½, where no other target's threshold cuts into it; and ln.
    pub width: f64,
    pub ln_width: f64,
}

impl Term {
    /// z_b at the distance d from the reference point.
    #[inline(always)]
    pub fn z_at(&self, d: f64) -> f64 {
        self.z + d * self.inv_sd
    }
}

/// One term of the density at a point.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TermAt {
    /// φ(z)/(√t Φ(z)) without the exponential that `Point::exponent` holds: the term's share of H.
    pub share: f64,
    /// Its logarithm, roughly, also where it underflows.
    pub ln_share: f64,
    /// The rest of the slope and negated curvature of the term's logarithm, beside `Point`'s.
    pub slope: f64,
    pub curvature: f64,
}

/// The density at a point: shares · product · e^exponent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    /// All exponentials, relative to the reference point.
    pub exponent: f64,
    /// The product of the Φs without theirs.
    pub product: f64,
    /// H without its own.
    pub shares: f64,
    /// What all terms share of their slopes and negated curvatures.
    pub slope: f64,
    pub curvature: f64,
}

/// The exact posterior, up to normalisation, as a function of the distance d from a reference point.
#[derive(Default)]
pub(crate) struct Posterior {
    rho_0: f64,
    reference: f64,
    pub terms: Vec<Term>,
    /// g and K: the squares of the prior, of all folded terms and of the folded leader.
    gradient: f64,
    stiffness: f64,
    /// The term with the least z at the reference point, if all are far above their targets there.
    leader: Option<usize>,
}

impl Posterior {
    /// The posterior for these targets and this prior precision (0: the bare maximum), seen from `reference`. Targets
    /// that are not `relevant` count for the density, but nothing depends on finding their peaks.
    pub fn set(&mut self, targets: &[Target], relevant: impl Fn(usize) -> bool, rho_0: f64, reference: f64) {
        (self.rho_0, self.reference) = (rho_0, reference);
        self.terms.clear();
        self.terms.extend(targets.iter().enumerate().map(|(b, target)| {
            let inv_sd = 1.0 / target.t.sqrt();
            let width = 1.0 / (rho_0 + target.p).sqrt();
            let z = (reference - target.y) * inv_sd;
            Term { inv_sd, z, folded: z < -FAR, relevant: relevant(b), width, ln_width: ln_rough(width) }
        }));
        let (lead, leader) = self.lead_at(0.0);
        self.leader = (lead > FAR).then_some(leader);
        (self.gradient, self.stiffness) = (rho_0 * reference, rho_0);
        for (b, term) in self.terms.iter().enumerate() {
            if term.folded || self.leader == Some(b) {
                self.gradient += term.inv_sd * term.z;
                self.stiffness += term.inv_sd * term.inv_sd;
            }
        }
    }

    /// The reference point, seen from the prior mean.
    pub fn reference(&self) -> f64 {
        self.reference
    }

    /// The least z, if positive, or 0; and whose it is.
    pub fn lead_at(&self, d: f64) -> (f64, usize) {
        let mut lead = (f64::INFINITY, 0);
        for (b, term) in self.terms.iter().enumerate() {
            let z = term.z_at(d);
            if z < lead.0 {
                lead = (z, b);
            }
        }
        (lead.0.max(0.0), lead.1)
    }

    /// The squares of the prior, of the folded terms, and of the lead at d.
    #[inline]
    pub fn common_squares(&self, d: f64, lead: f64, leader: usize) -> f64 {
        let sum = d * (2.0 * self.gradient + d * self.stiffness);
        match self.leader {
            None => sum + lead * lead,
            Some(first) if first == leader && lead > 0.0 => sum,
            Some(first) => {
                let z = self.terms[first].z_at(d);
                sum + (lead - z) * (lead + z)
            }
        }
    }

    /// ln G at the distance d from the reference point, up to a constant.
    pub fn ln_density(&self, d: f64) -> f64 {
        let point = self.at(d, &mut vec![TermAt::default(); self.terms.len()]);
        point.exponent + log(point.product) + log(point.shares)
    }

    /// Fills in each term's share of the density at d.
    pub fn shares(&self, d: f64, terms: &mut [TermAt]) {
        let point = self.at(d, terms);
        for term in terms {
            term.share /= point.shares;
        }
    }

    /// The density at d with its slope and curvature, and those of the single terms.
    pub fn at(&self, d: f64, detail: &mut [TermAt]) -> Point {
        let (lead, leader) = self.lead_at(d);
        let lead_density = exp_nonpositive(-0.5 * lead * lead);
        let mut squares = self.common_squares(d, lead, leader);
        // The fall of the leader's φ is part of the gradient: what it is, for all terms but the leader's own.
        let leader_fall =
            self.leader.map_or(0.0, |first| self.terms[first].inv_sd * self.terms[first].z_at(d));
        let (mut product, mut ln_product, mut shares) = (1.0, 0.0, 0.0);
        let (mut slope, mut curvature) = (-(self.gradient + d * self.stiffness), self.rho_0);
        for (b, (term, at)) in self.terms.iter().zip(detail).enumerate() {
            let s = term.inv_sd;
            let z = term.z_at(d);
            let hazard;
            if z < 0.0 {
                let ratio = mills(-z);
                hazard = 1.0 / ratio;
                product *= INV_SQRT_2PI * ratio;
                at.share = s * hazard;
                at.ln_share = ln_rough(at.share);
            } else {
                let exponent = -0.5 * (z - lead) * (z + lead);
                let density = INV_SQRT_2PI * exp_nonpositive(exponent);
                let cdf = 1.0 - density * lead_density * mills(z);
                hazard = density * lead_density / cdf;
                product *= cdf;
                at.share = s * (density / cdf);
                at.ln_share = exponent + ln_rough(s * INV_SQRT_2PI);
            }
            if (z < 0.0) != term.folded {
                squares += if z < 0.0 { z * z } else { -z * z };
            }
            if product < SMALL_PRODUCT {
                ln_product += log(product);
                product = 1.0;
            }
            // λ and κ of this term, and δ = λ + z, none of which cancels.
            let (excess, kappa) =
                if z > FAR_BELOW { (hazard + z, hazard * (hazard + z)) } else { (-1.0 / z, 1.0) };
            slope += s * if term.folded { excess } else { hazard };
            curvature += s * s * kappa;
            at.slope = if self.leader == Some(b) { -s * hazard } else { leader_fall - s * excess };
            at.curvature = s * s * (1.0 - kappa);
            shares += at.share;
        }
        Point { exponent: -0.5 * squares + ln_product, product, shares, slope, curvature }
    }
}

//! Nodes of a quadrature, from left to right, and the exact posterior's density at all of them.
//!
//! The density is the one that [`Posterior`] describes. Here it is computed term by term over all nodes instead of
//! node by node over all terms: along the nodes z_b only grows, so each term has one stretch with z < 0 and one with
//! z ≥ 0, neither has a branch inside, and both vectorise.

use super::posterior::{Posterior, SMALL_PRODUCT, Term};
use crate::exponential::exp_nonpositive;
use crate::normal::{INV_SQRT_2PI, mills};
use libm::log;

/// After this many terms a product of Φs may come near the end of double precision; then its logarithm is taken out.
const TERMS_BETWEEN_RESCALING: usize = 8;

/// The nodes, column by column.
#[derive(Default)]
pub(crate) struct Nodes {
    /// Distance from the reference point, ascending.
    pub d: Vec<f64>,
    /// The rule's weight; after `evaluate`, times the density without e^exponent.
    pub weight: Vec<f64>,
    /// ln of the large or small part of the density.
    pub exponent: Vec<f64>,
    /// Least z of all terms, if positive, and e^{-lead²/2}.
    lead: Vec<f64>,
    lead_density: Vec<f64>,
    /// Sum of squares, Π Φ and Σ φ/(√t Φ), each without what `exponent` holds.
    squares: Vec<f64>,
    product: Vec<f64>,
    shares: Vec<f64>,
}

impl Nodes {
    pub fn clear(&mut self) {
        self.d.clear();
        self.weight.clear();
    }

    /// One more node to the right. Where a panel is a few units of the last place of d, rounding can put its first node
    /// before the last one; then the two coincide.
    pub fn push(&mut self, d: f64, weight: f64) {
        let last = self.d.last().copied().unwrap_or(f64::NEG_INFINITY);
        self.d.push(if d < last { last } else { d });
        self.weight.push(weight);
    }

    /// The nodes with other weights.
    pub fn weighted<'a>(&'a self, weights: &'a [f64]) -> impl Iterator<Item = (f64, f64)> + Clone + 'a {
        self.d.iter().copied().zip(weights.iter().copied())
    }

    /// Multiplies the density into the weights, all but its exponential part, which goes to `exponent`.
    pub fn evaluate(&mut self, posterior: &Posterior) {
        evaluate(self, posterior);
    }

    #[inline(always)]
    fn evaluate_here(&mut self, posterior: &Posterior) {
        self.find_leads(posterior);
        for column in [&mut self.exponent, &mut self.product, &mut self.shares] {
            column.clear();
        }
        self.exponent.resize(self.d.len(), 0.0);
        self.product.resize(self.d.len(), 1.0);
        self.shares.resize(self.d.len(), 0.0);
        for terms in posterior.terms.chunks(TERMS_BETWEEN_RESCALING) {
            for term in terms {
                let negative = self.d.partition_point(|d| term.z_at(*d) < 0.0);
                self.add_below(term, 0..negative);
                self.add_above(term, negative..self.d.len());
            }
            self.rescale();
        }
        for i in 0..self.d.len() {
            self.exponent[i] -= 0.5 * self.squares[i];
            self.weight[i] *= self.product[i] * self.shares[i];
        }
    }

    /// Leads, and the squares that do not belong to a single term.
    #[inline(always)]
    fn find_leads(&mut self, posterior: &Posterior) {
        self.lead.clear();
        self.lead.resize(self.d.len(), f64::INFINITY);
        for term in &posterior.terms {
            for (lead, d) in self.lead.iter_mut().zip(&self.d) {
                *lead = lead.min(term.z_at(*d));
            }
        }
        self.squares.clear();
        self.lead_density.clear();
        for (lead, &d) in self.lead.iter_mut().zip(&self.d) {
            let leader = if *lead > 0.0 { posterior.lead_at(d).1 } else { 0 };
            *lead = lead.max(0.0);
            self.squares.push(posterior.common_squares(d, *lead, leader));
            self.lead_density.push(exp_nonpositive(-0.5 * *lead * *lead));
        }
    }

    /// A term where z < 0: Φ(z) = φ(z) m(-z), and φ(z) goes to the squares.
    #[inline(always)]
    fn add_below(&mut self, term: &Term, range: std::ops::Range<usize>) {
        let d = &self.d[range.clone()];
        if !term.folded {
            let squares = self.squares[range.clone()].iter_mut();
            squares.zip(d).for_each(|(sum, &d)| *sum += term.z_at(d) * term.z_at(d));
        }
        let columns = self.product[range.clone()].iter_mut().zip(&mut self.shares[range]);
        for ((product, shares), &d) in columns.zip(d) {
            let ratio = mills(-term.z_at(d));
            *product *= INV_SQRT_2PI * ratio;
            *shares += term.inv_sd / ratio;
        }
    }

    /// A term where z ≥ 0: Φ(z) = 1 - φ(z) m(z), and φ is measured from the lead's.
    #[inline(always)]
    fn add_above(&mut self, term: &Term, range: std::ops::Range<usize>) {
        if term.folded {
            let squares = self.squares[range.clone()].iter_mut();
            squares.zip(&self.d[range.clone()]).for_each(|(sum, &d)| *sum -= term.z_at(d) * term.z_at(d));
        }
        let leads = self.lead[range.clone()].iter().zip(&self.lead_density[range.clone()]);
        let columns = self.product[range.clone()].iter_mut().zip(&mut self.shares[range.clone()]);
        for (((product, shares), (&lead, &lead_density)), &d) in columns.zip(leads).zip(&self.d[range]) {
            let z = term.z_at(d);
            let density = INV_SQRT_2PI * exp_nonpositive(-0.5 * (z - lead) * (z + lead));
            let cdf = 1.0 - density * lead_density * mills(z);
            *product *= cdf;
            *shares += term.inv_sd * density / cdf;
        }
    }

    fn rescale(&mut self) {
        for (product, exponent) in self.product.iter_mut().zip(&mut self.exponent) {
            if *product < SMALL_PRODUCT {
                *exponent += log(*product);
                *product = 1.0;
            }
        }
    }
}

/// The same instructions for wider registers, where the processor has them: the same bits, sooner.
#[multiversion::multiversion(targets("x86_64+avx2", "x86_64+avx512f+avx512dq+avx512vl"))]
fn evaluate(nodes: &mut Nodes, posterior: &Posterior) {
    nodes.evaluate_here(posterior);
}

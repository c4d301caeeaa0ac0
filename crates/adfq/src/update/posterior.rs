//! The exact posterior of the paper's Eq. posterior, and a quadrature that follows it at every scale.
//!
//! Measured from a reference point and with the prior at 0, the density is, up to a constant,
//!
//! ```text
//! G(x) = N(x; 0, v₀) · F(x) · H(x),    F = Π_b Φ(z_b),    H = Σ_b φ(z_b) / (√t_b Φ(z_b)),    z_b = (x - y_b)/√t_b
//! ```
//!
//! which is the paper's sum over b with the common product taken out: O(|A|) a point instead of O(|A|²). Each of
//! its terms is log-concave, and the curvature of ln Φ only falls from left to right. So the quadrature marches from
//! left to right in Gauss-Legendre panels of a fixed number of local widths, which can only grow, jumps over stretches where no
//! term can matter (a log-concave function lies below its tangents), and stops where all terms fall and are negligible.

use super::nodes::Nodes;
use super::problem::Target;
use crate::exponential::{exp_nonpositive, ln_rough};
use crate::normal::{INV_SQRT_2PI, mills};
use libm::log;

/// A term whose mass, and whose second moment, are this far below the greatest (in natural logarithms) is left out.
const NEGLIGIBLE: f64 = 26.0;
/// Width of a panel in units of the local width 1/√curvature; with it ten nodes leave an error of about 1e-10.
const PANEL: f64 = 3.5;
/// Greatest change of ln G over a panel at the peak.
const STEEP: f64 = 8.0;
/// Step of evenly spaced nodes in local widths, and how many of them are still cheaper than panels.
const EVEN_STEP: f64 = 0.85;
const EVEN_LIMIT: f64 = 80.0;
/// Where the search for the ends begins, in local widths from the reference point.
const FIRST_REACH: f64 = 8.0;
/// A march this long means inputs beyond double precision; what has been gathered by then is returned.
const MAX_PANELS: usize = 20_000;
/// Beyond this z the upper tail of Φ is below the rounding of 1.
const UPPER: f64 = 8.5;

/// Positive abscissae and weights of the Gauss-Legendre rule with ten nodes on [-1, 1].
const GAUSS: [(f64, f64); 5] = [
    (0.148_874_338_981_631_2, 0.295_524_224_714_752_9),
    (0.433_395_394_129_247_2, 0.269_266_719_309_996_35),
    (0.679_409_568_299_024_4, 0.219_086_362_515_982_04),
    (0.865_063_366_688_984_5, 0.149_451_349_150_580_6),
    (0.973_906_528_517_171_7, 0.066_671_344_308_688_14),
];

/// One next action as the posterior sees it from the reference point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term {
    /// 1/√t_b.
    pub inv_sd: f64,
    /// z_b at the reference point.
    pub z: f64,
    /// The greatest width that the term can have, (ρ₀ + p_b)^-½, where no other target's threshold cuts into it; and ln.
    width: f64,
    ln_width: f64,
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
    /// The slope of ln of that share, negated.
    fall: f64,
    /// The curvature of ln of that share, negated.
    curvature: f64,
}

/// The density at a point.
#[derive(Clone, Copy, Debug)]
struct Point {
    /// ln of the part of G that is large or small: all exponentials, relative to the reference point.
    exponent: f64,
    /// The product of the Φs without theirs.
    product: f64,
    /// H without its own.
    shares: f64,
    /// Slope and negated curvature of ln N·F.
    slope: f64,
    curvature: f64,
}

/// The exact posterior, up to normalisation, as a function of the distance d from a reference point.
#[derive(Default)]
pub(crate) struct Posterior {
    /// ρ₀, or 0 for the bare distribution of the maximum.
    rho_0: f64,
    /// The reference point, seen from the prior mean. Choosing it near a peak keeps all differences small.
    reference: f64,
    pub terms: Vec<Term>,
    /// The least z at the reference point, if positive, and whose it is.
    lead: (f64, usize),
}

impl Posterior {
    /// The posterior for these targets and this prior precision, seen from `reference`.
    pub fn set(&mut self, targets: &[Target], rho_0: f64, reference: f64) {
        self.rho_0 = rho_0;
        self.reference = reference;
        self.terms.clear();
        self.terms.extend(targets.iter().map(|target| {
            let inv_sd = 1.0 / target.t.sqrt();
            let width = 1.0 / (rho_0 + target.p).sqrt();
            Term { inv_sd, z: (reference - target.y) * inv_sd, width, ln_width: ln_rough(width) }
        }));
        self.lead = self.lead_at(0.0);
    }

    /// The reference point, seen from the prior mean.
    pub fn reference(&self) -> f64 {
        self.reference
    }

    /// Where every z is positive, all shares are proportional to the exponential of the least; it is taken out.
    #[inline]
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

    /// The squares of the prior and of the lead, as differences from the reference point.
    #[inline]
    pub fn common_squares(&self, d: f64, lead: f64, leader: usize) -> f64 {
        let prior = self.rho_0 * d * (2.0 * self.reference + d);
        let step = if leader == self.lead.1 && lead > 0.0 && self.lead.0 > 0.0 {
            d * self.terms[leader].inv_sd
        } else {
            lead - self.lead.0
        };
        prior + step * (lead + self.lead.0)
    }

    /// Fills in each term's share of the density at d.
    pub fn shares(&self, d: f64, terms: &mut [TermAt]) {
        let point = self.at(d, terms);
        for term in terms {
            term.share /= point.shares;
        }
    }

    /// The density at d with its slope and curvature, and those of the single terms.
    ///
    /// Squares enter as differences from the reference, `(z-z′)(z+z′)` with `z-z′ = d/√t` known directly, so a
    /// target a million standard deviations away costs no digits.
    #[inline]
    fn at(&self, d: f64, detail: &mut [TermAt]) -> Point {
        let (lead, leader) = self.lead_at(d);
        let lead_density = if lead < UPPER { exp_nonpositive(-0.5 * lead * lead) } else { 0.0 };
        let mut squares = self.common_squares(d, lead, leader);
        let (mut product, mut ln_product, mut shares) = (1.0, 0.0, 0.0);
        let (mut slope, mut curvature) = (-self.rho_0 * (self.reference + d), self.rho_0);
        for (b, term) in self.terms.iter().enumerate() {
            let s = term.inv_sd;
            let z = term.z_at(d);
            let below = if term.z < 0.0 { term.z } else { 0.0 };
            // φ relative to the lead's, and Φ; in the lower tail φ itself goes into `squares`.
            let (hazard, share);
            if z < 0.0 {
                let ratio = mills(-z);
                let step = if term.z < 0.0 { d * s } else { z };
                squares += step * (z + below);
                product *= INV_SQRT_2PI * ratio;
                hazard = 1.0 / ratio;
                share = s * hazard;
            } else {
                squares -= below * below;
                let density = INV_SQRT_2PI * exp_nonpositive(-0.5 * (z - lead) * (z + lead));
                let upper = if z < UPPER { density * lead_density * mills(z) } else { 0.0 };
                let cdf = 1.0 - upper;
                product *= cdf;
                hazard = density * lead_density / cdf;
                share = s * (density / cdf);
            }
            if product < 1e-100 {
                ln_product += log(product);
                product = 1.0;
            }
            shares += share;
            // κ(z) = λ(λ+z) → 1 - 1/z² far down, where the sum would cancel.
            let excess = if z > -50.0 { hazard + z } else { -1.0 / z };
            let kappa = if z > -50.0 { hazard * excess } else { 1.0 };
            slope += s * hazard;
            curvature += s * s * kappa;
            detail[b] = TermAt { share, fall: s * excess, curvature: s * s * (1.0 - kappa) };
        }
        Point { exponent: -0.5 * squares + ln_product, product, shares, slope, curvature }
    }
}

/// What it takes to place nodes around a point.
struct Edge {
    /// Local width of the density, 1/√curvature; it only grows to the right.
    local_width: f64,
    /// Width of a panel that begins here.
    panel: f64,
    /// Whether a term matters here, and the greatest width of those that do.
    matters: bool,
    widest: f64,
    /// The least distances to the left and to the right at which a term could begin to matter; infinite if none can.
    next_left: f64,
    next_right: f64,
}

/// The greatest mass and the greatest second moment met so far, as logarithms, and where the latter was met.
///
/// Both count: a spike may hold all of the mass while a wide, faint shoulder makes all of the variance.
#[derive(Clone, Copy)]
struct Record {
    ln_mass: f64,
    ln_spread: f64,
    place: f64,
}

impl Record {
    fn new() -> Self {
        Self { ln_mass: f64::NEG_INFINITY, ln_spread: f64::NEG_INFINITY, place: 0.0 }
    }

    /// A density with this logarithm and this local width stands at d.
    fn note(&mut self, d: f64, ln_density: f64, width: f64) {
        let ln_width = ln_rough(width);
        self.ln_mass = self.ln_mass.max(ln_density + ln_width);
        if ln_density + 3.0 * ln_width > self.ln_spread {
            self.ln_spread = ln_density + 3.0 * ln_width;
            self.place = d;
        }
    }

    /// What a term of this width within `reach` of d must hold to matter, as its density's logarithm.
    fn threshold(&self, d: f64, reach: f64, width: f64, ln_width: f64) -> f64 {
        let distance = (d - self.place).abs() + reach;
        let by_spread = self.ln_spread - ln_rough(width * width + distance * distance);
        self.ln_mass.min(by_spread) - ln_width - NEGLIGIBLE
    }
}

/// A quadrature of the posterior.
#[derive(Default)]
pub(crate) struct Quadrature {
    pub posterior: Posterior,
    nodes: Nodes,
    detail: Vec<TermAt>,
    /// Exponent taken out of all nodes, and the sum of their weights.
    scale: (f64, f64),
}

impl Quadrature {
    /// Integrates over all of the posterior that matters.
    ///
    /// Where it has one scale, evenly spaced nodes from end to end converge faster than any panels: a step of h local
    /// widths leaves an error of e^{-2π²/h²}, and the first local width is the least.
    pub fn integrate(&mut self) {
        self.clear();
        let mut record = Record::new();
        let centre = self.edge(0.0, &mut record);
        let (hi, _) = self.end(FIRST_REACH * centre.widest, &mut record);
        let (lo, least_width) = self.end(-FIRST_REACH * centre.local_width, &mut record);
        let step = EVEN_STEP * least_width;
        let intervals = ((hi - lo) / step).ceil();
        if intervals <= EVEN_LIMIT {
            self.spread_evenly(lo, hi, intervals as usize + 1);
        } else {
            self.march(lo, hi, &mut record);
        }
    }

    /// Evenly spaced nodes from `lo` to `hi` (distances from the reference point).
    pub fn spread_evenly(&mut self, lo: f64, hi: f64, samples: usize) {
        self.clear();
        let step = (hi - lo) / (samples - 1) as f64;
        for i in 0..samples {
            self.nodes.push(lo + step * i as f64, step);
        }
        self.evaluate();
    }

    /// ln of the integral of the density, relative to the same constant as `Posterior::ln_density`.
    pub fn ln_integral(&self) -> f64 {
        self.scale.0 + log(self.scale.1)
    }

    /// Mean (as distance from the reference point) and variance.
    pub fn moments(&self) -> (f64, f64) {
        moments(self.nodes.weighted(&self.nodes.weight), self.scale.1)
    }

    /// For each term: its mass, mean (as distance from the reference point) and variance.
    pub fn term_moments(&mut self) -> Vec<(f64, f64, f64)> {
        let count = self.nodes.d.len();
        let mut weights = vec![0.0; self.detail.len() * count];
        for (i, (&d, &weight)) in self.nodes.d.iter().zip(&self.nodes.weight).enumerate() {
            self.posterior.shares(d, &mut self.detail);
            for (b, term) in self.detail.iter().enumerate() {
                weights[b * count + i] = weight * term.share;
            }
        }
        weights
            .chunks_exact(count)
            .map(|weights| {
                let total: f64 = weights.iter().sum();
                let (mean, var) =
                    if total > 0.0 { moments(self.nodes.weighted(weights), total) } else { (0.0, 0.0) };
                (total / self.scale.1, mean, var)
            })
            .collect()
    }

    fn clear(&mut self) {
        self.nodes.clear();
        self.detail.resize(self.posterior.terms.len(), TermAt::default());
    }

    /// The density at all nodes, whose weights it becomes part of; the greatest exponent is taken out.
    fn evaluate(&mut self) {
        self.nodes.evaluate(&self.posterior);
        let greatest = self.nodes.exponent.iter().fold(f64::NEG_INFINITY, |greatest, e| greatest.max(*e));
        let mut total = 0.0;
        for (weight, exponent) in self.nodes.weight.iter_mut().zip(&self.nodes.exponent) {
            *weight *= exp_nonpositive(exponent - greatest);
            total += *weight;
        }
        self.scale = (greatest, total);
    }

    /// The end of what matters on the side of d, from d on: beyond it every term is negligible and falls. Gives the
    /// local width there too.
    fn end(&mut self, mut d: f64, record: &mut Record) -> (f64, f64) {
        let side = d.signum();
        for _ in 0..100 {
            let edge = self.edge(d, record);
            let (outward, inward) = if side < 0.0 {
                (edge.next_left, edge.next_right)
            } else {
                (edge.next_right, edge.next_left)
            };
            if edge.matters || outward.is_finite() {
                d *= 2.0;
            } else if inward > 2.0 * edge.local_width && inward.is_finite() {
                d -= side * inward;
            } else {
                return (d, edge.local_width);
            }
        }
        (d, self.edge(d, record).local_width)
    }

    /// Panels from `lo` to `hi`, each as wide as the density allows where it begins.
    fn march(&mut self, lo: f64, hi: f64, record: &mut Record) {
        let mut d = lo;
        for _ in 0..MAX_PANELS {
            let edge = self.edge(d, record);
            if !edge.matters && edge.next_right > edge.panel {
                d += edge.next_right;
            } else {
                let (half, centre) = (0.5 * edge.panel, d + 0.5 * edge.panel);
                for (abscissa, weight) in GAUSS.iter().rev() {
                    self.nodes.push(centre - half * abscissa, half * weight);
                }
                for (abscissa, weight) in &GAUSS {
                    self.nodes.push(centre + half * abscissa, half * weight);
                }
                d += edge.panel;
            }
            if !(d < hi) {
                break;
            }
        }
        self.evaluate();
    }

    fn edge(&mut self, d: f64, record: &mut Record) -> Edge {
        let point = self.posterior.at(d, &mut self.detail);
        let (mut own, mut fall) = (0.0_f64, 0.0);
        for at in &self.detail {
            fall += at.share * at.fall;
            if at.share > 1e-12 * point.shares {
                own = own.max(at.curvature);
            }
        }
        let ln_common = point.exponent + ln_rough(point.product);
        let ln_density = ln_common + ln_rough(point.shares);
        let local_width = 1.0 / (point.curvature + own).sqrt();
        record.note(d, ln_density, local_width);
        let depth = record.threshold(d, 0.0, local_width, ln_rough(local_width)) + NEGLIGIBLE - ln_density;
        let panel = panel_width(local_width, point.slope - fall / point.shares, depth);
        let mut edge = Edge {
            local_width,
            panel,
            matters: false,
            widest: local_width,
            next_left: f64::INFINITY,
            next_right: f64::INFINITY,
        };
        for (term, at) in self.posterior.terms.iter().zip(&self.detail) {
            // A term lies below its tangent by at least ½ curvature · distance², with the curvature that it has here, to
            // the left, and with its least one, to the right. So its peak lies within `reach` and this much higher:
            let slope = point.slope - at.fall;
            let reach = if slope < 0.0 {
                -slope / (point.curvature + at.curvature)
            } else {
                slope * term.width * term.width
            };
            let ln_term = ln_common + ln_rough(at.share.max(f64::MIN_POSITIVE));
            let missing = record.threshold(d, reach, term.width, term.ln_width) - ln_term;
            if missing <= 0.0 {
                edge.matters = true;
                edge.widest = edge.widest.max(term.width);
            }
            if missing <= 0.5 * slope.abs() * reach {
                let next = if slope > 0.0 { &mut edge.next_right } else { &mut edge.next_left };
                *next = next.min(missing / slope.abs());
            }
        }
        edge
    }
}

/// How wide a panel may be, given the local width, the slope of ln G, and how deep G lies below its peak there.
///
/// Ten nodes integrate e^{±X u} to a relative error of X²¹ 10!⁴/(21·20!³), 5e-12 for X = 8. Where the density is e^-L
/// of its peak, X may be larger by e^{L/21}; a rising panel counts at its upper end.
fn panel_width(local_width: f64, slope: f64, depth: f64) -> f64 {
    let depth = if slope > 0.0 { depth - STEEP } else { depth };
    // e^{L/21} from below, without an exponential.
    let relief = 1.0 + (depth / 21.0).clamp(0.0, 3.0);
    let steepest = STEEP * relief;
    (PANEL * local_width).min(steepest / slope.abs())
}

/// Mean and variance of weighted points, the variance about the mean.
fn moments(points: impl Iterator<Item = (f64, f64)> + Clone, total: f64) -> (f64, f64) {
    let mean = points.clone().map(|(x, weight)| weight * x).sum::<f64>() / total;
    let var = points.map(|(x, weight)| weight * (x - mean) * (x - mean)).sum::<f64>() / total;
    (mean, var)
}

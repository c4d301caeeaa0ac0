//! Integrals of the exact posterior, at every scale.
//!
//! Each term of the posterior is log-concave, and the curvature of ln Φ only falls from left to right. So the ends of
//! what matters can be found by tangents, which bound a term from above; between them the local width of the density
//! only grows to the right. Where it grows little, evenly spaced nodes do; else panels of Gauss-Legendre nodes, a fixed number
//! of local widths each, follow it from left to right over any number of scales.

use super::nodes::Nodes;
use super::posterior::{Posterior, TermAt};
use crate::exponential::{exp_nonpositive, ln_rough};
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
const MAX_PANELS: usize = 1_000;

/// Positive abscissae and weights of the Gauss-Legendre rule with ten nodes on [-1, 1].
const GAUSS: [(f64, f64); 5] = [
    (0.148_874_338_981_631_2, 0.295_524_224_714_752_9),
    (0.433_395_394_129_247_2, 0.269_266_719_309_996_35),
    (0.679_409_568_299_024_4, 0.219_086_362_515_982_04),
    (0.865_063_366_688_984_5, 0.149_451_349_150_580_6),
    (0.973_906_528_517_171_7, 0.066_671_344_308_688_14),
];

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

    /// Mean (as distance from the reference point) and variance; none if the inputs were beyond double precision.
    pub fn moments(&self) -> Option<(f64, f64)> {
        let (mean, var) = self.raw_moments();
        (mean.is_finite() && var > 0.0).then_some((mean, var))
    }

    /// The same, whatever comes out: the variance is 0 where one node has all of the mass.
    pub fn raw_moments(&self) -> (f64, f64) {
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
            if d >= hi || d.is_nan() {
                break;
            }
        }
        self.evaluate();
    }

    fn edge(&mut self, d: f64, record: &mut Record) -> Edge {
        let point = self.posterior.at(d, &mut self.detail);
        let (mut own, mut slopes) = (0.0_f64, 0.0);
        for at in &self.detail {
            if at.share > 1e-12 * point.shares {
                own = own.max(at.curvature);
                slopes += at.share * at.slope;
            }
        }
        let ln_common = point.exponent + ln_rough(point.product);
        let ln_density = ln_common + ln_rough(point.shares);
        let local_width = 1.0 / (point.curvature + own).sqrt();
        record.note(d, ln_density, local_width);
        let depth = record.threshold(d, 0.0, local_width, ln_rough(local_width)) + NEGLIGIBLE - ln_density;
        let panel = panel_width(local_width, point.slope + slopes / point.shares, depth);
        let mut edge = Edge {
            local_width,
            panel,
            matters: false,
            widest: local_width,
            next_left: f64::INFINITY,
            next_right: f64::INFINITY,
        };
        for (term, at) in self.posterior.terms.iter().zip(&self.detail).filter(|(term, _)| term.relevant) {
            // A term lies below its tangent by at least ½ curvature · distance², with the curvature that it has here, to
            // the left, and with its least one, to the right. So its peak lies within `reach` and this much higher:
            let slope = point.slope + at.slope;
            let reach = if slope < 0.0 {
                -slope / (point.curvature + at.curvature)
            } else {
                slope * term.width * term.width
            };
            let missing = record.threshold(d, reach, term.width, term.ln_width) - (ln_common + at.ln_share);
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

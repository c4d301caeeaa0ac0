//! True moment matching: mean and variance of the paper's Eq. posterior, for any number of actions.
//!
//! The paper knows a closed form for |A| = 2 (App. C) and none beyond; its second moment cancels at small
//! variances. Here |A| = 2 has a closed form that does not, and |A| > 2 is integrated by the quadrature of
//! `posterior`, placed on the log-concave terms themselves, so it is as good at a variance of 1e-10 as at 1.

use super::noise::Reduction;
use super::problem::{Shape, Target};
use super::{
    Component, Components, Moments, Noise, Problem, Quadrature, Rule, RuleKind, Transition, Update,
    Workspace, analytic,
};
use crate::normal::{Truncation, cdf, mills, pdf};
use crate::{Belief, Error, Result};
use libm::exp;

/// The posterior belief by exact moment matching. Relative accuracy about 1e-9, up to the problem's own condition.
///
/// ```
/// use adfq::update::{exact, Next, Noise, Transition};
/// use adfq::Belief;
///
/// // The maximum of two identical standard normals has mean 1/√π, and a vague prior leaves it there.
/// let next = [Belief::new(0.0, 1.0)?; 2];
/// let transition = Transition::new(Belief::new(0.0, 1e12)?, 0.0, 1.0, Next::Beliefs(&next))?;
/// let posterior = exact::update(&transition, Noise::None)?;
/// assert!((posterior.mean() - 0.5641895835).abs() < 1e-9);
/// # Ok::<(), adfq::Error>(())
/// ```
///
/// Approximate noise is an error: exact noise costs this rule nothing.
pub fn update(transition: &Transition, noise: Noise) -> Result<Belief> {
    Update::bare(Rule::Exact).apply(transition, noise)
}

/// Mean, variance and mass of each next action's term of the posterior. Under noise they describe q, not T.
pub fn components(transition: &Transition, noise: Noise) -> Result<Components> {
    let mut workspace = Workspace::default();
    workspace.problem.load(transition)?;
    let moments = solve(&mut workspace, noise)?;
    if matches!(workspace.problem.shape, Shape::Gaussian { .. }) {
        return Ok(Components::single(moments));
    }
    let reduction = Reduction::new(transition.prior(), noise.var());
    integrate(&mut workspace, 1.0 / reduction.widened()?.var());
    if workspace.quadrature.moments().is_none() {
        return analytic::components(transition, noise);
    }
    Ok(term_components(&workspace.problem, &mut workspace.quadrature, reduction))
}

/// The terms of a quadrature as components, in the order of the actions.
pub(crate) fn term_components(
    problem: &Problem,
    quadrature: &mut Quadrature,
    reduction: Reduction,
) -> Components {
    let origin = problem.prior.mean() + quadrature.posterior.reference();
    let mut components = vec![Component { mean: 0.0, var: 0.0, weight: 0.0 }; problem.targets.len()];
    for (target, (weight, mean, var)) in problem.targets.iter().zip(quadrature.term_moments()) {
        let Moments { mean, var } = reduction.narrow(Moments { mean: origin + mean, var });
        components[target.action as usize] = Component { mean, var, weight };
    }
    Components::new(components)
}

/// The update of a problem that has been loaded.
#[inline]
pub(crate) fn solve(workspace: &mut Workspace, noise: Noise) -> Result<Moments> {
    let w = noise.checked_var()?;
    if let Noise::Approximate(_) = noise {
        return Err(Error::NoiseUnsupported { rule: RuleKind::Exact, noise: noise.kind() });
    }
    if let Shape::Gaussian { y, t } = workspace.problem.shape {
        return workspace.problem.gaussian_product(y, t + w);
    }
    workspace.problem.sort();
    let reduction = Reduction::new(workspace.problem.prior, w);
    let widened = reduction.widened()?;
    let of_t = match workspace.problem.targets.as_slice() {
        [first, second] => two_actions(widened, first, second),
        _ => integrate(workspace, 1.0 / widened.var()),
    };
    Ok(reduction.narrow(of_t))
}

/// A component of the analytic update this far below the highest (in natural logarithms), and further for every
/// action, whose Φ may differ from Lemma 1's by so much, has no part in the exact posterior either.
const IRRELEVANT: (f64, f64) = (1000.0, 50.0);

/// Points the quadrature at this problem, seen from the highest peak of its analytic update; returns that update.
pub(crate) fn set_posterior(
    problem: &Problem,
    rho_0: f64,
    scratch: &mut analytic::Scratch,
    quadrature: &mut Quadrature,
) -> Moments {
    let approximation = analytic::solve_maximum(problem, rho_0, 0.0, scratch);
    let highest = scratch.peaks.iter().fold(f64::NEG_INFINITY, |highest, peak| peak.height.max(highest));
    let least = highest - IRRELEVANT.0 - IRRELEVANT.1 * problem.targets.len() as f64;
    let relevant = |b: usize| scratch.peaks[b].height >= least;
    quadrature.posterior.set(&problem.targets, relevant, rho_0, scratch.heaviest_peak());
    approximation
}

/// Any number of actions, by quadrature. Where the inputs are beyond double precision (means of 1e12 beside standard
/// deviations of 1e-12) the peaks are so far apart that one is all there is, and the analytic update has it.
pub(crate) fn integrate(workspace: &mut Workspace, rho_0: f64) -> Moments {
    let Workspace { problem, analytic, quadrature } = workspace;
    let approximation = set_posterior(problem, rho_0, analytic, quadrature);
    quadrature.integrate();
    let origin = problem.prior.mean();
    let reference = quadrature.posterior.reference();
    quadrature
        .moments()
        .map_or(approximation, |(mean, var)| Moments { mean: origin + (reference + mean), var })
}

/// One of the two terms of the posterior for |A| = 2: a Gaussian N(μ̄, σ̄²), the prior times b's own target, under
/// the soft threshold Φ of the other target.
struct Truncated {
    /// ζ = (μ̄ - y_other) / s with s² = σ̄² + t_other; the term's mass is c·Φ(ζ).
    zeta: f64,
    /// Mean and variance of the term.
    mean: f64,
    var: f64,
}

impl Truncated {
    fn new(v_0: f64, own: &Target, other: &Target) -> Self {
        let gain = v_0 / (v_0 + own.t);
        let (mean, var) = (gain * own.y, gain * own.t);
        let s2 = var + other.t;
        let s = s2.sqrt();
        let zeta = (mean - other.y) / s;
        let cut = Truncation::at(zeta);
        let share = var / s2;
        // μ̄ + σ̄²/s λ(ζ); below the threshold, from the product of all three Gaussians instead, which lies close.
        let mean = if zeta < 0.0 {
            mean + share * (other.y - mean) + var / s * cut.excess
        } else {
            mean + var / s * cut.hazard
        };
        // σ̄² (1 - σ̄²/s² κ), with 1 - (1-t/s²)(1-slack) written as a sum of positive terms.
        Self { zeta, mean, var: var * (other.t / s2 + share * cut.slack) }
    }
}

/// The closed form of App. C for |A| = 2.
fn two_actions(prior: Belief, first: &Target, second: &Target) -> Moments {
    let v_0 = prior.var();
    let (a, b) = (Truncated::new(v_0, first, second), Truncated::new(v_0, second, first));
    let (v_a, v_b) = (v_0 + first.t, v_0 + second.t);
    let area = (v_b / v_a).sqrt();
    // Odds of the first term: c_a Φ(ζ_a) / (c_b Φ(ζ_b)). Below its threshold c Φ(ζ) holds the product of all
    // three Gaussians, the same in both terms; it is cancelled by hand in every case.
    let odds = match (a.zeta < 0.0, b.zeta < 0.0) {
        (true, true) => area * (mills(-a.zeta) / mills(-b.zeta)),
        (true, false) => area * pdf(b.zeta) * mills(-a.zeta) / cdf(b.zeta),
        (false, true) => area * cdf(a.zeta) / (pdf(a.zeta) * mills(-b.zeta)),
        (false, false) => {
            let exponent = 0.5 * (second.y * second.y / v_b - first.y * first.y / v_a);
            area * exp(exponent) * (cdf(a.zeta) / cdf(b.zeta))
        }
    };
    let (w_a, w_b) = (1.0 / (1.0 + 1.0 / odds), 1.0 / (1.0 + odds));
    let gap = a.mean - b.mean;
    Moments {
        mean: prior.mean() + (b.mean + w_a * gap),
        var: w_a * a.var + w_b * b.var + w_a * w_b * gap * gap,
    }
}

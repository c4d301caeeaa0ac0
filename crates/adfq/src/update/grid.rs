//! The paper's ADFQ-Numeric: moments from evenly spaced samples of the posterior density.
//!
//! Kept because the paper's Fig. rmse compares with it. It is inferior to [`exact`](super::exact) in every way: an
//! even grid over the prior and all targets misses whatever is narrower than its spacing, so as the variances
//! shrink, the posterior falls between two samples and the belief collapses onto one of them.

use super::exact::{set_posterior, term_components};
use super::noise::Reduction;
use super::problem::Shape;
use super::{Components, Moments, Noise, Rule, RuleKind, Transition, Update, Workspace};
use crate::{Belief, Error, Result};

/// More samples than any posterior needs: they take 80 MB.
const MOST_SAMPLES: usize = 10_000_000;

/// An even grid of `samples` points that reaches `reach` standard deviations beyond the prior and every target.
///
/// ```
/// use adfq::update::Grid;
///
/// assert_eq!(Grid::default(), Grid::new(1000, 5.0)?);
/// assert!(Grid::new(1, 5.0).is_err());
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    samples: usize,
    reach: f64,
}

impl Grid {
    /// A grid with two to ten million samples and a positive, finite reach.
    pub fn new(samples: usize, reach: f64) -> Result<Self> {
        if !((2..=MOST_SAMPLES).contains(&samples) && reach > 0.0 && reach.is_finite()) {
            return Err(Error::Grid { samples, reach });
        }
        Ok(Self { samples, reach })
    }

    /// Number of samples.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// Reach beyond the outermost means, in standard deviations.
    pub fn reach(&self) -> f64 {
        self.reach
    }
}

impl Default for Grid {
    /// 1000 samples over ±5 standard deviations. The paper gives no numbers.
    fn default() -> Self {
        Self { samples: 1000, reach: 5.0 }
    }
}

/// The posterior belief from an even grid.
///
/// ```
/// use adfq::update::{exact, grid, Grid, Next, Noise, Transition};
/// use adfq::Belief;
///
/// let next = [Belief::new(1.0, 1.0)?, Belief::new(2.0, 4.0)?, Belief::new(0.0, 2.0)?];
/// let transition = Transition::new(Belief::new(0.0, 1.0)?, 0.5, 0.9, Next::Beliefs(&next))?;
/// let (even, exact) = (grid::update(&transition, Noise::None, &Grid::default())?, exact::update(&transition, Noise::None)?);
/// assert!((even.mean() - exact.mean()).abs() < 1e-6);
/// # Ok::<(), adfq::Error>(())
/// ```
///
/// Approximate noise is an error, as for the exact rule. Where the posterior falls between two samples the variance
/// comes out as the least positive number: use a floor.
pub fn update(transition: &Transition, noise: Noise, grid: &Grid) -> Result<Belief> {
    Update::bare(Rule::Grid(*grid)).apply(transition, noise)
}

/// Mean, variance and mass of each next action's term of the posterior, from an even grid.
pub fn components(transition: &Transition, noise: Noise, grid: &Grid) -> Result<Components> {
    let mut workspace = Workspace::default();
    workspace.problem.load(transition)?;
    let moments = solve(&mut workspace, noise, grid)?;
    if matches!(workspace.problem.shape, Shape::Gaussian { .. }) {
        return Ok(Components::single(moments));
    }
    let reduction = Reduction::new(transition.prior(), noise.var());
    Ok(term_components(&workspace.problem, &mut workspace.quadrature, reduction))
}

/// The update of a problem that has been loaded.
pub(crate) fn solve(workspace: &mut Workspace, noise: Noise, grid: &Grid) -> Result<Moments> {
    let w = noise.checked_var()?;
    if let Noise::Approximate(_) = noise {
        return Err(Error::NoiseUnsupported { rule: RuleKind::Grid, noise: noise.kind() });
    }
    let Workspace { problem, analytic, quadrature } = workspace;
    if let Shape::Gaussian { y, t } = problem.shape {
        return problem.gaussian_product(y, t + w);
    }
    problem.sort();
    let reduction = Reduction::new(problem.prior, w);
    let widened = reduction.widened()?;
    set_posterior(problem, 1.0 / widened.var(), analytic, quadrature);
    let reference = quadrature.posterior.reference();
    let far = grid.reach * widened.sd();
    let (lo, hi) = problem.targets.iter().fold((-far, far), |(lo, hi), target| {
        let far = grid.reach * target.t.sqrt();
        (lo.min(target.y - far), hi.max(target.y + far))
    });
    quadrature.spread_evenly(lo - reference, hi - reference, grid.samples);
    let (mean, var) = quadrature.raw_moments();
    let of_t = Moments { mean: problem.prior.mean() + (reference + mean), var };
    let Moments { mean, var } = reduction.narrow(of_t);
    Ok(Moments { mean, var: var.max(f64::MIN_POSITIVE) })
}

//! The posterior as a mixture with one component for each next action, for whoever wants to look inside.

use super::Moments;

/// The part of the posterior that belongs to one next action b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Component {
    /// μ*_{τ,b}: where this part lies.
    pub mean: f64,
    /// σ*²_{τ,b}: its variance.
    pub var: f64,
    /// w*_{τ,b}: its share of the posterior; all shares add to 1.
    pub weight: f64,
}

impl Component {
    /// σ*_{τ,b}.
    pub fn sd(&self) -> f64 {
        self.var.sqrt()
    }
}

/// All components of a posterior, in the order of the next actions (a terminal has one).
///
/// Under the analytic rule they are the Gaussians of the paper's Eq. peak to magnitude; under the exact and the
/// grid rule, mean, variance and mass of the terms of Eq. posterior, which are not Gaussian.
///
/// ```
/// use adfq::update::{analytic, Next, Noise, Transition};
/// use adfq::Belief;
///
/// let next = [Belief::new(1.0, 1.0)?, Belief::new(3.0, 1.0)?];
/// let transition = Transition::new(Belief::new(0.0, 1.0)?, 0.0, 1.0, Next::Beliefs(&next))?;
/// let components = analytic::components(&transition, Noise::None)?;
/// assert!(components.as_slice()[1].weight > components.as_slice()[0].weight);
/// assert!((components.mean() - analytic::update(&transition, Noise::None)?.mean()).abs() < 1e-14);
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Components(Vec<Component>);

impl Components {
    pub(crate) fn new(components: Vec<Component>) -> Self {
        Self(components)
    }

    /// A posterior that is one Gaussian.
    pub(crate) fn single(moments: Moments) -> Self {
        Self(vec![Component { mean: moments.mean, var: moments.var, weight: 1.0 }])
    }

    /// The components, one for each next action.
    pub fn as_slice(&self) -> &[Component] {
        &self.0
    }

    /// Mean of the mixture, Σ w*_b μ*_b.
    pub fn mean(&self) -> f64 {
        let origin = self.0[0].mean;
        origin + self.0.iter().map(|c| c.weight * (c.mean - origin)).sum::<f64>()
    }

    /// Variance of the mixture, Σ w*_b (σ*²_b + (μ*_b - E)²): the form that does not cancel.
    pub fn var(&self) -> f64 {
        let mean = self.mean();
        self.0.iter().map(|c| c.weight * (c.var + (c.mean - mean).powi(2))).sum()
    }
}

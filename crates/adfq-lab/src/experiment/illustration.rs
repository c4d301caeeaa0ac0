//! Fig. illustration of the paper (§3.1): one belief update with three next actions, factor by factor, and what the
//! exact and the analytic rule make of it. Numbers and claims are here, the drawing is in `panels`.

mod panels;

use super::picture::{computed, numbers, target};
use super::{Findings, Job, Plan, Stop, Task};
use crate::Result;
use crate::cache::Cache;
use crate::report::Section;
use crate::table::Table;
use crate::verdict::Direction;
use adfq::Belief;
use adfq::density::{Factors, MixtureDensity, PosteriorDensity};
use adfq::update::{Component, Next, Noise, Transition, exact};

/// The numbers of the paper's caption: the prior, r, γ, and the beliefs of the three next actions.
const PRIOR: (f64, f64) = (0.0, 1.0);
const REWARD: f64 = 0.0;
const DISCOUNT: f64 = 0.9;
const NEXT: [(f64, f64); 3] = [(-2.0, 2.0), (-2.0, 0.5), (4.5, 0.5)];

/// The experiment. It has nothing to sample, so it has no units either.
pub struct Illustration;

impl Illustration {
    /// The experiment, whatever the plan.
    pub fn prepare(_plan: &Plan, _domains: &[&'static str]) -> Box<dyn Job> {
        Box::new(Self)
    }
}

impl Job for Illustration {
    fn tasks(&self) -> Vec<Task<'_>> {
        Vec::new()
    }

    fn findings(&self, _cache: &Cache, _stop: &Stop) -> Result<Findings> {
        let scene = Scene::new()?;
        let (factors, update) = (scene.factors(), scene.update());
        let (factor_numbers, update_numbers) = (numbers(&factors)?, numbers(&update)?);
        Ok(Findings::new(scene.section()?)
            .figure("update", update)
            .figure("illustration", factors)
            .data("update", update_numbers)
            .data("illustration", factor_numbers))
    }
}

/// One next action b, and what the update makes of it.
struct Action {
    target: Belief,
    /// The product of prior and target, N(μ̄, σ̄²).
    product: Belief,
    /// δ, the TD error, and what the weight takes it to be drawn from: N(0, σ² + γ²σ′²).
    error: f64,
    error_belief: Belief,
    factors: Factors,
    /// Mean, variance and mass of its term of the exact posterior.
    exact: Component,
    /// Its component of the analytic mixture.
    analytic: Component,
}

/// The update of the figure.
struct Scene {
    prior: Belief,
    actions: Vec<Action>,
    posterior: PosteriorDensity,
    mixture: MixtureDensity,
    /// The Gaussians that exact and analytic ADF keep.
    exact: Belief,
    analytic: Belief,
}

impl Scene {
    fn new() -> Result<Self> {
        let prior = Belief::new(PRIOR.0, PRIOR.1)?;
        let next =
            NEXT.iter().map(|&(mean, var)| Belief::new(mean, var)).collect::<adfq::Result<Vec<_>>>()?;
        let transition = Transition::new(prior, REWARD, DISCOUNT, Next::Beliefs(&next))?;
        let (posterior, mixture) =
            (PosteriorDensity::new(&transition)?, MixtureDensity::new(&transition, Noise::None)?);
        let terms = exact::components(&transition, Noise::None)?;
        let mut actions = Vec::new();
        for (b, factors) in Factors::all(&transition)?.into_iter().enumerate() {
            let target = target(REWARD, DISCOUNT, next[b])?;
            actions.push(Action {
                product: product(prior, target)?,
                error: target.mean() - prior.mean(),
                error_belief: Belief::new(0.0, prior.var() + target.var())?,
                target,
                factors,
                exact: terms.as_slice()[b],
                analytic: mixture.components().as_slice()[b],
            });
        }
        let exact = posterior.matched()?;
        let analytic = Belief::new(mixture.components().mean(), mixture.components().var())?;
        Ok(Self { prior, actions, posterior, mixture, exact, analytic })
    }

    /// How far the analytic mean lies above the exact one, in standard deviations of the exact posterior.
    fn shift(&self) -> f64 {
        (self.analytic.mean() - self.exact.mean()) / self.exact.sd()
    }

    fn section(&self) -> Result<Section> {
        let prose = format!(
            "The paper's example of an update: γ = {DISCOUNT}, r = {REWARD}, the prior N(0, 1), and three next actions \
             with beliefs N(−2, 2), N(−2, 0.5) and N(4.5, 0.5). Each column is a next action b. Its term of the \
             posterior is the product of three factors: a Gaussian between prior and target (first row), a weight by \
             TD error (second), and the probability that no other action is better (third, with a dot at the \
             posterior mean, {:.2}). The last row shows their sum; its logarithmic panels also show the terms that \
             are too small for the third.",
            self.exact.mean()
        );
        let surprise = "The text says that the TD errors of (a) and (b) are larger than that of (c). By the numbers \
                        of its caption it is the other way round, 1.8 against 4.05 in size. So (c) has the \
                        smallest weight c by far, and yet nearly all of the posterior: the soft-max factor overrules \
                        the TD error.";
        let side = if self.shift() < 0.0 { "lower" } else { "higher" };
        let result = format!(
            "Exact moments keep N({:.4}, {:.4}), the analytic rule N({:.4}, {:.4}): its mean is {:.4} standard \
             deviations {side}. An example with one clear winner is easy for it.",
            self.exact.mean(),
            self.exact.var(),
            self.analytic.mean(),
            self.analytic.var(),
            self.shift().abs(),
        );
        let section = Section::new("Fig. illustration: one belief update")
            .paragraph(prose)
            .paragraph(surprise)
            .paragraph(result);
        Ok(self.claims(section).table("The three next actions", self.table()?))
    }

    fn claims(&self, section: Section) -> Section {
        let [a, b, c] = [&self.actions[0], &self.actions[1], &self.actions[2]];
        let gap = |action: &Action| (action.product.mean() - action.target.mean()).abs();
        let soft_max = |action: &Action| action.factors.soft_max(self.exact.mean());
        section
            .claim(computed(
                "The more certain a target, the closer the product of prior and target is to it",
                "distance of the product's mean from the target's, (b) − (a)",
                Direction::Less,
                gap(b) - gap(a),
            ))
            .claim(computed(
                "The TD errors of (a) and (b) are larger than that of (c), as the paper's text has it",
                "size of the TD error, (b) − (c)",
                Direction::Greater,
                b.error.abs() - c.error.abs(),
            ))
            .claim(computed(
                "Of two equally certain targets, that with the smaller TD error has the larger weight c",
                "share of c, (b) − (c)",
                Direction::Greater,
                b.factors.weight() - c.factors.weight(),
            ))
            .claim(computed(
                "A next action with a smaller TD error contributes more to the update",
                "mass of the exact term, (b) − (c)",
                Direction::Greater,
                b.exact.weight - c.exact.weight,
            ))
            .claim(computed(
                "The soft-max factor is largest for the next action with the largest mean",
                "factor at the posterior mean, (c) − larger of (a) and (b)",
                Direction::Greater,
                soft_max(c) - soft_max(a).max(soft_max(b)),
            ))
            .claim(computed(
                "Ours: the analytic mean is within a tenth of a standard deviation of the exact one",
                "distance of the means in exact standard deviations − 0.1",
                Direction::Less,
                self.shift().abs() - 0.1,
            ))
    }

    fn table(&self) -> Result<Table> {
        let mut table = Table::new([
            "b",
            "target mean",
            "target variance",
            "TD error",
            "product mean",
            "product variance",
            "share of c",
            "soft-max at posterior mean",
            "mass, exact",
            "w*, analytic",
        ]);
        for (b, action) in self.actions.iter().enumerate() {
            let Action { target, product, error, factors, exact, analytic, .. } = action;
            let values = [
                target.mean(),
                target.var(),
                *error,
                product.mean(),
                product.var(),
                factors.weight(),
                factors.soft_max(self.exact.mean()),
                exact.weight,
                analytic.weight,
            ];
            table.push(std::iter::once((b + 1).into()).chain(values.map(Into::into)))?;
        }
        Ok(table)
    }
}

/// The normalised product of two Gaussians (Eq. mean_var_bar): what an update with a terminal target does.
fn product(prior: Belief, target: Belief) -> Result<Belief> {
    let next = Next::Terminal { target_var: target.var() };
    Ok(exact::update(&Transition::new(prior, target.mean(), DISCOUNT, next)?, Noise::None)?)
}

#[cfg(test)]
mod tests;

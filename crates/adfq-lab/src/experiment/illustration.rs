//! Fig. illustration of the paper (§3.1): one belief update with three next actions, factor by factor, and what the
//! exact and the analytic rule make of it. The figure `update` shows the whole update in one panel.

use super::picture::{computed, curve, gaussian, numbers, target};
use super::{Findings, Job, Plan, Stop, Task};
use crate::Result;
use crate::cache::Cache;
use crate::plot::{Anchor, Area, Axis, Color, Dash, Figure, Line, Markers, Note, Panel};
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

/// What the panels show of q and of δ.
const RANGE: (f64, f64) = (-5.5, 6.5);

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
    /// δ, the TD error.
    error: f64,
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

    /// The paper's three rows, and a fourth with what comes out.
    fn factors(&self) -> Figure {
        let names = ["(a) b = 1", "(b) b = 2", "(c) b = 3"];
        let named = || names.iter().zip(&self.actions);
        let mut figure =
            Figure::new("One belief update, factor by factor").columns(3).panel_size(310.0, 220.0);
        for (name, action) in named() {
            figure = figure.panel(self.product_panel(name, action));
        }
        for (name, action) in named() {
            figure = figure.panel(self.weight_panel(name, action));
        }
        for (name, action) in named() {
            figure = figure.panel(self.term_panel(name, action));
        }
        figure.panel(self.sum_panel()).panel(self.mixture_panel()).panel(self.matched_panel())
    }

    /// First row: prior, target and their product.
    fn product_panel(&self, name: &str, action: &Action) -> Panel {
        density_panel(format!("{name}: prior × target"), 0.8)
            .layer(Area::new("prior × target", curve(RANGE, gaussian(action.product))).color(Color::Blue))
            .layer(Line::new("prior", curve(RANGE, gaussian(self.prior))).color(Color::Green))
            .layer(
                Line::new("target r + γQ(s′,b)", curve(RANGE, gaussian(action.target)))
                    .color(Color::Orange)
                    .dash(Dash::Dashed),
            )
    }

    /// Second row: the weight as a function of the TD error, and its value here.
    fn weight_panel(&self, name: &str, action: &Action) -> Panel {
        // c is the density of δ under N(0, σ² + γ²σ′²).
        let spread = Belief::new(0.0, self.prior.var() + action.target.var()).map(gaussian);
        let (error, y) = (Axis::linear("TD error δ").from(RANGE.0).to(RANGE.1), Axis::linear("weight c"));
        let panel = Panel::new(format!("{name}: weight by TD error"), error, y.from(0.0).to(0.38));
        let Ok(weight) = spread else { return panel };
        let here = (action.error, weight(action.error));
        let share = format!("{:.1} % of all", 100.0 * action.factors.weight());
        panel
            .layer(Line::new("weight c by TD error", curve(RANGE, &weight)).color(Color::Purple))
            .layer(Markers::new("c of this action", [here]).color(Color::Black))
            .layer(Note::new(share, here.0, here.1 + 0.025).anchor(Anchor::Middle))
    }

    /// Third row: the soft maximum and the whole term.
    fn term_panel(&self, name: &str, action: &Action) -> Panel {
        let Action { factors, .. } = action;
        let q = self.exact.mean();
        let here = (q, factors.soft_max(q));
        density_panel(format!("{name}: soft-max and term"), 1.1)
            .layer(Area::new("term of the posterior", curve(RANGE, |q| factors.term(q))).color(Color::Sky))
            .layer(
                Line::new("product of the others' CDFs", curve(RANGE, |q| factors.soft_max(q)))
                    .color(Color::Vermillion),
            )
            .layer(Markers::new("it, at the posterior mean", [here]).color(Color::Vermillion))
    }

    /// Fourth row, left: the terms add to the posterior.
    fn sum_panel(&self) -> Panel {
        let panel = density_panel("(d) the terms' sum", 0.8).layer(self.posterior_area());
        let terms = self.actions.iter().map(|action| curve(RANGE, |q| action.factors.term(q)));
        terms.fold(panel, |panel, term| {
            panel.layer(Line::new("term of the posterior", term).color(Color::Sky).dash(Dash::Dotted))
        })
    }

    /// Fourth row, middle: the paper's approximation of the posterior.
    fn mixture_panel(&self) -> Panel {
        density_panel("(e) its analytic approximation", 0.8)
            .layer(self.posterior_area())
            .layer(self.mixture_line())
    }

    /// Fourth row, right: what is kept.
    fn matched_panel(&self) -> Panel {
        density_panel("(f) the Gaussians that are kept", 0.8)
            .layer(self.posterior_area())
            .layer(Line::new("ADF, exact moments", curve(RANGE, gaussian(self.exact))).color(Color::Black))
            .layer(
                Line::new("ADF, analytic", curve(RANGE, gaussian(self.analytic)))
                    .color(Color::Vermillion)
                    .dash(Dash::DashDot),
            )
    }

    /// The whole update in one panel.
    fn update(&self) -> Figure {
        let mut panel = density_panel("", 0.72).layer(self.posterior_area());
        for action in &self.actions {
            let density = curve(RANGE, gaussian(action.target));
            panel = panel
                .layer(Line::new("targets r + γQ(s′,b)", density).color(Color::Orange).dash(Dash::Dotted));
        }
        let panel = panel
            .layer(Line::new("prior", curve(RANGE, gaussian(self.prior))).color(Color::Green))
            .layer(self.mixture_line());
        Figure::new("One update of the belief over Q(s,a)").panel_size(560.0, 300.0).panel(panel)
    }

    fn posterior_area(&self) -> Area {
        Area::new("exact posterior", curve(RANGE, |q| self.posterior.pdf(q))).color(Color::Blue)
    }

    fn mixture_line(&self) -> Line {
        let mixture = curve(RANGE, |q| self.mixture.pdf(q));
        Line::new("analytic mixture", mixture).color(Color::Vermillion).dash(Dash::Dashed)
    }

    fn section(&self) -> Result<Section> {
        let prose = format!(
            "The paper's example of an update: γ = {DISCOUNT}, r = {REWARD}, the prior N(0, 1), and three next actions \
             with beliefs N(−2, 2), N(−2, 0.5) and N(4.5, 0.5). Each column is a next action b. Its term of the \
             posterior is the product of the three rows above the last: a Gaussian between prior and target, a weight \
             by TD error, and the probability that no other action is better. The dots mark the soft-max factor at \
             the posterior mean, {:.2}.",
            self.exact.mean()
        );
        let result = format!(
            "Exact moments keep N({:.3}, {:.3}), the analytic rule N({:.3}, {:.3}): its mean is {:+.2} standard \
             deviations off.",
            self.exact.mean(),
            self.exact.var(),
            self.analytic.mean(),
            self.analytic.var(),
            self.shift(),
        );
        let section = Section::new("Fig. illustration: one belief update").paragraph(prose).paragraph(result);
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
            let Action { target, product, error, factors, exact, analytic } = action;
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

/// A panel for densities of q up to `high`.
fn density_panel(title: impl Into<String>, high: f64) -> Panel {
    let x = Axis::linear("q").from(RANGE.0).to(RANGE.1);
    Panel::new(title, x, Axis::linear("density").from(0.0).to(high))
}

/// The normalised product of two Gaussians (Eq. mean_var_bar): what an update with a terminal target does.
fn product(prior: Belief, target: Belief) -> Result<Belief> {
    let next = Next::Terminal { target_var: target.var() };
    Ok(exact::update(&Transition::new(prior, target.mean(), DISCOUNT, next)?, Noise::None)?)
}

//! Fig. illustration of the paper (§3.1): one belief update with three next actions, factor by factor, and what the
//! exact and the analytic rule make of it.

use super::picture::{Picture, computed, curve, gaussian, numbers, target};
use crate::Result;
use crate::experiment::{Findings, Job, Plan};
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

/// The experiment, whatever the plan.
pub fn prepare(_plan: &Plan, _domains: &[&'static str]) -> Box<dyn Job> {
    Box::new(Picture(findings))
}

fn findings() -> Result<Findings> {
    let scene = Scene::new()?;
    let (factors, update) = (scene.factors(), scene.update());
    let (factor_numbers, update_numbers) = (numbers(&factors)?, numbers(&update)?);
    Ok(Findings::new(scene.section()?)
        .figure("update", update)
        .figure("illustration", factors)
        .data("update", update_numbers)
        .data("illustration", factor_numbers))
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

/// What the panels show of q and of δ.
const RANGE: (f64, f64) = (-5.5, 6.5);
/// The highest density of all curves is just below.
const HIGH: f64 = 0.8;
/// What the logarithmic panels show.
const LOG_RANGE: (f64, f64) = (1e-14, 10.0);

impl Scene {
    /// The whole update in one panel.
    fn update(&self) -> Figure {
        let mut panel = density_panel("", HIGH)
            .layer(Line::new("prior", curve(RANGE, gaussian(self.prior))).color(Color::Green));
        for action in &self.actions {
            let density = curve(RANGE, gaussian(action.target));
            panel = panel.layer(Line::new("targets r + γQ(s′,b)", density).color(Color::Orange).thin());
        }
        panel = panel.layer(self.posterior_area()).layer(self.mixture_line());
        for (b, action) in self.actions.iter().enumerate() {
            let (q, height) = (action.target.mean(), gaussian(action.target)(action.target.mean()));
            let note = Note::new(format!("b = {}", b + 1), q, height + 0.015);
            panel = panel.layer(note.anchor(Anchor::Middle).color(Color::Orange));
        }
        panel.x.label = "value of Q(s,a)".into();
        Figure::new("One update of the belief over Q(s,a)").panel_size(560.0, 310.0).panel(panel)
    }

    /// The paper's three rows, and a fourth with what comes out.
    fn factors(&self) -> Figure {
        let figure = Figure::new("One belief update, factor by factor").columns(3).panel_size(310.0, 220.0);
        let rows: [fn(&Self, &str, &Action) -> Panel; 3] =
            [Self::product_panel, Self::weight_panel, Self::term_panel];
        let names = ["(a) b = 1", "(b) b = 2", "(c) b = 3"];
        let panels = rows.iter().flat_map(|row| {
            names.iter().zip(&self.actions).map(move |(name, action)| row(self, name, action))
        });
        let figure = panels.fold(figure, Figure::panel);
        figure.panel(self.sum_panel()).panel(self.mixture_panel()).panel(self.matched_panel())
    }

    /// First row: prior, target and their product.
    fn product_panel(&self, name: &str, action: &Action) -> Panel {
        let target = curve(RANGE, gaussian(action.target));
        density_panel(format!("{name}: prior × target"), HIGH)
            .layer(Line::new("prior", curve(RANGE, gaussian(self.prior))).color(Color::Green))
            .layer(Line::new("target r + γQ(s′,b)", target).color(Color::Orange))
            .layer(Area::new("prior × target", curve(RANGE, gaussian(action.product))).color(Color::Purple))
    }

    /// Second row: the weight as a function of the TD error, and its value here.
    fn weight_panel(&self, name: &str, action: &Action) -> Panel {
        let weight = gaussian(action.error_belief);
        let here = (action.error, weight(action.error));
        let share = format!("{:.1} % of all", 100.0 * action.factors.weight());
        let x = Axis::linear("TD error δ").from(RANGE.0).to(RANGE.1);
        let y = Axis::linear("weight c").from(0.0).to(0.38);
        Panel::new(format!("{name}: weight by TD error"), x, y)
            .layer(Line::new("weight c by TD error", curve(RANGE, &weight)).color(Color::Grey))
            .layer(Markers::new("c of this action", [here]).color(Color::Black))
            .layer(Note::new(share, RANGE.0 + 0.4, 0.34))
    }

    /// Third row: the soft maximum and the whole term.
    fn term_panel(&self, name: &str, action: &Action) -> Panel {
        let factors = &action.factors;
        let here = (self.exact.mean(), factors.soft_max(self.exact.mean()));
        let percent = 100.0 * action.exact.weight;
        let mass = if percent < 0.01 { "mass < 0.01 %".into() } else { format!("mass {percent:.2} %") };
        let soft_max = curve(RANGE, |q| factors.soft_max(q));
        let mut panel = density_panel(format!("{name}: soft-max and term"), 1.1)
            .layer(Area::new("term of the posterior", curve(RANGE, |q| factors.term(q))).color(Color::Blue))
            .layer(Line::new("soft-max: product of the others' CDFs", soft_max).color(Color::Vermillion))
            .layer(Markers::new("soft-max at the posterior mean", [here]).color(Color::Vermillion))
            .layer(Note::new(mass, RANGE.0 + 0.4, 0.9).color(Color::Blue));
        panel.y.label = "density, probability".into();
        panel
    }

    /// Fourth row, left: the terms add to the posterior.
    fn sum_panel(&self) -> Panel {
        let dashes = [Dash::Dotted, Dash::DashDot, Dash::Dashed];
        let posterior = self.posterior_area();
        let panel = log_panel("(d) the terms' sum").layer(posterior);
        self.actions.iter().enumerate().fold(panel, |panel, (b, action)| {
            let term = curve(RANGE, |q| action.factors.term(q));
            panel.layer(
                Line::new(format!("term of b = {}", b + 1), term).color(Color::Black).dash(dashes[b % 3]),
            )
        })
    }

    /// Fourth row, middle: the paper's approximation of the posterior.
    fn mixture_panel(&self) -> Panel {
        log_panel("(e) its analytic approximation").layer(self.posterior_area()).layer(self.mixture_line())
    }

    /// Fourth row, right: what is kept.
    fn matched_panel(&self) -> Panel {
        let [exact, analytic] = [self.exact, self.analytic].map(|belief| curve(RANGE, gaussian(belief)));
        density_panel("(f) the Gaussians that are kept", HIGH)
            .layer(self.posterior_area())
            .layer(Line::new("ADF, exact moments", exact).color(Color::Black))
            .layer(Line::new("ADF, analytic", analytic).color(Color::Vermillion).dash(Dash::DashDot))
    }

    fn posterior_area(&self) -> Area {
        Area::new("exact posterior", curve(RANGE, |q| self.posterior.pdf(q))).color(Color::Blue)
    }

    fn mixture_line(&self) -> Line {
        let mixture = curve(RANGE, |q| self.mixture.pdf(q));
        Line::new("analytic mixture", mixture).color(Color::Vermillion).dash(Dash::Dashed)
    }
}

/// A panel for densities of q up to `high`.
fn density_panel(title: impl Into<String>, high: f64) -> Panel {
    let x = Axis::linear("q").from(RANGE.0).to(RANGE.1);
    Panel::new(title, x, Axis::linear("density").from(0.0).to(high))
}

/// A panel for densities that differ by orders of magnitude.
fn log_panel(title: impl Into<String>) -> Panel {
    let x = Axis::linear("q").from(RANGE.0).to(RANGE.1);
    Panel::new(title, x, Axis::log("density").from(LOG_RANGE.0).to(LOG_RANGE.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Layer;
    use crate::verdict::Verdict;

    /// The points of the first line or area with this label.
    fn points<'a>(figure: &'a Figure, panel: usize, label: &str) -> &'a [(f64, f64)] {
        let found = figure.panels[panel].layers.iter().find_map(|layer| match layer {
            Layer::Line(line) if line.label == label => Some(&line.points),
            Layer::Area(area) if area.label == label => Some(&area.points),
            Layer::Markers(markers) if markers.label == label => Some(&markers.points),
            _ => None,
        });
        found.unwrap_or_else(|| panic!("panel {panel} has no {label:?}"))
    }

    /// ∫ y dx by the trapezium rule.
    fn integral(points: &[(f64, f64)]) -> f64 {
        points.windows(2).map(|pair| 0.5 * (pair[0].1 + pair[1].1) * (pair[1].0 - pair[0].0)).sum()
    }

    #[test]
    fn densities_integrate_to_one_and_terms_to_their_masses() {
        let scene = Scene::new().unwrap();
        let (update, factors) = (scene.update(), scene.factors());
        for label in ["prior", "exact posterior", "analytic mixture"] {
            assert!((integral(points(&update, 0, label)) - 1.0).abs() < 1e-6, "{label}");
        }
        for (b, action) in scene.actions.iter().enumerate() {
            assert!((integral(points(&factors, b, "prior × target")) - 1.0).abs() < 1e-4, "b = {b}");
            let term = integral(points(&factors, 6 + b, "term of the posterior"));
            assert!((term - action.exact.weight).abs() < 1e-6, "b = {b}: {term}");
        }
        let masses: f64 = scene.actions.iter().map(|action| action.exact.weight).sum();
        assert!((masses - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_factors_have_the_values_of_their_formulas() {
        let scene = Scene::new().unwrap();
        let figure = scene.factors();
        assert_eq!(figure.panels.len(), 12);
        // c₁ = N(−1.8; 0, 1 + .81·2), by hand.
        let (error, weight) = points(&figure, 3, "c of this action")[0];
        assert!((error + 1.8).abs() < 1e-15 && (weight - 0.132_808_6).abs() < 1e-7, "{error} {weight}");
        // μ̄ = −1.8/(1 + 1.62) and σ̄² = 1.62/2.62.
        let product = scene.actions[0].product;
        assert!((product.mean() + 1.8 / 2.62).abs() < 1e-15 && (product.var() - 1.62 / 2.62).abs() < 1e-15);
    }

    #[test]
    fn the_terms_outweigh_what_the_td_errors_say() {
        use Verdict::{DoesNotHold, Holds};
        let section = Scene::new().unwrap().section().unwrap();
        let verdicts: Vec<_> = section.claims.iter().map(|claim| claim.verdict).collect();
        assert_eq!(verdicts, [Holds, DoesNotHold, Holds, DoesNotHold, Holds, Holds]);
    }
}

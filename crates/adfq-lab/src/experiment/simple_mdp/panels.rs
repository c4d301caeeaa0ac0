//! The drawing of Fig. simple_mdp: the beliefs at s₁, the update of Q(s₀,a₀), and the weights of the two next actions.

use super::Scene;
use crate::experiment::picture::{curve_with_needles, gaussian};
use crate::plot::{Area, Axis, Bar, Bars, Color, Dash, Figure, Line, Panel, Rule};
use adfq::Belief;

/// What the panels show of Q: enough of N(0, 100), whichever way the needles stand.
const WIDE: (f64, f64) = (-25.0, 25.0);
/// Densities between those of the prior's flanks and above those of the needles.
const DENSITIES: (f64, f64) = (1e-5, 1e2);

/// The figure on logarithmic axes, for beliefs as narrow as needles.
pub(super) fn needles(scenes: &[Scene; 2]) -> Figure {
    let density = || Axis::log("density").from(DENSITIES.0).to(DENSITIES.1);
    figure("One surprising reward: terminal variance 0.001, the authors'", scenes, density)
}

/// The figure on linear axes.
pub(super) fn curves(scenes: &[Scene; 2]) -> Figure {
    figure("One surprising reward: terminal variance 16, the reward's own", scenes, || {
        Axis::linear("density").from(0.0).to(0.26)
    })
}

fn figure(title: &str, scenes: &[Scene; 2], density: impl Fn() -> Axis) -> Figure {
    let rows: [&dyn Fn(&Scene) -> Panel; 3] =
        [&|scene| next_panel(scene, density()), &|scene| update_panel(scene, density()), &weight_panel];
    let panels = rows.iter().flat_map(|row| scenes.iter().map(row));
    panels.fold(Figure::new(title).columns(2).panel_size(400.0, 220.0), Figure::panel)
}

/// After which reward, for the titles.
fn after(scene: &Scene) -> String {
    let sign = if scene.reward < 0.0 { "−" } else { "+" };
    format!("after {sign}{}", scene.reward.abs())
}

/// A density as points, fine enough for the needles of the scene.
fn density(scene: &Scene, f: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    let [_, target] = scene.targets;
    let [_, next] = scene.next;
    curve_with_needles(WIDE, &[target, next], f)
}

/// First row: what is believed about s₁.
fn next_panel(scene: &Scene, y: Axis) -> Panel {
    let belief = |belief: Belief| density(scene, gaussian(belief));
    Panel::new(format!("{}: beliefs at s₁", after(scene)), Axis::linear("q"), y)
        .layer(Line::new("Q(s₁,a₀), never tried", belief(scene.next[0])).color(Color::Green))
        .layer(Area::new("Q(s₁,a₁), tried four times", belief(scene.next[1])).color(Color::Orange))
}

/// Second row: the update of Q(s₀,a₀).
fn update_panel(scene: &Scene, y: Axis) -> Panel {
    let (posterior, mixture) =
        (density(scene, |q| scene.posterior.pdf(q)), density(scene, |q| scene.mixture.pdf(q)));
    Panel::new(format!("{}: update of Q(s₀,a₀)", after(scene)), Axis::linear("q"), y)
        .layer(Line::new("prior of Q(s₀,a₀)", density(scene, gaussian(scene.prior))).color(Color::Grey))
        .layer(Area::new("exact posterior", posterior).color(Color::Blue))
        .layer(Line::new("analytic mixture", mixture).color(Color::Vermillion).dash(Dash::Dashed))
        .layer(
            Rule::vertical("Q-learning's new Q(s₀,a₀)", scene.q_updated)
                .color(Color::Black)
                .dash(Dash::Dotted),
        )
}

/// Third row: how much each next action counts.
fn weight_panel(scene: &Scene) -> Panel {
    let bars =
        |values: [f64; 2]| ["a₀", "a₁"].into_iter().zip(values).map(|(name, value)| Bar::new(name, value));
    let q = if scene.q_next[1] > scene.q_next[0] { [0.0, 1.0] } else { [1.0, 0.0] };
    let x = Axis::linear("share of the update").from(0.0).to(1.0);
    Panel::new(format!("{}: what each next action counts", after(scene)), x, Axis::linear(""))
        .layer(Bars::new("mass of the exact term", bars(scene.masses)).color(Color::Blue))
        .layer(Bars::new("w* of the analytic mixture", bars(scene.weights)).color(Color::Vermillion))
        .layer(Bars::new("Q-learning", bars(q)).color(Color::Black))
}

//! The drawing of Fig. illustration, and of the same update in one panel, `update`.

use super::{Action, Scene};
use crate::experiment::picture::{curve, gaussian};
use crate::plot::{Anchor, Area, Axis, Color, Dash, Figure, Line, Markers, Note, Panel};

/// What the panels show of q and of δ.
const RANGE: (f64, f64) = (-5.5, 6.5);
/// The highest density of all curves is just below.
const HIGH: f64 = 0.8;
/// What the logarithmic panels show.
const LOG_RANGE: (f64, f64) = (1e-14, 10.0);

impl Scene {
    /// The whole update in one panel.
    pub(super) fn update(&self) -> Figure {
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
    pub(super) fn factors(&self) -> Figure {
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

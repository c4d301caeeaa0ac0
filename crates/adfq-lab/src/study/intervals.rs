//! One picture of the whole matter: beliefs about every Q(s,a) of Maze after a random walk, beside the truth.

use crate::Result;
use crate::experiment::agents::look;
use crate::experiment::trial::Trial;
use crate::experiment::{Experiment, Findings, Stop};
use crate::float::Real;
use crate::plot::{Axis, Color, Figure, Line, Panel};
use crate::report::Section;
use crate::table::Table;

pub const DOMAIN: &str = "maze";

/// The first walk of each agent in the picture.
pub struct Intervals(pub Vec<Trial>);

impl Experiment for Intervals {
    type Unit = Trial;
    /// Q*, mean and sd of each pair.
    type Outcome = Vec<[Real; 3]>;

    fn units(&self) -> Vec<Trial> {
        self.0.clone()
    }

    fn key(&self, trial: &Trial) -> String {
        format!("{}/beliefs", trial.key())
    }

    fn compute(&self, trial: &Trial, stop: &Stop) -> Result<Self::Outcome> {
        let (domain, agent) = trial.learned(stop)?;
        let of = |&(state, action): &(usize, usize)| {
            let truth = domain.best.action_values(state)[action];
            [truth, agent.means(state)[action], agent.var(state, action).sqrt()].map(Real::from)
        };
        Ok(domain.pairs.iter().map(of).collect())
    }

    fn analyse(&self, outcomes: &[(Trial, Self::Outcome)]) -> Result<Findings> {
        let mut figure = Figure::new("Beliefs about every Q(s,a) of Maze after a random walk, sorted by Q*");
        let mut table = Table::new(["agent", "place", "Q*", "mean", "sd"]);
        for (trial, beliefs) in outcomes {
            let label = trial.contender.label;
            let mut sorted: Vec<[f64; 3]> = beliefs.iter().map(|belief| belief.map(f64::from)).collect();
            // Pairs of equal value in the order of the doubt about them, which is quieter to look at.
            sorted.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[2].total_cmp(&b[2])));
            let within = sorted.iter().filter(|[truth, mean, sd]| (mean - truth).abs() <= 2.0 * sd).count();
            let share = 100.0 * within as f64 / sorted.len() as f64;
            for (place, belief) in sorted.iter().enumerate() {
                table.push([label.into(), place.into()].into_iter().chain(belief.map(Into::into)))?;
            }
            figure = figure.panel(panel(label, share, &sorted));
        }
        let section = Section::new("Beliefs and the truth").paragraph(
            "The first of the shared random walks in Maze. Every pair of a state and an action stands on the \
             horizontal axis, in the order of its true value; the coloured line is the mean of the belief about \
             it, the band two standard deviations to both sides.",
        );
        Ok(Findings::new(section)
            .figure("maze_beliefs", figure.panel_size(720.0, 250.0))
            .data("maze_beliefs", table))
    }
}

fn panel(label: &'static str, share: f64, sorted: &[[f64; 3]]) -> Panel {
    let along = || sorted.iter().enumerate().map(|(place, belief)| (place as f64, belief));
    let heading = format!("{label}: {share:.0} % of Q* within ±2σ");
    // The same scale for all panels: the values, and a prior's band where nothing was visited, as far as it fits.
    let y = Axis::linear("Q(s,a)").from(-1.0).to(4.0);
    let clip = |x: f64| x.clamp(-1.0, 4.0);
    let band = along().map(|(_, &[_, mean, sd])| (clip(mean - 2.0 * sd), clip(mean + 2.0 * sd)));
    let means = along().map(|(x, belief)| (x, clip(belief[1])));
    let (color, _) = look(label);
    Panel::new(heading, Axis::linear("(s,a), sorted by Q*"), y)
        .layer(Line::new(format!("{label}: mean ± 2σ"), means).band(band).color(color).thin())
        .layer(Line::new("Q*", along().map(|(x, belief)| (x, belief[0]))).color(Color::Vermillion))
}

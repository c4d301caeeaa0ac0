//! The pictures of bsuite: the radar of abilities, and the bars of all experiments.

use super::scores::{Average, Scores};
use super::summary::{names, of_experiment, spoken};
use crate::plot::{Axis, Bar, Bars, Color, Dash, Figure, Panel, Rule, Web};

/// The least value that the radar shows: with zeros beside it a score would have no area. The package does the same.
const LEAST: f64 = 0.05;

/// The mean score of each ability, a web for each agent. Abilities that no experiment tested are left out.
pub(super) fn radar(scores: &Scores) -> Figure {
    let mut panel = Panel::new("", Axis::default(), Axis::linear("score").from(0.0).to(1.0));
    for (i, agent) in scores.agents.iter().enumerate() {
        let scored = agent.tags.iter().filter_map(|(tag, score)| Some((tag, (*score)?.value)));
        let spokes = scored.map(|(tag, score)| (spoken(tag), score.max(LEAST)));
        let dash = [Dash::Solid, Dash::Dashed, Dash::Dotted, Dash::DashDot][i % 4];
        panel = panel.layer(Web::new(agent.label.as_str(), spokes).color(Color::slot(i)).dash(dash));
    }
    Figure::new("bsuite: scores by ability").panel(panel).panel_size(620.0, 480.0)
}

/// The score of each experiment, a bar for each agent.
pub(super) fn bars(scores: &Scores) -> Figure {
    let axis = Axis::linear("score").from(0.0).to(1.0);
    let mut panel = Panel::new("", axis, Axis::linear(""));
    for (i, agent) in scores.agents.iter().enumerate() {
        let bar = |name: &'static str| {
            let Average { value, interval } = of_experiment(agent, name)?.score?;
            let bar = Bar::new(spoken(name), value);
            Some(interval.map_or(bar.clone(), |it| bar.interval(it.low, it.high)))
        };
        let bars = names(scores).into_iter().filter_map(bar);
        panel = panel.layer(Bars::new(agent.label.as_str(), bars).color(Color::slot(i)));
    }
    let panel = panel.layer(Rule::vertical("", 1.0));
    Figure::new("bsuite: scores by experiment").panel(panel).panel_size(720.0, 360.0)
}

/// Whether there is enough for a radar: fewer than three spokes make no web.
pub(super) fn has_radar(scores: &Scores) -> bool {
    let spokes = |agent: &super::AgentScores| agent.tags.iter().filter(|(_, score)| score.is_some()).count();
    scores.agents.iter().any(|agent| spokes(agent) >= 3)
}

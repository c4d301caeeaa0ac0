//! Scores as text, for a terminal.

use super::scores::{Average, ExperimentScore, Scores};
use adfq_report::text::align;

/// The scores of every experiment and every ability, an agent a column.
pub fn summary(scores: &Scores) -> String {
    format!("{}\n{}", experiments(scores), tags(scores))
}

fn experiments(scores: &Scores) -> String {
    let mut rows = vec![];
    for name in names(scores) {
        let of = |agent: &super::AgentScores| cell(of_experiment(agent, name).and_then(|it| it.score));
        let head = [name.to_owned(), settings(scores, name)];
        rows.push(head.into_iter().chain(scores.agents.iter().map(of)).collect());
    }
    let head = ["experiment".to_owned(), "settings".to_owned()];
    align(head.into_iter().chain(labels(scores)).collect(), rows)
}

fn tags(scores: &Scores) -> String {
    let Some(first) = scores.agents.first() else { return String::new() };
    let mut rows = vec![];
    for (i, (tag, _)) in first.tags.iter().enumerate() {
        let of = |agent: &super::AgentScores| cell(agent.tags[i].1);
        if scores.agents.iter().any(|agent| agent.tags[i].1.is_some()) {
            rows.push([spoken(tag)].into_iter().chain(scores.agents.iter().map(of)).collect());
        }
    }
    let overall = scores.agents.iter().map(|agent| cell(agent.overall));
    rows.push(["all experiments".to_owned()].into_iter().chain(overall).collect());
    align(["ability".to_owned()].into_iter().chain(labels(scores)).collect(), rows)
}

pub(super) fn labels(scores: &Scores) -> impl Iterator<Item = String> {
    scores.agents.iter().map(|agent| agent.label.clone())
}

/// The experiments that any agent has, in bsuite's order.
pub(super) fn names(scores: &Scores) -> Vec<&'static str> {
    let mut names = vec![];
    for agent in &scores.agents {
        let new = agent.experiments.iter().map(|it| it.experiment).filter(|name| !names.contains(name));
        names.extend(new.collect::<Vec<_>>());
    }
    names
}

/// The score of an agent in an experiment.
pub(super) fn of_experiment<'a>(agent: &'a super::AgentScores, name: &str) -> Option<&'a ExperimentScore> {
    agent.experiments.iter().find(|it| it.experiment == name)
}

/// How many settings the scores of an experiment rest on, of how many: the fewest of all agents.
pub(super) fn settings(scores: &Scores, name: &str) -> String {
    let of = |agent| of_experiment(agent, name).map_or([0, 0], |it| it.settings);
    let [least, all] = scores.agents.iter().map(of).min().unwrap_or([0, 0]);
    if least == all { all.to_string() } else { format!("{least} of {all}") }
}

/// A score with its interval.
pub(super) fn cell(score: Option<Average>) -> String {
    match score {
        None => "·".to_owned(),
        Some(Average { value, interval: None }) => format!("{value:.2}"),
        Some(Average { value, interval: Some(it) }) => format!("{value:.2} [{:.2}, {:.2}]", it.low, it.high),
    }
}

/// A name of the package in words.
pub(super) fn spoken(name: &str) -> String {
    name.replace('_', " ")
}

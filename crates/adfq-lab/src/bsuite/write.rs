//! Scores in a folder: tables, JSON, the two pictures and a page.

use super::figure::{bars, has_radar, radar};
use super::scores::{Average, Scores, TAGS};
use super::summary::{cell, labels, names, of_experiment, settings, spoken};
use super::sweep::Sweep;
use crate::plot::Figure;
use crate::report::{Provenance, Report, Section};
use crate::table::{Cell, Table};
use crate::{Error, Result, float};
use adfq_env::bsuite::EXPERIMENTS;
use adfq_files::write_atomic;
use std::path::Path;

/// Writes `scores.json`, `scores.csv` (experiments), `abilities.csv`, `radar.svg`, `bars.svg` and `report.html`, which needs nothing
/// else. `command` is what one types to get the same again.
pub fn write(sweep: &Sweep, scores: &Scores, out: &Path, command: &str) -> Result<()> {
    float::check_finite("the scores", scores)?;
    let json = serde_json::to_string_pretty(scores)
        .map_err(|source| Error::Json { what: "the scores".into(), source })?;
    write_atomic(out.join("scores.json"), (json + "\n").as_bytes())?;
    write_atomic(out.join("scores.csv"), experiments(scores)?.csv().as_bytes())?;
    write_atomic(out.join("abilities.csv"), abilities(scores)?.csv().as_bytes())?;
    write_atomic(out.join("bars.svg"), bars(scores).svg()?.as_bytes())?;
    if has_radar(scores) {
        write_atomic(out.join("radar.svg"), radar(scores).svg()?.as_bytes())?;
    }
    let report = report(sweep, scores, command)?;
    Ok(write_atomic(out.join("report.html"), report.html()?.as_bytes())?)
}

/// What a reader has to know before comparing with published scores.
fn notes(sweep: &Sweep, scores: &Scores) -> Vec<String> {
    let mut notes = vec![];
    if let Some(episodes) = sweep.episodes {
        notes.push(format!(
            "At most {episodes} episodes were run in each setting: these are not the scores of bsuite."
        ));
    }
    if sweep.left_out() > 0 {
        notes.push("The experiments with MNIST are left out: they need its files.".to_owned());
    }
    if scores.agents.iter().flat_map(|agent| &agent.experiments).any(|it| it.settings[0] < it.settings[1]) {
        notes.push(
            "Some experiments were run in a part of their settings, and are scored on these.".to_owned(),
        );
    }
    notes
}

fn report(sweep: &Sweep, scores: &Scores, command: &str) -> Result<Report> {
    let provenance = Provenance {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        seed: scores.seeds.first().copied().unwrap_or(0),
        trials: sweep.settings().count() * scores.seeds.len() * scores.agents.len(),
        command: command.to_owned(),
    };
    let mut report = Report::new("The behaviour suite (bsuite)", provenance);
    report.intro = vec![
        "Small environments, each of which tests one ability of an agent (Osband et al. 2020). Scores are between 0 and 1, by the \
         published rules, from the episodes of training alone. All agents have the settings of the package's own DQN, but for what docs/bsuite.md names."
            .to_owned(),
    ];
    if scores.seeds.len() > 1 {
        report.intro.push("Scores are means over seeds with 95 % bootstrap intervals.".to_owned());
    }
    report.intro.extend(notes(sweep, scores));
    let mut by_ability = Section::new("By ability")
        .table("Mean score of the experiments that test an ability", tag_table(scores)?);
    if has_radar(scores) {
        let caption =
            "Mean score of the experiments that test an ability. What is below 0.05 is drawn at 0.05"
                .to_owned();
        by_ability =
            by_ability.figure(Figure { title: caption, ..radar(scores) }).link("radar.svg", "radar.svg");
    }
    let by_experiment = Section::new("By experiment")
        .figure(Figure { title: "Score of each experiment".to_owned(), ..bars(scores) })
        .table("Score of each experiment, and how many settings it rests on", experiment_table(scores)?)
        .link("bars.svg", "bars.svg")
        .link("scores.csv", "scores.csv")
        .link("abilities.csv", "abilities.csv")
        .link("scores.json", "scores.json");
    report.sections = vec![by_ability, by_experiment];
    Ok(report)
}

fn tag_table(scores: &Scores) -> Result<Table> {
    let mut table = Table::new(["ability".to_owned()].into_iter().chain(labels(scores)));
    for (i, tag) in TAGS.iter().enumerate() {
        let of = scores.agents.iter().map(|agent| Cell::from(cell(agent.tags[i].1)));
        table.push([spoken(tag).into()].into_iter().chain(of))?;
    }
    let overall = scores.agents.iter().map(|agent| Cell::from(cell(agent.overall)));
    table.push(["all experiments".into()].into_iter().chain(overall))?;
    Ok(table)
}

fn experiment_table(scores: &Scores) -> Result<Table> {
    let head = ["experiment".to_owned(), "settings".to_owned()];
    let mut table = Table::new(head.into_iter().chain(labels(scores)));
    for name in names(scores) {
        let of = scores
            .agents
            .iter()
            .map(|agent| Cell::from(cell(of_experiment(agent, name).and_then(|it| it.score))));
        table.push([spoken(name).into(), settings(scores, name).into()].into_iter().chain(of))?;
    }
    Ok(table)
}

/// A row for each agent and experiment.
fn experiments(scores: &Scores) -> Result<Table> {
    let mut table =
        Table::new(["agent", "experiment", "type", "tags", "settings", "finished", "score", "low", "high"]);
    for agent in &scores.agents {
        for it in &agent.experiments {
            let tags = EXPERIMENTS
                .iter()
                .find(|known| known.name == it.experiment)
                .map(|known| known.tags.join(" "));
            let head = [agent.folder.as_str().into(), it.experiment.into(), it.kind.into(), tags.into()];
            let finished = if it.finished { "True" } else { "False" };
            let rest = [it.settings[0].into(), finished.into()];
            table.push(head.into_iter().chain(rest).chain(cells(it.score)))?;
        }
    }
    Ok(table)
}

/// A row for each agent and ability.
fn abilities(scores: &Scores) -> Result<Table> {
    let mut table = Table::new(["agent", "tag", "score", "low", "high"]);
    for agent in &scores.agents {
        for (tag, score) in agent.tags.iter().copied().chain([("all", agent.overall)]) {
            table.push([agent.folder.as_str().into(), tag.into()].into_iter().chain(cells(score)))?;
        }
    }
    Ok(table)
}

fn cells(score: Option<Average>) -> [Cell; 3] {
    let interval = score.and_then(|score| score.interval);
    [
        score.map(|score| score.value).into(),
        interval.map(|it| it.low).into(),
        interval.map(|it| it.high).into(),
    ]
}

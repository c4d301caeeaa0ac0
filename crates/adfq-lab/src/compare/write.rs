//! A comparison in a folder: pictures, tables, JSON and a report.

use super::summary::score;
use super::{Comparison, Entry, Environment, Improvement, Score};
use crate::plot::{Axis, Color, Figure, Line, Panel};
use crate::report::{Provenance, Report, Section};
use crate::table::{Cell, Table};
use crate::{Error, Result, float};
use adfq_files::write_atomic;
use std::path::Path;

/// With more runs than this the lines of single seeds would hide what they are to show.
const MOST_LINES: usize = 10;

/// Writes `compare.json`, `curves.csv` (means), `seeds.csv` (single runs), the learning curves of each environment as
/// SVG, and `report.html`, which needs nothing else. `command` is what one types to get the same again.
pub fn write(comparison: &Comparison, out: &Path, command: &str) -> Result<()> {
    float::check_finite("the comparison", comparison)?;
    let json = serde_json::to_string_pretty(comparison)
        .map_err(|source| Error::Json { what: "the comparison".into(), source })?;
    write_atomic(out.join("compare.json"), (json + "\n").as_bytes())?;
    write_atomic(out.join("curves.csv"), means(comparison)?.csv().as_bytes())?;
    write_atomic(out.join("seeds.csv"), seeds(comparison)?.csv().as_bytes())?;
    let mut report = report(comparison, command)?;
    for (environment, section) in comparison.environments.iter().zip(&mut report.sections) {
        let (figure, file) = (curves(comparison, environment), file_name(&environment.env));
        write_atomic(out.join(format!("{file}.svg")), figure.svg()?.as_bytes())?;
        *section = std::mem::take(section).figure(figure).link(format!("{file}.svg"), format!("{file}.svg"));
    }
    Ok(write_atomic(out.join("report.html"), report.html()?.as_bytes())?)
}

/// The learning curves of one environment: for each label the mean return over seeds with its 95 % band, and a
/// hairline for each seed where they are few. A label has the same colour in every environment.
pub(super) fn curves(comparison: &Comparison, environment: &Environment) -> Figure {
    let color = |entry: &Entry| {
        Color::slot(comparison.labels.iter().position(|label| *label == entry.label).unwrap_or(0))
    };
    let at = |values: &[f64]| -> Vec<(f64, f64)> {
        environment.steps.iter().map(|&step| step as f64).zip(values.iter().copied()).collect()
    };
    let mut panel = Panel::new("", Axis::linear("environment step"), Axis::linear(comparison.returns.axis()));
    let entries = &environment.entries;
    if entries.iter().map(|entry| entry.runs.len()).sum::<usize>() <= MOST_LINES {
        for entry in entries.iter().filter(|entry| entry.runs.len() > 1) {
            for run in &entry.runs {
                panel = panel.layer(Line::new("", at(&run.curve)).color(color(entry)).thin());
            }
        }
    }
    for entry in entries {
        let means: Vec<f64> = entry.curve.iter().map(|score| score.value).collect();
        let band = entry.curve.iter().filter_map(|score| Some((score.interval?.low, score.interval?.high)));
        panel = panel.layer(Line::new(entry.label.as_str(), at(&means)).band(band).color(color(entry)));
    }
    Figure::new(environment.env.as_str()).panel(panel).panel_size(560.0, 340.0)
}

/// An environment's name may hold a slash, as in `ALE/Pong-v5`.
fn file_name(env: &str) -> String {
    env.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' }).collect()
}

fn count(n: u64) -> Cell {
    Cell::Count(n)
}

fn cells(score: &Score) -> [Cell; 3] {
    [score.value.into(), score.interval.map(|it| it.low).into(), score.interval.map(|it| it.high).into()]
}

/// The mean curves.
fn means(comparison: &Comparison) -> Result<Table> {
    let mut table = Table::new(["env", "label", "seeds", "step", "mean", "low", "high"]);
    for environment in &comparison.environments {
        for entry in &environment.entries {
            for (&step, score) in environment.steps.iter().zip(&entry.curve) {
                let (env, label) = (environment.env.as_str(), entry.label.as_str());
                let head = [env.into(), label.into(), entry.runs.len().into(), count(step)];
                table.push(head.into_iter().chain(cells(score)))?;
            }
        }
    }
    Ok(table)
}

/// The curve of each run.
fn seeds(comparison: &Comparison) -> Result<Table> {
    let mut table = Table::new(["env", "label", "seed", "step", "return"]);
    for environment in &comparison.environments {
        for entry in &environment.entries {
            for run in &entry.runs {
                for (&step, &value) in environment.steps.iter().zip(&run.curve) {
                    let (env, label) = (environment.env.as_str(), entry.label.as_str());
                    table.push([env.into(), label.into(), count(run.seed), count(step), value.into()])?;
                }
            }
        }
    }
    Ok(table)
}

fn report(comparison: &Comparison, command: &str) -> Result<Report> {
    let provenance = Provenance {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        seed: comparison.seed,
        trials: comparison.runs(),
        command: command.to_owned(),
    };
    let mut report = Report::new("Runs compared", provenance);
    report.intro = vec![format!(
        "{} Both are interquartile means (IQM) over seeds with 95 % bootstrap intervals. Lines are means over seeds, \
         bands 95 % bootstrap intervals of the mean, hairlines single seeds.",
        comparison.returns.meaning()
    )];
    report.intro.extend(comparison.notes.iter().cloned());
    for environment in &comparison.environments {
        report.sections.push(section(environment)?);
    }
    report.sections.extend(overall(comparison)?);
    if let Some(last) = report.sections.last_mut() {
        for file in ["compare.json", "curves.csv", "seeds.csv"] {
            *last = std::mem::take(last).link(file, file);
        }
    }
    Ok(report)
}

fn section(environment: &Environment) -> Result<Section> {
    let mut table = Table::new(["label", "seeds", "final return", "low", "high", "area", "low", "high"]);
    for entry in &environment.entries {
        let head = [entry.label.as_str().into(), entry.runs.len().into()];
        table.push(head.into_iter().chain(cells(&entry.final_return)).chain(cells(&entry.area)))?;
    }
    let mut section = Section::new(&environment.env).table("IQM over seeds", table);
    section.paragraphs.clone_from(&environment.notes);
    let labels: Vec<&str> = environment.entries.iter().map(|entry| entry.label.as_str()).collect();
    with_improvement(section, &labels, &environment.improvement)
}

fn overall(comparison: &Comparison) -> Result<Option<Section>> {
    let Some(aggregate) = &comparison.aggregate else { return Ok(None) };
    let mut scores = Table::new(["label", "IQM", "low", "high"]);
    for overall in &aggregate.scores {
        scores.push([overall.label.as_str().into()].into_iter().chain(cells(&overall.iqm)))?;
    }
    let mut ranges = Table::new(["env", "0 is", "1 is"]);
    for range in &aggregate.ranges {
        ranges.push([range.env.as_str().into(), range.low.into(), range.high.into()])?;
    }
    let section = Section::new("Over all environments")
        .paragraph(
            "In each environment 0 is the lowest and 1 the highest final return among the labels, each the mean over \
             its seeds. Intervals resample seeds within each environment.",
        )
        .table("Normalised final return, IQM over seeds and environments", scores)
        .table("What is 0 and what is 1", ranges);
    let labels: Vec<&str> = comparison.labels.iter().map(String::as_str).collect();
    with_improvement(section, &labels, &aggregate.improvement).map(Some)
}

fn with_improvement(section: Section, labels: &[&str], pairs: &[Improvement]) -> Result<Section> {
    if pairs.is_empty() {
        return Ok(section);
    }
    let mut table = Table::new([""].into_iter().chain(labels.iter().copied()));
    for row in labels {
        let of = |column: &&str| {
            let pair = pairs.iter().find(|pair| pair.label == *row && pair.over == *column);
            pair.map(|pair| score(&pair.probability, 2)).into()
        };
        table.push([(*row).into()].into_iter().chain(labels.iter().map(of)))?;
    }
    Ok(section.table("Probability that the final return of the row exceeds that of the column", table))
}

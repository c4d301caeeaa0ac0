//! A comparison in a folder: pictures, tables, JSON and a report.

use super::figure::{caption, figure};
use super::summary::{Heads, column, heading, score};
use super::{Believed, Comparison, Environment, Improvement, Score};
use crate::plot::Figure;
use crate::report::{Provenance, Report, Section};
use crate::table::{Cell, Table};
use crate::{Error, Result, float};
use adfq_files::write_atomic;
use adfq_report::text;
use std::path::Path;

/// Writes `compare.json`, `curves.csv` (means), `seeds.csv` (single runs), the learning curves of each environment as
/// SVG, and `report.html`, which needs nothing else. `command` is what one types to get the same again.
pub fn write(comparison: &Comparison, out: &Path, command: &str) -> Result<()> {
    float::check_finite("the comparison", comparison)?;
    let json = serde_json::to_string_pretty(comparison)
        .map_err(|source| Error::Json { what: "the comparison".into(), source })?;
    write_atomic(out.join("compare.json"), (json + "\n").as_bytes())?;
    write_atomic(out.join("curves.csv"), means(comparison)?.csv().as_bytes())?;
    write_atomic(out.join("seeds.csv"), seeds(comparison)?.csv().as_bytes())?;
    let (mut report, mut links) = (report(comparison, command)?, vec![]);
    for (env, svg) in pictures(comparison)? {
        let file = format!("{}.svg", file_name(&env));
        write_atomic(out.join(&file), svg.as_bytes())?;
        links.push(file);
    }
    with_figures(comparison, &mut report);
    if let Some(last) = report.sections.last_mut() {
        for file in ["compare.json", "curves.csv", "seeds.csv"] {
            *last = std::mem::take(last).link(file, file);
        }
    }
    for (link, section) in links.iter().zip(&mut report.sections) {
        *section = std::mem::take(section).link(link, link);
    }
    Ok(write_atomic(out.join("report.html"), report.html()?.as_bytes())?)
}

/// The report as one page that links to no other file.
pub fn page(comparison: &Comparison, command: &str) -> Result<String> {
    let mut report = report(comparison, command)?;
    with_figures(comparison, &mut report);
    Ok(report.html()?)
}

/// The learning curves of each environment, by its name, as SVG.
pub fn pictures(comparison: &Comparison) -> Result<Vec<(String, String)>> {
    let svg =
        |environment: &Environment| Ok((environment.env.clone(), figure(comparison, environment).svg()?));
    comparison.environments.iter().map(svg).collect()
}

/// Adds the figure of each environment to its section.
fn with_figures(comparison: &Comparison, report: &mut Report) {
    for (environment, section) in comparison.environments.iter().zip(&mut report.sections) {
        let figure = figure(comparison, environment);
        let captioned = Figure { title: caption(comparison, environment), ..figure };
        *section = std::mem::take(section).figure(captioned);
    }
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
        "{} Both are interquartile means (IQM) over seeds with 95 % bootstrap intervals.",
        comparison.returns.meaning()
    )];
    report.intro.extend(comparison.notes.iter().cloned());
    for environment in &comparison.environments {
        report.sections.push(section(environment)?);
    }
    report.sections.extend(overall(comparison)?);
    Ok(report)
}

fn section(environment: &Environment) -> Result<Section> {
    let entries = &environment.entries;
    let finals: Vec<&Score> = entries.iter().map(|entry| &entry.final_return).collect();
    let areas: Vec<&Score> = entries.iter().map(|entry| &entry.area).collect();
    let heads =
        ["label".to_owned(), "seeds".to_owned(), heading("final return", &finals), heading("area", &areas)];
    let mut table = Table::new(heads.into_iter().chain(Believed::heads(entries)));
    let columns = entries.iter().zip(column(&finals)).zip(column(&areas)).zip(Believed::rows(entries));
    for (((entry, last), area), beliefs) in columns {
        let row = [entry.label.as_str().into(), entry.runs.len().into(), last.into(), area.into()];
        table.push(row.into_iter().chain(beliefs.into_iter().map(Cell::from)))?;
    }
    let last = environment.steps.last().copied().unwrap_or(0);
    let mut section = Section::new(&environment.env)
        .table(format!("Interquartile mean over seeds, up to step {}", text::count(last)), table);
    section.paragraphs.clone_from(&environment.notes);
    let labels: Vec<&str> = environment.entries.iter().map(|entry| entry.label.as_str()).collect();
    with_improvement(section, &labels, &environment.improvement)
}

fn overall(comparison: &Comparison) -> Result<Option<Section>> {
    let Some(aggregate) = &comparison.aggregate else { return Ok(None) };
    let iqms: Vec<&Score> = aggregate.scores.iter().map(|of| &of.iqm).collect();
    let mut scores = Table::new(["label".to_owned(), heading("IQM", &iqms)]);
    for overall in &aggregate.scores {
        scores.push([overall.label.as_str().into(), score(&overall.iqm, 2).into()])?;
    }
    let mut ranges = Table::new(["env", "0 is", "1 is", "source"]);
    for range in &aggregate.ranges {
        let source = range.source.as_str().into();
        ranges.push([range.env.as_str().into(), range.low.into(), range.high.into(), source])?;
    }
    let section = Section::new("Over all environments")
        .paragraph(
            "In each environment 0 is the score of random play and 1 that of a good player. Intervals resample seeds \
             within each environment.",
        )
        .table("Normalised final return, interquartile mean over seeds and environments", scores)
        .table("What is 0 and what is 1", ranges);
    let labels: Vec<&str> = comparison.labels.iter().map(String::as_str).collect();
    with_improvement(section, &labels, &aggregate.improvement).map(Some)
}

/// In a narrow column the line breaks before the interval, not in it.
fn kept_together(score: &str) -> String {
    score.replace(", ", ",\u{a0}")
}

fn with_improvement(section: Section, labels: &[&str], pairs: &[Improvement]) -> Result<Section> {
    if pairs.is_empty() {
        return Ok(section);
    }
    let heads = Heads::of(labels);
    let mut table = Table::new([String::new()].into_iter().chain(heads.columns));
    for (row, head) in labels.iter().zip(heads.rows) {
        let of = |column: &&str| {
            let pair = pairs.iter().find(|pair| pair.label == *row && pair.over == *column);
            pair.map(|pair| kept_together(&score(&pair.probability, 2))).into()
        };
        table.push([head.into()].into_iter().chain(labels.iter().map(of)))?;
    }
    let caption = "Probability that the final return of the row exceeds that of the column [95 % interval]";
    Ok(section.table(caption, table))
}

//! Beliefs beside the truth in a folder: a page, pictures, tables and JSON.

use super::{Beliefs, Checked, Pair, figure, summary, to_json};
use crate::Result;
use crate::plot::Figure;
use crate::report::{Provenance, Report, Section};
use crate::table::{Cell, Table};
use adfq_files::write_atomic;
use adfq_report::text;
use std::path::Path;

/// Writes `beliefs.json`, `values.csv` (every belief with its truth), the calibration curves as SVG, and `report.html`, which
/// needs nothing else. `command` is what one types to get the same again.
pub fn write(runs: &[Beliefs], out: &Path, command: &str) -> Result<()> {
    write_atomic(out.join("beliefs.json"), to_json(&runs)?.as_bytes())?;
    write_atomic(out.join("values.csv"), values(runs)?.csv().as_bytes())?;
    let settings = runs.first().map(|run| run.settings).unwrap_or_default();
    let provenance = Provenance {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        seed: settings.seed,
        trials: runs.iter().map(|run| run.checkpoints.len()).sum(),
        command: command.to_owned(),
    };
    let mut report = Report::new("Beliefs and the truth", provenance);
    report.intro = intro(settings.states);
    for (i, run) in runs.iter().enumerate() {
        for checked in &run.checkpoints {
            let file = format!("calibration-{}-{}.svg", i + 1, checked.step);
            let figure = figure::calibration(title(run, checked), checked);
            write_atomic(out.join(&file), figure.svg()?.as_bytes())?;
            report.sections.push(section(run, checked, figure)?.link(file.clone(), file));
        }
    }
    if let Some(last) = report.sections.last_mut() {
        *last = std::mem::take(last).link("beliefs.json", "beliefs.json").link("values.csv", "values.csv");
    }
    Ok(write_atomic(out.join("report.html"), report.html()?.as_bytes())?)
}

fn intro(states: usize) -> Vec<String> {
    vec![
        format!(
            "{states} states of each kind, each from an episode of its own: of training (the run's exploration, from \
             the checkpoint on), of evaluation (greedy play) and of random play. In each state every action is taken, and \
             then the agent's own greedy policy is followed. The mean discounted return is the truth that the belief is \
             held against."
        ),
        "Honest beliefs hold 68 % of the values within ±σ and 95 % within ±2σ. The rank correlation is that of |error| and \
         σ: does the agent know where it errs? Intervals are 95 % and take each state for one observation."
            .to_owned(),
    ]
}

fn title(run: &Beliefs, checked: &Checked) -> String {
    format!("{}, {} with {}, step {}", run.env, run.agent, run.policy, text::count(checked.step))
}

fn section(run: &Beliefs, checked: &Checked, figure: Figure) -> Result<Section> {
    let places = summary::places(checked);
    let mut table = Table::new(summary::COLUMNS);
    for found in &checked.found {
        table.push(summary::row(found, places).map(Cell::from))?;
    }
    let caption = "Calibration: the share of values that an interval around the mean should hold, and the share it holds";
    let mut section = Section::new(title(run, checked))
        .paragraph(run.run.display().to_string())
        .table("Beliefs against the truth", table)
        .figure(Figure { title: caption.to_owned(), ..figure });
    section.paragraphs.extend(summary::notes(checked).lines().map(String::from));
    Ok(section)
}

/// Every belief with its truth.
fn values(runs: &[Beliefs]) -> Result<Table> {
    let columns = [
        "run",
        "step",
        "states",
        "state",
        "action",
        "mean",
        "sd",
        "truth",
        "standard_error",
        "rollouts",
        "optimum",
    ];
    let mut table = Table::new(columns);
    for run in runs {
        for checked in &run.checkpoints {
            for pair in &checked.pairs {
                let Pair { play, state, action, mean, sd, truth, standard_error, rollouts, optimum } = *pair;
                let name = run.run.display().to_string();
                let head =
                    [name.into(), Cell::Count(checked.step), play.name().into(), state.into(), action.into()];
                let numbers = [mean, sd, truth, standard_error].map(Cell::from);
                table.push(head.into_iter().chain(numbers).chain([rollouts.into(), optimum.into()]))?;
            }
        }
    }
    Ok(table)
}

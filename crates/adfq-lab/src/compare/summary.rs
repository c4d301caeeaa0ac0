//! Runs side by side, as text.

use super::{Aggregate, Comparison, Environment, Improvement, Returns, Score};
use adfq_report::text::{align, count, decimals};

/// The tables of each environment, those over all of them, and what the numbers mean.
pub fn summary(comparison: &Comparison) -> String {
    let environments = comparison.environments.iter().map(|it| environment(it, comparison.returns));
    let mut text: String = environments.collect();
    if let Some(aggregate) = &comparison.aggregate {
        text += &overall(aggregate);
    }
    for note in &comparison.notes {
        text += &format!("{note}\n\n");
    }
    text += comparison.returns.meaning();
    text + &format!(
        "\nBoth are IQM over seeds with 95 % bootstrap intervals over seeds (seed {}).\n",
        comparison.seed
    )
}

/// A value and, where there is one, its interval: `0.51 [0.43, 0.61]`.
pub(super) fn score(score: &Score, decimals: usize) -> String {
    // Adding 0 makes −0 a 0.
    let [value, low, high] =
        [Some(score.value), score.interval.map(|it| it.low), score.interval.map(|it| it.high)]
            .map(|x| x.map(|x| format!("{:.decimals$}", x + 0.0)).unwrap_or_default());
    if score.interval.is_none() { value } else { format!("{value} [{low}, {high}]") }
}

/// The scores of a column, all with the decimals that the largest of them needs.
fn column(scores: &[&Score]) -> Vec<String> {
    let numbers: Vec<f64> = scores
        .iter()
        .flat_map(|it| [Some(it.value), it.interval.map(|it| it.low), it.interval.map(|it| it.high)])
        .flatten()
        .collect();
    let decimals = decimals(&numbers).min(3);
    scores.iter().map(|it| score(it, decimals)).collect()
}

fn environment(environment: &Environment, returns: Returns) -> String {
    let Environment { env, steps, entries, improvement, notes } = environment;
    let evaluations = returns.noun(steps.len());
    let last = steps.last().copied().unwrap_or(0);
    let mut text = format!("{env}: {} {evaluations} up to step {}\n\n", steps.len(), count(last));
    let header = ["", "seeds", "final return", "area"].map(String::from).to_vec();
    let finals = column(&entries.iter().map(|entry| &entry.final_return).collect::<Vec<_>>());
    let areas = column(&entries.iter().map(|entry| &entry.area).collect::<Vec<_>>());
    let rows = entries
        .iter()
        .zip(finals)
        .zip(areas)
        .map(|((entry, last), area)| vec![entry.label.clone(), entry.runs.len().to_string(), last, area]);
    text += &align(header, rows.collect());
    text += "\n";
    let labels: Vec<&str> = entries.iter().map(|entry| entry.label.as_str()).collect();
    text += &improvements("P(row > column), final return", &labels, improvement);
    text += &notes.iter().map(|note| format!("{note}\n")).collect::<String>();
    if notes.is_empty() { text } else { text + "\n" }
}

fn overall(aggregate: &Aggregate) -> String {
    let Aggregate { ranges, scores, improvement } = aggregate;
    let mut text = format!(
        "Over {} environments, final return normalised: 0 is the lowest and 1 the highest mean among the labels\n\n",
        ranges.len()
    );
    let ends = ranges.iter().flat_map(|range| [range.low, range.high]).collect::<Vec<_>>();
    let digits = decimals(&ends).min(3);
    let rows = ranges.iter().map(|range| {
        vec![range.env.clone(), format!("{:.digits$}", range.low), format!("{:.digits$}", range.high)]
    });
    text += &align(["", "0 is", "1 is"].map(String::from).to_vec(), rows.collect());
    text += "\n";
    let rows = scores.iter().map(|of| vec![of.label.clone(), score(&of.iqm, 2)]);
    text += &align(["", "IQM"].map(String::from).to_vec(), rows.collect());
    text += "\n";
    let labels: Vec<&str> = scores.iter().map(|of| of.label.as_str()).collect();
    text + &improvements("P(row > column), mean over these environments", &labels, improvement)
}

/// A table of all pairs; nothing for a single label.
fn improvements(title: &str, labels: &[&str], pairs: &[Improvement]) -> String {
    if pairs.is_empty() {
        return String::new();
    }
    let cell = |row: &str, column: &&str| {
        let pair = pairs.iter().find(|pair| pair.label == row && pair.over == *column);
        pair.map_or("·".to_owned(), |pair| score(&pair.probability, 2))
    };
    let header = [String::new()].into_iter().chain(labels.iter().map(|label| label.to_string()));
    let row = |row: &&str| {
        [row.to_string()].into_iter().chain(labels.iter().map(|column| cell(row, column))).collect()
    };
    format!("{title}\n{}\n", align(header.collect(), labels.iter().map(row).collect()))
}

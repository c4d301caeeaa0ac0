//! Runs side by side, as text.

use super::{Aggregate, Believed, Comparison, Environment, Improvement, Returns, Score};
use adfq_report::text::{align, count, decimals, fixed};

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

/// The heading of a column: what the brackets are, where there are any.
pub(super) fn heading(name: &str, scores: &[&Score]) -> String {
    let has_intervals = scores.iter().any(|score| score.interval.is_some());
    if has_intervals { format!("{name} [95 %]") } else { name.to_owned() }
}

/// The headings of a table of all pairs of labels. Long labels are numbered, and the columns have the numbers alone: the
/// table then fits on a screen.
pub(super) struct Heads {
    pub rows: Vec<String>,
    pub columns: Vec<String>,
}

impl Heads {
    pub fn of(labels: &[&str]) -> Self {
        let all = || labels.iter().map(|label| label.to_string()).collect();
        if labels.iter().map(|label| label.chars().count().max(17) + 2).sum::<usize>() <= 72 {
            return Self { rows: all(), columns: all() };
        }
        let rows = labels.iter().enumerate().map(|(i, label)| format!("{} {label}", i + 1)).collect();
        Self { rows, columns: (1..=labels.len()).map(|number| number.to_string()).collect() }
    }
}

/// The scores of a column, all with the decimals that the largest of them needs.
pub(super) fn column(scores: &[&Score]) -> Vec<String> {
    let numbers: Vec<f64> = scores
        .iter()
        .flat_map(|it| [Some(it.value), it.interval.map(|it| it.low), it.interval.map(|it| it.high)])
        .flatten()
        .collect();
    let decimals = decimals(&numbers).min(3);
    scores.iter().map(|it| score(it, decimals)).collect()
}

fn environment(environment: &Environment, returns: Returns) -> String {
    let Environment { env, steps, entries, improvement, notes, .. } = environment;
    let evaluations = returns.noun(steps.len());
    let last = steps.last().copied().unwrap_or(0);
    let mut text = format!("{env}: {} {evaluations} up to step {}\n\n", steps.len(), count(last));
    let finals: Vec<&Score> = entries.iter().map(|entry| &entry.final_return).collect();
    let areas: Vec<&Score> = entries.iter().map(|entry| &entry.area).collect();
    let mut header =
        vec![String::new(), "seeds".to_owned(), heading("final return", &finals), heading("area", &areas)];
    header.extend(Believed::heads(entries));
    let columns = entries.iter().zip(column(&finals)).zip(column(&areas)).zip(Believed::rows(entries));
    let rows = columns.map(|(((entry, last), area), beliefs)| {
        [entry.label.clone(), entry.runs.len().to_string(), last, area].into_iter().chain(beliefs).collect()
    });
    text += &align(header, rows.collect());
    text += "\n";
    let labels: Vec<&str> = entries.iter().map(|entry| entry.label.as_str()).collect();
    text += &improvements("P(row > column) [95 %], final return", &labels, improvement);
    text += &notes.iter().map(|note| format!("{note}\n")).collect::<String>();
    if notes.is_empty() { text } else { text + "\n" }
}

fn overall(aggregate: &Aggregate) -> String {
    let Aggregate { ranges, scores, improvement } = aggregate;
    let mut text = format!(
        "Over {} environments, final return normalised: 0 is random play and 1 a good player\n\n",
        ranges.len()
    );
    let rows = ranges.iter().map(|range| {
        let [low, high] = [range.low, range.high].map(|end| fixed(end, decimals([&end]).min(4)));
        vec![range.env.clone(), low, high, range.source.clone()]
    });
    text += &align(["", "0 is", "1 is", "source"].map(String::from).to_vec(), rows.collect());
    text += "\n";
    let rows = scores.iter().map(|of| vec![of.label.clone(), score(&of.iqm, 2)]);
    let iqms: Vec<&Score> = scores.iter().map(|of| &of.iqm).collect();
    text += &align(vec![String::new(), heading("IQM", &iqms)], rows.collect());
    text += "\n";
    let labels: Vec<&str> = scores.iter().map(|of| of.label.as_str()).collect();
    text + &improvements("P(row > column) [95 %], mean over these environments", &labels, improvement)
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
    let heads = Heads::of(labels);
    let row = |(row, head): (&&str, String)| {
        [head].into_iter().chain(labels.iter().map(|column| cell(row, column))).collect()
    };
    let rows = labels.iter().zip(heads.rows).map(row).collect();
    let header = [String::new()].into_iter().chain(heads.columns).collect();
    format!("{title}\n{}\n", align(header, rows))
}

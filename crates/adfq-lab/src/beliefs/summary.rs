//! Beliefs beside the truth, as text.

use super::{Beliefs, Checked, Found, Measures};
use crate::stats::Estimate;
use adfq_report::text::{align, count, decimals, fixed, percent};

/// What is said once, below all tables.
const LEGEND: &str = "\
Each belief is held against the mean discounted return of rollouts that take the action and then follow the agent's
own greedy policy, and against Q* where it is known. Honest beliefs hold .68 within ±σ and .95 within ±2σ. The rank
correlation is that of |error| and σ. Intervals take each state for one observation.
";

/// A table for each checkpoint of each run, what its numbers rest on, and what they mean.
pub fn summary(runs: &[Beliefs]) -> String {
    let one = |run: &Beliefs, checked: &Checked| {
        format!("{}\n\n{}\n{}\n", head(run, checked), table(checked), notes(checked))
    };
    let tables = runs.iter().flat_map(|run| run.checkpoints.iter().map(move |checked| one(run, checked)));
    tables.collect::<String>() + LEGEND
}

fn head(run: &Beliefs, checked: &Checked) -> String {
    let Beliefs { run, env, agent, policy, discount, .. } = run;
    // The discount is an f32: 0.99 and not 0.9900000095367432.
    let (run, discount, step) = (run.display(), *discount as f32, count(checked.step));
    format!("{run}: {env}, {agent} with {policy}, γ = {discount}, checkpoint of step {step}")
}

/// The columns of every table.
pub(super) const COLUMNS: [&str; 9] = [
    "states",
    "against",
    "within ±σ",
    "within ±2σ [95 %]",
    "CRPS",
    "bias",
    "RMSE",
    "mean σ",
    "rank corr. [95 %]",
];

/// The cells of one row.
pub(super) fn row(found: &Found, decimals: usize) -> [String; 9] {
    let Measures { within_1, within_2, crps, bias, rmse, mean_sd, rank_correlation, .. } = &found.measures;
    let number = |x: f64| fixed(x, decimals);
    [
        found.states().to_owned(),
        found.against.name().to_owned(),
        format!("{:.2}", within_1.value),
        with_interval(within_2),
        number(crps.value),
        number(bias.value),
        number(*rmse),
        number(*mean_sd),
        rank_correlation.as_ref().map_or("·".to_owned(), with_interval),
    ]
}

/// The decimals that suit the errors and deviations of a checkpoint.
pub(super) fn places(checked: &Checked) -> usize {
    let numbers = checked.found.iter().flat_map(|found| [found.measures.rmse, found.measures.mean_sd]);
    decimals(&numbers.collect::<Vec<_>>()).min(4)
}

fn table(checked: &Checked) -> String {
    let places = places(checked);
    let rows = checked.found.iter().map(|found| row(found, places).to_vec()).collect();
    align(COLUMNS.map(String::from).to_vec(), rows)
}

fn with_interval(estimate: &Estimate) -> String {
    // Adding 0 makes −0 a 0.
    let [value, low, high] =
        [estimate.value, estimate.interval.low, estimate.interval.high].map(|x| format!("{:.2}", x + 0.0));
    format!("{value} [{low}, {high}]")
}

/// What the numbers rest on.
pub(super) fn notes(checked: &Checked) -> String {
    let mut text: String = checked.warnings.iter().map(|warning| format!("Warning: {warning}.\n")).collect();
    text += &match checked.deterministic {
        true => format!(
            "{} rollouts, without chance: two of each action agree to the bit.\n",
            count(checked.rollouts as u64)
        ),
        false => format!(
            "{} rollouts; for {} of the values their standard error is at most σ/5.\n",
            count(checked.rollouts as u64),
            percent(checked.precise)
        ),
    };
    if let Some(overall) = checked.overall().filter(|_| !checked.deterministic) {
        text += &format!(
            "Mean standard error {}; within ±2√(σ² + s²), s the standard error: {:.2}.\n",
            fixed(overall.mean_standard_error, places(checked)),
            overall.within_corrected[1]
        );
    }
    if checked.cut > 0.0 {
        text += &format!(
            "{} of the rollouts were cut off; the agent's own value stands for what is missing.\n",
            percent(checked.cut)
        );
    }
    text += &format!(
        "P(σ in a state of random play > σ in one of an evaluation) = {:.2}\n",
        checked.doubts_random_play
    );
    if let Some(doubts) = checked.doubts_far_away {
        text += &format!("P(σ far away from all that were met > σ in one of an evaluation) = {doubts:.2}\n");
    }
    text
}

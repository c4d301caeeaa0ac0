//! Mean curves of everybody everywhere as one table: many numbers, so they are rounded to five digits.

use crate::Result;
use crate::experiment::results::Results;
use crate::experiment::trial::Record;
use crate::stats::{Estimate, mean};
use crate::table::{Cell, Table};

pub type Curve = fn(&Record) -> Vec<f64>;

/// A row for each domain, agent and look: first the curves with the ends of their intervals, then those without.
pub fn table(results: &Results<'_>, estimated: &[(&str, Curve)], plain: &[(&str, Curve)]) -> Result<Table> {
    let with_ends =
        |(name, _): &(&str, Curve)| [name.to_string(), format!("{name}, low"), format!("{name}, high")];
    let names = ["domain", "agent", "step"].map(String::from).into_iter();
    let names = names.chain(estimated.iter().flat_map(with_ends));
    let mut table = Table::new(names.chain(plain.iter().map(|(name, _)| name.to_string())));
    for domain in results.domains() {
        for label in results.labels(domain) {
            let records = results.records(domain, label);
            let steps = records.first().map_or(&[][..], |record| &record.steps);
            let estimates: Vec<_> =
                estimated.iter().map(|&(_, pick)| results.curve(domain, label, pick)).collect();
            let means: Vec<_> =
                plain.iter().map(|&(_, pick)| mean_curve(&records, pick, steps.len())).collect();
            for (look, &step) in steps.iter().enumerate() {
                let head = [domain.into(), label.into(), Cell::Count(step)].into_iter();
                let ends = estimates.iter().flat_map(|curve| {
                    let Estimate { value, interval } = curve[look].1;
                    [value, interval.low, interval.high]
                });
                let numbers = ends.chain(means.iter().map(|curve| curve[look])).map(cell);
                table.push(head.chain(numbers))?;
            }
        }
    }
    Ok(table)
}

/// The mean over trials at each look; NaN where there is nothing to take the mean of.
fn mean_curve(records: &[&Record], pick: Curve, looks: usize) -> Vec<f64> {
    let curves: Vec<Vec<f64>> = records.iter().map(|record| pick(record)).collect();
    let at =
        |look: usize| mean(&curves.iter().filter_map(|curve| curve.get(look).copied()).collect::<Vec<_>>());
    (0..looks).map(at).collect()
}

/// Five digits, or nothing.
fn cell(x: f64) -> Cell {
    match format!("{x:.4e}").parse::<f64>() {
        Ok(rounded) if rounded.is_finite() => rounded.into(),
        _ => Cell::Empty,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::agents::{ADFQ, NEUTRAL, contender};
    use crate::experiment::trial::Trial;

    #[test]
    fn means_and_ends_stand_side_by_side() {
        let contender = contender(ADFQ, "loop", 10, false, NEUTRAL).unwrap();
        let (family, domain, steps, looks, tests, seed) = ("t", "loop", 10, 1, false, 0);
        let outcome = |number, last| {
            let record = Record { steps: vec![0, 10], rmse: vec![4.0, last], ..Record::default() };
            (Trial { family, domain, contender, number, steps, looks, tests, seed }, record)
        };
        let outcomes = [outcome(0, 1.0), outcome(1, 1.0), outcome(2, 2.0)];
        let rmse: Curve = |record| record.rmse.clone();
        let table =
            table(&Results(&outcomes), &[("rmse", rmse)], &[("again", rmse), ("none", |_| vec![])]).unwrap();
        assert_eq!(table.columns()[3..], ["rmse", "rmse, low", "rmse, high", "again", "none"]);
        let last = &table.rows()[1];
        assert_eq!(
            (&last[3], &last[6], &last[7]),
            (&Cell::Number(1.3333), &Cell::Number(1.3333), &Cell::Empty)
        );
        assert_eq!((&last[4], &last[5]), (&Cell::Number(1.0), &Cell::Number(2.0)));
    }
}

//! What the pictures of single updates share: densities as curves, their numbers as a table, and claims about
//! numbers that are computed, not sampled.

use crate::Result;
use crate::cache::Cache;
use crate::experiment::{Findings, Job, Stop, Task};
use crate::plot::{Figure, Layer};
use crate::stats::{Estimate, Interval};
use crate::table::Table;
use crate::verdict::{Claim, Direction, Verdict};
use adfq::Belief;
use std::f64::consts::TAU;

/// The steps of an even grid over a panel: finer than its pixels.
const STEPS: u32 = 320;
/// The steps, and the reach in standard deviations, of the finer grid around a needle.
const NEEDLE: (u32, f64) = (60, 6.0);

/// An experiment with nothing to sample, and so without units.
pub(super) struct Picture(pub fn() -> Result<Findings>);

impl Job for Picture {
    fn tasks(&self) -> Vec<Task<'_>> {
        Vec::new()
    }

    fn findings(&self, _cache: &Cache, _stop: &Stop) -> Result<Findings> {
        (self.0)()
    }
}

/// The curve of `f` from `low` to `high`, both included.
pub(super) fn curve(range: (f64, f64), f: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    grid(range, STEPS).map(|q| (q, f(q))).collect()
}

/// The same with additional points around beliefs so narrow that an even grid would step over them.
pub(super) fn curve_with_needles(
    range: (f64, f64),
    needles: &[Belief],
    f: impl Fn(f64) -> f64,
) -> Vec<(f64, f64)> {
    let (steps, reach) = NEEDLE;
    let around = |needle: &Belief| {
        let half = reach * needle.sd();
        grid((needle.mean() - half, needle.mean() + half), steps)
    };
    let fine = needles.iter().flat_map(around).filter(|q| (range.0..=range.1).contains(q));
    let mut all: Vec<f64> = grid(range, STEPS).chain(fine).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all.into_iter().map(|q| (q, f(q))).collect()
}

fn grid((low, high): (f64, f64), steps: u32) -> impl Iterator<Item = f64> {
    (0..=steps).map(move |i| low + (high - low) * (f64::from(i) / f64::from(steps)))
}

/// The density of a belief.
pub(super) fn gaussian(belief: Belief) -> impl Fn(f64) -> f64 {
    let (mean, var) = (belief.mean(), belief.var());
    move |q| libm::exp(-(q - mean) * (q - mean) / (2.0 * var)) / (TAU * var).sqrt()
}

/// The TD target r + γQ(s′,b) as a belief: N(r + γμ, γ²σ²).
pub(super) fn target(reward: f64, discount: f64, next: Belief) -> Result<Belief> {
    Ok(Belief::new(reward + discount * next.mean(), discount * discount * next.var())?)
}

/// A claim about a number in which nothing is random: its sign alone decides, and zero refutes a claimed difference.
pub(super) fn computed(
    text: impl Into<String>,
    comparison: impl Into<String>,
    direction: Direction,
    difference: f64,
) -> Claim {
    let interval = Interval { low: difference, high: difference };
    let claim = Claim::new(text, comparison, direction, Estimate { value: difference, interval });
    if difference == 0.0 { Claim { verdict: Verdict::DoesNotHold, ..claim } } else { claim }
}

/// The numbers that a figure draws: a row for each point of its lines, areas, markers and bars.
pub(super) fn numbers(figure: &Figure) -> Result<Table> {
    let mut table = Table::new(["panel", "title", "series", "x", "y"]);
    for (i, panel) in figure.panels.iter().enumerate() {
        let mut row =
            |label: &str, x, y| table.push([(i + 1).into(), panel.title.as_str().into(), label.into(), x, y]);
        for layer in &panel.layers {
            let (label, points) = match layer {
                Layer::Line(line) => (&line.label, &line.points),
                Layer::Area(area) => (&area.label, &area.points),
                Layer::Markers(markers) => (&markers.label, &markers.points),
                Layer::Bars(bars) => {
                    for bar in &bars.bars {
                        row(&bars.label, bar.category.as_str().into(), bar.value.into())?;
                    }
                    continue;
                }
                Layer::Web(web) => {
                    for (spoke, value) in &web.spokes {
                        row(&web.label, spoke.as_str().into(), (*value).into())?;
                    }
                    continue;
                }
                Layer::Rule(_) | Layer::Note(_) => continue,
            };
            for &(x, y) in points {
                row(label, x.into(), y.into())?;
            }
        }
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{Area, Axis, Panel};

    #[test]
    fn curves_end_where_they_should_and_do_not_step_over_needles() {
        let line = curve((-1.0, 2.0), |q| 2.0 * q);
        assert_eq!((line[0], line[line.len() - 1]), ((-1.0, -2.0), (2.0, 4.0)));
        let needle = Belief::new(0.1234, 1e-6).unwrap();
        let line = curve_with_needles((-9.0, 9.0), &[needle], gaussian(needle));
        let highest = line.iter().map(|point| point.1).fold(0.0, f64::max);
        assert!((highest - 398.942).abs() < 0.001);
    }

    #[test]
    fn a_target_is_a_scaled_and_shifted_belief() {
        let next = Belief::new(2.0, 4.0).unwrap();
        assert_eq!(target(1.0, 0.5, next).unwrap(), Belief::new(2.0, 1.0).unwrap());
    }

    #[test]
    fn a_sign_decides_where_nothing_is_random() {
        let grows =
            |difference| computed("σ grows", "σ after − before", Direction::Greater, difference).verdict;
        assert_eq!([0.5, 0.0, -0.5].map(grows), [Verdict::Holds, Verdict::DoesNotHold, Verdict::DoesNotHold]);
        assert_eq!(grows(f64::NAN), Verdict::NotDecided);
    }

    #[test]
    fn a_figure_is_a_table_of_its_points() {
        let panel = Panel::new("prior", Axis::linear("q"), Axis::linear("density"));
        let figure = Figure::new("").panel(panel.layer(Area::new("exact", [(0.0, 0.5)])));
        assert_eq!(numbers(&figure).unwrap().csv(), "panel,title,series,x,y\n1,prior,exact,0.0,0.5\n");
    }
}

//! What the pictures of single updates share: densities as curves, their numbers as a table, and claims about
//! numbers that are computed, not sampled.

use crate::Result;
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

/// The curve of `f` from `low` to `high`, both included.
///
/// ```
/// use adfq_lab::experiment::picture::curve;
///
/// let line = curve((-1.0, 2.0), |q| 2.0 * q);
/// assert_eq!((line[0], line[line.len() - 1]), ((-1.0, -2.0), (2.0, 4.0)));
/// ```
pub fn curve(range: (f64, f64), f: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    grid(range, STEPS).map(|q| (q, f(q))).collect()
}

/// The same with additional points around beliefs so narrow that an even grid would step over them.
///
/// ```
/// use adfq::Belief;
/// use adfq_lab::experiment::picture::{curve_with_needles, gaussian};
///
/// let needle = Belief::new(0.1234, 1e-6)?;
/// let line = curve_with_needles((-9.0, 9.0), &[needle], gaussian(needle));
/// let highest = line.iter().map(|point| point.1).fold(0.0, f64::max);
/// assert!((highest - 398.942).abs() < 0.001);
/// # Ok::<(), adfq::Error>(())
/// ```
pub fn curve_with_needles(range: (f64, f64), needles: &[Belief], f: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
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
///
/// ```
/// let density = adfq_lab::experiment::picture::gaussian(adfq::Belief::new(1.0, 4.0)?);
/// assert!((density(1.0) - 0.199_471).abs() < 1e-6);
/// # Ok::<(), adfq::Error>(())
/// ```
pub fn gaussian(belief: Belief) -> impl Fn(f64) -> f64 {
    let (mean, var) = (belief.mean(), belief.var());
    move |q| libm::exp(-(q - mean) * (q - mean) / (2.0 * var)) / (TAU * var).sqrt()
}

/// The TD target r + γQ(s′,b) as a belief: N(r + γμ, γ²σ²).
///
/// ```
/// use adfq::Belief;
///
/// let target = adfq_lab::experiment::picture::target(1.0, 0.5, Belief::new(2.0, 4.0)?)?;
/// assert_eq!(target, Belief::new(2.0, 1.0)?);
/// # Ok::<(), adfq_lab::Error>(())
/// ```
pub fn target(reward: f64, discount: f64, next: Belief) -> Result<Belief> {
    Ok(Belief::new(reward + discount * next.mean(), discount * discount * next.var())?)
}

/// A claim about a number in which nothing is random: its sign alone decides, and zero refutes a claimed difference.
///
/// ```
/// use adfq_lab::experiment::picture::computed;
/// use adfq_report::verdict::{Direction, Verdict};
///
/// let grows = |difference| computed("σ grows", "σ after − before", Direction::Greater, difference).verdict;
/// assert_eq!([0.5, 0.0, -0.5].map(grows), [Verdict::Holds, Verdict::DoesNotHold, Verdict::DoesNotHold]);
/// assert_eq!(grows(f64::NAN), Verdict::NotDecided);
/// ```
pub fn computed(
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
///
/// ```
/// use adfq_report::plot::{Area, Axis, Figure, Panel};
///
/// let panel = Panel::new("prior", Axis::linear("q"), Axis::linear("density"));
/// let figure = Figure::new("").panel(panel.layer(Area::new("exact", [(0.0, 0.5)])));
/// let table = adfq_lab::experiment::picture::numbers(&figure)?;
/// assert_eq!(table.csv(), "panel,title,series,x,y\n1,prior,exact,0.0,0.5\n");
/// # Ok::<(), adfq_lab::Error>(())
/// ```
pub fn numbers(figure: &Figure) -> Result<Table> {
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
                Layer::Rule(_) | Layer::Note(_) => continue,
            };
            for &(x, y) in points {
                row(label, x.into(), y.into())?;
            }
        }
    }
    Ok(table)
}

//! Curves of runs: any quantity of their logs over steps or hours, one line a run or one band for each group of seeds.
//!
//! Bands are those of `adfq compare`: the same labels, the same steps, the same interquartile means and intervals.

use crate::series::{Series, Source};
use crate::server::Shared;
use crate::{Error, Result};
use adfq_lab::compare::{Run, band, labels};
use adfq_report::plot::extremes;
use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError};

/// Points of a line unless told otherwise, and the most that may be asked for.
const POINTS: usize = 2_000;
const MOST_POINTS: usize = 100_000;
/// Runs of one request.
const MOST_RUNS: usize = 2_000;
/// Points of a band, each of which is a bootstrap.
const BAND_POINTS: usize = 200;
/// A pause that is so many times as long as usual is one in which nobody trained.
const PAUSE: f64 = 20.0;

/// What is over what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// Environment steps.
    #[default]
    Steps,
    /// Hours of training; the time between a stop and a resume does not count.
    Hours,
}

/// Which curves are asked for.
#[derive(Clone, Debug, Deserialize)]
pub struct CurvesRequest {
    /// The runs, by id.
    pub runs: Vec<String>,
    /// `evaluation`, `speed`, or a column of `metrics.csv`.
    pub y: String,
    /// Over what.
    #[serde(default)]
    pub x: Axis,
    /// How many points a line has at most. Of a longer one the extremes are kept.
    pub points: Option<usize>,
}

/// Curves of runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curves {
    /// Lists of x. Runs that have the same one share it.
    pub grids: Vec<Vec<f64>>,
    /// A line for each run that has the quantity.
    pub lines: Vec<Line>,
    /// Why others have none.
    pub missing: BTreeMap<String, String>,
}

/// The curve of one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// The run.
    pub run: String,
    /// Its label, as comparisons have it.
    pub label: String,
    /// The environment.
    pub env: String,
    /// The number of its list of x.
    pub grid: usize,
    /// The values; null where there is none.
    pub y: Vec<f64>,
}

/// Groups of seeds as bands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bands {
    /// One for each environment and label.
    pub bands: Vec<Band>,
    /// Why some runs are in none.
    pub missing: BTreeMap<String, String>,
}

/// The interquartile mean over seeds, with its 95 % bootstrap interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Band {
    /// The environment.
    pub env: String,
    /// The label.
    pub label: String,
    /// How many seeds.
    pub seeds: usize,
    /// The steps that all of them have.
    pub steps: Vec<f64>,
    /// The IQM at each.
    pub iqm: Vec<f64>,
    /// The ends of the interval; null with one seed.
    pub low: Vec<f64>,
    /// See `low`.
    pub high: Vec<f64>,
}

/// `POST /api/curves`.
pub(crate) async fn curves(
    State(shared): State<Arc<Shared>>,
    Json(request): Json<CurvesRequest>,
) -> Result<Json<Curves>> {
    shared.blocking(move |shared| Ok(Json(curves_of(shared, &request)?))).await
}

/// `POST /api/bands`.
pub(crate) async fn bands(
    State(shared): State<Arc<Shared>>,
    Json(request): Json<CurvesRequest>,
) -> Result<Json<Bands>> {
    shared.blocking(move |shared| Ok(Json(bands_of(shared, &request)?))).await
}

/// Runs with what they have of a quantity, and why others have nothing.
struct Read {
    runs: Vec<(Arc<Run>, String, Series)>,
    missing: BTreeMap<String, String>,
}

fn read(shared: &Shared, request: &CurvesRequest) -> Result<Read> {
    if request.runs.len() > MOST_RUNS {
        return Err(Error::Request(format!("at most {MOST_RUNS} runs can be asked for at once")));
    }
    let named = shared.named();
    let (mut runs, mut missing) = (vec![], BTreeMap::new());
    for id in request.runs.iter().collect::<BTreeSet<_>>() {
        let Some(run) = named.get(id) else {
            missing.insert(id.clone(), Error::NoRun(id.clone()).to_string());
            continue;
        };
        match series(shared, id, request) {
            Ok(series) => runs.push((run.clone(), id.clone(), series)),
            Err(error) => drop(missing.insert(id.clone(), error.to_string())),
        }
    }
    Ok(Read { runs, missing })
}

/// A quantity of a run over what was asked for.
fn series(shared: &Shared, id: &str, request: &CurvesRequest) -> Result<Series> {
    let folder = shared.folder(id)?;
    let mut columns = shared.columns.lock().unwrap_or_else(PoisonError::into_inner);
    let mut get = |source: &Source| columns.get(id, &folder, source);
    let mut series = match request.y.as_str() {
        "evaluation" => Series::clone(&*get(&Source::Evaluations)?),
        "speed" => speed(&*get(&Source::Times)?),
        name => Series::clone(&*get(&Source::Metrics(name.to_owned()))?),
    };
    if request.x == Axis::Hours {
        let times = get(&Source::Times)?;
        series.steps = hours(&series.steps, &times);
    }
    Ok(series)
}

/// Steps a second between one row and the next.
fn speed(times: &Series) -> Series {
    let mut speed = Series::default();
    let rows = || times.steps.iter().zip(&times.values);
    for ((before, begun), (step, ended)) in rows().zip(rows().skip(1)) {
        let (steps, seconds) = (step - before, ended - begun);
        if steps > 0.0 && seconds > 0.0 {
            speed.steps.push(*step);
            speed.values.push(steps / seconds);
        }
    }
    speed
}

/// How many hours of training each step came after. A pause is counted as a usual row: nobody trained in it.
fn hours(steps: &[f64], times: &Series) -> Vec<f64> {
    let mut gaps: Vec<f64> =
        times.values.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 0.0).collect();
    gaps.sort_by(f64::total_cmp);
    let usual = gaps.get(gaps.len() / 2).copied().unwrap_or(0.0);
    let longest = (PAUSE * usual).max(60.0);
    let mut reached = vec![];
    let mut hours = 0.0;
    for (i, &time) in times.values.iter().enumerate() {
        let gap = if i == 0 { 0.0 } else { time - times.values[i - 1] };
        hours += if gap > longest || gap < 0.0 { usual } else { gap } / 3600.0;
        reached.push(hours);
    }
    let at = |&step: &f64| {
        let next = times.steps.partition_point(|&known| known < step);
        match (next.checked_sub(1), next < reached.len()) {
            (Some(before), true) => {
                let (from, to) = (times.steps[before], times.steps[next]);
                let share = if to > from { (step - from) / (to - from) } else { 1.0 };
                reached[before] + share * (reached[next] - reached[before])
            }
            (None, true) => reached[next],
            _ => reached.last().copied().unwrap_or(f64::NAN),
        }
    };
    steps.iter().map(at).collect()
}

fn curves_of(shared: &Shared, request: &CurvesRequest) -> Result<Curves> {
    let points = request.points.unwrap_or(POINTS).clamp(4, MOST_POINTS);
    let Read { runs, missing } = read(shared, request)?;
    let names: Vec<Run> = runs.iter().map(|(run, ..)| Run::clone(run)).collect();
    let mut grids: Vec<Vec<f64>> = vec![];
    let mut lines = vec![];
    for ((run, id, series), label) in runs.into_iter().zip(labels(&names)) {
        let Series { steps, values } = thinned(series, points);
        // Most runs of a study have the same steps: looking at the last list first finds it at once.
        let grid = grids.iter().rposition(|grid| *grid == steps).unwrap_or_else(|| {
            grids.push(steps);
            grids.len() - 1
        });
        lines.push(Line { run: id, label, env: run.head.env.clone(), grid, y: values });
    }
    Ok(Curves { grids, lines, missing })
}

fn thinned(series: Series, points: usize) -> Series {
    let Series { steps, values } = &series;
    if steps.len() <= points {
        return series;
    }
    let kept = extremes(steps.len(), points, |i| values[i], |i| values[i]);
    let pick = |of: &[f64]| kept.iter().map(|&i| of[i]).collect();
    Series { steps: pick(steps), values: pick(values) }
}

fn bands_of(shared: &Shared, request: &CurvesRequest) -> Result<Bands> {
    let Read { runs, mut missing } = read(shared, request)?;
    let names: Vec<Run> = runs.iter().map(|(run, ..)| Run::clone(run)).collect();
    let mut groups: BTreeMap<(String, String), Vec<(String, Series)>> = BTreeMap::new();
    for ((run, id, series), label) in runs.into_iter().zip(labels(&names)) {
        match series.values.iter().any(|value| value.is_finite()) {
            true => groups.entry((run.head.env.clone(), label)).or_default().push((id, series)),
            false => drop(missing.insert(id, "has no value yet".to_owned())),
        }
    }
    let bands = groups.into_iter().map(|((env, label), group)| band_of(env, label, &group));
    Ok(Bands { bands: bands.collect::<Result<_>>()?, missing })
}

/// The band of a group, at the steps that all of its seeds have a value for.
fn band_of(env: String, label: String, group: &[(String, Series)]) -> Result<Band> {
    let by_step = |(_, series): &(String, Series)| -> BTreeMap<u64, f64> {
        let rows = series.steps.iter().zip(&series.values).filter(|(_, value)| value.is_finite());
        rows.map(|(&step, &value)| (step as u64, value)).collect()
    };
    let seeds: Vec<BTreeMap<u64, f64>> = group.iter().map(by_step).collect();
    let is_common = |step: &u64| seeds.iter().all(|seed| seed.contains_key(step));
    let common: Vec<u64> = seeds[0].keys().copied().filter(is_common).collect();
    let kept: Vec<u64> = match common.len() {
        0..=BAND_POINTS => common,
        n => (0..BAND_POINTS).map(|i| common[i * (n - 1) / (BAND_POINTS - 1)]).collect(),
    };
    let values: Vec<Vec<f64>> =
        kept.iter().map(|step| seeds.iter().map(|seed| seed[step]).collect()).collect();
    let scores = band(&env, &label, &kept, &values, 0)?;
    let end = |pick: fn(adfq_report::stats::Interval) -> f64| {
        scores.iter().map(|score| score.interval.map_or(f64::NAN, pick)).collect()
    };
    Ok(Band {
        seeds: seeds.len(),
        steps: kept.iter().map(|&step| step as f64).collect(),
        iqm: scores.iter().map(|score| score.value).collect(),
        low: end(|interval| interval.low),
        high: end(|interval| interval.high),
        env,
        label,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_do_not_count_pauses() {
        let values = vec![0.0, 36.0, 72.0, 100_072.0, 100_108.0];
        let times = Series { steps: vec![10.0, 20.0, 30.0, 40.0, 50.0], values };
        let at: Vec<f64> = hours(&[10.0, 15.0, 30.0, 40.0, 50.0, 60.0], &times);
        for (hours, expected) in at.iter().zip([0.0, 0.005, 0.02, 0.03, 0.04, 0.04]) {
            assert!((hours - expected).abs() < 1e-12, "{at:?}");
        }
        let speed = speed(&times);
        assert!((speed.values[0] - 10.0 / 36.0).abs() < 1e-12 && speed.steps[0] == 20.0);
    }

    #[test]
    fn a_long_line_keeps_its_extremes() {
        let steps: Vec<f64> = (0..10_000).map(f64::from).collect();
        let mut values = vec![0.0; 10_000];
        values[5_000] = 7.0;
        let thin = thinned(Series { steps, values }, 100);
        assert!(thin.steps.len() <= 100 && thin.values.contains(&7.0));
        assert_eq!((thin.steps[0], thin.steps.last()), (0.0, Some(&9_999.0)));
    }
}

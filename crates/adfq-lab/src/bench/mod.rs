//! How fast things are here: the engine, the replay memory, the environments, and training end to end.
//!
//! A [`Bench`] is a name and what to time; running it gives a [`Row`]. This is the one place in the library that looks
//! at a clock ([`Pace`] says how long): its rows are measurements, and nothing else depends on them. The networks,
//! batches and settings are those of `benches/peers`, where other libraries are timed on the same.

mod bridge;
mod clock;
mod engine;
mod environments;
mod output;
mod replay;
mod training;

pub use clock::Pace;
pub use output::{Lines, Machine};

use crate::{Error, Result};
use clock::{Times, repeated, trained};
use serde::Serialize;

/// Several operations in a row: their number is the argument, and the loop lies within so that a call costs nothing.
type Operation = Box<dyn FnMut(u64) -> adfq_deep::Result<()>>;

/// What is timed.
enum Work {
    /// The same operation again and again.
    Operation(Operation),
    /// Whole runs of a trainer, from the first step to the last; the making of the trainer is not timed.
    Training(Box<adfq_deep::Config>),
}

/// The parts of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Group {
    /// Networks: gradient steps and forward passes.
    #[serde(rename = "engine")]
    Engine,
    /// The replay memory.
    #[serde(rename = "replay")]
    Replay,
    /// Environments without an agent.
    #[serde(rename = "environments")]
    Environments,
    /// Environments in worker processes, beside the same driven from Python.
    #[serde(rename = "bridge")]
    Bridge,
    /// Training, all of it.
    #[serde(rename = "end to end")]
    EndToEnd,
}

impl Group {
    /// The name, for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Engine => "engine",
            Self::Replay => "replay",
            Self::Environments => "environments",
            Self::Bridge => "bridge",
            Self::EndToEnd => "end to end",
        }
    }

    /// Whether its operations may use several threads.
    fn parallel(self) -> bool {
        matches!(self, Self::Engine | Self::EndToEnd)
    }
}

/// Something that can be timed.
pub struct Bench {
    name: String,
    group: Group,
    prepare: Box<dyn Fn() -> adfq_deep::Result<Work>>,
}

/// What was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The bench's name; no two have the same.
    pub name: String,
    /// Its part of the table.
    pub group: Group,
    /// Threads that it could use.
    pub threads: usize,
    /// Microseconds for an operation, the median over samples. A sample is the mean over many operations.
    pub median_us: f64,
    /// The least of the samples.
    pub min_us: f64,
    /// Operations in a second, from the median.
    pub steps_per_s: f64,
    /// How many samples.
    pub samples: usize,
    /// Operations in each sample.
    pub operations: u64,
    /// Gradient steps in each sample of a training that is timed as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gradient_steps: Option<u64>,
    /// Where.
    #[serde(flatten)]
    pub machine: Machine,
}

impl Bench {
    fn new(
        group: Group,
        name: impl Into<String>,
        prepare: impl Fn() -> adfq_deep::Result<Work> + 'static,
    ) -> Self {
        Self { name: name.into(), group, prepare: Box::new(prepare) }
    }

    /// Its name, as in the table.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it needs more than this program: a Python with packages, which may not be there.
    pub fn needs_python(&self) -> bool {
        self.group == Group::Bridge
    }

    /// Prepares, warms up and measures, on this thread and those of rayon's present pool, as training does.
    pub fn run(&self, pace: &Pace) -> Result<Row> {
        let Times { us, operations, gradient_steps } = match (self.prepare)()? {
            Work::Operation(operation) => repeated(pace, operation)?,
            Work::Training(config) => trained(pace, &config)?,
        };
        let median_us = crate::stats::median(&us);
        Ok(Row {
            name: self.name.clone(),
            group: self.group,
            threads: if self.group.parallel() { rayon::current_num_threads() } else { 1 },
            median_us,
            min_us: us.iter().copied().fold(f64::INFINITY, f64::min),
            steps_per_s: 1e6 / median_us,
            samples: us.len(),
            operations,
            gradient_steps,
            machine: Machine::here(),
        })
    }
}

/// All that can be timed, in the order of the table; worker processes run as `python` says.
pub fn all(python: &adfq_env::Gym) -> Vec<Bench> {
    let (bridge, training) = (bridge::benches(python), training::benches());
    let parts = [engine::benches(), replay::benches(), environments::benches(), bridge, training];
    parts.into_iter().flatten().collect()
}

/// Those whose name or group contains one of these words, in upper or lower case; all, if there are no words. A word
/// that chooses nothing is an error that lists the names.
///
/// ```
/// use adfq_lab::bench::select;
///
/// let python = adfq_env::Gym::default();
/// let chosen = select(&["replay".to_owned(), "env cartpole".to_owned()], &python)?;
/// assert_eq!(chosen.last().unwrap().name(), "env cartpole");
/// let error = select(&["reply".to_owned()], &python).err().unwrap().to_string();
/// assert!(error.starts_with("nothing is called \"reply\"; choose from: gradient step mlp"), "{error}");
/// # Ok::<(), adfq_lab::Error>(())
/// ```
pub fn select(only: &[String], python: &adfq_env::Gym) -> Result<Vec<Bench>> {
    let benches = all(python);
    let fits = |bench: &Bench, word: &String| {
        let word = word.trim().to_lowercase();
        bench.name.contains(&word) || bench.group.name().contains(&word)
    };
    if let Some(word) = only.iter().find(|word| !benches.iter().any(|bench| fits(bench, word))) {
        let known = benches.iter().map(Bench::name).collect::<Vec<_>>().join(", ");
        return Err(Error::Unknown { word: word.clone(), known });
    }
    Ok(benches
        .into_iter()
        .filter(|bench| only.is_empty() || only.iter().any(|word| fits(bench, word)))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_benches_have_the_same_name() {
        let benches = all(&Default::default());
        let names: HashSet<&str> = benches.iter().map(Bench::name).collect();
        assert_eq!(names.len(), benches.len());
    }

    /// Which benches there are is what `benches/peers/table.py` and readers of the JSON rely on.
    #[test]
    fn the_names_others_rely_on() {
        let benches = all(&Default::default());
        for name in [
            "gradient step mlp 4-64-64",
            "gradient step mlp 4-64-64 dqn",
            "gradient step minatar",
            "gradient step atari",
            "replay sample + update 32 of 1M",
            "env cartpole",
            "env minatar breakout",
            "train cartpole dqn 64-64",
            "train cartpole dqn 120-84",
        ] {
            assert!(benches.iter().any(|bench| bench.name == name), "{name}");
        }
    }

    #[test]
    fn words_choose_by_name_and_by_group() {
        let chosen = |word: &str| select(&[word.to_owned()], &Default::default()).unwrap();
        assert!(chosen("Environments").iter().all(|bench| bench.name.starts_with("env ")));
        assert!(chosen("end to end").iter().all(|bench| bench.name.starts_with("train ")));
        assert_eq!(chosen("gradient step atari").len(), 1);
        assert_eq!(select(&[], &Default::default()).unwrap().len(), all(&Default::default()).len());
    }

    /// Every operation runs, for a number of times that no clock decides.
    #[test]
    fn every_operation_runs() {
        for bench in all(&Default::default()).iter().filter(|bench| !bench.needs_python()) {
            if let Work::Operation(mut operation) = (bench.prepare)().unwrap() {
                operation(3).unwrap_or_else(|error| panic!("{}: {error}", bench.name));
            }
        }
    }
}

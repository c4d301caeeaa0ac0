//! The scores of agents over seeds: of each experiment, of each ability, and of all together.

use super::score::{Logged, score};
use super::sweep::{Entrant, Sweep};
use crate::Result;
use crate::stats::{Bootstrap, Interval, mean};
use adfq::random::stream;
use adfq_env::bsuite::{EXPERIMENTS, Experiment};
use serde::Serialize;
use std::path::Path;

/// The abilities that bsuite tests, in the order of its radar.
pub const TAGS: [&str; 7] =
    ["basic", "credit_assignment", "exploration", "generalization", "memory", "noise", "scale"];

/// The experiments in the order of bsuite's bars.
const ORDER: [&str; 23] = [
    "bandit",
    "mnist",
    "catch",
    "mountain_car",
    "cartpole",
    "bandit_noise",
    "mnist_noise",
    "catch_noise",
    "mountain_car_noise",
    "cartpole_noise",
    "bandit_scale",
    "mnist_scale",
    "catch_scale",
    "mountain_car_scale",
    "cartpole_scale",
    "deep_sea",
    "deep_sea_stochastic",
    "cartpole_swingup",
    "umbrella_length",
    "umbrella_distract",
    "discounting_chain",
    "memory_len",
    "memory_size",
];

/// A mean over seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Average {
    /// The mean.
    pub value: f64,
    /// Its 95 % bootstrap interval; nothing where there is one seed only.
    pub interval: Option<Interval>,
}

/// The score of an agent in an experiment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExperimentScore {
    /// The experiment.
    pub experiment: &'static str,
    /// What bsuite's bars are coloured by: the first of its abilities.
    pub kind: &'static str,
    /// How many of its settings were run, of how many.
    pub settings: [usize; 2],
    /// Whether all of them ran bsuite's number of episodes.
    pub finished: bool,
    /// The score over seeds; nothing where the rule gives none.
    pub score: Option<Average>,
    /// That of each seed.
    pub by_seed: Vec<Option<f64>>,
}

/// All scores of an agent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgentScores {
    /// Its name in tables.
    pub label: String,
    /// The name of its folder.
    pub folder: String,
    /// Each experiment, in bsuite's order.
    pub experiments: Vec<ExperimentScore>,
    /// Each ability: the mean over the experiments that test it.
    pub tags: Vec<(&'static str, Option<Average>)>,
    /// The mean over all experiments.
    pub overall: Option<Average>,
}

/// The scores of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scores {
    /// The seeds of each agent.
    pub seeds: Vec<u64>,
    /// The agents, in the order asked for.
    pub agents: Vec<AgentScores>,
}

impl Scores {
    /// Scores what a sweep has left in its folder.
    pub fn read(sweep: &Sweep, out: &Path) -> Result<Self> {
        let agents =
            sweep.entrants.iter().map(|entrant| agent(sweep, entrant, out)).collect::<Result<_>>()?;
        Ok(Self { seeds: sweep.seeds.clone(), agents })
    }
}

fn agent(sweep: &Sweep, entrant: &Entrant, out: &Path) -> Result<AgentScores> {
    let read = |&seed: &u64| sweep.logged(out, entrant, seed);
    let by_seed: Vec<Vec<Logged>> = sweep.seeds.iter().map(read).collect::<Result<_>>()?;
    let (folder, mut experiments) = (entrant.folder(), vec![]);
    for experiment in ORDER.iter().filter_map(|name| known(name)) {
        experiments.extend(in_experiment(experiment, &by_seed, sweep.episodes, &folder)?);
    }
    let tag = |tag: &'static str| Ok((tag, over(&experiments, &folder, tag, |it| it.tags.contains(&tag))?));
    Ok(AgentScores {
        label: entrant.label(),
        tags: TAGS.into_iter().map(tag).collect::<Result<_>>()?,
        overall: over(&experiments, &folder, "overall", |_| true)?,
        experiments,
        folder,
    })
}

/// The score of an agent in an experiment; none if it has not run any of its settings.
fn in_experiment(
    experiment: &'static Experiment,
    by_seed: &[Vec<Logged>],
    episodes: Option<u64>,
    whose: &str,
) -> Result<Option<ExperimentScore>> {
    let of_it = |logged: &&Logged| logged.setting.experiment.name == experiment.name;
    let by_seed: Vec<Vec<Logged>> =
        by_seed.iter().map(|logged| logged.iter().filter(of_it).cloned().collect()).collect();
    if by_seed.iter().all(Vec::is_empty) {
        return Ok(None);
    }
    let settings = by_seed.iter().map(Vec::len).min().unwrap_or(0);
    let by_seed: Vec<Option<f64>> =
        by_seed.iter().map(|logged| score(experiment, logged)).collect::<Result<_>>()?;
    Ok(Some(ExperimentScore {
        experiment: experiment.name,
        kind: experiment.tags[0],
        settings: [settings, experiment.settings],
        finished: episodes.is_none_or(|episodes| episodes >= experiment.episodes),
        score: average(experiment.name, whose, &by_seed)?,
        by_seed,
    }))
}

/// The mean over the experiments that belong together, of each seed and then over seeds.
fn over(
    experiments: &[ExperimentScore],
    whose: &str,
    what: &str,
    belongs: impl Fn(&Experiment) -> bool,
) -> Result<Option<Average>> {
    let chosen: Vec<&ExperimentScore> =
        experiments.iter().filter(|it| known(it.experiment).is_some_and(&belongs)).collect();
    let seeds = chosen.iter().map(|it| it.by_seed.len()).max().unwrap_or(0);
    let of_seed = |seed: usize| mean_of(chosen.iter().map(|it| it.by_seed[seed]));
    average(what, whose, &(0..seeds).map(of_seed).collect::<Vec<_>>())
}

/// The experiment of this name.
fn known(name: &str) -> Option<&'static Experiment> {
    EXPERIMENTS.iter().find(|experiment| experiment.name == name)
}

/// The mean of the scores that there are.
fn mean_of(scores: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let there: Vec<f64> = scores.flatten().collect();
    (!there.is_empty()).then(|| mean(&there))
}

/// The mean over seeds and its interval, whose chance comes from what it is of.
fn average(what: &str, whose: &str, by_seed: &[Option<f64>]) -> Result<Option<Average>> {
    let scores: Vec<f64> = by_seed.iter().copied().flatten().collect();
    match scores[..] {
        [] => Ok(None),
        [value] => Ok(Some(Average { value, interval: None })),
        _ => {
            let mut rng = stream(0, &format!("bsuite/{whose}/{what}"));
            let estimate = Bootstrap::default().estimate(&scores, mean, &mut rng)?;
            Ok(Some(Average { value: estimate.value, interval: Some(estimate.interval) }))
        }
    }
}

//! The truth about deep beliefs: what an agent believes of Q(s,a), held against returns of its own greedy policy.
//!
//! [`measure`] reads a run and measures its checkpoints. `truth` finds the values by rollouts, `measures` says how the
//! beliefs compare with them, [`summary()`] makes tables for a terminal and [`write()`] a page. How states are met and
//! played on from is [`adfq_deep::rollout`]'s business. docs/beliefs.md says what each number means.

mod figure;
mod measures;
mod summary;
mod truth;
mod write;

pub use measures::Measures;
pub use summary::summary;
pub use truth::Pair;
pub use write::write;

use crate::{Error, Result, float};
use adfq_deep::rollout::{Play, Rollouts};
use adfq_deep::{Checkpoint, Host};
use adfq_files::Folder;
use adfq_report::stats::probability_of_improvement;
use measures::Judged;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The file in a run folder that holds what was measured.
pub const FILE: &str = "beliefs.json";

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// States of each kind of play.
    pub states: usize,
    /// The most rollouts for one action in one state.
    pub rollouts: usize,
    /// The seed of all chance.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { states: 50, rollouts: 256, seed: 0 }
    }
}

/// The beliefs of one run, measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Beliefs {
    /// The run folder, as it was named.
    pub run: PathBuf,
    /// The environment.
    pub env: String,
    /// What learned.
    pub agent: String,
    /// How it explored.
    pub policy: String,
    /// The discount of all returns.
    pub discount: f64,
    /// How much was measured.
    pub settings: Settings,
    /// Each checkpoint, in order.
    pub checkpoints: Vec<Checked>,
}

/// The beliefs at one checkpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checked {
    /// Its environment step.
    pub step: u64,
    /// Whether all rollouts of the same action in the same state had the same return: then there is no error in them.
    pub deterministic: bool,
    /// Rollouts in all.
    pub rollouts: usize,
    /// The share of rollouts that were cut off before the discount had become small. The agent's own value stands for what is
    /// missing of them.
    pub cut: f64,
    /// The share of values whose standard error is at most a fifth of σ.
    pub precise: f64,
    /// The probability that a state of random play has a larger mean σ than one of an evaluation.
    pub doubts_random_play: f64,
    /// The probability that an observation far away from all that were met has a larger mean σ than one of an evaluation. None in
    /// files of before it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubts_far_away: Option<f64>,
    /// What was found, for each kind of states.
    pub found: Vec<Found>,
    /// What is wrong with later checkpoints, if it is not the one asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Every value, for tables.
    #[serde(skip)]
    pub pairs: Vec<Pair>,
}

impl Checked {
    /// What was found over all states against the agent's own policy.
    pub fn overall(&self) -> Option<&Measures> {
        let is_overall = |found: &&Found| found.met_in.is_none() && found.against == Against::OwnPolicy;
        self.found.iter().find(is_overall).map(|found| &found.measures)
    }
}

/// What the beliefs are held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Against {
    /// Q of the agent's own greedy policy.
    OwnPolicy,
    /// Q* of a finite MDP.
    Optimum,
}

impl Against {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::OwnPolicy => "own policy",
            Self::Optimum => "Q*",
        }
    }
}

/// Measures of some states.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// How the states were met; none stands for all of them.
    pub met_in: Option<Play>,
    /// What the beliefs were held against.
    pub against: Against,
    /// The measures.
    #[serde(flatten)]
    pub measures: Measures,
}

impl Found {
    /// How the states were met, in words.
    pub fn states(&self) -> &'static str {
        self.met_in.map_or("all", Play::name)
    }
}

/// Measures these checkpoints of a run on the threads of the present pool. Their number does not change the result.
///
/// ```no_run
/// use adfq_deep::{Checkpoint, Host};
/// use adfq_lab::beliefs::{Settings, measure, summary};
///
/// let run = "runs/deepsea-10-split-optimist-0".as_ref();
/// let beliefs = measure(run, &Host::default(), &[Checkpoint::Last], Settings::default())?;
/// print!("{}", summary(&[beliefs]));
/// # Ok::<(), adfq_lab::Error>(())
/// ```
pub fn measure(run: &Path, host: &Host, which: &[Checkpoint], settings: Settings) -> Result<Beliefs> {
    let mut measured: Option<Beliefs> = None;
    for &which in which {
        let load = |_| Ok(Rollouts::load(run, host, which)?);
        let mut workers = (0..rayon::current_num_threads()).map(load).collect::<Result<Vec<_>>>()?;
        let config = workers[0].config().clone();
        let checked = check(&mut workers, settings)?;
        let beliefs = measured.get_or_insert_with(|| Beliefs {
            run: run.to_owned(),
            env: config.env,
            agent: config.agent,
            policy: config.policy,
            discount: config.learning.discount.into(),
            settings,
            checkpoints: vec![],
        });
        beliefs.checkpoints.push(checked);
    }
    measured.ok_or_else(|| Error::NotARun { path: run.to_owned(), reason: "it has no checkpoint".to_owned() })
}

/// Writes what was measured to its run folder, where a comparison finds it.
pub fn save(beliefs: &Beliefs) -> Result<()> {
    Ok(Folder::open(&beliefs.run)?.write(FILE, to_json(beliefs)?.as_bytes())?)
}

/// What was measured of the run in this folder; none if nothing was.
pub fn read(run: &Path) -> Result<Option<Beliefs>> {
    let bytes = match Folder::open(run)?.read(FILE) {
        Err(error) if error.is_not_found() => return Ok(None),
        bytes => bytes?,
    };
    let wrong = |error: serde_json::Error| Error::Line {
        path: run.join(FILE),
        line: error.line() as u64,
        reason: format!("it is not what adfq beliefs writes ({error})"),
    };
    serde_json::from_slice(&bytes).map(Some).map_err(wrong)
}

/// As JSON.
fn to_json(beliefs: &impl Serialize) -> Result<String> {
    float::check_finite("the beliefs", beliefs)?;
    let json = serde_json::to_string_pretty(beliefs);
    json.map(|json| json + "\n").map_err(|source| Error::Json { what: "the beliefs".into(), source })
}

/// Measures one checkpoint, which every worker has loaded.
fn check(workers: &mut [Rollouts], settings: Settings) -> Result<Checked> {
    let (step, warnings) = (workers[0].step(), workers[0].warnings().to_vec());
    let truth = truth::find(workers, settings)?;
    let pairs = truth.pairs;
    let sures = |play: Play| {
        let states = states(&pairs, |pair| pair.play == play, |pair| pair.sd);
        states.iter().map(|sds| sds.iter().sum::<f64>() / sds.len() as f64).collect::<Vec<_>>()
    };
    let doubts = |others: &[f64]| probability_of_improvement(others, &sures(Play::Evaluation));
    let (doubts_random_play, doubts_far_away) = (doubts(&sures(Play::Random)), Some(doubts(&truth.far)));
    let mut found = vec![];
    for against in [Against::OwnPolicy, Against::Optimum] {
        for kind in Play::ALL.map(Some).into_iter().chain([None]) {
            let counts =
                |pair: &Pair| kind.is_none_or(|kind| kind == pair.play) && judged(pair, against).is_some();
            let states = states(&pairs, counts, |pair| judged(pair, against));
            let states: Vec<Vec<Judged>> =
                states.into_iter().map(|state| state.into_iter().flatten().collect()).collect();
            if !states.is_empty() {
                let measures = Measures::of(&states, settings.seed)?;
                found.push(Found { met_in: kind, against, measures });
            }
        }
    }
    let precise = pairs.iter().filter(|pair| pair.is_precise()).count() as f64 / pairs.len() as f64;
    let (deterministic, rollouts, cut) = (truth.deterministic, truth.rollouts, truth.cut);
    Ok(Checked {
        step,
        deterministic,
        rollouts,
        cut,
        precise,
        doubts_random_play,
        doubts_far_away,
        found,
        warnings,
        pairs,
    })
}

/// A value of each pair that counts, state by state. The pairs of a state follow one another.
fn states<T>(pairs: &[Pair], counts: impl Fn(&Pair) -> bool, of: impl Fn(&Pair) -> T) -> Vec<Vec<T>> {
    let counted: Vec<&Pair> = pairs.iter().filter(|pair| counts(pair)).collect();
    let same = |a: &&Pair, b: &&Pair| (a.play, a.state) == (b.play, b.state);
    counted.chunk_by(same).map(|state| state.iter().map(|pair| of(pair)).collect()).collect()
}

/// A belief beside what it is held against, where that is known.
fn judged(pair: &Pair, against: Against) -> Option<Judged> {
    let (truth, standard_error) = match against {
        Against::OwnPolicy => (pair.truth, pair.standard_error),
        Against::Optimum => (pair.optimum?, 0.0),
    };
    Some(Judged { error: pair.mean - truth, sd: pair.sd, standard_error })
}

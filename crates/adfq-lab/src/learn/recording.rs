//! The beliefs of a tabular run at some moments, with the map of its domain: what a page needs to show how they grew.

use super::LearnSettings;
use crate::solve::Solved;
use crate::text::Mark;
use crate::text::grid::{arrow, layers, title};
use crate::{Error, Result, float};
use adfq::Belief;
use adfq::agent::Agent;
use adfq::mdp::Mdp;
use adfq_files::write_atomic;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The file that a recording is written to.
pub const RECORDING: &str = "recording.json";

/// How many moments are recorded, and how many numbers at most in all of them.
const MOMENTS: u64 = 100;
const MOST_NUMBERS: u64 = 4_000_000;

/// A run over its moments.
///
/// ```
/// use adfq_lab::learn::{LearnSettings, record};
///
/// let mdp = adfq::mdp::named("minimaze")?;
/// let (learned, recording) = record(&mdp, &LearnSettings::for_mdp(&mdp), |_| {})?;
/// let last = recording.moments.last().unwrap();
/// assert_eq!((last.step, &last.mean[0]), (learned.settings.steps, &learned.states[0].mean));
/// assert_eq!(recording.map[0], "SWFWG");
/// # Ok::<(), adfq_lab::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    /// The MDP's name.
    pub domain: String,
    /// What learned.
    pub agent: String,
    /// How it acted.
    pub policy: String,
    /// The seed.
    pub seed: u64,
    /// Steps in all.
    pub steps: u64,
    /// The labels of the actions.
    pub actions: Vec<String>,
    /// The states, in order.
    pub states: Vec<RecordedState>,
    /// The map of a grid world, one character a cell; empty without one.
    pub map: Vec<String>,
    /// States that are drawn on one map, with what they have in common.
    pub layers: Vec<RecordedLayer>,
    /// The beliefs, at increasing steps. They are denser at the beginning, where more is learned.
    pub moments: Vec<RecordedMoment>,
}

/// A state as it is shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedState {
    /// Its label.
    pub label: String,
    /// Its row and column on the map.
    pub cell: Option<(usize, usize)>,
    /// A sign for each action: an arrow where it leads somewhere on the map.
    pub arrows: Vec<String>,
    /// Q*(s,a).
    pub q: Vec<f64>,
    /// Whether an agent can find itself here having to choose.
    pub reachable: bool,
}

/// States without a cell in common.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedLayer {
    /// What they have in common: `with A`; empty if there is one map only.
    pub title: String,
    /// Their numbers.
    pub states: Vec<usize>,
}

/// What was believed after some steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedMoment {
    /// The steps.
    pub step: u64,
    /// The means of Q(s,a), a list for each state.
    pub mean: Vec<Vec<f64>>,
    /// The standard deviations, if the agent has beliefs.
    pub sd: Option<Vec<Vec<f64>>>,
}

impl Recording {
    /// A recording without moments yet.
    pub(super) fn new(mdp: &Mdp, settings: &LearnSettings, solved: &Solved) -> Self {
        let cell = |state: usize| mdp.layout().and_then(|layout| layout.cell(state));
        let arrows =
            |state: usize| (0..mdp.actions()).map(|action| arrow(mdp, state, action).into()).collect();
        let states = solved.states.iter().enumerate().map(|(state, truth)| RecordedState {
            label: truth.state.clone(),
            cell: cell(state),
            arrows: arrows(state),
            q: truth.q.clone(),
            reachable: truth.reachable,
        });
        let marks: Vec<Mark> = solved
            .states
            .iter()
            .map(|truth| if truth.reachable { Mark::Unknown } else { Mark::Nothing })
            .collect();
        let layer =
            |states: Vec<usize>| RecordedLayer { title: title(mdp, &states).unwrap_or_default(), states };
        // A state that does not exist is nowhere, so the picture has no agent in it.
        let picture = mdp.layout().map(|layout| layout.picture(usize::MAX)).unwrap_or_default();
        Self {
            domain: solved.domain.clone(),
            agent: settings.agent.name().to_owned(),
            policy: settings.policy.name().to_owned(),
            seed: settings.seed,
            steps: settings.steps,
            actions: solved.actions.clone(),
            states: states.collect(),
            map: picture.lines().map(str::to_owned).collect(),
            layers: layers(mdp, &marks).into_iter().map(layer).collect(),
            moments: vec![],
        }
    }

    /// The steps at which the beliefs of a run are recorded; the last one is its end.
    pub(super) fn steps_of(mdp: &Mdp, steps: u64) -> Vec<u64> {
        let pairs = (mdp.states() * mdp.actions()) as u64;
        let moments = (MOST_NUMBERS / (2 * pairs).max(1)).clamp(1, MOMENTS);
        let at = |k: u64| (steps as f64 * (k as f64 / moments as f64).powi(2)).ceil() as u64;
        let mut all: Vec<u64> = (1..=moments).map(at).collect();
        all.dedup();
        all
    }

    /// Adds what the agent believes now.
    pub(super) fn look(&mut self, step: u64, agent: &dyn Agent) {
        let states = 0..self.states.len();
        let sds = |state| Some(agent.beliefs(state)?.iter().map(Belief::sd).collect());
        self.moments.push(RecordedMoment {
            step,
            mean: states.clone().map(|state| agent.means(state).to_vec()).collect(),
            sd: states.map(sds).collect(),
        });
    }

    /// Writes it to a folder, as [`RECORDING`].
    pub fn write(&self, folder: &Path) -> Result<()> {
        float::check_finite("the recording", self)?;
        let json = serde_json::to_string(self)
            .map_err(|source| Error::Json { what: "the recording".into(), source })?;
        Ok(write_atomic(folder.join(RECORDING), (json + "\n").as_bytes())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adfq::mdp::named;

    #[test]
    fn moments_are_dense_at_first_and_end_with_the_run() {
        let mdp = named("maze").unwrap();
        let steps = Recording::steps_of(&mdp, 100_000);
        assert_eq!((steps.len(), steps[0], steps[99]), (100, 10, 100_000));
        assert_eq!(Recording::steps_of(&mdp, 3), [1, 2, 3]);
        let settings = LearnSettings { steps: 0, ..LearnSettings::for_mdp(&mdp) };
        assert!(matches!(super::super::record(&mdp, &settings, |_| {}), Err(Error::NothingRecorded)));
    }
}

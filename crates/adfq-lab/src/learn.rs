//! One agent, one MDP, one run: what it learned, what it believes, and how that compares with the truth.
//!
//! Statistics over many runs live elsewhere; so does how a result is shown ([`text`](crate::text)).

mod kinds;
mod run;
mod score;
mod settings;
mod start;

pub use kinds::{AgentKind, PolicyKind};
pub use score::Score;
pub use settings::LearnSettings;
pub use start::{PriorChoice, Start};

use crate::Result;
use crate::solve::{Solved, SolvedState};
use adfq::mdp::Mdp;
use adfq::{Belief, MaxOfGaussians};
use run::Run;
use serde::Serialize;

/// What came out of a run. Lists over actions are in the order of `actions`.
///
/// ```
/// use adfq_lab::learn::{LearnSettings, learn};
///
/// let mdp = adfq::mdp::named("chain")?;
/// let learned = learn(&mdp, &LearnSettings { steps: 100, ..LearnSettings::for_mdp(&mdp) }, |_| {})?;
/// assert_eq!((learned.states.len(), learned.episodes), (5, 0));
/// assert_eq!(learned.states.iter().map(|state| state.visits).sum::<u64>(), 100);
/// # Ok::<(), adfq_lab::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Learned {
    /// The MDP's name.
    pub domain: String,
    /// The discount γ.
    pub gamma: f64,
    /// What was run, with every default filled in.
    pub settings: LearnSettings,
    /// The belief that every Q(s,a) started with.
    pub start: Start,
    /// Episodes that ended.
    pub episodes: u64,
    /// The rewards collected while learning, summed.
    pub reward: f64,
    /// How good it is.
    pub score: Score,
    /// The labels of the actions.
    pub actions: Vec<String>,
    /// All states, in order.
    pub states: Vec<LearnedState>,
}

/// What the agent knows about one state, and what is true.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LearnedState {
    /// Its label.
    pub state: String,
    /// Whether an agent can find itself here having to choose.
    pub reachable: bool,
    /// How often the agent chose here.
    pub visits: u64,
    /// The action with the largest mean, the first of several.
    pub greedy: usize,
    /// The means, or point estimates, of Q(s,a).
    pub mean: Vec<f64>,
    /// The standard deviations of the beliefs, if the agent has any.
    pub sd: Option<Vec<f64>>,
    /// The probability that each action is the best, by [`MaxOfGaussians::probabilities`] of these moments.
    pub best: Option<Vec<f64>>,
    /// Q*(s,a).
    pub q: Vec<f64>,
    /// For each action, whether it is optimal.
    pub optimal: Vec<bool>,
}

impl LearnedState {
    /// Whether the greedy action is an optimal one.
    pub fn is_right(&self) -> bool {
        self.optimal[self.greedy]
    }

    /// What a run left of one state, beside the truth.
    fn new(run: &Run, state: usize, truth: &SolvedState) -> Result<Self> {
        let actions = truth.q.len();
        let row = state * actions..(state + 1) * actions;
        let mean = run.mean[row.clone()].to_vec();
        let var = run.var.as_ref().map(|var| &var[row]);
        let beliefs = |var: &[f64]| -> adfq::Result<Vec<Belief>> {
            mean.iter().zip(var).map(|(&mean, &var)| Belief::new(mean, var)).collect()
        };
        Ok(Self {
            state: truth.state.clone(),
            reachable: truth.reachable,
            visits: run.visits[state],
            greedy: first_largest(&mean),
            sd: var.map(|var| var.iter().map(|var| var.sqrt()).collect()),
            best: var.map(|var| MaxOfGaussians::new(&beliefs(var)?)?.probabilities()).transpose()?,
            mean,
            q: truth.q.clone(),
            optimal: truth.optimal.clone(),
        })
    }
}

/// Trains an agent. `progress` is told the number of steps done, about a hundred times in all; it may draw a bar.
///
/// The same settings on the same MDP give the same result, bit for bit.
///
/// ```
/// use adfq_lab::learn::{LearnSettings, learn};
///
/// let mdp = adfq::mdp::named("loop")?;
/// let learned = learn(&mdp, &LearnSettings { steps: 5_000, ..LearnSettings::for_mdp(&mdp) }, |_| {})?;
/// assert_eq!(learned.states[0].greedy, 1);
/// assert!(learned.states[0].is_right());
/// # Ok::<(), adfq_lab::Error>(())
/// ```
pub fn learn(mdp: &Mdp, settings: &LearnSettings, progress: impl FnMut(u64)) -> Result<Learned> {
    // First: an MDP that has no solution should say so before anything is learned.
    let solved = Solved::of(mdp)?;
    let start = settings.prior.start(settings.agent, mdp, settings.seed)?;
    let run = run::run(mdp, settings, Belief::new(start.mean, start.var)?, progress)?;
    let states = solved.states.iter().enumerate().map(|(state, truth)| LearnedState::new(&run, state, truth));
    let states = states.collect::<Result<Vec<_>>>()?;
    Ok(Learned {
        domain: solved.domain.clone(),
        gamma: solved.gamma,
        settings: settings.clone(),
        start,
        episodes: run.episodes,
        reward: run.reward,
        score: Score::of(mdp, &solved, &states, settings.steps, run.reward)?,
        actions: solved.actions,
        states,
    })
}

fn first_largest(row: &[f64]) -> usize {
    (0..row.len()).fold(0, |best, i| if row[i] > row[best] { i } else { best })
}

#[cfg(test)]
mod tests;

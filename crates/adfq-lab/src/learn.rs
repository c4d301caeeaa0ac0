//! One agent, one MDP, one run: what it learned, what it believes, and how that compares with the truth.
//!
//! Statistics over many runs live elsewhere; so does how a result is shown ([`text`](crate::text)).

pub use adfq::spec::{AgentKind, PolicyKind, PriorSpec, RunSpec as LearnSettings, Start};

mod accuracy;
mod recording;

use accuracy::Record;
pub use accuracy::{Accuracy, Moment};
pub use recording::{RECORDING, RecordedLayer, RecordedMoment, RecordedState, Recording};

use crate::solve::{Solved, SolvedState};
use crate::{Error, Result};
use adfq::agent::Agent;
use adfq::mdp::{Mdp, average_reward};
use adfq::{Belief, MaxOfGaussians};
use adfq_deep::Bytes;
use adfq_files::memory;
use serde::Serialize;

/// How often the progress is reported, and how many moments the curve has.
const REPORTS: u64 = 100;

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
    /// How often each action was taken in each state, in the order of `states` and `actions`.
    pub pair_visits: Vec<Vec<u64>>,
    /// How good the beliefs are over the pairs of state and action that were tried.
    pub visited: Accuracy,
    /// What had been earned and learned, at about a hundred moments of the run. The last is its end.
    pub curve: Vec<Moment>,
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

    /// What the agent has learned of one state, beside the truth.
    fn new(agent: &dyn Agent, state: usize, visits: u64, truth: &SolvedState) -> Result<Self> {
        let beliefs = agent.beliefs(state);
        let sd = |beliefs: &Vec<Belief>| beliefs.iter().map(Belief::sd).collect();
        Ok(Self {
            state: truth.state.clone(),
            reachable: truth.reachable,
            visits,
            greedy: first_largest(agent.means(state)),
            mean: agent.means(state).to_vec(),
            sd: beliefs.as_ref().map(sd),
            best: beliefs.map(|beliefs| MaxOfGaussians::new(&beliefs)?.probabilities()).transpose()?,
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
    observe(mdp, settings, progress, |_, _, _| {})
}

/// The same, and what was believed at about a hundred moments on the way.
pub fn record(
    mdp: &Mdp,
    settings: &LearnSettings,
    progress: impl FnMut(u64),
) -> Result<(Learned, Recording)> {
    let (mut recording, mut moments) =
        (None, Recording::steps_of(mdp, settings.steps).into_iter().peekable());
    let learned = observe(mdp, settings, progress, |solved, done, agent| {
        if moments.next_if_eq(&done).is_some() {
            recording.get_or_insert_with(|| Recording::new(mdp, settings, solved)).look(done, agent);
        }
    })?;
    let recording = recording.ok_or(Error::NothingRecorded)?;
    Ok((learned, recording))
}

/// Trains an agent, and shows it to `see` after every step.
fn observe(
    mdp: &Mdp,
    settings: &LearnSettings,
    mut progress: impl FnMut(u64),
    mut see: impl FnMut(&Solved, u64, &dyn Agent),
) -> Result<Learned> {
    let (needed, available) = (settings.bytes_needed(mdp), memory::available().unwrap_or(u64::MAX));
    if needed > available {
        let (agent, pairs) = (settings.agent.name(), mdp.states().saturating_mul(mdp.actions()));
        return Err(Error::AgentMemory { agent, pairs, needed: Bytes(needed), available: Bytes(available) });
    }
    // First: an MDP that has no solution should say so before anything is learned.
    let solved = Solved::of(mdp)?;
    let start = settings.start(mdp)?;
    let mut session = settings.session(mdp)?;
    let mut record = Record::new(mdp, &solved);
    let pause = (settings.steps / REPORTS).max(1);
    session.observe(settings.steps, |done, step, agent| {
        record.see(step);
        see(&solved, done, agent);
        if done % pause == 0 || done == settings.steps {
            record.look(done, agent);
            progress(done);
        }
        Result::Ok(())
    })?;
    let Record { visits: pair_visits, curve, .. } = record;
    let visits = pair_visits.iter().map(|actions| actions.iter().sum());
    let states = solved.states.iter().zip(visits).enumerate();
    let learned = |(state, (truth, visits))| LearnedState::new(session.agent(), state, visits, truth);
    let states = states.map(learned).collect::<Result<Vec<_>>>()?;
    let reward = session.reward();
    let accuracy = Accuracy::of(session.agent(), &solved, |_, _| true);
    Ok(Learned {
        domain: solved.domain.clone(),
        gamma: solved.gamma,
        settings: settings.clone(),
        start,
        episodes: session.episodes(),
        reward,
        score: Score::of(mdp, &solved, &states, accuracy, (settings.steps, reward))?,
        visited: Accuracy::of(session.agent(), &solved, |state, action| pair_visits[state][action] > 0),
        actions: solved.actions,
        states,
        pair_visits,
        curve,
    })
}

fn first_largest(row: &[f64]) -> usize {
    (0..row.len()).fold(0, |best, i| if row[i] > row[best] { i } else { best })
}

/// How good a run was. States in which an agent can never find itself do not count.
///
/// ```
/// use adfq_lab::learn::{LearnSettings, learn};
///
/// let mdp = adfq::mdp::named("loop")?;
/// let score = learn(&mdp, &LearnSettings::for_mdp(&mdp), |_| {})?.score;
/// assert!(score.average_greedy <= score.average_optimal && score.average_optimal == 0.4);
/// # Ok::<(), adfq_lab::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Score {
    /// The reward per step while learning.
    pub average_learning: f64,
    /// The long-run reward per step of the greedy policy that was learned, computed from the model.
    pub average_greedy: f64,
    /// That of the optimal policy.
    pub average_optimal: f64,
    /// The share of states in which the greedy action is optimal.
    pub right: f64,
    /// The root of the mean squared difference between the means and Q*.
    pub rmse: f64,
    /// The share of Q* within one standard deviation of its belief; a calibrated belief has .683.
    pub within_one_sd: Option<f64>,
    /// The share within two; a calibrated belief has .954.
    pub within_two_sd: Option<f64>,
}

impl Score {
    fn of(
        mdp: &Mdp,
        solved: &Solved,
        states: &[LearnedState],
        accuracy: Accuracy,
        (steps, reward): (u64, f64),
    ) -> Result<Self> {
        let greedy: Vec<usize> = states.iter().map(|state| state.greedy).collect();
        let reached = || states.iter().filter(|state| state.reachable);
        let Accuracy { rmse, within_one_sd, within_two_sd, .. } = accuracy;
        Ok(Self {
            average_learning: if steps == 0 { 0.0 } else { reward / steps as f64 },
            average_greedy: average_reward(mdp, &greedy)?,
            average_optimal: solved.average_reward,
            right: share(reached().map(LearnedState::is_right)),
            rmse,
            within_one_sd,
            within_two_sd,
        })
    }
}

/// The share of `true`.
fn share(answers: impl Iterator<Item = bool>) -> f64 {
    let (yes, all) = answers.fold((0, 0), |(yes, all), answer| (yes + u32::from(answer), all + 1));
    f64::from(yes) / f64::from(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use adfq::mdp::named;

    fn settings(domain: &str, steps: u64) -> (Mdp, LearnSettings) {
        let mdp = named(domain).unwrap();
        let settings = LearnSettings { steps, seed: 1, ..LearnSettings::for_mdp(&mdp) };
        (mdp, settings)
    }

    #[test]
    fn every_agent_runs_with_every_policy_it_takes_and_refuses_the_others() {
        let (mdp, base) = settings("loop", 300);
        for &agent in AgentKind::ALL {
            for &policy in PolicyKind::ALL {
                let asked = LearnSettings { agent, policy, temperature: Some(1.0), ..base.clone() };
                let learned = learn(&mdp, &asked, |_| {});
                assert_eq!(
                    learned.is_ok(),
                    agent.policies().contains(&policy),
                    "{agent} {policy}: {learned:?}"
                );
            }
        }
        let asked = LearnSettings { agent: AgentKind::QLearning, policy: PolicyKind::Thompson, ..base };
        assert_eq!(
            learn(&mdp, &asked, |_| {}).unwrap_err().to_string(),
            "q-learning has no beliefs, so it cannot follow the policy thompson; it takes epsilon, greedy, boltzmann, uniform"
        );
    }

    #[test]
    fn a_seed_decides_everything() {
        let (mdp, base) = settings("chain", 2_000);
        let run = |seed| learn(&mdp, &LearnSettings { seed, ..base.clone() }, |_| {}).unwrap();
        assert_eq!(run(1), run(1));
        assert_ne!(run(1).states, run(2).states);
    }

    #[test]
    fn the_score_is_that_of_the_table() {
        let (mdp, base) = settings("loop", 10_000);
        let asked = LearnSettings { agent: AgentKind::Adfq, policy: PolicyKind::Uniform, ..base };
        let learned = learn(&mdp, &asked, |_| {}).unwrap();
        let score = learned.score;
        assert_eq!(score.right, 1.0);
        assert!((score.average_greedy - 0.4).abs() < 1e-12);
        assert!((score.average_learning * 10_000.0 - learned.reward).abs() < 1e-9);
        let squares =
            learned.states.iter().flat_map(|s| s.mean.iter().zip(&s.q)).map(|(m, q)| (m - q).powi(2));
        assert!((score.rmse - (squares.sum::<f64>() / 18.0).sqrt()).abs() < 1e-12);
        assert_eq!(learned.states.iter().map(|s| s.visits).sum::<u64>(), 10_000);
    }

    #[test]
    fn q_learning_has_no_spread() {
        let (mdp, base) = settings("loop", 10_000);
        let asked = LearnSettings { agent: AgentKind::QLearning, policy: PolicyKind::Epsilon, ..base };
        let learned = learn(&mdp, &asked, |_| {}).unwrap();
        assert!(learned.states.iter().all(|state| state.sd.is_none() && state.best.is_none()));
        assert_eq!(learned.score.within_one_sd, None);
    }

    #[test]
    fn progress_is_told_and_ends_at_the_last_step() {
        let (mdp, base) = settings("loop", 1_000);
        let mut told = vec![];
        learn(&mdp, &base, |done| told.push(done)).unwrap();
        assert_eq!((told.len(), told[99]), (100, 1_000));
        told.clear();
        learn(&mdp, &LearnSettings { steps: 1_050, ..base }, |done| told.push(done)).unwrap();
        assert_eq!(told.last(), Some(&1_050));
    }

    #[test]
    fn the_curve_ends_at_the_score() {
        for agent in [AgentKind::Adfq, AgentKind::QLearning] {
            let (mdp, base) = settings("minimaze", 1_955);
            let asked = LearnSettings { agent, policy: PolicyKind::Epsilon, ..base };
            let learned = learn(&mdp, &asked, |_| {}).unwrap();
            let (first, last) = (learned.curve[0], *learned.curve.last().unwrap());
            assert_eq!((learned.curve.len(), first.step, last.step), (103, 19, 1_955));
            let ended = (last.episodes, last.reward, last.visited);
            assert_eq!(ended, (learned.episodes, learned.reward, learned.visited));
            let Score { rmse, within_one_sd, within_two_sd, .. } = learned.score;
            let all = Accuracy { pairs: last.all.pairs, rmse, within_one_sd, within_two_sd };
            assert_eq!(last.all, all);
            assert_eq!(within_two_sd.is_some(), agent == AgentKind::Adfq);
            let tried = learned.pair_visits.iter().flatten().filter(|&&visits| visits > 0).count();
            assert!(learned.visited.pairs == tried as u64 && first.visited.pairs < learned.visited.pairs);
            let sums = learned.pair_visits.iter().map(|actions| actions.iter().sum::<u64>());
            assert!(sums.eq(learned.states.iter().map(|state| state.visits)));
        }
    }
}

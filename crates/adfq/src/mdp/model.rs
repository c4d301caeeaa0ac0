//! The exact model of a finite MDP, and the simulator that samples from it.
//!
//! How a model is put together and checked lives in [`builder`](super::builder); what is optimal in it, in
//! [`solve`](super::solve).

use super::{Layout, MdpError, payments::most_payments};
use crate::{
    Result,
    agent::{Rewards, Step},
};
use rand::{Rng, RngExt};
use std::{borrow::Cow, fmt};

/// One thing that can happen after an action: with this probability, that reward and that next state.
///
/// ```
/// use adfq::mdp::Outcome;
///
/// let win = Outcome::ends(0.2, 3, 5.0);
/// assert!(win.terminal && !Outcome::goes(0.8, 3, 5.0).terminal);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Its probability given the state and the action.
    pub probability: f64,
    /// The next state s′.
    pub next_state: usize,
    /// The reward r.
    pub reward: f64,
    /// Whether the episode ends with it.
    pub terminal: bool,
}

impl Outcome {
    /// An outcome after which the episode goes on.
    pub fn goes(probability: f64, next_state: usize, reward: f64) -> Self {
        Self { probability, next_state, reward, terminal: false }
    }

    /// An outcome that ends the episode.
    pub fn ends(probability: f64, next_state: usize, reward: f64) -> Self {
        Self { probability, next_state, reward, terminal: true }
    }

    /// Whether the two differ in nothing but their probability.
    pub(super) fn coincides(&self, other: &Self) -> bool {
        (self.next_state, self.reward, self.terminal) == (other.next_state, other.reward, other.terminal)
    }
}

/// A finite Markov decision process: immutable, checked, and exact.
///
/// Built by an [`MdpBuilder`](super::MdpBuilder), read from a [`file`](mod@super::file), or one of the [`named`] domains.
///
/// ```
/// use adfq::mdp;
///
/// let chain = mdp::named("chain")?;
/// assert_eq!(chain.to_string(), "chain: 5 states, 2 actions, gamma 0.95, continuing");
/// // In the last state, action a mostly stays there and pays 10; with probability 0.2 it slips back for 2.
/// assert!((chain.mean_reward(4, 0) - 8.4).abs() < 1e-12);
/// assert_eq!(chain.outcomes(4, 0).len(), 2);
/// # Ok::<(), adfq::Error>(())
/// ```
///
/// [`named`]: super::named
#[derive(Clone, Debug, PartialEq)]
pub struct Mdp {
    pub(super) name: String,
    pub(super) states: usize,
    pub(super) actions: usize,
    pub(super) gamma: f64,
    /// The start states in rising order, each with its probability.
    pub(super) starts: Vec<(usize, f64)>,
    /// The outcomes of (s,a) are `outcomes[offsets[s·|A| + a]..offsets[s·|A| + a + 1]]`.
    pub(super) offsets: Vec<usize>,
    pub(super) outcomes: Vec<Outcome>,
    /// Running sums of the probabilities within each (s,a), aligned with `outcomes`.
    pub(super) cumulative: Vec<f64>,
    pub(super) state_labels: Option<Vec<String>>,
    pub(super) action_labels: Option<Vec<String>>,
    pub(super) layout: Option<Layout>,
}

impl Mdp {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of states |S|.
    #[inline]
    pub fn states(&self) -> usize {
        self.states
    }

    /// Number of actions |A|, the same in every state.
    #[inline]
    pub fn actions(&self) -> usize {
        self.actions
    }

    /// The discount γ.
    #[inline]
    pub fn gamma(&self) -> f64 {
        self.gamma
    }

    /// The same model with another discount γ in [0, 1].
    pub fn with_gamma(self, gamma: f64) -> Result<Self> {
        check_gamma(gamma)?;
        Ok(Self { gamma, ..self })
    }

    /// The states in which an episode can start, in rising order, each with its probability.
    pub fn starts(&self) -> &[(usize, f64)] {
        &self.starts
    }

    /// What can happen after `action` in `state`.
    ///
    /// # Panics
    /// If there is no such state or action, like an index into a slice.
    #[inline]
    pub fn outcomes(&self, state: usize, action: usize) -> &[Outcome] {
        let pair = self.pair(state, action);
        &self.outcomes[self.offsets[pair]..self.offsets[pair + 1]]
    }

    /// What can happen in `state`, whatever the action.
    pub(super) fn outcomes_of(&self, state: usize) -> &[Outcome] {
        &self.outcomes[self.offsets[state * self.actions]..self.offsets[(state + 1) * self.actions]]
    }

    /// The expected reward of `action` in `state`.
    ///
    /// # Panics
    /// If there is no such state or action.
    pub fn mean_reward(&self, state: usize, action: usize) -> f64 {
        self.outcomes(state, action).iter().map(|o| o.probability * o.reward).sum()
    }

    /// A state to start an episode in. Draws a number only if there is more than one.
    #[inline]
    pub fn start<R: Rng + ?Sized>(&self, rng: &mut R) -> usize {
        let last = self.starts.len() - 1;
        if last > 0 {
            let mut rest: f64 = rng.random();
            for &(state, probability) in &self.starts[..last] {
                if rest < probability {
                    return state;
                }
                rest -= probability;
            }
        }
        self.starts[last].0
    }

    /// Takes `action` in `state`. Draws one number, or none where only one thing can happen.
    ///
    /// # Panics
    /// If there is no such state or action.
    #[inline]
    pub fn step<R: Rng + ?Sized>(&self, state: usize, action: usize, rng: &mut R) -> Step {
        let pair = self.pair(state, action);
        let (first, last) = (self.offsets[pair], self.offsets[pair + 1] - 1);
        let drawn = if first == last {
            first
        } else {
            // The last outcome takes what is left, so a sum of 1 - 1e-10 does no harm.
            let u: f64 = rng.random();
            first + self.cumulative[first..last].partition_point(|&sum| sum <= u)
        };
        let Outcome { next_state, reward, terminal, .. } = self.outcomes[drawn];
        Step { state, action, reward, next_state, terminal }
    }

    /// For each state, whether an agent can find itself there having to choose an action.
    ///
    /// Only there can it learn; states entered by terminal transitions alone do not count.
    pub fn reachable(&self) -> Vec<bool> {
        let mut reached = vec![false; self.states];
        let mut open: Vec<usize> = self.starts.iter().map(|&(state, _)| state).collect();
        while let Some(state) = open.pop() {
            if !std::mem::replace(&mut reached[state], true) {
                let outcomes = (0..self.actions).flat_map(|action| self.outcomes(state, action));
                open.extend(outcomes.filter(|o| !o.terminal).map(|o| o.next_state));
            }
        }
        reached
    }

    /// The range of the rewards that can be met: all that Split ADFQ is told of a task. Where all rewards are the same the
    /// range reaches to 0, or from 0 to 1. In a task with episodes and without a discount (γ = 1) it is also told how many
    /// rewards other than 0 an episode can pay; states that lead to each other in a circle count once each.
    ///
    /// ```
    /// use adfq::agent::Rewards;
    ///
    /// assert_eq!(adfq::mdp::named("chain")?.rewards(), Rewards::within(0.0, 10.0));
    /// # Ok::<(), adfq::Error>(())
    /// ```
    pub fn rewards(&self) -> Rewards {
        let reachable = self.reachable();
        let states = (0..self.states()).filter(|&state| reachable[state]);
        let pairs = states.flat_map(|state| (0..self.actions()).map(move |action| (state, action)));
        let outcomes = pairs.flat_map(|(state, action)| self.outcomes(state, action));
        let (min, max) = outcomes.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), outcome| {
            (low.min(outcome.reward), high.max(outcome.reward))
        });
        let rewards = match (min, max) {
            (0.0, 0.0) => Rewards::within(0.0, 1.0),
            (min, max) if min == max => Rewards::within(min.min(0.0), max.max(0.0)),
            (min, max) => Rewards::within(min, max),
        };
        let counted = self.gamma == 1.0 && !self.is_continuing();
        Rewards { horizon: counted.then(|| most_payments(self)), ..rewards }
    }

    /// Whether the task is continuing: no terminal transition can ever happen.
    pub fn is_continuing(&self) -> bool {
        let ends = |state| (0..self.actions).any(|action| self.can_end(state, action));
        !(0..self.states).zip(self.reachable()).any(|(state, reached)| reached && ends(state))
    }

    /// Whether taking `action` in `state` can end the episode.
    ///
    /// # Panics
    /// If there is no such state or action.
    pub fn can_end(&self, state: usize, action: usize) -> bool {
        self.outcomes(state, action).iter().any(|o| o.terminal)
    }

    /// The label of a state: its name if it has one, else its number.
    pub fn state_label(&self, state: usize) -> Cow<'_, str> {
        label(&self.state_labels, state)
    }

    /// The label of an action: its name if it has one, else its number.
    pub fn action_label(&self, action: usize) -> Cow<'_, str> {
        label(&self.action_labels, action)
    }

    /// The map of a grid world, to draw it.
    pub fn layout(&self) -> Option<&Layout> {
        self.layout.as_ref()
    }

    #[inline]
    fn pair(&self, state: usize, action: usize) -> usize {
        // Without this check an action too large would silently be one of the next state.
        assert!(action < self.actions, "action {action} of {}", self.actions);
        state * self.actions + action
    }
}

impl fmt::Display for Mdp {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let kind = if self.is_continuing() { "continuing" } else { "episodic" };
        let Self { name, states, actions, gamma, .. } = self;
        write!(f, "{name}: {states} states, {actions} actions, gamma {gamma}, {kind}")
    }
}

/// The label with this index, or the index itself.
pub(super) fn label(labels: &Option<Vec<String>>, index: usize) -> Cow<'_, str> {
    match labels.as_ref().and_then(|labels| labels.get(index)) {
        Some(label) => Cow::Borrowed(label),
        None => Cow::Owned(index.to_string()),
    }
}

/// A discount has to lie in [0, 1].
pub(super) fn check_gamma(gamma: f64) -> Result<(), MdpError> {
    if (0.0..=1.0).contains(&gamma) { Ok(()) } else { Err(MdpError::Gamma(gamma)) }
}

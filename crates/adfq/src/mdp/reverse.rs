//! An MDP read backwards: from which states each state can be reached. It gives the order in which news of a reward
//! travels, and a policy that ends every episode.

use super::{Mdp, MdpError};
use std::collections::VecDeque;

/// The states from which one step can lead to each state.
pub(super) struct Predecessors {
    offsets: Vec<usize>,
    states: Vec<u32>,
}

impl Predecessors {
    /// Those in an MDP, whatever is done.
    pub(super) fn of(mdp: &Mdp) -> Self {
        Self::of_steps(mdp.states(), || steps(mdp))
    }

    /// Those given all steps (s, s′) between so many states.
    pub(super) fn of_steps<I: Iterator<Item = (usize, usize)>>(count: usize, steps: impl Fn() -> I) -> Self {
        // Counted first and placed second: no list grows.
        let mut offsets = vec![0; count + 1];
        steps().for_each(|(_, next)| offsets[next + 1] += 1);
        (1..offsets.len()).for_each(|state| offsets[state] += offsets[state - 1]);
        let mut states = vec![0; offsets[count]];
        let mut free = offsets.clone();
        for (state, next) in steps() {
            states[free[next]] = state as u32;
            free[next] += 1;
        }
        Self { offsets, states }
    }

    fn before(&self, state: usize) -> impl Iterator<Item = usize> + '_ {
        self.states[self.offsets[state]..self.offsets[state + 1]].iter().map(|&before| before as usize)
    }

    /// All states, those from which one of the `goals` is a few steps away before those from which it is many.
    pub(super) fn by_distance(&self, goals: impl Iterator<Item = usize>) -> Vec<u32> {
        let count = self.offsets.len() - 1;
        let mut seen = vec![false; count];
        let mut order = Vec::with_capacity(count);
        // Those from which no goal can be reached come last, in an order of the same kind.
        for root in goals.chain(0..count) {
            let mut open: VecDeque<usize> = VecDeque::new();
            if !std::mem::replace(&mut seen[root], true) {
                open.push_back(root);
            }
            while let Some(state) = open.pop_front() {
                order.push(state as u32);
                open.extend(self.before(state).filter(|&state| !std::mem::replace(&mut seen[state], true)));
            }
        }
        order
    }
}

/// Every step (s, s′) that does not end the episode.
fn steps(mdp: &Mdp) -> impl Iterator<Item = (usize, usize)> + '_ {
    let of_state = move |state| {
        let outcomes = (0..mdp.actions()).flat_map(move |action| mdp.outcomes(state, action));
        outcomes.filter(|o| !o.terminal).map(move |o| (state, o.next_state))
    };
    (0..mdp.states()).flat_map(of_state)
}

/// A policy under which every episode ends with probability 1: each action is the lowest that can bring the end one step
/// nearer.
pub(super) fn ending_policy(mdp: &Mdp) -> Result<Vec<usize>, MdpError> {
    by_layers(mdp, |chances| chances.iter().position(|&chance| chance > 0.0))
}

/// The same with the action most likely to bring the end nearer. In a large MDP this decides between episodes that take
/// a thousand steps and some that take a million.
pub(super) fn surely_ending_policy(mdp: &Mdp) -> Result<Vec<usize>, MdpError> {
    by_layers(mdp, |chances| {
        let greatest = chances.iter().copied().fold(0.0, f64::max);
        chances.iter().position(|&chance| greatest > 0.0 && chance == greatest)
    })
}

/// Chooses an action in every state, given the probability of each to come nearer to the end; first in the states from
/// which one step can end the episode, then in those one step before them, and so on.
fn by_layers(mdp: &Mdp, choose: impl Fn(&[f64]) -> Option<usize>) -> Result<Vec<usize>, MdpError> {
    let mut policy: Vec<Option<usize>> = vec![None; mdp.states()];
    let mut chances = vec![0.0; mdp.actions()];
    let mut nearer = |state: usize, policy: &[Option<usize>]| {
        for (action, chance) in chances.iter_mut().enumerate() {
            let outcomes = mdp.outcomes(state, action).iter();
            let good = outcomes.filter(|o| o.terminal || policy[o.next_state].is_some());
            *chance = good.map(|o| o.probability).sum();
        }
        choose(&chances).map(|action| (state, action))
    };
    let predecessors = Predecessors::of(mdp);
    // The actions of a layer are chosen before any of its states counts as one that ends.
    let mut layer: Vec<(usize, usize)> =
        (0..mdp.states()).filter_map(|state| nearer(state, &policy)).collect();
    while !layer.is_empty() {
        layer.iter().for_each(|&(state, action)| policy[state] = Some(action));
        let mut next: Vec<usize> = layer.iter().flat_map(|&(state, _)| predecessors.before(state)).collect();
        next.retain(|&state| policy[state].is_none());
        next.sort_unstable();
        next.dedup();
        layer = next.into_iter().filter_map(|state| nearer(state, &policy)).collect();
    }
    let endless = |state| MdpError::Endless(mdp.state_label(state).into_owned());
    policy.into_iter().enumerate().map(|(state, action)| action.ok_or_else(|| endless(state))).collect()
}

//! The Markov chain an MDP becomes under a fixed policy: its discounted values and its average reward, exactly.
//!
//! States that can reach each other form a component. Values depend only on components further down, so each is
//! solved as a small dense system of its own, last first: a policy that walks straight to its goal costs |S| divisions
//! instead of one system of |S| equations.

use super::{Mdp, MdpError, linear};
use crate::Result;

/// The long-run average reward per step of a deterministic policy (one action for each state), when an episode that
/// ends is followed by the next one from a start state.
///
/// ```
/// use adfq::mdp::{self, average_reward};
///
/// // Always b: 0, 5, 6, 7, 8, back to 0, and 2 for the last of these five steps.
/// assert!((average_reward(&mdp::named("loop")?, &[1; 9])? - 2.0 / 5.0).abs() < 1e-12);
/// # Ok::<(), adfq::Error>(())
/// ```
pub fn average_reward(mdp: &Mdp, policy: &[usize]) -> Result<f64> {
    let (states, actions) = (mdp.states(), mdp.actions());
    if policy.len() != states {
        return Err(MdpError::Policy { actions: policy.len(), states }.into());
    }
    if let Some(&index) = policy.iter().find(|&&action| action >= actions) {
        return Err(MdpError::Index { kind: "action", index, count: actions }.into());
    }
    let gains = MarkovChain::restarting(mdp, policy).gains();
    Ok(mdp.starts().iter().map(|&(state, probability)| probability * gains[state]).sum())
}

/// A Markov chain with rewards.
pub(super) struct MarkovChain {
    /// For each state the next ones and their probabilities, which sum to less than 1 where the chain can end.
    successors: Vec<Vec<(usize, f64)>>,
    /// The expected reward of the step out of each state.
    reward: Vec<f64>,
    /// Whether the chain can end with the step out of each state.
    ends: Vec<bool>,
}

impl MarkovChain {
    /// The chain of a policy that ends where an episode ends.
    pub(super) fn ending(mdp: &Mdp, policy: &[usize]) -> Self {
        Self::new(mdp, policy, &[])
    }

    /// The chain of a policy in which the end of an episode leads to a start state.
    fn restarting(mdp: &Mdp, policy: &[usize]) -> Self {
        Self::new(mdp, policy, mdp.starts())
    }

    fn new(mdp: &Mdp, policy: &[usize], after_end: &[(usize, f64)]) -> Self {
        let step = |(state, &action): (usize, &usize)| {
            let mut next = Vec::new();
            for o in mdp.outcomes(state, action) {
                match o.terminal {
                    true => next.extend(after_end.iter().map(|&(start, p)| (start, o.probability * p))),
                    false => next.push((o.next_state, o.probability)),
                }
            }
            next
        };
        let taken = || policy.iter().enumerate();
        Self {
            successors: taken().map(step).collect(),
            reward: taken().map(|(state, &action)| mdp.mean_reward(state, action)).collect(),
            ends: taken()
                .map(|(state, &action)| after_end.is_empty() && mdp.can_end(state, action))
                .collect(),
        }
    }

    /// The value of each state: V = r + γ P V. At γ = 1 the error is a state from which the chain never ends.
    pub(super) fn values(&self, gamma: f64) -> Result<Vec<f64>, usize> {
        let mut values = vec![0.0; self.reward.len()];
        let mut place = vec![usize::MAX; self.reward.len()];
        for component in self.components() {
            enter(&component, &mut place);
            if gamma == 1.0 && self.is_closed(&component, &place) {
                return Err(component[0]);
            }
            self.solve_component(&component, &place, gamma, &self.reward, &mut values);
            leave(&component, &mut place);
        }
        Ok(values)
    }

    /// The average reward per step from each state: π·r in a component that is never left, where π is its
    /// stationary distribution, and elsewhere the mean over the next states, g = P g.
    fn gains(&self) -> Vec<f64> {
        let nothing = vec![0.0; self.reward.len()];
        let mut gains = nothing.clone();
        let mut place = vec![usize::MAX; self.reward.len()];
        for component in self.components() {
            enter(&component, &mut place);
            if self.is_closed(&component, &place) {
                let stationary = self.stationary(&component, &place);
                let gain = component.iter().zip(&stationary).map(|(&s, p)| p * self.reward[s]).sum();
                component.iter().for_each(|&state| gains[state] = gain);
            } else {
                self.solve_component(&component, &place, 1.0, &nothing, &mut gains);
            }
            leave(&component, &mut place);
        }
        gains
    }

    /// Whether the chain, once in this component, stays there forever.
    fn is_closed(&self, component: &[usize], place: &[usize]) -> bool {
        component.iter().all(|&state| {
            !self.ends[state] && self.successors[state].iter().all(|&(next, _)| place[next] != usize::MAX)
        })
    }

    /// Solves x = c + γ P x on a component, x being known in all those it leads to.
    fn solve_component(&self, component: &[usize], place: &[usize], gamma: f64, c: &[f64], x: &mut [f64]) {
        let n = component.len();
        let mut matrix = vec![0.0; n * n];
        let mut right = Vec::with_capacity(n);
        for (row, &state) in component.iter().enumerate() {
            matrix[row * n + row] = 1.0;
            let mut constant = c[state];
            for &(next, probability) in &self.successors[state] {
                match place[next] {
                    usize::MAX => constant += gamma * probability * x[next],
                    column => matrix[row * n + column] -= gamma * probability,
                }
            }
            right.push(constant);
        }
        linear::solve(&mut matrix, &mut right);
        component.iter().zip(right).for_each(|(&state, value)| x[state] = value);
    }

    /// The stationary distribution of a closed component: π = π P and Σ π = 1, which replaces the last equation.
    fn stationary(&self, component: &[usize], place: &[usize]) -> Vec<f64> {
        let n = component.len();
        let mut matrix = vec![0.0; n * n];
        for (column, &state) in component.iter().enumerate() {
            matrix[column * n + column] -= 1.0;
            for &(next, probability) in &self.successors[state] {
                matrix[place[next] * n + column] += probability;
            }
        }
        matrix[(n - 1) * n..].fill(1.0);
        let mut right = vec![0.0; n];
        right[n - 1] = 1.0;
        linear::solve(&mut matrix, &mut right);
        right
    }

    /// The strongly connected components, each after all those it leads to (Tarjan 1972, with an explicit stack).
    fn components(&self) -> Vec<Vec<usize>> {
        const NEW: usize = usize::MAX;
        let n = self.successors.len();
        let mut found = Vec::new();
        // When a state was first seen, and the earliest state on the stack that it is known to reach.
        let (mut order, mut low, mut seen) = (vec![NEW; n], vec![NEW; n], 0);
        let (mut stack, mut on_stack) = (Vec::new(), vec![false; n]);
        for root in 0..n {
            let mut path = if order[root] == NEW { vec![(root, 0)] } else { vec![] };
            while let Some((state, edge)) = path.pop() {
                if edge == 0 {
                    (order[state], low[state]) = (seen, seen);
                    seen += 1;
                    stack.push(state);
                    on_stack[state] = true;
                } else {
                    // Back from the successor before this edge.
                    let child = self.successors[state][edge - 1].0;
                    if on_stack[child] {
                        low[state] = low[state].min(low[child]);
                    }
                }
                if let Some(&(next, _)) = self.successors[state].get(edge) {
                    path.push((state, edge + 1));
                    if order[next] == NEW {
                        path.push((next, 0));
                    }
                } else if low[state] == order[state] {
                    let size = stack.iter().rev().take_while(|&&member| member != state).count() + 1;
                    let component = stack.split_off(stack.len() - size);
                    component.iter().for_each(|&member| on_stack[member] = false);
                    found.push(component);
                }
            }
        }
        found
    }
}

/// Notes where in the component each of its states stands; all others stay at `usize::MAX`.
fn enter(component: &[usize], place: &mut [usize]) {
    component.iter().enumerate().for_each(|(index, &state)| place[state] = index);
}

fn leave(component: &[usize], place: &mut [usize]) {
    component.iter().for_each(|&state| place[state] = usize::MAX);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mdp::{MdpBuilder, Outcome};

    /// 0 ⇄ 1 → 2 ⟲, and 3 → 0: three components, the one that is never left first.
    #[test]
    fn components_come_after_those_they_lead_to() {
        let edges: [&[usize]; 4] = [&[1], &[0, 2], &[2], &[0]];
        let even = |next: &[usize]| next.iter().map(|&n| (n, 1.0 / next.len() as f64)).collect();
        let chain = MarkovChain {
            successors: edges.iter().map(|next| even(next)).collect(),
            reward: vec![0.0; 4],
            ends: vec![false; 4],
        };
        assert_eq!(chain.components(), [vec![2], vec![0, 1], vec![3]]);
    }

    /// A coin decides between two rooms, one that pays 1 a step and one that pays 3 every second step.
    #[test]
    fn average_over_rooms_that_are_never_left() {
        let rooms = MdpBuilder::new("rooms", 4, 1, 0.9)
            .outcome(0, 0, Outcome::goes(0.25, 1, 100.0))
            .outcome(0, 0, Outcome::goes(0.75, 2, 100.0))
            .outcome(1, 0, Outcome::goes(1.0, 1, 1.0))
            .outcome(2, 0, Outcome::goes(1.0, 3, 0.0))
            .outcome(3, 0, Outcome::goes(1.0, 2, 3.0))
            .start(0)
            .build()
            .unwrap();
        let average = average_reward(&rooms, &[0; 4]).unwrap();
        assert!((average - (0.25 + 0.75 * 1.5)).abs() < 1e-14, "{average}");
    }

    #[test]
    fn rejects_what_is_not_a_policy() {
        let chain = crate::mdp::named("chain").unwrap();
        let error = |policy: &[usize]| average_reward(&chain, policy).unwrap_err().to_string();
        assert_eq!(error(&[0; 4]), "the policy has 4 entries for 5 states: give one action for each");
        assert_eq!(error(&[2; 5]), "there is no action 2: the MDP has 2, numbered from 0");
    }
}

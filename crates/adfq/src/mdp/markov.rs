//! The Markov chain an MDP becomes under a fixed policy: its discounted values and its average reward.
//!
//! States that can reach each other form a component. Values depend only on components further down, so each is
//! solved as a system of its own, last first: a policy that walks straight to its goal costs |S| divisions instead of
//! one system of |S| equations. Small systems are dense and exact up to rounding. Large ones are sparse: a dense one of
//! 300,000 states would take 720 GB.

use super::{Mdp, MdpError, components::components, linear, reverse::Predecessors, sparse::Sparse};
use crate::Result;

/// Components of more states than this are solved as sparse systems.
pub(super) const DENSE: usize = 2_500;

/// How wrong a step of a long cycle may be, relative to the largest reward: what is aimed at, and what is still accepted.
const EXACT: f64 = 1e-12;
const ROUGH: f64 = 1e-8;

/// The long-run average reward per step of a deterministic policy (one action for each state), when an episode that
/// ends is followed by the next one from a start state. NaN where so many states lead to each other so slowly that it
/// cannot be computed, as in a random walk over a million of them.
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
    /// The next states of state s, with their probabilities, are `successors[offsets[s]..offsets[s + 1]]`. The
    /// probabilities sum to less than 1 where the chain can end.
    offsets: Vec<usize>,
    successors: Vec<(usize, f64)>,
    /// The expected reward of the step out of each state.
    reward: Vec<f64>,
    /// Whether the chain can end with the step out of each state.
    ends: Vec<bool>,
    /// A state beside those of the MDP that stands between two episodes and takes no time. Without it every end would
    /// lead to every start state, which may be a million times a million.
    between: Option<usize>,
}

impl MarkovChain {
    /// The chain of a policy that ends where an episode ends.
    pub(super) fn ending(mdp: &Mdp, policy: &[usize]) -> Self {
        Self::new(mdp, policy, &[])
    }

    /// The chain of a policy in which the end of an episode leads to a start state.
    fn restarting(mdp: &Mdp, policy: &[usize]) -> Self {
        if mdp.states() <= DENSE {
            return Self::new(mdp, policy, mdp.starts());
        }
        let between = mdp.states();
        let mut chain = Self::new(mdp, policy, &[(between, 1.0)]);
        chain.successors.extend(mdp.starts());
        chain.offsets.push(chain.successors.len());
        chain.reward.push(0.0);
        chain.ends.push(false);
        Self { between: Some(between), ..chain }
    }

    fn new(mdp: &Mdp, policy: &[usize], after_end: &[(usize, f64)]) -> Self {
        let (mut offsets, mut successors) = (Vec::with_capacity(mdp.states() + 1), Vec::new());
        offsets.push(0);
        for (state, &action) in policy.iter().enumerate() {
            for o in mdp.outcomes(state, action) {
                match o.terminal {
                    true => successors.extend(after_end.iter().map(|&(start, p)| (start, o.probability * p))),
                    false => successors.push((o.next_state, o.probability)),
                }
            }
            offsets.push(successors.len());
        }
        let taken = || policy.iter().enumerate();
        Self {
            offsets,
            successors,
            reward: taken().map(|(state, &action)| mdp.mean_reward(state, action)).collect(),
            ends: taken()
                .map(|(state, &action)| after_end.is_empty() && mdp.can_end(state, action))
                .collect(),
            between: None,
        }
    }

    fn successors(&self, state: usize) -> &[(usize, f64)] {
        &self.successors[self.offsets[state]..self.offsets[state + 1]]
    }

    /// The value of each state: V = r + γ P V. At γ = 1 the error is a state from which the chain never ends.
    pub(super) fn values(&self, gamma: f64) -> Result<Vec<f64>, usize> {
        let mut values = vec![0.0; self.reward.len()];
        self.improve_values(gamma, &mut values, 0.0)?;
        Ok(values)
    }

    /// The same from a guess. In large components an equation may stay wrong by `tolerance`, or by what rounding leaves;
    /// returns by how much one is.
    pub(super) fn improve_values(
        &self,
        gamma: f64,
        values: &mut [f64],
        tolerance: f64,
    ) -> Result<f64, usize> {
        let mut wrong = 0.0_f64;
        let mut place = vec![usize::MAX; self.reward.len()];
        for component in self.components() {
            enter(&component, &mut place);
            if gamma == 1.0 && self.is_closed(&component, &place) {
                return Err(component[0]);
            }
            if component.len() > DENSE {
                wrong =
                    wrong.max(self.solve_sparse(&component, &place, gamma, &self.reward, values, tolerance));
            } else {
                self.solve_component(&component, &place, gamma, &self.reward, values);
            }
            leave(&component, &mut place);
        }
        Ok(wrong)
    }

    /// At least as many steps as the chain is expected to take until it ends, from whichever state; infinite where they
    /// are too many to be known.
    pub(super) fn longest(self) -> Result<f64, usize> {
        let mut steps = vec![0.0; self.reward.len()];
        let chain = Self { reward: vec![1.0; self.reward.len()], ..self };
        let wrong = chain.improve_values(1.0, &mut steps, 1e-3)?;
        let longest = steps.into_iter().fold(0.0, f64::max);
        Ok(if wrong < 0.5 { longest / (1.0 - wrong) } else { f64::INFINITY })
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
                let gain = self.gain(&component, &mut place);
                component.iter().for_each(|&state| gains[state] = gain);
            } else if component.len() > DENSE {
                self.solve_sparse(&component, &place, 1.0, &nothing, &mut gains, 0.0);
            } else {
                self.solve_component(&component, &place, 1.0, &nothing, &mut gains);
            }
            leave(&component, &mut place);
        }
        gains
    }

    /// The average reward of a component that is never left.
    fn gain(&self, component: &[usize], place: &mut [usize]) -> f64 {
        let between = self.between.filter(|&between| place[between] != usize::MAX);
        if component.len() <= DENSE && between.is_none() {
            let stationary = self.stationary(component, place);
            return component.iter().zip(&stationary).map(|(&s, p)| p * self.reward[s]).sum();
        }
        self.gain_of_cycle(component, place, between.unwrap_or(component[0]))
    }

    /// The same as what is earned from one visit of `home` to the next, divided by the time that takes: both are values
    /// of a chain that ends at home.
    fn gain_of_cycle(&self, component: &[usize], place: &mut [usize], home: usize) -> f64 {
        let n = self.reward.len();
        let time: Vec<f64> =
            (0..n).map(|state| if Some(state) == self.between { 0.0 } else { 1.0 }).collect();
        let (mut earned, mut taken) = (vec![0.0; n], vec![0.0; n]);
        place[home] = usize::MAX;
        let away: Vec<usize> = component.iter().copied().filter(|&state| state != home).collect();
        enter(&away, place);
        // What is wrong with a step adds up over the cycle, and is divided by its length again.
        let most = self.reward.iter().fold(0.0_f64, |most, reward| reward.abs().max(most));
        let rough = self.solve_sparse(&away, place, 1.0, &time, &mut taken, EXACT) > ROUGH
            || self.solve_sparse(&away, place, 1.0, &self.reward, &mut earned, EXACT * most) > ROUGH * most;
        let round = |own: &[f64], x: &[f64]| {
            own[home] + self.successors(home).iter().map(|&(next, p)| p * x[next]).sum::<f64>()
        };
        enter(component, place);
        if rough { f64::NAN } else { round(&self.reward, &earned) / round(&time, &taken) }
    }

    /// Whether the chain, once in this component, stays there forever.
    fn is_closed(&self, component: &[usize], place: &[usize]) -> bool {
        component.iter().all(|&state| {
            !self.ends[state] && self.successors(state).iter().all(|&(next, _)| place[next] != usize::MAX)
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
            for &(next, probability) in self.successors(state) {
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

    /// The same for a large component: in place of `x` as a first guess, until no equation is wrong by more than
    /// `tolerance` or than rounding leaves. Returns by how much one is.
    fn solve_sparse(
        &self,
        component: &[usize],
        place: &[usize],
        gamma: f64,
        c: &[f64],
        x: &mut [f64],
        tolerance: f64,
    ) -> f64 {
        let inside =
            |state: usize| self.successors(state).iter().filter(|&&(next, _)| place[next] != usize::MAX);
        let outside =
            |state: usize| self.successors(state).iter().filter(|&&(next, _)| place[next] == usize::MAX);
        let steps = || {
            component
                .iter()
                .enumerate()
                .flat_map(|(i, &state)| inside(state).map(move |&(next, _)| (i, place[next])))
        };
        // Values come from where the component is left, so the equations nearest to an exit are the first.
        let exit = |i: &usize| self.ends[component[*i]] || outside(component[*i]).next().is_some();
        let order =
            Predecessors::of_steps(component.len(), steps).by_distance((0..component.len()).filter(exit));
        let mut rank = vec![0; component.len()];
        order.iter().enumerate().for_each(|(at, &i)| rank[i as usize] = at);

        let mut matrix = Sparse::with_capacity(component.len(), steps().count());
        let (mut constants, mut inner) = (vec![], vec![]);
        for state in order.iter().map(|&i| component[i as usize]) {
            matrix.push(inside(state).map(|&(next, probability)| (rank[place[next]], gamma * probability)));
            let known = outside(state).map(|&(next, probability)| gamma * probability * x[next]);
            constants.push(c[state] + known.sum::<f64>());
            inner.push(x[state]);
        }
        let wrong = matrix.solve(&constants, &mut inner, tolerance);
        order.iter().zip(inner).for_each(|(&i, value)| x[component[i as usize]] = value);
        wrong
    }

    /// The stationary distribution of a closed component: π = π P and Σ π = 1, which replaces the last equation.
    fn stationary(&self, component: &[usize], place: &[usize]) -> Vec<f64> {
        let n = component.len();
        let mut matrix = vec![0.0; n * n];
        for (column, &state) in component.iter().enumerate() {
            matrix[column * n + column] -= 1.0;
            for &(next, probability) in self.successors(state) {
                matrix[place[next] * n + column] += probability;
            }
        }
        matrix[(n - 1) * n..].fill(1.0);
        let mut right = vec![0.0; n];
        right[n - 1] = 1.0;
        linear::solve(&mut matrix, &mut right);
        right
    }

    /// The strongly connected components, each after all those it leads to.
    fn components(&self) -> Vec<Vec<usize>> {
        components(self.reward.len(), |state, edge| self.successors(state).get(edge).map(|&(next, _)| next))
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

    /// The sparse solver on components that the dense one solves too: the same values, the same average.
    #[test]
    fn sparse_and_dense_agree() {
        for (gamma, ending, seed) in [(0.9, 0.0, 1), (0.999, 0.0, 2), (1.0, 0.05, 3), (0.99, 0.01, 4)] {
            let garnet = crate::mdp::Garnet { states: 300, ending, gamma, ..Default::default() };
            let mdp = garnet.mdp(seed).unwrap();
            let policy: Vec<usize> = (0..300).map(|state| state % 2).collect();
            let chain = MarkovChain::ending(&mdp, &policy);
            let exact = chain.values(gamma).unwrap();
            let (mut values, mut place) = (vec![0.0; 300], vec![usize::MAX; 300]);
            for component in chain.components() {
                enter(&component, &mut place);
                chain.solve_sparse(&component, &place, gamma, &chain.reward, &mut values, 0.0);
                leave(&component, &mut place);
            }
            for (x, y) in exact.iter().zip(&values) {
                assert!((x - y).abs() < 1e-11, "{x} {y}");
            }

            let chain = MarkovChain::restarting(&mdp, &policy);
            let component = chain.components().into_iter().next().unwrap();
            enter(&component, &mut place);
            let (dense, home) = (chain.gain(&component, &mut place), component[component.len() / 2]);
            let cycle = chain.gain_of_cycle(&component, &mut place, home);
            assert!((dense - cycle).abs() < 1e-11, "{dense} {cycle}");
        }
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

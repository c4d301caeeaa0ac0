//! What is optimal in an MDP of many states: modified policy iteration (Puterman and Shin 1978), in the memory of the
//! model and a few numbers a state.
//!
//! A round sweeps over all states and improves value and policy (Gauss–Seidel), then evaluates the policy by solving its
//! sparse equations ([`markov`](super::markov)), roughly at first and more exactly as the values settle. Sweeps go from
//! the states near a goal to those far away and back, so that one of them carries news across the whole MDP.

use super::solve::{Solution, largest};
use super::{Mdp, MdpError, markov::MarkovChain, reverse};
use crate::Result;

/// Rounds end when no value can be further than this from V*, relative to the largest.
const TOLERANCE: f64 = 1e-10;

/// At γ = 1 an action has to be better by this much, relative to the largest value. Otherwise rounding might choose, of
/// two equally good actions, one that never ends. Where it does so nevertheless, more is asked for.
const GAIN: f64 = 1e-13;
const GREATEST_GAIN: f64 = 1e-10;

/// Sweeps go on while the change of a value falls to less than this share of that in the sweep before.
const FAST: f64 = 0.25;

/// How exactly a policy is evaluated, relative to the change of the last sweep.
const ROUGHLY: f64 = 0.01;

/// Rounds without a better bound, after which only rounding is left.
const FRUITLESS: usize = 20;

/// Q* by modified policy iteration, for MDPs too large for the dense systems of
/// [`policy_iteration`](super::policy_iteration): a million states take seconds.
///
/// Below γ = 1 [`Solution::bound`] is a proven bound on the error, ‖V − V*‖ ≤ γ ‖TV − V‖ / (1−γ) for T the look one step ahead,
/// and lies at a relative 1e-10 unless γ is so near to 1 that rounding forbids it. At γ = 1 there is no such bound: no
/// action is better than the policy's by more than a relative 1e-13 (1e-10 where episodes are so long that rounding adds up), and `bound` says how far the values can be from those of
/// the policy. Every state must be able to reach the end of the episode then.
///
/// The policy is the one that was evaluated last. It need not take the lowest of equally good actions.
///
/// ```
/// use adfq::mdp::{modified_policy_iteration, named, policy_iteration};
///
/// let maze = named("maze")?;
/// let (exact, close) = (policy_iteration(&maze)?, modified_policy_iteration(&maze)?);
/// assert!(exact.q.iter().zip(&close.q).all(|(x, y)| (x - y).abs() < 1e-10));
/// # Ok::<(), adfq::Error>(())
/// ```
pub fn modified_policy_iteration(mdp: &Mdp) -> Result<Solution> {
    if mdp.gamma() == 1.0 { undiscounted(mdp) } else { discounted(mdp) }
}

fn discounted(mdp: &Mdp) -> Result<Solution> {
    let gamma = mdp.gamma();
    let order = order(mdp);
    let mut state = Improving { mdp, values: vec![0.0; mdp.states()], policy: vec![0; mdp.states()] };
    let mut best = (f64::INFINITY, state.values.clone(), state.policy.clone());
    let (mut rounds, mut fruitless) = (0, 0);
    while fruitless < FRUITLESS {
        let change = state.improve(&order, 0.0).change;
        // Once rough evaluations no longer help, exact ones do: this is then policy iteration, which ends.
        let tolerance = if fruitless == 0 { ROUGHLY * change } else { 0.0 };
        state.evaluate(tolerance)?;
        rounds += 1;
        let scale = largest(&state.values);
        // Rounding makes each side of V = TV wrong by about ε ‖V‖.
        let wrong = gamma * state.residual() + f64::EPSILON * scale;
        let bound = wrong / (1.0 - gamma);
        fruitless = if bound < best.0 { 0 } else { fruitless + 1 };
        if bound < best.0 {
            best = (bound, state.values.clone(), state.policy.clone());
        }
        if bound <= TOLERANCE * scale {
            break;
        }
    }
    let (bound, values, policy) = best;
    Ok(Solution { policy, bound: Some(bound), ..Solution::ahead_of(mdp, &values, rounds) })
}

/// Each policy is one that ends every episode, and is evaluated as exactly as rounding allows: no sweep may start from
/// values that are too high.
fn undiscounted(mdp: &Mdp) -> Result<Solution> {
    let policy = reverse::surely_ending_policy(mdp)?;
    let order = order(mdp);
    let mut state = Improving { mdp, values: vec![0.0; mdp.states()], policy };
    let mut wrong = state.evaluate(0.0)?;
    let (mut rounds, mut gain) = (1, GAIN);
    loop {
        let (values, policy) = (state.values.clone(), state.policy.clone());
        let mut better = state.improve(&order, gain * largest(&values)).switched;
        if better {
            rounds += 1;
            match state.evaluate(0.0) {
                Ok(left) => wrong = left,
                // Either more can be earned without end, or the values were too rough to tell ties from gains.
                Err(_) if gain < GREATEST_GAIN => {
                    (state.values, state.policy) = (values, policy);
                    gain *= 10.0;
                    continue;
                }
                Err(endless) => return Err(endless.into()),
            }
            // Improvement raises the sum in exact arithmetic; demanding it means no policy comes twice, so this ends.
            better = state.values.iter().sum::<f64>() > values.iter().sum();
        }
        if !better {
            (state.values, state.policy) = (values, policy);
            break;
        }
    }
    let bound = (wrong + f64::EPSILON * largest(&state.values)) * state.longest()?;
    let Improving { values, policy, .. } = state;
    Ok(Solution { policy, bound: Some(bound), ..Solution::ahead_of(mdp, &values, rounds) })
}

/// The states near the end of an episode, or near the best reward, first.
fn order(mdp: &Mdp) -> Vec<u32> {
    let actions = || 0..mdp.actions();
    let best =
        |state| actions().map(|action| mdp.mean_reward(state, action)).fold(f64::NEG_INFINITY, f64::max);
    let greatest = (0..mdp.states()).map(best).fold(f64::NEG_INFINITY, f64::max);
    let goals = (0..mdp.states())
        .filter(|&state| best(state) == greatest || actions().any(|action| mdp.can_end(state, action)));
    reverse::Predecessors::of(mdp).by_distance(goals)
}

/// Values and a policy on their way to the best.
struct Improving<'a> {
    mdp: &'a Mdp,
    values: Vec<f64>,
    policy: Vec<usize>,
}

/// What a round's sweeps did.
struct Improved {
    /// The largest change of a value in the last one away from the goals.
    change: f64,
    /// Whether some state has another action than before.
    switched: bool,
}

impl Improving<'_> {
    /// Sweeps to and fro as long as that settles the values fast. An action replaces the policy's if it is better by more
    /// than `gain`.
    fn improve(&mut self, order: &[u32], gain: f64) -> Improved {
        let mut all = Improved { change: f64::INFINITY, switched: false };
        loop {
            let before = all.change;
            let there = fold(order.iter().map(|&state| self.improve_state(state as usize, gain)));
            let back = fold(order.iter().rev().map(|&state| self.improve_state(state as usize, gain)));
            all.change = there.change;
            all.switched |= there.switched | back.switched;
            // Where one sweep does not bring much, many would be needed: then the policy is evaluated.
            if there.change == 0.0 || there.change > FAST * before {
                return all;
            }
        }
    }

    fn improve_state(&mut self, state: usize, gain: f64) -> Improved {
        let own = self.policy[state];
        let own_value = self.worth(state, own);
        let mut best = (own, own_value + gain);
        for action in (0..self.mdp.actions()).filter(|&action| action != own) {
            let value = self.worth(state, action);
            if value > best.1 {
                best = (action, value);
            }
        }
        let switched = best.0 != own;
        let value = if switched { best.1 } else { own_value };
        let change = (value - std::mem::replace(&mut self.values[state], value)).abs();
        self.policy[state] = best.0;
        Improved { change, switched }
    }

    /// Q(s,a) = E[r + γ V(s′)].
    #[inline]
    fn worth(&self, state: usize, action: usize) -> f64 {
        let gamma = self.mdp.gamma();
        let worth = |next: usize, terminal: bool| if terminal { 0.0 } else { gamma * self.values[next] };
        let outcomes = self.mdp.outcomes(state, action).iter();
        outcomes.map(|o| o.probability * (o.reward + worth(o.next_state, o.terminal))).sum()
    }

    /// Turns to the values of the policy; returns by how much an equation may still be wrong.
    fn evaluate(&mut self, tolerance: f64) -> Result<f64, MdpError> {
        let endless = |state| MdpError::Endless(self.mdp.state_label(state).into_owned());
        let chain = MarkovChain::ending(self.mdp, &self.policy);
        chain.improve_values(self.mdp.gamma(), &mut self.values, tolerance).map_err(endless)
    }

    /// ‖TV − V‖.
    fn residual(&self) -> f64 {
        let best = |state| {
            (0..self.mdp.actions()).map(|action| self.worth(state, action)).fold(f64::NEG_INFINITY, f64::max)
        };
        (0..self.mdp.states()).map(|state| (best(state) - self.values[state]).abs()).fold(0.0, f64::max)
    }

    /// The most steps that the policy is expected to take until the episode ends.
    fn longest(&self) -> Result<f64, MdpError> {
        let endless = |state| MdpError::Endless(self.mdp.state_label(state).into_owned());
        MarkovChain::ending(self.mdp, &self.policy).longest().map_err(endless)
    }
}

fn fold(changes: impl Iterator<Item = Improved>) -> Improved {
    changes.fold(Improved { change: 0.0, switched: false }, |all, one| Improved {
        change: all.change.max(one.change),
        switched: all.switched | one.switched,
    })
}

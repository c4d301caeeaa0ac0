//! What is optimal in an MDP: Q* by policy iteration, exact up to rounding, and by value iteration as a cross-check. How
//! large MDPs are solved is [`large`](super::large)'s.

use super::{
    Mdp, MdpError,
    large::modified_policy_iteration,
    markov::{DENSE, MarkovChain},
    reverse::ending_policy,
};
use crate::Result;

/// Action values closer than this, relative to the largest value, count as ties.
const TIE: f64 = 1e-10;

/// An action has to be better by this much, relative to the largest value, for policy iteration to switch to it.
const GAIN: f64 = 1e-13;

/// The solution of an MDP.
///
/// ```
/// use adfq::mdp::{named, policy_iteration};
///
/// let best = policy_iteration(&named("loop")?)?;
/// assert!((best.action_values(0)[1] - 7.201040).abs() < 1e-6);
/// assert_eq!(best.value[0], best.q[1]);
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// Q*(s,a) at `s * actions + a`.
    pub q: Vec<f64>,
    /// V*(s), the largest Q*(s,·).
    pub value: Vec<f64>,
    /// An optimal action for each state. Policy iteration below γ = 1 gives the lowest of those that are.
    pub policy: Vec<usize>,
    /// How many policies were evaluated, or how many sweeps done.
    pub iterations: usize,
    /// How far a value can be from V*, where sweeps led to it. Policy iteration is exact up to rounding and has none.
    pub bound: Option<f64>,
}

impl Solution {
    /// Q*(s,·), one value for each action.
    ///
    /// # Panics
    /// If there is no such state.
    pub fn action_values(&self, state: usize) -> &[f64] {
        let actions = self.q.len() / self.value.len();
        &self.q[state * actions..][..actions]
    }

    /// Looks one step ahead of the values `v`.
    pub(super) fn ahead_of(mdp: &Mdp, v: &[f64], iterations: usize) -> Self {
        let q = look_ahead(mdp, v);
        let slack = TIE * largest(&q);
        let rows = || q.chunks_exact(mdp.actions());
        let policy = rows().map(|row| row.iter().position(|&x| x >= max(row) - slack).unwrap_or(0)).collect();
        let value = rows().map(max).collect();
        Self { q, value, policy, iterations, bound: None }
    }
}

/// Q*: by [`policy_iteration`] up to 2,500 states, exact up to rounding, and by [`modified_policy_iteration`] beyond, to a
/// relative 1e-10 in the memory of the model.
///
/// ```
/// use adfq::mdp::{Garnet, policy_iteration, solve};
///
/// let small = Garnet::default().mdp(1)?;
/// assert_eq!(solve(&small)?, policy_iteration(&small)?);
/// let large = solve(&Garnet { states: 10_000, ..Garnet::default() }.mdp(1)?)?;
/// assert!(large.bound.unwrap() < 1e-8);
/// # Ok::<(), adfq::Error>(())
/// ```
pub fn solve(mdp: &Mdp) -> Result<Solution> {
    if mdp.states() <= DENSE { policy_iteration(mdp) } else { modified_policy_iteration(mdp) }
}

/// Q* by policy iteration (Howard 1960), each policy evaluated by exact linear solves. States that lead to each other in a
/// circle are solved together; where these are more than 2,500, the equations are solved by iteration until only rounding
/// is left.
///
/// At γ = 1 every state must be able to reach the end of the episode, and every better policy found must reach it;
/// the policy returned is then one that does, which need not take the lowest of equally good actions.
///
/// ```
/// use adfq::mdp::{named, policy_iteration};
///
/// // Undiscounted, all three flags are worth the walk from everywhere.
/// let maze = named("maze")?.with_gamma(1.0)?;
/// assert!((policy_iteration(&maze)?.value[0] - 3.0).abs() < 1e-12);
/// // Loop never ends.
/// assert!(policy_iteration(&named("loop")?.with_gamma(1.0)?).is_err());
/// # Ok::<(), adfq::Error>(())
/// ```
pub fn policy_iteration(mdp: &Mdp) -> Result<Solution> {
    let undiscounted = mdp.gamma() == 1.0;
    let mut policy = if undiscounted { ending_policy(mdp)? } else { vec![0; mdp.states()] };
    let mut values = evaluate(mdp, &policy)?;
    let mut iterations = 1;
    loop {
        let better = improve(mdp, &policy, &values);
        if better == policy {
            break;
        }
        let better_values = evaluate(mdp, &better)?;
        iterations += 1;
        // Improvement raises the sum in exact arithmetic; demanding it means no policy comes twice, so this ends.
        if better_values.iter().sum::<f64>() <= values.iter().sum() {
            break;
        }
        (policy, values) = (better, better_values);
    }
    let solution = Solution::ahead_of(mdp, &values, iterations);
    Ok(if undiscounted { Solution { policy, ..solution } } else { solution })
}

/// Q* by value iteration: sweeps until no value is further than `tolerance` from V*, by the bound
/// ‖V − V*‖ ≤ (γ ‖V − V_before‖ + ε ‖V‖) / (1−γ), ε being the rounding of one sweep. Needs γ < 1.
///
/// ```
/// use adfq::mdp::{named, policy_iteration, value_iteration};
///
/// let chain = named("chain")?;
/// let (exact, close) = (policy_iteration(&chain)?, value_iteration(&chain, 1e-6)?);
/// assert!(exact.q.iter().zip(&close.q).all(|(x, y)| (x - y).abs() <= 1e-6));
/// # Ok::<(), adfq::Error>(())
/// ```
pub fn value_iteration(mdp: &Mdp, tolerance: f64) -> Result<Solution> {
    let gamma = mdp.gamma();
    if gamma == 1.0 {
        return Err(MdpError::Undiscounted.into());
    }
    let mut values = vec![0.0; mdp.states()];
    let (mut sweeps, mut enough) = (0, f64::INFINITY);
    loop {
        let next: Vec<f64> = look_ahead(mdp, &values).chunks_exact(mdp.actions()).map(max).collect();
        let change = next.iter().zip(&values).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        values = next;
        sweeps += 1;
        let bound = (gamma * change + f64::EPSILON * largest(&values)) / (1.0 - gamma);
        if bound <= tolerance {
            return Ok(Solution { bound: Some(bound), ..Solution::ahead_of(mdp, &values, sweeps) });
        }
        if sweeps == 1 {
            // Each sweep shrinks the change by γ: after so many only rounding is left. No tolerance, no sweep.
            let shrink = libm::log(tolerance / 2.0 / bound) / libm::log(gamma);
            enough = if tolerance > 0.0 { 2.0 + shrink } else { 0.0 };
        }
        if sweeps as f64 > enough {
            return Err(MdpError::Tolerance { tolerance, reached: bound }.into());
        }
    }
}

/// Q(s,a) = E[r + γ V(s′)] for every (s,a).
fn look_ahead(mdp: &Mdp, v: &[f64]) -> Vec<f64> {
    let pairs = (0..mdp.states()).flat_map(|state| (0..mdp.actions()).map(move |action| (state, action)));
    pairs
        .map(|(state, action)| {
            let worth = |next: usize, terminal: bool| if terminal { 0.0 } else { mdp.gamma() * v[next] };
            let outcomes = mdp.outcomes(state, action).iter();
            outcomes.map(|o| o.probability * (o.reward + worth(o.next_state, o.terminal))).sum()
        })
        .collect()
}

fn evaluate(mdp: &Mdp, policy: &[usize]) -> Result<Vec<f64>, MdpError> {
    let endless = |state| MdpError::Endless(mdp.state_label(state).into_owned());
    MarkovChain::ending(mdp, policy).values(mdp.gamma()).map_err(endless)
}

/// The best action in every state, or the policy's own unless another is clearly better.
fn improve(mdp: &Mdp, policy: &[usize], values: &[f64]) -> Vec<usize> {
    let q = look_ahead(mdp, values);
    let least_gain = GAIN * largest(&q);
    let rows = q.chunks_exact(mdp.actions());
    let better = |(row, &own): (&[f64], &usize)| {
        let best = max(row);
        if best > row[own] + least_gain { row.iter().position(|&x| x == best).unwrap_or(own) } else { own }
    };
    rows.zip(policy).map(better).collect()
}

fn max(row: &[f64]) -> f64 {
    row.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// The largest absolute value: the scale on which values are compared.
pub(super) fn largest(q: &[f64]) -> f64 {
    q.iter().fold(0.0, |largest, x| x.abs().max(largest))
}

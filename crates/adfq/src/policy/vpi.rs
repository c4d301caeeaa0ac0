//! Myopic value of perfect information (Dearden, Friedman and Russell 1998): how much better could one act if
//! one knew Q(s,a) exactly?
//!
//! Let a₁ and a₂ have the largest and second largest mean. To learn the truth q = Q(s,a) pays only if it changes
//! the choice: q - μ₁ if an action a ≠ a₁ turns out better than a₁, and μ₂ - q if a₁ turns out worse than a₂. Since
//! the beliefs are symmetric about their means, both expectations are one: E max(q - μ - gap, 0), where
//! the gap is μ₁ - μₐ or μ₁ - μ₂, the distance from the action's own mean at which the choice changes.

use super::Policy;
use super::epsilon_greedy::best;
use crate::agent::Agent;
use crate::agent::table::argmax;
use crate::random::ChaCha8Rng;
use smallvec::SmallVec;

/// Chooses the action with the largest μ(s,a) + VPI(s,a), a random one of them if there are several.
///
/// ```
/// use adfq::agent::{Agent, KtdQ, KtdSettings, Step};
/// use adfq::policy::{Policy, Vpi};
/// use adfq::random::stream;
///
/// let mut agent = KtdQ::new(1, 2, 0.9, KtdSettings::default())?;
/// agent.update(&Step { state: 0, action: 0, reward: 0.5, next_state: 0, terminal: true })?;
/// // Action 0 looks better, but action 1 has never been tried.
/// assert!(agent.means(0)[0] > agent.means(0)[1]);
/// assert_eq!(Vpi.act(&agent, 0, &mut stream(0, "vpi")), 1);
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vpi;

impl Vpi {
    /// VPI(s,a) of each action, in order.
    pub fn values<A: Agent + ?Sized>(agent: &A, state: usize) -> impl Iterator<Item = f64> + '_ {
        let means = agent.means(state);
        let best = argmax(means);
        let others = means.iter().enumerate().filter(move |&(action, _)| action != best);
        let second = others.fold(f64::NEG_INFINITY, |second, (_, &mean)| second.max(mean));
        (0..means.len()).map(move |action| match () {
            // A single action: nothing to change.
            () if second == f64::NEG_INFINITY => 0.0,
            () if action == best => agent.gain(state, action, means[best] - second),
            () => agent.gain(state, action, means[best] - means[action]),
        })
    }
}

impl<A: Agent + ?Sized> Policy<A> for Vpi {
    fn act(&mut self, agent: &A, state: usize, rng: &mut ChaCha8Rng) -> usize {
        let means = agent.means(state).iter();
        let scores: SmallVec<[f64; 16]> = means.zip(Self::values(agent, state)).map(|(m, v)| m + v).collect();
        best(&scores, rng)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::{KtdQ, KtdSettings, Step};
    use crate::random::stream;

    /// VPI by its definition: the average gain in the value of the chosen action over draws of the truth.
    #[test]
    fn closed_form_is_the_average_improvement() {
        let mut agent = KtdQ::new(1, 3, 0.9, KtdSettings::default()).unwrap();
        for (action, reward) in [(0, 1.5), (1, 0.4), (1, 0.8)] {
            agent.update(&Step { state: 0, action, reward, next_state: 0, terminal: true }).unwrap();
        }
        let (mut rng, draws, means) = (stream(4, "vpi"), 200_000, agent.means(0).to_vec());
        for (action, closed) in Vpi::values(&agent, 0).enumerate() {
            let mut sum = 0.0;
            for _ in 0..draws {
                let mut known = means.clone();
                known[action] = agent.sample(0, action, &mut rng);
                sum += known[argmax(&known)] - known[argmax(&means)];
            }
            let average = sum / f64::from(draws);
            // A gain has an sd of at most σ = √10, so this is at least 4 sd of the average.
            assert!(
                (closed - average).abs() < 4.0 * 10.0_f64.sqrt() / f64::from(draws).sqrt(),
                "{closed} {average}"
            );
        }
    }

    #[test]
    fn a_single_action_is_worth_no_information() {
        let agent = KtdQ::new(1, 1, 0.9, KtdSettings::default()).unwrap();
        assert_eq!(Vpi::values(&agent, 0).collect::<Vec<_>>(), [0.0]);
    }
}

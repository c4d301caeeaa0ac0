//! Optimism: act by what the values may be at best, and find out.

use super::Policy;
use super::epsilon_greedy::best;
use crate::agent::Agent;
use crate::random::ChaCha8Rng;
use smallvec::SmallVec;

/// Chooses the action with the largest [hopeful](Agent::hopeful) value, a random one of them if there are several. The action is then as
/// good as hoped or something is learned.
///
/// ```
/// use adfq::agent::{Agent, Rewards, SplitAdfq, SplitSettings, Step};
/// use adfq::policy::{Optimist, Policy};
/// use adfq::random::stream;
///
/// let (rewards, settings) = (Rewards::within(0.0, 1.0), SplitSettings::default());
/// let mut agent = SplitAdfq::new(1, 2, 0.9, rewards, settings, stream(0, "agent"))?;
/// agent.update(&Step { state: 0, action: 0, reward: 0.5, next_state: 0, terminal: true })?;
/// // Action 0 looks better, but action 1 has never been tried.
/// assert!(agent.means(0)[0] > agent.means(0)[1]);
/// assert_eq!(Optimist.act(&agent, 0, &mut stream(0, "optimist")), 1);
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Optimist;

impl<A: Agent + ?Sized> Policy<A> for Optimist {
    fn act(&mut self, agent: &A, state: usize, rng: &mut ChaCha8Rng) -> usize {
        let values: SmallVec<[f64; 16]> = (0..agent.actions()).map(|a| agent.hopeful(state, a)).collect();
        best(&values, rng)
    }
}

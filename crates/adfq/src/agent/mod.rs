//! What learns: tables of action values that one observed transition at a time changes.
//!
//! How an agent chooses its actions lives in [`policy`](crate::policy); what it acts in, in [`mdp`](crate::mdp); agents by
//! name, in [`spec`](crate::spec); the loop that brings them together, in [`run`](crate::run).

mod adfq;
mod bayesian_q;
mod ktd_q;
mod model_based;
mod prior;
mod psrl;
mod q_learning;
mod replay;
mod split_adfq;
mod split_stream;
mod sweep;
pub(crate) mod table;
mod tally;
#[cfg(test)]
mod toy;

pub use adfq::{Adfq, AdfqSettings, NoiseModel};
pub use bayesian_q::{BayesianQ, NormalGamma, Updating};
pub use ktd_q::{KtdQ, KtdSettings};
pub use model_based::{Exploration, ModelBased, ModelSettings};
pub use prior::{Prior, Rewards};
pub use psrl::{Psrl, PsrlSettings};
pub use q_learning::{LearningRate, QLearning};
pub use replay::Replay;
pub use split_adfq::{Heir, SplitAdfq, SplitSettings};
pub use split_stream::{NoiseFrom, SplitStream, StreamSettings};
pub use table::QTable;

use crate::normal::gaussian_gain;
use crate::random::ChaCha8Rng;
use crate::{Belief, Result};
use rand::RngExt;
use rand_distr::StandardNormal;

/// One observed transition ⟨s, a, r, s′⟩, the τ of the paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The state s.
    pub state: usize,
    /// The action a taken there.
    pub action: usize,
    /// The reward r received.
    pub reward: f64,
    /// The state s′ reached. Where `terminal` is set nothing follows and its value is 0.
    pub next_state: usize,
    /// Whether the episode ended with this transition.
    pub terminal: bool,
}

/// An agent: an estimate of Q(s, ·) for every state, and a way to learn from a transition.
///
/// An agent of your own needs a [`QTable`] and [`update`](Self::update). If it also says how uncertain it is
/// ([`var`](Self::var)), it holds beliefs, and every policy of [`policy`](crate::policy) can be used with it. The other
/// methods take these beliefs for Gaussian; an agent that knows better overrides them.
///
/// ```
/// use adfq::agent::{Agent, QTable, Step};
///
/// /// The mean of all rewards seen; nothing is learned about what follows.
/// struct Myopic {
///     table: QTable,
///     visits: f64,
/// }
///
/// impl Agent for Myopic {
///     fn table(&self) -> &QTable {
///         &self.table
///     }
///     fn update(&mut self, step: &Step) -> adfq::Result<()> {
///         self.table.check(step)?;
///         self.visits += 1.0;
///         let before = self.table.row(step.state)[step.action];
///         self.table.set(step.state, step.action, before + (step.reward - before) / self.visits);
///         Ok(())
///     }
/// }
///
/// let mut agent = Myopic { table: QTable::new(1, 2, 0.0)?, visits: 0.0 };
/// agent.update(&Step { state: 0, action: 1, reward: 3.0, next_state: 0, terminal: true })?;
/// assert_eq!(agent.means(0), [0.0, 3.0]);
/// assert!(!agent.has_beliefs() && agent.beliefs(0).is_none());
/// # Ok::<(), adfq::Error>(())
/// ```
pub trait Agent: Send + Sync {
    /// The current estimates (means, where the agent holds beliefs) of all Q(s,a).
    fn table(&self) -> &QTable;

    /// Learns from one transition.
    fn update(&mut self, step: &Step) -> Result<()>;

    /// The variance of the belief over Q(s,a): 0 if the agent has an estimate and no belief.
    #[inline]
    fn var(&self, state: usize, action: usize) -> f64 {
        let _ = (state, action);
        0.0
    }

    /// One draw from the belief over Q(s,a); the estimate itself if there is no belief.
    #[inline]
    fn sample(&self, state: usize, action: usize, rng: &mut ChaCha8Rng) -> f64 {
        let (mean, var) = (self.means(state)[action], self.var(state, action));
        if var > 0.0 { mean + var.sqrt() * rng.sample::<f64, _>(StandardNormal) } else { mean }
    }

    /// E max(Q(s,a) - μ(s,a) - gap, 0): by how much Q(s,a) exceeds its mean and a gap ≥ 0, on average.
    /// [`Vpi`](crate::policy::Vpi) needs it, and takes the belief for symmetric.
    fn gain(&self, state: usize, action: usize, gap: f64) -> f64 {
        let var = self.var(state, action);
        if var > 0.0 { gaussian_gain(var.sqrt(), gap) } else { 0.0 }
    }

    /// An upper value of Q(s,a), which [`Optimist`](crate::policy::Optimist) acts by: two standard deviations above the mean.
    fn hopeful(&self, state: usize, action: usize) -> f64 {
        self.means(state)[action] + 2.0 * self.var(state, action).sqrt()
    }

    /// Number of states |S|.
    #[inline]
    fn states(&self) -> usize {
        self.table().states()
    }

    /// Number of actions |A|, the same in every state.
    #[inline]
    fn actions(&self) -> usize {
        self.table().actions()
    }

    /// The current estimates of Q(s, ·), one per action.
    #[inline]
    fn means(&self, state: usize) -> &[f64] {
        self.table().row(state)
    }

    /// Whether the agent holds beliefs rather than bare estimates.
    fn has_beliefs(&self) -> bool {
        self.var(0, 0) > 0.0
    }

    /// The beliefs over Q(s, ·), one per action; nothing if the agent holds none.
    /// [`MaxOfGaussians`](crate::MaxOfGaussians) tells which action is the best one, and how probably.
    fn beliefs(&self, state: usize) -> Option<Vec<Belief>> {
        let belief = |(action, &mean)| Belief::new(mean, self.var(state, action)).ok();
        self.means(state).iter().enumerate().map(belief).collect()
    }
}

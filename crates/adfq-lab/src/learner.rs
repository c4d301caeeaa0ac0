//! Agents and policies as data, and the one type that stands for any agent built from them.

use adfq::agent::{
    Adfq, AdfqSettings, Agent, BayesianQ, Believer, KtdQ, KtdSettings, LearningRate, NoiseModel, NormalGamma,
    Prior, QLearning, Rewards, SplitAdfq, SplitSettings, SplitStream, Step, StreamSettings, Updating,
};
use adfq::mdp::Mdp;
use adfq::policy::{
    Active, Boltzmann, Epsilon, EpsilonGreedy, Hopeful, Optimist, Policy, Thompson, Uniform,
    ValueOfInformation, Vpi,
};
use adfq::random::stream;
use adfq::update::{Rule, Update};
use adfq::{Belief, Result};
use rand::{Rng, RngExt};

/// An agent with its settings, not yet made for a domain.
///
/// ```
/// use adfq::agent::{Agent, LearningRate};
/// use adfq_lab::learner::Learner;
///
/// let learner = Learner::QLearning { rate: LearningRate::paper(10_000), initial: 0.0 };
/// let agent = learner.build(&adfq::mdp::named("loop")?, 7, "loop/trial 0", "loop/trial 0/Q-learning")?;
/// assert_eq!((agent.states(), agent.means(0)), (9, &[0.0, 0.0][..]));
/// assert!(!agent.believes());
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Learner {
    /// [`Adfq`].
    Adfq {
        /// The update rule.
        rule: Rule,
        /// Where its beliefs start.
        prior: Prior,
        /// The noise on targets.
        noise: NoiseModel,
        /// The variance of the target where an episode ends.
        terminal_var: f64,
        /// Whether it learns from the authors' replay.
        replay: bool,
    },
    /// [`QLearning`].
    QLearning {
        /// Its learning rate.
        rate: LearningRate,
        /// Where its estimates start.
        initial: f64,
    },
    /// [`KtdQ`].
    KtdQ(KtdSettings),
    /// [`BayesianQ`] by mixture updating, with a shape of 1.5, which says that the noise is a mere guess.
    BayesianQ {
        /// Where its beliefs start.
        prior: Prior,
        /// By how much returns are expected to vary about their mean.
        noise_var: f64,
    },
    /// [`SplitAdfq`].
    SplitAdfq {
        /// What is declared about rewards.
        rewards: Rewards,
        /// Its settings, the same for all tasks.
        settings: SplitSettings,
    },
    /// [`SplitStream`].
    SplitStream {
        /// What is declared about rewards.
        rewards: Rewards,
        /// Its settings, the same for all tasks.
        settings: StreamSettings,
    },
}

/// How to choose actions.
///
/// ```
/// use adfq_lab::learner::Acting;
///
/// assert!(Acting::EpsilonGreedy(0.1).policy().is_ok());
/// assert!(Acting::EpsilonGreedy(1.1).policy().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Acting {
    /// Any action: see [`Uniform`].
    Uniform,
    /// See [`Thompson`]; Q-value sampling in Bayesian Q-learning.
    Thompson,
    /// See [`EpsilonGreedy`], with this ε.
    EpsilonGreedy(f64),
    /// See [`Boltzmann`], with this temperature.
    Boltzmann(f64),
    /// See [`Active`].
    Active,
    /// See [`Vpi`].
    Vpi,
    /// See [`Optimist`].
    Optimist,
}

impl Learner {
    /// The agent for a domain. The walk of a data-driven prior is drawn from a stream named after the `trial`, so that
    /// all agents of a trial start alike; replay, and what else an agent draws, from one named after the `agent`.
    pub fn build(&self, mdp: &Mdp, seed: u64, trial: &str, agent: &str) -> Result<AnyAgent> {
        let (states, actions, gamma) = (mdp.states(), mdp.actions(), mdp.gamma());
        let start = |prior: &Prior| walked_belief(prior, mdp, &format!("{trial}/prior"), seed);
        Ok(match *self {
            Self::Adfq { rule, prior, noise, terminal_var, replay } => {
                let settings = AdfqSettings { update: Update::new(rule), noise, terminal_var };
                let mut adfq = Adfq::new(states, actions, gamma, start(&prior)?, settings)?;
                if replay {
                    adfq = adfq.with_replay(stream(seed, &format!("{agent}/replay")))?;
                }
                AnyAgent::Adfq(Box::new(adfq))
            }
            Self::QLearning { rate, initial } => {
                AnyAgent::QLearning(QLearning::new(states, actions, gamma, rate, initial)?)
            }
            Self::KtdQ(settings) => AnyAgent::KtdQ(KtdQ::new(states, actions, gamma, settings)?),
            Self::BayesianQ { prior, noise_var } => {
                let belief = start(&prior)?;
                let prior = NormalGamma::from_moments(belief.mean(), belief.var(), noise_var, 1.5)?;
                AnyAgent::BayesianQ(BayesianQ::new(states, actions, gamma, prior, Updating::Mixture)?)
            }
            Self::SplitStream { rewards, settings } => {
                AnyAgent::SplitStream(SplitStream::new(states, actions, gamma, rewards, settings)?)
            }
            Self::SplitAdfq { rewards, settings } => {
                let rng = stream(seed, &format!("{agent}/agent"));
                AnyAgent::SplitAdfq(Box::new(SplitAdfq::new(states, actions, gamma, rewards, settings, rng)?))
            }
        })
    }
}

/// The belief that a prior means in a domain; a random walk, if it needs one, is drawn from the stream of this name.
pub fn walked_belief(prior: &Prior, mdp: &Mdp, name: &str, seed: u64) -> Result<Belief> {
    let mut rng = stream(seed, name);
    let mut state = mdp.start(&mut rng);
    prior.belief(mdp.gamma(), || {
        let action = rng.random_range(0..mdp.actions());
        let step = mdp.step(state, action, &mut rng);
        state = if step.terminal { mdp.start(&mut rng) } else { step.next_state };
        (step.reward, step.terminal)
    })
}

/// Any of the agents.
pub enum AnyAgent {
    /// ADFQ, boxed because it carries the memory of its update rule with it.
    Adfq(Box<Adfq>),
    /// Q-learning.
    QLearning(QLearning),
    /// KTD-Q.
    KtdQ(KtdQ),
    /// Bayesian Q-learning.
    BayesianQ(BayesianQ),
    /// Split ADFQ, boxed because of its memory.
    SplitAdfq(Box<SplitAdfq>),
    /// Split ADFQ without a memory.
    SplitStream(SplitStream),
}

impl AnyAgent {
    /// Whether it holds beliefs rather than bare estimates.
    pub fn believes(&self) -> bool {
        !matches!(self, Self::QLearning(_))
    }
}

/// Calls a method of whichever agent it is.
macro_rules! each {
    ($any:expr, $agent:ident => $call:expr) => {
        match $any {
            AnyAgent::Adfq($agent) => $call,
            AnyAgent::QLearning($agent) => $call,
            AnyAgent::KtdQ($agent) => $call,
            AnyAgent::BayesianQ($agent) => $call,
            AnyAgent::SplitAdfq($agent) => $call,
            AnyAgent::SplitStream($agent) => $call,
        }
    };
}

impl Agent for AnyAgent {
    fn states(&self) -> usize {
        each!(self, agent => agent.states())
    }

    fn actions(&self) -> usize {
        each!(self, agent => agent.actions())
    }

    fn means(&self, state: usize) -> &[f64] {
        each!(self, agent => agent.means(state))
    }

    fn update(&mut self, step: &Step) -> Result<()> {
        each!(self, agent => agent.update(step))
    }
}

/// A bare estimate counts as a belief without any doubt.
impl Believer for AnyAgent {
    fn var(&self, state: usize, action: usize) -> f64 {
        match self {
            Self::QLearning(_) => 0.0,
            Self::Adfq(agent) => agent.var(state, action),
            Self::KtdQ(agent) => agent.var(state, action),
            Self::BayesianQ(agent) => agent.var(state, action),
            Self::SplitAdfq(agent) => agent.var(state, action),
            Self::SplitStream(agent) => agent.var(state, action),
        }
    }

    fn sample<R: Rng>(&self, state: usize, action: usize, rng: &mut R) -> f64 {
        match self {
            Self::QLearning(agent) => agent.means(state)[action],
            Self::Adfq(agent) => agent.sample(state, action, rng),
            Self::KtdQ(agent) => agent.sample(state, action, rng),
            Self::BayesianQ(agent) => agent.sample(state, action, rng),
            Self::SplitAdfq(agent) => agent.sample(state, action, rng),
            Self::SplitStream(agent) => agent.sample(state, action, rng),
        }
    }
}

impl ValueOfInformation for AnyAgent {
    fn gain(&self, state: usize, action: usize, gap: f64) -> f64 {
        match self {
            Self::QLearning(_) => 0.0,
            Self::Adfq(agent) => agent.gain(state, action, gap),
            Self::KtdQ(agent) => agent.gain(state, action, gap),
            Self::BayesianQ(agent) => agent.gain(state, action, gap),
            Self::SplitAdfq(agent) => agent.gain(state, action, gap),
            Self::SplitStream(agent) => agent.gain(state, action, gap),
        }
    }
}

/// Who has no hopes of its own takes the mean and two standard deviations.
impl Hopeful for AnyAgent {
    fn hopeful(&self, state: usize, action: usize) -> f64 {
        match self {
            Self::SplitAdfq(agent) => agent.hopeful(state, action),
            other => other.means(state)[action] + 2.0 * other.var(state, action).sqrt(),
        }
    }
}

/// A policy at work.
pub enum AnyPolicy {
    /// See [`Acting::Uniform`].
    Uniform,
    /// See [`Acting::Thompson`].
    Thompson,
    /// See [`Acting::EpsilonGreedy`].
    EpsilonGreedy(EpsilonGreedy),
    /// See [`Acting::Boltzmann`].
    Boltzmann(Boltzmann),
    /// See [`Acting::Active`].
    Active,
    /// See [`Acting::Vpi`].
    Vpi,
    /// See [`Acting::Optimist`].
    Optimist,
}

impl Acting {
    /// The policy, with its settings checked.
    pub fn policy(self) -> Result<AnyPolicy> {
        Ok(match self {
            Self::Uniform => AnyPolicy::Uniform,
            Self::Thompson => AnyPolicy::Thompson,
            Self::EpsilonGreedy(epsilon) => {
                AnyPolicy::EpsilonGreedy(EpsilonGreedy::new(Epsilon::Constant(epsilon))?)
            }
            Self::Boltzmann(temperature) => AnyPolicy::Boltzmann(Boltzmann::new(temperature)?),
            Self::Active => AnyPolicy::Active,
            Self::Vpi => AnyPolicy::Vpi,
            Self::Optimist => AnyPolicy::Optimist,
        })
    }
}

impl Policy<AnyAgent> for AnyPolicy {
    fn act<R: Rng>(&mut self, agent: &AnyAgent, state: usize, rng: &mut R) -> usize {
        match self {
            Self::Uniform => Uniform.act(agent, state, rng),
            Self::Thompson => Thompson.act(agent, state, rng),
            Self::EpsilonGreedy(policy) => policy.act(agent, state, rng),
            Self::Boltzmann(policy) => policy.act(agent, state, rng),
            Self::Active => Active.act(agent, state, rng),
            Self::Vpi => Vpi.act(agent, state, rng),
            Self::Optimist => Optimist.act(agent, state, rng),
        }
    }
}

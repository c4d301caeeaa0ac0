//! What can go wrong in this crate, each with the value that is to blame and what to do about it.

use crate::update::{NoiseKind, RuleKind};

/// The errors of the crate `adfq`.
///
/// ```
/// use adfq::{Belief, Error};
///
/// let error = Belief::new(0.0, -1.0).unwrap_err();
/// assert_eq!(error.to_string(), "the variance of a belief must be positive and finite, but it is -1");
/// assert!(matches!(error, Error::Variance(v) if v == -1.0));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A belief's mean is infinite or NaN.
    #[error("the mean of a belief must be finite, but it is {0}")]
    Mean(f64),
    /// A belief's variance is zero, negative, infinite or NaN.
    #[error("the variance of a belief must be positive and finite, but it is {0}")]
    Variance(f64),
    /// A reward is infinite or NaN.
    #[error("the reward must be finite, but it is {0}")]
    Reward(f64),
    /// A discount outside [0, 1].
    #[error("the discount must lie in [0, 1], but it is {0}")]
    Discount(f64),
    /// There is no next action to take the maximum over.
    #[error("the next state has no action: give at least one belief, or mark the transition as terminal")]
    NoActions,
    /// The noise variance σ_w² is negative, infinite or NaN.
    #[error("the noise variance must be finite and not negative, but it is {0}")]
    NoiseVariance(f64),
    /// The target variance of a terminal transition is negative, infinite or NaN.
    #[error("the target variance of a terminal transition must be finite and not negative, but it is {0}")]
    TargetVariance(f64),
    /// The target has no variance at all, so the posterior would be a point mass.
    #[error(
        "the target is known for certain (discount 0 or a terminal transition), so the belief would become a \
         point: give a noise variance or, for a terminal transition, a target variance such as 1e-3"
    )]
    PointMass,
    /// This rule has no meaning under this noise.
    #[error(
        "the rule `{rule}` does not take {noise} noise: that likelihood only exists to keep the analytic rule in \
         closed form; exact noise costs the {rule} rule nothing more"
    )]
    NoiseUnsupported {
        /// The rule asked for.
        rule: RuleKind,
        /// The noise it cannot take.
        noise: NoiseKind,
    },
    /// The inputs are so extreme that the posterior does not fit into double precision.
    #[error(
        "the posterior (mean {mean}, variance {var}) does not fit into double precision: rescale the rewards"
    )]
    NotRepresentable {
        /// The mean that came out.
        mean: f64,
        /// The variance that came out.
        var: f64,
    },
    /// A variance floor that is negative, infinite or NaN.
    #[error("the variance floor must be finite and not negative, but it is {0}")]
    Floor(f64),
    /// Settings of the grid rule that give no grid.
    #[error(
        "a grid needs at least 2 samples, at most 10000000, and a positive, finite reach, but it has {samples} and {reach}"
    )]
    Grid {
        /// Number of samples asked for.
        samples: usize,
        /// Reach in standard deviations asked for.
        reach: f64,
    },
    /// Two columns of a batch disagree in length.
    #[error(
        "the batch has {expected} elements, so `{column}` must hold {needed} values, but it holds {found}"
    )]
    BatchShape {
        /// The column to blame.
        column: &'static str,
        /// Number of elements of the batch.
        expected: usize,
        /// Number of values that the column needs.
        needed: usize,
        /// Number of values that it has.
        found: usize,
    },
    /// One element of a batch is invalid.
    #[error("element {index} of the batch: {source}")]
    InBatch {
        /// The first element that failed.
        index: usize,
        /// What is wrong with it.
        source: Box<Error>,
    },
    /// A Markov decision process, its file, its name or its solution.
    #[error(transparent)]
    Mdp(#[from] crate::mdp::MdpError),
    /// A setting of an agent, a policy or a prior is outside what it may be.
    #[error("the setting `{name}` must be {need}, but it is {value}")]
    Setting {
        /// The setting's name.
        name: &'static str,
        /// The value it was given.
        value: f64,
        /// What it may be.
        need: &'static str,
    },
    /// A state or an action that the table does not have.
    #[error("{what} {value} does not exist: the agent was built for {count}; pass one below that")]
    OutOfRange {
        /// "state", "action" or "next state".
        what: &'static str,
        /// The number that was passed.
        value: usize,
        /// How many there are.
        count: usize,
    },
    /// Learning ran away: the agent's estimates are of no use any more.
    #[error(
        "{agent} diverged at step {step}: {quantity} is {value}; \
         record the run as diverged, or start again with a smaller prior variance or more noise"
    )]
    Diverged {
        /// Which agent.
        agent: &'static str,
        /// The number of its updates so far, this one included.
        step: u64,
        /// What left its bounds.
        quantity: &'static str,
        /// The value it took.
        value: f64,
    },
    /// No agent or policy has this name.
    #[error("there is no {what} {name:?}; choose one of {known}")]
    NoSuch {
        /// "agent" or "policy".
        what: &'static str,
        /// The name asked for.
        name: String,
        /// All names.
        known: String,
    },
    /// A policy that needs beliefs or optimistic values, for an agent without any.
    #[error("{agent} has no {lacks}, so it cannot follow the policy {policy}; it takes {takes}")]
    PolicyUnsupported {
        /// The agent.
        agent: &'static str,
        /// What the policy needs.
        lacks: &'static str,
        /// The policy.
        policy: &'static str,
        /// The policies it can follow.
        takes: String,
    },
    /// A policy with a number that it does not take or that is none.
    #[error(
        "the policy {0:?} cannot be read; a number follows epsilon and boltzmann alone, as in epsilon:0.1"
    )]
    PolicyNumber(String),
    /// Boltzmann exploration without a temperature.
    #[error(
        "the policy boltzmann needs a temperature, on the scale of the values: \
         about a tenth of the gap between a good and a bad action is a start"
    )]
    NoTemperature,
    /// A prior that cannot be read.
    #[error("the prior {0:?} is none of auto, MEAN,VAR, range:MIN,MAX and range:MIN,MAX,STEPS")]
    Prior(String),
    /// A prior that an agent has no use for.
    #[error(
        "this agent is told the range of rewards: it takes the prior auto or range:MIN,MAX; MEAN,VAR is for adfq, q-learning, ktd-q and bayesian-q"
    )]
    PriorUnsupported,
    /// A random walk met no positive reward from which a data-driven prior could start.
    #[error("a random walk of {0} steps met no positive reward; let it walk longer or choose another prior")]
    NoPositiveReward(u64),
}

/// A result whose error is, unless another is named, the crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

//! Agents, policies and priors as data: by name, from text, with defaults, and ready to be built for an MDP.
//!
//! [`RunSpec`] is what a user chooses by name. It resolves to an [`AgentSpec`] and a [`PolicySpec`], which hold every
//! setting and which experiments state directly. How they learn lives in [`agent`](crate::agent), how they choose in
//! [`policy`](crate::policy), and the loop in [`run`](crate::run).

mod prior_spec;

pub use prior_spec::{PriorSpec, Start};

use crate::agent::{
    Adfq, AdfqSettings, BayesianQ, Exploration, KtdQ, KtdSettings, LearningRate, ModelBased, ModelSettings,
    NoiseModel, NormalGamma, Prior, Psrl, PsrlSettings, QLearning, Replay, Rewards, SplitAdfq, SplitSettings,
    SplitStream, StreamSettings, Updating,
};
use crate::mdp::Mdp;
use crate::policy::{Active, AnyPolicy, Boltzmann, Epsilon, EpsilonGreedy, Optimist, Thompson, Uniform, Vpi};
use crate::random::stream;
use crate::run::{Learner, Session};
use crate::update::{Rule, RuleKind, Update};
use crate::{Error, Result};
use prior_spec::belief_in;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// Declares an enum of kinds whose names are given once: for `Display`, `FromStr` and serde.
macro_rules! kinds {
    ($(#[$doc:meta])* $kind:ident, $what:literal { $($(#[$of:meta])* $variant:ident = $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum $kind {
            $($(#[$of])* #[serde(rename = $name)] $variant,)*
        }

        impl $kind {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The name by which one asks for it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }

        impl fmt::Display for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }

        impl FromStr for $kind {
            type Err = Error;

            fn from_str(name: &str) -> Result<Self> {
                let found = Self::ALL.iter().find(|kind| kind.name() == name);
                let unknown = || Error::NoSuch { what: $what, name: name.to_owned(), known: list(Self::ALL) };
                found.copied().ok_or_else(unknown)
            }
        }
    };
}

kinds! {
    /// A learning algorithm.
    ///
    /// ```
    /// use adfq::spec::{AgentKind, PolicyKind};
    ///
    /// assert_eq!("ktd-q".parse::<AgentKind>()?, AgentKind::KtdQ);
    /// assert!(!AgentKind::QLearning.policies().contains(&PolicyKind::Thompson));
    /// let error = "sarsa".parse::<AgentKind>().unwrap_err();
    /// assert_eq!(error.to_string(), "there is no agent \"sarsa\"; choose one of split, adfq, q-learning, ktd-q, bayesian-q, psrl, vi, rmax, mbie, beb, ucbvi, q-optimistic");
    /// # Ok::<(), adfq::Error>(())
    /// ```
    AgentKind, "agent" {
        /// [`SplitAdfq`].
        Split = "split",
        /// [`Adfq`].
        Adfq = "adfq",
        /// [`QLearning`].
        QLearning = "q-learning",
        /// [`KtdQ`].
        KtdQ = "ktd-q",
        /// [`BayesianQ`].
        BayesianQ = "bayesian-q",
        /// [`Psrl`].
        Psrl = "psrl",
        /// [`ModelBased`] without a bonus.
        Vi = "vi",
        /// [`ModelBased`] with [`Exploration::RMax`].
        RMax = "rmax",
        /// [`ModelBased`] with [`Exploration::Mbie`].
        Mbie = "mbie",
        /// [`ModelBased`] with [`Exploration::Beb`].
        Beb = "beb",
        /// [`ModelBased`] with [`Exploration::Ucbvi`].
        Ucbvi = "ucbvi",
        /// [`QLearning`] from the largest possible value.
        QOptimistic = "q-optimistic",
    }
}

kinds! {
    /// A way to choose actions.
    PolicyKind, "policy" {
        /// [`Optimist`].
        Optimist = "optimist",
        /// [`Thompson`].
        Thompson = "thompson",
        /// [`EpsilonGreedy`].
        Epsilon = "epsilon",
        /// [`EpsilonGreedy::greedy`].
        Greedy = "greedy",
        /// [`Boltzmann`].
        Boltzmann = "boltzmann",
        /// [`Vpi`].
        Vpi = "vpi",
        /// [`Active`].
        Active = "active",
        /// [`Uniform`].
        Uniform = "uniform",
    }
}

impl AgentKind {
    /// The policies it can follow. Its usual one comes first. Q-learning and the agents with a model hold no beliefs, except
    /// PSRL; Split ADFQ and the agents with a bonus have optimistic values of their own.
    pub fn policies(self) -> &'static [PolicyKind] {
        use PolicyKind::*;
        match self {
            Self::Split => PolicyKind::ALL,
            Self::QLearning | Self::Vi => &[Epsilon, Greedy, Boltzmann, Uniform],
            Self::QOptimistic => &[Greedy, Epsilon, Boltzmann, Uniform],
            Self::RMax | Self::Mbie | Self::Beb | Self::Ucbvi => {
                &[Optimist, Epsilon, Greedy, Boltzmann, Uniform]
            }
            _ => &[Thompson, Epsilon, Greedy, Boltzmann, Vpi, Active, Uniform],
        }
    }

    /// Whether it is told the range of rewards, and nothing else: a mean and a variance would be of no use to it.
    pub fn takes_range(self) -> bool {
        let taught = [Self::Adfq, Self::QLearning, Self::KtdQ, Self::BayesianQ];
        !taught.contains(&self)
    }

    /// How an agent with a model explores by default; nothing for those without one. The numbers find the far bank of
    /// RiverSwim; on average over many domains smaller ones earn more (docs/model-based.md).
    pub fn exploration(self) -> Option<Exploration> {
        match self {
            Self::Vi => Some(Exploration::Policy),
            Self::RMax => Some(Exploration::RMax { visits: 30 }),
            Self::Mbie => Some(Exploration::Mbie { beta: 0.003 }),
            Self::Beb => Some(Exploration::Beb { beta: 0.01 }),
            Self::Ucbvi => Some(Exploration::Ucbvi { c: 0.1 }),
            _ => None,
        }
    }
}

/// "a, b, c".
fn list<T: fmt::Display>(all: &[T]) -> String {
    all.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

/// An agent with all its settings, not yet made for an MDP.
///
/// ```
/// use adfq::agent::{Agent, LearningRate};
/// use adfq::spec::AgentSpec;
///
/// let spec = AgentSpec::QLearning { rate: LearningRate::paper(10_000), initial: 0.0 };
/// let agent = spec.build(&adfq::mdp::named("loop")?, 7, "loop/trial 0", "loop/trial 0/Q-learning")?;
/// assert_eq!((agent.states(), agent.means(0)), (9, &[0.0, 0.0][..]));
/// assert!(!agent.has_beliefs());
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AgentSpec {
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
        /// What is declared about rewards, if anything.
        rewards: Option<Rewards>,
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
    /// [`ModelBased`].
    ModelBased {
        /// What is declared about rewards.
        rewards: Rewards,
        /// How it explores, and how much it plans.
        settings: ModelSettings,
    },
    /// [`Psrl`].
    Psrl {
        /// What is declared about rewards.
        rewards: Rewards,
        /// Its priors, and how much it plans.
        settings: PsrlSettings,
    },
}

impl AgentSpec {
    /// The agent for an MDP. The random walk of a data-driven prior is drawn from a stream named after the `trial`, so
    /// that all agents of a trial start alike; replay, and what else an agent draws, from one named after the `agent`.
    pub fn build(&self, mdp: &Mdp, seed: u64, trial: &str, agent: &str) -> Result<Box<dyn Learner>> {
        let (states, actions, gamma) = (mdp.states(), mdp.actions(), mdp.gamma());
        let start = |prior: &Prior| belief_in(mdp, prior, seed, &format!("{trial}/prior"));
        Ok(match *self {
            Self::Adfq { rule, prior, noise, terminal_var, replay } => {
                let settings = AdfqSettings { update: Update::new(rule), noise, terminal_var };
                let adfq = Adfq::new(states, actions, gamma, start(&prior)?, settings)?;
                match replay {
                    true => Box::new(adfq.with_replay(stream(seed, &format!("{agent}/replay")))?),
                    false => Box::new(adfq),
                }
            }
            Self::QLearning { rate, initial } => {
                Box::new(QLearning::new(states, actions, gamma, rate, initial)?)
            }
            Self::KtdQ(settings) => Box::new(KtdQ::new(states, actions, gamma, settings)?),
            Self::BayesianQ { prior, noise_var } => {
                let belief = start(&prior)?;
                let prior = NormalGamma::from_moments(belief.mean(), belief.var(), noise_var, 1.5)?;
                Box::new(BayesianQ::new(states, actions, gamma, prior, Updating::Mixture)?)
            }
            Self::SplitStream { rewards, settings } => {
                Box::new(SplitStream::new(states, actions, gamma, rewards, settings)?)
            }
            Self::ModelBased { rewards, settings } => {
                Box::new(ModelBased::new(states, actions, gamma, rewards, settings)?)
            }
            Self::Psrl { rewards, settings } => {
                let rng = stream(seed, &format!("{agent}/agent"));
                Box::new(Psrl::new(states, actions, gamma, rewards, settings, rng)?)
            }
            Self::SplitAdfq { rewards, settings } => {
                let rng = stream(seed, &format!("{agent}/agent"));
                Box::new(SplitAdfq::new(states, actions, gamma, rewards, settings, rng)?)
            }
        })
    }
}

/// A policy with its settings. As text: the name of a [`PolicyKind`] and, for two of them, a number.
///
/// ```
/// use adfq::spec::PolicySpec;
///
/// assert_eq!("thompson".parse::<PolicySpec>()?, PolicySpec::Thompson);
/// assert_eq!("epsilon:0.05".parse::<PolicySpec>()?, PolicySpec::EpsilonGreedy(0.05));
/// assert!("boltzmann".parse::<PolicySpec>().unwrap_err().to_string().contains("needs a temperature"));
/// assert!(PolicySpec::EpsilonGreedy(1.1).build().is_err());
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PolicySpec {
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

impl PolicySpec {
    /// ε where none is given.
    const EPSILON: f64 = 0.1;

    /// The policy of a kind, with an ε or a temperature where it has one. There is no default temperature: it is on the
    /// scale of the values.
    pub fn new(kind: PolicyKind, epsilon: f64, temperature: Option<f64>) -> Result<Self> {
        Ok(match kind {
            PolicyKind::Optimist => Self::Optimist,
            PolicyKind::Thompson => Self::Thompson,
            PolicyKind::Epsilon => Self::EpsilonGreedy(epsilon),
            PolicyKind::Greedy => Self::EpsilonGreedy(0.0),
            PolicyKind::Boltzmann => Self::Boltzmann(temperature.ok_or(Error::NoTemperature)?),
            PolicyKind::Vpi => Self::Vpi,
            PolicyKind::Active => Self::Active,
            PolicyKind::Uniform => Self::Uniform,
        })
    }

    /// The policy itself, with its settings checked.
    pub fn build(self) -> Result<AnyPolicy> {
        Ok(match self {
            Self::Uniform => AnyPolicy::Uniform(Uniform),
            Self::Thompson => AnyPolicy::Thompson(Thompson),
            Self::EpsilonGreedy(epsilon) => {
                AnyPolicy::EpsilonGreedy(EpsilonGreedy::new(Epsilon::Constant(epsilon))?)
            }
            Self::Boltzmann(temperature) => AnyPolicy::Boltzmann(Boltzmann::new(temperature)?),
            Self::Active => AnyPolicy::Active(Active),
            Self::Vpi => AnyPolicy::Vpi(Vpi),
            Self::Optimist => AnyPolicy::Optimist(Optimist),
        })
    }
}

impl FromStr for PolicySpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, number) = text.split_once(':').map_or((text, None), |(name, number)| (name, Some(number)));
        let kind: PolicyKind = name.parse()?;
        let takes_number = matches!(kind, PolicyKind::Epsilon | PolicyKind::Boltzmann);
        let wrong = || Error::PolicyNumber(text.to_owned());
        let number = match number {
            Some(number) if takes_number => Some(number.parse().map_err(|_| wrong())?),
            Some(_) => return Err(wrong()),
            None => None,
        };
        Self::new(kind, number.unwrap_or(Self::EPSILON), number)
    }
}

/// One run: who learns, how it acts, from which prior, for how long and with which seed.
///
/// ```
/// use adfq::spec::{PolicyKind, RunSpec};
///
/// let usual = RunSpec::for_mdp(&adfq::mdp::named("maze")?);
/// assert_eq!((usual.policy, usual.steps), (PolicyKind::Optimist, 316_800));
/// let other = RunSpec { policy: PolicyKind::Vpi, seed: 7, ..usual };
/// assert_eq!(other.steps, 316_800);
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSpec {
    /// Which algorithm learns.
    pub agent: AgentKind,
    /// How it chooses.
    pub policy: PolicyKind,
    /// How many steps it takes; the learning rate of Q-learning is made for them.
    pub steps: u64,
    /// From which all chance is drawn.
    pub seed: u64,
    /// Where beliefs and estimates start.
    pub prior: PriorSpec,
    /// ADFQ: the update rule. It is stored by its name.
    #[serde(serialize_with = "store_rule", deserialize_with = "load_rule")]
    pub rule: Rule,
    /// ADFQ: the noise on targets.
    pub noise: NoiseModel,
    /// ADFQ: the variance of the target where an episode ends.
    pub terminal_var: f64,
    /// ADFQ: whether to learn from remembered transitions as the authors do in stochastic domains.
    pub replay: bool,
    /// The policy epsilon: the probability of a random action.
    pub epsilon: f64,
    /// The policy boltzmann: its temperature, for which there is no default.
    pub temperature: Option<f64>,
}

impl RunSpec {
    /// The least number of steps by default.
    const LEAST_STEPS: u64 = 10_000;
    /// Steps for each (s,a) in larger MDPs: ten times the paper's 30,000 for Maze, and still less than a second.
    const STEPS_PER_PAIR: u64 = 300;

    /// Split ADFQ with its usual policy.
    pub fn for_mdp(mdp: &Mdp) -> Self {
        Self::of(AgentKind::Split, mdp)
    }

    /// An agent with its usual policy and settings.
    ///
    /// The paper's ADFQ has no noise in stochastic domains either, where the authors take [`NoiseModel::AUTHORS`]: over
    /// six seeds with the authors' prior (10,000 to 13,440 steps), the greedy policy earned 1.00 of the optimum against
    /// .89 in `loop-stochastic`, .65 against .47 in `chain` and .41 against .45 in `minimaze-stochastic`.
    pub fn of(agent: AgentKind, mdp: &Mdp) -> Self {
        let pairs = (mdp.states() * mdp.actions()) as u64;
        Self {
            agent,
            policy: agent.policies()[0],
            steps: Self::LEAST_STEPS.max(Self::STEPS_PER_PAIR * pairs),
            seed: 0,
            prior: PriorSpec::Auto,
            rule: Rule::Analytic,
            noise: NoiseModel::None,
            terminal_var: 1e-3,
            replay: false,
            epsilon: PolicySpec::EPSILON,
            temperature: None,
        }
    }

    /// The belief that every Q(s,a) starts with.
    pub fn start(&self, mdp: &Mdp) -> Result<Start> {
        self.prior.start(self.agent, mdp, self.seed)
    }

    /// The run before its first step. It takes [`steps`](Self::steps) steps only when told to.
    ///
    /// ```
    /// use adfq::spec::{AgentKind, RunSpec};
    ///
    /// let mdp = adfq::mdp::named("loop")?;
    /// let mut session = RunSpec::of(AgentKind::Adfq, &mdp).session(&mdp)?;
    /// session.run(1_000)?;
    /// assert_eq!((session.steps(), session.agent().states()), (1_000, 9));
    /// # Ok::<(), adfq::Error>(())
    /// ```
    pub fn session<'a>(&self, mdp: &'a Mdp) -> Result<Session<'a>> {
        let policy = self.policy()?.build()?;
        let agent = self.agent(mdp)?.build(mdp, self.seed, "learn", "learn")?;
        let (world, choice) = (stream(self.seed, "learn/world"), stream(self.seed, "learn/policy"));
        Ok(Session::new(mdp, agent, policy, world).with_policy_rng(choice))
    }

    /// Bytes that the agent's tables take in this MDP, at the least; KTD-Q's covariance grows with the square of the number
    /// of pairs. Nothing is allocated to find out.
    ///
    /// ```
    /// use adfq::spec::{AgentKind, RunSpec};
    ///
    /// let sea = adfq::mdp::named("deepsea-100")?;
    /// let spec = RunSpec { agent: AgentKind::KtdQ, ..RunSpec::for_mdp(&sea) };
    /// assert!(spec.bytes_needed(&sea) > 400_000_000);
    /// # Ok::<(), adfq::Error>(())
    /// ```
    pub fn bytes_needed(&self, mdp: &Mdp) -> u64 {
        let pairs = (mdp.states() as u64).saturating_mul(mdp.actions() as u64);
        let each = match self.agent {
            AgentKind::KtdQ => pairs.saturating_add(1).saturating_mul(4),
            AgentKind::Psrl => 8 * u64::from(PsrlSettings::default().worlds),
            _ if self.replay => 16 * Replay::CAPACITY as u64,
            _ => 16,
        };
        pairs.saturating_mul(each)
    }

    /// The agent with all its settings, from the belief that the prior means.
    fn agent(&self, mdp: &Mdp) -> Result<AgentSpec> {
        let Self { rule, noise, terminal_var, replay, .. } = *self;
        let Start { mean, var, .. } = self.start(mdp)?;
        let prior = Prior::Constant { mean, var };
        Ok(match self.agent {
            AgentKind::Split => {
                let (rewards, settings) = (self.prior.declared(mdp)?, SplitSettings::default());
                AgentSpec::SplitAdfq { rewards, settings }
            }
            AgentKind::Adfq => AgentSpec::Adfq { rule, prior, noise, terminal_var, replay },
            AgentKind::QLearning => {
                AgentSpec::QLearning { rate: LearningRate::paper(self.steps), initial: mean }
            }
            AgentKind::KtdQ => AgentSpec::KtdQ(KtdSettings {
                initial_mean: mean,
                initial_var: var,
                ..KtdSettings::default()
            }),
            AgentKind::BayesianQ => AgentSpec::BayesianQ { prior, noise_var: 1.0 },
            AgentKind::Psrl => {
                AgentSpec::Psrl { rewards: self.prior.rewards(mdp)?, settings: PsrlSettings::default() }
            }
            AgentKind::QOptimistic => {
                AgentSpec::QLearning { rate: LearningRate::paper(self.steps), initial: mean }
            }
            AgentKind::Vi | AgentKind::RMax | AgentKind::Mbie | AgentKind::Beb | AgentKind::Ucbvi => {
                let exploration = self.agent.exploration().unwrap_or_default();
                let settings = ModelSettings { exploration, ..ModelSettings::default() };
                AgentSpec::ModelBased { rewards: self.prior.rewards(mdp)?, settings }
            }
        })
    }

    /// The policy with its settings, if the agent can follow it.
    fn policy(&self) -> Result<PolicySpec> {
        let Self { agent, policy, epsilon, temperature, .. } = *self;
        if !agent.policies().contains(&policy) {
            let takes = list(agent.policies());
            let lacks = if policy == PolicyKind::Optimist { "hopes" } else { "beliefs" };
            return Err(Error::PolicyUnsupported {
                agent: agent.name(),
                lacks,
                policy: policy.name(),
                takes,
            });
        }
        PolicySpec::new(policy, epsilon, temperature)
    }
}

fn store_rule<S: Serializer>(rule: &Rule, serializer: S) -> Result<S::Ok, S::Error> {
    rule.kind().serialize(serializer)
}

fn load_rule<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Rule, D::Error> {
    RuleKind::deserialize(deserializer).map(Rule::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mdp::named;

    #[test]
    fn what_is_no_policy_says_so() {
        for text in ["epsilon:much", "boltzmann:", "thompson:1"] {
            assert!(matches!(text.parse::<PolicySpec>(), Err(Error::PolicyNumber(_))), "{text}");
        }
        assert_eq!("epsilon".parse(), Ok(PolicySpec::EpsilonGreedy(0.1)));
    }

    #[test]
    fn a_run_comes_back_from_json() {
        let mdp = named("chain").unwrap();
        let noise = NoiseModel::AUTHORS;
        let spec = RunSpec {
            rule: Rule::Exact,
            noise,
            temperature: Some(2.0),
            ..RunSpec::of(AgentKind::QLearning, &mdp)
        };
        let json = serde_json::to_value(&spec).unwrap();
        assert_eq!(
            (&json["agent"], &json["policy"], &json["rule"]),
            (&"q-learning".into(), &"epsilon".into(), &"exact".into())
        );
        assert_eq!(json["noise"], serde_json::json!({"kind": "approximate", "var": 1e-3, "decays": true}));
        assert_eq!(serde_json::from_value::<RunSpec>(json).unwrap(), spec);
    }
}

//! The agents and policies one can ask for by name, and which go together.

use crate::Error;
use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// A learning algorithm.
///
/// ```
/// use adfq_lab::learn::{AgentKind, PolicyKind};
///
/// assert_eq!("ktd-q".parse::<AgentKind>()?, AgentKind::KtdQ);
/// assert!(!AgentKind::QLearning.policies().contains(&PolicyKind::Thompson));
/// let error = "sarsa".parse::<AgentKind>().unwrap_err();
/// assert_eq!(error.to_string(), "there is no agent \"sarsa\"; choose one of split, adfq, q-learning, ktd-q, bayesian-q");
/// # Ok::<(), adfq_lab::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgentKind {
    /// [`adfq::agent::SplitAdfq`].
    #[default]
    Split,
    /// [`adfq::agent::Adfq`].
    Adfq,
    /// [`adfq::agent::QLearning`].
    QLearning,
    /// [`adfq::agent::KtdQ`].
    KtdQ,
    /// [`adfq::agent::BayesianQ`].
    BayesianQ,
}

impl AgentKind {
    /// Every agent.
    pub const ALL: [Self; 5] = [Self::Split, Self::Adfq, Self::QLearning, Self::KtdQ, Self::BayesianQ];

    /// The name by which one asks for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Split => "split",
            Self::Adfq => "adfq",
            Self::QLearning => "q-learning",
            Self::KtdQ => "ktd-q",
            Self::BayesianQ => "bayesian-q",
        }
    }

    /// The policies it can follow: an optimist needs an agent with hopes, others beliefs. Its usual one comes first.
    pub fn policies(self) -> &'static [PolicyKind] {
        use PolicyKind::*;
        match self {
            Self::Split => &PolicyKind::ALL,
            Self::QLearning => &[Epsilon, Greedy, Boltzmann, Uniform],
            _ => &[Thompson, Epsilon, Greedy, Boltzmann, Vpi, Active, Uniform],
        }
    }
}

/// A way to choose actions.
///
/// ```
/// use adfq_lab::learn::PolicyKind;
///
/// assert_eq!("epsilon".parse::<PolicyKind>()?, PolicyKind::Epsilon);
/// # Ok::<(), adfq_lab::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PolicyKind {
    /// [`adfq::policy::Optimist`].
    Optimist,
    /// [`adfq::policy::Thompson`].
    Thompson,
    /// [`adfq::policy::EpsilonGreedy`].
    Epsilon,
    /// [`adfq::policy::EpsilonGreedy::greedy`].
    Greedy,
    /// [`adfq::policy::Boltzmann`].
    Boltzmann,
    /// [`adfq::policy::Vpi`].
    Vpi,
    /// [`adfq::policy::Active`].
    Active,
    /// [`adfq::policy::Uniform`].
    Uniform,
}

impl PolicyKind {
    /// Every policy.
    pub const ALL: [Self; 8] = [
        Self::Optimist,
        Self::Thompson,
        Self::Epsilon,
        Self::Greedy,
        Self::Boltzmann,
        Self::Vpi,
        Self::Active,
        Self::Uniform,
    ];

    /// The name by which one asks for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Optimist => "optimist",
            Self::Thompson => "thompson",
            Self::Epsilon => "epsilon",
            Self::Greedy => "greedy",
            Self::Boltzmann => "boltzmann",
            Self::Vpi => "vpi",
            Self::Active => "active",
            Self::Uniform => "uniform",
        }
    }
}

impl fmt::Display for AgentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for PolicyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for AgentKind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        pick("agent", name, &Self::ALL)
    }
}

impl FromStr for PolicyKind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        pick("policy", name, &Self::ALL)
    }
}

fn pick<T: Copy + fmt::Display>(what: &'static str, name: &str, all: &[T]) -> Result<T, Error> {
    let found = all.iter().find(|candidate| candidate.to_string() == name);
    found.copied().ok_or_else(|| Error::NoSuch { what, name: name.to_owned(), known: list(all) })
}

/// "a, b, c".
pub(super) fn list<T: fmt::Display>(all: &[T]) -> String {
    all.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

//! What to run: every choice of a single run, with defaults that suit the MDP.

use super::{AgentKind, PolicyKind, PriorChoice};
use adfq::agent::NoiseModel;
use adfq::mdp::Mdp;
use adfq::update::{NoiseKind, Rule};
use serde::{Serialize, Serializer};

/// The settings of [`learn`](super::learn).
///
/// ```
/// use adfq_lab::learn::{LearnSettings, PolicyKind};
///
/// let usual = LearnSettings::for_mdp(&adfq::mdp::named("maze")?);
/// assert_eq!((usual.policy, usual.steps), (PolicyKind::Optimist, 316_800));
/// let other = LearnSettings { policy: PolicyKind::Vpi, seed: 7, ..usual };
/// assert_eq!(other.steps, 316_800);
/// # Ok::<(), adfq_lab::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LearnSettings {
    /// Which algorithm learns.
    pub agent: AgentKind,
    /// How it chooses.
    pub policy: PolicyKind,
    /// How many steps it takes.
    pub steps: u64,
    /// From which all chance is drawn.
    pub seed: u64,
    /// Where beliefs and estimates start.
    pub prior: PriorChoice,
    /// ADFQ: the update rule.
    #[serde(serialize_with = "rule_name")]
    pub rule: Rule,
    /// ADFQ: the noise on targets.
    #[serde(serialize_with = "noise_fields")]
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

impl LearnSettings {
    /// The least number of steps that [`LearnSettings::for_mdp`] takes.
    const LEAST_STEPS: u64 = 10_000;
    /// Steps for each (s,a) in larger MDPs: ten times the paper's 30,000 for Maze, and still less than a second.
    const STEPS_PER_PAIR: u64 = 300;

    /// Split ADFQ; for the paper's ADFQ, its update without noise.
    ///
    /// Without noise in stochastic domains too, where the authors take [`NoiseModel::AUTHORS`]: over six seeds with
    /// the authors' prior (10,000 to 13,440 steps), the greedy policy earned 1.00 of the optimum against .89 in
    /// `loop-stochastic`, .65 against .47 in `chain` and .41 against .45 in `minimaze-stochastic`.
    pub fn for_mdp(mdp: &Mdp) -> Self {
        let pairs = (mdp.states() * mdp.actions()) as u64;
        Self {
            agent: AgentKind::Split,
            policy: PolicyKind::Optimist,
            steps: Self::LEAST_STEPS.max(Self::STEPS_PER_PAIR * pairs),
            seed: 0,
            prior: PriorChoice::Auto,
            rule: Rule::Analytic,
            noise: NoiseModel::None,
            terminal_var: 1e-3,
            replay: false,
            epsilon: 0.1,
            temperature: None,
        }
    }
}

fn rule_name<S: Serializer>(rule: &Rule, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&rule.kind())
}

fn noise_fields<S: Serializer>(noise: &NoiseModel, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Fields {
        kind: &'static str,
        var: f64,
        decays: bool,
    }
    let (kind, var, decays) = match *noise {
        NoiseModel::None => (NoiseKind::None, 0.0, false),
        NoiseModel::Constant(kind, var) => (kind, var, false),
        NoiseModel::Decaying(kind, var) => (kind, var, true),
    };
    let kind = match kind {
        NoiseKind::None => "none",
        NoiseKind::Approximate => "approximate",
        NoiseKind::Exact => "exact",
    };
    Fields { kind, var, decays }.serialize(serializer)
}

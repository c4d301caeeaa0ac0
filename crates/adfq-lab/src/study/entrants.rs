//! Who takes part in the study, and with which settings.
//!
//! A rival has the setting of its authors, or the best of a small grid that is tried on other seeds than those reported
//! (see [`tuning`](super::tuning)); ours have one setting everywhere, which may use the declared range of rewards. Split ADFQ does not.

use super::domains::{DomainFacts, Group};
use crate::experiment::agents::{
    ADFQ, ADFQ_EXACT, ADFQ_TUNED, BAYESIAN_Q, EPSILON, KTD_Q, NEUTRAL, Q_CONSTANT, Q_LEARNING, Q_OPTIMISTIC,
    SPLIT,
};
use adfq::agent::{
    AdfqSettings, KtdSettings, LearningRate, NoiseFrom, NoiseModel, Prior, SplitSettings, StreamSettings,
};
use adfq::spec::{AgentSpec, PolicySpec};
use adfq::update::{NoiseKind, Rule};

/// What the targets of the study are about: the preset that is put to the test unless told otherwise.
pub const CANDIDATE: &str = SPLIT;

/// In which quality somebody takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// One of those whose best the targets are measured against.
    Rival,
    /// Somebody to compare with, beyond the targets.
    Reference,
    /// A variant of ours: one setting for all domains.
    Ours,
}

/// What an agent is to do, which may change its setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// To learn Q* from a random walk.
    Walk,
    Online,
}

/// A learner with a way to act.
pub type Setting = (AgentSpec, PolicySpec);

/// The possible settings for a purpose and a number of steps.
type Options = fn(&DomainFacts, Purpose, u64) -> Vec<Setting>;

/// Somebody who takes part.
pub struct StudyAgent {
    pub label: &'static str,
    /// The name on the command line.
    pub id: &'static str,
    pub role: Role,
    source: Source,
}

/// Where settings come from.
enum Source {
    /// One, or a grid to choose from.
    Options(Options),
    /// A [variant](SplitSettings::VARIANTS) of Split ADFQ.
    Variant(&'static str),
    /// The full Split ADFQ that acts in another way; what it learns from a random walk is known already.
    Policy(PolicySpec),
    /// Split ADFQ without a memory, which acts by Thompson sampling.
    Stream(StreamSettings),
}

impl StudyAgent {
    /// Its possible settings for a purpose and a number of steps; none if it does not take part in that.
    pub fn settings(&self, facts: &DomainFacts, purpose: Purpose, steps: u64) -> Vec<Setting> {
        let split = |settings| vec![AgentSpec::SplitAdfq { rewards: None, settings }];
        match self.source {
            Source::Options(options) => options(facts, purpose, steps),
            Source::Variant(name) => {
                let learner = SplitSettings::variant(name).map(split).unwrap_or_default();
                all(learner, purpose, &[PolicySpec::Optimist])
            }
            Source::Stream(settings) => {
                let learner = AgentSpec::SplitStream { rewards: facts.rewards, settings };
                all(vec![learner], purpose, &[PolicySpec::Thompson])
            }
            Source::Policy(_) if purpose == Purpose::Walk => Vec::new(),
            Source::Policy(policy) => all(split(SplitSettings::default()), purpose, &[policy]),
        }
    }

    pub(super) const fn rival(id: &'static str, label: &'static str, options: Options) -> Self {
        Self { label, id, role: Role::Rival, source: Source::Options(options) }
    }

    const fn reference(id: &'static str, label: &'static str, options: Options) -> Self {
        Self { label, id, role: Role::Reference, source: Source::Options(options) }
    }

    const fn variant(id: &'static str, label: &'static str, variant: &'static str) -> Self {
        Self { label, id, role: Role::Ours, source: Source::Variant(variant) }
    }

    const fn stream(id: &'static str, label: &'static str, noise_from: NoiseFrom, drift: f64) -> Self {
        let settings = StreamSettings { noise_from, noise: 0.01, drift };
        Self { label, id, role: Role::Ours, source: Source::Stream(settings) }
    }

    const fn acting_by(id: &'static str, label: &'static str, policy: PolicySpec) -> Self {
        Self { label, id, role: Role::Ours, source: Source::Policy(policy) }
    }
}

/// Everybody, in the order of the tables.
pub static AGENTS: [StudyAgent; 23] = [
    StudyAgent::rival("adfq", ADFQ, adfq_of_the_paper),
    StudyAgent::rival("adfq-tuned", ADFQ_TUNED, adfq_tuned),
    StudyAgent::rival("q-learning", Q_LEARNING, q_of_the_paper),
    StudyAgent::rival("q-constant", Q_CONSTANT, q_constant),
    StudyAgent::rival("ktd-q", KTD_Q, ktd_q),
    StudyAgent::rival("bayesian-q", BAYESIAN_Q, bayesian_q),
    StudyAgent::reference("adfq-exact", ADFQ_EXACT, adfq_exact),
    StudyAgent::reference("q-optimistic", Q_OPTIMISTIC, q_optimistic),
    StudyAgent::variant("split", SPLIT, "full"),
    StudyAgent::variant("split-no-sweeps", "Split ADFQ, no sweeps", "no sweeps"),
    StudyAgent::variant("split-no-echo", "Split ADFQ, no echo", "no echo"),
    StudyAgent::variant("split-greedy-heir", "Split ADFQ, greedy heir", "greedy heir"),
    StudyAgent::variant("split-declared-noise", "Split ADFQ, declared noise", "declared noise"),
    StudyAgent::variant("split-declared-mean", "Split ADFQ, declared mean", "declared mean"),
    StudyAgent::variant("split-declared-spread", "Split ADFQ, declared spread", "declared spread"),
    StudyAgent::variant("split-three-sd", "Split ADFQ, three sd", "three sd"),
    StudyAgent::variant("split-memory-alone", "Split ADFQ, memory alone", "memory alone"),
    StudyAgent::acting_by("split-thompson", "Split ADFQ, Thompson", PolicySpec::Thompson),
    StudyAgent::acting_by("split-vpi", "Split ADFQ, VPI", PolicySpec::Vpi),
    StudyAgent::acting_by("split-epsilon", "Split ADFQ, ε-greedy", PolicySpec::EpsilonGreedy(EPSILON)),
    StudyAgent::stream("stream", "Split stream", NoiseFrom::Differences, 1.0),
    StudyAgent::stream("stream-residuals", "Split stream, noise from residuals", NoiseFrom::Residuals, 1.0),
    StudyAgent::stream("stream-no-forgetting", "Split stream, no forgetting", NoiseFrom::Differences, 0.0),
];

/// The agent of this label.
pub fn agent(label: &str) -> Option<&'static StudyAgent> {
    AGENTS.iter().find(|agent| agent.label == label)
}

/// Whether the settings of this agent are chosen from a grid.
pub fn is_tuned(label: &str) -> bool {
    [ADFQ_TUNED, ADFQ_EXACT, Q_CONSTANT, Q_OPTIMISTIC, KTD_Q, BAYESIAN_Q].contains(&label)
}

/// Each learner with each way to act; whoever walks does so at random.
fn all(learners: Vec<AgentSpec>, purpose: Purpose, acting: &[PolicySpec]) -> Vec<Setting> {
    let acting = if purpose == Purpose::Walk { &[PolicySpec::Uniform] } else { acting };
    let with_each = |learner: AgentSpec| acting.iter().map(move |&acting| (learner, acting));
    learners.into_iter().flat_map(with_each).collect()
}

fn adfq(rule: Rule, prior: Prior, noise: NoiseModel, replay: bool) -> AgentSpec {
    AgentSpec::Adfq { rule, prior, noise, terminal_var: AdfqSettings::default().terminal_var, replay }
}

/// The authors' data-driven prior needs a positive reward from a random walk, which DeepSea does not give; nor do they
/// use it where nothing is at stake.
fn has_authors_prior(facts: &DomainFacts, purpose: Purpose) -> bool {
    purpose == Purpose::Online && facts.domain.group != Group::DeepSea
}

/// As in the experiments of the paper: N(.001, 100) on walks, the data-driven prior and Thompson sampling online, the
/// authors' noise and replay where transitions are random.
fn adfq_of_the_paper(facts: &DomainFacts, purpose: Purpose, _steps: u64) -> Vec<Setting> {
    let prior = if has_authors_prior(facts, purpose) { Prior::AUTHORS } else { NEUTRAL };
    let noisy = facts.domain.noisy;
    let noise = if noisy { NoiseModel::AUTHORS } else { NoiseModel::None };
    all(vec![adfq(Rule::Analytic, prior, noise, noisy)], purpose, &[PolicySpec::Thompson])
}

/// Priors × noise, without replay.
fn adfq_grid(facts: &DomainFacts, purpose: Purpose, rule: Rule, kind: NoiseKind) -> Vec<AgentSpec> {
    let mut priors = vec![NEUTRAL, Prior::Constant { mean: 0.001, var: 1.0 }, facts.range];
    if has_authors_prior(facts, purpose) {
        priors.push(Prior::AUTHORS);
    }
    let noise = [
        NoiseModel::None,
        NoiseModel::Decaying(kind, 1e-3),
        NoiseModel::Constant(kind, 0.01 * facts.moments.1),
    ];
    let with_each = |prior: Prior| noise.map(|noise| adfq(rule, prior, noise, false));
    priors.into_iter().flat_map(with_each).collect()
}

fn adfq_tuned(facts: &DomainFacts, purpose: Purpose, steps: u64) -> Vec<Setting> {
    let mut learners = adfq_grid(facts, purpose, Rule::Analytic, NoiseKind::Approximate);
    // Who is tuned is never worse off for want of the authors' own setting.
    learners.extend(adfq_of_the_paper(facts, purpose, steps).into_iter().map(|(learner, _)| learner));
    all(learners, purpose, &[PolicySpec::Thompson, PolicySpec::EpsilonGreedy(EPSILON)])
}

fn adfq_exact(facts: &DomainFacts, purpose: Purpose, _steps: u64) -> Vec<Setting> {
    all(adfq_grid(facts, purpose, Rule::Exact, NoiseKind::Exact), purpose, &[PolicySpec::Thompson])
}

fn q_of_the_paper(_facts: &DomainFacts, purpose: Purpose, steps: u64) -> Vec<Setting> {
    let learner = AgentSpec::QLearning { rate: LearningRate::paper(steps), initial: 0.0 };
    all(vec![learner], purpose, &[PolicySpec::EpsilonGreedy(EPSILON)])
}

fn q_grid(initial: f64) -> Vec<AgentSpec> {
    let of_rate = |rate| AgentSpec::QLearning { rate: LearningRate::Constant(rate), initial };
    [0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0].map(of_rate).to_vec()
}

fn q_constant(_facts: &DomainFacts, purpose: Purpose, _steps: u64) -> Vec<Setting> {
    let acting = [
        PolicySpec::EpsilonGreedy(0.1),
        PolicySpec::EpsilonGreedy(0.01),
        PolicySpec::Boltzmann(0.05),
        PolicySpec::Boltzmann(0.5),
        PolicySpec::Boltzmann(5.0),
    ];
    all(q_grid(0.0), purpose, &acting)
}

fn q_optimistic(facts: &DomainFacts, purpose: Purpose, _steps: u64) -> Vec<Setting> {
    all(q_grid(facts.top), purpose, &[PolicySpec::EpsilonGreedy(0.0), PolicySpec::EpsilonGreedy(0.01)])
}

/// The authors' setting first, with their active learning and ε-greedy; then a smaller prior variance or noise. There
/// are few, because a step in Maze takes longer than a thousand of anybody else's.
fn ktd_q(_facts: &DomainFacts, purpose: Purpose, _steps: u64) -> Vec<Setting> {
    let of = |initial_var, observation_noise| {
        AgentSpec::KtdQ(KtdSettings { initial_var, observation_noise, ..KtdSettings::default() })
    };
    let authors =
        all(vec![of(10.0, 1.0)], purpose, &[PolicySpec::Active, PolicySpec::EpsilonGreedy(EPSILON)]);
    let others = all(vec![of(10.0, 0.01), of(1.0, 1.0), of(1.0, 0.01)], purpose, &[PolicySpec::Active]);
    authors.into_iter().chain(others).collect()
}

fn bayesian_q(facts: &DomainFacts, purpose: Purpose, _steps: u64) -> Vec<Setting> {
    let mut priors = vec![NEUTRAL, facts.range];
    if has_authors_prior(facts, purpose) {
        priors.push(Prior::AUTHORS);
    }
    let with_each = |prior| [0.1, 10.0].map(|noise_var| AgentSpec::BayesianQ { prior, noise_var });
    let learners = priors.into_iter().flat_map(with_each).collect();
    all(learners, purpose, &[PolicySpec::Thompson, PolicySpec::Vpi])
}

#[cfg(test)]
mod tests {
    use super::super::domains::DOMAINS;
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn everybody_has_settings_and_a_name_of_its_own() {
        let facts = DomainFacts::new(&DOMAINS[2]).unwrap();
        let mut names = BTreeSet::new();
        for agent in &AGENTS {
            let options = agent.settings(&facts, Purpose::Online, 100);
            assert!(!options.is_empty(), "{}", agent.id);
            assert_eq!(options.len() > 1, is_tuned(agent.label), "{}", agent.id);
            assert!(names.insert(agent.id) && names.insert(agent.label));
        }
    }

    #[test]
    fn the_stream_is_the_default_one() {
        let default = |agent: &StudyAgent| matches!(agent.source, Source::Stream(it) if it == StreamSettings::default());
        assert_eq!(AGENTS.iter().find(|agent| default(agent)).map(|agent| agent.id), Some("stream"));
    }

    #[test]
    fn every_variant_takes_part() {
        let takes_part =
            |name| AGENTS.iter().any(|agent| matches!(agent.source, Source::Variant(it) if it == name));
        assert!(SplitSettings::VARIANTS.iter().all(|&(name, _)| takes_part(name)));
    }

    /// Split ADFQ is told nothing. The stream may know the declared range of rewards; the rest is the same everywhere.
    #[test]
    fn ours_have_one_setting() {
        for agent in AGENTS.iter().filter(|agent| agent.role == Role::Ours) {
            let mut settings = BTreeSet::new();
            for domain in &DOMAINS {
                let facts = DomainFacts::new(domain).unwrap();
                for purpose in [Purpose::Walk, Purpose::Online] {
                    for (learner, _) in agent.settings(&facts, purpose, 100) {
                        let (rewards, found) = match learner {
                            AgentSpec::SplitAdfq { settings, rewards } => {
                                assert_eq!(rewards, None);
                                (facts.rewards, format!("{settings:?}"))
                            }
                            AgentSpec::SplitStream { settings, rewards } => {
                                (rewards, format!("{settings:?}"))
                            }
                            other => panic!("{other:?}"),
                        };
                        assert_eq!(rewards, facts.rewards);
                        settings.insert(found);
                    }
                }
            }
            assert_eq!(settings.len(), 1, "{}", agent.id);
        }
    }
}

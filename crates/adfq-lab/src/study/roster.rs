//! Who takes part in the study, and with which settings.
//!
//! A rival has the setting of its authors, or the best of a small grid that is tried on other seeds than those reported
//! (see [`tuning`](super::tuning)); ours have one setting everywhere, which may use the declared range of rewards.

use super::field::{Ground, Group};
use crate::experiment::roster::{ADFQ, ADFQ_EXACT, BAYESIAN_Q, EPSILON, KTD_Q, NEUTRAL, Q_LEARNING};
use crate::learner::{Acting, Learner};
use crate::plot::{Color, Dash};
use adfq::agent::{AdfqSettings, KtdSettings, LearningRate, NoiseModel, Prior, SplitSettings};
use adfq::update::{NoiseKind, Rule};

/// ADFQ of the paper with its best setting.
pub const ADFQ_TUNED: &str = "ADFQ tuned";
/// Q-learning with its best constant rate.
pub const Q_CONSTANT: &str = "Q-learning, constant rate";
/// The same from the largest possible value.
pub const Q_OPTIMISTIC: &str = "Q-learning, optimistic";

/// The winner: Split ADFQ with its one setting.
pub const SPLIT: &str = "Split ADFQ";

/// Labels that no other experiment has, with their looks, in the order of the legend.
pub const LOOKS: &[(&str, Color, Dash)] = &[
    (ADFQ_TUNED, Color::Sky, Dash::Dashed),
    (Q_CONSTANT, Color::Grey, Dash::Dashed),
    (Q_OPTIMISTIC, Color::Yellow, Dash::Dotted),
    (SPLIT, Color::Black, Dash::Solid),
];

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
    /// To earn while learning.
    Online,
}

/// A learner with a way to act.
pub type Setting = (Learner, Acting);

/// The possible settings for a purpose and a number of steps.
type Options = fn(&Ground, Purpose, u64) -> Vec<Setting>;

/// Somebody who takes part.
pub struct Entrant {
    /// The name in figures and tables.
    pub label: &'static str,
    /// The name on the command line.
    pub id: &'static str,
    /// In which quality.
    pub role: Role,
    /// Its settings.
    source: Source,
}

/// Where settings come from.
enum Source {
    /// One, or a grid to choose from.
    Options(Options),
    /// A [variant](SplitSettings::VARIANTS) of Split ADFQ.
    Variant(&'static str),
    /// The full Split ADFQ that acts in another way; what it learns from a random walk is known already.
    Acting(Acting),
}

impl Entrant {
    /// Its possible settings for a purpose and a number of steps; none if it does not take part in that.
    pub fn settings(&self, ground: &Ground, purpose: Purpose, steps: u64) -> Vec<Setting> {
        let split = |settings| vec![Learner::SplitAdfq { rewards: ground.rewards, settings }];
        match self.source {
            Source::Options(options) => options(ground, purpose, steps),
            Source::Variant(name) => {
                let learner = SplitSettings::variant(name).map(split).unwrap_or_default();
                all(learner, purpose, &[Acting::Optimist])
            }
            Source::Acting(_) if purpose == Purpose::Walk => Vec::new(),
            Source::Acting(acting) => all(split(SplitSettings::default()), purpose, &[acting]),
        }
    }

    const fn rival(id: &'static str, label: &'static str, options: Options) -> Self {
        Self { label, id, role: Role::Rival, source: Source::Options(options) }
    }

    const fn reference(id: &'static str, label: &'static str, options: Options) -> Self {
        Self { label, id, role: Role::Reference, source: Source::Options(options) }
    }

    const fn variant(id: &'static str, label: &'static str, variant: &'static str) -> Self {
        Self { label, id, role: Role::Ours, source: Source::Variant(variant) }
    }

    const fn acting(id: &'static str, label: &'static str, acting: Acting) -> Self {
        Self { label, id, role: Role::Ours, source: Source::Acting(acting) }
    }
}

/// Everybody, in the order of the tables.
pub static ENTRANTS: [Entrant; 19] = [
    Entrant::rival("adfq", ADFQ, adfq_of_the_paper),
    Entrant::rival("adfq-tuned", ADFQ_TUNED, adfq_tuned),
    Entrant::rival("q-learning", Q_LEARNING, q_of_the_paper),
    Entrant::rival("q-constant", Q_CONSTANT, q_constant),
    Entrant::rival("ktd-q", KTD_Q, ktd_q),
    Entrant::rival("bayesian-q", BAYESIAN_Q, bayesian_q),
    Entrant::reference("adfq-exact", ADFQ_EXACT, adfq_exact),
    Entrant::reference("q-optimistic", Q_OPTIMISTIC, q_optimistic),
    Entrant::variant("split", SPLIT, "full"),
    Entrant::variant("split-no-sweeps", "Split ADFQ, no sweeps", "no sweeps"),
    Entrant::variant("split-no-echo", "Split ADFQ, no echo", "no echo"),
    Entrant::variant("split-greedy-heir", "Split ADFQ, greedy heir", "greedy heir"),
    Entrant::variant("split-declared-noise", "Split ADFQ, declared noise", "declared noise"),
    Entrant::variant("split-declared-spread", "Split ADFQ, declared spread", "declared spread"),
    Entrant::variant("split-two-sd", "Split ADFQ, two sd", "two sd"),
    Entrant::variant("split-memory-alone", "Split ADFQ, memory alone", "memory alone"),
    Entrant::acting("split-thompson", "Split ADFQ, Thompson", Acting::Thompson),
    Entrant::acting("split-vpi", "Split ADFQ, VPI", Acting::Vpi),
    Entrant::acting("split-epsilon", "Split ADFQ, ε-greedy", Acting::EpsilonGreedy(EPSILON)),
];

/// The entrant of this label.
pub fn entrant(label: &str) -> Option<&'static Entrant> {
    ENTRANTS.iter().find(|entrant| entrant.label == label)
}

/// Whether the settings of this agent are chosen from a grid.
pub fn is_tuned(label: &str) -> bool {
    [ADFQ_TUNED, ADFQ_EXACT, Q_CONSTANT, Q_OPTIMISTIC, KTD_Q, BAYESIAN_Q].contains(&label)
}

/// Each learner with each way to act; whoever walks does so at random.
fn all(learners: Vec<Learner>, purpose: Purpose, acting: &[Acting]) -> Vec<Setting> {
    let acting = if purpose == Purpose::Walk { &[Acting::Uniform] } else { acting };
    let with_each = |learner: Learner| acting.iter().map(move |&acting| (learner, acting));
    learners.into_iter().flat_map(with_each).collect()
}

fn adfq(rule: Rule, prior: Prior, noise: NoiseModel, replay: bool) -> Learner {
    Learner::Adfq { rule, prior, noise, terminal_var: AdfqSettings::default().terminal_var, replay }
}

/// The authors' data-driven prior needs a positive reward from a random walk, which DeepSea does not give; nor do they
/// use it where nothing is at stake.
fn has_authors_prior(ground: &Ground, purpose: Purpose) -> bool {
    purpose == Purpose::Online && ground.field.group != Group::DeepSea
}

/// As in the experiments of the paper: N(.001, 100) on walks, the data-driven prior and Thompson sampling online, the
/// authors' noise and replay where transitions are random.
fn adfq_of_the_paper(ground: &Ground, purpose: Purpose, _steps: u64) -> Vec<Setting> {
    let prior = if has_authors_prior(ground, purpose) { Prior::AUTHORS } else { NEUTRAL };
    let noisy = ground.field.noisy;
    let noise = if noisy { NoiseModel::AUTHORS } else { NoiseModel::None };
    all(vec![adfq(Rule::Analytic, prior, noise, noisy)], purpose, &[Acting::Thompson])
}

/// Priors × noise, without replay.
fn adfq_grid(ground: &Ground, purpose: Purpose, rule: Rule, kind: NoiseKind) -> Vec<Learner> {
    let mut priors = vec![NEUTRAL, Prior::Constant { mean: 0.001, var: 1.0 }, ground.range];
    if has_authors_prior(ground, purpose) {
        priors.push(Prior::AUTHORS);
    }
    let noise = [
        NoiseModel::None,
        NoiseModel::Decaying(kind, 1e-3),
        NoiseModel::Constant(kind, 0.01 * ground.moments.1),
    ];
    let with_each = |prior: Prior| noise.map(|noise| adfq(rule, prior, noise, false));
    priors.into_iter().flat_map(with_each).collect()
}

fn adfq_tuned(ground: &Ground, purpose: Purpose, steps: u64) -> Vec<Setting> {
    let mut learners = adfq_grid(ground, purpose, Rule::Analytic, NoiseKind::Approximate);
    // Who is tuned is never worse off for want of the authors' own setting.
    learners.extend(adfq_of_the_paper(ground, purpose, steps).into_iter().map(|(learner, _)| learner));
    all(learners, purpose, &[Acting::Thompson, Acting::EpsilonGreedy(EPSILON)])
}

fn adfq_exact(ground: &Ground, purpose: Purpose, _steps: u64) -> Vec<Setting> {
    all(adfq_grid(ground, purpose, Rule::Exact, NoiseKind::Exact), purpose, &[Acting::Thompson])
}

fn q_of_the_paper(_ground: &Ground, purpose: Purpose, steps: u64) -> Vec<Setting> {
    let learner = Learner::QLearning { rate: LearningRate::paper(steps), initial: 0.0 };
    all(vec![learner], purpose, &[Acting::EpsilonGreedy(EPSILON)])
}

fn q_grid(initial: f64) -> Vec<Learner> {
    let of_rate = |rate| Learner::QLearning { rate: LearningRate::Constant(rate), initial };
    [0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0].map(of_rate).to_vec()
}

fn q_constant(_ground: &Ground, purpose: Purpose, _steps: u64) -> Vec<Setting> {
    let acting = [
        Acting::EpsilonGreedy(0.1),
        Acting::EpsilonGreedy(0.01),
        Acting::Boltzmann(0.05),
        Acting::Boltzmann(0.5),
        Acting::Boltzmann(5.0),
    ];
    all(q_grid(0.0), purpose, &acting)
}

fn q_optimistic(ground: &Ground, purpose: Purpose, _steps: u64) -> Vec<Setting> {
    all(q_grid(ground.top), purpose, &[Acting::EpsilonGreedy(0.0), Acting::EpsilonGreedy(0.01)])
}

/// The authors' setting first, with their active learning and ε-greedy; then a smaller prior variance or noise. There
/// are few, because a step in Maze takes longer than a thousand of anybody else's.
fn ktd_q(_ground: &Ground, purpose: Purpose, _steps: u64) -> Vec<Setting> {
    let of = |initial_var, observation_noise| {
        Learner::KtdQ(KtdSettings { initial_var, observation_noise, ..KtdSettings::default() })
    };
    let authors = all(vec![of(10.0, 1.0)], purpose, &[Acting::Active, Acting::EpsilonGreedy(EPSILON)]);
    let others = all(vec![of(10.0, 0.01), of(1.0, 1.0), of(1.0, 0.01)], purpose, &[Acting::Active]);
    authors.into_iter().chain(others).collect()
}

fn bayesian_q(ground: &Ground, purpose: Purpose, _steps: u64) -> Vec<Setting> {
    let mut priors = vec![NEUTRAL, ground.range];
    if has_authors_prior(ground, purpose) {
        priors.push(Prior::AUTHORS);
    }
    let with_each = |prior| [0.1, 10.0].map(|noise_var| Learner::BayesianQ { prior, noise_var });
    let learners = priors.into_iter().flat_map(with_each).collect();
    all(learners, purpose, &[Acting::Thompson, Acting::Vpi])
}

#[cfg(test)]
mod tests {
    use super::super::field::FIELDS;
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn everybody_has_settings_and_a_name_of_its_own() {
        let ground = Ground::new(&FIELDS[2]).unwrap();
        let mut names = BTreeSet::new();
        for entrant in &ENTRANTS {
            let options = entrant.settings(&ground, Purpose::Online, 100);
            assert!(!options.is_empty(), "{}", entrant.id);
            assert_eq!(options.len() > 1, is_tuned(entrant.label), "{}", entrant.id);
            assert!(names.insert(entrant.id) && names.insert(entrant.label));
        }
    }

    #[test]
    fn every_variant_takes_part() {
        let takes_part =
            |name| ENTRANTS.iter().any(|entrant| matches!(entrant.source, Source::Variant(it) if it == name));
        assert!(SplitSettings::VARIANTS.iter().all(|&(name, _)| takes_part(name)));
    }

    /// Ours may know the declared range of rewards; the rest of their setting is the same everywhere.
    #[test]
    fn ours_have_one_setting() {
        for entrant in ENTRANTS.iter().filter(|entrant| entrant.role == Role::Ours) {
            let mut settings = BTreeSet::new();
            for field in &FIELDS {
                let ground = Ground::new(field).unwrap();
                for purpose in [Purpose::Walk, Purpose::Online] {
                    for (learner, _) in entrant.settings(&ground, purpose, 100) {
                        let Learner::SplitAdfq { settings: found, rewards } = learner else {
                            panic!("{learner:?}")
                        };
                        assert_eq!(rewards, ground.rewards);
                        settings.insert(format!("{found:?}"));
                    }
                }
            }
            assert_eq!(settings.len(), 1, "{}", entrant.id);
        }
    }
}

//! The settings of rivals and references: the authors' one, or a grid to choose from.

use super::field::{Ground, Group};
use super::roster::{Purpose, Setting};
use crate::experiment::roster::{EPSILON, NEUTRAL};
use crate::learner::{Acting, Learner};
use adfq::agent::{AdfqSettings, KtdSettings, LearningRate, NoiseModel, Prior};
use adfq::update::{NoiseKind, Rule};

/// Each learner with each way to act; whoever walks does so at random.
pub(super) fn all(learners: Vec<Learner>, purpose: Purpose, acting: &[Acting]) -> Vec<Setting> {
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
pub(super) fn adfq_of_the_paper(ground: &Ground, purpose: Purpose, _steps: u64) -> Vec<Setting> {
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

pub(super) fn adfq_tuned(ground: &Ground, purpose: Purpose, steps: u64) -> Vec<Setting> {
    let mut learners = adfq_grid(ground, purpose, Rule::Analytic, NoiseKind::Approximate);
    // Who is tuned is never worse off for want of the authors' own setting.
    learners.extend(adfq_of_the_paper(ground, purpose, steps).into_iter().map(|(learner, _)| learner));
    all(learners, purpose, &[Acting::Thompson, Acting::EpsilonGreedy(EPSILON)])
}

pub(super) fn adfq_exact(ground: &Ground, purpose: Purpose, _steps: u64) -> Vec<Setting> {
    all(adfq_grid(ground, purpose, Rule::Exact, NoiseKind::Exact), purpose, &[Acting::Thompson])
}

pub(super) fn q_of_the_paper(_ground: &Ground, purpose: Purpose, steps: u64) -> Vec<Setting> {
    let learner = Learner::QLearning { rate: LearningRate::paper(steps), initial: 0.0 };
    all(vec![learner], purpose, &[Acting::EpsilonGreedy(EPSILON)])
}

fn q_grid(initial: f64) -> Vec<Learner> {
    let of_rate = |rate| Learner::QLearning { rate: LearningRate::Constant(rate), initial };
    [0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0].map(of_rate).to_vec()
}

pub(super) fn q_constant(_ground: &Ground, purpose: Purpose, _steps: u64) -> Vec<Setting> {
    let acting = [
        Acting::EpsilonGreedy(0.1),
        Acting::EpsilonGreedy(0.01),
        Acting::Boltzmann(0.05),
        Acting::Boltzmann(0.5),
        Acting::Boltzmann(5.0),
    ];
    all(q_grid(0.0), purpose, &acting)
}

pub(super) fn q_optimistic(ground: &Ground, purpose: Purpose, _steps: u64) -> Vec<Setting> {
    all(q_grid(ground.top), purpose, &[Acting::EpsilonGreedy(0.0), Acting::EpsilonGreedy(0.01)])
}

/// The authors' setting first, with their active learning and ε-greedy; then a smaller prior variance or noise. There
/// are few, because a step in Maze takes longer than a thousand of anybody else's.
pub(super) fn ktd_q(_ground: &Ground, purpose: Purpose, _steps: u64) -> Vec<Setting> {
    let of = |initial_var, observation_noise| {
        Learner::KtdQ(KtdSettings { initial_var, observation_noise, ..KtdSettings::default() })
    };
    let authors = all(vec![of(10.0, 1.0)], purpose, &[Acting::Active, Acting::EpsilonGreedy(EPSILON)]);
    let others = all(vec![of(10.0, 0.01), of(1.0, 1.0), of(1.0, 0.01)], purpose, &[Acting::Active]);
    authors.into_iter().chain(others).collect()
}

pub(super) fn bayesian_q(ground: &Ground, purpose: Purpose, _steps: u64) -> Vec<Setting> {
    let mut priors = vec![NEUTRAL, ground.range];
    if has_authors_prior(ground, purpose) {
        priors.push(Prior::AUTHORS);
    }
    let with_each = |prior| [0.1, 10.0].map(|noise_var| Learner::BayesianQ { prior, noise_var });
    let learners = priors.into_iter().flat_map(with_each).collect();
    all(learners, purpose, &[Acting::Thompson, Acting::Vpi])
}

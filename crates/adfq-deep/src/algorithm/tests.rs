//! All built-in algorithms together: gradients, targets, and what a learner makes of them. What needs the inside of one is
//! tested in its own file.

use super::*;
use crate::config::TargetUpdate;
use crate::learner::{Asked, Learner};
use crate::replay::Sample;
use ::adfq::random::stream;
use adfq_env::{Element, Space};
use adfq_nn::Workspace;
use rand::RngExt;

pub(super) const BATCH: usize = 8;

pub(super) fn space() -> Space {
    Space { frame: vec![3], element: Element::F32, stack: 1, actions: 2 }
}

pub(super) fn config(agent: &str) -> Config {
    let config = Config::for_env("cartpole").unwrap();
    let mut config = Algorithms::default().with_agent(config, agent, Some("epsilon")).unwrap();
    (config.learning.batch, config.learning.bound_targets) = (BATCH, false);
    config.learning.target = TargetUpdate::Hard(1_000);
    let adfq = AdfqSettings { sd: 2.0, mean: 0.5, ..config.own("adfq").unwrap() };
    // Values of the size of the others': differences of a loss of thousands say nothing about gradients.
    let split = SplitSettings { rewards: [0.0, 0.01], ..SplitSettings::default() };
    // Of a power of two, shares and products are exact.
    let bootstrapped = BootstrappedSettings { heads: 8, ..BootstrappedSettings::default() };
    let config = config.with_own("adfq", &adfq).unwrap().with_own("split", &split).unwrap();
    config.with_own("bootstrapped", &bootstrapped).unwrap()
}

fn built(config: &Config) -> Learner {
    Learner::new(config, &space(), &Algorithms::default()).unwrap()
}

pub(super) fn learner(agent: &str) -> Learner {
    built(&config(agent))
}

pub(super) fn sample() -> Sample {
    let mut rng = stream(3, "sample");
    let mut draw = |count: usize| (0..count).map(|_| rng.random_range(-1.0..1.0)).collect::<Vec<f32>>();
    Sample {
        both: draw(2 * BATCH * 3),
        action: (0..BATCH as u32).map(|i| i % 2).collect(),
        reward: draw(BATCH),
        discount: vec![0.9; BATCH],
        terminal: (0..BATCH).map(|i| i == 5).collect(),
        index: (0..BATCH as u64).collect(),
        weight: draw(BATCH).iter().map(|w| w.abs()).collect(),
    }
}

/// Some steps of learning, so that nothing is zero or at its prior.
pub(super) fn practised(agent: &str) -> Learner {
    let mut learner = learner(agent);
    (0..20).for_each(|step| assert!(learner.learn(&sample(), step).unwrap().loss > 0.0));
    learner
}

/// The rows that a learner's networks give for a sample, each pass by itself.
pub(super) struct Rows {
    pub online: Vec<f32>,
    target: Vec<f32>,
    target_next: Vec<f32>,
    online_next: Vec<f32>,
}

impl Rows {
    pub fn new(learner: &Learner, sample: &Sample) -> Self {
        let mut pass = Workspace::new(learner.network(), 1, BATCH).unwrap();
        let mut forward = |params: &[f32], observations: &[f32]| {
            learner.network().forward(params, observations, &mut pass).unwrap().to_vec()
        };
        Self {
            online: forward(&learner.online, sample.obs()),
            target: forward(&learner.target, sample.obs()),
            target_next: forward(&learner.target, sample.next()),
            online_next: forward(&learner.online, sample.next()),
        }
    }

    pub fn outputs(&self) -> Outputs<'_> {
        let Self { online, target, target_next, online_next } = self;
        Outputs { online, target, target_next, online_next }
    }
}

pub(super) fn batch(sample: &Sample, rewards: RewardRange) -> Batch<'_> {
    Batch {
        actions: 2,
        action: &sample.action,
        reward: &sample.reward,
        discount: &sample.discount,
        terminal: &sample.terminal,
        weight: &sample.weight,
        index: &sample.index,
        obs: sample.obs(),
        next: sample.next(),
        rewards,
    }
}

/// The loss and its gradient; the algorithm is afterwards as it was before.
fn loss(algorithm: &mut dyn Algorithm, batch: &Batch, rows: &Rows) -> (f32, Vec<f32>) {
    let state = algorithm.save().unwrap();
    let (mut outputs, mut errors) = (vec![0.0; rows.online.len()], vec![0.0; BATCH]);
    let mut gradient = Gradient { outputs: &mut outputs, errors: &mut errors };
    let loss = algorithm.loss(batch, &rows.outputs(), &mut gradient).unwrap().loss;
    algorithm.restore(&state).unwrap();
    (loss, outputs)
}

/// By each output of each row, the others and the targets held fixed.
#[test]
fn the_gradient_is_that_of_the_loss() {
    // What Calibrated learns about errors depends on its own outputs, which are held fixed; its own file has a test.
    for agent in Algorithms::default().names().into_iter().filter(|name| *name != "calibrated") {
        let (mut learner, sample) = (practised(agent), sample());
        let (mut rows, batch) = (Rows::new(&learner, &sample), batch(&sample, learner.rewards));
        let algorithm = &mut *learner.algorithm;
        let (_, gradient) = loss(algorithm, &batch, &rows);
        assert!(gradient.iter().filter(|slope| **slope != 0.0).count() >= BATCH, "{agent}");
        for (at, expected) in gradient.into_iter().enumerate() {
            let mut shifted = |by: f32| {
                let before = rows.online[at];
                rows.online[at] += by;
                let (loss, _) = loss(algorithm, &batch, &rows);
                rows.online[at] = before;
                loss
            };
            let found = (shifted(1e-2) - shifted(-1e-2)) / 2e-2;
            assert!(
                (found - expected).abs() < 5e-4 * (1.0 + expected.abs()),
                "{agent} {at}: {found} {expected}"
            );
        }
    }
}

/// A learner hands each algorithm the passes that it asks for, and keeps its gradient.
#[test]
fn a_learner_hands_over_the_right_rows() {
    for agent in Algorithms::default().names() {
        let (mut learner, sample) = (practised(agent), sample());
        let (rows, batch) = (Rows::new(&learner, &sample), batch(&sample, learner.rewards));
        let (expected, gradient) = loss(&mut *learner.algorithm, &batch, &rows);
        assert_eq!(learner.loss(&sample).unwrap().loss, expected, "{agent}");
        assert_eq!(learner.output_gradient(), gradient, "{agent}");
    }
}

#[test]
fn before_learning_the_belief_is_the_prior_everywhere() {
    let learner = learner("adfq");
    let mut pass = Workspace::new(learner.network(), 1, 1).unwrap();
    let row = learner.network().forward(&learner.online, &[0.3, -7.0, 2.0], &mut pass).unwrap();
    assert_eq!(row, [0.5, 0.5, -(2.0_f32.ln()), -(2.0_f32.ln())]);
}

/// Rewards without a future: every agent's values become them.
#[test]
fn every_agent_learns_a_bandit() {
    let all_learn = BootstrappedSettings { heads: 8, mask: 1.0, ..BootstrappedSettings::default() };
    for agent in Algorithms::default().names() {
        let mut learner = built(&config(agent).with_own("bootstrapped", &all_learn).unwrap());
        let mut sample = sample();
        sample.terminal.fill(true);
        sample.weight.fill(1.0);
        let last = (0..3000).map(|step| {
            if step % 50 == 0 {
                learner.copy_target();
            }
            learner.learn(&sample, 0).unwrap().loss
        });
        assert!(last.last().unwrap() < 0.02, "{agent}");
        let errors = learner.errors.iter().fold(0.0_f32, |most, &error| most.max(error));
        assert!(errors < 0.5, "{agent} {errors}");
    }
}

#[test]
fn what_is_not_finite_is_named_and_changes_nothing() {
    let (mut learner, mut sample) = (practised("dqn"), sample());
    let before = learner.online.clone();
    sample.reward[2] = f32::INFINITY;
    let error = learner.learn(&sample, 77).unwrap_err().to_string();
    assert!(error.starts_with("the loss is not finite at step 77"), "{error}");
    assert_eq!(learner.online, before);
    let mut learner = practised("adfq");
    learner.target[0] = f32::NAN;
    let error = learner.learn(&super::tests::sample(), 78).unwrap_err().to_string();
    assert!(error.starts_with("the belief is not finite at step 78"), "{error}");
}

#[test]
fn the_target_network_follows_hard_or_softly() {
    let mut hard = practised("dqn");
    assert_ne!(hard.online, hard.target);
    hard.copy_target();
    assert_eq!(hard.online, hard.target);
    let mut config = config("dqn");
    config.learning.target = TargetUpdate::Soft(0.5);
    let mut soft = built(&config);
    let before = soft.target.clone();
    soft.learn(&sample(), 0).unwrap();
    for ((target, before), online) in soft.target.iter().zip(before).zip(&soft.online) {
        assert_eq!(*target, before + 0.5 * (online - before));
    }
}

/// Where all outputs are 0, the slope of a parabola at an output is minus its target.
#[test]
fn bounded_targets_stay_within_what_rewards_allow() {
    let no_prior = BootstrappedSettings { heads: 8, prior: 0.0, mask: 1.0 };
    for (agent, values) in [
        ("adfq", &[0][..]),
        ("dqn", &[0]),
        ("ddqn", &[0]),
        ("calibrated", &[0]),
        // What lies ahead with luck is a value too.
        ("split", &[0, 2]),
        // Its priors may promise what was never paid.
        ("bootstrapped", &[0, 1, 2, 3, 4, 5, 6, 7]),
    ] {
        let (learner, mut sample) = (practised(agent), sample());
        sample.weight.fill(1.0);
        let mut config = config(agent).with_own("bootstrapped", &no_prior).unwrap();
        (config.learning.bound_targets, config.learning.discount) = (true, 0.5);
        let mut algorithm = Algorithms::default().get(agent).unwrap().build(&config, &space()).unwrap();
        algorithm.restore(&learner.algorithm.save().unwrap()).unwrap();
        let (mut rows, mut rewards) = (Rows::new(&learner, &sample), RewardRange::default());
        rewards.see(0.1);
        rows.online.fill(0.0);
        let (_, gradient) = loss(&mut *algorithm, &batch(&sample, rewards), &rows);
        let share = if agent == "bootstrapped" { 1.0 / 64.0 } else { 1.0 / 8.0 };
        for value in values {
            let at = |i: usize| (i * algorithm.groups() + value) * 2 + sample.action[i] as usize;
            let targets: Vec<f32> = (0..BATCH).map(|i| -gradient[at(i)] / share).collect();
            let bounded = targets.iter().all(|target| (0.0..=0.2).contains(target));
            assert_eq!(bounded, agent != "bootstrapped", "{agent} {targets:?}");
            assert_eq!(targets.contains(&0.2), bounded, "{agent} {targets:?}");
        }
    }
}

/// Whoever asks for the means alone gets those that go with the whole belief, to the bit.
#[test]
fn means_are_the_same_without_the_rest() {
    let observation = [0.3, -0.7, 0.2];
    for agent in Algorithms::default().names() {
        let mut learner = practised(agent);
        (0..9).for_each(|i| learner.algorithm.acted(&observation, i % 2));
        let mut pass = Workspace::new(learner.network(), 1, 1).unwrap();
        let row = learner.network().forward(&learner.online, &observation, &mut pass).unwrap().to_vec();
        let means = [Asked::Beliefs, Asked::Means].map(|asked| {
            let mut found = vec![];
            learner.estimate(asked, &observation, &row, &[], &mut found).unwrap();
            found.iter().map(|estimate| estimate.mean.to_bits()).collect::<Vec<_>>()
        });
        assert_eq!(means[0], means[1], "{agent}");
        assert_eq!(means[0].len(), 2, "{agent}");
    }
}

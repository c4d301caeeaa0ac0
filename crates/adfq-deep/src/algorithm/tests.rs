use super::*;
use crate::config::{PolicyKind, SplitConfig};
use adfq::update::{Next, Noise, Transition, Update};
use adfq::{Belief, random::stream};
use adfq_env::Element;
use rand::RngExt;

const BATCH: usize = 8;

fn space() -> Space {
    Space { frame: vec![3], element: Element::F32, stack: 1, actions: 2 }
}

fn learner(agent: AgentKind) -> Learner {
    let mut config = Config::for_env("cartpole").unwrap();
    (config.agent, config.policy) = (agent, PolicyKind::Epsilon);
    (config.learning.batch, config.adfq.sd, config.adfq.mean) = (BATCH, 2.0, 0.5);
    (config.learning.bound_targets, config.learning.target) = (false, TargetUpdate::Hard(1_000));
    // Values of the size of the others': differences of a loss of thousands say nothing about gradients.
    config.split = Some(SplitConfig { rewards: [0.0, 0.01], ..SplitConfig::default() });
    Learner::new(&config, &space()).unwrap()
}

fn sample() -> Sample {
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
fn practised(agent: AgentKind) -> Learner {
    let mut learner = learner(agent);
    (0..20).for_each(|step| assert!(learner.learn(&sample(), step).unwrap().loss > 0.0));
    learner
}

/// The output's biases shift all rows at once: their gradient is the sum over the rows.
#[test]
fn the_gradient_is_that_of_the_loss() {
    for agent in [AgentKind::Adfq, AgentKind::Dqn, AgentKind::Ddqn, AgentKind::Split] {
        let (mut learner, sample) = (practised(agent), sample());
        learner.compute_targets(&sample).unwrap();
        let width = learner.network.outputs();
        let bias = learner.online.len() - width;
        learner.compute_loss(&sample).unwrap();
        let gradient = learner.output_gradient.clone();
        for output in 0..width {
            let expected: f32 = gradient.iter().skip(output).step_by(width).sum();
            let mut loss = |shift: f32| {
                learner.online[bias + output] += shift;
                let loss = learner.compute_loss(&sample).unwrap().loss;
                learner.online[bias + output] -= shift;
                loss
            };
            let found = (loss(1e-2) - loss(-1e-2)) / 2e-2;
            assert!(
                (found - expected).abs() < 2e-3 * (1.0 + expected.abs()),
                "{agent:?} {output}: {found} {expected}"
            );
        }
    }
}

#[test]
fn adfq_learns_towards_the_posterior_of_the_target_network() {
    let (mut learner, sample) = (practised(AgentKind::Adfq), sample());
    learner.compute_targets(&sample).unwrap();
    let mut pass = Workspace::new(&learner.network, 1, 1).unwrap();
    let beliefs = |row: &[f32]| -> Vec<Belief> {
        let var = |rho: f32| f64::from((-2.0 * rho).exp());
        (0..2).map(|a| Belief::new(row[a].into(), var(row[2 + a])).unwrap()).collect()
    };
    let Targets::Adfq { beliefs: found, .. } = &learner.targets else { panic!("another agent") };
    for i in 0..BATCH {
        let mut at = |observation: &[f32]| {
            beliefs(learner.network.forward(&learner.target, observation, &mut pass).unwrap())
        };
        let prior = at(&sample.obs()[i * 3..][..3])[sample.action[i] as usize];
        let after = at(&sample.next()[i * 3..][..3]);
        let next = if i == 5 {
            Next::Terminal { target_var: learner.config.adfq.terminal_var }
        } else {
            Next::Beliefs(&after)
        };
        let transition = Transition::new(prior, sample.reward[i].into(), f64::from(0.9_f32), next).unwrap();
        let posterior = Update::default().apply(&transition, Noise::None).unwrap();
        assert!((posterior.mean() - f64::from(found.mean[i])).abs() < 1e-5, "{i}");
        assert!((posterior.var() / f64::from(found.var[i]) - 1.0).abs() < 1e-4, "{i}");
    }
}

/// Tried and untried pairs: the targets by the equations of the docs, in f64.
#[test]
fn split_learns_towards_the_equations() {
    let (mut learner, sample) = (practised(AgentKind::Split), sample());
    (0..2 * BATCH).step_by(3).for_each(|i| {
        let observation = &sample.both[i * 3..][..3];
        learner.split_mut().unwrap().visit(observation, i % 2);
    });
    learner.compute_targets(&sample).unwrap();
    let mut pass = Workspace::new(&learner.network, 1, 1).unwrap();
    let split = learner.split().unwrap();
    let (prior, noise) = split.prior_and_noise(&learner.rewards);
    let (_, most) = learner.rewards.values(0.99);
    let lambda = f64::from(SplitConfig::default().noise);
    for i in 0..BATCH {
        let next = &sample.next()[i * 3..][..3];
        let row = learner.network.forward(&learner.target, next, &mut pass).unwrap();
        let believed = |a: usize| {
            let h = split.own.left(&split.own.features(next), a);
            let u = 1.0 / (1.0 / prior + lambda * (1.0 / h - 1.0) / noise);
            let trust = 1.0 - u / prior;
            let var = u + trust * trust * (-2.0 * f64::from(row[2 + a])).exp().min(prior);
            let mean = f64::from(row[a]);
            let cap = (2.0 * prior.sqrt()).max(mean + 2.0 * var.sqrt()).min(most.into());
            (mean, var, (trust * f64::from(row[4 + a]) + 2.0 * u / prior.sqrt()).min(cap))
        };
        let both = [believed(0), believed(1)];
        let best = usize::from(both[1].0 > both[0].0);
        let (mean, var, _) = both[best];
        let (goes_on, reward) = (f64::from(u8::from(i != 5)), f64::from(sample.reward[i]));
        let gamma = goes_on * f64::from(sample.discount[i]);
        let close = |found: f32, expected: f64| {
            assert!(
                (f64::from(found) - expected).abs() < 1e-4 * (1.0 + expected.abs()),
                "{i}: {found} {expected}"
            );
        };
        close(split.mean[i], reward + gamma * mean);
        close(split.inherited[i], (gamma * gamma * var).max(1e-5));
        close(split.ahead[i], reward + gamma * both[0].2.max(both[1].2));
    }
}

/// Whatever the network says, a pair that was never tried is as unsure and as hopeful as the prior.
#[test]
fn an_untried_pair_is_the_prior() {
    let mut learner = practised(AgentKind::Split);
    let (tried, mut pass) = ([0.3, -0.7, 0.2], Workspace::new(learner.network(), 1, 1).unwrap());
    (0..1_000).for_each(|_| learner.split_mut().unwrap().visit(&tried, 0));
    let mut row = vec![];
    learner.beliefs(&tried, &mut pass, &mut row).unwrap();
    let (prior, _) = learner.split().unwrap().prior_and_noise(&learner.rewards);
    let sd = |a: usize| f64::from(-row[2 + a]).exp();
    assert!((sd(1) / prior.sqrt() - 1.0).abs() < 1e-5 && sd(0) < sd(1));
    assert!((f64::from(row[5]) / (2.0 * prior.sqrt()) - 1.0).abs() < 1e-5 && row[4] < row[5]);
}

#[test]
fn before_learning_the_belief_is_the_prior_everywhere() {
    let learner = learner(AgentKind::Adfq);
    let mut pass = Workspace::new(learner.network(), 1, 1).unwrap();
    let row = learner.network.forward(&learner.online, &[0.3, -7.0, 2.0], &mut pass).unwrap();
    assert_eq!(row, [0.5, 0.5, -(2.0_f32.ln()), -(2.0_f32.ln())]);
}

/// Rewards without a future: every agent's values become them.
#[test]
fn every_agent_learns_a_bandit() {
    for agent in [AgentKind::Adfq, AgentKind::Dqn, AgentKind::Ddqn, AgentKind::Split] {
        let mut learner = learner(agent);
        let mut sample = sample();
        sample.terminal.fill(true);
        sample.weight.fill(1.0);
        let last = (0..3000).map(|step| {
            if step % 50 == 0 {
                learner.copy_target();
            }
            learner.learn(&sample, 0).unwrap().loss
        });
        assert!(last.last().unwrap() < 0.02, "{agent:?}");
        let errors = learner.errors.iter().fold(0.0_f32, |most, &error| most.max(error));
        assert!(errors < 0.5, "{agent:?} {errors}");
    }
}

#[test]
fn what_is_not_finite_is_named_and_changes_nothing() {
    let (mut learner, mut sample) = (practised(AgentKind::Dqn), sample());
    let before = learner.online.clone();
    sample.reward[2] = f32::INFINITY;
    let error = learner.learn(&sample, 77).unwrap_err().to_string();
    assert!(error.starts_with("the loss is not finite at step 77"), "{error}");
    assert_eq!(learner.online, before);
    let mut learner = practised(AgentKind::Adfq);
    learner.target[0] = f32::NAN;
    let error = learner.learn(&super::tests::sample(), 78).unwrap_err().to_string();
    assert!(error.starts_with("the belief is not finite at step 78"), "{error}");
}

#[test]
fn the_target_network_follows_hard_or_softly() {
    let mut hard = practised(AgentKind::Dqn);
    assert_ne!(hard.online, hard.target);
    hard.copy_target();
    assert_eq!(hard.online, hard.target);
    let mut soft = learner(AgentKind::Dqn);
    soft.config.learning.target = TargetUpdate::Soft(0.5);
    let before = soft.target.clone();
    soft.learn(&sample(), 0).unwrap();
    for ((target, before), online) in soft.target.iter().zip(before).zip(&soft.online) {
        assert_eq!(*target, before + 0.5 * (online - before));
    }
}

#[test]
fn bounded_targets_stay_within_what_rewards_allow() {
    for agent in [AgentKind::Adfq, AgentKind::Dqn, AgentKind::Ddqn, AgentKind::Split] {
        let mut learner = practised(agent);
        learner.config.learning.bound_targets = true;
        learner.config.learning.discount = 0.5;
        learner.rewards.see(0.1);
        learner.compute_targets(&sample()).unwrap();
        let targets = match &learner.targets {
            Targets::Adfq { beliefs, .. } => &beliefs.mean,
            Targets::Dqn { target, .. } | Targets::Ddqn { target, .. } => target,
            Targets::Split { split, .. } => {
                assert!(split.ahead.iter().all(|ahead| (0.0..=0.2).contains(ahead)), "{:?}", split.ahead);
                &split.mean
            }
        };
        assert!(targets.iter().all(|target| (0.0..=0.2).contains(target)), "{targets:?}");
        assert!(targets.contains(&0.2), "{targets:?}");
    }
}

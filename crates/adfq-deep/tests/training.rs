//! Whole trainers: what they learn in seconds, and what must not depend on how they are run.

use adfq_deep::{Config, Error, Host, Trainer};

fn config(env: &str, agent: &str, policy: &str) -> Config {
    let config = Config { steps: 8_000, ..Config::for_env(env).unwrap() };
    Host::default().algorithms.with_agent(config, agent, Some(policy)).unwrap()
}

fn trained(config: &Config, steps: u64) -> Trainer {
    let mut trainer = Trainer::new(config, &Host::default()).unwrap();
    while trainer.run().step() < steps {
        trainer.advance().unwrap();
    }
    trainer
}

/// A random policy balances the pole for 22 steps.
#[test]
fn every_agent_learns_to_balance() {
    for (agent, policy) in [
        ("adfq", "thompson"),
        ("adfq", "epsilon"),
        ("dqn", "epsilon"),
        ("ddqn", "epsilon"),
        ("split", "optimist"),
    ] {
        let mut trainer = trained(&config("cartpole", agent, policy), 8_000);
        trainer.evaluate(10).unwrap();
        let mean = trainer.run().evaluation().unwrap().mean();
        assert!(mean > 90.0, "{agent} {policy}: {mean}");
    }
}

#[test]
fn gradient_steps_keep_their_ratio_with_several_environments() {
    let updates = |envs, every| {
        let mut config = config("cartpole", "dqn", "epsilon");
        (config.envs, config.learning.every, config.learning.warmup) = (envs, every, 240);
        trained(&config, 960).run().updates()
    };
    assert_eq!([updates(1, 1), updates(1, 4), updates(8, 4), updates(8, 1)], [720, 180, 180, 720]);
    // Sixteen steps at once, a gradient step every five: the remainders are not lost.
    assert_eq!(updates(16, 5), 144);
}

#[test]
fn evaluation_leaves_training_alone() {
    let config = config("cartpole", "adfq", "thompson");
    let alone = trained(&config, 1_500);
    let mut watched = trained(&config, 1_200);
    watched.evaluate(3).unwrap();
    while watched.run().step() < 1_500 {
        watched.advance().unwrap();
    }
    let (alone, watched) = (alone.run(), watched.run());
    assert_eq!(alone.learner().online, watched.learner().online);
    assert_eq!(alone.replay().digest(), watched.replay().digest());
}

#[test]
fn divergence_stops_the_run() {
    let mut config = config("cartpole", "ddqn", "epsilon");
    config.learning.adam.rate = 1e30;
    let mut trainer = Trainer::new(&config, &Host::default()).unwrap();
    let error = (0..8_000).find_map(|_| trainer.advance().err()).unwrap();
    let Error::Diverged { step, .. } = error else { panic!("{error}") };
    assert!(step >= config.learning.warmup, "{step}");
}

#[test]
fn a_memory_too_large_is_refused_before_anything_is_done() {
    let config = config("minatar/breakout", "adfq", "thompson");
    let host = Host { memory: Some(10_000_000), ..Host::default() };
    let error = Trainer::new(&config, &host).err().unwrap().to_string();
    assert!(error.contains("this machine has 10.0 MB left"), "{error}");
    let fits: usize = error.split_whitespace().rev().nth(2).unwrap().parse().unwrap();
    let mut smaller = config.clone();
    smaller.replay.capacity = fits;
    assert!(Trainer::new(&smaller, &host).is_ok());
}

/// A transition of five steps is complete after five steps, and warm-up may be shorter: learning waits for the first one.
#[test]
fn learning_waits_for_the_first_transition_of_several_steps() {
    let mut config = Config::for_env("cartpole").unwrap().with_steps(60);
    (config.replay.n_step, config.learning.warmup, config.learning.every, config.envs) = (5, 0, 1, 2);
    let mut trainer = Trainer::new(&config, &Host::default()).unwrap();
    while trainer.run().step() < config.steps {
        trainer.advance().unwrap();
    }
    assert!((40..56).contains(&trainer.run().updates()), "{}", trainer.run().updates());
}

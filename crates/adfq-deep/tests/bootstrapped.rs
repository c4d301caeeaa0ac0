//! Bootstrapped DQN with priors: it finds what dithering does not, and goes on to the bit after a stop.

use adfq_deep::algorithm::BootstrappedSettings;
use adfq_deep::{Agent, Config, Host, Run, RunFolder, Summary, Trainer, Training};
use std::path::Path;

/// The greedy return after some thousands of steps in DeepSea, where one sequence of actions pays.
fn greedy_return(agent: &str, seed: u64) -> f64 {
    let (host, config) = (Host::default(), Config { seed, ..Config::for_env("deepsea-8").unwrap() });
    let mut config = host.algorithms.with_agent(config, agent, None).unwrap().with_steps(4_000);
    (config.learning.warmup, config.learning.every) = (400, 2);
    let mut trainer = Trainer::new(&config, &host).unwrap();
    while trainer.run().step() < config.steps {
        trainer.advance().unwrap();
    }
    trainer.evaluate(1).unwrap();
    trainer.run().evaluation().unwrap().mean()
}

/// One policy in 2⁸ finds the treasure. DQN is lucky with some seeds, but not with these.
#[test]
fn it_finds_the_treasure_and_dqn_does_not() {
    for seed in [1, 2] {
        let [bootstrapped, dqn] = ["bootstrapped", "dqn"].map(|agent| greedy_return(agent, seed));
        assert!(bootstrapped > 0.9 && dqn < 0.1, "{seed}: {bootstrapped} {dqn}");
    }
}

fn training() -> Training {
    let training = Training::new("cartpole").agent("bootstrapped").steps(900);
    let settings = ["envs=3", "learning.warmup=200", "replay.capacity=500", "logging.checkpoint=300"];
    settings.iter().fold(training, |training, setting| training.set(setting))
}

/// Trains a while in a folder, saves, and drops the run in the midst of its way.
fn cut(folder: &Path, to: u64) {
    let host = Host::default();
    let (run_folder, run) = match folder.exists() {
        true => RunFolder::resume(folder, &host).map(|(run_folder, run, _)| (run_folder, run)).unwrap(),
        false => {
            let run = Run::new(training().jobs(folder).unwrap()[0].config.as_ref().unwrap(), &host).unwrap();
            (RunFolder::create(folder, &run).unwrap(), run)
        }
    };
    let mut observers = run_folder.observers(&run, Box::new(|| 0.0)).unwrap();
    let mut trainer = Trainer::on_cpu(vec![run]).unwrap();
    while trainer.run().step() < to {
        trainer.advance().unwrap();
    }
    observers.iter_mut().for_each(|observer| observer.checkpoint(trainer.run()).unwrap());
    // What comes after the checkpoint is lost.
    (0..20).for_each(|_| trainer.advance().unwrap());
}

#[test]
fn a_resumed_run_is_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, stopped] = ["whole", "stopped"].map(|name| folder.path().join(name));
    let expected: Vec<Summary> = training().run(&whole).unwrap();
    [150, 402, 699].into_iter().for_each(|step| cut(&stopped, step));
    assert_eq!(training().run(&stopped).unwrap(), expected);
    assert_eq!((expected[0].agent.as_str(), expected[0].policy.as_str()), ("bootstrapped", "head"));
}

/// One head has no deviation: no belief is better than a certain one.
#[test]
fn an_ensemble_of_one_has_no_beliefs() {
    let folder = tempfile::tempdir().unwrap();
    training().set("bootstrapped.heads=1").steps(300).run(folder.path()).unwrap();
    let decision = Agent::load(folder.path()).unwrap().act(&[0.0; 4]).unwrap();
    assert_eq!((decision.means.len(), decision.beliefs), (2, None));
    training().steps(300).run(folder.path().join("ten")).unwrap();
    let decision = Agent::load(folder.path().join("ten")).unwrap().act(&[0.0; 4]).unwrap();
    assert_eq!(decision.p_best().unwrap().unwrap().len(), 2);
}

#[test]
fn its_settings_are_a_table_of_its_own() {
    let host = Host::default();
    let config =
        host.algorithms.with_agent(Config::for_env("cartpole").unwrap(), "bootstrapped", None).unwrap();
    let defaults: BootstrappedSettings = config.own("bootstrapped").unwrap();
    assert_eq!(defaults, BootstrappedSettings::default());
    let config = config.with("bootstrapped.heads=3").unwrap();
    let settings: BootstrappedSettings = config.own("bootstrapped").unwrap();
    assert_eq!(settings, BootstrappedSettings { heads: 3, ..defaults });
    assert_eq!(Config::from_toml(&config.to_toml().unwrap()).unwrap(), config);
    let trainer = Trainer::new(&config, &host).unwrap();
    assert_eq!(trainer.run().learner().network().outputs(), 3 * 2);
    for (assignment, named) in [
        ("bootstrapped.heads=0", "bootstrapped.heads"),
        ("bootstrapped.mask=0", "bootstrapped.mask"),
        ("bootstrapped.prior=-1", "bootstrapped.prior"),
        ("bootstrapped.hats=3", "hats"),
        ("bootstraped.heads=3", "`bootstraped`"),
        ("polity=head", "`polity`"),
        // Those of others are read too, and dqn has none.
        ("adfq.rulle=exact", "rulle"),
        ("dqn.heads=3", "`dqn`"),
        ("policy=optimist", "optimist"),
    ] {
        let error = config.with(assignment).unwrap_err().to_string();
        assert!(error.contains(named), "{assignment}: {error}");
    }
}

//! What most users need: a training by a few words, run again at will, and the agent that it leaves behind.

use adfq_deep::algorithm::{Algorithms, CalibratedSettings};
use adfq_deep::run::folder::read_config;
use adfq_deep::{Agent, Config, Training};
use adfq_env::{Element, Space};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn training() -> Training {
    Training::new("cartpole").agent("adfq").seeds(3..5).steps(400).set("learning.warmup=100")
}

/// Every file below a folder, with its bytes.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        match entry.is_dir() {
            true => found.extend(files(&entry)),
            false => drop(found.insert(entry.clone(), fs::read(&entry).unwrap())),
        }
    }
    found
}

#[test]
fn what_is_trained_stays_and_what_is_missing_is_trained_again() {
    let folder = tempfile::tempdir().unwrap();
    let runs = training().run(folder.path()).unwrap();
    assert_eq!(runs.iter().map(|run| run.seed).collect::<Vec<_>>(), [3, 4]);
    assert!(runs.iter().all(|run| (run.steps, run.updates) == (400, 300)));
    assert_ne!(runs[0].parameters, runs[1].parameters);
    let before = files(folder.path());
    assert_eq!(training().run(folder.path()).unwrap(), runs);
    assert_eq!(files(folder.path()), before);

    let first = folder.path().join("cartpole-adfq-thompson-learning.warmup=100-3");
    fs::remove_dir_all(&first).unwrap();
    assert_eq!(training().run(folder.path()).unwrap(), runs);
    let after = files(folder.path());
    // TensorBoard's events hold the time of day, and times.json how long it took, and they alone.
    let lasting = |files: &BTreeMap<PathBuf, Vec<u8>>| {
        let of_a_clock = |path: &PathBuf| {
            path.to_string_lossy().contains("tfevents")
                || path.file_name().is_some_and(|name| name == "times.json")
        };
        let mut files = files.clone();
        files.retain(|path, _| !path.starts_with(&first) || !of_a_clock(path));
        files
    };
    assert_eq!(lasting(&after).len() + 2, after.len());
    assert!(lasting(&after) == lasting(&before));
}

/// A budget of steps stops the runs and saves them; without it they go on as if nothing had happened.
#[test]
fn a_training_in_pieces_is_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, pieces] = ["whole", "pieces"].map(|name| folder.path().join(name));
    let expected = training().run(&whole).unwrap();
    for after in [150, 151, 399] {
        assert_eq!(training().stop_after(after).run(&pieces).unwrap(), []);
        let agent = Agent::load(pieces.join("cartpole-adfq-thompson-learning.warmup=100-4")).unwrap();
        assert_eq!(agent.step(), after);
    }
    assert_eq!(training().run(&pieces).unwrap(), expected);
}

/// Another configuration is another run: it does not go on in a folder that holds one.
#[test]
fn a_folder_of_another_run_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let training = training().seeds([3]);
    let run = folder.path().join("run");
    training.clone().run(&run).unwrap();
    let before = files(&run);
    let error = training.clone().steps(500).run(&run).unwrap_err().to_string();
    assert!(error.contains("another configuration"), "{error}");
    assert_eq!(files(&run), before);
    assert_eq!((read_config(&run).unwrap().steps, read_config(&run).unwrap().seed), (400, 3));
    assert!(Agent::load(folder.path()).is_err());
}

#[test]
fn an_agent_acts_and_says_what_it_believes() {
    let folder = tempfile::tempdir().unwrap();
    training().seeds([3]).run(folder.path()).unwrap();
    let mut agent = Agent::load(folder.path()).unwrap();
    assert_eq!((agent.step(), agent.config().agent.as_str()), (400, "adfq"));
    let observation = [0.0, 0.1, 0.05, -0.1];
    let decision = agent.act(&observation).unwrap();
    assert_eq!(agent.act(&observation).unwrap(), decision);
    let beliefs: &Vec<adfq::Belief> = decision.beliefs.as_ref().unwrap();
    let means: Vec<f64> = beliefs.iter().map(|belief| belief.mean()).collect();
    assert_eq!((means.len(), &means), (2, &decision.means));
    assert!(beliefs.iter().all(|belief| belief.var() > 0.0));
    assert_eq!(decision.action, usize::from(means[1] > means[0]));
    let p_best = decision.p_best().unwrap().unwrap();
    assert!((p_best.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{p_best:?}");
    // Of two Gaussians the one with the larger mean is the larger one more often.
    assert!(p_best[decision.action] > 0.5, "{p_best:?}");

    let error = agent.act(&observation[1..]).unwrap_err().to_string();
    assert!(error.contains("4 numbers") && error.contains("are 3"), "{error}");
    for wrong in [f32::NAN, f32::INFINITY] {
        let error = agent.act(&[0.0, 0.0, wrong, 0.0]).unwrap_err().to_string();
        assert!(error.contains(&format!("number 2 of the observation is {wrong}")), "{error}");
    }
    assert_eq!(agent.act(&observation).unwrap(), decision);
}

#[test]
fn an_agent_without_beliefs_has_values_alone() {
    let folder = tempfile::tempdir().unwrap();
    training().agent("dqn").seeds([0]).run(folder.path()).unwrap();
    let decision = Agent::load(folder.path()).unwrap().act(&[0.0; 4]).unwrap();
    assert_eq!((decision.means.len(), &decision.beliefs), (2, &None));
    assert_eq!(decision.p_best().unwrap(), None);
}

#[test]
fn without_an_agent_it_is_calibrated_and_that_of_the_paper_with_its_settings() {
    let agent = |training: Training| {
        let config = training.configs("cartpole").unwrap().0.remove(0);
        (config.agent, config.policy)
    };
    let known = |agent: &str, policy: &str| (agent.to_owned(), policy.to_owned());
    let with = |preset: &str| Training { preset: preset.to_owned(), ..Training::new("cartpole") };
    assert_eq!(agent(Training::new("cartpole")), known("calibrated", "doubt"));
    assert_eq!(agent(with("default")), known("calibrated", "doubt"));
    assert_eq!(agent(with("paper")), known("adfq", "thompson"));
    let policy = Training { policy: Some("epsilon".to_owned()), ..Training::new("cartpole") };
    assert_eq!(agent(policy), known("calibrated", "epsilon"));
    // A configuration is taken as it is.
    let config = Some(adfq_deep::Config::for_env("cartpole").unwrap());
    assert_eq!(agent(Training { config, ..Training::new("cartpole") }), known("adfq", "thompson"));
}

fn config_of(training: &Training) -> Config {
    training.configs(&training.envs[0]).unwrap().0.remove(0)
}

#[test]
fn the_network_of_calibrated_is_normalised_in_the_general_settings() {
    let normalises = |training: Training| config_of(&training).network.normalise;
    let with = |preset: &str| Training { preset: preset.to_owned(), ..Training::new("cartpole") };
    assert!(normalises(Training::new("cartpole")) && normalises(with("default")));
    assert!(!normalises(Training::new("cartpole").set("network.normalise=false")));
    assert!(!normalises(Training::new("cartpole").agent("ddqn")));
    assert!(normalises(Training::new("cartpole").agent("ddqn").set("network.normalise=true")));
    assert!(normalises(with("bsuite").agent("calibrated")) && !normalises(with("bsuite").agent("dqn")));
    // The settings of a paper, and those of small images, stay as they are.
    assert!(!normalises(with("paper").agent("calibrated")));
    assert!(!normalises(Training::new("minatar/asterix")));
}

#[test]
fn calibrated_has_settings_of_its_own_on_atari() {
    // Without the game, whose program need not be here.
    let space =
        Space { frame: vec![84, 84], element: Element::U8 { scale: 1.0 / 255.0 }, stack: 4, actions: 6 };
    let algorithms = Algorithms::default();
    let settings = |config: Config| {
        let CalibratedSettings { rho, .. } = config.own("calibrated").unwrap();
        (config.network.normalise, rho, config.learning.adam.epsilon)
    };
    let general = |agent: &str| {
        let config = Config::preset("default", "atari:pong", &space).unwrap();
        algorithms.with_general(algorithms.with_agent(config, agent, None).unwrap()).unwrap()
    };
    assert_eq!(settings(general("calibrated")), (true, 0.01, 1e-4));
    // What was set before stays.
    let settled = general("calibrated").with("calibrated.pairs=0").unwrap();
    let settled = algorithms.with_general(settled).unwrap();
    assert_eq!(settled.own::<CalibratedSettings>("calibrated").unwrap().pairs, 0);
    assert_eq!(settings(general("ddqn")), (false, 0.1, 1e-8));
    assert_eq!(settings(config_of(&Training::new("minatar/asterix"))), (false, 0.1, 1e-8));
    assert_eq!(settings(config_of(&Training::new("cartpole"))), (true, 0.1, 1e-8));
}

#[test]
fn transitions_of_calibrated_have_two_steps_in_the_general_settings() {
    let steps = |training: Training| {
        let replay = config_of(&training).replay;
        (replay.n_step, replay.watkins)
    };
    assert_eq!(steps(Training::new("cartpole")), (2, true));
    assert_eq!(steps(Training::new("cartpole").set("replay.n_step=4")), (4, true));
    assert_eq!(steps(Training::new("cartpole").set("replay.watkins=false")), (2, false));
    assert_eq!(steps(Training::new("cartpole").agent("ddqn")), (1, false));
    assert_eq!(steps(Training::new("minatar/asterix")), (1, false));
}

#[test]
fn words_that_mean_nothing_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let run = |training: Training| training.run(folder.path().join("none")).unwrap_err().to_string();
    let error = run(training().agent("adqf"));
    assert!(
        error.contains("adqf") && error.contains("bootstrapped, calibrated, ddqn, dqn, split"),
        "{error}"
    );
    assert!(run(Training::new("cartpool")).contains("cartpool"));
    assert!(run(training().set("learning.bach=3")).contains("learning.bach=3"));
    assert!(training().agents(["dqn-ts"]).is_err());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

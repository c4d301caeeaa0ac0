//! Calibrated: it finds and keeps what is hidden, its beliefs hold, and it goes on to the bit after a stop.

mod paid;

use adfq_deep::algorithm::{Algorithms, CalibratedSettings};
use adfq_deep::rollout::{Play, Rollouts};
use adfq_deep::run::folder::{Loaded, read_learner};
use adfq_deep::{Agent, Checkpoint, Config, Host, RunFolder, Stop, Training};
use std::path::Path;
use std::sync::atomic::AtomicBool;

fn training(env: &str, steps: u64) -> Training {
    let training =
        Training { preset: "bsuite".into(), ..Training::new(env).agent("calibrated").steps(steps) };
    training.set("evaluation.every=100000").set("evaluation.final_episodes=1")
}

fn last_return(folder: &Path) -> f64 {
    let text = std::fs::read_to_string(folder.join("evaluations.csv")).unwrap();
    text.lines().last().unwrap().split(',').nth(2).unwrap().parse().unwrap()
}

/// One policy in 2¹² finds the treasure, whose way costs. The values of the table are exact.
#[test]
fn it_solves_deep_sea_and_knows_what_it_is_worth() {
    let folder = tempfile::tempdir().unwrap();
    for seed in [1, 2] {
        let folder = folder.path().join(seed.to_string());
        training("deepsea-12-shuffled-1", 6_000).seeds([seed]).run(&folder).unwrap();
        assert!((last_return(&folder) - 0.99).abs() < 1e-6, "{seed}");
        let mut rollouts = Rollouts::load(&folder, &Host::default(), Checkpoint::Last).unwrap();
        for (i, met) in rollouts.visit(Play::Evaluation, 8, 0).unwrap().iter().enumerate() {
            let best = met.estimates.iter().enumerate().max_by(|a, b| a.1.mean.total_cmp(&b.1.mean)).unwrap();
            let truth = rollouts.roll_out(met, best.0, 0, &format!("{i}")).unwrap().value;
            let (mean, sd) = (f64::from(best.1.mean), f64::from(best.1.sd));
            assert!((mean - truth).abs() <= 2.0 * sd && sd < 0.2, "{i}: {mean} ± {sd}, {truth}");
        }
    }
}

/// States of CartPole do not come again: the network is believed, most of its ±2σ hold the truth, and what is like nothing that was met
/// is doubted.
#[test]
fn beliefs_hold_where_states_do_not_come_again() {
    let folder = tempfile::tempdir().unwrap();
    let (mut within, mut values, mut doubted, mut pairs) = (0, 0, 0, 0);
    for seed in 0..12 {
        let folder = folder.path().join(seed.to_string());
        training("cartpole", 8_000).seeds([seed]).run(&folder).unwrap();
        let mut rollouts = Rollouts::load(&folder, &Host::default(), Checkpoint::Last).unwrap();
        for (i, met) in rollouts.visit(Play::Training, 40, 0).unwrap().iter().enumerate() {
            for (action, estimate) in met.estimates.iter().enumerate() {
                let truth = rollouts.roll_out(met, action, 0, &format!("{i}/{action}")).unwrap().value;
                within +=
                    usize::from((f64::from(estimate.mean) - truth).abs() <= 2.0 * f64::from(estimate.sd));
                values += 1;
            }
        }
        let met = rollouts.visit(Play::Evaluation, 40, 0).unwrap();
        let far = rollouts.far_away(&met).unwrap();
        let larger = |met: f32| far.iter().filter(|far| far[0].sd > met).count();
        doubted += met.iter().map(|met| larger(met.estimates[0].sd)).sum::<usize>();
        pairs += met.len() * far.len();
    }
    assert!(10 * within >= 8 * values, "{within} of {values}");
    assert!(10 * doubted >= 9 * pairs, "{doubted} of {pairs}");
}

/// Stopped three times, first before anything is learned: in a world that repeats itself, in one that does not, and where rewards are 1,000.
#[test]
fn a_resumed_run_is_the_same_bits() {
    for env in ["deepsea-6-shuffled-1", "cartpole", "bsuite:cartpole_scale/16"] {
        let folder = tempfile::tempdir().unwrap();
        let [whole, stopped] = ["whole", "stopped"].map(|name| folder.path().join(name));
        let job =
            || training(env, 1_200).set("envs=2").set("logging.checkpoint=400").set("learning.warmup=200");
        let expected = job().run(&whole).unwrap();
        let flag = AtomicBool::new(false);
        for after in [150, 402, 898] {
            stop_after(&stopped, &job(), Stop { flag: &flag, after: Some(after) });
        }
        assert_eq!(job().run(&stopped).unwrap(), expected, "{env}");
    }
}

/// Rewards times a power of two: the same weights to the bit, and beliefs that are so many times as large.
#[test]
fn the_size_of_rewards_does_not_matter() {
    let folder = tempfile::tempdir().unwrap();
    let trained = |times: f32| {
        let folder = folder.path().join(times.to_string());
        training("paid", 1_500).host(paid::host(times)).run(&folder).unwrap();
        let mut agent = Agent::load(&folder).unwrap();
        let decision = agent.act(&[0.01, -0.02, 0.03, 0.04]).unwrap();
        let Loaded { learner, .. } = read_learner(&folder, &Host::default(), Checkpoint::Last).unwrap();
        (learner.online, decision.beliefs.unwrap())
    };
    let (weights, expected) = trained(1.0);
    for times in [1_024.0, 1.0 / 1_048_576.0] {
        let (found, beliefs) = trained(times);
        assert!(found == weights, "{times}");
        for (found, expected) in beliefs.iter().zip(&expected) {
            let times = f64::from(times);
            assert_eq!(found.mean(), times * expected.mean());
            assert!((found.sd() / (times * expected.sd()) - 1.0).abs() < 1e-5, "{found:?} {expected:?}");
        }
    }
}

fn stop_after(folder: &Path, job: &Training, stop: Stop) {
    let host = Host::default();
    let (run_folder, run) = match folder.exists() {
        true => RunFolder::resume(folder, &host).map(|(run_folder, run, _)| (run_folder, run)).unwrap(),
        false => {
            let config = job.jobs(folder).unwrap().remove(0).config.unwrap();
            let run = adfq_deep::Run::new(&config, &host).unwrap();
            (RunFolder::create(folder, &run).unwrap(), run)
        }
    };
    let observers = run_folder.observers(&run, Box::new(|| 0.0)).unwrap();
    let mut trainer = adfq_deep::Trainer::on_cpu(vec![run]).unwrap();
    assert!(!trainer.train(&mut [observers], stop).unwrap());
}

#[test]
fn its_settings_are_a_table_of_its_own() {
    let config = Config::for_env("cartpole").unwrap();
    let config = Algorithms::default().with_agent(config, "calibrated", None).unwrap();
    assert_eq!(config.policy, "doubt");
    assert_eq!(config.own::<CalibratedSettings>("calibrated").unwrap(), CalibratedSettings::default());
    for wrong in
        ["explore=1.5", "epsilon=-1", "doubt_discount=nan", "pairs=1000000000", "pears=3", "gain=0", "rho=2"]
    {
        let name = wrong.split_once('=').unwrap().0;
        let error = config.with(&format!("calibrated.{wrong}")).unwrap_err().to_string();
        assert!(error.contains(name), "{wrong}: {error}");
    }
}

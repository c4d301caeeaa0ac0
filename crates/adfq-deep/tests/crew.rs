//! Whole trainings on a GPU: the same bits twice, alone or beside others, and checkpoints that the CPU takes up. Where there
//! is no GPU it says so and passes.

use adfq_deep::config::AgentKind;
use adfq_deep::cuda::Crew;
use adfq_deep::evaluate::Evaluation;
use adfq_deep::run::Run;
use adfq_deep::stats::Metrics;
use adfq_deep::{Config, Host, Observer, Trainer};
use adfq_env::{Env, Envs, Space, Step, VecEnv};
use adfq_nn::cuda::{Device, Precision};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

fn config(seed: u64) -> Config {
    let mut config = Config::for_env("cartpole").unwrap().with_steps(1_500);
    config.seed = seed;
    config.learning.warmup = 200;
    config.replay.capacity = 1_000;
    config.evaluation.every = 1_000;
    config.evaluation.final_episodes = 3;
    config.logging.checkpoint = 700;
    config
}

/// Trains these runs together in folders of their own.
fn train(device: &Device, configs: &[Config], folder: &Path) -> Crew {
    let start = |config: &Config| {
        let folder = folder.join(config.seed.to_string());
        Run::create(&folder, config, &Host::default(), Box::new(|| 0.0)).unwrap()
    };
    let (mut runs, trainers): (Vec<Run>, Vec<Trainer>) = configs.iter().map(start).unzip();
    let mut crew = Crew::new(device, trainers, Precision::Tf32).unwrap();
    assert!(crew.run(&mut runs, &AtomicBool::new(false)).unwrap());
    runs.iter().zip(crew.trainers()).for_each(|(run, trainer)| drop(run.finish(trainer).unwrap()));
    crew
}

/// What a run reached, digests of its parameters and its memory among it.
fn result(folder: &Path, seed: u64) -> String {
    std::fs::read_to_string(folder.join(seed.to_string()).join("result.json")).unwrap()
}

#[test]
fn the_same_bits_twice_and_alone() {
    let Ok(device) = Device::open(0) else { return println!("not tested: no GPU") };
    let folder = tempfile::tempdir().unwrap();
    let [once, twice, alone] = ["once", "twice", "alone"].map(|name| folder.path().join(name));
    train(&device, &[config(0), config(1)], &once);
    train(&device, &[config(0), config(1)], &twice);
    train(&device, &[config(1)], &alone);
    assert_eq!([0, 1].map(|seed| result(&once, seed)), [0, 1].map(|seed| result(&twice, seed)));
    assert_eq!(result(&once, 1), result(&alone, 1));
    assert_ne!(result(&once, 0), result(&once, 1));
}

#[test]
fn the_cpu_goes_on_from_a_checkpoint_of_the_gpu() {
    let Ok(device) = Device::open(0) else { return println!("not tested: no GPU") };
    let folder = tempfile::tempdir().unwrap();
    let crew = train(&device, &[config(3)], folder.path());
    let (mut run, mut trainer, warnings) =
        Run::resume(&folder.path().join("3"), &Host::default(), Box::new(|| 0.0)).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    assert_eq!(trainer.step(), 1_500);
    assert_eq!(trainer.replay(), crew.trainers()[0].replay());
    assert!(trainer.evaluate(2).unwrap().mean() > 0.0);
    trainer.advance().unwrap();
    run.checkpoint(&trainer).unwrap();
}

/// Presses Ctrl-C at the first row of metrics from a step on.
struct Until<'a> {
    run: Run,
    step: u64,
    stop: &'a AtomicBool,
}

impl Observer for Until<'_> {
    fn metrics(&mut self, metrics: &Metrics) -> adfq_deep::Result<()> {
        self.stop.fetch_or(metrics.step >= self.step, Ordering::Relaxed);
        self.run.metrics(metrics)
    }

    fn evaluated(&mut self, evaluation: &Evaluation) -> adfq_deep::Result<()> {
        self.run.evaluated(evaluation)
    }

    fn checkpoint(&mut self, trainer: &Trainer) -> adfq_deep::Result<()> {
        self.run.checkpoint(trainer)
    }
}

#[test]
fn stopped_and_resumed_it_is_the_same_bits() {
    let Ok(device) = Device::open(0) else { return println!("not tested: no GPU") };
    let folder = tempfile::tempdir().unwrap();
    let configs = [0, 1].map(|seed| {
        let mut config = config(seed);
        config.logging.metrics = 10;
        config
    });
    let [whole, parts] = ["whole", "parts"].map(|name| folder.path().join(name));
    train(&device, &configs, &whole);
    let stop = AtomicBool::new(false);
    let (mut runs, trainers): (Vec<_>, Vec<_>) = configs
        .iter()
        .map(|config| {
            let folder = parts.join(config.seed.to_string());
            let (run, trainer) = Run::create(&folder, config, &Host::default(), Box::new(|| 0.0)).unwrap();
            (Until { run, step: 830, stop: &stop }, trainer)
        })
        .unzip();
    let mut crew = Crew::new(&device, trainers, Precision::Tf32).unwrap();
    assert!(!crew.run(&mut runs, &stop).unwrap());
    drop((crew, runs));
    let (mut runs, trainers): (Vec<_>, Vec<_>) = [0, 1]
        .map(|seed: u64| {
            let folder = parts.join(seed.to_string());
            let (run, trainer, warnings) = Run::resume(&folder, &Host::default(), Box::new(|| 0.0)).unwrap();
            assert_eq!((trainer.step(), warnings.len()), (830, 0));
            (run, trainer)
        })
        .into_iter()
        .unzip();
    let mut crew = Crew::new(&device, trainers, Precision::Tf32).unwrap();
    assert!(crew.run(&mut runs, &AtomicBool::new(false)).unwrap());
    runs.iter().zip(crew.trainers()).for_each(|(run, trainer)| drop(run.finish(trainer).unwrap()));
    for seed in [0, 1] {
        assert_eq!(result(&whole, seed), result(&parts, seed));
        let log = |folder: &Path| std::fs::read(folder.join(seed.to_string()).join("metrics.csv")).unwrap();
        assert!(log(&whole) == log(&parts), "metrics of seed {seed}");
    }
}

/// Environments that break at a step.
struct Breaking(VecEnv, u64);

impl Envs for Breaking {
    fn space(&self) -> &Space {
        self.0.space()
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn reset(&mut self, seed: u64) -> adfq_env::Result<()> {
        self.0.reset(seed)
    }

    fn begin(&mut self, actions: &[usize]) -> adfq_env::Result<()> {
        self.1 = self.1.checked_sub(1).ok_or(adfq_env::Error::NoEpisode)?;
        self.0.begin(actions)
    }

    fn finish(&mut self) -> adfq_env::Result<&[Step]> {
        self.0.finish()
    }

    fn frames(&self) -> &[u8] {
        self.0.frames()
    }

    fn successors(&self) -> &[u8] {
        self.0.successors()
    }

    fn steps(&self) -> &[Step] {
        self.0.steps()
    }

    fn save(&self) -> adfq_env::Result<Option<Vec<u8>>> {
        Ok(None)
    }

    fn restore(&mut self, _: &[u8]) -> adfq_env::Result<()> {
        unreachable!("nothing was saved")
    }
}

/// An environment in which no episode begins.
struct Stuck(Box<dyn Env>);

impl Env for Stuck {
    fn space(&self) -> &Space {
        self.0.space()
    }

    fn reset(&mut self, _: Option<u64>, _: &mut [u8]) -> adfq_env::Result<()> {
        Err(adfq_env::Error::NoEpisode)
    }

    fn step(&mut self, action: usize, frame: &mut [u8]) -> adfq_env::Result<Step> {
        self.0.step(action, frame)
    }
}

/// Trains seed 0 in these environments beside a sound run of seed 1, which has to end as if alone; the step that seed 0
/// reached.
fn train_beside(envs: Box<dyn Envs>, evaluation: Box<dyn Env>) -> Option<u64> {
    let device = Device::open(0).ok()?;
    let folder = tempfile::tempdir().unwrap();
    let [alone, beside] = ["alone", "beside"].map(|name| folder.path().join(name));
    train(&device, &[config(1)], &alone);
    let host = Host::default();
    let broken = Trainer::with_envs(&config(0), &host, envs, evaluation).unwrap();
    let first = Run::start(&beside.join("0"), &broken, Box::new(|| 0.0)).unwrap();
    let (second, sound) = Run::create(&beside.join("1"), &config(1), &host, Box::new(|| 0.0)).unwrap();
    let mut crew = Crew::new(&device, vec![broken, sound], Precision::Tf32).unwrap();
    assert!(crew.run(&mut [first, second], &AtomicBool::new(false)).unwrap());
    let mut all = crew.disembark();
    let ((sound, none), (broken, failure)) = (all.remove(1), all.remove(0));
    assert!(none.is_none());
    assert!(matches!(failure, Some(adfq_deep::Error::Env(adfq_env::Error::NoEpisode))), "{failure:?}");
    let (run, _, _) = Run::resume(&beside.join("1"), &host, Box::new(|| 0.0)).unwrap();
    run.finish(&sound).unwrap();
    assert_eq!(result(&beside, 1), result(&alone, 1));
    Some(broken.step())
}

#[test]
fn a_run_that_fails_leaves_the_others_alone() {
    let envs = Box::new(Breaking(VecEnv::named("cartpole", 1).unwrap(), 900));
    let Some(step) = train_beside(envs, adfq_env::make("cartpole").unwrap()) else {
        return println!("not tested: no GPU");
    };
    assert_eq!(step, 900);
}

#[test]
fn a_run_that_fails_in_its_evaluation_leaves_the_others_alone() {
    let envs = Box::new(VecEnv::named("cartpole", 1).unwrap());
    let Some(step) = train_beside(envs, Box::new(Stuck(adfq_env::make("cartpole").unwrap()))) else {
        return println!("not tested: no GPU");
    };
    assert_eq!(step, config(0).evaluation.every);
}

#[test]
fn runs_that_do_not_fit_together_are_named() {
    let Ok(device) = Device::open(0) else { return println!("not tested: no GPU") };
    let trainers = [
        config(0),
        Config { agent: AgentKind::Dqn, policy: adfq_deep::config::PolicyKind::Epsilon, ..config(1) },
    ]
    .map(|config| Trainer::new(&config, &Host::default()).unwrap());
    let error = Crew::new(&device, trainers.into(), Precision::Tf32).err().unwrap().to_string();
    assert!(error.contains("agent"), "{error}");
}

//! Whole trainings on a GPU: the same bits twice, alone or beside others, and checkpoints that the CPU takes up. Where there
//! is no GPU it says so and passes.

mod paid;

use adfq_deep::algorithm::{
    Algorithm, Algorithms, Batch, Descriptor, Estimate, Gradient, Loss, Outputs, Passes, State,
};
use adfq_deep::metrics::Metrics;
use adfq_deep::training::{Device as Place, Ending, Job};
use adfq_deep::{Config, Host, Observer, Observers, Run, RunFolder, Trainer, Training};
use adfq_env::{Env, Envs, Space, Step, VecEnv};
use adfq_nn::cuda::Device;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
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

/// The same for another agent, with its own policy and, for the default agent, with its normalised layers and its
/// transitions of two steps.
fn config_of(agent: &str, seed: u64) -> Config {
    let mut config = config(seed);
    (config.agent, config.policy) = Host::default().algorithms.parse(agent).unwrap();
    if agent == "calibrated" {
        config.network.normalise = true;
        (config.replay.n_step, config.replay.watkins) = (2, true);
    }
    config
}

/// A run in a folder of its own, and what writes there.
fn begin(config: &Config, host: &Host, folder: &Path) -> (Run, Observers<'static>) {
    let run = Run::new(config, host).unwrap();
    let folder = RunFolder::create(&folder.join(config.seed.to_string()), &run).unwrap();
    let observers = folder.keep_replay(true).observers(&run, Box::new(|| 0.0)).unwrap();
    (run, observers)
}

/// Trains these runs together in folders of their own.
fn train(device: &Device, configs: &[Config], folder: &Path) -> Trainer {
    train_on(&Host::default(), device, configs, folder)
}

fn train_on(host: &Host, device: &Device, configs: &[Config], folder: &Path) -> Trainer {
    let begun = configs.iter().map(|config| begin(config, host, folder));
    let (runs, mut observers): (Vec<_>, Vec<_>) = begun.unzip();
    let mut trainer = Trainer::on_cuda(device, runs).unwrap();
    assert!(trainer.train(&mut observers, &AtomicBool::new(false)).unwrap());
    trainer
}

/// What a run reached, digests of its parameters and its memory among it.
fn result(folder: &Path, seed: u64) -> String {
    std::fs::read_to_string(folder.join(seed.to_string()).join("result.json")).unwrap()
}

#[test]
fn the_same_bits_twice_and_alone() {
    let Ok(device) = Device::open(0) else { return println!("not tested: no GPU") };
    let folder = tempfile::tempdir().unwrap();
    for agent in Algorithms::default().names() {
        let [once, twice, alone] =
            ["once", "twice", "alone"].map(|name| folder.path().join(agent).join(name));
        let configs = [0, 1].map(|seed| config_of(agent, seed));
        let trainer = train(&device, &configs, &once);
        assert!(trainer.runs().iter().all(|run| run.updates() > 1_000), "{agent}");
        train(&device, &configs, &twice);
        train(&device, &configs[1..], &alone);
        let both = |folder: &Path| [0, 1].map(|seed| result(folder, seed));
        assert_eq!(both(&once), both(&twice), "{agent}");
        assert_eq!(result(&once, 1), result(&alone, 1), "{agent}");
        assert_ne!(result(&once, 0), result(&once, 1), "{agent}");
    }
}

/// Rewards go up before they have a unit, and are written again when they have one.
#[test]
fn the_size_of_rewards_does_not_matter() {
    let Ok(device) = Device::open(0) else { return println!("not tested: no GPU") };
    let folder = tempfile::tempdir().unwrap();
    let trained = |times: f32| {
        let configs = [Config { env: "paid".to_owned(), envs: 2, ..config_of("calibrated", 0) }];
        let trainer = train_on(&paid::host(times), &device, &configs, &folder.path().join(times.to_string()));
        let learner = trainer.run().learner();
        (learner.unit.size(), learner.online.clone())
    };
    let (unit, weights) = trained(1.0);
    for times in [1_024.0, 1.0 / 1_048_576.0] {
        let found = trained(times);
        assert_eq!(found.0, times * unit);
        assert!(found.1 == weights, "{times}");
    }
}

/// An algorithm without what it brings to a GPU.
struct OnHost(Box<dyn Algorithm>);

impl Algorithm for OnHost {
    fn groups(&self) -> usize {
        self.0.groups()
    }

    fn output(&self) -> adfq_nn::Output {
        self.0.output()
    }

    fn passes(&self) -> Passes {
        self.0.passes()
    }

    fn loss(&mut self, batch: &Batch, outputs: &Outputs, gradient: &mut Gradient) -> adfq_deep::Result<Loss> {
        self.0.loss(batch, outputs, gradient)
    }

    fn estimate(&mut self, state: &State, out: &mut Vec<Estimate>) -> adfq_deep::Result<()> {
        self.0.estimate(state, out)
    }

    fn sees_observations(&self) -> bool {
        self.0.sees_observations()
    }

    fn begin_episode(&mut self, env: usize) {
        self.0.begin_episode(env);
    }

    fn acted(&mut self, observation: &[f32], action: usize) {
        self.0.acted(observation, action);
    }

    fn save(&self) -> adfq_deep::Result<Vec<u8>> {
        self.0.save()
    }

    fn restore(&mut self, state: &[u8]) -> std::result::Result<(), String> {
        self.0.restore(state)
    }
}

/// One training in several environments: its groups of runs do not notice each other either, and are told in their order.
#[test]
fn several_environments_in_one_training_are_the_same_bits_as_alone() {
    if Device::open(0).is_err() {
        return println!("not tested: no GPU");
    }
    let train = |envs: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        let training = Training::new(envs[0]).agents(["adfq-ts", "dqn"]).unwrap().seeds(0..2).steps(1_200);
        let training = training.set("learning.warmup=200").set("replay.capacity=1000").device(Place::Cuda(0));
        let training = training.set("evaluation.every=600").set("evaluation.final_episodes=3");
        let envs = envs.iter().map(ToString::to_string).collect();
        Training { envs, ..training }.run(folder.path()).unwrap()
    };
    let envs = ["cartpole", "acrobot", "minatar/breakout", "minatar/asterix", "deepsea-10"];
    let alone: Vec<_> = envs.iter().flat_map(|env| train(&[env])).collect();
    for _ in 0..3 {
        assert_eq!(train(&envs), alone);
    }
}

/// However runs are grouped, each is the same.
#[test]
fn groups_of_any_size_are_the_same_bits() {
    if Device::open(0).is_err() {
        return println!("not tested: no GPU");
    }
    let train = |together: Option<usize>| {
        let folder = tempfile::tempdir().unwrap();
        let training = Training::new("minatar/breakout").agent("dqn").seeds(0..9).steps(1_600);
        let training = training.set("learning.warmup=200").set("replay.capacity=1000").device(Place::Cuda(0));
        let mut training = training.set("evaluation.every=800").set("evaluation.final_episodes=2");
        training = training.set("logging.checkpoint=400");
        training.parallel_envs = Some(8);
        training.resources.together = together.and_then(NonZeroUsize::new);
        training.run(folder.path()).unwrap()
    };
    let all = train(Some(9));
    assert_eq!(all.len(), 9);
    for together in [None, Some(4), Some(1)] {
        assert_eq!(train(together), all, "{together:?}");
    }
}

/// A run can be made longer before it has come to its end. It keeps that end in view until it is there.
#[test]
fn made_longer_on_its_way_a_run_is_the_same_bits_as_at_its_end() {
    if Device::open(0).is_err() {
        return println!("not tested: no GPU");
    }
    let folder = tempfile::tempdir().unwrap();
    let train = |name: &str, stop_after: Option<u64>| {
        let run = folder.path().join(name);
        let training =
            Training::new("cartpole").agent("dqn").steps(1_000).device(Place::Cuda(0)).keep_replay();
        let training = training.set("learning.warmup=200").set("evaluation.final_episodes=3");
        let training = training.set("replay.priority={ alpha = 0.6, beta = 0.4, epsilon = 1e-6 }");
        let Training { resources, .. } = training.clone();
        Training { stop_after, ..training }.run(&run).unwrap();
        let job = Job { folder: run.clone(), longer: Some(1_700), ..Job::default() };
        let (host, never) = (Host::default(), AtomicBool::new(false));
        let (outcomes, _) =
            adfq_deep::training::train(vec![job], &host, &resources, &|_, _, _| vec![], &never).unwrap();
        assert!(matches!(outcomes[0].ending, Some(Ok(Ending::Finished(_)))), "{:?}", outcomes[0].ending);
        ["result.json", "metrics.csv", "evaluations.csv"]
            .map(|log| std::fs::read_to_string(run.join(log)).unwrap())
    };
    let at_its_end = train("ended", None);
    for stopped_at in [150, 600] {
        assert_eq!(train(&format!("stopped-{stopped_at}"), Some(stopped_at)), at_its_end);
    }
}

/// Algorithms without a kernel of their own: the loss is computed on the host.
#[test]
fn losses_on_the_host_are_the_same_bits_twice_and_learn() {
    let Ok(device) = Device::open(0) else { return println!("not tested: no GPU") };
    let folder = tempfile::tempdir().unwrap();
    for agent in ["split", "bootstrapped"] {
        let mut host = Host::default();
        let on_host = Descriptor::new("on-host", "", move |config, space| {
            let config = Algorithms::default().with_agent(config.clone(), agent, None)?;
            Ok(Box::new(OnHost(Algorithms::default().get(agent)?.build(&config, space)?)))
        });
        host.algorithms.register(on_host).unwrap();
        let [once, twice] = ["once", "twice"].map(|name| folder.path().join(agent).join(name));
        let configs = [0, 1].map(|seed| Config {
            agent: "on-host".to_owned(),
            policy: "epsilon".to_owned(),
            ..config(seed)
        });
        train_on(&host, &device, &configs, &once);
        let trainer = train_on(&host, &device, &configs, &twice);
        let both = |folder: &Path| [0, 1].map(|seed| result(folder, seed));
        assert_eq!(both(&once), both(&twice), "{agent}");
        assert!(trainer.runs().iter().all(|run| run.updates() > 1_000), "{agent}");
    }
}

#[test]
fn the_cpu_goes_on_from_a_checkpoint_of_the_gpu() {
    let Ok(device) = Device::open(0) else { return println!("not tested: no GPU") };
    for agent in Algorithms::default().names() {
        let folder = tempfile::tempdir().unwrap();
        let trainer = train(&device, &[config_of(agent, 3)], folder.path());
        let (held, run, warnings) = RunFolder::resume(&folder.path().join("3"), &Host::default()).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        assert_eq!(run.step(), 1_500);
        assert_eq!(run.replay(), trainer.run().replay());
        let own = |run: &Run| run.learner().algorithm.save().unwrap();
        assert_eq!(own(&run), own(trainer.run()), "{agent}");
        let mut observers = held.observers(&run, Box::new(|| 0.0)).unwrap();
        let mut trainer = Trainer::on_cpu(vec![run]).unwrap();
        trainer.evaluate(2).unwrap();
        assert!(trainer.run().evaluation().unwrap().mean() > 0.0);
        trainer.advance().unwrap();
        observers.iter_mut().for_each(|observer| observer.checkpoint(trainer.run()).unwrap());
    }
}

/// Groups of runs that do not fit together train in threads of their own, and do not notice each other.
#[test]
fn groups_side_by_side_are_the_same_bits_as_alone() {
    let Ok(device) = Device::open(0) else { return println!("not tested: no GPU") };
    let folder = tempfile::tempdir().unwrap();
    let agents = Algorithms::default().names();
    let folder_of = |name: &str, agent: &str| folder.path().join(name).join(agent);
    for agent in &agents {
        train(&device, &[config_of(agent, 0)], &folder_of("alone", agent));
    }
    std::thread::scope(|scope| {
        for agent in &agents {
            let (device, folder) = (device.beside().unwrap(), folder_of("beside", agent));
            scope.spawn(move || drop(train(&device, &[config_of(agent, 0)], &folder)));
        }
    });
    for agent in &agents {
        assert_eq!(result(&folder_of("alone", agent), 0), result(&folder_of("beside", agent), 0), "{agent}");
    }
}

/// The frames come back from the GPU when runs go on elsewhere.
#[test]
fn runs_leave_the_gpu_with_all_that_they_remember() {
    let Ok(device) = Device::open(0) else { return println!("not tested: no GPU") };
    let folder = tempfile::tempdir().unwrap();
    let configs = [0, 1].map(|seed| Config { envs: 4, ..config(seed) });
    let trainer = train(&device, &configs, folder.path());
    let digests = |trainer: &Trainer| -> Vec<_> {
        trainer.runs().iter().map(|run| run.replay().digest().unwrap()).collect()
    };
    let before = digests(&trainer);
    let again = Trainer::on_cuda(&device, trainer.into_runs()).unwrap();
    assert_eq!(digests(&again), before);
    let mut here = Trainer::on_cpu(again.into_runs()).unwrap();
    assert_eq!(digests(&here), before);
    here.advance().unwrap();
}

/// Presses Ctrl-C at the first row of metrics from a step on.
struct Until(u64, Arc<AtomicBool>);

impl Observer for Until {
    fn metrics(&mut self, _: &Run, metrics: &Metrics) -> adfq_deep::Result<()> {
        self.1.fetch_or(metrics.step >= self.0, Ordering::Relaxed);
        Ok(())
    }
}

#[test]
fn stopped_and_resumed_it_is_the_same_bits() {
    let Ok(device) = Device::open(0) else { return println!("not tested: no GPU") };
    // At step 1,000 there is an evaluation, which is stopped and played anew.
    for (agent, envs, stopped_at) in [
        ("adfq", 1, 830),
        ("ddqn", 4, 832),
        ("bootstrapped", 1, 830),
        ("bootstrapped", 4, 832),
        ("split", 1, 830),
        ("split", 4, 832),
        ("adfq", 1, 1_000),
        ("dqn", 1, 1_000),
        ("bootstrapped", 4, 1_000),
        ("split", 4, 1_000),
        ("calibrated", 1, 830),
        ("calibrated", 4, 1_000),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let configs = [0, 1].map(|seed| {
            let mut config = Config { envs, ..config_of(agent, seed) };
            config.logging.metrics = 10;
            config
        });
        let [whole, parts] = ["whole", "parts"].map(|name| folder.path().join(name));
        train(&device, &configs, &whole);
        let stop = Arc::new(AtomicBool::new(false));
        let begun = configs.iter().map(|config| {
            let (run, mut observers) = begin(config, &Host::default(), &parts);
            observers.push(Box::new(Until(stopped_at, stop.clone())));
            (run, observers)
        });
        let (runs, mut observers): (Vec<_>, Vec<_>) = begun.unzip();
        let mut trainer = Trainer::on_cuda(&device, runs).unwrap();
        assert!(!trainer.train(&mut observers, &*stop).unwrap());
        drop((trainer, observers));
        let begun = [0, 1].map(|seed: u64| {
            let folder = parts.join(seed.to_string());
            let (held, run, warnings) = RunFolder::resume(&folder, &Host::default()).unwrap();
            assert_eq!((run.step(), warnings.len()), (stopped_at, 0));
            let observers = held.observers(&run, Box::new(|| 0.0)).unwrap();
            (run, observers)
        });
        let (runs, mut observers): (Vec<_>, Vec<_>) = begun.into_iter().unzip();
        let mut trainer = Trainer::on_cuda(&device, runs).unwrap();
        assert!(trainer.train(&mut observers, &AtomicBool::new(false)).unwrap());
        for seed in [0, 1] {
            assert_eq!(result(&whole, seed), result(&parts, seed), "{agent}");
            for name in ["metrics.csv", "evaluations.csv"] {
                let log = |folder: &Path| std::fs::read(folder.join(seed.to_string()).join(name)).unwrap();
                assert!(log(&whole) == log(&parts), "{agent}: {name} of seed {seed}");
            }
        }
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
    let broken = Run::with_envs(&config(0), &Host::default(), envs, evaluation).unwrap();
    let held = RunFolder::create(&beside.join("0"), &broken).unwrap();
    let first = held.observers(&broken, Box::new(|| 0.0)).unwrap();
    let (sound, second) = begin(&config(1), &Host::default(), &beside);
    let mut trainer = Trainer::on_cuda(&device, vec![broken, sound]).unwrap();
    assert!(trainer.train(&mut [first, second], &AtomicBool::new(false)).unwrap());
    let [broken, sound] = trainer.runs() else { unreachable!() };
    assert!(sound.failure().is_none());
    let failure = broken.failure();
    assert!(matches!(failure, Some(adfq_deep::Error::Env(adfq_env::Error::NoEpisode))), "{failure:?}");
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
    let other = Config { agent: "dqn".to_owned(), policy: "epsilon".to_owned(), ..config(1) };
    let runs = [config(0), other].map(|config| Run::new(&config, &Host::default()).unwrap());
    let error = Trainer::on_cuda(&device, runs.into()).err().unwrap().to_string();
    assert!(error.contains("agent"), "{error}");
}

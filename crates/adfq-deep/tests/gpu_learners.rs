//! Learners on a GPU against the CPU's replay memory, updates and learner, and against itself: twice, and for runs together or apart.
//!
//! Where there is no GPU the tests say so and pass.

use adfq::batch::{Batch, Column};
use adfq::random::{ChaCha8Rng, stream};
use adfq::update::{NoiseKind, RuleKind, Update};
use adfq_deep::algorithm::{AdfqSettings, Algorithms, Estimate, Keeps, RewardRange, RewardUnit, State};
use adfq_deep::backend::cuda::{Acting, Drawn, Learners, Member, Updates};
use adfq_deep::config::TargetUpdate;
use adfq_deep::learner::Learner;
use adfq_deep::replay::{PrioritySettings, Replay, Sample, Transition};
use adfq_deep::{Config, Error};
use adfq_env::{Element, Space};
use adfq_nn::cuda::{Device, Precision, Which};
use adfq_nn::{Layer, Padding};
use rand::RngExt;

fn device() -> Option<Device> {
    Device::open(0).map_err(|error| println!("not tested: no GPU ({error})")).ok()
}

fn space(frame: &[usize], element: Element, stack: usize, actions: usize) -> Space {
    Space { frame: frame.to_vec(), element, stack, actions }
}

const PIXELS: Element = Element::U8 { scale: 1.0 / 255.0 };

fn config(agent: &str, space: &Space, envs: usize, capacity: usize, priority: bool) -> Config {
    let mut config = Config::for_env("cartpole").expect("a configuration");
    (config.agent, config.policy) = (agent.to_owned(), "epsilon".to_owned());
    (config.envs, config.steps) = (envs, 4_000);
    let settings = AdfqSettings { mean: 0.5, sd: 2.0, min_var: 1e-4, ..AdfqSettings::default() };
    config = config.with_own("adfq", &settings).expect("settings");
    config.replay.capacity = capacity;
    config.replay.priority = priority.then_some(PrioritySettings { alpha: 0.6, beta: 0.4, epsilon: 1e-3 });
    config.learning.batch = 32;
    config.learning.huber = 1.0;
    config.learning.target = TargetUpdate::Hard(100);
    // Near zero Adam's step is the sign of the gradient, whatever its size: with a large ε a small error stays small.
    config.learning.adam.epsilon = 1e-2;
    let image = Layer::Conv { filters: 8, kernel: 3, stride: 2, padding: Padding::Same };
    config.network.layers = match space.frame.len() {
        3 => vec![image, Layer::dense(32)],
        _ => vec![Layer::dense(32), Layer::dense(24)],
    };
    config
}

/// Environments that do as they please, and the memory that a trainer on the CPU would keep of them.
struct World {
    rng: ChaCha8Rng,
    replay: Replay,
    space: Space,
    rewards: RewardRange,
}

impl World {
    fn new(config: &Config, space: &Space) -> Self {
        let (envs, discount) = (config.envs, config.learning.discount);
        let replay = Replay::new(&config.replay, envs, discount, space).expect("a memory");
        Self {
            rng: stream(config.seed, "world"),
            replay,
            space: space.clone(),
            rewards: RewardRange::default(),
        }
    }

    fn frame(&mut self) -> Vec<u8> {
        match self.space.element {
            Element::U8 { .. } => (0..self.space.frame_len()).map(|_| self.rng.random()).collect(),
            Element::F32 => (0..self.space.frame_len())
                .flat_map(|_| self.rng.random_range(-1.0_f32..1.0).to_ne_bytes())
                .collect(),
        }
    }

    /// A step in every environment of a run, here and there.
    fn step(&mut self, learners: &mut Learners, run: usize, envs: usize) {
        for env in 0..envs {
            let (frame, last) = (self.frame(), self.frame());
            let how = self.rng.random_range(0..40);
            if how == 0 {
                learners.interrupt(run, env, &last, &mut self.replay).expect("a cut");
            }
            let (terminated, truncated) = (how == 1 || how == 2, how == 2 || how == 3);
            let last = (terminated || truncated).then_some(&last[..]);
            let action = self.rng.random_range(0..self.space.actions as u32);
            let reward = self.rng.random_range(-2.0_f32..2.0);
            self.rewards.see(reward);
            let explored = self.rng.random_ratio(1, 5);
            let transition =
                Transition { frame: &frame, action, explored, reward, terminated, truncated, last };
            learners.push(run, env, &transition, &mut self.replay).expect("a step");
        }
    }
}

/// A learner that has tried some pairs, for algorithms that keep account of them.
fn learner(config: &Config, space: &Space) -> Learner {
    let mut learner = Learner::new(config, space, &Algorithms::default()).expect("a learner");
    let mut rng = stream(config.seed, "visits");
    for _ in 0..20 {
        let seen: Vec<f32> = (0..space.observation_len()).map(|_| rng.random_range(-1.0..1.0)).collect();
        learner.algorithm.acted(&seen, rng.random_range(0..space.actions));
    }
    learner
}

/// Learners on the device, and those of the CPU that they started from.
fn learners(
    device: &Device,
    space: &Space,
    configs: &[Config],
    precision: Precision,
) -> (Learners, Vec<Learner>) {
    let own: Vec<_> = configs.iter().map(|config| learner(config, space)).collect();
    let on_device = Learners::new(device, space, &own.iter().collect::<Vec<_>>(), precision);
    (on_device.expect("learners"), own)
}

/// A gradient step of all runs.
fn learn(learners: &mut Learners, worlds: &[World], own: &mut [Learner]) -> adfq_deep::Result<()> {
    let member = |(world, learner)| {
        let (world, learner): (&World, &mut Learner) = (world, learner);
        Member { replay: &world.replay, learner }
    };
    learners.learn(&mut worlds.iter().zip(own).map(member).collect::<Vec<_>>())
}

fn beta(config: &Config, step: u64) -> f32 {
    let start = config.replay.priority.as_ref().map_or(1.0, |priority| priority.beta);
    start + (1.0 - start) * ((step as f64 / config.steps as f64).min(1.0) as f32)
}

fn floats(bytes: &[u8], element: Element) -> Vec<f32> {
    match element {
        Element::U8 { scale } => bytes.iter().map(|&byte| f32::from(byte) * scale).collect(),
        Element::F32 => bytes.as_chunks::<4>().0.iter().map(|&number| f32::from_ne_bytes(number)).collect(),
    }
}

fn ulps(a: f32, b: f32) -> u32 {
    a.to_bits().abs_diff(b.to_bits())
}

/// Where in a run's memory an index of the CPU's lies.
fn place(index: u64, rings: usize, slots: usize) -> u32 {
    let (env, counter) = (index as usize % rings, index as usize / rings);
    (env * slots + counter % slots) as u32
}

fn same_batch(drawn: &Drawn, sample: &Sample, space: &Space, envs: usize, slots: usize) {
    let places: Vec<_> = sample.index.iter().map(|&index| place(index, envs, slots)).collect();
    assert_eq!(drawn.places, places, "places");
    assert_eq!((&drawn.action, &drawn.terminal), (&sample.action, &sample.terminal), "actions");
    assert_eq!((&drawn.reward, &drawn.discount), (&sample.reward, &sample.discount), "returns");
    assert_eq!(floats(&drawn.obs, space.element), sample.obs(), "observations s");
    assert_eq!(floats(&drawn.next, space.element), sample.next(), "observations s'");
    let worst = drawn.weight.iter().zip(&sample.weight).map(|(&a, &b)| ulps(a, b)).max();
    assert!(worst <= Some(1), "weights are {worst:?} units in the last place apart");
}

/// Draws, observations, returns and priorities, over many steps, in memories that are filled and written over.
#[test]
fn sampling_is_that_of_the_cpu() {
    let Some(device) = device() else { return };
    let cases = [
        ("atari", space(&[84, 84, 1], PIXELS, 4, 6), 1, 300, 1, true),
        ("minatar", space(&[10, 10, 4], Element::U8 { scale: 1.0 }, 1, 6), 2, 1_000, 1, true),
        ("vectors", space(&[4], Element::F32, 1, 2), 1, 5_000, 3, true),
        ("odd", space(&[5, 3, 2], PIXELS, 3, 18), 3, 200, 4, true),
        ("floats, stacked", space(&[3], Element::F32, 4, 3), 2, 90, 2, true),
        ("uniform", space(&[10, 10, 4], Element::U8 { scale: 1.0 }, 2, 6), 2, 500, 2, false),
    ];
    for (name, space, envs, capacity, n_step, priority) in cases {
        let configs: Vec<Config> = (0..2)
            .map(|seed| {
                let mut config = config("adfq", &space, envs, capacity, priority);
                (config.seed, config.replay.n_step) = (seed, n_step);
                config
            })
            .collect();
        let (mut there, mut own) = learners(&device, &space, &configs, Precision::Tf32);
        let mut worlds: Vec<World> = configs.iter().map(|config| World::new(config, &space)).collect();
        let mut samplers: Vec<_> = configs.iter().map(|config| stream(config.seed, "replay")).collect();
        let (mut sample, slots, mut apart) = (Sample::default(), capacity / envs, 0);
        for step in 0..250 {
            let pushes = if step == 0 { 40 } else { 3 };
            for _ in 0..pushes {
                worlds.iter_mut().enumerate().for_each(|(run, world)| world.step(&mut there, run, envs));
                there.commit().expect(name);
            }
            learn(&mut there, &worlds, &mut own).expect(name);
            for (run, world) in worlds.iter_mut().enumerate() {
                let beta = beta(&configs[run], there.steps(run));
                world.replay.sample(32, beta, &mut samplers[run], &mut sample).expect(name);
                let drawn = there.drawn(run).expect(name);
                same_batch(&drawn, &sample, &space, envs, slots);
                assert_eq!(there.sampler(run), samplers[run], "{name}");
                world.replay.update(&sample.index, &drawn.errors).expect(name);
                if priority && step % 10 == 9 {
                    let (leaves, largest) = there.priorities(run).expect(name);
                    let expected = world.replay.priorities();
                    assert_eq!(largest, world.replay.state().largest, "{name}");
                    apart += leaves.iter().zip(&expected).filter(|(a, b)| a != b).count();
                    assert!(leaves.iter().zip(&expected).all(|(&a, &b)| ulps(a, b) <= 1), "{name}");
                }
            }
        }
        assert!(there.learned().iter().all(|(_, learned)| learned.is_ok()), "{name}");
        println!("{name}: {apart} priorities one unit in the last place apart");
    }
}

/// Columns of a batch of random problems.
struct Problems {
    actions: usize,
    mu_sa: Vec<f64>,
    var_sa: Vec<f64>,
    reward: Vec<f64>,
    terminal: Vec<bool>,
    mu_next: Vec<f64>,
    var_next: Vec<f64>,
}

impl Problems {
    /// `reach`: how many decades the numbers span.
    fn new(actions: usize, count: usize, reach: f64) -> Self {
        let mut rng = stream(actions as u64, "problems");
        let mut size = |decades: f64| 10_f64.powf(rng.random_range(-decades..decades));
        let vars = |size: &mut dyn FnMut(f64) -> f64, n: usize| (0..n).map(|_| size(reach)).collect();
        let (var_sa, var_next) = (vars(&mut size, count), vars(&mut size, count * actions));
        let scales: Vec<f64> = (0..count).map(|_| size(0.5 * reach)).collect();
        let mut rng = stream(actions as u64, "means");
        let mut means = |n: usize, each: usize| -> Vec<f64> {
            (0..n * each).map(|i| scales[i / each] * rng.random_range(-3.0..3.0)).collect()
        };
        let (mu_sa, reward, mut mu_next) = (means(count, 1), means(count, 1), means(count, actions));
        // Ties happen.
        (0..count * actions).step_by(7).skip(1).for_each(|i| mu_next[i] = mu_next[i - 1]);
        let terminal = (0..count).map(|i| i % 11 == 5).collect();
        Self { actions, mu_sa, var_sa, reward, terminal, mu_next, var_next }
    }

    fn batch(&self, var_w: f64) -> Batch<'_, f64> {
        Batch {
            actions: self.actions,
            mu_sa: &self.mu_sa,
            var_sa: &self.var_sa,
            reward: &self.reward,
            discount: Column::All(0.97),
            var_w: Column::All(var_w),
            terminal: &self.terminal,
            terminal_var: 1e-3,
            mu_next: &self.mu_next,
            var_next: &self.var_next,
        }
    }
}

#[test]
fn targets_are_those_of_the_crate() {
    let Some(device) = device() else { return };
    let (count, updates) = (2_000, Updates::new(&device).expect("the rules"));
    let mut failures = Vec::new();
    for (rule, noise, var_w) in [
        (RuleKind::Analytic, NoiseKind::None, 0.0),
        (RuleKind::Analytic, NoiseKind::Approximate, 0.3),
        (RuleKind::Analytic, NoiseKind::Exact, 0.3),
        (RuleKind::Exact, NoiseKind::None, 0.0),
        (RuleKind::Exact, NoiseKind::Exact, 0.3),
        (RuleKind::Grid, NoiseKind::Exact, 0.3),
    ] {
        // Evenly spaced samples say nothing, and so need not agree, where variances differ by decades.
        let reaches = if rule == RuleKind::Grid { [0.5, 0.5] } else { [1.0, 8.0] };
        for (actions, reach) in [1, 2, 3, 6, 18, 32].into_iter().flat_map(|a| reaches.map(|r| (a, r))) {
            let problems = Problems::new(actions, count, reach);
            let batch = problems.batch(var_w);
            let (mut mean, mut var) = (vec![0.0; count], vec![0.0; count]);
            let update = Update::new(rule.into()).with_floor(1e-12).expect("a floor");
            batch.update(&update, noise, &mut mean, &mut var).expect("updates");
            let (found_mean, found_var) =
                updates.batch(&batch, rule, noise, 1e-12).expect("updates on the device");
            let (mut worst, mut at) = (0.0_f64, 0);
            for i in 0..count {
                let off = (found_mean[i] - mean[i]).abs() / (mean[i].abs() + var[i].sqrt());
                let off = off.max((found_var[i] / var[i] - 1.0).abs());
                if off > worst || off.is_nan() {
                    (worst, at) = (off, i);
                }
            }
            println!("{rule} {noise} |A| = {actions:2} reach {reach}: {worst:.1e}");
            if worst > 1e-6 || worst.is_nan() {
                let values = (found_mean[at], mean[at], found_var[at], var[at]);
                failures.push(format!("{rule} {noise} {actions} {reach}: {worst:e} at {at}, {values:?}"));
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

fn change(new: &[f32], old: &[f32]) -> Vec<f64> {
    new.iter().zip(old).map(|(new, old)| f64::from(*new) - f64::from(*old)).collect()
}

/// ‖a - b‖ / ‖b‖.
fn error(a: &[f64], b: &[f64]) -> f64 {
    let square = |x: f64| x * x;
    let distance: f64 = a.iter().zip(b).map(|(a, b)| square(a - b)).sum();
    (distance / b.iter().map(|b| square(*b)).sum::<f64>()).sqrt()
}

/// The sample that a run drew, as the CPU's learner takes it.
fn sample_of(drawn: &Drawn, space: &Space) -> Sample {
    Sample {
        both: [floats(&drawn.obs, space.element), floats(&drawn.next, space.element)].concat(),
        action: drawn.action.clone(),
        reward: drawn.reward.clone(),
        discount: drawn.discount.clone(),
        terminal: drawn.terminal.clone(),
        index: vec![0; drawn.action.len()],
        weight: drawn.weight.clone(),
    }
}

/// Runs on a device, with memories that hold something and parameters of which none is at its prior.
fn practised(
    device: &Device,
    space: &Space,
    configs: &[Config],
    precision: Precision,
) -> (Learners, Vec<World>, Vec<Learner>) {
    let (mut there, own) = learners(device, space, configs, precision);
    let mut worlds: Vec<World> = configs.iter().map(|config| World::new(config, space)).collect();
    for _ in 0..60 {
        let envs = configs[0].envs;
        worlds.iter_mut().enumerate().for_each(|(run, world)| world.step(&mut there, run, envs));
        there.commit().expect("a commit");
    }
    for (which, name) in [(Which::Online, "online"), (Which::Target, "target")] {
        let mut params = there.engine().download(which).expect("parameters");
        let each = params.len() / configs.len();
        for (config, params) in configs.iter().zip(params.chunks_exact_mut(each)) {
            let mut rng = stream(config.seed, name);
            params.iter_mut().for_each(|p| *p += rng.random_range(-0.1..0.1));
        }
        there.engine_mut().upload(which, &params).expect("parameters");
    }
    (there, worlds, own)
}

/// Sets parameters such that rounding moves no sum across the kink of a ReLU, where a gradient jumps: biases of either sign
/// that outweigh the sums. Gives online and target parameters.
fn far_from_kinks(there: &mut Learners, space: &Space, configs: &[Config]) -> [Vec<f32>; 2] {
    [(Which::Online, "online"), (Which::Target, "target")].map(|(which, name)| {
        let mut all = Vec::new();
        for config in configs {
            let learner = learner(config, space);
            let (mut params, mut rng) = (learner.online.clone(), stream(config.seed, name));
            for tensor in learner.network().tensors() {
                let values = &mut params[tensor.range.clone()];
                let fan_in: usize = tensor.shape[..tensor.shape.len() - 1].iter().product();
                let bound = (0.4 / fan_in as f32).max(0.05 / (fan_in as f32).sqrt());
                match tensor.shape.len() {
                    1 => values.fill_with(|| if rng.random() { 1.0 } else { -1.0 }),
                    _ => values.fill_with(|| rng.random_range(-bound..bound)),
                }
            }
            all.extend(params);
        }
        there.engine_mut().upload(which, &all).expect("parameters");
        all
    })
}

#[test]
fn a_step_is_that_of_the_cpu() {
    let Some(device) = device() else { return };
    let spaces = [("image", space(&[12, 12, 1], PIXELS, 4, 6)), ("vector", space(&[4], Element::F32, 1, 2))];
    let mut failures = Vec::new();
    for (name, space) in &spaces {
        for (precision, most) in [(Precision::Full, 1e-5), (Precision::Tf32, 1e-3)] {
            for agents in
                [vec!["adfq"], vec!["dqn", "ddqn"], vec!["split"], vec!["bootstrapped"], vec!["calibrated"]]
            {
                let configs: Vec<Config> = (0..4)
                    .map(|seed| {
                        let mut config = config(agents[seed as usize % agents.len()], space, 2, 800, true);
                        (config.seed, config.learning.bound_targets) = (seed, seed > 1);
                        config.learning.final_rate = if *name == "image" { 1.0 } else { 0.1 };
                        config.learning.adam.rate *= 1.0 + seed as f32;
                        if seed == 3 {
                            config = config.with("adfq.rule=exact").expect("a rule");
                            config = config.with("calibrated={gain = 0.5, rho = 0.02}").expect("a gain");
                        }
                        // More heads than a dueling one may have.
                        let heads =
                            if *name == "image" { "bootstrapped.heads=10" } else { "bootstrapped.heads=20" };
                        config = config.with(heads).expect("heads");
                        // Means of 100 in place of 1 would hide errors of the gradient in those of the loss.
                        config.with("split={rewards = [0.0, 0.01], features = 16}").expect("settings")
                    })
                    .collect();
                let (mut there, worlds, mut own) = practised(&device, space, &configs, precision);
                let before = far_from_kinks(&mut there, space, &configs);
                // The host knows the rewards of its runs; here it is told.
                for (learner, world) in own.iter_mut().zip(&worlds) {
                    learner.rewards = world.rewards;
                }
                learn(&mut there, &worlds, &mut own).expect("a step");
                there.wait().expect("the end");
                let after = there.engine().download(Which::Online).expect("parameters");
                let learned = there.learned();
                for (run, config) in configs.iter().enumerate() {
                    let drawn = there.drawn(run).expect("a batch");
                    let mut learner = learner(config, space);
                    let part = run * learner.online.len()..(run + 1) * learner.online.len();
                    learner.online.copy_from_slice(&before[0][part.clone()]);
                    learner.target.copy_from_slice(&before[1][part.clone()]);
                    learner.rewards = worlds[run].rewards;
                    let mut sample = sample_of(&drawn, space);
                    sample.index = drawn.places.iter().map(|&at| index(&worlds[run], at)).collect();
                    let expected = learner.learn(&sample, there.steps(run)).expect("a step");
                    let off = error(
                        &change(&after[part.clone()], &before[0][part.clone()]),
                        &change(&learner.online, &before[0][part.clone()]),
                    );
                    let (which, found) = (learned[run].0, learned[run].1.as_ref().expect("metrics"));
                    assert_eq!(which, run);
                    let near =
                        |a: f32, b: f32| (a - b).abs() as f64 <= 2.0 * most * (1.0 + f64::from(b.abs()));
                    let agent = &config.agent;
                    let metrics = [
                        near(found.loss, expected.loss),
                        near(found.gradient_norm, expected.gradient_norm),
                        near(found.mean_q, expected.mean_q),
                        found.mean_sigma.is_nan() == expected.mean_sigma.is_nan(),
                        found.mean_sigma.is_nan() || near(found.mean_sigma, expected.mean_sigma),
                    ];
                    if metrics.contains(&false) {
                        failures
                            .push(format!("{name} {precision:?} {agent:?} {run}: {found:?} {expected:?}"));
                    }
                    let exact = precision == Precision::Full;
                    let errors = drawn.errors.iter().zip(&learner.errors);
                    if exact && errors.clone().any(|(a, b)| (a - b).abs() > 1e-4 * (1.0 + b.abs())) {
                        failures
                            .push(format!("{name} {agent:?} {run}: errors {:?}", errors.collect::<Vec<_>>()));
                    }
                    println!("{name} {precision:?} {agent:?} run {run}: {off:.1e}");
                    if off > most || off.is_nan() {
                        failures.push(format!("{name} {precision:?} {agent:?} run {run}: {off:e}"));
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

/// The index of the transition at a place, found among all there are.
fn index(world: &World, at: u32) -> u64 {
    let (rings, slots) = (2, 400);
    world.replay.indices().find(|&index| place(index, rings, slots) == at).expect("a transition")
}

/// The bits of a run's parameters, metrics and priorities.
type Practised = (Vec<u32>, Vec<[u32; 3]>, Vec<u32>);

/// Each run after some steps of learning.
fn practise(device: &Device, space: &Space, configs: &[Config]) -> Vec<Practised> {
    let (mut there, mut worlds, mut own) = practised(device, space, configs, Precision::Tf32);
    let mut rows = vec![Vec::new(); configs.len()];
    for step in 0..150 {
        worlds.iter_mut().enumerate().for_each(|(run, world)| world.step(&mut there, run, configs[run].envs));
        learn(&mut there, &worlds, &mut own).expect("a step");
        if step % 40 == 39 {
            there.copy_target().expect("a copy");
        }
    }
    there.wait().expect("the end");
    for (run, learned) in there.learned() {
        let l = learned.expect("metrics");
        rows[run].push([l.loss, l.gradient_norm, l.mean_q].map(f32::to_bits));
    }
    let params = there.engine().download(Which::Online).expect("parameters");
    let each = params.len() / configs.len();
    let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    rows.into_iter()
        .enumerate()
        .map(|(run, rows)| {
            assert_eq!(rows.len(), 150);
            (bits(&params[run * each..][..each]), rows, bits(&there.priorities(run).expect("priorities").0))
        })
        .collect()
}

#[test]
fn a_run_is_the_same_bits_alone_and_beside_others_and_twice() {
    let Some(device) = device() else { return };
    let image = space(&[12, 12, 1], PIXELS, 4, 6);
    for agents in [["adfq"; 3], ["dqn", "ddqn", "dqn"], ["split"; 3], ["bootstrapped"; 3], ["calibrated"; 3]]
    {
        let configs: Vec<Config> = (0..3)
            .map(|seed| {
                let config = Config { seed: seed as u64, ..config(agents[seed], &image, 2, 300, true) };
                // It needs a pass that the others do not.
                config.with(&format!("calibrated.gain={}", [1.0, 0.5, 1.0][seed])).expect("a gain")
            })
            .collect();
        let together = practise(&device, &image, &configs);
        assert!(together == practise(&device, &image, &configs), "twice");
        for (run, config) in configs.iter().enumerate() {
            let alone = practise(&device, &image, std::slice::from_ref(config));
            assert!(alone[0] == together[run], "{:?} {run}", config.agent);
        }
    }
}

/// Steps that share a graph are those that are launched one by one, also where random numbers have to go up in between.
#[test]
fn steps_one_by_one_and_several_at_once_are_the_same_bits() {
    let Some(device) = device() else { return };
    let (image, vector) = (space(&[12, 12, 1], PIXELS, 4, 6), space(&[5], Element::F32, 1, 3));
    for (agent, space, priority) in [
        ("adfq", &image, true),
        ("dqn", &image, false),
        ("split", &image, true),
        ("bootstrapped", &image, true),
        ("calibrated", &image, true),
        ("ddqn", &vector, true),
    ] {
        let configs: Vec<Config> =
            (0..2).map(|seed| Config { seed, ..config(agent, space, 2, 300, priority) }).collect();
        let practise = |at_once: u64| {
            let (mut there, mut worlds, mut own) = practised(&device, space, &configs, Precision::Tf32);
            for _ in 0..40 {
                worlds.iter_mut().enumerate().for_each(|(run, world)| world.step(&mut there, run, 2));
                for _ in 0..6 / at_once {
                    let members = worlds.iter().zip(&mut own);
                    let members = members.map(|(world, learner)| Member { replay: &world.replay, learner });
                    there.learn_times(&mut members.collect::<Vec<_>>(), at_once).expect("steps");
                }
            }
            there.wait().expect("the end");
            let metrics = there.learned().into_iter().map(|(run, learned)| {
                // As text: agents without beliefs have no σ, and NaN is not NaN.
                (run, format!("{:?}", learned.expect("metrics")))
            });
            let metrics: Vec<_> = metrics.collect();
            let params = [Which::Online, Which::Target]
                .map(|which| there.engine().download(which).expect("parameters"));
            let priorities: Vec<_> = (0..2).map(|run| there.priorities(run).expect("priorities")).collect();
            (metrics, params, priorities, [0, 1].map(|run| there.sampler(run)))
        };
        let one_by_one = practise(1);
        assert_eq!(one_by_one.0.len(), 2 * 240, "{agent}");
        for at_once in [2, 3, 6] {
            assert!(practise(at_once) == one_by_one, "{agent}, {at_once} at once");
        }
    }
}

/// Random observations of all environments, on the device and as numbers.
fn show(acting: &mut Acting, space: &Space, rng: &mut ChaCha8Rng) -> Vec<Vec<f32>> {
    let show = |row: &mut [u8]| {
        match space.element {
            Element::U8 { .. } => row.fill_with(|| rng.random()),
            Element::F32 => row.as_chunks_mut::<4>().0.iter_mut().for_each(|number| {
                *number = rng.random_range(-1.0_f32..1.0).to_ne_bytes();
            }),
        }
        floats(row, space.element)
    };
    acting.rows().map(show).collect()
}

/// What an algorithm believes, from what the device found beside the outputs and from the observation itself.
fn believed(learner: &mut Learner, beside: &[f64], observation: &[f32], row: &[f32]) -> [Vec<Estimate>; 2] {
    let (actions, rewards) = (learner.space().actions, learner.rewards);
    [(beside, &[][..]), (&[][..], observation)].map(|(beside, observation)| {
        let state =
            State { env: None, only_means: false, observation, row, beside, actions, rewards, unit: 1.0 };
        let mut found = vec![];
        learner.algorithm.estimate(&state, &mut found).expect("estimates");
        found
    })
}

/// The frames of an observation as they are stacked, oldest first.
fn stack(frames: &[Vec<u8>], space: &Space, out: &mut [u8]) {
    let inner = space.frame.last().copied().unwrap_or(1) * space.element.bytes();
    for (k, frame) in frames.iter().enumerate() {
        let rows = out.chunks_exact_mut(inner * frames.len());
        rows.zip(frame.chunks_exact(inner))
            .for_each(|(out, row)| out[k * inner..][..inner].copy_from_slice(row));
    }
}

/// Where only the newest frames go up, observations are those that are put together on the host.
#[test]
fn observations_turn_to_their_newest_frames() {
    let Some(device) = device() else { return };
    for space in [
        space(&[12, 12, 1], PIXELS, 4, 6),
        space(&[5, 3, 2], PIXELS, 3, 4),
        space(&[3], Element::F32, 4, 3),
        space(&[9, 7, 1], PIXELS, 2, 3),
    ] {
        let configs: Vec<Config> =
            (0..2).map(|seed| Config { seed, ..config("dqn", &space, 3, 300, true) }).collect();
        let (there, _) = learners(&device, &space, &configs, Precision::Tf32);
        let (mut whole, mut turned) =
            (Acting::new(&there, 3).expect("room"), Acting::new(&there, 3).expect("room"));
        let (mut world, mut rng) = (World::new(&configs[0], &space), stream(9, "starts"));
        let mut seen: Vec<Vec<Vec<u8>>> = (0..6).map(|_| vec![world.frame(); space.stack]).collect();
        let outputs = |acting: &mut Acting, seen: &[Vec<Vec<u8>>]| -> Vec<f32> {
            acting.rows().zip(seen).for_each(|(row, frames)| stack(frames, &space, row));
            let found = acting.forward(&there).expect("outputs");
            (0..6).flat_map(|number| found.row(number).to_vec()).collect()
        };
        assert_eq!(outputs(&mut whole, &seen), outputs(&mut turned, &seen));
        for step in 0..9 {
            let (frames, began) = turned.newest();
            let padded = frames.len() / 6;
            for (number, seen) in seen.iter_mut().enumerate() {
                let (frame, starts) = (world.frame(), rng.random_range(0..4) == 0);
                match starts {
                    true => seen.fill(frame.clone()),
                    false => {
                        seen.remove(0);
                        seen.push(frame.clone());
                    }
                }
                frames[number * padded..][..frame.len()].copy_from_slice(&frame);
                began[number] = starts.into();
            }
            let found = turned.forward_newest(&there).expect("outputs");
            let found: Vec<f32> = (0..6).flat_map(|number| found.row(number).to_vec()).collect();
            assert_eq!(found, outputs(&mut whole, &seen), "{:?}, step {step}", space.frame);
        }
    }
}

/// Features, matrices and counts are those of the CPU, bit for bit, and so is what follows from them.
#[test]
fn visits_are_those_of_the_cpu() {
    let Some(device) = device() else { return };
    let cases = [
        (space(&[12, 12, 1], PIXELS, 4, 6), 3, 40),
        (space(&[4], Element::F32, 1, 2), 5, 256),
        (space(&[10, 10, 4], Element::U8 { scale: 1.0 }, 1, 3), 1, 600),
        // So many that a block has sixteen of them, and the last one eight.
        (space(&[4], Element::F32, 1, 6), 200, 256),
    ];
    for (space, envs, features) in cases {
        let configs: Vec<Config> = (0..2)
            .map(|seed| {
                let config = Config { seed, ..config("split", &space, envs, 100 * envs, true) };
                config.with(&format!("split.features={features}")).expect("features")
            })
            .collect();
        let (mut there, mut own) = learners(&device, &space, &configs, Precision::Full);
        let (mut acting, mut rng) = (Acting::new(&there, envs).expect("room"), stream(7, "shown"));
        for _ in 0..12 {
            let seen = show(&mut acting, &space, &mut rng);
            let found = acting.forward(&there).expect("outputs");
            for (number, seen) in seen.iter().enumerate() {
                let mut beside = vec![];
                found.beside(number, &mut beside);
                let [here, expected] = believed(&mut own[number / envs], &beside, seen, found.row(number));
                assert_eq!(here, expected, "{features} features");
            }
            // Some environments take the same action.
            let actions: Vec<u32> =
                (0..2 * envs).map(|_| rng.random_range(0..space.actions as u32)).collect();
            acting.acted(&mut there, &actions).expect("visits");
            for (number, (seen, &action)) in seen.iter().zip(&actions).enumerate() {
                own[number / envs].algorithm.acted(seen, action as usize);
            }
        }
        for (run, learner) in own.iter().enumerate() {
            let Keeps::Visits(expected) = learner.algorithm.keeps() else { panic!("no visits") };
            let (counts, inverse) = there.visits(run).expect("visits").expect("visits");
            assert_eq!(counts, expected.counts, "{features} features");
            assert!(inverse == expected.inverse, "{features} features");
        }
    }
}

/// The priors that the device adds are those of the CPU.
#[test]
fn priors_are_those_of_the_cpu() {
    let Some(device) = device() else { return };
    let image = space(&[12, 12, 1], PIXELS, 4, 6);
    let configs: Vec<Config> =
        (0..2).map(|seed| Config { seed, ..config("bootstrapped", &image, 3, 300, true) }).collect();
    let (there, mut own) = learners(&device, &image, &configs, Precision::Full);
    let mut acting = Acting::new(&there, 3).expect("room");
    let seen = show(&mut acting, &image, &mut stream(3, "shown"));
    let found = acting.forward(&there).expect("outputs");
    for (number, seen) in seen.iter().enumerate() {
        let mut beside = vec![];
        found.beside(number, &mut beside);
        assert_eq!(beside.len(), 10 * 6);
        let [here, expected] = believed(&mut own[number / 3], &beside, seen, found.row(number));
        let near = |a: f32, b: f32| (a - b).abs() < 1e-4 * (1.0 + b.abs());
        assert!(
            here.iter().zip(&expected).all(|(a, b)| near(a.mean, b.mean) && near(a.sd, b.sd)),
            "{here:?} {expected:?}"
        );
    }
}

/// A memory that goes to other learners is the same there, and so is what is drawn from it.
#[test]
fn a_memory_can_be_taken_up_by_other_learners() {
    let Some(device) = device() else { return };
    let image = space(&[12, 12, 1], PIXELS, 4, 6);
    let configs: Vec<Config> =
        (0..2).map(|seed| Config { seed, ..config("adfq", &image, 2, 100, true) }).collect();
    let (mut first, mut worlds, mut own) = practised(&device, &image, &configs, Precision::Tf32);
    let (mut second, mut others) = learners(&device, &image, &configs, Precision::Tf32);
    for _ in 0..70 {
        learn(&mut first, &worlds, &mut own).expect("a step");
    }
    for (run, world) in worlds.iter_mut().enumerate() {
        // As a checkpoint holds it: the memory of the host with the priorities of the device.
        let (priorities, largest) = first.priorities(run).expect("priorities");
        let mut state = world.replay.state();
        state.largest = largest;
        let segments = (0..2).map(|env| world.replay.since(env, 0));
        let (envs, discount) = (configs[run].envs, configs[run].learning.discount);
        let empty = Replay::new(&configs[run].replay, envs, discount, &image).expect("a memory");
        world.replay = empty.restore(&state, &priorities, segments).expect("the memory");
        let range = world.rewards;
        second
            .restore(run, &world.replay, first.steps(run), &range, &RewardUnit::ONE, first.sampler(run))
            .expect("another");
        assert_eq!(second.sampler(run), first.sampler(run));
        assert!(second.priorities(run).expect("priorities") == (priorities, largest));
    }
    learn(&mut first, &worlds, &mut own).expect("a step");
    learn(&mut second, &worlds, &mut others).expect("a step");
    for run in 0..2 {
        let (a, b) = (first.drawn(run).expect("a batch"), second.drawn(run).expect("a batch"));
        assert_eq!((&a.places, &a.weight, &a.reward), (&b.places, &b.weight, &b.reward));
        assert!((a.obs, a.next) == (b.obs, b.next));
    }
}

#[test]
fn what_is_not_finite_is_reported_and_changes_nothing() {
    let Some(device) = device() else { return };
    let vector = space(&[4], Element::F32, 1, 2);
    let configs: Vec<Config> =
        (0..2).map(|seed| Config { seed, ..config("adfq", &vector, 1, 300, true) }).collect();
    let (mut there, worlds, mut own) = practised(&device, &vector, &configs, Precision::Tf32);
    let mut params = there.engine().download(Which::Target).expect("parameters");
    let each = params.len() / 2;
    // In the head: a ReLU may well make a zero of it.
    params[2 * each - 1] = f32::NAN;
    there.engine_mut().upload(Which::Target, &params).expect("parameters");
    let before = there.engine().download(Which::Online).expect("parameters");
    let priorities = there.priorities(1).expect("priorities");
    learn(&mut there, &worlds, &mut own).expect("a step");
    there.wait().expect("the end");
    let found = there.learned();
    assert!(
        matches!(&found[..], [(0, Ok(_)), (1, Err(Error::Diverged { quantity: "belief", .. }))]),
        "{found:?}"
    );
    let after = there.engine().download(Which::Online).expect("parameters");
    assert!(after[each..] == before[each..] && after[..each] != before[..each]);
    assert!(there.priorities(1).expect("priorities") == priorities);
}

#[test]
fn runs_that_differ_too_much_are_refused() {
    let Some(device) = device() else { return };
    let vector = space(&[4], Element::F32, 1, 2);
    let one = config("adfq", &vector, 1, 300, true);
    let mut other = one.clone();
    other.learning.adam.beta1 = 0.5;
    let own = [learner(&one, &vector), learner(&other, &vector)];
    let refused = Learners::new(&device, &vector, &[&own[0], &own[1]], Precision::Tf32).err();
    assert!(matches!(refused, Some(Error::Setting { name: "learning.adam", .. })));
    // Networks of the same shape, but one has a prior.
    let dqn = config("dqn", &vector, 1, 300, true);
    let bootstrapped =
        config("bootstrapped", &vector, 1, 300, true).with("bootstrapped.heads=1").expect("one head");
    let own = [learner(&dqn, &vector), learner(&bootstrapped, &vector)];
    let refused = Learners::new(&device, &vector, &[&own[0], &own[1]], Precision::Tf32).err();
    assert!(matches!(refused, Some(Error::Setting { name: "agent", .. })));
    let (mut alone, mut own) = learners(&device, &vector, std::slice::from_ref(&one), Precision::Tf32);
    let mut worlds = [World::new(&one, &vector)];
    assert!(matches!(learn(&mut alone, &worlds, &mut own), Err(Error::Replay(_))));
    assert!(alone.push(1, 0, &Transition::new(&[0; 16], 0, 0.0), &mut worlds[0].replay).is_err());
}

/// As many environments as there is room for have kernels. One more is refused by its name, not by the compiler of the kernels.
#[test]
fn too_many_environments_are_refused() {
    let Some(device) = device() else { return };
    let vector = space(&[4], Element::F32, 1, 2);
    let with = |envs: usize| {
        let own = learner(&config("dqn", &vector, envs, 2 * envs, true), &vector);
        Learners::new(&device, &vector, &[&own], Precision::Tf32)
    };
    assert!(with(511).is_ok());
    assert!(matches!(with(512).err(), Some(Error::Setting { name: "envs", .. })));
}

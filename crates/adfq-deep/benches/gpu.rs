//! What a GPU takes for gradient steps and for acting, beside the aims and the floors:
//! `cargo bench --features cuda --bench gpu -p adfq-deep`.
//!
//! A step is all of it: draws from the priority tree, stacked observations from bytes, three passes of the networks, the
//! ADFQ target, loss, backward, clipping, Adam, and the new priorities; times are medians between events, after a warm-up.
//! Acting is what a trainer waits for: observations go up, a forward pass, outputs come down. Floors are the least
//! operations and bytes over what an H200 was measured to do. After `--`, `acting` measures nothing else, and with `brief` a
//! few steps of each are taken, for a profiler to look at.

use adfq::random::stream;
use adfq_deep::algorithm::Algorithms;
use adfq_deep::backend::cuda::{Acting, Learners, Member};
use adfq_deep::learner::Learner;
use adfq_deep::replay::{PrioritySettings, Replay, Transition};
use adfq_deep::{Config, Result};
use adfq_env::{Element, Space};
use adfq_nn::cuda::{Device, Precision};
use adfq_nn::{Head, Layer, Network, Padding, Spec};
use rand::RngExt;
use std::time::Instant;

/// Steps between two events, and how many such pairs.
const INNER: usize = 100;
const OUTER: usize = 15;
const BATCH: usize = 32;
/// Bytes a second of a large copy, and operations a second of a large TF32 product.
const BANDWIDTH: f64 = 4.3e12;
const TF32: f64 = 4.17e14;

fn atari() -> Result<(Config, Space)> {
    let pixels = Element::U8 { scale: 1.0 / 255.0 };
    let space = Space { frame: vec![84, 84, 1], element: pixels, stack: 4, actions: 6 };
    Ok((Config::preset("atari-paper", "atari:pong", &space)?, space))
}

fn minatar() -> Result<(Config, Space)> {
    let cells = Element::U8 { scale: 1.0 };
    let space = Space { frame: vec![10, 10, 4], element: cells, stack: 1, actions: 6 };
    let config = Config::preset("default", "minatar/breakout", &space)?;
    let agent = Algorithms::default().with_agent(config, "dqn", None)?;
    Ok((agent, space))
}

fn mlp() -> Result<(Config, Space)> {
    let space = Space { frame: vec![4], element: Element::F32, stack: 1, actions: 2 };
    let mut config = Config::preset("paper", "cartpole", &space)?;
    config.network.layers = vec![Layer::dense(64); 2];
    config.replay.priority = Some(PrioritySettings { alpha: 0.6, beta: 0.4, epsilon: 1e-6 });
    Ok((config, space))
}

/// Runs on a device, with what the host keeps of them.
struct Runs {
    there: Learners,
    replays: Vec<Replay>,
    own: Vec<Learner>,
}

impl Runs {
    fn learn(&mut self, times: usize) -> Result<()> {
        let members = self.replays.iter().zip(&mut self.own);
        let members = members.map(|(replay, learner)| Member { replay, learner });
        self.there.learn_times(&mut members.collect::<Vec<_>>(), times as u64)
    }
}

/// Runs whose memories hold `filled` steps each.
fn filled(device: &Device, config: &Config, space: &Space, runs: usize, filled: usize) -> Result<Runs> {
    let configs: Vec<Config> = (0..runs as u64).map(|seed| Config { seed, ..config.clone() }).collect();
    let learner = |config: &Config| Learner::new(config, space, &Algorithms::default());
    let replay =
        |config: &Config| Ok(Replay::new(&config.replay, config.envs, config.learning.discount, space)?);
    let own: Vec<_> = configs.iter().map(learner).collect::<Result<_>>()?;
    let mut replays: Vec<_> = configs.iter().map(replay).collect::<Result<_>>()?;
    let mut there = Learners::new(device, space, &own.iter().collect::<Vec<_>>(), Precision::Tf32)?;
    let mut rng = stream(0, "gpu");
    let frames: Vec<Vec<u8>> = (0..97)
        .map(|_| match space.element {
            Element::U8 { .. } => (0..space.frame_len()).map(|_| rng.random()).collect(),
            Element::F32 => {
                (0..space.frame_len()).flat_map(|_| rng.random_range(-1.0_f32..1.0).to_ne_bytes()).collect()
            }
        })
        .collect();
    for step in 0..filled {
        for run in 0..runs {
            let (frame, last) = (&frames[(step + 7 * run) % 97], &frames[(step + 3 * run) % 97]);
            let ended = rng.random_range(0..200) == 0;
            let (action, reward) = (rng.random_range(0..space.actions as u32), rng.random_range(-1.0..1.0));
            let step = Transition::new(frame, action, reward);
            let step = if ended { step.ended_at(last) } else { step };
            there.push(run, 0, &step, &mut replays[run])?;
        }
        there.commit()?;
    }
    Ok(Runs { there, replays, own })
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The median time of a gradient step of all runs, in µs, where so many are due at once. Nobody waits in between: what the host
/// does besides is hidden, or not.
fn time_step(device: &Device, runs: &mut Runs, at_once: usize) -> Result<f64> {
    (0..2 * INNER).try_for_each(|_| runs.learn(1))?;
    let mut events = vec![device.event()?];
    for _ in 0..OUTER {
        (0..INNER / at_once).try_for_each(|_| runs.learn(at_once))?;
        events.push(device.event()?);
    }
    runs.there.wait()?;
    runs.there.learned().into_iter().try_for_each(|(_, learned)| learned.map(drop))?;
    let times = events.windows(2).map(|pair| Ok(pair[0].micros_until(&pair[1])? / INNER as f64));
    Ok(median(times.collect::<Result<_>>()?))
}

/// The median times from so many observations in page-locked memory to their outputs there, and with the copy that puts
/// them there, in µs: of whole observations, and of their newest frames, as in training.
fn time_acting(there: &Learners, space: &Space, rows: usize) -> Result<[[f64; 2]; 2]> {
    let mut acting = Acting::new(there, rows)?;
    let mut rng = stream(1, "gpu");
    let seen: Vec<u8> = (0..space.observation_len()).map(|_| rng.random()).collect();
    let mut time = |newest_alone: bool| -> Result<[f64; 2]> {
        let (mut alone, mut with_copy) = (Vec::new(), Vec::new());
        for _ in 0..OUTER * INNER {
            let start = Instant::now();
            match newest_alone {
                true => acting.newest().0.chunks_exact_mut(space.frame_bytes()).for_each(|frame| {
                    frame.copy_from_slice(&seen[..space.frame_bytes()]);
                }),
                false => acting.rows().for_each(|row| row.copy_from_slice(&seen)),
            }
            let copied = Instant::now();
            match newest_alone {
                true => std::hint::black_box(acting.forward_newest(there)?),
                false => std::hint::black_box(acting.forward(there)?),
            };
            alone.push(copied.elapsed().as_secs_f64() * 1e6);
            with_copy.push(start.elapsed().as_secs_f64() * 1e6);
        }
        Ok([median(alone.split_off(INNER)), median(with_copy.split_off(INNER))])
    };
    Ok([time(false)?, time(true)?])
}

/// The network of a configuration. ADFQ has two numbers for each action.
fn spec(config: &Config, space: &Space) -> Spec {
    let groups = if config.agent == "adfq" { 2 } else { 1 };
    Spec {
        input: space.observation_shape(),
        layers: config.network.layers.clone(),
        head: Head { actions: space.actions, groups, dueling: None },
    }
}

/// Multiply-adds of a row: of all layers, and of the first.
fn multiplications(spec: &Spec) -> (f64, f64) {
    let (mut size, mut all, mut first) = (spec.input.clone(), 0.0, 0.0);
    for (i, layer) in spec.layers.iter().enumerate() {
        let count = match *layer {
            Layer::Conv { filters, kernel, stride, padding } => {
                let patch = kernel * kernel * size[2];
                let along = |n: usize| match padding {
                    Padding::Same => n.div_ceil(stride),
                    Padding::Valid => (n - kernel) / stride + 1,
                };
                size = vec![along(size[0]), along(size[1]), filters];
                patch * size.iter().product::<usize>()
            }
            Layer::Dense { units, .. } => {
                let inputs: usize = size.iter().product();
                size = vec![units];
                inputs * units
            }
        };
        all += count as f64;
        first += if i == 0 { count as f64 } else { 0.0 };
    }
    let head = size.iter().product::<usize>() * spec.head.actions * spec.head.groups;
    (all + head as f64, first)
}

/// The least time of a step of one run, in µs: by its operations, and by its bytes (each parameter, gradient and moment as
/// often as it must be read and written, each observation once).
fn step_floor(spec: &Spec) -> Result<[f64; 2]> {
    let network = Network::new(spec)?;
    let (all, first) = multiplications(spec);
    let operations = 2.0 * BATCH as f64 * (5.0 * all - first);
    let bytes = 4.0 * network.parameters() as f64 * 11.0 + (2 * BATCH * network.inputs()) as f64;
    Ok([operations / TF32 * 1e6, bytes / BANDWIDTH * 1e6])
}

fn acting_floor(spec: &Spec, rows: usize) -> Result<[f64; 2]> {
    let network = Network::new(spec)?;
    let operations = 2.0 * rows as f64 * multiplications(spec).0;
    let bytes = (4 * network.parameters() + rows * network.inputs()) as f64;
    Ok([operations / TF32 * 1e6, bytes / BANDWIDTH * 1e6])
}

fn print(name: &str, [aim, measured]: [f64; 2], [operations, bytes]: [f64; 2]) {
    let floor = operations.max(bytes);
    let (ratio, verdict) = (measured / floor, if measured <= aim { "" } else { "  missed" });
    println!("{name:38} {measured:8.2} {aim:8.2} {operations:8.2} {bytes:8.2} {ratio:8.1}{verdict}");
}

fn main() -> Result<()> {
    let device = match Device::open(0) {
        Ok(device) => device,
        Err(error) => {
            println!("no GPU, nothing measured: {error}");
            return Ok(());
        }
    };
    let is_asked = |name: &str| std::env::args().any(|argument| argument == name);
    let is_brief = is_asked("brief");
    println!("{}: µs, medians; floors by operations and bytes, and times the larger\n", device.name()?);
    println!(
        "{:38} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "for each run", "here", "aim", "operat.", "bytes", "ratio"
    );
    let ((atari, pixels), (minatar, cells), (mlp, vector)) = (atari()?, minatar()?, mlp()?);
    let cases = [
        ("Atari network, 1 run", &atari, &pixels, 1, 1, 10_000, 130.0),
        ("Atari network, 16 runs", &atari, &pixels, 1, 16, 2_000, 80.0),
        ("Atari network, 64 runs", &atari, &pixels, 1, 64, 1_000, 55.0),
        ("MinAtar network, 1 run, two at once", &minatar, &cells, 2, 1, 10_000, 40.0),
        ("MinAtar network, 10 runs, two at once", &minatar, &cells, 2, 10, 2_000, 8.0),
        ("MinAtar network, 25 runs, two at once", &minatar, &cells, 2, 25, 1_000, 4.0),
        ("MinAtar network, 100 runs, two at once", &minatar, &cells, 2, 100, 500, 2.5),
        ("MLP 4-64-64, 64 runs", &mlp, &vector, 1, 64, 2_000, 0.35),
    ];
    for (name, config, space, at_once, runs, steps, aim) in cases.into_iter().filter(|_| !is_asked("acting"))
    {
        let mut all = filled(&device, config, space, runs, if is_brief { 100 } else { steps })?;
        if is_brief {
            (0..3).try_for_each(|_| all.learn(at_once))?;
            all.there.wait()?;
            continue;
        }
        let step = time_step(&device, &mut all, at_once)? / runs as f64;
        print(name, [aim, step], step_floor(&spec(config, space))?);
    }
    if !is_brief {
        let all = filled(&device, &atari, &pixels, 1, 1)?;
        let [whole, newest] = time_acting(&all.there, &pixels, 16)?;
        let floor = acting_floor(&spec(&atari, &pixels), 16)?;
        print("acting, 16 whole observations", [90.0, whole[0]], floor);
        print("the same, written there first", [90.0, whole[1]], floor);
        print("acting, their newest frames", [60.0, newest[0]], floor);
        print("the same, written there first", [60.0, newest[1]], floor);
    }
    Ok(())
}

//! Times gradient steps of a fleet on a GPU: `cargo run --release -p adfq-deep --features cuda --example fleet_step`.
//!
//! A step is all of it: draws from the priority tree, stacked observations from bytes, three passes of the networks, the
//! ADFQ target, loss, backward, clipping, Adam, and the new priorities. Times are medians between events, after a warm-up.
//! `fleet_step brief` takes a few steps of each, for a profiler to look at.

use adfq::random::stream;
use adfq_deep::config::Priority;
use adfq_deep::cuda::Fleet;
use adfq_deep::{Config, Result};
use adfq_env::{Element, Space};
use adfq_nn::Layer;
use adfq_nn::cuda::{Device, Precision};
use rand::RngExt;

/// Steps between two events, and how many such pairs.
const INNER: usize = 100;
const OUTER: usize = 15;

fn atari() -> Result<(Config, Space)> {
    let pixels = Element::U8 { scale: 1.0 / 255.0 };
    let space = Space { frame: vec![84, 84, 1], element: pixels, stack: 4, actions: 6 };
    Ok((Config::preset("atari-paper", "atari:pong", &space)?, space))
}

fn mlp() -> Result<(Config, Space)> {
    let space = Space { frame: vec![4], element: Element::F32, stack: 1, actions: 2 };
    let mut config = Config::preset("paper", "cartpole", &space)?;
    config.network.layers = vec![Layer::Dense { units: 64 }; 2];
    config.replay.priority = Some(Priority { alpha: 0.6, beta: 0.4, epsilon: 1e-6 });
    Ok((config, space))
}

/// A fleet whose memories hold `filled` steps of each run.
fn fleet(device: &Device, config: &Config, space: &Space, runs: usize, filled: usize) -> Result<Fleet> {
    let configs: Vec<Config> = (0..runs as u64).map(|seed| Config { seed, ..config.clone() }).collect();
    let mut fleet = Fleet::new(device, space, &configs, Precision::Tf32)?;
    let mut rng = stream(0, "fleet_step");
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
            fleet.push(run, 0, frame, action, reward, ended, false, ended.then_some(&last[..]))?;
        }
        fleet.commit()?;
    }
    Ok(fleet)
}

/// The median time of a call on the device, in µs. Nobody waits in between: what the host does besides is hidden, or not.
fn time(device: &Device, mut call: impl FnMut() -> Result<()>) -> Result<f64> {
    (0..2 * INNER).try_for_each(|_| call())?;
    let mut events = vec![device.event()?];
    for _ in 0..OUTER {
        (0..INNER).try_for_each(|_| call())?;
        events.push(device.event()?);
    }
    device.synchronise()?;
    let times = events.windows(2).map(|pair| Ok(pair[0].micros_until(&pair[1])? / INNER as f64));
    let mut times = times.collect::<Result<Vec<f64>>>()?;
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

fn main() -> Result<()> {
    let device = Device::open(0)?;
    let brief = std::env::args().any(|argument| argument == "brief");
    println!("{}", device.name()?);
    let ((atari, pixels), (mlp, vector)) = (atari()?, mlp()?);
    let mut uniform = mlp.clone();
    uniform.replay.priority = None;
    let mut exact = atari.clone();
    exact.adfq.rule = adfq::update::RuleKind::Exact;
    let cases = [
        ("atari", &atari, &pixels, 1, 10_000, 220.0),
        ("atari", &atari, &pixels, 16, 2_000, 80.0),
        ("atari", &atari, &pixels, 64, 1_000, 55.0),
        ("atari, exact rule", &exact, &pixels, 16, 2_000, f64::NAN),
        ("mlp 4-64-64", &mlp, &vector, 1, 2_000, f64::NAN),
        ("mlp 4-64-64", &mlp, &vector, 64, 2_000, 0.4),
        ("mlp 4-64-64, uniform", &uniform, &vector, 64, 2_000, f64::NAN),
    ];
    println!(
        "µs for a gradient step with a batch of 32, medians: for each run, the goal, all runs; then a push of all"
    );
    for (name, config, space, runs, filled, goal) in cases {
        let mut fleet = fleet(&device, config, space, runs, if brief { 100 } else { filled })?;
        if brief {
            (0..3).try_for_each(|_| fleet.learn())?;
            fleet.wait()?;
            continue;
        }
        let learn = time(&device, || fleet.learn())?;
        let frame = vec![1; space.frame_bytes()];
        let push = time(&device, || {
            (0..runs).try_for_each(|run| fleet.push(run, 0, &frame, 0, 0.0, false, false, None))?;
            fleet.commit()
        })?;
        fleet.learned().into_iter().try_for_each(|(_, learned)| learned.map(drop))?;
        let each = learn / runs as f64;
        println!("{name:22} N={runs:<3} {each:8.2} {goal:7.1} {learn:9.1} {push:9.1}");
    }
    Ok(())
}

//! Steps per second of each environment on one core, called through the trait object, with random actions and
//! auto-reset. `cargo bench -p adfq-env`; "thrpt" counts steps.

use adfq::random::stream;
use adfq_env::{Envs, VecEnv, make, names};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rand::RngExt;
use std::time::Duration;

const STEPS: usize = 10_000;

/// The same random actions for all, so that drawing them is not timed.
fn actions(count: usize) -> Vec<usize> {
    let mut rng = stream(1, "actions");
    (0..STEPS).map(|_| rng.random_range(0..count)).collect()
}

fn single(c: &mut Criterion) {
    let mut group = c.benchmark_group("step");
    group.throughput(Throughput::Elements(STEPS as u64)).measurement_time(Duration::from_secs(2));
    for name in names().iter().filter(|name| !name.starts_with("mdp/")) {
        let mut env = make(name).expect("a known name");
        let mut frame = vec![0; env.space().frame_bytes()];
        let actions = actions(env.space().actions);
        env.reset(Some(0), &mut frame).expect("a reset");
        group.bench_function(name, |b| {
            b.iter(|| {
                for &action in &actions {
                    if env.step(action, &mut frame).expect("a step").ended() {
                        env.reset(None, &mut frame).expect("a reset");
                    }
                }
                frame[0]
            });
        });
    }
}

fn vector(c: &mut Criterion) {
    let mut group = c.benchmark_group("vector of 16");
    group.throughput(Throughput::Elements(STEPS as u64)).measurement_time(Duration::from_secs(2));
    let mut envs = VecEnv::named("cartpole", 16).expect("a known name");
    envs.reset(0).expect("a reset");
    let actions = actions(2);
    group.bench_function("cartpole", |b| {
        b.iter(|| {
            for actions in actions.chunks_exact(16) {
                envs.step(actions).expect("a step");
            }
            envs.frames()[0]
        });
    });
}

criterion_group!(benches, single, vector);
criterion_main!(benches);

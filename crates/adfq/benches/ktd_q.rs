//! One KTD-Q step at the size of Maze: |S||A| = 264 · 4 = 1,056, with the covariance as full as it ever gets.

use adfq::agent::{Agent, KtdQ, KtdSettings, Step};
use adfq::random::stream;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rand::RngExt;
use std::hint::black_box;

const STATES: usize = 264;
const ACTIONS: usize = 4;

/// Random steps in a world of random connections, so that in time every pair is correlated with every other.
fn steps(count: usize) -> Vec<Step> {
    let mut rng = stream(1, "steps");
    let next: Vec<usize> = (0..STATES * ACTIONS).map(|_| rng.random_range(0..STATES)).collect();
    let random_step = |_| {
        let (state, action) = (rng.random_range(0..STATES), rng.random_range(0..ACTIONS));
        let next_state = next[state * ACTIONS + action];
        Step { state, action, reward: f64::from(next_state == 0), next_state, terminal: next_state == 0 }
    };
    (0..count).map(random_step).collect()
}

fn warmed_up(process_noise: f64) -> KtdQ {
    let settings = KtdSettings { process_noise, ..Default::default() };
    let mut agent = KtdQ::new(STATES, ACTIONS, 0.95, settings).expect("good settings");
    steps(4_000).iter().for_each(|step| agent.update(step).expect("no divergence"));
    agent
}

fn update(c: &mut Criterion) {
    let hundred = steps(100);
    let mut group = c.benchmark_group("ktd_q/maze-sized");
    group.sample_size(20).throughput(Throughput::Elements(100));
    for (name, process_noise) in [("update x100", 0.0), ("update x100, process noise", 1e-5)] {
        let mut agent = warmed_up(process_noise);
        group.bench_function(name, |b| {
            b.iter(|| hundred.iter().for_each(|step| agent.update(black_box(step)).expect("no divergence")));
        });
    }
    group.finish();
    let agent = warmed_up(0.0);
    c.bench_function("ktd_q/maze-sized/variances of a state", |b| {
        let sum = |state| (0..ACTIONS).map(|a| agent.var(state, a)).sum::<f64>();
        b.iter(|| sum(black_box(STATES - 1)));
    });
}

criterion_group!(benches, update);
criterion_main!(benches);

//! One step of Bayesian Q-learning, by moments and by mixture, and one myopic-VPI choice.

use adfq::agent::{Agent, BayesianQ, NormalGamma, Step, Updating};
use adfq::policy::{Policy, Vpi};
use adfq::random::stream;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rand::RngExt;
use std::hint::black_box;

fn learn(c: &mut Criterion) {
    let (states, actions) = (264, 4);
    let mut rng = stream(1, "bench");
    let random_step = |_| {
        let (state, action) = (rng.random_range(0..states), rng.random_range(0..actions));
        let next_state = (state * 7 + action * 31 + 1) % states;
        Step { state, action, reward: f64::from(next_state == 0), next_state, terminal: next_state == 0 }
    };
    let steps: Vec<Step> = (0..10_000).map(random_step).collect();
    let prior = NormalGamma::from_moments(0.5, 1.0, 0.1, 1.5).expect("a belief");
    let mut group = c.benchmark_group("bayesian_q/maze-sized");
    group.sample_size(20).throughput(Throughput::Elements(steps.len() as u64));
    for (name, updating) in [("moment x10000", Updating::Moment), ("mixture x10000", Updating::Mixture)] {
        group.bench_function(name, |b| {
            b.iter(|| {
                let mut agent =
                    BayesianQ::new(states, actions, 0.95, prior, updating).expect("good settings");
                steps.iter().for_each(|step| agent.update(step).expect("no divergence"));
                agent
            });
        });
    }
    group.finish();
    let mut agent = BayesianQ::new(states, actions, 0.95, prior, Updating::Moment).expect("good settings");
    steps.iter().for_each(|step| agent.update(step).expect("no divergence"));
    c.bench_function("bayesian_q/vpi choice", |b| b.iter(|| Vpi.act(&agent, black_box(17), &mut rng)));
}

criterion_group!(benches, learn);
criterion_main!(benches);

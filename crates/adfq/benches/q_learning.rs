//! Q-learning with its simulation and ε-greedy actions, on Loop: the whole experiment's inner loop.

use adfq::agent::{Agent, LearningRate, QLearning, Step};
use adfq::policy::{Epsilon, EpsilonGreedy, Policy, Uniform};
use adfq::random::{ChaCha8Rng, stream};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const STEPS: u64 = 100_000;

/// (reward, next state) of Loop's (state, action).
const LOOP: [[(f64, usize); 2]; 9] = [
    [(0.0, 1), (0.0, 5)],
    [(0.0, 2); 2],
    [(0.0, 3); 2],
    [(0.0, 4); 2],
    [(1.0, 0); 2],
    [(0.0, 0), (0.0, 6)],
    [(0.0, 0), (0.0, 7)],
    [(0.0, 0), (0.0, 8)],
    [(2.0, 0); 2],
];

fn run<P: Policy<QLearning>>(agent: &mut QLearning, policy: &mut P, rng: &mut ChaCha8Rng) -> f64 {
    let (mut state, mut collected) = (0, 0.0);
    for _ in 0..STEPS {
        let action = policy.act(agent, state, rng);
        let (reward, next_state) = LOOP[state][action];
        agent.update(&Step { state, action, reward, next_state, terminal: false }).expect("a step of Loop");
        collected += reward;
        state = next_state;
    }
    collected
}

fn learn(c: &mut Criterion) {
    let mut group = c.benchmark_group("q_learning/loop");
    group.sample_size(20).throughput(Throughput::Elements(STEPS));
    let make = || QLearning::new(9, 2, 0.95, LearningRate::paper(STEPS), 0.0).expect("good settings");
    let (mut agent, mut rng) = (make(), stream(1, "bench"));
    let mut greedy = EpsilonGreedy::new(Epsilon::Constant(0.1)).expect("a probability");
    group.bench_function("epsilon-greedy", |b| b.iter(|| run(&mut agent, &mut greedy, &mut rng)));
    let mut agent = make();
    group.bench_function("uniform", |b| b.iter(|| run(&mut agent, &mut Uniform, &mut rng)));
    group.finish();
}

criterion_group!(benches, learn);
criterion_main!(benches);

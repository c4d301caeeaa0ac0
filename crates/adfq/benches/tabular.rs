//! Steps per second of whole tabular loops on Loop: policy, simulation and learning together, without recording.
//! `cargo bench -p adfq --bench tabular`; "thrpt" counts steps.

use adfq::Belief;
use adfq::agent::{
    Adfq, AdfqSettings, Agent, BayesianQ, LearningRate, NormalGamma, QLearning, Rewards, SplitAdfq,
    SplitSettings, Updating,
};
use adfq::mdp::{Mdp, loop_};
use adfq::policy::{Epsilon, EpsilonGreedy, Optimist, Policy, Thompson, Uniform};
use adfq::random::stream;
use adfq::update::{Rule, Update};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use std::time::Duration;

const STEPS: u64 = 100_000;

/// Every iteration starts a fresh agent, so that what is timed is learning, not the fixed point.
fn bench<A: Agent, P: Policy<A>>(
    group: &mut BenchmarkGroup<WallTime>,
    name: &str,
    mdp: &Mdp,
    make: impl Fn() -> A,
    mut policy: P,
) {
    let mut rng = stream(1, name);
    group.bench_function(name, |b| {
        b.iter(|| {
            let (mut agent, mut state, mut collected) = (make(), mdp.start(&mut rng), 0.0);
            for _ in 0..STEPS {
                let action = policy.act(&agent, state, &mut rng);
                let step = mdp.step(state, action, &mut rng);
                agent.update(&step).expect("a step of Loop");
                collected += step.reward;
                state = step.next_state;
            }
            collected
        });
    });
}

fn learn(c: &mut Criterion) {
    let mdp = loop_(0.0).expect("Loop");
    let mut group = c.benchmark_group("loop");
    group.warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2)).sample_size(20);
    group.throughput(Throughput::Elements(STEPS));
    let (states, actions, gamma) = (mdp.states(), mdp.actions(), mdp.gamma());
    let greedy = || EpsilonGreedy::new(Epsilon::Constant(0.1)).expect("a probability");
    let q = || QLearning::new(states, actions, gamma, LearningRate::paper(STEPS), 0.0).expect("settings");
    bench(&mut group, "q-learning, uniform", &mdp, q, Uniform);
    bench(&mut group, "q-learning, ε-greedy", &mdp, q, greedy());
    let adfq = |rule| {
        let settings = AdfqSettings { update: Update::new(rule), ..AdfqSettings::default() };
        let prior = Belief::new(20.0, 100.0).expect("a belief");
        move || Adfq::new(states, actions, gamma, prior, settings).expect("settings")
    };
    bench(&mut group, "adfq, uniform", &mdp, adfq(Rule::Analytic), Uniform);
    bench(&mut group, "adfq, ε-greedy", &mdp, adfq(Rule::Analytic), greedy());
    bench(&mut group, "adfq, Thompson", &mdp, adfq(Rule::Analytic), Thompson);
    bench(&mut group, "adfq exact, Thompson", &mdp, adfq(Rule::Exact), Thompson);
    let belief = NormalGamma::from_moments(20.0, 100.0, 1.0, 1.5).expect("a belief");
    let bayesian = || BayesianQ::new(states, actions, gamma, belief, Updating::Moment).expect("settings");
    bench(&mut group, "bayesian-q (moments), Thompson", &mdp, bayesian, Thompson);
    for (name, variant) in
        [("split adfq, optimist", "full"), ("split adfq without sweeps, optimist", "no sweeps")]
    {
        let settings = SplitSettings::variant(variant).expect("a variant");
        let rewards = Rewards::within(0.0, 2.0);
        let split = || {
            SplitAdfq::new(states, actions, gamma, rewards, settings, stream(1, "split")).expect("settings")
        };
        bench(&mut group, name, &mdp, split, Optimist);
    }
    group.finish();
}

criterion_group!(benches, learn);
criterion_main!(benches);

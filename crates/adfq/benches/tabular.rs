//! Steps per second of the tabular loop on Loop: policy, simulation and learning together, without recording.
//! `cargo bench -p adfq --bench tabular`; "thrpt" counts steps.

use adfq::Session;
use adfq::agent::{AdfqSettings, LearningRate, NoiseModel, Prior, SplitSettings};
use adfq::mdp::loop_;
use adfq::random::stream;
use adfq::spec::{AgentSpec, PolicySpec};
use adfq::update::Rule;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::time::Duration;

const STEPS: u64 = 100_000;

fn agents() -> Vec<(&'static str, AgentSpec, PolicySpec)> {
    use PolicySpec::{EpsilonGreedy, Optimist, Thompson, Uniform};
    let prior = Prior::Constant { mean: 20.0, var: 100.0 };
    let q = AgentSpec::QLearning { rate: LearningRate::paper(STEPS), initial: 0.0 };
    let terminal_var = AdfqSettings::default().terminal_var;
    let adfq = |rule| AgentSpec::Adfq { rule, prior, noise: NoiseModel::None, terminal_var, replay: false };
    let split = |variant| {
        let settings = SplitSettings::variant(variant).expect("a variant");
        AgentSpec::SplitAdfq { rewards: None, settings }
    };
    vec![
        ("q-learning, uniform", q, Uniform),
        ("q-learning, ε-greedy", q, EpsilonGreedy(0.1)),
        ("adfq, uniform", adfq(Rule::Analytic), Uniform),
        ("adfq, ε-greedy", adfq(Rule::Analytic), EpsilonGreedy(0.1)),
        ("adfq, Thompson", adfq(Rule::Analytic), Thompson),
        ("adfq exact, Thompson", adfq(Rule::Exact), Thompson),
        ("bayesian-q, Thompson", AgentSpec::BayesianQ { prior, noise_var: 1.0 }, Thompson),
        ("split adfq, optimist", split("full"), Optimist),
        ("split adfq without sweeps, optimist", split("no sweeps"), Optimist),
    ]
}

/// Every iteration starts a fresh agent, so that what is timed is learning, not the fixed point.
fn learn(c: &mut Criterion) {
    let mdp = loop_(0.0).expect("Loop");
    let mut group = c.benchmark_group("loop");
    group.warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2)).sample_size(20);
    group.throughput(Throughput::Elements(STEPS));
    for (name, agent, policy) in agents() {
        group.bench_function(name, |b| {
            b.iter(|| {
                let agent = agent.build(&mdp, 1, name, name).expect("settings");
                let policy = policy.build().expect("settings");
                let mut session = Session::new(&mdp, agent, policy, stream(1, name));
                session.run(STEPS).expect("steps of Loop");
                session.reward()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, learn);
criterion_main!(benches);

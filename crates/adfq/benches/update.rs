//! Nanoseconds per update on one thread: `cargo bench -p adfq --bench update`. The table is in docs/performance.md.
//!
//! Each iteration runs 256 different problems, so that neither branch prediction nor the cache learns one of them.
//! Criterion's "time" is for all of them; "thrpt" counts updates.

use adfq::Belief;
use adfq::random::stream;
use adfq::update::split::{self, Member, SplitPrior, Target};
use adfq::update::{Next, Noise, Rule, Transition, Update, Workspace};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rand::RngExt;
use std::hint::black_box;
use std::time::Duration;

const PROBLEMS: usize = 256;

/// Beliefs as they are in the middle of learning: means over a few units, variances over four decades.
fn beliefs(actions: usize) -> Vec<Vec<Belief>> {
    let mut rng = stream(0, "benches/update");
    let mut belief = || {
        let mean = rng.random_range(-5.0..5.0);
        let var = 10_f64.powf(rng.random_range(-2.0..2.0));
        Belief::new(mean, var).expect("a valid belief")
    };
    (0..PROBLEMS).map(|_| (0..=actions).map(|_| belief()).collect()).collect()
}

fn bench(c: &mut Criterion, name: &str, rule: Rule, noise: Noise, sizes: &[usize]) {
    let mut group = c.benchmark_group(name);
    group.warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1)).sample_size(20);
    let (update, mut workspace) = (Update::new(rule), Workspace::default());
    for &actions in sizes {
        let problems = beliefs(actions);
        let transitions: Vec<_> = problems
            .iter()
            .map(|beliefs| {
                Transition::new(beliefs[0], 0.5, 0.95, Next::Beliefs(&beliefs[1..])).expect("valid")
            })
            .collect();
        group.throughput(Throughput::Elements(PROBLEMS as u64));
        group.bench_function(BenchmarkId::from_parameter(actions), |b| {
            b.iter(|| {
                for transition in &transitions {
                    black_box(
                        update.apply_in(&mut workspace, black_box(transition), noise).expect("an update"),
                    );
                }
            });
        });
    }
    group.finish();
}

/// The split update of a pair with so many outcomes, and the value of a state with so many actions.
fn split_updates(c: &mut Criterion) {
    let mut group = c.benchmark_group("split");
    group.warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1)).sample_size(20);
    group.throughput(Throughput::Elements(PROBLEMS as u64));
    let problems = beliefs(64);
    for outcomes in [1, 2, 4, 16] {
        group.bench_function(BenchmarkId::new("update", outcomes), |b| {
            b.iter(|| {
                for beliefs in &problems {
                    let prior = SplitPrior { belief: beliefs[0], noise: 0.01 };
                    let tally = beliefs[1..=outcomes].iter().map(|belief| Target {
                        count: 3.0,
                        mean: belief.mean(),
                        scatter: 0.0,
                        var: belief.var(),
                    });
                    black_box(split::update(black_box(&prior), tally, 0.5).expect("an update"));
                }
            });
        });
    }
    for actions in [2, 4, 18, 64] {
        group.bench_function(BenchmarkId::new("maximum", actions), |b| {
            b.iter(|| {
                for beliefs in &problems {
                    let member = |belief: &Belief| Member {
                        mean: belief.mean(),
                        own: 0.1 * belief.var(),
                        var: belief.var(),
                    };
                    black_box(split::maximum(black_box(&beliefs[1..=actions]).iter().map(member)));
                }
            });
        });
    }
    group.finish();
}

fn updates(c: &mut Criterion) {
    bench(c, "analytic", Rule::Analytic, Noise::None, &[2, 4, 10, 18, 64, 256, 1024]);
    bench(
        c,
        "analytic, approximate noise",
        Rule::Analytic,
        Noise::Approximate(0.01),
        &[2, 4, 10, 18, 64, 256, 1024],
    );
    bench(c, "exact", Rule::Exact, Noise::None, &[2, 4, 10, 18, 64]);
}

criterion_group!(benches, updates, split_updates);
criterion_main!(benches);

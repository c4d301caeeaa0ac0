//! Steps a second of the MinAtar games through `dyn Env`, frames and resets included, with random actions.

use adfq::random::stream;
use adfq_env::Env;
use adfq_env::minatar::{Asterix, Breakout, Freeway, Game, MinAtar, Seaquest, Settings, SpaceInvaders};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rand::RngExt;
use std::hint::black_box;

/// Steps of one round.
const STEPS: usize = 10_000;

fn game<G: Game + 'static>(criterion: &mut Criterion) {
    let mut env: Box<dyn Env> = Box::new(MinAtar::<G>::new(Settings::default()).unwrap());
    let mut frame = vec![0; env.space().frame_bytes()];
    let mut rng = stream(0, "actions");
    let actions: Vec<usize> = (0..STEPS).map(|_| rng.random_range(0..env.space().actions)).collect();
    env.reset(Some(0), &mut frame).unwrap();
    let mut group = criterion.benchmark_group("minatar");
    group.throughput(Throughput::Elements(STEPS as u64));
    group.bench_function(G::NAME, |bencher| {
        bencher.iter(|| {
            for &action in &actions {
                let step = env.step(action, black_box(&mut frame)).unwrap();
                if step.terminated || step.truncated {
                    env.reset(None, black_box(&mut frame)).unwrap();
                }
            }
        });
    });
    group.finish();
}

criterion_group!(
    benches,
    game::<Breakout>,
    game::<Asterix>,
    game::<Freeway>,
    game::<Seaquest>,
    game::<SpaceInvaders>
);
criterion_main!(benches);

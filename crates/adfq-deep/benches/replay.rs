//! Replay: `cargo bench -p adfq-deep --bench replay`. Batches of 32 out of a million slots with small frames, with and
//! without looking the transitions up, and the decoding of a batch of Atari observations.

use adfq::random::stream;
use adfq_deep::replay::{PrioritySettings, Replay, ReplaySettings, Sample, Transition};
use adfq_env::{Element, Space};
use criterion::{Criterion, criterion_group, criterion_main};
use rand::RngExt;
use std::time::Duration;

const BATCH: usize = 32;

/// A full memory in which episodes have 200 steps and, with priorities, errors are spread over four decades.
fn full(capacity: usize, space: &Space, priority: Option<PrioritySettings>) -> Replay {
    let settings = ReplaySettings { capacity, n_step: 1, watkins: false, priority };
    let mut replay = Replay::new(&settings, 1, 0.99, space).expect("good settings");
    let mut frame = vec![0; space.frame_bytes()];
    for t in 0..capacity {
        frame.fill(t as u8);
        let end = t % 200 == 199;
        let step = Transition::new(&frame, (t % 2) as u32, 1.0);
        replay.push(0, &if end { step.ended_at(&frame) } else { step }).expect("a good step");
    }
    let indices: Vec<u64> = replay.indices().collect();
    let mut rng = stream(0, "errors");
    let errors: Vec<f32> = indices.iter().map(|_| 10_f32.powf(rng.random_range(-3.0..1.0))).collect();
    replay.update(&indices, &errors).expect("finite errors");
    replay
}

fn cart_pole() -> Space {
    Space { frame: vec![4], element: Element::F32, stack: 1, actions: 2 }
}

fn atari() -> Space {
    let pixels = Element::U8 { scale: 1.0 / 255.0 };
    Space { frame: vec![84, 84, 1], element: pixels, stack: 4, actions: 6 }
}

fn million(c: &mut Criterion) {
    let mut group = c.benchmark_group("replay/32 of 1 M");
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
    let (mut rng, mut sample) = (stream(1, "bench"), Sample::default());
    let errors: Vec<f32> = (0..4096).map(|_| 10_f32.powf(rng.random_range(-3.0..1.0))).collect();
    let mut batches = errors.chunks_exact(BATCH).cycle();
    let mut next = || batches.next().expect("a cycle");

    let priority = Some(PrioritySettings { alpha: 0.6, beta: 0.4, epsilon: 1e-6 });
    let mut replay = full(1_000_000, &cart_pole(), priority);
    group.bench_function("prioritised: indices and weights, then update", |b| {
        b.iter(|| {
            replay.draw(BATCH, 0.4, &mut rng, &mut sample).expect("a full memory");
            replay.update(&sample.index, next()).expect("finite errors");
        });
    });
    group.bench_function("prioritised: indices and weights", |b| {
        b.iter(|| replay.draw(BATCH, 0.4, &mut rng, &mut sample).expect("a full memory"));
    });
    group.bench_function("prioritised: whole batch, then update", |b| {
        b.iter(|| {
            replay.sample(BATCH, 0.4, &mut rng, &mut sample).expect("a full memory");
            replay.update(&sample.index, next()).expect("finite errors");
        });
    });
    group.bench_function("prioritised: push", |b| {
        b.iter(|| replay.push(0, &Transition::new(&[7; 16], 1, 1.0)).expect("a good step"));
    });
    let mut replay = full(1_000_000, &cart_pole(), None);
    group.bench_function("uniform: whole batch", |b| {
        b.iter(|| replay.sample(BATCH, 0.0, &mut rng, &mut sample).expect("a full memory"));
    });
    group.bench_function("uniform: push", |b| {
        b.iter(|| replay.push(0, &Transition::new(&[7; 16], 1, 1.0)).expect("a good step"));
    });
    group.finish();
}

fn pixels(c: &mut Criterion) {
    let mut group = c.benchmark_group("replay/Atari-sized");
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3)).sample_size(50);
    let replay = full(50_000, &atari(), None);
    let (mut rng, mut sample) = (stream(1, "bench"), Sample::default());
    group.bench_function("uniform: 2 x 32 observations of 84 x 84 x 4", |b| {
        b.iter(|| replay.sample(BATCH, 0.0, &mut rng, &mut sample).expect("a full memory"));
    });
    group.finish();
}

criterion_group!(benches, million, pixels);
criterion_main!(benches);

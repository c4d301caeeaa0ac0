//! The replay memory with a million slots and small frames, drawn from by priority.

use super::Group::Replay as Group;
use super::{Bench, Work};
use adfq::random::stream;
use adfq_deep::Result;
use adfq_deep::replay::{PrioritySettings, Replay, ReplaySettings, Sample, Transition};
use adfq_env::{Element, Space};
use rand::RngExt;

const SLOTS: usize = 1_000_000;
const BATCH: usize = 32;
const BETA: f32 = 0.4;
/// Errors that updates cycle through: many batches of them.
const ERRORS: usize = 128 * BATCH;

pub(super) fn benches() -> Vec<Bench> {
    vec![
        Bench::new(Group, "replay sample + update 32 of 1M", || sample_and_update(false)),
        Bench::new(Group, "replay sample + gather + update 32 of 1M", || sample_and_update(true)),
        Bench::new(Group, "replay push", push),
    ]
}

/// Indices and weights of a batch, the transitions themselves if asked for, and new priorities.
fn sample_and_update(gather: bool) -> Result<Work> {
    let (mut replay, mut sample, mut rng) = (full()?, Sample::default(), stream(1, "bench sampler"));
    let errors = errors();
    let mut batch = 0;
    Ok(Work::Operation(Box::new(move |operations| {
        for _ in 0..operations {
            match gather {
                true => replay.sample(BATCH, BETA, &mut rng, &mut sample)?,
                false => replay.draw(BATCH, BETA, &mut rng, &mut sample)?,
            }
            replay.update(&sample.index, &errors[batch * BATCH..][..BATCH])?;
            batch = (batch + 1) % (ERRORS / BATCH);
        }
        Ok(())
    })))
}

/// One step written over the oldest.
fn push() -> Result<Work> {
    let mut replay = full()?;
    let mut time = 0;
    Ok(Work::Operation(Box::new(move |operations| {
        for _ in 0..operations {
            write(&mut replay, time)?;
            time += 1;
        }
        Ok(())
    })))
}

/// A full memory; errors are spread over four decades.
fn full() -> Result<Replay> {
    let priority = Some(PrioritySettings { alpha: 0.6, beta: 0.4, epsilon: 1e-6 });
    let settings = ReplaySettings { capacity: SLOTS, n_step: 1, watkins: false, priority };
    let space = Space { frame: vec![4], element: Element::F32, stack: 1, actions: 2 };
    let mut replay = Replay::new(&settings, 1, 0.99, &space)?;
    (0..SLOTS).try_for_each(|time| write(&mut replay, time))?;
    let indices: Vec<u64> = replay.indices().collect();
    let errors: Vec<f32> = errors().into_iter().cycle().take(indices.len()).collect();
    replay.update(&indices, &errors)?;
    Ok(replay)
}

/// Episodes of 200 steps.
fn write(replay: &mut Replay, time: usize) -> Result<()> {
    let (frame, end) = ([time as u8; 16], time % 200 == 199);
    let step = Transition::new(&frame, (time % 2) as u32, 1.0);
    Ok(replay.push(0, &if end { step.ended_at(&frame) } else { step })?)
}

fn errors() -> Vec<f32> {
    let mut rng = stream(0, "bench errors");
    (0..ERRORS).map(|_| libm::powf(10.0, rng.random_range(-3.0..1.0))).collect()
}

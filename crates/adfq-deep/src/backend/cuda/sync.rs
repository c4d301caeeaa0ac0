//! From the device to the runs on the host: all that was learned, for checkpoints and at the end. It comes down through
//! page-locked memory that is kept, and goes to the runs' own memory on all cores.

use super::learners::Learners;
use super::memory::{LARGEST, STATES};
use super::raw::Pinned;
use crate::Result;
use crate::run::Run;
use adfq_nn::cuda::Stored;
use rayon::prelude::*;

/// Bytes of page-locked memory at most, unless one run needs more. More runs than fit come down one lot after the other.
const MOST: usize = 256 << 20;

/// The page-locked memory, made at the first need.
#[derive(Debug)]
pub(super) struct Staging {
    area: Option<Pinned>,
    most: usize,
}

impl Default for Staging {
    fn default() -> Self {
        Self { area: None, most: MOST }
    }
}

/// Numbers of a run that come down through it.
struct Widths {
    /// Of each part of [`Stored`].
    stored: usize,
    /// Priorities, with those beyond the last place; 0 where there are none.
    leaves: usize,
}

impl Widths {
    fn of(learners: &Learners) -> Self {
        let sizes = &learners.memory.sizes;
        let leaves = if sizes.prioritised { sizes.leaf_blocks() * 16 } else { 0 };
        Self { stored: learners.engine().stride(), leaves }
    }

    fn sum(&self) -> usize {
        Stored::ALL.len() * self.stored + self.leaves
    }

    /// The parts of each run in what came down of so many.
    fn split<'a>(&'a self, numbers: &'a [f32], runs: usize) -> impl Fn(usize) -> ([&'a [f32]; 4], &'a [f32]) {
        let (stored, leaves) = numbers.split_at(Stored::ALL.len() * runs * self.stored);
        move |run| {
            let part = |number: usize| &stored[(number * runs + run) * self.stored..][..self.stored];
            ([0, 1, 2, 3].map(part), &leaves[run * self.leaves..][..self.leaves])
        }
    }
}

impl Staging {
    /// Brings runs up to date, all that a device has of them. Everything on its stream is done.
    pub fn bring(&mut self, learners: &Learners, runs: &mut [Run]) -> Result<()> {
        let widths = Widths::of(learners);
        let together = (self.most / 4 / widths.sum()).clamp(1, runs.len());
        let area = match &mut self.area {
            Some(area) => area,
            none => none.insert(Pinned::new(4 * together * widths.sum())?),
        };
        let steps = learners.engine().adam_steps()?;
        let states = learners.memory.state.download()?;
        let visits = learners.places.as_ref().map(|places| places.download()).transpose()?;
        for (number, run) in runs.iter_mut().enumerate() {
            run.sampler = learners.sampler(number);
        }
        let (engine, places) = (learners.engine(), learners.memory.sizes.places());
        for (lot, runs) in runs.chunks_mut(together).enumerate() {
            let first = lot * together;
            put_down(area, learners, &widths, first, runs.len())?;
            learners.wait()?;
            let parts = widths.split(&area.numbers()[..runs.len() * widths.sum()], runs.len());
            runs.par_iter_mut().enumerate().try_for_each(|(number, run)| -> Result<()> {
                let ([online, target, m, v], leaves) = parts(number);
                let learner = &mut run.learner;
                engine.without_gaps(online, &mut learner.online)?;
                engine.without_gaps(target, &mut learner.target)?;
                engine.without_gaps(m, &mut learner.adam.m)?;
                engine.without_gaps(v, &mut learner.adam.v)?;
                learner.adam.t = steps;
                if let Some(visits) = &visits {
                    let (counts, inverse) = visits.of(first + number);
                    learner.algorithm.take_visits(counts, inverse);
                }
                if !leaves.is_empty() {
                    let largest = states[(first + number) * STATES + LARGEST];
                    run.replay.take_priorities(largest, &leaves[..places])?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// Puts the copies of so many runs on the stream.
fn put_down(
    area: &mut Pinned,
    learners: &Learners,
    widths: &Widths,
    first: usize,
    runs: usize,
) -> Result<()> {
    let (engine, device, size) = (learners.engine(), learners.engine().device(), runs * widths.stored);
    for (number, what) in Stored::ALL.into_iter().enumerate() {
        let to = number * size..(number + 1) * size;
        area.receive_part(engine.stored(what), first * widths.stored, to, device)?;
    }
    let to = Stored::ALL.len() * size..runs * widths.sum();
    area.receive_part(&learners.memory.leaves, first * widths.leaves, to, device)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, Host};
    use adfq_nn::cuda::{Device, Precision, Which};

    /// Runs with parameters of their own that have learned nothing yet, and what the device has of them.
    fn runs(device: &Device) -> (Vec<Run>, Learners) {
        let config = |seed| Config { seed, ..Config::for_env("cartpole").unwrap() };
        let runs: Vec<_> = (0..3).map(|seed| Run::new(&config(seed), &Host::default()).unwrap()).collect();
        let own: Vec<_> = runs.iter().map(|run| &run.learner).collect();
        let mut learners = Learners::new(device, &runs[0].space, &own, Precision::Tf32).unwrap();
        let size = 3 * runs[0].learner.online.len();
        let numbers: Vec<f32> = (0..size).map(|i| i as f32).collect();
        learners.engine_mut().upload(Which::Online, &numbers).unwrap();
        let moments = |from: f32| numbers.iter().map(|number| number + from).collect();
        let settings = runs[0].learner.adam.settings;
        let adam = adfq_nn::Adam { settings, t: 7, m: moments(0.25), v: moments(0.5) };
        learners.engine_mut().upload_adam(&adam).unwrap();
        (runs, learners)
    }

    #[test]
    fn runs_come_down_in_lots_of_any_size() {
        let Ok(device) = Device::open(0) else { return println!("not tested: no GPU") };
        for most in [1, 3 << 19, MOST] {
            let (mut runs, learners) = runs(&device);
            let target = runs[2].learner.target.clone();
            Staging { area: None, most }.bring(&learners, &mut runs).unwrap();
            let size = target.len();
            for (number, run) in runs.iter().enumerate() {
                let expected = |from: f32| (number * size..(number + 1) * size).map(move |i| i as f32 + from);
                let learner = &run.learner;
                assert!(learner.online.iter().copied().eq(expected(0.0)), "{number}, {most} bytes");
                assert!(learner.adam.m.iter().copied().eq(expected(0.25)));
                assert!(learner.adam.v.iter().copied().eq(expected(0.5)));
                assert_eq!(learner.adam.t, 7);
            }
            assert_eq!(runs[2].learner.target, target);
        }
    }
}

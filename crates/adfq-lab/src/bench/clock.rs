//! Timing: samples long enough for the clock, and enough of them that one disturbance does not decide.

use super::Operation;
use adfq_deep::{Config, Host, Result, Trainer};
use std::time::{Duration, Instant};

/// How long is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Samples of each operation.
    pub samples: usize,
    /// The least length of a sample.
    pub sample: Duration,
    /// Whole trainings of each kind.
    pub trainings: usize,
}

impl Default for Pace {
    /// The whole table in less than a minute.
    fn default() -> Self {
        Self { samples: 15, sample: Duration::from_millis(40), trainings: 7 }
    }
}

impl Pace {
    /// The whole table in some seconds.
    pub fn quick() -> Self {
        Self { samples: 5, sample: Duration::from_millis(20), trainings: 3 }
    }
}

/// What the clock said.
pub(super) struct Times {
    /// Microseconds for one operation, a number for each sample.
    pub us: Vec<f64>,
    /// Operations in each sample.
    pub operations: u64,
    /// Gradient steps in each sample, where they were counted.
    pub gradient_steps: Option<u64>,
}

/// Doubles the number of operations until they last a sample, which also warms up, and then takes the samples. They must
/// do so twice: one disturbance would leave every sample short.
pub(super) fn repeated(pace: &Pace, mut operation: Operation) -> Result<Times> {
    let mut timed = |operations: u64| -> Result<Duration> {
        let start = Instant::now();
        operation(operations)?;
        Ok(start.elapsed())
    };
    timed(1)?;
    let mut operations = 1;
    while timed(operations)? < pace.sample || timed(operations)? < pace.sample {
        operations *= 2;
    }
    let us = (0..pace.samples).map(|_| Ok(per_operation(timed(operations)?, operations)));
    Ok(Times { us: us.collect::<Result<_>>()?, operations, gradient_steps: None })
}

/// The same training several times over, after one that does not count.
pub(super) fn trained(pace: &Pace, config: &Config) -> Result<Times> {
    train(config)?;
    let runs = (0..pace.trainings).map(|_| train(config)).collect::<Result<Vec<_>>>()?;
    let us = runs.iter().map(|&(length, _)| per_operation(length, config.steps)).collect();
    Ok(Times { us, operations: config.steps, gradient_steps: runs.first().map(|&(_, updates)| updates) })
}

/// How long a training took, and its gradient steps.
fn train(config: &Config) -> Result<(Duration, u64)> {
    let mut trainer = Trainer::new(config, &Host::here())?;
    let start = Instant::now();
    while trainer.run().step() < config.steps {
        trainer.advance()?;
    }
    Ok((start.elapsed(), trainer.run().updates()))
}

fn per_operation(length: Duration, operations: u64) -> f64 {
    length.as_secs_f64() * 1e6 / operations as f64
}

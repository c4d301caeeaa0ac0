//! Environments alone: random actions through the trait object, frames and resets included.

use super::Group::Environments;
use super::{Bench, Work};
use adfq::random::stream;
use adfq_deep::Result;
use rand::RngExt;
use std::hint::black_box;

/// Actions drawn beforehand, so that drawing them is not timed.
const ACTIONS: usize = 10_000;

/// All but the finite MDPs, which are made for tables.
pub(super) fn benches() -> Vec<Bench> {
    let names = adfq_env::names().into_iter().filter(|name| !name.starts_with("mdp/"));
    names
        .map(|name| Bench::new(Environments, format!("env {}", name.replace('/', " ")), move || steps(&name)))
        .collect()
}

/// One step; the reset after an episode's last one counts as time, and not as a step.
fn steps(name: &str) -> Result<Work> {
    let mut env = adfq_env::make(name)?;
    let mut frame = vec![0; env.space().frame_bytes()];
    let mut rng = stream(1, "bench actions");
    let actions: Vec<usize> = (0..ACTIONS).map(|_| rng.random_range(0..env.space().actions)).collect();
    env.reset(Some(0), &mut frame)?;
    let mut time = 0;
    Ok(Work::Operation(Box::new(move |operations| {
        for _ in 0..operations {
            let action = actions[time];
            time = if time + 1 == ACTIONS { 0 } else { time + 1 };
            if env.step(action, black_box(&mut frame))?.ended() {
                env.reset(None, black_box(&mut frame))?;
            }
        }
        Ok(())
    })))
}

//! How fast games of Atari are played without a learner: eight environments with random actions, on one thread. It prints a game and its
//! frames of the console a second, four of which make a step.
//! `cargo run --release -p adfq-env --example atari_speed -- SECONDS GAME…`; `ADFQ_ROMS` names the folder of ROMs. `benches/peers/atari.py`
//! runs it beside ALE.

use adfq::random::stream;
use adfq_env::{EnvSpec, Registry};
use rand::RngExt;
use std::time::{Duration, Instant};

const ENVIRONMENTS: usize = 8;
const FRAMES: usize = 4;
/// Steps of all of them between two looks at the clock.
const BLOCK: usize = 50;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let seconds: f64 = arguments.next().ok_or("how many seconds?")?.parse()?;
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    for game in arguments {
        println!("{game} {:.0}", rate(&game, Duration::from_secs_f64(seconds))?);
    }
    Ok(())
}

/// Frames a second.
fn rate(game: &str, least: Duration) -> Result<f64, Box<dyn std::error::Error>> {
    let mut envs = Registry::default().envs(&EnvSpec::new(&format!("atari:{game}")), ENVIRONMENTS)?;
    let (count, mut rng) = (envs.space().actions, stream(1, "actions"));
    envs.reset(1)?;
    let (start, mut steps) = (Instant::now(), 0);
    while start.elapsed() < least {
        for _ in 0..BLOCK {
            let actions: [usize; ENVIRONMENTS] = std::array::from_fn(|_| rng.random_range(0..count));
            envs.step(&actions)?;
        }
        steps += BLOCK;
    }
    Ok((steps * ENVIRONMENTS * FRAMES) as f64 / start.elapsed().as_secs_f64())
}

//! How fast games of Atari are played without a learner: eight environments with random actions, on one thread. It prints a game and its
//! frames of the console a second, four of which make a step. Seconds are those for which the process ran on a core, so that other processes
//! matter less. They come from Linux.
//! `cargo run --release -p adfq-env --example atari_speed -- SECONDS GAME…`; `ADFQ_ROMS` names the folder of ROMs. `benches/peers/atari.py`
//! runs it beside ALE.

use adfq::random::stream;
use adfq_env::{EnvSpec, Registry};
use rand::RngExt;

const ENVIRONMENTS: usize = 8;
const FRAMES: usize = 4;
/// Steps of all of them between two looks at the clock.
const BLOCK: usize = 50;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let seconds: f64 = arguments.next().ok_or("how many seconds?")?.parse()?;
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    for game in arguments {
        println!("{game} {:.0}", rate(&game, seconds)?);
    }
    Ok(())
}

/// Frames a second.
fn rate(game: &str, least: f64) -> Result<f64, Box<dyn std::error::Error>> {
    let mut envs = Registry::default().envs(&EnvSpec::new(&format!("atari:{game}")), ENVIRONMENTS)?;
    let (count, mut rng) = (envs.space().actions, stream(1, "actions"));
    envs.reset(1)?;
    let (start, mut steps, mut seconds) = (on_core()?, 0, 0.0);
    while seconds < least {
        for _ in 0..BLOCK {
            let actions: [usize; ENVIRONMENTS] = std::array::from_fn(|_| rng.random_range(0..count));
            envs.step(&actions)?;
        }
        steps += BLOCK;
        seconds = on_core()? - start;
    }
    Ok((steps * ENVIRONMENTS * FRAMES) as f64 / seconds)
}

/// Seconds that the threads of this process were on a core.
fn on_core() -> Result<f64, Box<dyn std::error::Error>> {
    let mut nanoseconds = 0.0;
    for thread in std::fs::read_dir("/proc/self/task")? {
        let text = std::fs::read_to_string(thread?.path().join("schedstat"))?;
        nanoseconds += text.split(' ').next().unwrap_or_default().parse::<f64>()?;
    }
    Ok(1e-9 * nanoseconds)
}

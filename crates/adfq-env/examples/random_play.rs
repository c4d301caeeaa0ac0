//! Plays with uniform random actions and prints the mean return and its standard error: what `references.csv` records.
//! `cargo run --release -p adfq-env --example random_play -- cartpole 10000 [more names]`; `gym:ID` needs Python.

use adfq::random::stream;
use adfq_env::{Env, make, reference};
use rand::RngExt;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next().unwrap_or("cartpole".into());
    let episodes: u32 = arguments.next().map_or(Ok(1_000), |episodes| episodes.parse())?;
    for name in [first].into_iter().chain(arguments) {
        let (mut sum, mut squares) = (0.0, 0.0);
        let mut env = make(&name)?;
        let mut frame = vec![0; env.space().frame_bytes()];
        let mut rng = stream(0, "random play");
        for episode in 0..episodes {
            env.reset((episode == 0).then_some(0), &mut frame)?;
            let mut score = 0.0;
            loop {
                let step = env.step(rng.random_range(0..env.space().actions), &mut frame)?;
                score += step.reward;
                if step.ended() {
                    break;
                }
            }
            sum += score;
            squares += score * score;
        }
        let count = f64::from(episodes);
        let mean = sum / count;
        let error = ((squares / count - mean * mean).max(0.0) / count).sqrt();
        let recorded = reference(&name, []).map_or("nothing".to_owned(), |it| it.random.to_string());
        println!("{name}: {mean:.5} ± {error:.5} over {episodes} episodes; recorded: {recorded}");
    }
    Ok(())
}

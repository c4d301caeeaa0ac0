//! Shows an environment after some random steps, in the terminal, or as a file in the format PPM:
//! `cargo run -p adfq-env --example look -- cartpole 20 [picture.ppm]`.

use adfq::random::stream;
use adfq_env::{Env, make, to_text};
use rand::RngExt;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut env = make(&arguments.next().unwrap_or("cartpole".into()))?;
    let steps = arguments.next().map_or(Ok(20), |steps| steps.parse())?;
    let mut frame = vec![0; env.space().frame_bytes()];
    env.reset(Some(0), &mut frame)?;
    let mut rng = stream(0, "actions");
    for _ in 0..steps {
        if env.step(rng.random_range(0..env.space().actions), &mut frame)?.ended() {
            env.reset(None, &mut frame)?;
        }
    }
    let picture = env.render()?;
    match arguments.next() {
        Some(path) => {
            let head = format!("P6 {} {} 255\n", picture.width, picture.height);
            std::fs::write(path, [head.as_bytes(), &picture.rgb].concat())?;
        }
        None => print!("{}", to_text(&picture, 80)),
    }
    Ok(())
}

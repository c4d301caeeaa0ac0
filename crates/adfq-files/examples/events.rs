//! Writes a small event file: `cargo run -p adfq-files --example events -- FOLDER`, then `tensorboard --logdir FOLDER`
//! (or `tests/golden/tensorboard.py read FOLDER`).

use adfq_files::tensorboard::EventWriter;
use std::path::PathBuf;

fn main() -> Result<(), adfq_files::Error> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "events".to_owned()));
    let start = 1.7e9;
    let mut events = EventWriter::open(folder.join("events.out.tfevents.example"), 0, start)?;
    events.text(start, 0, "config", "    agent = \"adfq\"\n    seed = 7\n")?;
    for step in 0..100 {
        let (time, x) = (start + step as f64, step as f64 / 100.0);
        events.scalars(time, step * 10, &[("train/return", 500.0 * x * x), ("train/loss", 1.0 - x)])?;
        let sigmas: Vec<f32> = (0..200).map(|i| (i as f32 / 200.0) * (1.0 - x as f32)).collect();
        events.histogram(time, step * 10, "sigma", &sigmas)?;
    }
    events.sync()?;
    println!("{} bytes in {}", events.len(), events.path().display());
    Ok(())
}

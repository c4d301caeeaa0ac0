//! What an agent sees of an Atari screen, from two frames of the console to 84 × 84 bytes.

use adfq_env::atari::palette::NTSC;
use adfq_env::atari::{SIDE, Screen};
use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;

const WIDTH: usize = 160;
const HEIGHT: usize = 210;

/// A playing field with stripes and two things that move, as most games look.
fn game(at: usize) -> Vec<u8> {
    let thing =
        |x: usize, y: usize| (x.wrapping_sub(at) < 8 && y % 90 < 16) || (x.wrapping_sub(100) < 4 && y < 150);
    let pixel = |i: usize| if thing(i % WIDTH, i / WIDTH) { 30 } else { 2 * (i / WIDTH / 20) as u8 };
    (0..WIDTH * HEIGHT).map(pixel).collect()
}

/// No two rows alike.
fn noise(seed: usize) -> Vec<u8> {
    (0..WIDTH * HEIGHT).map(|i| (i.wrapping_mul(2_654_435_761 + seed) >> 7) as u8 & 254).collect()
}

fn observations(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("atari");
    for (name, frames) in [("a game", [game(40), game(42)]), ("noise", [noise(1), noise(2)])] {
        let (mut screen, mut small) = (Screen::new(HEIGHT, &NTSC), [0; SIDE * SIDE]);
        group.bench_function(format!("observation of {name}"), |bencher| {
            bencher.iter(|| {
                screen.hold(black_box(&frames[0]));
                screen.see_both(black_box(&frames[1]));
                screen.write(&mut small);
                black_box(small[0])
            });
        });
    }
}

criterion_group!(benches, observations);
criterion_main!(benches);

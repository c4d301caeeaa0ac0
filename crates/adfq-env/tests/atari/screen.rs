//! What an agent sees of a screen, beside OpenCV: random screens, noisy and in stripes, of every height that a game has.

use crate::interpreter::python;
use adfq::random::stream;
use adfq_env::atari::palette::NTSC;
use adfq_env::atari::{SIDE, Screen};
use rand::{Rng, RngExt};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

const WIDTH: usize = 160;
const PICTURES: usize = 200;

/// A frame of few or many colours, in blocks of some size, so that rows repeat as those of games do.
fn frame(rng: &mut impl Rng, height: usize) -> Vec<u8> {
    let [colours, across, down] =
        [(2, 128), (1, 9), (1, 12)].map(|(least, most)| rng.random_range(least..=most));
    let blocks: Vec<u8> = (0..WIDTH * height).map(|_| 2 * rng.random_range(0..colours) as u8).collect();
    (0..WIDTH * height).map(|i| blocks[i / WIDTH / down * WIDTH + i % WIDTH / across]).collect()
}

/// The next frame: a new one, or one of which some rows are new, or none.
fn change(rng: &mut impl Rng, frame: &mut [u8]) {
    let (height, next) = (frame.len() / WIDTH, self::frame(rng, frame.len() / WIDTH));
    let rows = match rng.random_range(0..4) {
        0 => 0..height,
        1 => 0..0,
        _ => {
            let top = rng.random_range(0..height);
            top..(top + rng.random_range(1..20)).min(height)
        }
    };
    let pixels = rows.start * WIDTH..rows.end * WIDTH;
    frame[pixels.clone()].copy_from_slice(&next[pixels]);
}

fn shrunk(python: &Path, height: usize, pictures: &[u8]) -> Vec<u8> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/atari/resize.py");
    let mut command = Command::new(python);
    command.arg(script).arg(height.to_string()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(pictures).unwrap();
    child.wait_with_output().unwrap().stdout
}

#[test]
fn screens_shrink_as_opencv_shrinks_them() {
    let Some(python) = python() else { return };
    for height in [210, 214, 220, 230, 250] {
        let mut rng = stream(4, "screens");
        let (mut screen, mut large, mut small) = (Screen::new(height, &NTSC), vec![], vec![]);
        let mut frames = [0; 2].map(|_| frame(&mut rng, height));
        for _ in 0..PICTURES {
            for frame in &mut frames {
                change(&mut rng, frame);
            }
            match rng.random_range(0..8) {
                0 | 1 => screen.see(&frames[0]),
                2 => {
                    screen.hold(&frames[0]);
                    screen.see_held();
                }
                3 => screen.see_both(&frames[0]),
                _ => {
                    screen.hold(&frames[0]);
                    screen.see_both(&frames[1]);
                }
            }
            large.extend_from_slice(screen.seen());
            let start = small.len();
            small.resize(start + SIDE * SIDE, 0);
            screen.write(&mut small[start..]);
        }
        let expected = shrunk(&python, height, &large);
        assert_eq!(expected.len(), small.len());
        let different = small.iter().zip(&expected).filter(|(own, cv)| own != cv).count();
        assert_eq!(different, 0, "of {} pixels at a height of {height}", small.len());
    }
}

/// The greater of two frames, of the one held and what was seen, and the brightness itself.
#[test]
fn the_brighter_of_two_frames_is_seen() {
    let luminance = |colour: u8| NTSC.luminance[usize::from(colour)];
    let mut rng = stream(5, "screens");
    let [one, other, third] = [0; 3].map(|_| frame(&mut rng, 210));
    let brighter = |frames: &[&[u8]]| -> Vec<u8> {
        (0..one.len()).map(|i| frames.iter().map(|frame| luminance(frame[i])).max().unwrap()).collect()
    };
    let mut screen = Screen::new(210, &NTSC);
    screen.see(&one);
    assert_eq!(screen.seen(), brighter(&[&one]));
    screen.hold(&other);
    screen.see_held();
    assert_eq!(screen.seen(), brighter(&[&one, &other]));
    screen.see_both(&third);
    assert_eq!(screen.seen(), brighter(&[&other, &third]));
    let mut again = Screen::new(210, &NTSC);
    assert!(!again.restore(Some(&[0; 7]), &third) && !again.restore(None, &[0; 7]));
    assert!(again.restore(screen.held(), &third));
    assert_eq!((again.seen(), again.held()), (screen.seen(), screen.held()));
    screen.see(&one);
    assert!(screen.held().is_none() && again.restore(None, &one));
    assert_eq!(again.seen(), screen.seen());
}

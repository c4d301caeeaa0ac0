//! Rewards, lives and ends from the memory alone, beside what `ale-py` says after every frame of the same play (`ram.py`).

use crate::interpreter::python;
use adfq_env::atari::{Game, Ram};
use std::io::{BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

/// What comes for a frame.
const RECORD: usize = 128 + 4 + 2 + 1;
const FRAME: u8 = 0;
const FIRST: u8 = 2;

/// Plays so many frames; how many of them earned something, and how many ended a game.
fn compare(python: &Path, game: &Game, seed: u64, frames: usize) -> [usize; 2] {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/atari/ram.py");
    let arguments = [game.name.to_owned(), seed.to_string(), frames.to_string()];
    let mut player = Command::new(python).arg(script).args(arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut answers = BufReader::new(player.stdout.take().unwrap());
    let (mut record, mut before, mut lives, mut count) = ([0; RECORD], [0; 128], 0, [0; 2]);
    for time in 0..frames {
        answers.read_exact(&mut record).unwrap();
        let now: Ram = record[..128].try_into().unwrap();
        let reward = i32::from_le_bytes(record[128..132].try_into().unwrap());
        let told = i32::from(i16::from_le_bytes(record[132..134].try_into().unwrap()));
        let place = format!("{} from seed {seed}, frame {time}", game.name);
        if record[134] == FIRST {
            lives = game.first_lives(&now);
        } else {
            let over = game.over(&before, &now);
            assert_eq!(over, record[134] != FRAME, "the end of {place}");
            assert_eq!(game.reward(&before, &now), reward, "the reward of {place}");
            lives = if over { 0 } else { game.lives(lives, &before, &now) };
            count[0] += usize::from(reward != 0);
            count[1] += usize::from(over);
        }
        assert_eq!(lives, told, "the lives of {place}");
        before = now;
    }
    assert!(player.wait().unwrap().success());
    count
}

#[test]
fn rewards_lives_and_ends_are_those_of_ale() {
    let Some(python) = python() else { return };
    let counts: Vec<_> = Game::all()
        .iter()
        .map(|game| compare(&python, game, 1, if is_of_the_paper(game) { 6_000 } else { 600 }))
        .collect();
    let sum = |what: usize| counts.iter().map(|count| count[what]).sum::<usize>();
    // Something was earned and games ended, or this would say little.
    assert!(sum(0) > 100 && sum(1) > 10, "{counts:?}");
}

fn is_of_the_paper(game: &Game) -> bool {
    ["enduro", "boxing", "pong", "asterix", "kung_fu_master", "breakout"].contains(&game.name)
}

/// The same at length: `cargo test --release -p adfq-env --test atari -- --ignored --nocapture at_length`. `ADFQ_GAMES` may name some games,
/// with spaces between them, and `ADFQ_FRAMES` how many frames are played of each.
#[test]
#[ignore = "takes half a minute a game; docs/atari.md has the command and what it found"]
fn rewards_lives_and_ends_at_length() {
    let Some(python) = python() else { return };
    let frames = std::env::var("ADFQ_FRAMES").map_or(100_000, |frames| frames.parse().unwrap());
    let wanted = std::env::var("ADFQ_GAMES").unwrap_or_default();
    for game in
        Game::all().iter().filter(|game| wanted.is_empty() || wanted.split(' ').any(|it| it == game.name))
    {
        let played = std::panic::catch_unwind(|| compare(&python, game, 2, frames));
        match played {
            Ok([rewards, ends]) => println!("{},{frames},{rewards},{ends}", game.name),
            Err(_) => println!("{},DIFFERS", game.name),
        }
    }
}

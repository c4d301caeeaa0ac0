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

/// What came of the play of a game: frames that earned something, frames that ended it, and where ours says something else than ALE.
#[derive(Debug, Default)]
struct Played {
    earned: usize,
    ended: usize,
    differences: Vec<String>,
}

/// Plays so many frames. Where bytes of the memory are named, they are changed now and then.
fn compare(python: &Path, game: &Game, seed: u64, frames: usize, changed: &[usize]) -> Played {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/atari/ram.py");
    let numbers = [seed as usize, frames].into_iter().chain(changed.iter().copied());
    let mut command = Command::new(python);
    command.arg(script).arg(game.name).args(numbers.map(|number| number.to_string()));
    let mut player = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut answers = BufReader::new(player.stdout.take().unwrap());
    let (mut record, mut before, mut lives, mut played) = ([0; RECORD], [0; 128], 0, Played::default());
    for time in 0..frames {
        answers.read_exact(&mut record).unwrap();
        let now: Ram = record[..128].try_into().unwrap();
        let reward = i32::from_le_bytes(record[128..132].try_into().unwrap());
        let told = i32::from(i16::from_le_bytes(record[132..134].try_into().unwrap()));
        let (first, ended) = (record[134] == FIRST, record[134] != FRAME && record[134] != FIRST);
        let ours = match first {
            true => (0, game.first_lives(&now), false),
            false => (game.reward(&before, &now), game.lives(lives, &before, &now), game.over(&before, &now)),
        };
        if ours != (reward, told, ended) {
            let place = format!("{} from seed {seed}, frame {time}", game.name);
            let bytes: Vec<_> = changed.iter().map(|&byte| (byte, before[byte], now[byte])).collect();
            played.differences.push(format!("{place}: {ours:?} for {:?}, {bytes:x?}", (reward, told, ended)));
        }
        played.earned += usize::from(reward != 0);
        played.ended += usize::from(ended);
        (before, lives) = (now, told);
    }
    assert!(player.wait().unwrap().success());
    played
}

#[test]
fn rewards_lives_and_ends_are_those_of_ale() {
    let Some(python) = python() else { return };
    let frames = |game| if is_of_the_paper(game) { 6_000 } else { 400 };
    let (mut earned, mut ended) = (0, 0);
    for game in Game::all() {
        let played = compare(&python, game, 1, frames(game), &[]);
        assert!(played.differences.is_empty(), "{:?}", played.differences);
        (earned, ended) = (earned + played.earned, ended + played.ended);
    }
    // Something was earned and games ended, or this would say little.
    assert!(earned > 100 && ended > 10, "{earned}, {ended}");
}

/// Bytes with scores, lives and ends of games in which random play does not come to all of the rule: scores that start again, never fall,
/// rise by one at a time or are not counted at the end, and lives that follow a rule of their own.
const CHANGED: &[(&str, &[usize])] = &[
    ("atlantis", &[33, 34, 35, 113]),
    ("centipede", &[38, 109, 116, 117, 118]),
    ("double_dunk", &[118, 119]),
    ("freeway", &[22, 103]),
    ("galaxian", &[44, 45, 46, 57]),
    ("gravitar", &[1, 4, 7, 8, 9]),
    ("ice_hockey", &[6, 7, 10, 11]),
    ("journey_escape", &[16, 17, 18, 22]),
    ("kaboom", &[33, 35, 36, 37]),
    ("pooyan", &[8, 9, 10, 22, 24]),
    ("qbert", &[8, 89, 90, 91]),
    ("sir_lancelot", &[30, 31, 32, 39, 41]),
    ("skiing", &[17, 104, 105, 106]),
    ("solaris", &[89, 92, 93, 94]),
    ("tetris", &[113, 114, 115]),
    ("tutankham", &[26, 28, 30]),
];

#[test]
fn rewards_lives_and_ends_of_a_changed_memory_are_those_of_ale() {
    let Some(python) = python() else { return };
    for (game, changed) in CHANGED {
        let played = compare(&python, Game::named(game).unwrap(), 3, 1_500, changed);
        assert!(played.differences.is_empty(), "{:?}", played.differences);
        assert!(played.earned > 10, "{game}");
    }
}

/// The games whose results are in the paper. In CI they are played for longer than the others.
pub(super) fn is_of_the_paper(game: &Game) -> bool {
    ["enduro", "boxing", "pong", "asterix", "kung_fu_master", "breakout"].contains(&game.name)
}

/// The same at length: `cargo test --release -p adfq-env --test atari -- --ignored --nocapture at_length`. `ADFQ_GAMES` may name some games,
/// with spaces between them, `ADFQ_FRAMES` how many frames are played of each, `ADFQ_SEED` another seed, and `ADFQ_CHANGED` bytes of the
/// memory that are changed.
#[test]
#[ignore = "takes ten seconds a game; docs/atari.md has the command and what it found"]
fn rewards_lives_and_ends_at_length() {
    let Some(python) = python() else { return };
    let set = |name: &str| std::env::var(name).unwrap_or_default();
    let number = |name: &str, usual: usize| set(name).parse().unwrap_or(usual);
    let (frames, seed) = (number("ADFQ_FRAMES", 100_000), number("ADFQ_SEED", 2) as u64);
    let (wanted, changed) = (set("ADFQ_GAMES"), set("ADFQ_CHANGED"));
    let changed: Vec<usize> = changed.split_whitespace().map(|byte| byte.parse().unwrap()).collect();
    for game in
        Game::all().iter().filter(|game| wanted.is_empty() || wanted.split(' ').any(|it| it == game.name))
    {
        let Played { earned, ended, differences } = compare(&python, game, seed, frames, &changed);
        println!("{},{frames},{earned},{ended},{}", game.name, differences.len());
        differences.iter().take(5).for_each(|difference| println!("    {difference}"));
        // A changed memory may hold what a game never has there.
        assert!(!changed.is_empty() || differences.is_empty(), "{}", game.name);
    }
}

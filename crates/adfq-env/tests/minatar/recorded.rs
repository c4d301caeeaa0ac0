//! Every state, reward and end of `tests/recorded/minatar`, with the package's own chance fed to our games: each number
//! drawn is asked for in the same order and with the same bound.

use adfq_env::minatar::{
    Action, Asterix, Breakout, Chance, Freeway, Game, Over, Play, Seaquest, SpaceInvaders,
};
use flate2::read::GzDecoder;
use serde::Deserialize;
use std::io::{BufRead, BufReader, Read};

/// The event that is no action.
const RESET: u8 = 6;

#[derive(Deserialize)]
struct Header {
    package: String,
    game: String,
    channels: usize,
    minimal_actions: Vec<usize>,
    runs: Vec<Run>,
}

#[derive(Deserialize)]
struct Run {
    sticky: f64,
    ramping: bool,
    events: usize,
}

/// What the package drew in one event: bound (0 for a real number) and result.
struct Drawn<'a> {
    left: std::slice::Iter<'a, (u32, u32)>,
    place: String,
}

impl Drawn<'_> {
    fn next(&mut self, bound: u32) -> u32 {
        let place = &self.place;
        let &(recorded, result) = self.left.next().unwrap_or_else(|| panic!("{place}: one draw too many"));
        assert_eq!(bound, recorded, "{place}: the bound of a draw");
        result
    }
}

impl Chance for Drawn<'_> {
    fn below(&mut self, n: u32) -> u32 {
        self.next(n)
    }

    fn unit(&mut self) -> f64 {
        f64::from(self.next(0)) / 65536.0
    }
}

/// What a recording shows of a game, so that a test can say that it shows enough.
#[derive(Debug, Default)]
struct Seen {
    events: usize,
    ended: usize,
    timed_out: usize,
    /// Of one episode.
    most_steps: usize,
    /// Of one episode.
    most_reward: f64,
}

/// Plays a recording again and compares everything.
fn replay<G: Game>() -> Seen {
    let path = format!("{}/tests/recorded/minatar/{}.rec.gz", env!("CARGO_MANIFEST_DIR"), G::NAME);
    let mut file = BufReader::new(GzDecoder::new(std::fs::File::open(path).unwrap()));
    let mut line = String::new();
    file.read_line(&mut line).unwrap();
    let header: Header = serde_json::from_str(&line).unwrap();
    assert_eq!((header.package.as_str(), header.game.as_str()), ("MinAtar 1.0.15", G::NAME));
    assert_eq!(header.channels, G::CHANNELS);
    let minimal: Vec<_> = header.minimal_actions.iter().map(|&action| Action::ALL[action]).collect();
    assert_eq!(minimal, G::MINIMAL_ACTIONS);
    let mut seen = Seen::default();
    for (index, run) in header.runs.iter().enumerate() {
        replay_run::<G>(&format!("{}, run {index}", G::NAME), run, &mut file, &mut seen);
    }
    assert_eq!(file.read_to_end(&mut Vec::new()).unwrap(), 0, "something is left of the recording");
    seen
}

fn replay_run<G: Game>(name: &str, run: &Run, file: &mut impl Read, seen: &mut Seen) {
    let mut column = |bytes: usize| {
        let mut column = vec![0; bytes];
        file.read_exact(&mut column).unwrap();
        column
    };
    let [events, rewards, overs, counts] = std::array::from_fn(|_| column(run.events));
    let packed = (100 * G::CHANNELS).div_ceil(8);
    let states = column(run.events * packed);
    let drawn: Vec<(u32, u32)> = column(counts.iter().map(|&count| 5 * usize::from(count)).sum())
        .chunks_exact(5)
        .map(|draw| (draw[0].into(), u32::from_le_bytes(draw[1..].try_into().unwrap())))
        .collect();

    let mut play = Play::<G>::new(run.sticky, run.ramping);
    let (mut frame, mut flags, mut used) = (vec![7; 100 * G::CHANNELS], vec![0; packed], 0);
    let (mut steps, mut total, mut before) = (0, 0.0, Over::No);
    for (event, &code) in events.iter().enumerate() {
        let place = format!("{name}, event {event}");
        let end = used + usize::from(counts[event]);
        let mut chance = Drawn { left: drawn[used..end].iter(), place: place.clone() };
        used = end;
        let (reward, over) = if code == RESET {
            play.reset(&mut chance);
            (steps, total) = (0, 0.0);
            (0.0, Over::No)
        } else {
            steps += 1;
            play.act(Action::ALL[usize::from(code)], &mut chance)
        };
        assert_eq!(chance.left.len(), 0, "{place}: the package drew more");
        assert_eq!((reward, over != Over::No), (rewards[event].into(), overs[event] != 0), "{place}");
        flags.iter_mut().zip(&states[event * packed..]).for_each(|(flag, change)| *flag ^= change);
        play.draw(&mut frame);
        let expected: Vec<u8> = (0..frame.len()).map(|i| flags[i / 8] >> (7 - i % 8) & 1).collect();
        assert!(frame == expected, "{place}: {}", difference::<G>(&frame, &expected));

        seen.events += 1;
        seen.ended += usize::from(over == Over::Ended && before == Over::No);
        seen.timed_out += usize::from(over == Over::TimeUp && before == Over::No);
        total += reward;
        seen.most_steps = seen.most_steps.max(steps);
        seen.most_reward = seen.most_reward.max(total);
        before = over;
    }
}

/// Where two frames differ, for people.
fn difference<G: Game>(ours: &[u8], expected: &[u8]) -> String {
    let cell = |i: usize| (i / G::CHANNELS / 10, i / G::CHANNELS % 10, i % G::CHANNELS);
    let flags = |frame: &[u8], other: &[u8]| {
        let only = (0..frame.len()).filter(|&i| frame[i] > other[i]);
        only.map(|i| format!("{:?}", cell(i))).collect::<Vec<_>>().join(" ")
    };
    format!(
        "(row, column, channel) ours only: {}; the package's only: {}",
        flags(ours, expected),
        flags(expected, ours)
    )
}

#[test]
fn breakout() {
    let seen = replay::<Breakout>();
    // More than thirty bricks in one game: the wall was cleared and built again.
    assert!(seen.events >= 7000 && seen.ended > 50 && seen.most_reward > 30.0, "{seen:?}");
}

#[test]
fn asterix() {
    let seen = replay::<Asterix>();
    // After 918 steps it cannot get harder.
    assert!(seen.events >= 7000 && seen.ended > 20 && seen.most_steps > 1000, "{seen:?}");
}

#[test]
fn freeway() {
    let seen = replay::<Freeway>();
    assert!(seen.events >= 7000 && seen.most_reward > 20.0, "{seen:?}");
    assert!(seen.timed_out > 0 && seen.ended == 0, "{seen:?}");
}

#[test]
fn seaquest() {
    let seen = replay::<Seaquest>();
    // Only a full load of divers is worth more than 1 or 2 at once; rows fill up once it cannot get harder.
    assert!(seen.events >= 15_000 && seen.ended > 50 && seen.most_steps > 500, "{seen:?}");
    assert!(seen.most_reward > 20.0, "{seen:?}");
}

#[test]
fn space_invaders() {
    let seen = replay::<SpaceInvaders>();
    // After six cleared waves of 24 it cannot get harder; a seventh shows that.
    assert!(seen.events >= 13_000 && seen.ended > 50 && seen.most_reward > 7.0 * 24.0, "{seen:?}");
}

//! Every observation, reward, end, report and logged row of `tests/recorded/bsuite/plays.jsonl.gz`, with the package's own chance fed to
//! our environments: each number drawn is asked for in the same order and with the same bound.

use adfq_env::bsuite::{self, BsuiteEnv, Chance, Log};
use adfq_env::{Env, Info, Step};
use flate2::read::GzDecoder;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

#[derive(Deserialize)]
struct Play {
    id: String,
    shape: Vec<usize>,
    actions: usize,
    info: Vec<String>,
    events: Vec<Event>,
    columns: Vec<String>,
    rows: Vec<Vec<f64>>,
}

/// The action, or -1 for a reset; the reward; the end; what was drawn; what changed in the observation; what was reported.
#[derive(Deserialize)]
struct Event(i64, f64, u8, Vec<(i64, f64)>, Vec<(usize, f32)>, Vec<f64>);

/// What the package drew in one event: a bound (0 for a real number, -1 for a normal one) and the result.
struct Drawn<'a> {
    left: std::slice::Iter<'a, (i64, f64)>,
    place: &'a str,
}

impl Drawn<'_> {
    fn next(&mut self, kind: i64) -> f64 {
        let place = self.place;
        let &(recorded, result) = self.left.next().unwrap_or_else(|| panic!("{place}: one draw too many"));
        assert_eq!(kind, recorded, "{place}: the kind of a draw");
        result
    }
}

impl Chance for Drawn<'_> {
    fn below(&mut self, n: u32) -> u32 {
        self.next(n.into()) as u32
    }

    fn unit(&mut self) -> f64 {
        self.next(0)
    }

    fn normal(&mut self) -> f64 {
        self.next(-1)
    }
}

fn recorded(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/recorded/bsuite").join(name)
}

fn plays() -> impl Iterator<Item = Play> {
    let file = BufReader::new(GzDecoder::new(File::open(recorded("plays.jsonl.gz")).unwrap()));
    file.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap())
}

/// Plays a recording again and compares everything.
fn replay(play: &Play) {
    let setting = bsuite::setting(&play.id).unwrap();
    let mut env = bsuite::env(&setting, Some(&recorded("mnist"))).unwrap();
    let shape: Vec<usize> = env.space().frame.iter().copied().filter(|&side| side > 1).collect();
    let expected: Vec<usize> = play.shape.iter().copied().filter(|&side| side > 1).collect();
    assert_eq!((shape, env.space().actions), (expected, play.actions), "{}", play.id);

    let (mut expected, mut log, mut rows) = (vec![0.0; env.space().frame_len()], Log::default(), Vec::new());
    for (number, event) in play.events.iter().enumerate() {
        let place = format!("{}, event {number}", play.id);
        let Event(_, reward, end, _, changes, info) = event;
        let (step, numbers) = take(env.as_mut(), event, &place);
        assert_eq!((step.reward, step.terminated, step.truncated), (*reward, *end == 1, false), "{place}");
        changes.iter().for_each(|&(i, value)| expected[i] = value);
        assert_eq!(numbers, expected, "{place}");
        assert_eq!(named(&env.info()), named_by(&play.info, info), "{place}");
        if event.0 >= 0 {
            log.step(&step);
        }
        if event.0 >= 0 && log.is_due() {
            rows.push(named(&log.row(&env.info())));
        }
    }
    let expected: Vec<_> = play.rows.iter().map(|row| named_by(&play.columns, row)).collect();
    assert_eq!(rows, expected, "{}", play.id);
}

/// One event in our environment, with the draws of the package.
fn take(env: &mut dyn BsuiteEnv, event: &Event, place: &str) -> (Step, Vec<f32>) {
    // Whatever was in the buffer before.
    let mut frame = vec![9; env.space().frame_bytes()];
    let mut chance = Drawn { left: event.3.iter(), place };
    let step = match usize::try_from(event.0) {
        Ok(action) => env.step_by(action, &mut chance, &mut frame).unwrap(),
        Err(_) => env.reset_by(&mut chance, &mut frame).map(|()| Step::default()).unwrap(),
    };
    assert_eq!(chance.left.len(), 0, "{place}: the package drew more");
    (step, env.space().numbers(&frame))
}

fn named(info: &Info) -> Vec<(String, f64)> {
    info.iter().map(|&(name, value)| (name.to_owned(), value)).collect()
}

fn named_by(names: &[String], values: &[f64]) -> Vec<(String, f64)> {
    assert_eq!(names.len(), values.len());
    names.iter().cloned().zip(values.iter().copied()).collect()
}

#[test]
fn every_play_of_the_package_is_ours() {
    let mut ids: BTreeMap<&str, usize> = BTreeMap::new();
    for play in plays() {
        replay(&play);
        *ids.entry(bsuite::setting(&play.id).unwrap().experiment.name).or_default() += 1;
    }
    assert_eq!(ids.len(), 23);
    assert!(ids.values().all(|&count| count >= 3), "{ids:?}");
}

/// The recordings show what they are to show: ends of both kinds, treasures, upright poles, and both outcomes of a choice.
#[test]
fn recordings_show_enough() {
    let plays: Vec<Play> = plays().collect();
    let longest = |experiment: &str| {
        let of = plays.iter().filter(|play| play.id.starts_with(experiment));
        of.flat_map(|play| &play.rows).map(|row| row[3] as u64).max().unwrap()
    };
    // The clocks of the three physical tasks ran out.
    assert_eq!(longest("cartpole/"), 1001);
    assert_eq!(longest("cartpole_swingup/"), 1001);
    assert_eq!(longest("mountain_car/"), 1000);
    let most = |experiment: &str, name: &str| {
        let of = plays.iter().filter(|play| play.id.starts_with(experiment));
        let reported = |play: &Play| {
            let at = play.info.iter().position(|known| known == name).unwrap();
            play.events.last().unwrap().5[at]
        };
        of.map(reported).fold(f64::NEG_INFINITY, f64::max)
    };
    assert!(most("cartpole_swingup/", "total_upright") > 100.0);
    for sea in ["deep_sea/", "deep_sea_stochastic/"] {
        assert!(most(sea, "denoised_return") >= 3.0 && most(sea, "total_bad_episodes") >= 3.0);
    }
    for memory in ["memory_len/", "memory_size/"] {
        assert!(most(memory, "total_perfect") >= 3.0 && most(memory, "total_regret") >= 3.0);
    }
}

#[test]
fn episodes_are_logged_when_the_package_logs_them() {
    #[derive(Deserialize)]
    struct Fixed {
        logged: Vec<u64>,
    }
    let fixed: Fixed =
        serde_json::from_str(&std::fs::read_to_string(recorded("fixed.json")).unwrap()).unwrap();
    let mut log = Log::default();
    let last = Step { terminated: true, ..Step::default() };
    let mut due = Vec::new();
    for episode in 1..=10_000 {
        log.step(&Step::default());
        assert!(!log.is_due());
        log.step(&last);
        assert_eq!(log.episodes(), episode);
        due.extend(log.is_due().then_some(episode));
    }
    assert_eq!(due, fixed.logged);
}

//! Whole environments: ours beside ALE's vector environment in a worker, with the same actions; saved and restored; and what is refused.

use super::games::is_of_the_paper;
use crate::interpreter::python;
use adfq::random::stream;
use adfq_env::atari::{Atari, Emulator, Game, Settings, roms::rom};
use adfq_env::{Args, Env, EnvSpec, Envs, Gym, Purpose, Registry, Step, VecEnv};
use rand::RngExt;
use serde_json::json;
use std::path::Path;

fn spec(game: &str, args: serde_json::Value) -> EnvSpec {
    let args: Args = args.as_object().unwrap().clone();
    EnvSpec { args, ..EnvSpec::new(&format!("atari:{game}")) }
}

fn registry(python: &Path) -> Registry {
    Registry::with_gym(Gym { python: Some(python.to_owned()), ..Gym::default() })
}

/// Ours, of any game that has a line in the table, and ALE's, both without chance at the start.
fn pair(python: &Path, game: &'static Game, more: &serde_json::Value) -> [Box<dyn Envs>; 2] {
    let mut args = json!({"noop_max": 0});
    args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let settings = Settings::from_args(args.as_object().unwrap(), Emulator::ARGUMENT).unwrap();
    let gym = Gym { python: Some(python.to_owned()), ..Gym::default() };
    let ours = Atari::new(game, &rom(game, None, &gym).unwrap(), settings, Purpose::Training).unwrap();
    args["emulator"] = "ale".into();
    let ales = registry(python).envs(&spec(game.name, args), 1).unwrap();
    [Box::new(VecEnv::new(vec![Box::new(ours)]).unwrap()), ales]
}

/// Plays the same in both; how many lives were lost and how many games ended.
fn compare(
    python: &Path,
    game: &'static Game,
    more: &serde_json::Value,
    seed: u64,
    steps: usize,
) -> [usize; 2] {
    let [mut ours, mut ales] = pair(python, game, more);
    assert_eq!(ours.space(), ales.space(), "{}", game.name);
    for envs in [&mut ours, &mut ales] {
        envs.reset(3).unwrap();
    }
    let (name, mut rng) = (game.name, stream(seed, game.name));
    let (mut action, mut left, mut count) = (0, 0, [0; 2]);
    for time in 0..steps {
        assert!(ours.frames() == ales.frames(), "{name}: the frame before step {time}");
        if left == 0 {
            (action, left) = (rng.random_range(0..ours.space().actions), rng.random_range(1..20));
        }
        left -= 1;
        let step = ours.step(&[action]).unwrap()[0];
        assert_eq!(step, ales.step(&[action]).unwrap()[0], "{name}: step {time}");
        if step.ended() {
            assert!(ours.successors() == ales.successors(), "{name}: the end in step {time}");
        }
        count[0] += usize::from(step.life_lost);
        count[1] += usize::from(step.game_over());
    }
    count
}

#[test]
fn games_are_those_of_ale() {
    let Some(python) = python() else { return };
    let steps = |game| if is_of_the_paper(game) { 1_000 } else { 60 };
    let counts: Vec<_> =
        Game::all().iter().map(|game| compare(&python, game, &json!({}), 6, steps(game))).collect();
    let sum = |what: usize| counts.iter().map(|count| count[what]).sum::<usize>();
    assert!(sum(0) > 10 && sum(1) > 3, "{counts:?}");
}

#[test]
fn settings_are_those_of_ale() {
    let Some(python) = python() else { return };
    for more in [
        json!({"full_action_space": true}),
        json!({"frameskip": 1}),
        json!({"frameskip": 2}),
        json!({"frameskip": 3, "maxpool": false}),
        json!({"use_fire_reset": false}),
        json!({"max_num_frames_per_episode": 99}),
        json!({"max_num_frames_per_episode": 100}),
        json!({"max_num_frames_per_episode": 102}),
    ] {
        compare(&python, Game::named("breakout").unwrap(), &more, 6, 200);
    }
}

/// The same at length, for all games of the table or those that `ADFQ_GAMES` names:
/// `cargo test --release -p adfq-env --test atari -- --ignored --nocapture games_at_length`. `ADFQ_STEPS` says how many steps of four frames,
/// and `ADFQ_SEED` another seed of the actions.
#[test]
#[ignore = "takes minutes; docs/atari.md has the command and what it found"]
fn games_at_length() {
    let Some(python) = python() else { return };
    let steps = std::env::var("ADFQ_STEPS").map_or(25_000, |steps| steps.parse().unwrap());
    let seed = std::env::var("ADFQ_SEED").map_or(6, |seed| seed.parse().unwrap());
    let wanted = std::env::var("ADFQ_GAMES").unwrap_or_default();
    for game in
        Game::all().iter().filter(|game| wanted.is_empty() || wanted.split(' ').any(|it| it == game.name))
    {
        let played = std::panic::catch_unwind(|| compare(&python, game, &json!({}), seed, steps));
        match &played {
            Ok([lives, ends]) => println!("{},{},{lives},{ends}", game.name, 4 * steps),
            Err(_) => println!("{},differs", game.name),
        }
        assert!(played.is_ok(), "{}", game.name);
    }
}

/// Random actions with auto-reset, and what came of them.
fn run(env: &mut dyn Env, seed: u64, steps: usize) -> Vec<(Step, Vec<u8>)> {
    let (mut rng, mut seen) = (stream(seed, "actions"), vec![]);
    let mut frame = vec![0; env.space().frame_bytes()];
    for _ in 0..steps {
        let step = env.step(rng.random_range(0..env.space().actions), &mut frame).unwrap();
        seen.push((step, frame.clone()));
        if step.ended() {
            env.reset(None, &mut frame).unwrap();
            seen.push((Step::default(), frame.clone()));
        }
    }
    seen
}

#[test]
fn a_saved_game_goes_on_to_the_bit() {
    let Some(python) = python() else { return };
    let registry = registry(&python);
    for game in Game::all() {
        let sticky = json!({"repeat_action_probability": 0.25});
        let made = || registry.env(&spec(game.name, sticky.clone())).unwrap();
        let (mut env, mut frame) = (made(), vec![0; 84 * 84]);
        env.reset(Some(5), &mut frame).unwrap();
        for round in 0..if is_of_the_paper(game) { 3 } else { 1 } {
            run(&mut env, round, 150);
            let saved = env.save().unwrap().unwrap();
            let mut other = made();
            other.restore(&saved).unwrap();
            assert_eq!(other.save().unwrap().unwrap(), saved);
            assert_eq!(other.render().unwrap(), env.render().unwrap());
            assert!(run(&mut other, 7, 200) == run(&mut env, 7, 200), "{}", game.name);
            for length in [0, 1, 40, saved.len() - 1] {
                assert!(other.restore(&saved[..length]).is_err());
            }
        }
        let mut again = made();
        again.reset(Some(5), &mut frame).unwrap();
        let first = run(&mut again, 1, 50);
        env.reset(Some(5), &mut frame).unwrap();
        assert!(run(&mut env, 1, 50) == first, "{}: a seed decides everything", game.name);
    }
}

/// Environments of a run are stepped on all cores. Resets among them, which take longer, change nothing.
#[test]
fn any_number_of_threads_plays_the_same() {
    let Some(python) = python() else { return };
    let play = || {
        let sticky = json!({"repeat_action_probability": 0.25, "max_num_frames_per_episode": 150});
        let mut envs = registry(&python).envs(&spec("breakout", sticky), 5).unwrap();
        envs.reset(4).unwrap();
        let (mut rng, mut seen) = (stream(2, "actions"), vec![]);
        for _ in 0..120 {
            let actions: Vec<_> = (0..5).map(|_| rng.random_range(0..envs.space().actions)).collect();
            let steps = envs.step(&actions).unwrap().to_vec();
            seen.push((steps, envs.successors().to_vec(), envs.frames().to_vec()));
        }
        (seen, envs.save().unwrap())
    };
    let [one, four] = [1, 4].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(play)
    });
    assert!(one.0.iter().flat_map(|(steps, ..)| steps).any(Step::ended));
    assert!(one == four);
}

/// A lost life ends an episode of training alone, and the next goes on with the game.
#[test]
fn lives_end_episodes_of_training() {
    let Some(python) = python() else { return };
    for (purpose, expected) in [(Purpose::Training, true), (Purpose::Evaluation, false)] {
        let spec = EnvSpec { purpose, ..spec("breakout", json!({})) };
        let mut env = registry(&python).env(&spec).unwrap();
        env.reset(Some(1), &mut vec![0; 84 * 84]).unwrap();
        let lost = run(&mut env, 2, 400).iter().any(|(step, _)| step.life_lost);
        assert_eq!(lost, expected);
        assert_eq!(env.action_names(), ["NOOP", "FIRE", "RIGHT", "LEFT"]);
        assert_eq!(env.render().unwrap().rgb.len(), 3 * 160 * 210);
    }
}

#[test]
fn what_cannot_be_played_is_said() {
    let empty = tempfile::tempdir().unwrap();
    let mut registry = Registry::default();
    registry.roms = Some(empty.path().to_owned());
    let refusal =
        |game: &str, args: serde_json::Value| registry.env(&spec(game, args)).err().unwrap().to_string();
    let text = refusal("pong", json!({}));
    assert!(text.starts_with("there is no ROM of atari:pong in ") && text.contains("--roms DIR"), "{text}");
    let text = refusal("pacman", json!({"emulator": "native"}));
    assert!(
        text.starts_with("atari:pacman cannot be played without ALE: it is not one of the ")
            && text.ends_with("--emulator ale plays it with ale-py"),
        "{text}"
    );
    let text = refusal("pong", json!({"emulator": "native", "grayscale": false}));
    assert!(text.contains("unknown field `grayscale`") && text.contains("--emulator ale"), "{text}");
    let text = refusal("pong", json!({"emulator": "stella"}));
    assert_eq!(
        text,
        "the emulator of atari:pong cannot be \"stella\": it is \"native\", which is ours, or \"ale\""
    );
    let text = refusal("pong", json!({"emulator": "native", "frameskip": 0}));
    assert!(text.contains("frameskip is at least 1"), "{text}");
}

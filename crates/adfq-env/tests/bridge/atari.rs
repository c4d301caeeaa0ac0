//! Atari against Gymnasium: `atari.py` plays with `AtariPreprocessing`, the bridge with ALE's vector environment, both the
//! same actions from the same seeds, and every pixel, reward and end has to be the same.

use super::python::{maker, python};
use super::reference::{FRAME, OBSERVATION, Reference};
use adfq::random::stream;
use adfq_env::{EnvSpec, Purpose};
use rand::{Rng, RngExt};
use serde_json::json;
use std::path::Path;

const GAMES: [&str; 6] = ["enduro", "boxing", "pong", "asterix", "kung_fu_master", "breakout"];
const STEPS: usize = 1_000;
const SEED: u64 = 17;

/// Plays two environments of the vector side by side, each against its own reference.
fn compare(python: &Path, game: &str, sticky: f64, steps: usize) -> [usize; 2] {
    let args = json!({"emulator": "ale", "repeat_action_probability": sticky});
    let mut envs = maker(python.to_owned(), &format!("atari:{game}"), args).envs(2).unwrap();
    assert_eq!((envs.space().frame.as_slice(), envs.space().stack), (&[84, 84, 1][..], 4));
    let mut rng = stream(5, game);
    let actions: Vec<[usize; 2]> =
        (0..steps).map(|_| [0; 2].map(|_| rng.random_range(0..envs.space().actions))).collect();
    let references = [0, 1].map(|env| {
        let own: Vec<_> = actions.iter().map(|pair| pair[env]).collect();
        let seed = stream(SEED, &format!("env {env}")).next_u64();
        Reference::play(python, game, seed, sticky, &own)
    });
    envs.reset(SEED).unwrap();
    let mut count = [0; 2];
    for (time, actions) in std::iter::once(None).chain(actions.iter().map(Some)).enumerate() {
        if let Some(actions) = actions {
            envs.step(actions).unwrap();
        }
        for (env, reference) in references.iter().enumerate() {
            let ours = |all: &[u8]| all[env * FRAME..][..FRAME].to_vec();
            // The latest of the four frames; how they are stacked is told and tested in adfq-deep.
            let latest = |all: &[u8], time: usize| all[time * OBSERVATION + 3 * FRAME..][..FRAME].to_vec();
            let frame = latest(&reference.observations, time);
            assert!(ours(envs.frames()) == frame, "{game} {env}: frame {time}");
            let Some(before) = time.checked_sub(1) else { continue };
            let (step, flags) = (envs.steps()[env], reference.flags[before]);
            assert_eq!(step.reward, reference.rewards[before], "{game} {env}: step {time}");
            let ends = [step.terminated, step.truncated, step.life_lost];
            assert_eq!(ends, [1, 2, 4].map(|bit| flags & bit != 0), "{game} {env}: step {time}");
            if step.ended() {
                let last = latest(&reference.successors, before);
                assert!(ours(envs.successors()) == last, "{game} {env}: end {time}");
            }
            count[0] += usize::from(step.life_lost);
            count[1] += usize::from(step.game_over());
        }
    }
    count
}

#[test]
fn pixel_for_pixel() {
    let Some(python) = python() else { return };
    let ends = GAMES.map(|game| compare(&python, game, 0.0, STEPS));
    // Lives were lost and games ended, or this would say little.
    assert!(ends.iter().map(|ends| ends[0]).sum::<usize>() > 10, "{ends:?}");
    assert!(ends.iter().map(|ends| ends[1]).sum::<usize>() > 5, "{ends:?}");
}

/// With sticky actions the emulator draws numbers: the seed reaches it as well.
#[test]
fn sticky_actions_too() {
    let Some(python) = python() else { return };
    compare(&python, "breakout", 0.25, 300);
}

/// In evaluation a lost life is no end, and colours are there to look at.
#[test]
fn evaluation_sees_whole_games() {
    let Some(python) = python() else { return };
    let mut breakout = maker(python, "atari:Breakout", json!({"emulator": "ale"}));
    breakout.spec = EnvSpec { purpose: Purpose::Evaluation, pictures: true, ..breakout.spec };
    let mut env = breakout.env().unwrap();
    assert_eq!(env.action_names(), ["NOOP", "FIRE", "RIGHT", "LEFT"]);
    let mut frame = vec![0; env.space().frame_bytes()];
    let mut play = || {
        env.reset(Some(1), &mut frame).unwrap();
        let (mut rng, mut length, mut total) = (stream(2, "play"), 1, 0.0);
        loop {
            let step = env.step(rng.random_range(0..4), &mut frame).unwrap();
            total += step.reward;
            if step.ended() {
                assert!(step.terminated && !step.life_lost);
                break (length, total, env.render().unwrap());
            }
            length += 1;
        }
    };
    let (length, total, picture) = play();
    // Five lives take longer than one; the bricks of this game are worth points.
    assert!(length > 100 && total > 0.0, "{length} {total}");
    assert_eq!((picture.width, picture.height), (160, 210));
    assert!(picture.rgb.chunks_exact(3).any(|rgb| rgb[0] != rgb[1]), "grey");
    assert_eq!(play(), (length, total, picture));
}

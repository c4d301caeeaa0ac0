//! What the replay memory hands to learning, beside what Gymnasium's `FrameStackObservation` shows over the same game: the
//! four frames of an observation are put together when sampled, and have to be the same, at lost lives and game overs too.
//!
//! `scripts/python.sh` installs what this test needs; without it it says so and passes, except in CI.

#[path = "../../adfq-env/tests/bridge/interpreter.rs"]
mod interpreter;
#[path = "../../adfq-env/tests/bridge/reference.rs"]
mod reference;

use adfq::random::stream;
use adfq_deep::replay::{Replay, ReplaySettings, Sample, Transition};
use adfq_env::{EnvSpec, Envs, Gym, Registry};
use interpreter::python;
use rand::{Rng, RngExt};
use reference::{FRAME, OBSERVATION, Reference};

const STEPS: usize = 600;

/// Plays one episode after the other, as a trainer does, and gives the actions.
fn play(envs: &mut dyn Envs, replay: &mut Replay) -> Vec<usize> {
    let mut rng = stream(3, "actions");
    let actions: Vec<usize> = (0..STEPS).map(|_| rng.random_range(0..envs.space().actions)).collect();
    for &action in &actions {
        let frame = envs.frames().to_vec();
        let step = envs.step(&[action]).unwrap()[0];
        let last = step.ended().then(|| envs.successors());
        let (terminated, truncated) = (step.terminated, step.truncated);
        let (action, reward) = (action as u32, step.reward as f32);
        let transition =
            Transition { frame: &frame, action, explored: false, reward, terminated, truncated, last };
        replay.push(0, &transition).unwrap();
    }
    actions
}

#[test]
fn sampled_observations_are_those_of_frame_stack_observation() {
    let Some(python) = python() else { return };
    let gym = Gym { python: Some(python.clone()), ..Gym::default() };
    let args = [("emulator".to_owned(), "ale".into())].into_iter().collect();
    let spec = EnvSpec { args, ..EnvSpec::new("atari:breakout") };
    let mut envs = Registry::with_gym(gym).envs(&spec, 1).unwrap();
    envs.reset(8).unwrap();
    // Too small for all of it: the oldest are overwritten.
    let settings = ReplaySettings { capacity: 500, n_step: 1, watkins: false, priority: None };
    let mut replay = Replay::new(&settings, 1, 0.99, envs.space()).unwrap();
    let actions = play(&mut *envs, &mut replay);
    let seed = stream(8, "env 0").next_u64();
    let Reference { observations, successors, rewards, flags } =
        Reference::play(&python, "breakout", seed, 0.0, &actions);

    let mut sample = Sample { index: replay.indices().collect(), ..Sample::default() };
    replay.gather(&mut sample).unwrap();
    let (count, scale) = (sample.index.len(), 1.0 / 255.0);
    assert!(count > 450, "{count}");
    let same = |ours: &[f32], theirs: &[u8]| {
        (0..OBSERVATION).all(|i| ours[i] == f32::from(theirs[i % 4 * FRAME + i / 4]) * scale)
    };
    // What the last step led to is not in the memory yet.
    for (i, time) in (STEPS - 1 - count..STEPS - 1).enumerate() {
        assert_eq!(sample.action[i] as usize, actions[time], "{time}");
        assert_eq!(sample.reward[i], rewards[time] as f32, "{time}");
        assert_eq!(sample.terminal[i], flags[time] & 1 != 0, "{time}");
        let part = |all: &[u8]| all[time * OBSERVATION..][..OBSERVATION].to_vec();
        assert!(same(&sample.obs()[i * OBSERVATION..], &part(&observations)), "before step {time}");
        assert!(same(&sample.next()[i * OBSERVATION..], &part(&successors)), "after step {time}");
    }
    assert!(sample.terminal.iter().filter(|&&terminal| terminal).count() > 5);
}

//! Every environment by name goes on bit for bit from a saved state, refuses bytes that are none of its own, and meets
//! wrong use with an error that changes nothing.

use adfq::random::stream;
use adfq_env::{Env, Envs, Error, Step, VecEnv, make, names};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rand::{Rng, RngExt};

/// All names, and a few that the list has in another size.
fn all() -> Vec<String> {
    let more = ["deepsea-3-stochastic-shuffled-2", "deepsea-1"].map(String::from);
    names().into_iter().chain(more).collect()
}

/// An environment and a buffer for its frames.
fn made(name: &str) -> (Box<dyn Env>, Vec<u8>) {
    let env = make(name).unwrap();
    let frame = vec![0; env.space().frame_bytes()];
    (env, frame)
}

/// Takes random steps with auto-reset; what came of them.
fn run(env: &mut dyn Env, frame: &mut [u8], steps: usize, rng: &mut impl Rng) -> Vec<(Step, Vec<u8>)> {
    let mut seen = Vec::new();
    for _ in 0..steps {
        let step = env.step(rng.random_range(0..env.space().actions), frame).unwrap();
        seen.push((step, frame.to_vec()));
        if step.ended() {
            env.reset(None, frame).unwrap();
            seen.push((Step::default(), frame.to_vec()));
        }
    }
    seen
}

/// A state that was saved can be played on with other luck: the same seed gives the same, and the state itself stays.
#[test]
fn a_restored_state_goes_on_with_the_chance_of_a_new_seed() {
    for name in all() {
        let (mut env, mut frame) = made(&name);
        env.reset(Some(1), &mut frame).unwrap();
        let saved = env.save().unwrap().unwrap();
        let mut after = |seed| {
            env.restore(&saved).unwrap();
            let before = env.render().unwrap();
            env.reseed(seed).unwrap();
            assert_eq!(env.render().unwrap(), before, "{name}");
            run(&mut env, &mut frame, 300, &mut stream(1, "actions"))
        };
        let first = after(7);
        assert_eq!(after(7), first, "{name}");
        if name.starts_with("minatar") || name.ends_with("stochastic") {
            assert_ne!(after(8), first, "{name}");
        }
    }
}

/// A model is known exactly where there is one, through a time limit too.
#[test]
fn finite_mdps_tell_their_model_and_state() {
    let (mut env, mut frame) = made("mdp/loop");
    env.reset(Some(0), &mut frame).unwrap();
    env.step(1, &mut frame).unwrap();
    let (mdp, state) = env.exact().unwrap();
    assert_eq!((mdp.name(), mdp.states(), state), ("loop", 9, 5));
    assert!(made("cartpole").0.exact().is_none() && made("deepsea-3").0.exact().is_some());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, rng_seed: RngSeed::Fixed(4), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn restored_environments_go_on_bit_for_bit(seed: u64, before in 0_usize..600) {
        for name in all() {
            let (mut env, mut frame) = made(&name);
            env.reset(Some(seed), &mut frame).unwrap();
            let mut rng = stream(seed, "actions");
            run(&mut env, &mut frame, before, &mut rng);

            let saved = env.save().unwrap().unwrap();
            let (mut other, mut other_frame) = made(&name);
            other.restore(&saved).unwrap();
            prop_assert_eq!(&other.save().unwrap().unwrap(), &saved);
            prop_assert_eq!(other.render().unwrap(), env.render().unwrap());
            let after = run(&mut env, &mut frame, 300, &mut rng.clone());
            prop_assert_eq!(run(&mut other, &mut other_frame, 300, &mut rng), after, "{}", name);
            prop_assert_eq!(other.save().unwrap(), env.save().unwrap());
        }
    }

    #[test]
    fn restored_vectors_go_on_bit_for_bit(seed: u64, before in 0_usize..100) {
        let random = |rng: &mut dyn Rng| -> [usize; 3] { std::array::from_fn(|_| rng.random_range(0..2)) };
        let mut envs = VecEnv::named("cartpole", 3).unwrap();
        envs.reset(seed).unwrap();
        let mut rng = stream(seed, "actions");
        for _ in 0..before {
            envs.step(&random(&mut rng)).unwrap();
        }
        let mut others = VecEnv::named("cartpole", 3).unwrap();
        others.restore(&envs.save().unwrap().unwrap()).unwrap();
        for _ in 0..100 {
            prop_assert_eq!(others.frames(), envs.frames());
            let actions = random(&mut rng);
            prop_assert_eq!(others.step(&actions).unwrap(), envs.step(&actions).unwrap());
            let last = |envs: &VecEnv| -> Vec<Vec<u8>> {
                let lasts = envs.steps().iter().zip(envs.successors().chunks(16)).filter(|(step, _)| step.ended());
                lasts.map(|(_, last)| last.to_vec()).collect()
            };
            prop_assert_eq!(last(&others), last(&envs));
        }
    }
}

#[test]
fn a_seed_decides_everything() {
    for name in all() {
        let drive = |seed| {
            let (mut env, mut frame) = made(&name);
            env.reset(Some(seed), &mut frame).unwrap();
            (frame.clone(), run(&mut env, &mut frame, 300, &mut stream(3, "actions")))
        };
        assert_eq!(drive(1), drive(1), "{name}");
    }
    let first = |seed| {
        let (mut env, mut frame) = made("cartpole");
        env.reset(Some(seed), &mut frame).unwrap();
        frame
    };
    assert_ne!(first(1), first(2));
}

#[test]
fn foreign_and_torn_states_are_refused() {
    let states: Vec<(String, Vec<u8>)> = all()
        .into_iter()
        .map(|name| {
            let (mut env, mut frame) = made(&name);
            env.reset(Some(5), &mut frame).unwrap();
            let saved = env.save().unwrap().unwrap();
            (name, saved)
        })
        .collect();
    for (name, own) in &states {
        let (mut env, mut frame) = made(name);
        env.reset(Some(6), &mut frame).unwrap();
        let before = env.save().unwrap();
        let refused = |env: &mut Box<dyn Env>, bytes: &[u8], what: &str| {
            assert!(matches!(env.restore(bytes), Err(Error::State { .. })), "{name}: {what}");
            assert_eq!(env.save().unwrap(), before, "{name}: {what}");
        };
        for (other, bytes) in states.iter().filter(|(other, _)| other != name) {
            refused(&mut env, bytes, other);
        }
        for length in 0..own.len() {
            refused(&mut env, &own[..length], &format!("{length} bytes"));
        }
        refused(&mut env, &[&own[..], &[0]].concat(), "a byte too many");
        env.restore(own).unwrap();
    }
}

#[test]
fn wrong_use_is_an_error_that_changes_nothing() {
    for name in all() {
        let (mut env, mut frame) = made(&name);
        let actions = env.space().actions;
        let error = env.step(0, &mut frame).unwrap_err();
        assert!(matches!(error, Error::NoEpisode), "{name}: {error}");
        env.reset(Some(1), &mut frame).unwrap();
        let before = env.save().unwrap();

        let error = env.step(actions, &mut frame).unwrap_err().to_string();
        assert_eq!(
            error,
            format!("there is no action {actions}: the environment has {actions}, counted from 0")
        );
        let expected = frame.len();
        for length in [0, expected - 1, expected + 1] {
            let mut short = vec![0; length];
            let refused = |result: Error| match result {
                Error::Frame { bytes, expected: e } => assert_eq!((bytes, e), (length, expected)),
                other => panic!("{name}: {other}"),
            };
            refused(env.step(0, &mut short).unwrap_err());
            refused(env.reset(Some(2), &mut short).unwrap_err());
        }
        assert_eq!(env.save().unwrap(), before, "{name}");
    }
}

#[test]
fn no_step_after_the_end() {
    let (mut env, mut frame) = made("deepsea-1");
    env.reset(None, &mut frame).unwrap();
    assert!(env.step(0, &mut frame).unwrap().terminated);
    assert!(matches!(env.step(0, &mut frame), Err(Error::NoEpisode)));
    env.reset(None, &mut frame).unwrap();
    assert!(env.step(0, &mut frame).is_ok());
}

#[test]
fn pictures_have_their_pixels_and_actions_their_names() {
    for name in all() {
        let (mut env, mut frame) = made(&name);
        // Before the first episode, too.
        for _ in 0..2 {
            let picture = env.render().unwrap();
            assert!(picture.width * picture.height > 0, "{name}");
            assert_eq!(picture.rgb.len(), 3 * picture.width * picture.height);
            env.reset(Some(0), &mut frame).unwrap();
        }
        assert_eq!(env.action_names().len(), env.space().actions);
    }
}

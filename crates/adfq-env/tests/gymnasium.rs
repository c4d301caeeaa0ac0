//! Classic control against steps and episodes recorded from Gymnasium; `recorded/record.py` states how and from which
//! version. Rewards and ends are equal; states differ by the last bits of sine and cosine at most.

use adfq_env::{Acrobot, CartPole, Env, MountainCar, Result, Step, TimeLimit};
use flate2::read::GzDecoder;
use serde::Deserialize;
use std::f64::consts::PI;

#[derive(Deserialize)]
struct Recorded {
    version: String,
    steps: Vec<Single>,
    episodes: Vec<Whole>,
}

/// State, action, next state, observation, reward, terminated.
#[derive(Deserialize)]
struct Single(Vec<f64>, usize, Vec<f64>, Vec<f32>, f64, bool);

#[derive(Deserialize)]
struct Whole {
    policy: String,
    states: Vec<Vec<f64>>,
    observations: Vec<Vec<f32>>,
    actions: Vec<usize>,
    rewards: Vec<f64>,
    terminated: bool,
    truncated: bool,
}

fn read(name: &str) -> Recorded {
    let path = format!("{}/tests/recorded/{name}.json.gz", env!("CARGO_MANIFEST_DIR"));
    let recorded: Recorded =
        serde_json::from_reader(GzDecoder::new(std::fs::File::open(path).unwrap())).unwrap();
    assert_eq!(recorded.version, "1.4.0");
    recorded
}

/// An environment whose physical state can be read and set.
trait Physical: Env {
    fn get(&self) -> Vec<f64>;
    fn set(&mut self, state: &[f64]) -> Result<()>;
}

macro_rules! physical {
    ($($env:ty),*) => {$(
        impl Physical for $env {
            fn get(&self) -> Vec<f64> {
                self.state().to_vec()
            }
            fn set(&mut self, state: &[f64]) -> Result<()> {
                self.set_state(state.try_into().unwrap())
            }
        }
    )*};
}
physical!(CartPole, Acrobot, MountainCar);

/// Equal to `tolerance`, absolute below 1 and relative above.
fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * b.abs().max(1.0)
}

/// Observations to one unit in the last place of an f32 near 1.
fn assert_observed(env: &dyn Env, frame: &[u8], expected: &[f32], what: &str) {
    let observed = env.space().numbers(frame);
    assert_eq!(observed.len(), expected.len());
    let close = |(&a, &b): (&f32, &f32)| close(a.into(), b.into(), f32::EPSILON.into());
    assert!(observed.iter().zip(expected).all(close), "{what}: {observed:?}, expected {expected:?}");
}

/// Every recorded step from its own state. The first `angles` numbers of the state are compared modulo 2π, as an angle
/// that rounds beyond π comes out at -π.
fn check_single(mut env: impl Physical, name: &str, angles: usize, tolerance: f64) {
    let recorded = read(name);
    let mut frame = vec![0; env.space().frame_bytes()];
    let mut ends = 0;
    for (i, Single(state, action, next, observation, reward, terminated)) in recorded.steps.iter().enumerate()
    {
        env.set(state).unwrap();
        let step = env.step(*action, &mut frame).unwrap();
        assert_eq!(step, Step { reward: *reward, terminated: *terminated, ..Step::default() }, "step {i}");
        for (j, (a, b)) in env.get().into_iter().zip(next).enumerate() {
            let turns = if j < angles { ((a - b) / (2.0 * PI)).round() } else { 0.0 };
            assert!(close(a - turns * 2.0 * PI, *b, tolerance), "step {i}, number {j}: {a} and not {b}");
        }
        assert_observed(&env, &frame, observation, &format!("step {i}"));
        ends += usize::from(*terminated);
    }
    assert!(recorded.steps.len() > 400 && ends > 20, "{} steps, {ends} ends", recorded.steps.len());
}

/// Every recorded episode from its first state, on our own states; the recorded state is taken up again after each
/// `free` steps.
fn check_episodes<E: Physical>(make: impl Fn() -> E, name: &str, limit: u64, free: usize) {
    let recorded = read(name);
    for Whole { policy, states, observations, actions, rewards, terminated, truncated } in &recorded.episodes
    {
        let mut env = TimeLimit::new(make(), limit);
        let mut frame = vec![0; env.space().frame_bytes()];
        env.reset(Some(0), &mut frame).unwrap();
        for (i, &action) in actions.iter().enumerate() {
            if i % free == 0 {
                env.env_mut().set(&states[i]).unwrap();
            }
            let step = env.step(action, &mut frame).unwrap();
            let last = i + 1 == actions.len();
            let expected = Step {
                reward: rewards[i],
                terminated: last && *terminated,
                truncated: last && *truncated,
                life_lost: false,
            };
            assert_eq!(step, expected, "{policy}, step {i}");
            assert_observed(&env, &frame, &observations[i + 1], &format!("{policy}, step {i}"));
        }
    }
    let episodes = &recorded.episodes;
    assert!(episodes.iter().any(|e| e.truncated && e.actions.len() as u64 == limit));
    assert!(episodes.iter().any(|e| e.terminated));
}

#[test]
fn cart_pole_steps() {
    check_single(CartPole::new(), "CartPole-v1", 0, 1e-15);
}

#[test]
fn acrobot_steps() {
    check_single(Acrobot::new(), "Acrobot-v1", 2, 1e-12);
}

#[test]
fn mountain_car_steps() {
    check_single(MountainCar::new(), "MountainCar-v0", 0, 1e-15);
}

/// A pole that is pushed blindly falls as exp(3.97 t): in 100 steps of .02 s an error of 1e-16 grows to 3e-13, which
/// no f32 shows; in 500 to 20.
#[test]
fn cart_pole_episodes() {
    check_episodes(CartPole::new, "CartPole-v1", 500, 100);
}

/// Chaotic: step by step.
#[test]
fn acrobot_episodes() {
    check_episodes(Acrobot::new, "Acrobot-v1", 500, 1);
}

/// Errors grow by a few powers of ten at most along a whole episode: an f64 keeps what an f32 shows.
#[test]
fn mountain_car_episodes() {
    check_episodes(MountainCar::new, "MountainCar-v0", 200, 200);
}

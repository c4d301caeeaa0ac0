//! Random play, measured anew, agrees with what `references.csv` records. `examples/random_play.rs` measures more.

use adfq::random::stream;
use adfq_env::{Env, make, reference};
use rand::RngExt;

/// The mean return of uniform random actions and its standard error.
fn random_play(name: &str, episodes: u32) -> (f64, f64) {
    let mut env = make(name).unwrap();
    let mut frame = vec![0; env.space().frame_bytes()];
    let mut rng = stream(1, "references");
    let mut play = |episode: u32| {
        env.reset((episode == 0).then_some(1), &mut frame).unwrap();
        let mut score = 0.0;
        loop {
            let step = env.step(rng.random_range(0..env.space().actions), &mut frame).unwrap();
            score += step.reward;
            if step.ended() {
                return score;
            }
        }
    };
    let scores: Vec<f64> = (0..episodes).map(&mut play).collect();
    let count = f64::from(episodes);
    let mean = scores.iter().sum::<f64>() / count;
    let variance = scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, (variance / count).sqrt())
}

/// Within four standard errors, and what the recorded digits round off.
fn agrees(name: &str, episodes: u32, digit: f64) {
    let recorded = reference(name, []).unwrap().random;
    let (mean, error) = random_play(name, episodes);
    assert!(
        (mean - recorded).abs() <= 4.0 * error + digit,
        "{name}: {mean} ± {error}, but {recorded} is recorded"
    );
}

#[test]
fn classic_control_is_as_recorded() {
    agrees("cartpole", 20_000, 0.05);
    agrees("acrobot", 5_000, 0.05);
    agrees("mountaincar", 500, 0.0);
}

#[test]
fn minatar_is_as_recorded() {
    for (game, episodes) in [
        ("asterix", 20_000),
        ("breakout", 20_000),
        ("freeway", 1_000),
        ("seaquest", 20_000),
        ("space-invaders", 10_000),
    ] {
        agrees(&format!("minatar/{game}"), episodes, 0.005);
    }
}

/// The scores of finite MDPs are computed, not recorded: playing agrees with the model.
#[test]
fn finite_mdps_are_as_computed() {
    for (name, episodes) in [
        ("deepsea-4", 20_000),
        ("deepsea-4-stochastic", 20_000),
        ("mdp/loop", 500),
        ("mdp/chain", 500),
        ("mdp/maze", 200),
        ("mdp/minimaze", 500),
    ] {
        agrees(name, episodes, 1e-9);
    }
}

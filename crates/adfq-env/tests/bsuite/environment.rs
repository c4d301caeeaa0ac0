//! The environments of bsuite in a vector and in time limits: what they report gets through, and a forged state does not.

use adfq_env::bsuite::{Bsuite, Catch, Problem, Rewards, Task, env, settings};
use adfq_env::{Env, Envs, Error, TimeLimit, VecEnv, make};

#[test]
fn reports_get_through_vectors_and_time_limits() {
    let mut envs = VecEnv::named("bsuite:bandit/0", 3).unwrap();
    envs.reset(1).unwrap();
    // The first arms of this bandit pay 0.4, 0.9 and 0.2.
    envs.step(&[0, 1, 2]).unwrap();
    envs.step(&[0, 1, 2]).unwrap();
    let regrets = [0, 1, 2].map(|i| envs.info(i)[0].1);
    assert!(
        regrets.iter().zip([1.2, 0.2, 1.6]).all(|(own, by_hand)| (own - by_hand).abs() < 1e-12),
        "{regrets:?}"
    );

    let mut env = TimeLimit::new(make("bsuite:bandit/0").unwrap(), 5);
    let mut frame = [0; 4];
    env.reset(None, &mut frame).unwrap();
    env.step(1, &mut frame).unwrap();
    assert_eq!(env.info()[0].0, "total_regret");
    assert!(make("cartpole").unwrap().info().is_empty());
}

/// Episodes are counted over the whole life; seeds decide what comes.
#[test]
fn a_seed_leaves_reports_alone() {
    let mut env = make("bsuite:umbrella_length/0").unwrap();
    let mut frame = vec![0; env.space().frame_bytes()];
    let mut last = 0.0;
    for seed in 0..20 {
        env.reset(Some(seed), &mut frame).unwrap();
        while !env.step(0, &mut frame).unwrap().ended() {}
        let regret = env.info()[0].1;
        assert!(regret >= last);
        last = regret;
    }
    assert!(last > 0.0 && last < 40.0, "{last}");
}

/// A state of the right form that no episode can reach would panic later, out of a grid say.
#[test]
fn impossible_states_are_refused() {
    let state = |ball: [usize; 2]| -> <Catch as Problem>::State {
        serde_json::from_value(serde_json::json!({ "ball": ball, "paddle": 2, "regret": 0.0 })).unwrap()
    };
    assert!(Catch.holds(&state([8, 4]), true) && Catch.holds(&state([9, 4]), false));
    for ball in [[9, 4], [10, 0], [0, 5]] {
        assert!(!Catch.holds(&state(ball), true), "{ball:?}");
    }

    let mut env = Bsuite::new("catch", Catch, Rewards::Plain);
    let mut frame = vec![0; env.space().frame_bytes()];
    env.reset(Some(1), &mut frame).unwrap();
    let saved = env.save().unwrap().unwrap();
    // The tag is its length and five letters; the row of the ball comes next.
    assert_eq!((saved[0], saved[6]), (5, 0));
    let forged: Vec<u8> = saved.iter().enumerate().map(|(i, &byte)| if i == 6 { 99 } else { byte }).collect();
    let error = env.restore(&forged).unwrap_err();
    assert!(matches!(error, Error::State { .. }), "{error}");
    assert_eq!(env.save().unwrap().unwrap(), saved);
}

/// Episodes are as long as a setting says where nothing ends them before, and never longer.
#[test]
fn no_episode_is_longer_than_its_setting_says() {
    for setting in settings().filter(|setting| setting.task != Task::Mnist) {
        let mut env = env(&setting, None).unwrap();
        let mut frame = vec![0; env.space().frame_bytes()];
        env.reset(Some(1), &mut frame).unwrap();
        let mut steps = 1;
        while !env.step(1, &mut frame).unwrap().ended() {
            steps += 1;
        }
        // A pole that nobody moves falls. One that hangs stays, as does the car in the valley.
        match setting.task {
            Task::Cartpole => assert!(steps < setting.longest_episode()),
            _ => assert_eq!(steps, setting.longest_episode(), "{}", setting.id()),
        }
    }
}

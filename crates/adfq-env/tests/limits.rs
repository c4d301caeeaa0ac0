//! Time limits cut off and do not end; DeepSea is its exact model; a vector of environments is what its members are
//! by themselves.

use adfq::mdp::DeepSea;
use adfq::random::stream;
use adfq_env::{CartPole, Env, Envs, Error, MdpEnv, MountainCar, Step, TimeLimit, VecEnv, make};
use rand::{Rng, RngExt};

#[test]
fn registered_limits() {
    for (name, action, limit) in [("acrobot", 1, 500), ("mountaincar", 1, 200), ("mdp/loop", 0, 1000)] {
        let mut env = make(name).unwrap();
        let mut frame = vec![0; env.space().frame_bytes()];
        env.reset(Some(0), &mut frame).unwrap();
        // The count starts anew with each episode.
        for _ in 0..2 {
            let truncated: Vec<bool> = (0..limit)
                .map(|_| env.step(action, &mut frame).unwrap())
                .map(|s| s.truncated && !s.terminated)
                .collect();
            assert_eq!(truncated.iter().position(|&truncated| truncated), Some(limit - 1), "{name}");
            env.reset(None, &mut frame).unwrap();
        }
    }
}

#[test]
fn a_last_step_can_be_both() {
    let (mut env, mut frame) = (TimeLimit::new(CartPole::new(), 1), [0; 16]);
    env.reset(Some(0), &mut frame).unwrap();
    env.env_mut().set_state([2.4, 1.0, 0.0, 0.0]).unwrap();
    let both = Step { reward: 1.0, terminated: true, truncated: true, life_lost: false };
    assert_eq!(env.step(0, &mut frame).unwrap(), both);
}

#[test]
fn another_limit_refuses_the_state() {
    let saved = TimeLimit::new(MountainCar::new(), 5).save().unwrap().unwrap();
    let error = TimeLimit::new(MountainCar::new(), 6).restore(&saved).unwrap_err().to_string();
    assert!(error.contains("its limit is 5 steps and not 6"), "{error}");
}

/// First states are uniform as in Gymnasium: within their bounds, and with the mean and variance of it.
#[test]
fn first_states() {
    let check = |name: &str, number: usize, low: f64, high: f64| {
        let mut env = make(name).unwrap();
        let mut frame = vec![0; env.space().frame_bytes()];
        env.reset(Some(4), &mut frame).unwrap();
        let n = 4000;
        let mut draw = || {
            env.reset(None, &mut frame).unwrap();
            f64::from(env.space().numbers(&frame)[number])
        };
        let drawn: Vec<f64> = (0..n).map(|_| draw()).collect();
        assert!(drawn.iter().all(|x| (low - 1e-8..high + 1e-8).contains(x)), "{name}");
        let (mean, width) = (drawn.iter().sum::<f64>() / f64::from(n), high - low);
        let var = drawn.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / f64::from(n);
        // Four standard errors; that of the variance of a uniform is width² √(1/180 / n).
        let root = f64::from(n).sqrt();
        assert!((mean - (low + high) / 2.0).abs() < 4.0 * width / 12_f64.sqrt() / root, "{name}: {mean}");
        assert!(
            (var - width * width / 12.0).abs() < 4.0 * width * width / 180_f64.sqrt() / root,
            "{name}: {var}"
        );
    };
    (0..4).for_each(|number| check("cartpole", number, -0.05, 0.05));
    [4, 5].into_iter().for_each(|number| check("acrobot", number, -0.1, 0.1));
    check("mountaincar", 0, -0.6, -0.4);
}

/// Rewards, moves and ends are among the outcomes of the model, and the frame shows the cell.
#[test]
fn deep_sea_is_its_model() {
    let plain = DeepSea { size: 6, ..DeepSea::default() };
    for sea in [
        plain.clone(),
        DeepSea { stochastic: true, ..plain.clone() },
        DeepSea { stochastic: true, shuffle: Some(3), ..plain },
    ] {
        let (model, mut env, mut frame) = (sea.mdp().unwrap(), MdpEnv::deep_sea(&sea).unwrap(), [0; 36]);
        let mut rng = stream(9, "actions");
        let (mut seen, mut ended) = (vec![false; model.states()], true);
        for _ in 0..4000 {
            if ended {
                env.reset(None, &mut frame).unwrap();
            }
            let (state, action) = (env.state(), rng.random_range(0..2));
            seen[state] = true;
            let (row, column) = model.layout().unwrap().cell(state).unwrap();
            assert_eq!((frame.iter().sum::<u8>(), frame[6 * row + column]), (1, 1));

            let step = env.step(action, &mut frame).unwrap();
            let fits = |o: &adfq::mdp::Outcome| {
                (o.next_state, o.reward, o.terminal) == (env.state(), step.reward, step.terminated)
            };
            assert!(model.outcomes(state, action).iter().any(fits), "{state}, {action}: {step:?}");
            ended = step.ended();
            assert_eq!(ended, frame == [0; 36]);
        }
        assert_eq!(seen.iter().filter(|&&seen| seen).count(), 21, "all cells but the end");
    }
}

#[test]
fn a_vector_is_its_members() {
    let mut envs = VecEnv::named("cartpole", 3).unwrap();
    envs.reset(11).unwrap();
    let mut alone: Vec<_> = (0..3)
        .map(|i| {
            let (mut env, mut frame) = (make("cartpole").unwrap(), vec![0; 16]);
            env.reset(Some(stream(11, &format!("env {i}")).next_u64()), &mut frame).unwrap();
            (env, frame)
        })
        .collect();
    let (mut rng, mut ends) = (stream(1, "actions"), 0);
    for _ in 0..200 {
        let actions: [usize; 3] = std::array::from_fn(|_| rng.random_range(0..2));
        let steps = envs.step(&actions).unwrap().to_vec();
        for (i, (env, frame)) in alone.iter_mut().enumerate() {
            let bytes = 16 * i..16 * (i + 1);
            assert_eq!(env.step(actions[i], frame).unwrap(), steps[i]);
            if steps[i].ended() {
                assert_eq!(envs.successors()[bytes.clone()], frame[..]);
                env.reset(None, frame).unwrap();
                assert_ne!(envs.successors()[bytes.clone()], frame[..]);
                ends += 1;
            }
            assert_eq!(envs.frames()[bytes], frame[..]);
        }
    }
    assert!(ends > 10);
}

#[test]
fn vectors_refuse_what_does_not_fit() {
    let error = |result: Result<VecEnv, Error>| result.err().unwrap().to_string();
    assert_eq!(
        error(VecEnv::named("cartpole", 0)),
        "there is no environment in the vector: give at least one"
    );
    let mixed = VecEnv::new(vec![make("cartpole").unwrap(), make("acrobot").unwrap()]);
    assert!(error(mixed).starts_with("environment 1 of the vector has other frames or actions"));

    let mut envs = VecEnv::named("cartpole", 2).unwrap();
    assert!(matches!(envs.step(&[0, 0]), Err(Error::NoEpisode)));
    envs.reset(0).unwrap();
    let before = envs.save().unwrap().unwrap();
    assert!(matches!(envs.step(&[0]), Err(Error::Actions { actions: 1, environments: 2 })));
    assert!(matches!(envs.step(&[0, 2]), Err(Error::Action { action: 2, actions: 2 })));
    assert_eq!(envs.save().unwrap().unwrap(), before);

    let error = VecEnv::named("cartpole", 3).unwrap().restore(&before).unwrap_err().to_string();
    assert!(error.contains("2 environments with frames of 32 bytes in all, not 3 of these"), "{error}");
    assert!(matches!(envs.restore(&before[..9]), Err(Error::State { .. })));
}

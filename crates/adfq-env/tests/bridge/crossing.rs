//! What crosses the bridge: spaces, actions, rewards, ends, seeds and pictures.

use super::python::{maker, own, python};
use adfq_env::{Element, Env as _, Envs, Picture, Space, Step};
use serde_json::json;
use std::num::NonZeroUsize;

/// What `Counter` shows, in its own numbers.
fn shown(envs: &dyn Envs) -> Vec<Vec<f32>> {
    envs.frames().chunks_exact(envs.space().frame_bytes()).map(|frame| envs.space().numbers(frame)).collect()
}

#[test]
fn every_kind_of_observation() {
    let Some(python) = python() else { return };
    let image = |frame: &[usize]| (frame.to_vec(), Element::U8 { scale: 1.0 / 255.0 });
    let pixels = |count: f32, order: &dyn Fn(usize) -> usize| -> Vec<f32> {
        (0..1800).map(|i| ((order(i) * 7) as f32 + count) % 256.0 / 255.0).collect()
    };
    let rows = [
        ("float", (vec![4], Element::F32), vec![5.0, 0.0, 1.0, 3.0]),
        ("double", (vec![4], Element::F32), vec![5.0, 0.0, 1.0, 3.0]),
        ("scalar", (vec![1], Element::F32), vec![1.0]),
        ("table", (vec![4], Element::F32), vec![5.0, 0.0, 1.0, 3.0]),
        ("bytes", image(&[4]), [5.0, 0.0, 1.0, 3.0].map(|x: f32| x * (1.0 / 255.0)).to_vec()),
        ("flags", (vec![4], Element::U8 { scale: 1.0 }), vec![5.0, 0.0, 1.0, 3.0]),
        ("grey", image(&[20, 30, 1]), pixels(1.0, &|i| i)[..600].to_vec()),
        ("colour", image(&[20, 30, 3]), pixels(1.0, &|i| i)),
        ("channels_first", image(&[20, 30, 3]), pixels(1.0, &|i| i % 3 * 600 + i / 3)),
        (
            "discrete",
            (vec![9], Element::U8 { scale: 1.0 }),
            vec![0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        ),
    ];
    for (kind, (frame, element), expected) in rows {
        let mut env = own(python.clone(), "Counter", json!({"kind": kind})).env().unwrap();
        assert_eq!(*env.space(), Space { frame, element, stack: 1, actions: 5 }, "{kind}");
        let mut frame = vec![0; env.space().frame_bytes()];
        env.reset(Some(5), &mut frame).unwrap();
        let step = env.step(3, &mut frame).unwrap();
        assert_eq!(step, Step { reward: 1.3, ..Step::default() }, "{kind}");
        let close = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-6;
        let numbers = env.space().numbers(&frame);
        assert!(
            numbers.len() == expected.len() && numbers.iter().zip(&expected).all(close),
            "{kind} {numbers:?}"
        );
    }
}

/// The last frame of the old episode and the first of the next both arrive, at ends and where an episode is cut off.
#[test]
fn ends_and_cuts() {
    let Some(python) = python() else { return };
    for (args, last) in [
        (json!({"length": 3}), Step { reward: 3.1, terminated: true, ..Step::default() }),
        (json!({"limit": 3}), Step { reward: 3.1, truncated: true, ..Step::default() }),
        (
            json!({"length": 3, "limit": 3}),
            Step { reward: 3.1, terminated: true, truncated: true, life_lost: false },
        ),
    ] {
        let mut envs = own(python.clone(), "Counter", args).envs(2).unwrap();
        envs.reset(0).unwrap();
        let seeds = [shown(&*envs)[0][0], shown(&*envs)[1][0]];
        for count in 1..3 {
            assert_eq!(envs.step(&[1, 4]).unwrap()[1].reward, f64::from(count) + 0.4);
            assert_eq!(
                shown(&*envs),
                [[seeds[0], 0.0, count as f32, 1.0], [seeds[1], 0.0, count as f32, 4.0]]
            );
        }
        assert_eq!(envs.step(&[1, 1]).unwrap(), [last, last]);
        assert_eq!(envs.space().numbers(envs.successors())[..4], [seeds[0], 0.0, 3.0, 1.0]);
        // The generator of an environment goes on: a new episode, the same seed.
        assert_eq!(shown(&*envs), [[seeds[0], 1.0, 0.0, 0.0], [seeds[1], 1.0, 0.0, 0.0]]);
        assert!(!envs.step(&[0, 0]).unwrap()[0].ended());
    }
}

/// However many workers there are, and whether they sleep or not, environment i has the same seed and shows the same.
#[test]
fn the_number_of_workers_changes_nothing() {
    let Some(python) = python() else { return };
    let episode = |workers: usize, count: usize, spin: bool| {
        let mut maker = own(python.clone(), "Counter", json!({}));
        maker.gym.workers = NonZeroUsize::new(workers).unwrap();
        maker.gym.spin = spin;
        let mut envs = maker.envs(count).unwrap();
        envs.reset(9).unwrap();
        let mut seen = shown(&*envs);
        for step in 0..20 {
            let actions: Vec<_> = (0..count).map(|env| (env + step) % 5).collect();
            let steps = envs.step(&actions).unwrap().to_vec();
            let rewards = steps.iter().map(|step| vec![step.reward as f32]);
            seen.extend(rewards.collect::<Vec<_>>());
            seen.extend(shown(&*envs));
        }
        seen
    };
    let one = episode(1, 5, true);
    assert!([2, 3, 7].iter().all(|&workers| episode(workers, 5, true) == one));
    assert!([1, 3].iter().all(|&workers| episode(workers, 5, false) == one));
    assert_ne!(one[0], one[1]);
}

/// Gymnasium's own environments, driven here and there: our CartPole has the same dynamics, so from the same state the
/// two must go on alike.
#[test]
fn cart_pole_is_cart_pole() {
    let Some(python) = python() else { return };
    let mut there = maker(python, "gym:CartPole-v1", json!({})).env().unwrap();
    let mut frame = vec![0; there.space().frame_bytes()];
    there.reset(Some(3), &mut frame).unwrap();
    let mut here = adfq_env::CartPole::new();
    let mut ours = frame.clone();
    here.reset(Some(0), &mut ours).unwrap();
    let state: Vec<f64> = there.space().numbers(&frame).iter().map(|&x| f64::from(x)).collect();
    here.set_state(state.try_into().unwrap()).unwrap();
    for i in 0.. {
        let (a, b) = (there.step(i % 2, &mut frame).unwrap(), here.step(i % 2, &mut ours).unwrap());
        let close = |(a, b): (f32, f32)| (a - b).abs() < 1e-4 * (1.0 + b.abs());
        let space = there.space();
        assert!(space.numbers(&frame).into_iter().zip(space.numbers(&ours)).all(close), "step {i}");
        assert_eq!(a, b, "step {i}");
        if a.ended() {
            assert!(i > 10);
            break;
        }
    }
}

#[test]
fn pictures_and_farewell() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let farewell = folder.path().join("farewell");
    let args = json!({"farewell": farewell});
    let mut painter = own(python, "Painter", args);
    painter.spec.pictures = true;
    let mut env = painter.env().unwrap();
    let mut frame = vec![0; env.space().frame_bytes()];
    env.reset(None, &mut frame).unwrap();
    assert_eq!(env.render().unwrap(), Picture { width: 3, height: 2, rgb: (0..18).collect() });
    assert_eq!(env.action_names(), ["0", "1"]);
    drop(env);
    assert_eq!(std::fs::read_to_string(farewell).unwrap(), "closed");
}

#[test]
fn actions_are_checked_before_they_cross() {
    let Some(python) = python() else { return };
    let mut envs = own(python, "Counter", json!({})).envs(2).unwrap();
    envs.reset(0).unwrap();
    let before = envs.frames().to_vec();
    assert!(envs.step(&[0, 5]).unwrap_err().to_string().contains("there is no action 5"));
    assert!(envs.step(&[0]).unwrap_err().to_string().contains("1 actions for 2 environments"));
    assert_eq!(envs.frames(), before);
    assert!(envs.step(&[0, 4]).is_ok());
    assert_eq!(envs.save().unwrap(), None);
}

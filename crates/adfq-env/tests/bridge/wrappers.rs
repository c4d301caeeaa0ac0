//! Wrappers around environments of Gymnasium: by name and by import path, with arguments, and all that can be wrong with them.

use super::python::{Maker, maker, python};
use adfq_env::{EnvSpec, Error, Modules, Registry};
use serde_json::json;
use std::path::Path;

/// `Acting` shows its last action, as 4 numbers.
fn wrapped(python: &Path, wrappers: &[&str]) -> Maker {
    let mut maker = maker(python.to_owned(), "gym:tests.bridge.spaces:Acting-v0", json!({"kind": "several"}));
    maker.spec.wrappers = wrappers.iter().map(|&wrapper| wrapper.to_owned()).collect();
    maker
}

/// What is seen after each step until an episode ends, or after five.
fn seen(maker: &Maker) -> Vec<Vec<f32>> {
    let mut env = maker.env().unwrap();
    let mut frame = vec![0; env.space().frame_bytes()];
    env.reset(Some(0), &mut frame).unwrap();
    let mut seen = vec![];
    while seen.len() < 5 {
        let step = env.step(4, &mut frame).unwrap();
        seen.push(env.space().numbers(&frame));
        if step.ended() {
            break;
        }
    }
    seen
}

#[test]
fn wrappers_are_put_around_in_order() {
    let Some(python) = python() else { return };
    let own = "tests.bridge.spaces";
    let wrap = |wrappers: &[String]| {
        let wrappers: Vec<_> = wrappers.iter().map(String::as_str).collect();
        seen(&wrapped(&python, &wrappers))
    };
    assert_eq!(wrap(&[]), vec![vec![1.0, 1.0, 0.0, 0.0]; 5]);
    assert_eq!(wrap(&["TimeLimit(max_episode_steps=2)".into()]).len(), 2);
    assert_eq!(wrap(&[" TimeLimit ( 2 )".into()]).len(), 2);
    assert_eq!(wrap(&["gymnasium.wrappers.TimeLimit(4)".into()]).len(), 4);
    assert_eq!(wrap(&[format!("{own}:cut")]).len(), 3);
    assert_eq!(wrap(&[format!("{own}.cut(steps=1)")]).len(), 1);
    let (add, double) = (format!("{own}:Doubled(1, add=10)"), format!("{own}.Doubled"));
    assert_eq!(wrap(&[add.clone(), double.clone()])[0], [22.0, 22.0, 20.0, 20.0]);
    assert_eq!(wrap(&[double, add])[0], [12.0, 12.0, 10.0, 10.0]);
    assert_eq!(wrap(&["FrameStackObservation(2)".into(), "FlattenObservation".into()])[0].len(), 8);
}

#[test]
fn a_wrapper_makes_actions_discrete() {
    let Some(python) = python() else { return };
    let mut pendulum = maker(python, "gym:Pendulum-v1", json!({}));
    pendulum.spec.wrappers = vec!["DiscretizeAction(bins=5)".to_owned()];
    assert_eq!(pendulum.env().unwrap().space().actions, 5);
}

#[test]
fn wrong_wrappers_are_explained() {
    let Some(python) = python() else { return };
    for (wrapper, said) in [
        ("TimeLimits(3)", "gymnasium.wrappers has no TimeLimits; did you mean TimeLimit?"),
        ("flattenobservation", "did you mean FlattenObservation?"),
        ("Xyzzy", "gymnasium.wrappers has no Xyzzy; there are AtariPreprocessing, "),
        ("TimeLimit", "missing a required argument: 'max_episode_steps'; it takes (env"),
        ("TimeLimit(steps=3)", "'max_episode_steps'; it takes (env"),
        ("TimeLimit(-3)", "it raised ValueError: "),
        ("TimeLimit(3", "its arguments cannot be read"),
        ("TimeLimit(3)(4)", "its arguments cannot be read"),
        ("TimeLimit(3), 4", "its arguments cannot be read"),
        ("TimeLimit(*[3])", "its arguments cannot be read"),
        ("TimeLimit(**{'max_episode_steps': 3})", "its arguments cannot be read"),
        ("TimeLimit(__import__('os').getpid())", "its arguments cannot be read"),
        ("TimeLimit(max_episode_steps=n)", "its arguments cannot be read"),
        ("", "write it as NAME or MODULE:NAME"),
        ("Time-Limit", "write it as NAME or MODULE:NAME"),
        ("tests.bridge.spaces:", "write it as NAME or MODULE:NAME"),
        (":TimeLimit", "'' is not the name of a Python module"),
        ("../mine:TimeLimit", "'../mine' is not the name of a Python module"),
        ("no_such_module:Wrapper", "No module named 'no_such_module'"),
        ("tests.bridge.spaces:Double", "tests.bridge.spaces has no Double; did you mean Doubled?"),
        ("tests.bridge.spaces:number", "it is no class and no function: 3"),
        ("tests.bridge.spaces:nothing", "it gave no environment but None"),
        ("tests.bridge.spaces:Broken", "it raised RuntimeError: no luck with wrapping\n"),
    ] {
        let error = wrapped(&python, &[wrapper]).env().err().unwrap().to_string();
        let begins = format!("gym:tests.bridge.spaces:Acting-v0 cannot be wrapped with {wrapper:?}: ");
        assert!(error.starts_with(&begins) && error.contains(said), "{error}");
        assert!(error.lines().count() == 1 || said.ends_with('\n'), "{error}");
    }
}

/// A name from a folder may be a stranger's: nothing but wrappers of installed packages is called.
#[test]
fn a_stranger_can_name_installed_wrappers_alone() {
    let Some(python) = python() else { return };
    let error = |wrapper: &str| {
        let mut cart_pole = maker(python.clone(), "gym:CartPole-v1", json!({}));
        cart_pole.gym.modules = Modules::Installed;
        cart_pole.spec.wrappers = vec![wrapper.to_owned()];
        cart_pole.env().err()
    };
    for fine in ["FlattenObservation", "TimeLimit(9)", "gymnasium.wrappers:TimeLimit(9)"] {
        assert!(error(fine).is_none(), "{fine}");
    }
    for module in
        ["os:system", "os.system", "shutil:rmtree", "subprocess:call", "tests.bridge.spaces:Doubled", "no:X"]
    {
        let error = error(module).unwrap();
        assert!(matches!(&error, Error::Untrusted { name, .. } if name == module), "{error}");
    }
    for call in [
        "gymnasium:make",
        "numpy:save",
        "gymnasium.wrappers:TimeLimit.render",
        "gymnasium.core:Wrapper.close",
    ] {
        let error = error(call).unwrap();
        assert!(matches!(error, Error::Stranger { .. }), "{error}");
        assert!(error.to_string().contains("is not a subclass of gymnasium.Wrapper"), "{error}");
    }
    let folder = tempfile::tempdir().unwrap();
    let films = folder.path().join("films");
    let error = error(&format!("RecordVideo({:?})", films.display().to_string())).unwrap();
    assert!(matches!(error, Error::Stranger { .. }) && !films.exists(), "{error}");
}

#[test]
fn wrappers_are_for_gymnasium() {
    for name in ["cartpole", "atari:pong", "minatar/breakout"] {
        let spec = EnvSpec { wrappers: vec!["FlattenObservation".to_owned()], ..EnvSpec::new(name) };
        let registry = Registry::default();
        for error in [registry.env(&spec).err().unwrap(), registry.envs(&spec, 2).err().unwrap()] {
            let said =
                "cannot be wrapped with \"FlattenObservation\": wrappers are for gym: environments alone";
            assert_eq!(error.to_string(), format!("{name} {said}"));
        }
    }
}

//! Observations and actions of several parts: flattened as Gymnasium does, combined, checked, and refused where they cannot
//! be numbers.

use super::python::{Maker, maker, python};
use adfq_env::{Element, Env, Space};
use serde_json::json;
use std::path::Path;

fn own(python: &Path, class: &str, args: serde_json::Value) -> Maker {
    maker(python.to_owned(), &format!("gym:tests.bridge.spaces:{class}-v0"), args)
}

fn reset(env: &mut dyn Env) -> Vec<u8> {
    let mut frame = vec![0; env.space().frame_bytes()];
    env.reset(Some(0), &mut frame).unwrap();
    frame
}

/// Random spaces, nested at random: every number is the one that Gymnasium's own `flatten` gives. Bytes alone are scaled.
#[test]
fn observations_are_flattened_as_gymnasium_does() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let flat = folder.path().join("flat");
    for number in 0..24 {
        let mut env = own(&python, "Nested", json!({"number": number, "flat": flat})).env().unwrap();
        let mut frame = reset(&mut *env);
        for _ in 0..5 {
            let expected: Vec<f32> =
                std::fs::read(&flat).unwrap().as_chunks().0.iter().map(number_of).collect();
            assert_eq!(*env.space(), Space { actions: 1, ..Space::flat(expected.len(), 1) }, "{number}");
            assert_eq!(env.space().numbers(&frame), expected, "{number}");
            env.step(0, &mut frame).unwrap();
        }
    }
}

fn number_of(bytes: &[u8; 4]) -> f32 {
    f32::from_ne_bytes(*bytes)
}

/// Each wrong part is named.
#[test]
fn every_part_is_checked() {
    let Some(python) = python() else { return };
    let run = |how: &str| {
        let mut envs = own(&python, "Parts", json!({"how": how})).envs(2)?;
        envs.reset(0)?;
        (0..4).try_for_each(|_| envs.step(&[0, 1]).map(drop))
    };
    for (how, said) in [
        ("missing", r#"observation["body"] without the key 'speed', the space promises ['speed', 'place']"#),
        ("extra", r#"observation["body"] with the key 'mass', the space promises ['speed', 'place']"#),
        ("no_dict", r#"observation["body"] that is no dictionary: [1, 2]"#),
        ("short", r#"observation["goal"] with 2 parts, the space promises 3"#),
        ("no_tuple", r#"observation["goal"] that is no tuple: 'abc'"#),
        ("beyond", r#"observation["goal"][0] = 5, the space promises 2 to 4"#),
        ("half", r#"observation["goal"][0] that is no integer: 2.5"#),
        ("entry", r#"observation["goal"][1][1][0] = 3, the space promises -1 to 2"#),
        ("entries", r#"observation["goal"][1] of shape (4,), the space promises (2, 2)"#),
        ("bit", r#"observation["goal"][2] with the number 2, the space promises 0 or 1"#),
        ("shape", r#"observation["body"]["speed"] of shape (3,), the space promises (2,)"#),
        ("nan", r#"observation["body"]["speed"] that is not finite"#),
        ("text", r#"observation["body"]["speed"] that is no array of numbers: 'fast'"#),
        ("fraction", r#"observation["body"]["place"] with the number 0.5, the space promises int16"#),
        ("byte", r#"observation["image"] with the number"#),
    ] {
        let error = run(how).unwrap_err().to_string();
        let begins = format!("gym:tests.bridge.spaces:Parts-v0 gave {said}");
        assert!(error.starts_with(&begins) && error.lines().count() == 1, "{how}: {error}");
    }
    // A list for a tuple or an array is beyond doubt.
    for how in ["list", "mapping"] {
        assert!(run(how).is_ok(), "{how}");
    }
}

/// The last part changes first, and an action is what the environment counts from, not from 0.
#[test]
fn actions_are_all_combinations() {
    let Some(python) = python() else { return };
    for (kind, names) in [
        ("several", vec!["0,0", "0,1", "0,2", "1,0", "1,1", "1,2"]),
        (
            "table",
            "5,0,-1,0 5,0,-1,1 5,0,-1,2 5,0,0,0 5,0,0,1 5,0,0,2 6,0,-1,0 6,0,-1,1 6,0,-1,2 6,0,0,0 6,0,0,1 6,0,0,2"
                .split(' ')
                .collect(),
        ),
        ("bits", vec!["0,0,0", "0,0,1", "0,1,0", "0,1,1", "1,0,0", "1,0,1", "1,1,0", "1,1,1"]),
        ("tuple", vec!["4,0", "4,1", "5,0", "5,1"]),
        ("dict", vec!["0,7", "0,8", "1,7", "1,8"]),
    ] {
        let mut env = own(&python, "Acting", json!({"kind": kind})).env().unwrap();
        assert_eq!((env.space().actions, env.action_names()), (names.len(), to_owned(&names)), "{kind}");
        let mut frame = reset(&mut *env);
        // Twice: the environment has spoiled what it was given the first time.
        for (action, name) in names.iter().enumerate().chain(names.iter().enumerate()) {
            env.step(action, &mut frame).unwrap();
            let mut expected: Vec<f32> = name.split(',').map(|number| number.parse().unwrap()).collect();
            expected.resize(4, 0.0);
            assert_eq!(env.space().numbers(&frame), expected, "{kind} {name}");
        }
    }
    let most = own(&python, "Acting", json!({"kind": "most"})).env().unwrap();
    assert_eq!(most.space().actions, 1024);
    assert_eq!(most.action_names()[33], "1,1");
}

fn to_owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn spaces_that_do_not_fit_are_refused_in_one_line() {
    let Some(python) = python() else { return };
    let known = "supported are Box, Discrete, MultiDiscrete, MultiBinary, and Dict and Tuple of them; wrap the environment";
    for (class, kind, parts) in [
        ("Unfit", "text", ["are Dict('a': ", r#": observation["a"][1] is Text("#]),
        ("Unfit", "sequence", ["are Sequence(Discrete(2), stack=False): ", known]),
        ("Unfit", "graph", ["observation[0] is Graph(", known]),
        ("Unfit", "one_of", [r#"observation["x y"] is OneOf("#, known]),
        ("Unfit", "nothing", ["are Tuple(): ", "there is no number in them"]),
        ("Acting", "too_many", ["these are 1,056 combinations", "at most 1,024 are supported"]),
        ("Acting", "far_too_many", ["these are more than 10^15 combinations", "at most 1,024 are supported"]),
        ("Acting", "box", ["are Box(-1.0, 1.0, (2,), float32): ", "continuous actions are not supported"]),
        ("Acting", "part_of_box", ["are Tuple(Discrete(2), Box(", "continuous actions are not supported"]),
        ("Acting", "text", ["are Text(", "supported are Discrete, MultiDiscrete, MultiBinary"]),
    ] {
        let error = own(&python, class, json!({"kind": kind})).env().err().unwrap().to_string();
        assert!(parts.iter().all(|part| error.contains(part)), "{kind}: {error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

/// What is 0 or 1 alone takes a byte.
#[test]
fn bits_take_a_byte_each() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let flat = folder.path().join("flat");
    for number in 0..3 {
        let args = json!({"number": number, "flat": flat, "bits": true});
        let mut env = own(&python, "Nested", args).env().unwrap();
        let mut frame = reset(&mut *env);
        env.step(0, &mut frame).unwrap();
        let expected: Vec<u8> =
            std::fs::read(&flat).unwrap().as_chunks().0.iter().map(|bytes| number_of(bytes) as u8).collect();
        assert_eq!(frame, expected);
        assert_eq!(expected.iter().max(), Some(&1));
    }
    let counter = |kind: &str| {
        maker(python.clone(), "gym:tests.bridge.envs:Counter-v0", json!({"kind": kind})).env().unwrap()
    };
    let bits = Element::U8 { scale: 1.0 };
    for (kind, frame, element) in [
        ("bits", vec![4], bits),
        ("board", vec![4, 5, 2], bits),
        ("several", vec![6], bits),
        ("integers", vec![4], Element::F32),
        ("dict", vec![2], Element::F32),
    ] {
        assert_eq!(*counter(kind).space(), Space { frame, element, stack: 1, actions: 5 }, "{kind}");
    }
}

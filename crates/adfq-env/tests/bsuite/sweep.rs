//! All 468 settings are those of the package (`tests/recorded/bsuite/sweep.csv`), and each can be made by name, reset, stepped, saved and
//! restored.

use adfq_env::bsuite::{self, EXPERIMENTS};
use adfq_env::{Env, EnvSpec, Registry};
use std::collections::BTreeMap;

fn recorded(name: &str) -> String {
    format!("{}/tests/recorded/bsuite/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn settings_are_those_of_the_package() {
    let table = std::fs::read_to_string(recorded("sweep.csv")).unwrap();
    let mut rows = table.lines();
    assert_eq!(rows.next(), Some("bsuite_id,episodes,tags,arguments"));
    let mut settings = bsuite::settings();
    for row in rows.by_ref() {
        let [id, episodes, tags, arguments] = row.split(',').collect::<Vec<_>>()[..] else { panic!("{row}") };
        let setting = settings.next().unwrap();
        assert_eq!(setting.id(), id);
        assert_eq!(setting.experiment.episodes.to_string(), episodes, "{id}");
        let mut own = setting.experiment.tags.to_vec();
        own.sort_unstable();
        assert_eq!(own.join(";"), tags, "{id}");
        let parsed = arguments.split(';').filter(|argument| !argument.is_empty()).map(|argument| {
            let (name, value) = argument.split_once('=').unwrap();
            (name.to_owned(), value.parse().unwrap())
        });
        let own = setting.arguments().into_iter().map(|(name, value)| (name, value.as_f64().unwrap()));
        assert_eq!(own.collect::<BTreeMap<String, f64>>(), parsed.collect(), "{id}");
    }
    assert!(settings.next().is_none());
    let count: usize = EXPERIMENTS.iter().map(|experiment| experiment.settings).sum();
    assert_eq!((EXPERIMENTS.len(), count, table.lines().count()), (23, 468, 469));
}

#[test]
fn every_setting_can_be_made_played_and_restored() {
    let registry = Registry::default();
    for setting in bsuite::settings() {
        let id = setting.id();
        let mut spec = EnvSpec::new(&format!("bsuite:{id}"));
        if id.starts_with("mnist") {
            spec.args.insert("data".into(), recorded("mnist").into());
        }
        let mut env = registry.env(&spec).unwrap();
        let mut frame = vec![0; env.space().frame_bytes()];
        let mut play = |env: &mut Box<dyn Env>, steps: usize| {
            let mut seen = Vec::new();
            for number in 0..steps {
                let step = env.step(number * 7 % env.space().actions, &mut frame).unwrap();
                seen.push((step, frame.clone(), env.info()));
                if step.ended() {
                    env.reset(None, &mut frame).unwrap();
                    seen.push((step, frame.clone(), env.info()));
                }
            }
            seen
        };
        let mut first = vec![0; env.space().frame_bytes()];
        env.reset(Some(9), &mut first).unwrap();
        play(&mut env, 60);
        let saved = env.save().unwrap().unwrap();
        let mut other = registry.env(&spec).unwrap();
        other.restore(&saved).unwrap();
        assert_eq!(other.info(), env.info(), "{id}");
        assert_eq!(play(&mut other, 60), play(&mut env, 60), "{id}");
        assert_eq!(other.save().unwrap(), env.save().unwrap(), "{id}");
    }
}

#[test]
fn wrong_names_are_met_with_those_that_there_are() {
    let error = |name: &str| adfq_env::make(name).err().unwrap().to_string();
    assert_eq!(
        error("bsuite:deep_sea/21"),
        "there is no environment \"bsuite:deep_sea/21\"; known names: bsuite:deep_sea/0 to 20"
    );
    for name in ["bsuite:catch", "bsuite:catch/", "bsuite:catch/-1", "bsuite:catch/01", "bsuite:catch/x"] {
        assert!(error(name).ends_with("; known names: bsuite:catch/0 to 19"), "{name}: {}", error(name));
    }
    assert_eq!(
        error("bsuite:deepsea/7"),
        "there is no environment \"bsuite:deepsea/7\"; did you mean \"bsuite:deep_sea/7\"? Known names: \
         bsuite:deep_sea/0 to 20, bsuite:deep_sea_stochastic/0 to 20"
    );
    let unlike = error("bsuite:pong/0");
    assert!(
        unlike.starts_with("there is no environment \"bsuite:pong/0\"; known names: bsuite:bandit"),
        "{unlike}"
    );
    assert!(unlike.ends_with("bsuite:umbrella_length/0 to 22"), "{unlike}");
    assert!(error("cartpol").ends_with(", bsuite:EXPERIMENT/NUMBER"), "{}", error("cartpol"));
    assert!(adfq_env::make("BSuite:Deep_Sea/0").is_ok());
    // A near name without the prefix leads to the first setting.
    let near = error("bsuite/deep_sea/0");
    assert!(near.contains("did you mean \"bsuite:deep_sea/0\"?"), "{near}");
}

#[test]
fn arguments_are_refused() {
    let spec = EnvSpec {
        args: [("size".to_owned(), 3.into())].into_iter().collect(),
        ..EnvSpec::new("bsuite:deep_sea/0")
    };
    let error = Registry::default().env(&spec).err().unwrap().to_string();
    assert!(error.starts_with("bsuite:deep_sea/0 takes no arguments, but \"size\" was given"), "{error}");
}

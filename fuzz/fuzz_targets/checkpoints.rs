//! Good run folders with any changes to the contents of their files, all checksums in order: a run that trains on, or an
//! error. Never a panic, and no more memory than the host gives.

#![no_main]

use adfq_deep::run::folder::{self, CONFIG};
use adfq_deep::{Checkpoint, Config, Host, RunFolder, Stop, Trainer};
use adfq_files::Container;
use adfq_fuzz::{Edit, within};
use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

/// What a run may take, and what all else may take besides.
const MEMORY: u64 = 1 << 24;
const BESIDES: usize = 1 << 24;
/// Steps of the run that is forged, and how many it goes on if it can.
const STEPS: u64 = 40;
const MORE: usize = 12;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    run: u8,
    config: Vec<Edit>,
    forgeries: Vec<Forgery<'a>>,
}

/// A change to a section of a file.
#[derive(Arbitrary, Debug)]
struct Forgery<'a> {
    file: u8,
    section: u8,
    change: Change<'a>,
}

#[derive(Arbitrary, Debug)]
enum Change<'a> {
    Set(u16, u8),
    Number(u16, u64),
    Float(u16, f32),
    Insert(u16, &'a [u8]),
    Remove(u16, u8),
    Cut(u16),
    Double,
}

impl Change<'_> {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let place = |at: u16| usize::from(at) % (bytes.len() + 1);
        match *self {
            Self::Set(at, byte) => overwrite(bytes, at, &[byte]),
            Self::Number(at, number) => overwrite(bytes, at, &number.to_le_bytes()),
            Self::Float(at, number) => overwrite(bytes, at, &number.to_le_bytes()),
            Self::Insert(at, new) => {
                let at = place(at);
                bytes.splice(at..at, new.iter().copied());
            }
            Self::Remove(at, count) => {
                let from = place(at);
                let to = (from + usize::from(count)).min(bytes.len());
                bytes.drain(from..to);
            }
            Self::Cut(at) => bytes.truncate(place(at)),
            Self::Double => bytes.extend_from_within(..),
        }
    }
}

fn overwrite(bytes: &mut [u8], at: u16, new: &[u8]) {
    let at = usize::from(at) % bytes.len().max(1);
    bytes[at..].iter_mut().zip(new).for_each(|(to, from)| *to = *from);
}

/// A file of a good run: its name, kind, version and sections.
#[derive(Clone)]
struct Good {
    name: String,
    kind: &'static str,
    version: u32,
    sections: Vec<(String, Vec<u8>)>,
}

struct GoodRun {
    config: String,
    files: Vec<Good>,
}

const RUNS: [(&str, &str, &str, usize); 4] = [
    ("cartpole", "adfq", "thompson", 1),
    ("minatar/breakout", "dqn", "epsilon", 2),
    ("cartpole", "split", "thompson", 1),
    ("mountaincar", "bootstrapped", "head", 1),
];

/// A few settings that keep a run small.
fn small(&(env, agent, policy, envs): &(&str, &str, &str, usize)) -> Config {
    let config = Config { agent: agent.into(), policy: policy.into(), envs, steps: 1000, ..Config::for_env(env).unwrap() };
    let settings = ["replay.capacity=64", "learning.warmup=16", "learning.batch=4", "network.layers=[{dense={units=8}}]"];
    settings.iter().fold(config, |config, setting| config.with(setting).unwrap())
}

static GOOD: LazyLock<Vec<GoodRun>> = LazyLock::new(|| RUNS.iter().map(good_run).collect());

fn good_run(run: &(&str, &str, &str, usize)) -> GoodRun {
    let (dir, host) = (tempfile::tempdir().unwrap(), Host::default());
    let mut trainer = Trainer::new(&small(run), &host).unwrap();
    let folder = RunFolder::create(&dir.path().join("run"), trainer.run()).unwrap();
    let observers = folder.observers(trainer.run(), Box::new(|| 0.0)).unwrap();
    let stop = Stop { flag: &AtomicBool::new(false), after: Some(STEPS) };
    trainer.train(&mut [observers], stop).unwrap();
    let mut paths: Vec<_> =
        fs::read_dir(dir.path().join("run/checkpoints")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let config = fs::read_to_string(dir.path().join("run").join(CONFIG)).unwrap();
    GoodRun { config, files: paths.iter().map(|path| good(path)).collect() }
}

fn good(path: &Path) -> Good {
    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
    let kind = if name.starts_with("step") { "checkpoint" } else { "replay segment" };
    let read = |version| Some((version, Container::read(path, kind, version).ok()?));
    let (version, container) = (1..100).find_map(read).unwrap();
    let section = |name: &str| (name.to_owned(), container.get(name).unwrap().to_vec());
    Good { name, kind, version, sections: container.names().map(section).collect() }
}

static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| tempfile::tempdir().unwrap().keep().join("run"));

/// Writes the forged folder, and says how many bytes it has.
fn forge(input: &Input) -> usize {
    let GoodRun { config, files } = &GOOD[usize::from(input.run) % GOOD.len()];
    let config = input.config.iter().take(4).fold(config.clone(), |text, edit| edit.apply(&text));
    let mut files = files.clone();
    for file in &mut files {
        if let Some((_, section)) = file.sections.iter_mut().find(|(name, _)| name == "config") {
            *section = config.clone().into_bytes();
        }
    }
    for Forgery { file, section, change } in input.forgeries.iter().take(8) {
        let count = files.len();
        let sections = &mut files[usize::from(*file) % count].sections;
        let count = sections.len();
        change.apply(&mut sections[usize::from(*section) % count].1);
    }
    let _ = fs::remove_dir_all(&*FOLDER);
    fs::create_dir_all(FOLDER.join("checkpoints")).unwrap();
    fs::write(FOLDER.join(CONFIG), &config).unwrap();
    for Good { name, kind, version, sections } in &files {
        let mut container = Container::new(kind, *version);
        sections.iter().for_each(|(name, bytes)| _ = container.put(name, &bytes[..]));
        container.write(FOLDER.join("checkpoints").join(name)).unwrap();
    }
    files.iter().flat_map(|file| &file.sections).map(|(_, bytes)| bytes.len()).sum()
}

fuzz_target!(|input: Input| {
    let size = forge(&input);
    let mut host = Host { memory: Some(MEMORY), ..Host::default() };
    // No process is started for a forged `gym:` name.
    host.registry.gym.python = Some("no/python".into());
    within(BESIDES + 16 * size, || _ = folder::read_learner(&FOLDER, &host, Checkpoint::Last));
    within(2 * MEMORY as usize + BESIDES + 16 * size, || {
        let Ok((folder, run, _)) = RunFolder::resume(&FOLDER, &host) else { return };
        let Ok(mut observers) = folder.observers(&run, Box::new(|| 0.0)) else { return };
        let Ok(mut trainer) = Trainer::on_cpu(vec![run]) else { return };
        for _ in 0..MORE {
            if trainer.advance().is_err() {
                return;
            }
        }
        let _ = observers.iter_mut().try_for_each(|observer| observer.checkpoint(trainer.run()));
    });
});

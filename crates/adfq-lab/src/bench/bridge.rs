//! The bridge to Python: environments in a worker process, and beside each row the same environments driven from Python
//! itself, by Gymnasium's own vector environment or ALE's. An operation is a step of all of them.

use super::Group::Bridge;
use super::{Bench, Work};
use adfq_deep::{Error, Result};
use adfq_env::{EnvSpec, Gym, Registry};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use tempfile::TempDir;

/// What does the same from within Python.
const PEER: &str = include_str!("peer.py");
/// An environment that does nothing.
const NOTHING: &str = include_str!("nothing.py");

/// What is stepped.
#[derive(Clone, Copy)]
struct Case {
    /// In the table.
    name: &'static str,
    /// For the bridge.
    env: &'static str,
    /// Arguments for the environment, as JSON.
    args: &'static str,
    /// For the peer: a kind of vector environment and what it makes.
    peer: [&'static str; 2],
}

const NOTHING_SMALL: Case = Case {
    name: "nothing",
    env: "gym:nothing:Nothing-v0",
    args: "{}",
    peer: ["gymnasium", "nothing:Nothing-v0"],
};
const CASES: [Case; 4] = [
    NOTHING_SMALL,
    Case { name: "nothing 84×84×4", args: r#"{"shape": [84, 84, 4]}"#, ..NOTHING_SMALL },
    Case { name: "cartpole", env: "gym:CartPole-v1", args: "{}", peer: ["gymnasium", "CartPole-v1"] },
    Case { name: "pong", env: "atari:pong", args: r#"{"emulator": "ale"}"#, peer: ["ale-py", "pong"] },
];
const COUNTS: [usize; 3] = [1, 8, 64];

/// With this Python; what it lacks is found out when a row is prepared.
pub(super) fn benches(gym: &Gym) -> Vec<Bench> {
    let rows = CASES.into_iter().flat_map(|case| COUNTS.map(|count| (case, count)));
    rows.flat_map(|(case, count)| [ours(case, count, gym), theirs(case, count, gym)]).collect()
}

fn ours(case: Case, count: usize, gym: &Gym) -> Bench {
    let gym = gym.clone();
    Bench::new(Bridge, format!("bridge {}, {count} envs", case.name), move || {
        let folder = package()?;
        let args = serde_json::from_str(case.args).expect("the arguments are JSON");
        let mut registry = Registry::with_gym(gym.clone());
        registry.gym.path.push(folder.path().to_owned());
        let mut envs = registry.envs(&EnvSpec { args, ..EnvSpec::new(case.env) }, count)?;
        envs.reset(0)?;
        let actions = vec![0; count];
        Ok(Work::Operation(Box::new(move |operations| {
            for _ in 0..operations {
                envs.step(&actions)?;
            }
            Ok(())
        })))
    })
}

fn theirs(case: Case, count: usize, gym: &Gym) -> Bench {
    let gym = gym.clone();
    Bench::new(Bridge, format!("{} {}, {count} envs", case.peer[0], case.name), move || {
        let mut peer = Peer::start(&gym.interpreter()?, case, count)?;
        Ok(Work::Operation(Box::new(move |operations| peer.step(operations))))
    })
}

/// The folder with the environment that does nothing.
fn package() -> Result<TempDir> {
    let folder = tempfile::tempdir().map_err(|source| failed(Path::new("a temporary folder"), source))?;
    let path = folder.path().join("nothing.py");
    std::fs::write(&path, NOTHING).map_err(|source| failed(&path, source))?;
    Ok(folder)
}

fn failed(path: &Path, source: std::io::Error) -> Error {
    adfq_files::Error::io("write", path, source).into()
}

/// A Python process that takes as many vector steps as it is told.
struct Peer {
    child: Child,
    ask: ChildStdin,
    answer: BufReader<ChildStdout>,
    _package: TempDir,
}

impl Peer {
    fn start(python: &PathBuf, case: Case, count: usize) -> Result<Self> {
        let package = package()?;
        let mut child = Command::new(python)
            .args(["-c", PEER, case.peer[0], case.peer[1], case.args, &count.to_string()])
            .arg(package.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|source| failed(python, source))?;
        let (ask, answer) = (child.stdin.take(), child.stdout.take());
        let (ask, answer) = ask.zip(answer).expect("both were asked for");
        Ok(Self { child, ask, answer: BufReader::new(answer), _package: package })
    }

    fn step(&mut self, operations: u64) -> Result<()> {
        let talk = |source| failed(Path::new("to the Python that is compared with"), source);
        writeln!(self.ask, "{operations}").map_err(talk)?;
        match self.answer.read_line(&mut String::new()).map_err(talk)? {
            0 => Err(talk(std::io::ErrorKind::UnexpectedEof.into())),
            _ => Ok(()),
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

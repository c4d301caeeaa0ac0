//! Nothing foreign is run: neither what lies in the current folder nor what a stranger's run folder names.
//!
//! `scripts/python.sh` installs what these tests need; without it they say so and pass, except in CI.

#[path = "../../adfq-env/tests/bridge/interpreter.rs"]
mod interpreter;

mod common;

use common::{complaint, succeed};
use interpreter::python;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::{TempDir, tempdir};

const SETTINGS: [&str; 5] = [
    "steps=40",
    "learning.warmup=20",
    "evaluation.every=40",
    "evaluation.final_episodes=1",
    "evaluation.max_steps=5",
];

/// An environment that leaves a note when its module is imported.
const MINE: &str = "
import gymnasium
import numpy as np

with open('executed', 'a') as file:
    file.write(__name__ + '\\n')

class Mine(gymnasium.Env):
    observation_space, action_space = gymnasium.spaces.Box(0, 1, (2,), np.float32), gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        return np.zeros(2, np.float32), {}

    def step(self, action):
        return np.zeros(2, np.float32), 1.0, False, False, {}

gymnasium.register('Mine-v0', Mine)
";

/// A folder to run in, full of files that Python would take for packages if it looked there, and an environment.
struct Hostile {
    folder: TempDir,
    python: PathBuf,
}

impl Hostile {
    fn new() -> Option<Self> {
        let folder = tempdir().unwrap();
        let note = "with open('executed', 'a') as file:\n    file.write(__name__ + '\\n')\n";
        for name in ["numpy", "json", "gymnasium", "ale_py", "site", "sitecustomize", "select", "torch"] {
            fs::write(folder.path().join(format!("{name}.py")), note).unwrap();
        }
        // What Gymnasium looks for in installed packages: environments that are registered by themselves.
        let plugin = folder.path().join("plugin.egg-info");
        fs::create_dir(&plugin).unwrap();
        fs::write(plugin.join("PKG-INFO"), "Metadata-Version: 2.1\nName: plugin\nVersion: 1\n").unwrap();
        fs::write(plugin.join("entry_points.txt"), "[gymnasium.envs]\nplugin = torch:nothing\n").unwrap();
        fs::write(folder.path().join("mine.py"), MINE).unwrap();
        fs::create_dir(folder.path().join("package")).unwrap();
        fs::write(folder.path().join("package/sub.py"), MINE).unwrap();
        Some(Self { folder, python: fs::canonicalize(python()?.parent()?).ok()?.join("python") })
    }

    fn adfq(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_adfq"));
        command.arg(arguments[0]).arg("--python").arg(&self.python).args(&arguments[1..]);
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    fn train(&self, env: &str) -> Command {
        let mut command = self.adfq(&["train", env, "--preset", "default", "--out", "run", "--keep-replay"]);
        command.args(SETTINGS.iter().flat_map(|setting| ["--set", setting]));
        command
    }

    /// The modules of the folder that were executed since the last time.
    fn executed(&self) -> Vec<String> {
        let file = self.folder.path().join("executed");
        let text = fs::read_to_string(&file).unwrap_or_default();
        let _ = fs::remove_file(file);
        let mut names: Vec<_> = text.lines().map(str::to_owned).collect();
        names.dedup();
        names
    }

    /// A run folder before its first checkpoint, as a stranger may have written it.
    fn forge(&self, name: &str) {
        let config = fs::read_to_string(self.folder.path().join("run/config.toml")).unwrap();
        let line = config.lines().find(|line| line.starts_with("env = ")).unwrap();
        let forged = self.folder.path().join("forged");
        let _ = fs::remove_dir_all(&forged);
        fs::create_dir_all(forged.join("checkpoints")).unwrap();
        fs::write(forged.join("config.toml"), config.replace(line, &format!("env = {name}"))).unwrap();
    }
}

#[test]
fn the_current_folder_is_not_looked_into() {
    let Some(hostile) = Hostile::new() else { return };
    for env in ["gym:CartPole-v1", "atari:pong"] {
        let _ = fs::remove_dir_all(hostile.folder.path().join("run"));
        succeed(hostile.train(env));
        assert_eq!(hostile.executed(), [""; 0], "{env}");
    }
    // Python takes an empty entry for the current folder.
    let _ = fs::remove_dir_all(hostile.folder.path().join("run"));
    let mut command = hostile.train("gym:CartPole-v1");
    succeed({
        command.env("PYTHONPATH", ":/nowhere");
        command
    });
    assert_eq!(hostile.executed(), [""; 0]);
    let mut command = hostile.adfq(&["bench", "--quick", "--only", "cartpole, 1 envs"]);
    succeed({
        command.args(["--threads", "1"]);
        command
    });
    assert_eq!(hostile.executed(), [""; 0]);
}

/// A module of the user's own is found there, and nothing else.
#[test]
fn what_the_user_types_is_found_there_and_a_folder_needs_trust() {
    let Some(hostile) = Hostile::new() else { return };
    succeed(hostile.train("gym:mine:Mine-v0"));
    assert_eq!(hostile.executed(), ["mine"]);
    // One that is finished would need no environment.
    fs::remove_file(hostile.folder.path().join("run/result.json")).unwrap();
    let file = fs::canonicalize(hostile.folder.path().join("mine.py")).unwrap();
    let commands: [&[&str]; 2] = [&["train", "--resume", "run"], &["eval", "run", "--episodes", "1"]];
    for arguments in commands {
        let said = complaint(hostile.adfq(arguments));
        assert_eq!(hostile.executed(), [""; 0], "{said}");
        assert!(
            said.starts_with("error: \"gym:mine:Mine-v0\" imports the module \"mine\", which is "),
            "{said}"
        );
        assert!(said.contains(&format!("{file:?}")), "{said}");
        assert!(said.ends_with("\nhint: allow it with --trust\n") && said.lines().count() == 2, "{said}");
        let mut command = hostile.adfq(arguments);
        succeed({
            command.arg("--trust");
            command
        });
        assert_eq!(hostile.executed(), ["mine"]);
    }
    // The same command again goes on with its own folders: the name is the user's.
    let seeds = || {
        let mut command = hostile.adfq(&["train", "gym:mine:Mine-v0", "--seeds", "0..1", "--out", "runs"]);
        command.arg("--keep-replay").args(SETTINGS.iter().flat_map(|setting| ["--set", setting]));
        command
    };
    succeed(seeds());
    fs::remove_file(first_run(&hostile.folder.path().join("runs")).join("result.json")).unwrap();
    succeed(seeds());
}

/// Watching a run in the browser plays in its environment: the same rule.
#[test]
fn an_episode_in_the_browser_needs_trust_too() {
    let Some(hostile) = Hostile::new() else { return };
    succeed(hostile.train("gym:mine:Mine-v0"));
    assert_eq!(hostile.executed(), ["mine"]);
    for trusted in [false, true] {
        let mut command = hostile.adfq(&["serve", ".", "--port", "0"]);
        command.args(trusted.then_some("--trust")).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = command.spawn().unwrap();
        let mut link = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut link).unwrap();
        let address = link.trim().trim_start_matches("http://").trim_end_matches('/');
        let mut stream = TcpStream::connect(address).unwrap();
        let head =
            format!("GET /api/episode?run=run HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        server.kill().unwrap();
        server.wait().unwrap();
        let expected = if trusted { "event: end" } else { "start the server with --trust" };
        assert!(answer.contains(expected), "{answer}");
        assert_eq!(hostile.executed() == ["mine"], trusted, "{answer}");
    }
}

/// `script` lends a terminal, at which the question is asked. Only a yes runs the module.
#[test]
fn at_a_terminal_the_user_is_asked() {
    let Some(hostile) = Hostile::new() else { return };
    succeed(hostile.train("gym:mine:Mine-v0"));
    assert_eq!(hostile.executed(), ["mine"]);
    let line = format!("{:?}", hostile.adfq(&["eval", "run", "--episodes", "1"])).replace('"', "'");
    for (answer, runs) in [("n", false), ("", false), ("yes", true)] {
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).current_dir(hostile.folder.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let Ok(mut asked) = command.spawn() else {
            eprintln!("skipped: there is no program `script` here");
            return;
        };
        writeln!(asked.stdin.take().unwrap(), "{answer}").unwrap();
        let output = asked.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("imports the module \"mine\"") && said.contains("run it? [y/N]"), "{said}");
        assert_eq!(
            (output.status.success(), hostile.executed() == ["mine"]),
            (runs, runs),
            "{answer:?}: {said}"
        );
    }
}

fn first_run(folder: &Path) -> PathBuf {
    fs::read_dir(folder).unwrap().next().unwrap().unwrap().path()
}

/// Names that a stranger may think of.
#[test]
fn no_name_imports_anything() {
    let Some(hostile) = Hostile::new() else { return };
    succeed(hostile.train("gym:mine:Mine-v0"));
    hostile.executed();
    for (name, said) in [
        ("'gym:package.sub:Mine-v0'", "imports the module \"package.sub\""),
        (
            "'gym:no_such_module:Mine-v0'",
            "imports the module \"no_such_module\", which is not an installed package",
        ),
        ("'gym:antigravity:Mine-v0'", "imports the module \"antigravity\""),
        ("'gym:__main__:Mine-v0'", "imports the module \"__main__\""),
        ("'gym:../mine:Mine-v0'", "'../mine' is not the name of a Python module"),
        ("'gym:./mine:Mine-v0'", "'./mine' is not the name of a Python module"),
        ("'gym:.mine:Mine-v0'", "'.mine' is not the name of a Python module"),
        ("'gym:mine.py:Mine-v0'", "imports the module \"mine.py\""),
        ("'gym::mine:Mine-v0'", "'' is not the name of a Python module"),
        ("'gym:ｍｉｎｅ:Mine-v0'", "imports the module \"ｍｉｎｅ\""),
        (r#""gym:\u001b[2Jmine:Mine-v0""#, "is not the name of a Python module"),
        (r#""gym:mine\u202e:Mine-v0""#, "is not the name of a Python module"),
        ("'gym:mine:Mine-v0:mine'", "imports the module \"mine\""),
    ] {
        hostile.forge(name);
        let text = complaint(hostile.adfq(&["train", "--resume", "forged"]));
        assert!(text.contains(said), "{name}: {text}");
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{name}: {text}");
        assert_eq!(hostile.executed(), [""; 0], "{name}: {text}");
    }
    // An installed package may be named: it is the user's.
    hostile.forge("'gym:ale_py:ALE/Pong-ram-v5'");
    let text = complaint(hostile.adfq(&["train", "--resume", "forged"]));
    assert!(!text.contains("imports the module"), "{text}");
    assert_eq!(hostile.executed(), [""; 0], "{text}");
}

/// A wrapper that a folder names is code as well.
#[test]
fn wrappers_of_a_folder_need_trust() {
    let Some(hostile) = Hostile::new() else { return };
    fs::write(
        hostile.folder.path().join("mine.py"),
        format!("{MINE}\nclass Wrap(gymnasium.Wrapper):\n    pass\n"),
    )
    .unwrap();
    let mut command = hostile.train("gym:CartPole-v1");
    succeed({
        command.args(["--wrap", "mine:Wrap"]);
        command
    });
    assert_eq!(hostile.executed(), ["mine"]);
    fs::remove_file(hostile.folder.path().join("run/result.json")).unwrap();
    let commands: [&[&str]; 2] = [&["train", "--resume", "run"], &["eval", "run", "--episodes", "1"]];
    for arguments in commands {
        let said = complaint(hostile.adfq(arguments));
        assert_eq!(hostile.executed(), [""; 0], "{said}");
        assert!(said.starts_with("error: \"mine:Wrap\" imports the module \"mine\", which is "), "{said}");
        assert!(said.ends_with("\nhint: allow it with --trust\n") && said.lines().count() == 2, "{said}");
        succeed(hostile.adfq(&[arguments, &["--trust"]].concat()));
        assert_eq!(hostile.executed(), ["mine"]);
    }
    // Functions of installed packages are not called, and nothing is written elsewhere.
    hostile.forge("'gym:CartPole-v1'");
    let config = hostile.folder.path().join("forged/config.toml");
    let text = fs::read_to_string(&config).unwrap();
    for (wrapper, said) in [
        ("os:mkdir('executed')", "imports the module \"os\""),
        ("numpy:save('executed')", "is not a subclass of gymnasium.Wrapper"),
        ("RecordVideo('executed')", "writes files where it is told to"),
        ("numpy:ndarray.tofile('executed')", "is not a subclass of gymnasium.Wrapper"),
        ("mine:Wrap(__import__('mine'))", "its arguments cannot be read"),
        ("package.sub.Wrap", "imports the module \"package.sub\""),
        ("\u{1b}[2Jmine:Wrap", "is not the name of a Python module"),
    ] {
        let list = format!("wrappers = [{}]", serde_json::json!(wrapper));
        let line = text.lines().find(|line| line.starts_with("wrappers = ")).unwrap();
        fs::write(&config, text.replace(line, &list)).unwrap();
        let error = complaint(hostile.adfq(&["train", "--resume", "forged"]));
        assert!(error.contains(said), "{wrapper}: {error}");
        assert!(!error.contains('\u{1b}'), "{wrapper}: {error}");
        assert!(!hostile.folder.path().join("executed").exists(), "{wrapper}: {error}");
    }
}

//! Training with the real Gymnasium in a module of the user's own: observations and actions of several parts, wrappers, and
//! an environment to evaluate in that differs.
//!
//! `scripts/python.sh` installs what these tests need; without it they say so and pass, except in CI.

#[path = "../../adfq-env/tests/bridge/interpreter.rs"]
mod interpreter;

mod common;

use common::{complaint, succeed};
use interpreter::python;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use tempfile::{TempDir, tempdir};

/// A robot on a line: it sees where it is and where to go, and chooses gait and direction.
const ROBOT: &str = "
import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete, Tuple

class Robot(gymnasium.Env):
    action_space = MultiDiscrete([3, 2], start=[1, 0])

    def __init__(self, bonus=0.0, sensors=2, wrong=False):
        self.bonus, self.wrong = bonus, wrong
        self.observation_space = Dict({
            'camera': Box(0, 255, (2, 2, 1), np.uint8),
            'goal': Tuple([Discrete(3), MultiDiscrete([2, 2])]),
            'body': Dict(place=Box(-9, 9, (1,), np.int64), sensors=Box(-1, 1, (sensors,), np.float64)),
        })

    def observe(self):
        given = self.observation_space.sample()
        given['body']['place'][0] = self.place
        if self.wrong and self.count == 4:
            given['goal'] = (7, given['goal'][1])
        return given

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        if seed is not None:
            self.observation_space.seed(seed)
        self.place = self.count = 0
        return self.observe(), {}

    def step(self, action):
        assert action in self.action_space
        self.count += 1
        self.place = int(np.clip(self.place + (action[0] if action[1] else -action[0]), -9, 9))
        return self.observe(), float(self.place == 9) + self.bonus, self.count == 12, False, {}

class Steered(Robot):
    action_space = Box(-1, 1, (2,))

class Scaled(gymnasium.RewardWrapper):
    def __init__(self, env, factor):
        super().__init__(env)
        self.factor = factor

    def reward(self, reward):
        return self.factor * reward

def shorter(env, steps=5):
    return gymnasium.wrappers.TimeLimit(env, steps)

gymnasium.register('Robot-v0', Robot)
gymnasium.register('Steered-v0', Steered)
";

const SETTINGS: [&str; 6] = [
    "steps=300",
    "learning.warmup=50",
    "evaluation.every=150",
    "evaluation.episodes=1",
    "evaluation.final_episodes=2",
    "logging.checkpoint=100",
];

/// A folder with the module, to run in.
struct Own {
    folder: TempDir,
    python: PathBuf,
}

impl Own {
    fn new() -> Option<Self> {
        let folder = tempdir().unwrap();
        fs::write(folder.path().join("robot.py"), ROBOT).unwrap();
        Some(Self { folder, python: fs::canonicalize(python()?.parent()?).ok()?.join("python") })
    }

    fn adfq(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_adfq"));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        if ["train", "eval"].contains(&arguments[0]) {
            command.arg("--python").arg(&self.python);
        }
        command
    }

    /// Trains into the folder `run`, which is made anew.
    fn train(&self, env: &str, arguments: &[&str]) -> Command {
        let _ = fs::remove_dir_all(self.folder.path().join("run"));
        let mut command = self.adfq(&[&["train", env, "--out", "run"], arguments].concat());
        command.args(SETTINGS.iter().flat_map(|setting| ["--set", setting]));
        command
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join("run").join(name)).unwrap()
    }

    fn result(&self) -> Value {
        serde_json::from_str(&self.read("result.json")).unwrap()
    }

    /// Lengths and returns of greedy episodes.
    fn eval(&self, arguments: &[&str]) -> Vec<(u64, f64)> {
        let all = [&["eval", "run", "--episodes", "2", "--json", "--trust"], arguments].concat();
        let json: Value = serde_json::from_slice(&succeed(self.adfq(&all)).stdout).unwrap();
        let episode =
            |episode: &Value| (episode["length"].as_u64().unwrap(), episode["total"].as_f64().unwrap());
        json["episodes"].as_array().unwrap().iter().map(episode).collect()
    }
}

/// Trained, stopped and resumed, evaluated, asked and exported.
#[test]
fn observations_and_actions_of_several_parts() {
    let Some(own) = Own::new() else { return };
    succeed(own.train("gym:robot:Robot-v0", &[]));
    let first = own.result();
    assert_eq!(first["steps"], 300);
    assert!(own.eval(&[]).iter().all(|&(length, _)| length == 12));
    // The run is the same each time.
    succeed(own.train("gym:robot:Robot-v0", &[]));
    assert_eq!(own.result()["parameters"], first["parameters"]);
    // 4 pixels, 3 + 2 + 2 choices, 1 place, 2 sensors; six actions.
    let observation = own.folder.path().join("observation.json");
    fs::write(&observation, format!("[{}]", ["0.5"; 14].join(","))).unwrap();
    let output = succeed(own.adfq(&["act", "run", "observation.json"])).stdout;
    let answer: Value = serde_json::from_slice(&output).unwrap();
    assert_eq!(answer["mean"].as_array().unwrap().len(), 6, "{answer}");
    succeed(own.adfq(&["export", "run", "policy.onnx"]));
    // A run that was cut short goes on.
    fs::remove_file(own.folder.path().join("run/result.json")).unwrap();
    succeed(own.adfq(&["train", "--resume", "run", "--trust", "--refill"]));
    assert_eq!(own.result()["steps"], 300);
}

#[test]
fn a_wrong_part_is_named_and_spaces_that_do_not_fit_are_refused() {
    let Some(own) = Own::new() else { return };
    let said = complaint(own.train("gym:robot:Robot-v0", &["--set", "env_args.wrong=true"]));
    assert!(said.contains(r#"gave observation["goal"][0] = 7, the space promises 0 to 2"#), "{said}");
    let said = complaint(own.train("gym:robot:Steered-v0", &[]));
    assert!(
        said.contains("continuous actions are not supported; make them discrete with a wrapper"),
        "{said}"
    );
    assert!(said.contains("\nhint: wrap the environment with --wrap NAME"), "{said}");
    let said =
        complaint(own.train("gym:robot:Steered-v0", &["--wrap", "DiscretizeAction(33, multidiscrete=True)"]));
    assert!(said.contains("1,089 combinations, and at most 1,024 are supported"), "{said}");
    succeed(own.train("gym:robot:Steered-v0", &["--wrap", "DiscretizeAction(bins=2)", "--set", "steps=60"]));
}

/// Wrappers are part of the run: training, evaluation and resuming all have them.
#[test]
fn wrappers_belong_to_the_run() {
    let Some(own) = Own::new() else { return };
    let wrap =
        ["--wrap", "robot:shorter(steps=6)", "--wrap", "robot.Scaled(0.5)", "--eval-env-args", "bonus=100"];
    succeed(own.train("gym:robot:Robot-v0", &wrap));
    let config = own.read("config.toml");
    assert!(config.contains(r#"wrappers = ["robot:shorter(steps=6)", "robot.Scaled(0.5)"]"#), "{config}");
    assert!(config.contains("[evaluation.env_args]\nbonus = 100\n"), "{config}");
    // Half a bonus of 100 in each of six steps, and half a point in each at the goal.
    let hundreds =
        || own.eval(&[]).iter().map(|&(length, total)| (length, total as u64 / 100)).collect::<Vec<_>>();
    assert_eq!(hundreds(), [(6, 3), (6, 3)]);
    let parameters = own.result()["parameters"].clone();
    // The same from its file, and by the settings that the options stand for.
    fs::write(own.folder.path().join("config.toml"), config).unwrap();
    succeed(own.train("gym:robot:Robot-v0", &["--config", "config.toml"]));
    assert_eq!(own.result()["parameters"], parameters);
    let settings = ["--set", "wrappers=['robot:shorter(steps=6)', 'robot.Scaled(0.5)']"];
    succeed(own.train("gym:robot:Robot-v0", &settings));
    assert_eq!(own.result()["parameters"], parameters, "evaluation changes nothing of what is learned");
    fs::remove_file(own.folder.path().join("run/result.json")).unwrap();
    succeed(own.adfq(&["train", "--resume", "run", "--trust", "--refill"]));
    assert_eq!(hundreds(), [(6, 0), (6, 0)]);
}

/// What a wrapper gathers in training is not known in evaluation: somebody used to other programs has to be told.
#[test]
fn wrappers_that_gather_numbers_are_warned_about() {
    let Some(own) = Own::new() else { return };
    for (wrapper, warned) in [
        ("NormalizeObservation(epsilon=1e-6)", true),
        ("gymnasium.wrappers:NormalizeReward", true),
        ("RecordEpisodeStatistics", false),
    ] {
        let output = succeed(own.train("gym:CartPole-v1", &["--wrap", wrapper, "--set", "steps=60"]));
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(said.contains(&format!("warning: {wrapper} gathers numbers")), warned, "{said}");
    }
}

#[test]
fn wrong_wrappers_are_explained() {
    let Some(own) = Own::new() else { return };
    for (env, wrapper, said) in [
        ("gym:CartPole-v1", "FlatenObservation", "has no FlatenObservation; did you mean FlattenObservation"),
        ("gym:CartPole-v1", "TimeLimit", "missing a required argument: 'max_episode_steps'"),
        ("gym:CartPole-v1", "TimeLimit(print())", "its arguments cannot be read"),
        ("gym:CartPole-v1", "robot:Scale(2)", "robot has no Scale; did you mean Scaled?"),
        ("cartpole", "FlattenObservation", "wrappers are for gym: environments alone"),
        ("atari:pong", "FlattenObservation", "wrappers are for gym: environments alone"),
    ] {
        let text = complaint(own.train(env, &["--wrap", wrapper]));
        assert!(text.contains(&format!("error: {env} cannot be wrapped with {wrapper:?}: ")), "{text}");
        assert!(text.contains(said) && text.lines().count() == 1, "{text}");
        assert!(!own.folder.path().join("run").exists(), "{text}");
    }
}

/// The environment to evaluate in has its own arguments, and must still be one for the agent.
#[test]
fn evaluation_has_arguments_of_its_own() {
    let Some(own) = Own::new() else { return };
    let bonus = |arguments: &[&str]| {
        succeed(own.train("gym:robot:Robot-v0", arguments));
        own.eval(&[]).iter().map(|&(_, total)| total.floor()).collect::<Vec<_>>()
    };
    assert_eq!(bonus(&["--eval-env-args", "bonus=-10"]).iter().filter(|&&total| total < -100.0).count(), 2);
    assert!(own.eval(&["--eval-env-args", "bonus=50"]).iter().all(|&(_, total)| total >= 600.0));
    let said = complaint(own.adfq(&["eval", "run", "--trust", "--eval-env-args", "sensors=3"]));
    assert!(said.contains("the network is one for observations of [14] and 6 actions"), "{said}");
    let both = ["--set", "env_args.bonus=-10", "--eval-env-args", "bonus=0.0"];
    assert!(bonus(&both).iter().all(|&total| total >= 0.0));
    for (arguments, said) in [
        (
            ["--eval-env-args", "sensors=3"],
            "the environment to evaluate in has observations of [15] numbers and 6 actions, but the one to train in has [14] numbers and 6 actions",
        ),
        (["--eval-env-args", "speed=3"], "unexpected keyword argument 'speed'"),
        (["--eval-env-args", "bonus"], "say it as NAME=VALUE"),
        (["--eval-env-args", "=1"], "say it as NAME=VALUE"),
        (["--eval-env-args", "bonus=nan"], "the setting evaluation.env_args must be without nan and inf"),
    ] {
        let text = complaint(own.train("gym:robot:Robot-v0", &arguments));
        assert!(text.contains(said), "{text}");
        assert!(!own.folder.path().join("run").exists(), "{text}");
    }
    let text = complaint(own.train("cartpole", &["--eval-env-args", "gravity=1"]));
    assert!(text.contains("cartpole takes no arguments, but \"gravity\" was given"), "{text}");
    let sticky = [
        "--eval-env-args",
        "repeat_action_probability=0.25",
        "--set",
        "evaluation.max_steps=20",
        "--set",
        "steps=60",
    ];
    succeed(own.train("atari:pong", &sticky));
    assert!(own.read("config.toml").contains("[evaluation.env_args]\nrepeat_action_probability = 0.25\n"));
}

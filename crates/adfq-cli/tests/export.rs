//! `adfq export` from the outside: onnxruntime computes the beliefs that `adfq act` gives, and safetensors hold the network.
//!
//! `scripts/python.sh` installs onnxruntime and safetensors; without them the tests that need it say so and pass, except in CI.

#[path = "../../adfq-env/tests/bridge/interpreter.rs"]
mod interpreter;

mod common;

use common::{complaint, succeed};
use interpreter::python;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::tempdir;

fn adfq(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_adfq"));
    command.args(arguments).stdin(Stdio::null());
    command
}

/// Trains for a moment, so that no tensor is as it was in the beginning.
fn train(run: &Path, env: &str, agent: &str, settings: &[&str]) {
    let mut command = adfq(&["train", env, "--agent", agent, "--steps", "400", "--out"]);
    command.arg(run).args([
        "--set",
        "learning.warmup=100",
        "--set",
        "evaluation={every=400, episodes=1, final_episodes=1, max_steps=50}",
    ]);
    command.args(settings.iter().flat_map(|setting| ["--set", setting]));
    succeed(command);
}

/// Reads the file as everybody does, and computes the network by hand.
const READ: &str = r#"
import json, subprocess, sys
import numpy
from safetensors import safe_open

file, program, run = sys.argv[1:]
with safe_open(file, framework="numpy") as opened:
    tensor = {name: opened.get_tensor(name) for name in opened.keys()}
assert sorted(tensor) == ["head.bias", "head.weight", "layer0.bias", "layer0.weight"], sorted(tensor)
seen = [0.1, -0.2, 0.03, 0.4]
hidden = numpy.maximum(0, numpy.array(seen) @ tensor["layer0.weight"] + tensor["layer0.bias"])
mean = (hidden @ tensor["head.weight"] + tensor["head.bias"])[:2]
acted = subprocess.run([program, "act", run], input=json.dumps(seen), text=True, capture_output=True, check=True)
assert numpy.allclose(mean, json.loads(acted.stdout)["mean"], rtol=1e-5), (mean, acted.stdout)
"#;

/// Draws observations, asks onnxruntime and `adfq act` about them, and compares. The observations are those of an
/// environment that does not stack frames, so the network sees them times `scale`.
const COMPARE: &str = r#"
import json, subprocess, sys
import numpy, onnxruntime

model, program, run, kind, believes = sys.argv[1:]
session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
(entry,) = session.get_inputs()
assert entry.name == "observation" and entry.shape[0] == "batch", (entry.name, entry.shape)
names = [output.name for output in session.get_outputs()]
assert names == (["mean", "sd", "action"] if believes == "True" else ["mean", "action"]), names
origin = json.loads(session.get_modelmeta().custom_metadata_map["adfq"])
assert origin["space"]["frame"] == entry.shape[1:] and origin["step"] == 400, origin
draw = numpy.random.default_rng(7)
shape = [64] + entry.shape[1:]
seen = draw.normal(size=shape) if kind == "numbers" else draw.integers(0, 2, size=shape)
lines = "".join(json.dumps({"reset": True, "observation": one.tolist()}) + "\n" for one in seen)
acted = subprocess.run([program, "act", run], input=lines, text=True, capture_output=True, check=True)
answers = [json.loads(line) for line in acted.stdout.splitlines()]
outputs = dict(zip(names, session.run(None, {"observation": seen.astype(numpy.float32)})))
for name in names[:-1]:
    theirs, ours = outputs[name], numpy.array([answer[name] for answer in answers])
    assert theirs.shape == ours.shape, (name, theirs.shape, ours.shape)
    wrong = numpy.abs(theirs - ours) / numpy.maximum(1, numpy.abs(ours))
    assert wrong.max() < 1e-5, (name, wrong.max())
assert numpy.ptp(outputs["mean"]) > 1e-3, "all observations look the same"
assert outputs["action"].tolist() == [answer["action"] for answer in answers]
"#;

#[test]
fn onnxruntime_computes_the_same_actions_and_beliefs() {
    let Some(python) = python() else { return };
    let folder = tempdir().unwrap();
    let same = r#"network.layers=[{conv={filters=5, kernel=4, stride=3, padding="same"}}, {conv={filters=6, kernel=3, stride=2, padding="valid"}}, {dense={units=16}}]"#;
    let only_conv = r#"network.layers=[{conv={filters=5, kernel=3, stride=2, padding="same"}}]"#;
    for (number, (env, agent, settings)) in [
        ("cartpole", "adfq", &[][..]),
        ("cartpole", "calibrated", &[]),
        // Every episode is held against its returns, so that there are enough to say where errors are large.
        ("cartpole", "calibrated", &["calibrated.explore=0"]),
        ("minatar/breakout", "calibrated", &["calibrated.pairs=0"]),
        // Rewards of 1,000, in which its network's values are counted.
        ("bsuite:cartpole_scale/16", "calibrated", &[]),
        ("cartpole", "dqn", &["network.dueling=8"]),
        ("cartpole", "adfq", &["network.dueling=8", "network.layers=[]"]),
        ("minatar/breakout", "ddqn", &[]),
        ("minatar/breakout", "ddqn", &["network.normalise=true"]),
        ("minatar/breakout", "adfq", &[same]),
        ("minatar/breakout", "dqn", &[only_conv]),
        ("deepsea-4", "adfq", &["network.layers=[{dense={units=12}}]"]),
    ]
    .into_iter()
    .enumerate()
    {
        let (run, model) =
            (folder.path().join(number.to_string()), folder.path().join(format!("{number}.onnx")));
        train(&run, env, agent, settings);
        let mut export = adfq(&["export"]);
        export.arg(&run).arg(&model);
        succeed(export);
        if settings == ["calibrated.explore=0"] {
            let written = std::fs::read(&model).unwrap();
            assert!(written.windows(11).any(|name| name == b"error_sizes"));
        }
        let mut compare = Command::new(&python);
        compare.args(["-c", COMPARE]).arg(&model).arg(env!("CARGO_BIN_EXE_adfq")).arg(&run);
        compare.arg(if env.contains("cartpole") { "numbers" } else { "bytes" });
        compare.arg(if ["adfq", "calibrated"].contains(&agent) { "True" } else { "False" });
        println!("{env} {agent} {settings:?}");
        succeed(compare);
    }
}

#[test]
fn safetensors_are_read_by_their_own_package() {
    let Some(python) = python() else { return };
    let folder = tempdir().unwrap();
    let (run, file) = (folder.path().join("run"), folder.path().join("policy.safetensors"));
    train(&run, "cartpole", "adfq", &["network.layers=[{dense={units=8}}]"]);
    let mut export = adfq(&["export"]);
    export.arg(&run).arg(&file);
    succeed(export);
    let mut read = Command::new(&python);
    read.args(["-c", READ]).arg(&file).arg(env!("CARGO_BIN_EXE_adfq")).arg(&run);
    succeed(read);
}

#[test]
fn safetensors_hold_the_network_by_name() {
    let folder = tempdir().unwrap();
    let (run, file) = (folder.path().join("run"), folder.path().join("policy.safetensors"));
    train(&run, "cartpole", "split", &["network.layers=[{dense={units=8}}]"]);
    let export = |file: &Path| {
        let mut export = adfq(&["export"]);
        export.arg(&run).arg(file);
        export
    };
    let said = String::from_utf8(succeed(export(&file)).stdout).unwrap();
    assert!(said.ends_with("policy.safetensors: split in cartpole after 400 steps\n"), "{said}");
    let bytes = fs::read(&file).unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    assert_eq!(header["layer0.weight"]["shape"], serde_json::json!([4, 8]));
    assert_eq!(header["layer0.bias"]["dtype"], "F32");
    let origin: Value = serde_json::from_str(header["__metadata__"]["adfq"].as_str().unwrap()).unwrap();
    assert_eq!((&origin["env"], &origin["step"]), (&"cartpole".into(), &400.into()));
    // The same bytes each time.
    let again = folder.path().join("again.safetensors");
    succeed(export(&again));
    assert_eq!(fs::read(again).unwrap(), bytes);
    // What split believes is more than its network.
    let said = complaint(export(&folder.path().join("policy.onnx")));
    assert!(said.contains("what split believes is more than its network gives"), "{said}");
    assert!(!folder.path().join("policy.onnx").exists());
    let said = complaint(export(&folder.path().join("policy.pt")));
    assert!(said.contains("must end in .onnx or .safetensors"), "{said}");
}

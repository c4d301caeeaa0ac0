"""What the tests share: the program, short trainings, and processes of their own."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

# Short, and all of it happens: learning, evaluations, metrics, checkpoints.
SHORT = {
    "learning": {"warmup": 100},
    "evaluation": {"every": 500, "episodes": 2, "final_episodes": 3},
    "logging": {"metrics": 250, "checkpoint": 500},
}
SHORT_WORDS = [
    "learning.warmup=100",
    "evaluation.every=500",
    "evaluation.episodes=2",
    "evaluation.final_episodes=3",
    "logging.metrics=250",
    "logging.checkpoint=500",
]


@pytest.fixture
def program():
    """Runs the program `adfq` with these words and gives what it printed."""
    path = os.environ.get("ADFQ", "")
    if not pathlib.Path(path).is_file():
        pytest.skip("ADFQ does not name the program: build it, and run scripts/test_python.sh")

    def run(*words):
        done = subprocess.run([path, *map(str, words)], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def files(folder):
    """What a run leaves behind, without clocks."""
    folder = pathlib.Path(folder)
    names = ["config.toml", "result.json", "metrics.csv", "evaluations.csv"]
    return {name: (folder / name).read_bytes() for name in names}


def result(folder):
    return json.loads((pathlib.Path(folder) / "result.json").read_bytes())


def start(code, *words):
    """Another interpreter that runs this code. What it prints can be read line by line, and what it reads does not come."""
    command = [sys.executable, "-u", "-c", code, *map(str, words)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)

"""Records the package bsuite 0.3.6, so that ours can be compared with it step by step.

    python -m venv venv && venv/bin/pip install bsuite==0.3.6
    venv/bin/python record.py

writes four things beside this file, the same bytes every time:
    sweep.csv        every setting: its id, the number of episodes, its tags, and the arguments that are not None
    fixed.json       what the package draws from a seed that the setting fixes, and the episodes after which it logs
    plays.jsonl.gz   plays of some ids of every experiment, a line each (below)
    mnist/           the made-up images that the plays of mnist are of

The package (Apache-2.0) runs as it is, but that its random generators are replaced by one that notes what was drawn. Actions go
in; observations, rewards, ends and what would be logged come out. A line of plays.jsonl.gz is an object with
    id, shape, actions   the setting, the shape of its observations, the number of its actions
    info                 the names of what bsuite_info() reports
    events               for each event [action, reward, end, drawn, changes, info]: the action is -1 for a reset; what was drawn is
                         [n, k] for k below n, [0, x] for x from [0, 1), [-1, x] for a normal x; changes are [index, value] of
                         the flat observation where it is not that of the event before (of zeros for the first)
    columns, rows        what the package's own logger was given after those episodes that it logs
"""

import csv
import gzip
import importlib.metadata
import json
import pathlib
import struct
import sys
import tempfile

import bsuite
import numpy as np
from bsuite import sweep
from bsuite.environments import cartpole
from bsuite.utils import datasets, wrappers

VERSION = "0.3.6"
HERE = pathlib.Path(__file__).parent
EPISODES = 25
# Events of a play: the first is enough for a whole episode of each environment, the last is for variants of another experiment.
LONG, MIDDLE, SHORT = 1050, 400, 200


class Noting:
    """A random generator that notes its draws. Real numbers are multiples of small powers of 2, which keeps recordings small."""

    def __init__(self, seed):
        self.source = np.random.RandomState(seed)
        self.drawn = []

    def note(self, kind, value):
        self.drawn.append([kind, value])
        return value

    def rand(self):
        return self.note(0, int(self.source.randint(1 << 16)) / (1 << 16))

    def randn(self):
        return self.note(-1, round(self.source.randn() * 1024) / 1024)

    def uniform(self, low, high):
        return low + (high - low) * self.rand()

    def randint(self, n):
        return self.note(n, int(self.source.randint(n)))

    def binomial(self, n, p, size=None):
        assert (n, p) == (1, 0.5)
        return self.randint(2) if size is None else np.array([self.randint(2) for _ in range(size)], dtype=int)


class Rows(list):
    """A logger of the package."""

    write = list.append


def load(bsuite_id, random):
    env = bsuite.load_from_id(bsuite_id)
    raw = getattr(env, "raw_env", env)
    raw._rng = env._rng = random
    return env, raw


def swing_up(raw, player):
    """The best of some random plans for the next steps, tried out on the model: high, slow and near the middle."""
    best, plan = -np.inf, []
    for _ in range(60):
        actions = np.repeat(player.randint(3, size=6), 12)
        state, value = raw._state, 0.0
        for action in actions:
            state = cartpole.step_cartpole(action, raw._timescale, state, raw._cartpole_config)
            slow = min(abs(state.theta_dot), 5) / 5
            value += np.cos(state.theta) * (2 - slow) - state.x**2 - 100 * (abs(state.x) > 2.5)
        if value > best:
            best, plan = value, actions[:12].tolist()
    return plan


def choose(bsuite_id, raw, player, plan, wild):
    """A sensible action where there is one to see, and in one of ten cases, or always, any."""
    actions = raw.action_spec().num_values
    if wild or player.rand() < 0.1:
        return int(player.randint(actions))
    if bsuite_id.startswith("cartpole_swingup"):
        if not plan:
            plan.extend(swing_up(raw, player))
        return plan.pop(0)
    if bsuite_id.startswith("cartpole"):
        state = raw._state
        tilt = np.arctan2(np.sin(state.theta), np.cos(state.theta))
        return 2 if tilt + 0.2 * state.theta_dot + 0.05 * state.x + 0.1 * state.x_dot > 0 else 0
    if bsuite_id.startswith("mountain_car"):
        return 2 if raw._velocity >= 0 else 0
    if bsuite_id.startswith("deep_sea"):
        right = int(raw._action_mapping[raw._row, raw._column])
        return right if player.rand() < 1 - 0.5 / raw._size else 1 - right
    if bsuite_id.startswith("catch"):
        return 1 + int(np.sign(raw._ball_x - raw._paddle_x))
    return int(player.randint(actions))


def play(bsuite_id, seed, index):
    """A play of the id, which is the first (0), second, … to be played of its experiment. The second one is wild."""
    is_variant = bsuite_id.split("/")[0].endswith(("_noise", "_scale"))
    limit = SHORT if is_variant else MIDDLE if index > 1 else LONG
    random, player, rows = Noting(seed), np.random.RandomState(seed + 1000), Rows()
    env, raw = load(bsuite_id, random)
    # The package draws here although nothing depends on it.
    silent = bsuite_id.startswith("deep_sea/")
    logged = wrappers.Logging(env, rows)
    shape = env.observation_spec().shape
    before, events, plan = np.zeros(int(np.prod(shape)), np.float32), [], []
    episodes, last = 0, True
    while len(events) < limit and episodes < EPISODES:
        random.drawn = []
        action = -1 if last else choose(bsuite_id, raw, player, plan, index == 1)
        step = logged.reset() if last else logged.step(action)
        assert step.first() == last and (step.discount == 0) == step.last()
        last = step.last()
        episodes += last
        seen = np.asarray(step.observation, np.float32).ravel()
        # As text an f32 has fewer digits than as an f64.
        changes = [[int(i), float(str(seen[i]))] for i in np.flatnonzero(seen.view(np.uint32) != before.view(np.uint32))]
        info = [float(value) for value in env.bsuite_info().values()]
        drawn = [] if silent else random.drawn
        events.append([action, float(step.reward or 0), int(last), drawn, changes, info])
        before = seen
    print(f"{bsuite_id}: {len(events)} events, {episodes} ends, {env.bsuite_info()}")
    return {
        "id": bsuite_id,
        "shape": list(shape),
        "actions": int(env.action_spec().num_values),
        "info": list(env.bsuite_info()),
        "events": events,
        "columns": list(rows[0]) if rows else [],
        "rows": [[float(value) for value in row.values()] for row in rows],
    }


def some(experiment):
    """The ids to play of an experiment: the first, two in between and the last."""
    ids = [bsuite_id for bsuite_id in sweep.SWEEP if bsuite_id.split("/")[0] == experiment]
    return [ids[i] for i in (0, len(ids) // 3, 2 * len(ids) // 3, len(ids) - 1)]


def write_sweep():
    with open(HERE / "sweep.csv", "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["bsuite_id", "episodes", "tags", "arguments"])
        for bsuite_id in sweep.SWEEP:
            tags = [tag for tag, ids in sorted(sweep.TAGS.items()) if bsuite_id in ids]
            arguments = sorted((k, v) for k, v in sweep.SETTINGS[bsuite_id].items() if v is not None)
            arguments = ";".join(f"{key}={value!r}" for key, value in arguments)
            out.writerow([bsuite_id, sweep.EPISODES[bsuite_id], ";".join(tags), arguments])


def write_fixed():
    """Rewards of the arms in tenths, and of the largest sea, of which the smaller ones are the beginning, 0 or 1 for each cell."""
    arms = [np.rint(10 * bsuite.load_from_id(f"bandit/{i}")._rewards).astype(int).tolist() for i in range(20)]
    seas = {}
    for bsuite_id in sweep.DEEP_SEA + sweep.DEEP_SEA_STOCHASTIC:
        seas[bsuite_id] = "".join(map(str, bsuite.load_from_id(bsuite_id)._action_mapping.ravel()))
    largest = max(seas.values(), key=len)
    assert all(largest.startswith(sea) for sea in seas.values())
    logged = [episode for episode in range(1, 10_001) if wrappers._logarithmic_logging(episode)]
    text = json.dumps({"arms": arms, "sea": largest, "logged": logged})
    (HERE / "fixed.json").write_text(text + "\n")


def write_mnist():
    """Ten images of 28 × 28, which together have all values of a byte, in the files of MNIST."""
    images = np.zeros((10, 28 * 28))
    for i, image in enumerate(images):
        image[70 * i : 70 * i + 26] = (26 * i + np.arange(26)) % 256
    labels = [3, 1, 4, 1, 5, 9, 2, 6, 8, 7]
    folder = HERE / "mnist"
    folder.mkdir(exist_ok=True)
    files = {
        "train-images-idx3-ubyte.gz": struct.pack(">IIII", 2051, 10, 28, 28) + images.astype(np.uint8).tobytes(),
        "train-labels-idx1-ubyte.gz": struct.pack(">II", 2049, 10) + bytes(labels),
    }
    for name, data in files.items():
        (folder / name).write_bytes(gzip.compress(data, 9, mtime=0))
    return files


def use(files):
    """Lets the package load these files as training set and as test set."""
    load_mnist = datasets.load_mnist
    folder = tempfile.mkdtemp()
    for name, data in files.items():
        for copy in (name, name.replace("train", "t10k")):
            (pathlib.Path(folder) / copy).write_bytes(gzip.compress(data))
    datasets.load_mnist = lambda: load_mnist(folder)


if __name__ == "__main__":
    found = importlib.metadata.version("bsuite")
    if found != VERSION:
        sys.exit(f"this needs bsuite {VERSION}, not {found}")
    use(write_mnist())
    write_sweep()
    write_fixed()
    experiments = dict.fromkeys(bsuite_id.split("/")[0] for bsuite_id in sweep.SWEEP)
    plays = [
        play(bsuite_id, 100 * number + index, index)
        for number, experiment in enumerate(experiments)
        for index, bsuite_id in enumerate(some(experiment))
    ]
    text = "".join(json.dumps(play, separators=(",", ":")) + "\n" for play in plays).encode()
    (HERE / "plays.jsonl.gz").write_bytes(gzip.compress(text, 9, mtime=0))

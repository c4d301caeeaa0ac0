#!/usr/bin/env python3
"""How fast the Python package is, beside the program and beside peers: the table of docs/performance.md.

    scripts/wheel.sh && pip install target/wheels/adfq-*.whl
    benches/peers/python.py --adfq target/release/adfq          # what is not installed of the peers is left out

Run it in an environment with the peers (setup.sh): gymnasium, stable-baselines3, minatar, gymnax. Let nothing else run meanwhile.
Each figure is the best of several rounds, and what is compared is measured in turn.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROUNDS = 3
# The training of `cartpole.py`: a network of 64-64, a gradient step every 4 steps, no evaluation.
LOOP = {
    "agent": "dqn",
    "preset": "default",
    "network.layers": [{"dense": {"units": 64}}, {"dense": {"units": 64}}],
    "learning.every": 4,
    "learning.batch": 32,
    "learning.warmup": 1000,
    "evaluation.every": 0,
    "logging.metrics": 100_000,
    "logging.checkpoint": 1_000_000,
}


def best(measure, rounds=ROUNDS):
    return max(measure() for _ in range(rounds))


def has(package):
    return importlib.util.find_spec(package) is not None


def show(what, figure, unit, aim=""):
    print(f"{what:<66} {figure:>14,.0f} {unit:<8} {aim}", flush=True)


def training(env, steps, **settings):
    """Steps a second of one model, the making of it not counted."""
    import adfq

    def measure():
        words = {key: value for key, value in LOOP.items() if key not in ("agent", "preset")}
        model = adfq.Model(env() if callable(env) else env, LOOP["agent"], preset=LOOP["preset"], **words, **settings)
        begun = time.perf_counter()
        model.learn(steps, progress_bar=False)
        return steps / (time.perf_counter() - begun)

    return measure


def program(adfq, env, steps, *words):
    """Steps a second of the program, by the wall clock of its own."""

    def measure():
        with tempfile.TemporaryDirectory() as folder:
            settings = [f"{key}={json_toml(value)}" for key, value in LOOP.items() if key not in ("agent", "preset")]
            command = [adfq, "train", env, "--agent", LOOP["agent"], "--preset", LOOP["preset"], "--steps", str(steps), "--keep-replay"]
            command += [word for setting in settings for word in ("--set", setting)]
            command += ["--out", f"{folder}/run", *words]
            subprocess.run(command, check=True, capture_output=True)
            return steps / json.loads(pathlib.Path(folder, "run", "times.json").read_text())["wall"]

    return measure


def json_toml(value):
    return json.dumps(value).replace(":", "=") if isinstance(value, list) else json.dumps(value)


def native(adfq, steps):
    package, own = training("cartpole", steps), program(adfq, "cartpole", steps) if adfq else None
    figures = [(package(), own() if own else 0.0) for _ in range(ROUNDS)]
    ours = max(figure for figure, _ in figures)
    show('adfq.Model("cartpole").learn', ours, "steps/s")
    if own:
        theirs = max(figure for _, figure in figures)
        show("adfq train cartpole", theirs, "steps/s", f"package / program {ours / theirs:.3f}, aim 0.97")


def in_process(adfq, steps):
    import gymnasium

    ours = best(training(lambda: gymnasium.make("CartPole-v1"), steps))
    show("gymnasium.make('CartPole-v1') in process", ours, "steps/s")
    if adfq:
        worker = best(program(adfq, "gym:CartPole-v1", steps, "--python", sys.executable))
        show("adfq train gym:CartPole-v1, a worker process", worker, "steps/s", f"{ours / worker:.2f} x, aim 1.3")
    if has("stable_baselines3"):
        theirs = best(stable_baselines(min(steps, 10_000)), 2)
        show("Stable-Baselines3 DQN, the same loop", theirs, "steps/s", f"{ours / theirs:.1f} x, aim 10")


def stable_baselines(steps):
    def measure():
        import torch
        from stable_baselines3 import DQN

        torch.set_num_threads(1)
        words = {"learning_starts": 1000, "train_freq": 4, "batch_size": 32, "buffer_size": 50_000, "device": "cpu"}
        model = DQN("MlpPolicy", "CartPole-v1", policy_kwargs={"net_arch": [64, 64]}, **words)
        begun = time.perf_counter()
        model.learn(steps)
        return steps / (time.perf_counter() - begun)

    return measure


def vector(count=64, rounds=2000):
    import numpy as np

    import adfq

    def measure():
        envs = adfq.make_vec("minatar/breakout", count)
        envs.reset(seed=0)
        actions = np.random.default_rng(0).integers(envs.single_action_space.n, size=(rounds, count))
        begun = time.perf_counter()
        for row in actions:
            envs.step(row)
        return rounds * count / (time.perf_counter() - begun)

    ours = best(measure)
    show(f'adfq.make_vec("minatar/breakout", {count})', ours, "steps/s")
    if has("minatar"):
        theirs = best(minatar)
        show("the MinAtar package, one environment", theirs, "steps/s", f"{ours / theirs:.1f} x, aim 10")
    if has("gymnax"):
        theirs = best(lambda: gymnax(count, rounds))
        show(f"gymnax Breakout-MinAtar, {count} environments, jit on this CPU", theirs, "steps/s", f"{ours / theirs:.1f} x, aim 5")


def minatar(steps=20_000):
    import minatar as package
    import numpy as np

    env = package.Environment("breakout")
    env.reset()
    actions = np.random.default_rng(0).integers(6, size=steps)
    begun = time.perf_counter()
    for action in actions:
        _, done = env.act(action)
        env.state()
        if done:
            env.reset()
    return steps / (time.perf_counter() - begun)


def gymnax(count, rounds):
    import gymnax as package
    import jax

    env, params = package.make("Breakout-MinAtar")
    key = jax.random.PRNGKey(0)
    _, state = jax.vmap(env.reset, (0, None))(jax.random.split(key, count), params)

    @jax.jit
    def steps(key, state):
        def step(carry, _):
            key, state = carry
            key, act, move = jax.random.split(key, 3)
            actions = jax.random.randint(act, (count,), 0, env.num_actions)
            observations, state, *_ = jax.vmap(env.step, (0, 0, 0, None))(jax.random.split(move, count), state, actions, params)
            return (key, state), observations.sum()

        return jax.lax.scan(step, (key, state), None, rounds)

    jax.block_until_ready(steps(key, state))
    begun = time.perf_counter()
    jax.block_until_ready(steps(key, state))
    return rounds * count / (time.perf_counter() - begun)


def updates(rows=1_000_000, actions=4):
    import numpy as np

    import adfq

    rng = np.random.default_rng(0)
    mean, reward, next_mean = rng.normal(size=rows), rng.normal(size=rows), rng.normal(size=(rows, actions))
    var, next_var = rng.random(rows) + 0.1, rng.random((rows, actions)) + 0.1
    cores = len(os.sched_getaffinity(0))
    for rule in ("analytic", "exact"):

        def measure(clock):
            begun = clock()
            adfq.update(mean, var, reward, 0.99, next_mean, next_var, rule=rule)
            return rows / (clock() - begun)

        figure = best(lambda: measure(time.perf_counter), 7)
        # By the time of all cores that the process has used: what else runs on the machine does not count.
        of_core = best(lambda: measure(time.process_time), 7)
        aim = f"{of_core / 1e6:.1f} million a core" + (", aim 5" if rule == "analytic" else "")
        show(f"adfq.update, {rule}, {rows:,} rows of {actions} actions, {cores} cores", figure, "rows/s", aim)


def importing():
    def measure(package):
        code = f"import time; begun = time.perf_counter(); import {package}; print(time.perf_counter() - begun)"
        times = [float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout) for _ in range(7)]
        return min(times) * 1000

    show("import adfq", measure("adfq"), "ms", "aim 150")
    show("import numpy, which is part of it", measure("numpy"), "ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adfq", help="the program, built with --release")
    parser.add_argument("--steps", type=int, default=200_000, help="environment steps of each native training")
    arguments = parser.parse_args()
    importing()
    updates()
    vector()
    native(arguments.adfq, arguments.steps)
    in_process(arguments.adfq, arguments.steps // 4)


if __name__ == "__main__":
    main()

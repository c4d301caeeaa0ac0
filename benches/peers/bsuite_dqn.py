"""The package bsuite with its own DQN (JAX) beside `adfq bsuite --agents dqn`, in one call.

    python bsuite_dqn.py --adfq target/release/adfq
    python bsuite_dqn.py --adfq target/release/adfq --ids catch/0:1000,deep_sea/20:100

Both run the same settings for the same number of episodes, on one processor, with the same network, batch and number of gradient
steps (one for each environment step). What counts is the time of the processor for each step: the package's without the compilation, which is done
before, ours with the start of the process. Steps are counted in the CSV files that both write, so that agents whose episodes differ in length are
compared by the step.
"""

import argparse
import contextlib
import csv
import io
import json
import os
import pathlib
import resource
import subprocess
import tempfile
import time

# The first ids of experiments, and a large sea. The numbers of episodes are logged ones (100, 120, 140, 170, 200, 250, 300, 400, ...) and give
# some thousand steps each.
IDS = "bandit/0:5000,catch/0:700,cartpole/0:50,mountain_car/0:10,deep_sea/0:500,deep_sea/20:50,memory_len/0:3000,umbrella_length/0:5000"


def steps(path):
    """Environment steps up to the last logged episode."""
    with open(path) as file:
        return int(float(list(csv.DictReader(file))[-1]["steps"]))


def name(id):
    return f"bsuite_id_-_{id.replace('/', '-')}.csv"


def theirs(id, episodes):
    """Steps, and seconds of the processor."""
    import bsuite
    from bsuite.baselines import experiment
    from bsuite.baselines.jax import dqn

    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        env = bsuite.load_and_record_to_csv(id, results_dir=folder)
        agent = dqn.default_agent(env.observation_spec(), env.action_spec())
        warm_up(agent, env)
        begun = time.process_time()
        experiment.run(agent, env, num_episodes=episodes)
        seconds = time.process_time() - begun
        return steps(pathlib.Path(folder) / name(id)), seconds


def warm_up(agent, env):
    """Compiles the agent's two functions on zeros of the right shape."""
    import numpy as np

    spec = env.observation_spec()
    rows = np.zeros((32, *spec.shape), spec.dtype)
    agent._forward(agent._state.params, rows[:1])
    agent._sgd_step(agent._state, [rows, np.zeros(32, int), np.zeros(32), np.ones(32), rows])


def ours(adfq, id, episodes):
    """Steps, and seconds of the processor, those of the start of the program included."""
    with tempfile.TemporaryDirectory() as folder:
        command = [adfq, "bsuite", "--agents", "dqn", "--only", id, "--episodes", str(episodes), "--threads", "1", "--out", folder]
        begun = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = ended.ru_utime + ended.ru_stime - begun.ru_utime - begun.ru_stime
        return steps(pathlib.Path(folder) / "dqn-epsilon" / "seed-0" / name(id)), seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adfq", default="target/release/adfq")
    parser.add_argument("--ids", default=IDS, help="settings and their numbers of episodes, as ID:EPISODES,ID:EPISODES")
    parser.add_argument("--json", help="append a line for each measurement to this file")
    arguments = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    print(f"{'setting':20} {'package, µs/step':>18} {'adfq, µs/step':>15} {'ratio':>7}")
    for word in arguments.ids.split(","):
        id, _, episodes = word.partition(":")
        their_steps, their_time = theirs(id, int(episodes))
        our_steps, our_time = ours(arguments.adfq, id, int(episodes))
        their, our = 1e6 * their_time / their_steps, 1e6 * our_time / our_steps
        print(f"{id:20} {their:18.1f} {our:15.1f} {their / our:7.1f}", flush=True)
        if arguments.json:
            with open(arguments.json, "a") as file:
                row = {"task": f"bsuite {id}", "package_us": their, "adfq_us": our, "package_steps": their_steps, "adfq_steps": our_steps}
                file.write(json.dumps(row) + "\n")


main()

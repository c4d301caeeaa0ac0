"""Trains CartPole-v1 end to end with the DQN of other libraries at the same settings; reports steps/s.

    python cartpole.py [--steps 20000] [--train-every 4] [--threads 1 2] [--json FILE]

No evaluation; no logging beyond what a library cannot be told to leave out. Each training runs in a process of
its own, bound to as many processors as it may have threads. Two rates: `steps_per_s` over the whole loop,
including the first steps at random, and `steady_steps_per_s` from the start of learning to the end. Imports and
the making of networks count in neither.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from math import lcm
from pathlib import Path

ENVIRONMENT = Path(sys.prefix)  # where setup.sh put CleanRL
CLEANRL_HIDDEN = (120, 84)  # written into CleanRL's script


@dataclass
class Settings:
    """The hyper-parameters all trainings share."""

    steps: int = 20_000
    train_every: int = 4
    hidden: tuple = (64, 64)
    batch: int = 32
    learning_rate: float = 2.5e-4
    buffer: int = 50_000
    learning_starts: int = 1_000
    target_every: int = 500
    gamma: float = 0.99
    epsilon_first: float = 1.0
    epsilon_last: float = 0.05
    epsilon_fraction: float = 0.5  # of the steps, over which epsilon falls on a straight line
    seed: int = 1

    def epsilon(self, step):
        slope = (self.epsilon_last - self.epsilon_first) / (self.epsilon_fraction * self.steps)
        return max(self.epsilon_first + slope * step, self.epsilon_last)


def stable_baselines3(s, threads):
    """SB3's DQN as it comes: its Monitor around the environment, Huber loss, global clip at norm 10."""
    import torch
    from stable_baselines3 import DQN
    from stable_baselines3.common.callbacks import BaseCallback

    class Clock(BaseCallback):
        """Notes when learning begins; one comparison a step."""

        since = None

        def _on_step(self):
            if self.num_timesteps == s.learning_starts:
                self.since = time.perf_counter()
            return True

    torch.set_num_threads(threads)
    model = DQN(
        "MlpPolicy",
        "CartPole-v1",
        learning_rate=s.learning_rate,
        buffer_size=s.buffer,
        learning_starts=s.learning_starts,
        batch_size=s.batch,
        gamma=s.gamma,
        train_freq=s.train_every,
        gradient_steps=1,
        target_update_interval=s.target_every,
        exploration_fraction=s.epsilon_fraction,
        exploration_initial_eps=s.epsilon_first,
        exploration_final_eps=s.epsilon_last,
        policy_kwargs={"net_arch": list(s.hidden)},
        seed=s.seed,
        device="cpu",
        verbose=0,
    )
    clock = Clock()
    begin = time.perf_counter()
    model.learn(s.steps, callback=clock, log_interval=None)
    end = time.perf_counter()
    steady = (model.num_timesteps - s.learning_starts) / (end - clock.since)
    return model.num_timesteps / (end - begin), steady, model._n_updates


def loop(s, threads):
    """Our own loop after CleanRL's pattern."""
    import torch

    import dqn_loop

    torch.set_num_threads(threads)
    seconds, steady, gradient_steps = dqn_loop.train(s)
    return s.steps / seconds, steady, gradient_steps


def cleanrl(s, threads):
    """CleanRL's own dqn.py, unchanged, with its own flags; the clock is on the lines it prints."""
    if tuple(s.hidden) != CLEANRL_HIDDEN:
        sys.exit(f"CleanRL's network is {CLEANRL_HIDDEN} and no flag changes it: ask for --hidden 120 84")
    source, packages = ENVIRONMENT / "cleanrl", ENVIRONMENT / "cleanrl-packages"
    if not (source / "cleanrl/dqn.py").exists():
        sys.exit(f"no CleanRL in {source}: run setup.sh with CLEANRL set to a clone of it")
    flags = {
        "env-id": "CartPole-v1",
        "seed": s.seed,
        "total-timesteps": s.steps,
        "learning-rate": s.learning_rate,
        "buffer-size": s.buffer,
        "gamma": s.gamma,
        "target-network-frequency": s.target_every,
        "batch-size": s.batch,
        "start-e": s.epsilon_first,
        "end-e": s.epsilon_last,
        "exploration-fraction": s.epsilon_fraction,
        "learning-starts": s.learning_starts,
        "train-frequency": s.train_every,
    }
    command = [sys.executable, "-u", str(source / "cleanrl/dqn.py"), "--no-cuda"]
    command += [part for name, value in flags.items() for part in (f"--{name}", str(value))]
    environ = {**os.environ, "PYTHONPATH": f"{source}:{packages}", "OMP_NUM_THREADS": str(threads)}
    seen, rate = [], None
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            command, cwd=folder, env=environ, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        for line in process.stdout:
            if line.startswith("SPS:"):  # steps since the beginning of its loop, by the time since then
                seen.append(time.perf_counter())
                rate = float(line.split()[1])
        if process.wait() != 0 or len(seen) < 2:
            errors.seek(0)
            sys.exit(f"CleanRL's script failed: {(errors.read().strip().splitlines() or ['no message'])[-1]}")
    between = lcm(100, s.train_every)  # steps from one such line to the next
    gradient_steps = sum(1 for i in range(s.learning_starts + 1, s.steps) if i % s.train_every == 0)
    return rate, between * (len(seen) - 1) / (seen[-1] - seen[0]), gradient_steps


# What is measured, with the width of the layers.
PEERS = {
    "Stable-Baselines3": (stable_baselines3, (64, 64)),
    "CleanRL": (cleanrl, CLEANRL_HIDDEN),
    "loop after CleanRL": (loop, (64, 64)),
    "loop after CleanRL, its layers": (loop, CLEANRL_HIDDEN),
}


def measure(peer, settings, threads):
    """Trains once in this process, bound to `threads` processors."""
    available = sorted(os.sched_getaffinity(0))
    if len(available) < threads:
        sys.exit(
            f"{threads} threads on {len(available)} processors: leave {threads} out of --threads"
        )
    os.sched_setaffinity(0, available[:threads])
    whole, steady, gradient_steps = PEERS[peer][0](settings, threads)
    return {
        "peer": peer,
        "task": "train cartpole",
        "hidden": list(settings.hidden),
        "threads": threads,
        "train_every": settings.train_every,
        "steps": settings.steps,
        "gradient_steps": gradient_steps,
        "steps_per_s": round(whole),
        "steady_steps_per_s": round(steady),
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--train-every", type=int, default=4, help="environment steps for one gradient step")
    parser.add_argument(
        "--hidden", type=int, nargs="+", help="width of the layers, instead of those of each peer"
    )
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--peers", nargs="+", default=list(PEERS), choices=list(PEERS))
    parser.add_argument("--json", help="file the JSON lines are appended to")
    parser.add_argument("--one", metavar="PEER", help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.one:
        settings = Settings(steps=a.steps, train_every=a.train_every, hidden=tuple(a.hidden))
        print(json.dumps(measure(a.one, settings, a.threads[0])))
        return
    print(
        f"{'peer':32} {'layers':8} {'threads':>7} {'steps/s':>9} {'once learning':>14} {'gradient steps':>15}"
    )
    for peer in a.peers:
        hidden = a.hidden or PEERS[peer][1]
        for threads in a.threads:
            command = [sys.executable, os.path.abspath(__file__), "--one", peer, "--threads", threads]
            command += ["--steps", a.steps, "--train-every", a.train_every, "--hidden", *hidden]
            done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
            if done.returncode != 0:
                print(f"{peer}: {(done.stderr.strip().splitlines() or ['no message'])[-1]}", file=sys.stderr)
                break
            row = json.loads(done.stdout.strip().splitlines()[-1])
            layers = "-".join(map(str, row["hidden"]))
            print(
                f"{peer:32} {layers:8} {threads:7} {row['steps_per_s']:9} {row['steady_steps_per_s']:14}"
                f" {row['gradient_steps']:15}",
                flush=True,
            )
            if a.json:
                with open(a.json, "a", encoding="utf-8") as file:
                    print(json.dumps(row), file=file)


if __name__ == "__main__":
    main()

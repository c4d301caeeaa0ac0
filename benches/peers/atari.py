"""Frames/s of the console, our emulator beside ALE's vector environment, eight environments on one core.

    python atari.py OURS [--seconds 2] [--rounds 3] [--games pong,breakout] [--json FILE]

OURS is the example of adfq-env: cargo build --release -p adfq-env --example atari_speed

Random actions, four frames a step, 84 x 84, the defaults of ALE. The two take turns, each bound to the same core;
the median over the rounds counts. Starts of games count as time and not as frames. Time is that on the core, so that
other processes matter less.
"""

import argparse
import json
import os
import statistics
import subprocess
import time

import ale_py
import numpy as np
from ale_py.vector_env import AtariVectorEnv

GAMES = "asterix,boxing,breakout,enduro,kung_fu_master,pong"
ENVIRONMENTS, FRAMES, BLOCK = 8, 4, 50
ROMS = os.path.join(os.path.dirname(ale_py.__file__), "roms")


def ale(game, seconds):
    """Frames a second of ALE's vector environment."""
    envs = AtariVectorEnv(game, ENVIRONMENTS, num_threads=1)
    rng = np.random.default_rng(1)
    actions = rng.integers(0, envs.single_action_space.n, (1_000, ENVIRONMENTS))
    envs.reset(seed=1)
    start, steps = time.process_time(), 0
    while time.process_time() < start + seconds:
        for _ in range(BLOCK):
            envs.step(actions[steps % len(actions)])
            steps += 1
    rate = steps * ENVIRONMENTS * FRAMES / (time.process_time() - start)
    envs.close()
    return rate


def ours(program, game, seconds):
    """Frames a second of our emulator."""
    environment = {**os.environ, "ADFQ_ROMS": ROMS}
    said = subprocess.run(
        [program, str(seconds), game], env=environment, check=True, capture_output=True, text=True
    )
    return float(said.stdout.split()[1])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("ours", help="the example atari_speed of adfq-env")
    parser.add_argument("--seconds", type=float, default=2.0, help="time for each measurement")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--games", default=GAMES)
    parser.add_argument("--json", help="file the JSON lines are appended to")
    a = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-1:])
    print(f"{'game':16} {'ours':>8} {'ALE':>8} {'ratio':>6}   frames/s, one core")
    for game in a.games.split(","):
        pairs = [(ours(a.ours, game, a.seconds), ale(game, a.seconds)) for _ in range(a.rounds)]
        one, other = (statistics.median(rates) for rates in zip(*pairs))
        # Each pair was measured within seconds, so its ratio suffers least from what else the machine does.
        ratio = statistics.median(one / other for one, other in pairs)
        print(f"{game:16} {one:8.0f} {other:8.0f} {ratio:6.2f}", flush=True)
        if a.json:
            row = {"task": f"atari {game}", "ours": round(one), "ale": round(other), "ratio": round(ratio, 2)}
            with open(a.json, "a", encoding="utf-8") as file:
                print(json.dumps(row), file=file)


if __name__ == "__main__":
    main()

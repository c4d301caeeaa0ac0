"""Environment steps/s with actions at random and no agent: CartPole-v1 of Gymnasium, Breakout of MinAtar.

    python gymnasium_steps.py [--seconds 3] [--json FILE]

One process, one thread. Actions are drawn beforehand; a step gives the observation too, and a finished episode
is reset, which counts as time and not as a step.
"""

import argparse
import json
import statistics
import time

import gymnasium
import minatar
import numpy as np

BLOCK = 2_000  # steps between two looks at the clock


def cartpole(env):
    """A function that takes one action."""
    env.reset(seed=1)

    def step(action):
        _, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            env.reset()

    return step


def breakout():
    """As `cartpole`, with sticky actions and the ramp of difficulty as the package has them."""
    env = minatar.Environment("breakout")
    env.seed(1)
    env.reset()

    def step(action):
        _, terminal = env.act(action)
        env.state()
        if terminal:
            env.reset()

    return step


def rate(step, actions, seconds):
    """Median and best steps/s over blocks."""
    rates, end = [], time.perf_counter() + seconds
    while len(rates) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        for action in actions:
            step(action)
        rates.append(len(actions) / (time.perf_counter() - start))
    return statistics.median(rates), max(rates)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=3.0, help="time for each environment")
    parser.add_argument("--json", help="file the JSON lines are appended to")
    a = parser.parse_args()
    rng = np.random.default_rng(1)
    made = gymnasium.make("CartPole-v1")
    environments = [
        ("Gymnasium", "cartpole", cartpole(made), 2),
        # Without the wrappers `make` adds: no checks, and no time limit, which random actions never reach.
        ("Gymnasium, no wrappers", "cartpole", cartpole(gymnasium.make("CartPole-v1").unwrapped), 2),
        ("MinAtar package", "minatar breakout", breakout(), 6),
    ]
    print(f"{'environment':18} {'peer':24} {'steps/s':>9} {'best':>9}")
    for peer, name, step, actions in environments:
        median, best = rate(step, rng.integers(0, actions, BLOCK).tolist(), a.seconds)
        row = {
            "peer": peer,
            "task": f"env {name}",
            "threads": 1,
            "steps_per_s": round(median),
            "best": round(best),
        }
        print(f"{name:18} {peer:24} {row['steps_per_s']:9} {row['best']:9}", flush=True)
        if a.json:
            with open(a.json, "a", encoding="utf-8") as file:
                print(json.dumps(row), file=file)


if __name__ == "__main__":
    main()

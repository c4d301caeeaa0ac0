#!/usr/bin/env python3
"""Searches settings for an environment and an agent: random search with successive halving over deterministic runs.

    scripts/tune.py --adfq target/release/adfq --jobs 2 cartpole:adfq cartpole:dqn
    scripts/tune.py --adfq target/release/adfq --jobs 16 --out results/presets all

A search has four rungs. Each tries fewer settings for longer, with more seeds (in brackets: games of MinAtar):

    1. 20 settings (12), a quarter of the steps, 1 seed. The first of them are the defaults.
    2. the best 7 (4), half of the steps, 2 more seeds
    3. the best 3 (2), all steps, 3 more seeds (2)
    4. the verdict: the best one and the defaults, all steps, on fresh seeds that nothing was chosen by

The score of a run is the mean return of its evaluations in the second half of training. The score of settings on a rung
is the mean over its seeds. Seeds of the search are 1000 and above, those of the verdict 0 to 9 (fewer where runs
are long). The settings that are tried depend on the names of environment and agent alone, so a search can be repeated.

Every run is a row of OUT/trials.csv.
"""

import argparse
import concurrent.futures
import csv
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

# How many settings, for which share of the steps, with how many seeds. Games take longer, so fewer are tried.
RUNGS = [(20, 0.25, 1), (7, 0.5, 2), (3, 1.0, 3)]
GAME_RUNGS = [(12, 0.25, 1), (4, 0.5, 2), (2, 1.0, 2)]
FIRST_SEED = 1000
COLUMNS = ["env", "agent", "rung", "trial", "settings", "steps", "seed", "score", "final", "seconds"]
MINATAR = [f"minatar/{game}" for game in ("asterix", "breakout", "freeway", "seaquest", "space-invaders")]

# Environment: steps of a whole run, seeds of the verdict.
CONTROL = {
    "cartpole": (50_000, 10),
    "acrobot": (50_000, 10),
    "mountaincar": (100_000, 10),
    "gym:LunarLander-v3": (400_000, 5),
    "gym:Taxi-v4": (100_000, 10),
    "gym:FrozenLake-v1": (50_000, 10),
    "deepsea-20": (50_000, 10),
}
GAMES = {game: (500_000, 3) for game in MINATAR}
AGENTS = ["adfq", "dqn"]
EVALUATIONS = 20


def choices(env, agent):
    """The values that are searched, by setting. The first rung draws one of each."""
    game = env in GAMES
    values = {
        "learning.adam.rate": [1e-4, 2e-4, 3e-4, 5e-4, 1e-3, 2e-3],
        "learning.batch": [32, 64, 128] if not game else [32, 64],
        "learning.discount": [0.98, 0.99, 0.995] if not game else [0.97, 0.99],
        "learning.target": [{"soft": 0.003}, {"soft": 0.01}, {"soft": 0.03}, {"hard": 500}, {"hard": 2000}],
        "learning.huber": [1.0, 10.0, 100.0],
        "learning.final_rate": [0.0, 0.1, 1.0],
        "learning.every": [1, 2, 4] if not game else [2, 4],
        "replay.n_step": [1, 2, 3, 5],
        "replay.priority.alpha": [0.0, 0.4, 0.6],
    }
    if agent == "dqn":
        values["exploration.to"] = [0.01, 0.02, 0.05]
        values["exploration.fraction"] = [0.05, 0.1, 0.2, 0.4]
    else:
        values["adfq.sd"] = [1.0, 3.0, 10.0, 30.0, 100.0]
        values["adfq.min_var"] = [1e-5, 1e-3, 1e-2, 0.1]
        values["adfq.terminal_var"] = [1e-4, 1e-2, 1.0]
    return values


def draw(env, agent, count):
    """Settings to try: the defaults, then random ones. The same for the same names."""
    chance = random.Random(f"{env} {agent}")
    values = choices(env, agent)
    return [{}] + [{name: chance.choice(options) for name, options in values.items()} for _ in range(count - 1)]


class Tuner:
    def __init__(self, args):
        self.args = args
        self.pool = concurrent.futures.ThreadPoolExecutor(args.jobs)
        self.lock = threading.Lock()
        self.deadline = time.monotonic() + args.seconds if args.seconds else None
        self.table = pathlib.Path(args.out) / "trials.csv"
        self.table.parent.mkdir(parents=True, exist_ok=True)
        self.known = {}
        if self.table.exists():
            with self.table.open() as file:
                for row in csv.DictReader(file):
                    self.known[key(row)] = float(row["score"])
        else:
            self.write(COLUMNS)

    def write(self, row):
        with self.lock, self.table.open("a", newline="") as file:
            csv.writer(file, lineterminator="\n").writerow(row)

    def search(self, env, agent):
        steps, seeds = {**CONTROL, **GAMES}[env]
        steps = int(steps * self.args.scale)
        rungs = GAME_RUNGS if env in GAMES else RUNGS
        settings = draw(env, agent, rungs[0][0])
        trials, first = list(range(len(settings))), FIRST_SEED
        for rung, (count, share, several) in enumerate(rungs, 1):
            trials = trials[:count]
            scores = self.rung(env, agent, rung, {t: settings[t] for t in trials}, int(steps * share), range(first, first + several))
            trials.sort(key=lambda trial: -scores[trial])
            first += several
        verdict = {trial: settings[trial] for trial in {0, trials[0]}}
        scores = self.rung(env, agent, "verdict", verdict, steps, range(seeds))
        print(f"{env} {agent}: default {scores[0]:.2f}, trial {trials[0]} {scores[trials[0]]:.2f}", flush=True)

    def rung(self, env, agent, rung, trials, steps, seeds):
        """The score of each trial: the mean over the seeds."""
        runs = {
            (trial, seed): self.pool.submit(self.run, env, agent, rung, trial, settings, steps, seed)
            for trial, settings in trials.items()
            for seed in seeds
        }
        return {trial: statistics.mean(runs[trial, seed].result() for seed in seeds) for trial in trials}

    def run(self, env, agent, rung, trial, settings, steps, seed):
        known = self.known.get((env, agent, str(rung), str(trial), str(seed), str(steps)))
        if known is not None:
            return known
        if self.deadline and time.monotonic() > self.deadline:
            raise TimeoutError
        begun = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "run"
            command = [self.args.adfq, "train", env, "--agent", agent, "--steps", str(steps), "--seed", str(seed), "--out", str(out)]
            command += self.args.add.split()
            for name, value in {**self.always(steps), **settings}.items():
                command += ["--set", f"{name}={toml(value)}"]
            left = None if self.deadline is None else max(1.0, self.deadline - begun)
            done = subprocess.run(command, capture_output=True, text=True, timeout=left)
            if done.returncode and "finite" not in done.stderr and "diverged" not in done.stderr:
                print(" ".join(command), done.stderr[-500:], file=sys.stderr, flush=True)
            score, final = scored(out / "evaluations.csv", steps)
        seconds = round(time.monotonic() - begun, 1)
        self.write([env, agent, rung, trial, json.dumps(settings), steps, seed, score, final, seconds])
        return score

    def always(self, steps):
        return {
            "evaluation.every": max(1, steps // EVALUATIONS),
            "evaluation.episodes": 5,
            "evaluation.final_episodes": 20,
            "logging.checkpoint": steps,
        }


def key(row):
    return tuple(row[name] for name in ("env", "agent", "rung", "trial", "seed", "steps"))


def toml(value):
    """A value as `--set` reads it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {toml(part)}" for name, part in value.items()) + "}"
    return json.dumps(value)


WORST = -1e9


def scored(path, steps):
    """The mean return in the second half of training, and that of the last evaluation. A run that diverged has neither."""
    returns = {}
    if path.exists():
        with path.open() as file:
            for row in csv.DictReader(file):
                returns.setdefault(int(row["step"]), []).append(float(row["return"]))
    if not returns or max(returns) < steps:
        return WORST, WORST
    means = {step: statistics.mean(found) for step, found in returns.items()}
    late = [mean for step, mean in means.items() if step > steps // 2]
    return round(statistics.mean(late), 4), round(means[max(means)], 4)


def main():
    known = [f"{env}:{agent}" for env in [*CONTROL, *GAMES] for agent in AGENTS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adfq", required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at a time")
    parser.add_argument("--out", default="results/presets")
    parser.add_argument("--scale", type=float, default=1.0, help="shorter or longer runs")
    parser.add_argument("--seconds", type=float, help="stop after this time; the same command again goes on")
    parser.add_argument("--add", default="--threads 1 --preset default", help="further words for adfq train")
    parser.add_argument("searches", nargs="+", metavar="ENV:AGENT", help="all, control, games, or some of: " + " ".join(known))
    args = parser.parse_args()
    groups = {"all": known, "control": known[: 2 * len(CONTROL)], "games": known[2 * len(CONTROL) :]}
    searches = [search for name in args.searches for search in groups.get(name, [name])]
    for search in searches:
        if search not in known:
            parser.error(f"there is no search {search}")
    tuner = Tuner(args)

    def search(name):
        try:
            tuner.search(*name.rsplit(":", 1))
        except (TimeoutError, subprocess.TimeoutExpired):
            print(f"{name}: not done in time", flush=True)

    threads = [threading.Thread(target=search, args=(name,)) for name in searches]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]


if __name__ == "__main__":
    main()

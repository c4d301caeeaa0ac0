#!/usr/bin/env python3
"""Searches settings for an environment and an agent: random search with successive halving over deterministic runs.

    scripts/tune.py --adfq target/release/adfq --jobs 2 cartpole:adfq cartpole:dqn
    scripts/tune.py --adfq target/release/adfq --jobs 16 --out results/presets all
    scripts/tune.py --adfq target/release/adfq --together '--device cuda' games deepsea-20:adfq deepsea-20:dqn
    scripts/tune.py --adfq target/release/adfq --together '--device cuda' atari
    scripts/tune.py --presets       # writes presets/*.toml from what is recorded in results/presets

A search has three rungs and a verdict. Each rung tries fewer settings for longer, with more seeds (in brackets: games of
MinAtar; Atari goes from rung 2 to the verdict):

    1. 20 settings (12), a quarter of the steps, 1 seed. The first of them are the general settings.
    2. the best 7 (4), half of the steps, 2 more seeds
    3. the best 3 (2, also of LONG), all steps, 3 more seeds (2). Where MORE names settings, they join here.
    4. the verdict: the best one and the general settings, all steps, on fresh seeds that nothing was chosen by. The preset
       gets the better of the two.

ADFQ is searched with Thompson sampling (adfq) and, in the environments of WITH_EPSILON, with ε-greedy exploration as well
(adfq-eps). The better one of rung 3 goes to the verdict. Double DQN gets the settings that were found for DQN, and a
verdict of its own.

The score of a run is the mean return of its evaluations in the second half of training. The score of settings on a rung
is the mean over its seeds. Seeds of the search are 1000 and above, those of the verdict 0 to 9 (fewer where runs
are long), and 200 and above for games. The settings that are tried depend on the names of environment and agent alone, so a search can be repeated.

The same settings are tried in all games of MinAtar. One game of Atari, Kung-Fu Master, stands for all: its returns tell settings apart
after fewer steps than those of the others. With --together all runs of a rung train in one process, so that a GPU computes those
side by side that agree in network, batch and schedule.

Every run is a row of OUT/trials.csv. The same command again goes on where it was.
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
import typing

# How many settings, for which share of the steps, with how many seeds. Games take longer, so fewer are tried.
RUNGS = [(20, 0.25, 1), (7, 0.5, 2), (3, 1.0, 3)]
GAME_RUNGS = [(12, 0.25, 1), (4, 0.5, 2), (2, 1.0, 2)]
LONG_RUNGS = [(20, 0.25, 1), (7, 0.5, 2), (2, 1.0, 2)]
ATARI_RUNGS = [(12, 0.25, 1), (4, 0.5, 2)]
FIRST_SEED = 1000
COLUMNS = ["env", "agent", "rung", "trial", "settings", "steps", "seed", "score", "final", "seconds"]
MINATAR = [f"minatar/{game}" for game in ("asterix", "breakout", "freeway", "seaquest", "space-invaders")]

# Environment: steps of a whole run, seeds of the verdict.
CONTROL = {
    "cartpole": (50_000, 10),
    "acrobot": (50_000, 10),
    "mountaincar": (100_000, 10),
    "gym:LunarLander-v3": (400_000, 5),
    "gym:Taxi-v4": (100_000, 5),
    "gym:FrozenLake-v1": (50_000, 10),
    "deepsea-20": (50_000, 10),
}
ATARI = {"atari:kung_fu_master": (150_000, 5)}
GAMES = {**{game: (500_000, 10) for game in MINATAR}, **ATARI}
# Seeds 0 to 9 of the games had been looked at before there was a search.
GAME_VERDICT = 200
AGENTS = ["adfq", "dqn"]
LONG = ["gym:LunarLander-v3"]
WITH_EPSILON = ["mountaincar", "gym:Taxi-v4", "gym:FrozenLake-v1"]
# Who gets the settings of whom.
FOLLOWERS = {"dqn": ["ddqn"]}
# How often a run is evaluated, in how many episodes, and in how many at its end. A game of Atari takes as long as a thousand steps.
EVALUATIONS, EPISODES, FINAL_EPISODES = 20, 5, 20
ATARI_EVALUATIONS, ATARI_EPISODES, ATARI_FINAL_EPISODES = 1, 3, 10

# Settings that somebody thought of after rung 2, by environment and agent.
LANDER = {"learning.batch": 128, "learning.target": {"soft": 0.01}, "learning.huber": 10.0, "learning.final_rate": 0.0}
MORE = {
    ("gym:LunarLander-v3", "adfq"): [
        {**LANDER, "learning.adam.rate": 1e-3, "learning.every": 2, "replay.n_step": 3, "adfq.sd": 3.0, "adfq.min_var": 0.1,
         "adfq.terminal_var": 0.01},
    ],
    ("gym:LunarLander-v3", "dqn"): [
        {**LANDER, "learning.adam.rate": 5e-4, "learning.every": 2, "replay.n_step": 5, "replay.priority.alpha": 0.0,
         "exploration.to": 0.01, "exploration.fraction": 0.1},
    ],
}


def choices(env, agent):
    """The values that are searched, by setting. The first rung draws one of each."""
    game = env in GAMES
    values = {
        "learning.adam.rate": [1e-4, 2e-4, 3e-4, 5e-4, 1e-3, 2e-3],
        "learning.batch": [32, 64, 128],
        "learning.discount": [0.98, 0.99, 0.995] if not game else [0.97, 0.99],
        "learning.target": [{"soft": 0.003}, {"soft": 0.01}, {"soft": 0.03}, {"hard": 500}, {"hard": 2000}],
        "learning.huber": [1.0, 10.0, 100.0],
        "learning.final_rate": [0.0, 0.1, 1.0],
        "learning.every": [1, 2, 4],
        "replay.n_step": [1, 2, 3, 5],
        "replay.priority.alpha": [0.0, 0.4, 0.6],
    }
    if game:
        # Runs that agree in these are computed together on a GPU.
        for name in ("learning.batch", "learning.target", "learning.every"):
            del values[name]
        values["replay.priority.alpha"] = [0.4, 0.6]
    if agent != "adfq":
        values["exploration.to"] = [0.01, 0.02, 0.05]
        values["exploration.fraction"] = [0.05, 0.1, 0.2, 0.4]
    if agent != "dqn":
        values["adfq.sd"] = [1.0, 3.0, 10.0, 30.0, 100.0]
        values["adfq.min_var"] = [1e-5, 1e-3, 1e-2, 0.1]
        values["adfq.terminal_var"] = [1e-4, 1e-2, 1.0]
    return values


def draw(env, agent, count):
    """Settings to try: the general ones, then random ones. The same for the same names, and for all games."""
    chance = random.Random(f"{'minatar' if env in MINATAR else env} {agent}")
    values = choices(env, agent)
    drawn = [{name: chance.choice(options) for name, options in values.items()} for _ in range(count - 1)]
    return [{**base(env), **settings} for settings in [{}, *drawn]]


def base(env):
    """What all trials in an environment have. Games run eight at a time: a GPU would wait for a single one."""
    return {"envs": 8} if env in GAMES else {}


class Run(typing.NamedTuple):
    """What is trained once."""

    env: str
    agent: str
    rung: object
    trial: int
    settings: dict
    steps: int
    seed: int

    def key(self):
        return key({name: str(value) for name, value in self._asdict().items()})


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

    def size(self, env):
        """The steps of a whole run, and the seeds of the verdict."""
        steps, seeds = {**CONTROL, **GAMES}[env]
        first = GAME_VERDICT if env in GAMES else 0
        return int(steps * self.args.scale), range(first, first + seeds)

    def rungs(self, env):
        if env in ATARI:
            return ATARI_RUNGS
        return GAME_RUNGS if env in GAMES else LONG_RUNGS if env in LONG else RUNGS

    # --- One search, each run a process

    def search(self, env, agent):
        variants = [agent, "adfq-eps"] if agent == "adfq" and env in WITH_EPSILON else [agent]
        best = max((self.halve(env, variant) for variant in variants), key=lambda found: found[0])
        _, variant, trial, settings = best
        steps, seeds = self.size(env)
        for label, follower in [(variant, agent), *((label, label) for label in FOLLOWERS.get(agent, []))]:
            found = self.rung(env, label, "verdict", {trial: settings}, steps, seeds)[trial]
            general = self.rung(env, follower, "verdict", {0: base(env)}, steps, seeds)[0]
            print(f"{env} {label}: general settings {general:.2f}, trial {trial} {found:.2f}", flush=True)

    def halve(self, env, agent):
        """The best settings, as their score, the agent, their number and themselves."""
        steps, _ = self.size(env)
        rungs = self.rungs(env)
        drawn = draw(env, agent, rungs[0][0])
        settings = dict(enumerate(drawn + MORE.get((env, agent), [])))
        trials, first = list(range(len(drawn))), FIRST_SEED
        for rung, (count, share, several) in enumerate(rungs, 1):
            trials = trials[:count]
            if rung == len(rungs):
                trials += range(len(drawn), len(settings))
            scores = self.rung(env, agent, rung, {t: settings[t] for t in trials}, int(steps * share), range(first, first + several))
            trials.sort(key=lambda trial: -scores[trial])
            first += several
        return scores[trials[0]], agent, trials[0], settings[trials[0]]

    def rung(self, env, agent, rung, trials, steps, seeds):
        """The score of each trial: the mean over the seeds."""
        runs = planned(env, agent, rung, trials, steps, seeds)
        trained = [self.pool.submit(self.train, run) for run in runs]
        [one.result() for one in trained]
        return {trial: score for (_, _, trial), score in self.scores(runs).items()}

    def train(self, run):
        if run.key() in self.known:
            return
        left, begun = self.time_left(), time.monotonic()
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place) / "run"
            command = self.command(run, folder)
            done = subprocess.run(command, capture_output=True, text=True, timeout=left)
            if done.returncode and "finite" not in done.stderr and "diverged" not in done.stderr:
                print(" ".join(command), done.stderr[-500:], file=sys.stderr, flush=True)
            self.note(run, folder, time.monotonic() - begun)

    # --- Several searches, all runs of a rung in one process

    def search_together(self, searches):
        drawn = {(env, agent): dict(enumerate(draw(env, agent, self.rungs(env)[0][0]))) for env, agent in searches}
        trials = {search: list(settings) for search, settings in drawn.items()}
        first = dict.fromkeys(searches, FIRST_SEED)
        for rung in range(len(RUNGS)):
            runs = []
            for search in [search for search in searches if rung < len(self.rungs(search[0]))]:
                count, share, several = self.rungs(search[0])[rung]
                trials[search] = trials[search][:count]
                tried = {trial: drawn[search][trial] for trial in trials[search]}
                seeds = range(first[search], first[search] + several)
                runs += planned(*search, rung + 1, tried, int(self.size(search[0])[0] * share), seeds)
                first[search] += several
            scores = self.train_together(runs)
            for search, tried in trials.items():
                if (*search, tried[0]) in scores:
                    tried.sort(key=lambda trial: -scores[(*search, trial)])
        runs = []
        for (env, agent), (best, *_) in trials.items():
            judged = {trial: drawn[env, agent][trial] for trial in sorted({0, best})}
            for label in [agent, *FOLLOWERS.get(agent, [])]:
                runs += planned(env, label, "verdict", judged, *self.size(env))
        for (env, label, trial), score in self.train_together(runs).items():
            print(f"{env} {label}: trial {trial} {score:.2f}", flush=True)

    def train_together(self, runs):
        """Trains what is missing, and gives the scores."""
        left, begun = self.time_left(), time.monotonic()
        missing = [run for run in runs if run.key() not in self.known]
        with tempfile.TemporaryDirectory() as place:
            folders = [pathlib.Path(place) / str(number) for number in range(len(missing))]
            list(self.pool.map(self.prepare, missing, folders))
            if missing:
                command = [self.args.adfq, "train", "--resume", *map(str, folders), *self.args.together.split()]
                done = subprocess.run(command, capture_output=True, text=True, timeout=left)
                print(done.stderr[-2000:] if done.returncode else "", end="", file=sys.stderr, flush=True)
            for run, folder in zip(missing, folders):
                self.note(run, folder, (time.monotonic() - begun) / len(missing))
        return self.scores(runs)

    def prepare(self, run, folder):
        """Makes a run folder with nothing in it but the configuration: that of a run at its beginning."""
        process = subprocess.Popen(self.command(run, folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not (folder / "config.toml").exists() and process.poll() is None:
            time.sleep(0.01)
        process.kill()
        process.wait()
        for left in [path for path in folder.iterdir() if path.name != "config.toml"]:
            shutil.rmtree(left) if left.is_dir() else left.unlink()

    # --- Both

    def time_left(self):
        left = self.deadline - time.monotonic() if self.deadline else None
        if left is not None and left <= 0:
            raise TimeoutError
        return left

    def command(self, run, folder):
        command = [self.args.adfq, "train", run.env, "--agents", run.agent, "--steps", str(run.steps), "--seeds", str(run.seed)]
        command += ["--out", str(folder), *self.args.add.split()]
        for name, value in {**always(run.env, run.steps), **run.settings}.items():
            command += ["--set", f"{name}={toml(value)}"]
        return command

    def note(self, run, folder, seconds):
        score, final = scored(folder / "evaluations.csv", run.steps)
        self.known[run.key()] = score
        self.write([*run[:4], json.dumps(run.settings), run.steps, run.seed, score, final, round(seconds, 1)])

    def scores(self, runs):
        """The score of each environment, agent and trial: the mean over its seeds."""
        found = {}
        for run in runs:
            found.setdefault((run.env, run.agent, run.trial), []).append(self.known[run.key()])
        return {which: statistics.mean(several) for which, several in found.items()}


def planned(env, agent, rung, trials, steps, seeds):
    """A run of each trial with each seed."""
    return [Run(env, agent, rung, trial, settings, steps, seed) for trial, settings in trials.items() for seed in seeds]


def always(env, steps):
    atari = env in ATARI
    return {
        "evaluation.every": max(1, steps // (ATARI_EVALUATIONS if atari else EVALUATIONS)),
        "evaluation.episodes": ATARI_EPISODES if atari else EPISODES,
        "evaluation.final_episodes": ATARI_FINAL_EPISODES if atari else FINAL_EPISODES,
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


# --- Presets -----------------------------------------------------------------------------------------------------------

HEAD = "# Written by scripts/tune.py --presets from results/presets. docs/presets.md says how it was found. Not to be edited by hand.\n"
# How agents explore whose policy is not ε-greedy.
POLICIES = {"adfq": "thompson", "calibrated": "doubt"}
# What stands for more than the environment that was searched.
STANDS_FOR = {"deepsea-20": "deepsea-*", "atari:kung_fu_master": "atari:*"}


def presets(record):
    """The text of each preset by its name, from the rows of the search."""
    verdicts = {}
    for row in record:
        if row["rung"] == "verdict":
            family = row["agent"].removesuffix("-eps")
            verdicts.setdefault((row["env"], family), []).append(row)
    texts = {}
    for (env, family), rows in verdicts.items():
        general = [row for row in rows if row["trial"] == "0" and row["agent"] == family]
        # The general settings with another policy are other settings. A later search may have brought others to a verdict.
        tuned = {}
        for row in rows:
            if row not in general:
                tuned.setdefault((row["agent"], row["trial"]), []).append(row)
        if general:
            # Where nothing that was found is better on fresh seeds, the preset has the general settings.
            tuned = max([general, *tuned.values()], key=lambda judged: statistics.mean(float(row["final"]) for row in judged))
            texts[f"{short(env)}-{family}"] = preset(env, family, tuned, general, tried(record, env, family))
    return texts


def tried(record, env, family):
    """How many settings were tried, those of the agent that it follows included."""
    leaders = [leader for leader, followers in FOLLOWERS.items() if family in followers] or [family]
    labels = [label for leader in leaders for label in (leader, f"{leader}-eps")]
    return len({(row["agent"], row["trial"]) for row in record if row["env"] == env and row["agent"] in labels})


def preset(env, family, tuned, general, count):
    settings = json.loads(tuned[0]["settings"])
    policy = POLICIES.get(tuned[0]["agent"], "epsilon")
    lines = [HEAD, f'env = "{STANDS_FOR.get(env, env)}"', f'agent = "{family}"', f'policy = "{policy}"']
    lines += [f"steps = {tuned[0]['steps']}", f"tried = {count}"]
    if env in STANDS_FOR:
        lines.append(f'judged_on = "{env}"')
    for name, rows in [("reached", tuned), ("general", general)]:
        mean, low, high = interval([float(row["final"]) for row in rows])
        lines += ["", f"[{name}]", f"mean = {mean}", f"low = {low}", f"high = {high}", f"seeds = {len(rows)}"]
    if settings:
        lines += ["", "[settings]", *(f'"{name}" = {toml(value)}' for name, value in sorted(settings.items()))]
    return "\n".join(lines) + "\n"


def short(env):
    """A name for a file: `gym:LunarLander-v3` is `lunarlander`."""
    if env in ATARI:
        return "atari"
    name = env.removeprefix("gym:").split("/")[-1].lower()
    return name.rsplit("-v", 1)[0] if env.startswith("gym:") else name.removesuffix("-20")


def interval(values):
    """The mean and its bootstrap interval of 95 %."""
    chance = random.Random(0)
    means = sorted(statistics.mean(chance.choices(values, k=len(values))) for _ in range(4000))
    rounded = [round(number, 4) + 0.0 for number in (statistics.mean(values), means[100], means[3899])]
    return rounded


def write_presets(record, folder):
    folder.mkdir(exist_ok=True)
    texts = presets(record)
    for old in folder.glob("*.toml"):
        if old.stem not in texts:
            old.unlink()
    for name, text in texts.items():
        (folder / f"{name}.toml").write_text(text)
    print(f"{len(texts)} presets in {folder}")


def recorded(folder):
    rows = []
    for table in sorted(folder.glob("*.csv")):
        with table.open() as file:
            rows += csv.DictReader(file)
    return rows


def named(envs):
    """The searches in these environments."""
    return [f"{env}:{agent}" for env in envs for agent in AGENTS]


def main():
    groups = {"control": named(CONTROL), "games": named(MINATAR), "atari": named(ATARI)}
    groups["all"] = known = [search for several in groups.values() for search in several]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adfq", help="the program; needed unless presets are written")
    parser.add_argument("--presets", action="store_true", help="write presets/*.toml from what is recorded in OUT")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at a time")
    parser.add_argument("--out", default="results/presets")
    parser.add_argument("--scale", type=float, default=1.0, help="shorter or longer runs")
    parser.add_argument("--together", metavar="WORDS", help="all runs of a rung in one process, which gets these words, as '--device cuda'")
    parser.add_argument("--seconds", type=float, help="stop after this time; the same command again goes on")
    parser.add_argument("--add", default="--threads 1 --preset default", help="further words for adfq train")
    parser.add_argument("searches", nargs="*", metavar="ENV:AGENT", help="all, control, games, atari, or some of: " + " ".join(known))
    args = parser.parse_args()
    if args.presets:
        return write_presets(recorded(pathlib.Path(args.out)), pathlib.Path(__file__).parent.parent / "presets")
    if not args.adfq or not args.searches:
        parser.error("say which searches to make, and the program by --adfq")
    searches = [search for name in args.searches for search in groups.get(name, [name])]
    for search in searches:
        if search not in known:
            parser.error(f"there is no search {search}")
    tuner = Tuner(args)
    parts = [tuple(search.rsplit(":", 1)) for search in searches]

    def search(work, *what):
        try:
            work(*what)
        except (TimeoutError, subprocess.TimeoutExpired):
            print(f"{what}: not done in time", flush=True)

    if args.together is not None:
        return search(tuner.search_together, parts)
    threads = [threading.Thread(target=search, args=(tuner.search, *part)) for part in parts]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]


if __name__ == "__main__":
    main()

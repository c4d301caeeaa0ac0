#!/usr/bin/env python3
"""Searches settings for an environment and an agent: random search with successive halving over deterministic runs.

    scripts/tune.py --adfq target/release/adfq --jobs 2 cartpole:adfq cartpole:dqn
    scripts/tune.py --adfq target/release/adfq --jobs 16 --out results/presets all
    scripts/tune.py --adfq target/release/adfq --jobs 4 --crew --add '--preset default --device cuda' games deepsea-20:adfq
    scripts/tune.py --presets       # writes presets/*.toml from what is recorded in results/presets

A search has three rungs and a verdict. Each rung tries fewer settings for longer, with more seeds (in brackets: games of
MinAtar):

    1. 20 settings (12), a quarter of the steps, 1 seed. The first of them are the general settings.
    2. the best 7 (4), half of the steps, 2 more seeds
    3. the best 3 (2, also of LONG), all steps, 3 more seeds (2). Where MORE names settings, they join here.
    4. the verdict: the best one and the general settings, all steps, on fresh seeds that nothing was chosen by

ADFQ is searched with Thompson sampling (adfq) and, in the environments of WITH_EPSILON, with ε-greedy exploration as well
(adfq-eps). The better one of rung 3 goes to the verdict. Double DQN gets the settings that were found for DQN, and a
verdict of its own.

The score of a run is the mean return of its evaluations in the second half of training. The score of settings on a rung
is the mean over its seeds. Seeds of the search are 1000 and above, those of the verdict 0 to 9 (fewer where runs
are long). The settings that are tried depend on the names of environment and agent alone, so a search can be repeated.

With --crew all games are searched together: the same settings are tried in each, so that the runs of one trial can
train side by side on a GPU. Which settings are the best is decided for each game.

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
import tomllib

# How many settings, for which share of the steps, with how many seeds. Games take longer, so fewer are tried.
RUNGS = [(20, 0.25, 1), (7, 0.5, 2), (3, 1.0, 3)]
GAME_RUNGS = [(12, 0.25, 1), (4, 0.5, 2), (2, 1.0, 2)]
LONG_RUNGS = [(20, 0.25, 1), (7, 0.5, 2), (2, 1.0, 2)]
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
GAMES = {game: (500_000, 5) for game in MINATAR}
AGENTS = ["adfq", "dqn"]
LONG = ["gym:LunarLander-v3"]
WITH_EPSILON = ["mountaincar", "gym:Taxi-v4", "gym:FrozenLake-v1"]
# Who gets the settings of whom.
FOLLOWERS = {"dqn": ["ddqn"]}
EVALUATIONS = 20

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
        "learning.batch": [32, 64, 128] if not game else [32, 64],
        "learning.discount": [0.98, 0.99, 0.995] if not game else [0.97, 0.99],
        "learning.target": [{"soft": 0.003}, {"soft": 0.01}, {"soft": 0.03}, {"hard": 500}, {"hard": 2000}],
        "learning.huber": [1.0, 10.0, 100.0],
        "learning.final_rate": [0.0, 0.1, 1.0],
        "learning.every": [1, 2, 4] if not game else [2, 4],
        "replay.n_step": [1, 2, 3, 5],
        "replay.priority.alpha": [0.0, 0.4, 0.6],
    }
    if agent != "adfq":
        values["exploration.to"] = [0.01, 0.02, 0.05]
        values["exploration.fraction"] = [0.05, 0.1, 0.2, 0.4]
    if agent != "dqn":
        values["adfq.sd"] = [1.0, 3.0, 10.0, 30.0, 100.0]
        values["adfq.min_var"] = [1e-5, 1e-3, 1e-2, 0.1]
        values["adfq.terminal_var"] = [1e-4, 1e-2, 1.0]
    return values


def draw(env, agent, count, name=None):
    """Settings to try: the general ones, then random ones. The same for the same names."""
    chance = random.Random(f"{name or env} {agent}")
    values = choices(env, agent)
    drawn = [{name: chance.choice(options) for name, options in values.items()} for _ in range(count - 1)]
    return [{**base(env), **settings} for settings in [{}, *drawn]]


def base(env):
    """What all trials in an environment have. Games run eight at a time: a GPU would wait for a single one."""
    return {"envs": 8} if env in GAMES else {}


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
        variants = [agent, "adfq-eps"] if agent == "adfq" and env in WITH_EPSILON else [agent]
        best = max((self.halve(env, variant) for variant in variants), key=lambda found: found[0])
        _, variant, trial, settings = best
        steps, seeds = self.size(env)
        for label, follower in [(variant, agent), *((label, label) for label in FOLLOWERS.get(agent, []))]:
            found = self.rung(env, label, "verdict", {trial: settings}, steps, range(seeds))[trial]
            general = self.rung(env, follower, "verdict", {0: base(env)}, steps, range(seeds))[0]
            print(f"{env} {label}: general settings {general:.2f}, trial {trial} {found:.2f}", flush=True)

    def size(self, env):
        steps, seeds = {**CONTROL, **GAMES}[env]
        return int(steps * self.args.scale), seeds

    def rungs(self, env):
        return GAME_RUNGS if env in GAMES else LONG_RUNGS if env in LONG else RUNGS

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
        runs = {
            (trial, seed): self.pool.submit(self.run, env, agent, rung, trial, settings, steps, seed)
            for trial, settings in trials.items()
            for seed in seeds
        }
        return {trial: statistics.mean(runs[trial, seed].result() for seed in seeds) for trial in trials}

    def run(self, env, agent, rung, trial, settings, steps, seed):
        return self.train([env], agent, rung, trial, settings, steps, [seed])[env, seed]

    # --- Runs of several environments and seeds in one process

    def search_crew(self, envs, agent):
        """The search for several environments that share the settings that are tried, and the number of steps."""
        steps, seeds = self.size(envs[0])
        rungs = self.rungs(envs[0])
        drawn = draw(envs[0], agent, rungs[0][0], "minatar" if envs[0] in GAMES else None)
        settings, first = dict(enumerate(drawn)), FIRST_SEED
        trials = {env: list(settings) for env in envs}
        for rung, (count, share, several) in enumerate(rungs, 1):
            trials = {env: best[:count] for env, best in trials.items()}
            scores = self.crews(agent, rung, trials, settings, int(steps * share), range(first, first + several))
            for env, best in trials.items():
                best.sort(key=lambda trial: -scores[env, trial])
            first += several
        trials = {env: sorted({0, best[0]}) for env, best in trials.items()}
        for label in [agent, *FOLLOWERS.get(agent, [])]:
            scores = self.crews(label, "verdict", trials, settings, steps, range(seeds))
            for (env, trial), score in sorted(scores.items()):
                print(f"{env} {label}: trial {trial} {score:.2f}", flush=True)

    def crews(self, agent, rung, trials, settings, steps, seeds):
        """The score of each environment and trial: the mean over the seeds. The runs of a trial are one process."""
        crews = {}
        for trial in sorted({trial for tried in trials.values() for trial in tried}):
            envs = [env for env, tried in trials.items() if trial in tried]
            crews[trial] = self.pool.submit(self.train, envs, agent, rung, trial, settings[trial], steps, seeds)
        scores = {trial: crew.result() for trial, crew in crews.items()}
        return {
            (env, trial): statistics.mean(scores[trial][env, seed] for seed in seeds)
            for env, tried in trials.items()
            for trial in tried
        }

    # --- Both

    def train(self, envs, agent, rung, trial, settings, steps, seeds):
        """The score of each environment and seed."""
        wanted = {(env, seed): self.known.get((env, agent, str(rung), str(trial), str(seed), str(steps))) for env in envs for seed in seeds}
        if None not in wanted.values():
            return wanted
        if self.deadline and time.monotonic() > self.deadline:
            raise TimeoutError
        begun = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "run"
            command = [self.args.adfq, "train", ",".join(envs), "--agents", agent, "--steps", str(steps), "--out", str(out)]
            command += ["--seeds", ",".join(map(str, seeds)), *self.args.add.split()]
            for name, value in {**self.always(steps), **settings}.items():
                command += ["--set", f"{name}={toml(value)}"]
            left = None if self.deadline is None else max(1.0, self.deadline - begun)
            done = subprocess.run(command, capture_output=True, text=True, timeout=left)
            if done.returncode and "finite" not in done.stderr and "diverged" not in done.stderr:
                print(" ".join(command), done.stderr[-500:], file=sys.stderr, flush=True)
            found = {key: (WORST, WORST) for key in wanted}
            for file in out.rglob("config.toml"):
                config = tomllib.loads(file.read_text())
                found[config["env"], config["seed"]] = scored(file.parent / "evaluations.csv", steps)
        seconds = round((time.monotonic() - begun) / len(found), 1)
        for (env, seed), (score, final) in found.items():
            if wanted[env, seed] is None:
                self.write([env, agent, rung, trial, json.dumps(settings), steps, seed, score, final, seconds])
        return {key: score for key, (score, _) in found.items()}

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


# --- Presets -----------------------------------------------------------------------------------------------------------

HEAD = "# Found by scripts/tune.py and written by scripts/tune.py --presets from results/presets. Not to be edited by hand.\n"
# What stands for more than the environment that was searched.
STANDS_FOR = {"deepsea-20": "deepsea-*"}


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
        # Where no other settings were judged, the general ones were the best that was found.
        tuned = [row for row in rows if row["trial"] != "0"] or general
        if general:
            texts[f"{short(env)}-{family}"] = preset(env, family, tuned, general, tried(record, env, family))
    return texts


def tried(record, env, family):
    """How many settings were tried, those of the agent that it follows included."""
    leaders = [leader for leader, followers in FOLLOWERS.items() if family in followers] or [family]
    labels = [label for leader in leaders for label in (leader, f"{leader}-eps")]
    return len({(row["agent"], row["trial"]) for row in record if row["env"] == env and row["agent"] in labels})


def preset(env, family, tuned, general, count):
    settings = json.loads(tuned[0]["settings"])
    policy = "thompson" if tuned[0]["agent"] == "adfq" else "epsilon"
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


def main():
    known = [f"{env}:{agent}" for env in [*CONTROL, *GAMES] for agent in AGENTS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adfq", help="the program; needed unless presets are written")
    parser.add_argument("--presets", action="store_true", help="write presets/*.toml from what is recorded in OUT")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at a time")
    parser.add_argument("--out", default="results/presets")
    parser.add_argument("--scale", type=float, default=1.0, help="shorter or longer runs")
    parser.add_argument("--crew", action="store_true", help="the runs of a trial side by side in one process, as on a GPU")
    parser.add_argument("--seconds", type=float, help="stop after this time; the same command again goes on")
    parser.add_argument("--add", default="--threads 1 --preset default", help="further words for adfq train")
    parser.add_argument("searches", nargs="*", metavar="ENV:AGENT", help="all, control, games, or some of: " + " ".join(known))
    args = parser.parse_args()
    if args.presets:
        return write_presets(recorded(pathlib.Path(args.out)), pathlib.Path(__file__).parent.parent / "presets")
    if not args.adfq or not args.searches:
        parser.error("say which searches to make, and the program by --adfq")
    groups = {"all": known, "control": known[: 2 * len(CONTROL)], "games": known[2 * len(CONTROL) :]}
    searches = [search for name in args.searches for search in groups.get(name, [name])]
    for search in searches:
        if search not in known:
            parser.error(f"there is no search {search}")
    tuner = Tuner(args)

    def search(envs, agent):
        try:
            tuner.search_crew(envs, agent) if args.crew else tuner.search(*envs, agent)
        except (TimeoutError, subprocess.TimeoutExpired):
            print(f"{' '.join(envs)} {agent}: not done in time", flush=True)

    parts = [search.rsplit(":", 1) for search in searches]
    if args.crew:
        games = {agent: [env for env, by in parts if by == agent and env in GAMES] for agent in AGENTS}
        todo = [(envs, agent) for agent, envs in games.items() if envs]
        todo += [([env], agent) for env, agent in parts if env not in GAMES]
    else:
        todo = [([env], agent) for env, agent in parts]
    threads = [threading.Thread(target=search, args=one) for one in todo]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Trains every deep agent in every environment of the yardstick on fresh seeds, and measures returns and beliefs.

    scripts/yardstick.py --adfq target/release/adfq --out yardstick control seas
    scripts/yardstick.py --adfq target/release/adfq --out yardstick --device cuda games
    scripts/yardstick.py --out yardstick --tables          # only the tables, from what is there

Agents have the settings that `adfq train` takes by itself: tuned where the zoo has some, general ones elsewhere. Seeds are
200 and above (300 in games), which nothing was tuned or designed on. Environments with as many steps are trained by one command, so
that a GPU computes them side by side. `adfq beliefs` measures the checkpoints at 25, 50 and 100 % of training,
where an agent has beliefs and the environment can be saved. The same command again goes on where it was.

OUT/runs/PART/… are the run folders, OUT/PART is the report of `adfq compare`. OUT/returns.csv has a row for each run: the mean return
of its last evaluation, and of the evaluations in the second half of training. OUT/beliefs.csv has a row for each
checkpoint, kind of states and truth.
"""

import argparse
import concurrent.futures
import csv
import json
import pathlib
import subprocess
import sys
import tomllib

import tune

AGENTS = ["calibrated", "adfq-ts", "adfq-eps", "split", "bootstrapped", "dqn", "ddqn"]
WITHOUT_BELIEFS = ["dqn", "ddqn"]
# The file in a run folder with a line of JSON for each checkpoint.
MEASURED = "beliefs-by-step.jsonl"

# Environments with their steps, the first seed, how many seeds, and other arguments. Seeds 200 to 209 of the games chose between settings.
SEAS = {f"deepsea-{rows}-shuffled-1": rows * episodes for rows, episodes in ((10, 2_000), (20, 2_000), (30, 3_000))}
GAMES = [f"minatar/{game}" for game in ("asterix", "breakout", "freeway", "seaquest", "space-invaders")]
PARTS = {
    "control": ({"cartpole": 50_000, "acrobot": 50_000, "mountaincar": 100_000}, 200, 5, []),
    "seas": (SEAS, 200, 5, ["--set", "learning.warmup=1000"]),
    "games": ({env: 500_000 for env in GAMES}, 300, 5, ["--envs", "8"]),
    "lander": ({"gym:LunarLander-v3": 400_000}, 200, 5, []),
}


def train(args, part):
    envs, first, seeds, more = PARTS[part]
    envs = {env: steps for env, steps in envs.items() if any(name in env for name in args.envs.split(","))}
    if not envs:
        sys.exit(f"no environment of {part} has {args.envs} in its name")
    first = first if args.first_seed is None else args.first_seed
    for steps in sorted(set(envs.values())):
        several = ",".join(env for env in envs if envs[env] == steps)
        command = [args.adfq, "train", several, "--agents", args.agents, "--device", args.device]
        command += ["--seeds", f"{first}..{first + (args.seeds or seeds) - 1}", "--steps", str(steps)]
        command += ["--set", f"logging.keep={steps // 4}", *more, "--out", str(folder(args, part) / str(steps))]
        if args.jobs and args.device == "cpu":
            command += ["--jobs", str(args.jobs)]
        subprocess.run(command, check=True)


def measure(args, part):
    """The beliefs of all runs, several at once."""
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        list(pool.map(lambda run: measure_run(args, run), runs(folder(args, part))))


def measure_run(args, run):
    """The beliefs of a run at three of its checkpoints, unless they are measured already."""
    config = tomllib.loads((run / "config.toml").read_text())
    if config["agent"] in WITHOUT_BELIEFS or config["env"].startswith(("gym:", "atari:")):
        return
    quarter, done = config["steps"] // 4, {beliefs["checkpoints"][0]["step"] for beliefs in measured(run)}
    for step in kept(run, [quarter, 2 * quarter, 4 * quarter]):
        if step not in done:
            command = [args.adfq, "beliefs", str(run), "--checkpoint", str(step), "--json"]
            command += ["--states", str(args.states), "--rollouts", str(args.rollouts)]
            if args.jobs:
                command += ["--threads", "1"]
            found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            with (run / MEASURED).open("a") as file:
                file.write(json.dumps(found[0]) + "\n")


def measured(run):
    """What was measured of a run so far, a checkpoint each."""
    path = run / MEASURED
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def kept(run, steps):
    """The first kept checkpoint at or after each of these steps: several environments may step past it."""
    there = sorted(int(path.stem.split("-")[1]) for path in (run / "checkpoints").glob("kept-*.adfq"))
    return [next(step for step in there if step >= wanted) for wanted in steps]


def folder(args, part):
    return pathlib.Path(args.out) / "runs" / part


def runs(place):
    return sorted(path.parent for path in place.rglob("config.toml"))


def tables(args):
    out = pathlib.Path(args.out)
    returns, beliefs = [], []
    for run in runs(out / "runs"):
        config = tomllib.loads((run / "config.toml").read_text())
        who = [config["env"], config["agent"], config["policy"], config["seed"]]
        if (run / "result.json").exists():
            half, last = tune.scored(run / "evaluations.csv", config["steps"])
            returns.append([*who, config["steps"], last, half])
        for found in measured(run):
            beliefs += [[*who, *row] for row in belief_rows(found)]
    write(out / "returns.csv", "env,agent,policy,seed,steps,last,second_half", returns)
    columns = "env,agent,policy,seed,step,states,against,values,within_1,within_2,crps,bias,rmse,mean_sd,rank_correlation"
    write(out / "beliefs.csv", columns + ",doubts_random_play,doubts_far_away", beliefs)


def belief_rows(found):
    for checked in found["checkpoints"]:
        for it in checked["found"]:
            rank = it["rank_correlation"]
            numbers = [it["within_1"]["value"], it["within_2"]["value"], it["crps"]["value"], it["bias"]["value"]]
            numbers += [it["rmse"], it["mean_sd"], rank["value"] if rank else None, checked["doubts_random_play"]]
            numbers.append(checked.get("doubts_far_away"))
            shown = ["" if number is None else f"{number:.5g}" for number in numbers]
            yield [checked["step"], it["met_in"] or "all", it["against"], it["values"], *shown]


def write(path, columns, rows):
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns.split(","))
        writer.writerows(rows)
    print(f"{path}: {len(rows)} rows")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adfq", default="target/release/adfq", help="the program")
    parser.add_argument("--out", default="yardstick", help="the folder for runs and tables")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--agents", default=",".join(AGENTS), help="the agents, with commas between them")
    parser.add_argument("--envs", default="", help="only environments with one of these in their names, with commas between them")
    parser.add_argument("--jobs", type=int, help="runs at once")
    parser.add_argument("--seeds", type=int, help="fewer or more seeds than each part has")
    parser.add_argument("--first-seed", type=int, help="other seeds than each part has, from this one on")
    parser.add_argument("--states", type=int, default=50)
    parser.add_argument("--rollouts", type=int, default=256)
    parser.add_argument("--tables", action="store_true", help="only write the tables")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    args = parser.parse_args()
    unknown = [part for part in args.parts if part not in PARTS]
    if unknown or not (args.parts or args.tables):
        sys.exit(f"name a part: {', '.join(PARTS)}" + (f"; there is no {unknown[0]}" if unknown else ""))
    for part in args.parts if not args.tables else []:
        train(args, part)
        measure(args, part)
        subprocess.run([args.adfq, "compare", str(folder(args, part)), "--out", str(pathlib.Path(args.out) / part)], check=True)
    tables(args)


if __name__ == "__main__":
    main()

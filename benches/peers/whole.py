"""Whole trainings on one GPU: `adfq train` beside one jitted JAX program, in one call.

    python whole.py --adfq target/release/adfq --runs 1,10,100 --steps 50000 --json results.jsonl

MinAtar Breakout, DQN, eight environments a run, a gradient step every four steps. Ours is the program as users start it,
with prioritised replay, metrics and checkpoints; its clock runs from the start of the process to its end. The peer's
(`whole_jax.py`) has uniform replay and writes nothing; its clock leaves out the start of Python and the compilation. Evaluations
are off on both sides. `times.json` of our first run says where our time went.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent


def ours(adfq, runs, steps, device, add):
    """Steps per second of all runs together, and where the time went."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "runs"
        command = [adfq, "train", "minatar/breakout", "--agent", "dqn", "--preset", "default", "--seeds", f"0..{runs - 1}"]
        command += ["--envs", "8", "--steps", str(steps), "--device", device, "--set", "evaluation.every=0", "--out", str(out), *add]
        begun = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        seconds = time.perf_counter() - begun
        times = next(out.rglob("times.json"), None)
        parts = json.loads(times.read_text()) if times else {}
    return {"peer": "adfq", "task": "train minatar breakout", "runs": runs, "steps": steps, "device": device,
            "seconds": round(seconds, 2), "steps_per_s": round(runs * steps / seconds), "times": parts}  # fmt: skip


def theirs(runs, steps):
    command = [sys.executable, HERE / "whole_jax.py", "--runs", str(runs), "--steps", str(steps)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"whole_jax.py failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adfq", default="target/release/adfq")
    parser.add_argument("--runs", default="1,10,100", help="numbers of runs, with commas")
    parser.add_argument("--steps", type=int, default=50_000, help="environment steps of each run")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--add", default="", help="further words for adfq train")
    parser.add_argument("--json", help="append the results to this file")
    args = parser.parse_args()
    print("| runs | adfq, steps/s | JAX, steps/s | adfq is faster by |\n|---|---|---|---|", flush=True)
    for runs in map(int, args.runs.split(",")):
        mine, peer = ours(args.adfq, runs, args.steps, args.device, args.add.split()), theirs(runs, args.steps)
        ratio = mine["steps_per_s"] / peer["steps_per_s"]
        print(f"| {runs} | {mine['steps_per_s']:,} | {peer['steps_per_s']:,} | {ratio:.1f} × |", flush=True)
        if args.json:
            with open(args.json, "a", encoding="utf-8") as file:
                file.writelines(json.dumps(row) + "\n" for row in (mine, peer))


if __name__ == "__main__":
    main()

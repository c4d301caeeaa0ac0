"""The shell's way to `adfq.ray`: `python -m adfq.ray sweep …`."""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import warnings
from typing import Sequence

from .._adfq import AdfqError
from . import Result, fetch, sweep

EXAMPLES = """\
examples:
  python -m adfq.ray sweep minatar/breakout --agents adfq-ts,dqn --seeds 0..9 --steps 2e6 --storage /shared/runs
  python -m adfq.ray sweep cartpole --seeds 0..4 --grid learning.batch=32,64 --storage s3://bucket/runs --address auto
  python -m adfq.ray fetch s3://bucket/runs runs && adfq compare runs
"""


def main(words: Sequence[str] | None = None) -> int:
    arguments = parser().parse_args(words)
    try:
        status: int = arguments.run(arguments)
        return status
    except KeyboardInterrupt:
        print("stopped; the same command goes on with what is missing", file=sys.stderr)
        return 130
    except (AdfqError, ValueError, OSError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    own = argparse.ArgumentParser(prog="python -m adfq.ray", description="Runs on a Ray cluster.", epilog=EXAMPLES, formatter_class=raw)
    commands = own.add_subparsers(required=True, metavar="COMMAND")
    about = "Trains runs as tasks of Ray. The same command again goes on with what is missing."
    add_sweep(commands.add_parser("sweep", help="train runs as tasks of Ray", description=about))
    about = "Copies the run folders of a sweep from its store to a folder."
    add_fetch(commands.add_parser("fetch", help="copy the run folders of a sweep to this machine", description=about))
    return own


def add_sweep(own: argparse.ArgumentParser) -> None:
    own.set_defaults(run=run_sweep)
    add = own.add_argument
    add("envs", metavar="ENV", type=names, help="environments, separated by commas")
    add("--storage", metavar="PLACE", required=True, help="a folder that all nodes see, or a URI such as s3://bucket/runs")
    add("--agents", "--agent", metavar="NAMES", type=names, default=[], help="agents, separated by commas")
    add("--seeds", "--seed", metavar="SEEDS", type=seeds, default=[0], help="as 0..9 or 1,5,7; by default 0")
    add("--steps", metavar="N", type=steps, help="environment steps of each run; by default the preset's")
    add("--preset", metavar="NAME", help="the settings to start from")
    add("--set", metavar="NAME=VALUE", action="append", default=[], help="change a setting of all runs")
    grid = "a run for each value of a setting; several options make a grid"
    add("--grid", metavar="NAME=V1,V2", type=axis, action="append", default=[], help=grid)
    add("--cpus", metavar="N", type=float, default=1, help="CPUs that each run occupies; by default 1")
    gpus = "the share of a GPU that each run learns on; by default 0, which is the CPU"
    add("--gpus", metavar="SHARE", type=float, default=0, help=gpus)
    retries = "how often a run goes on elsewhere when its node dies; -1 is without end; by default 10"
    add("--max-retries", metavar="N", type=int, default=10, help=retries)
    add("--address", help="the cluster's address; auto for the one of this machine")


def add_fetch(own: argparse.ArgumentParser) -> None:
    own.set_defaults(run=run_fetch)
    own.add_argument("storage", metavar="URI", help="the store of a sweep")
    own.add_argument("out", metavar="FOLDER", help="where the run folders go")


def run_sweep(arguments: argparse.Namespace) -> int:
    grid = [list(point) for point in itertools.product(*arguments.grid)]
    with warnings.catch_warnings():
        # The lines below say it.
        warnings.filterwarnings("ignore", message=r"\d+ of \d+ runs failed")
        results = sweep(
            arguments.envs,
            arguments.agents,
            arguments.seeds,
            arguments.steps,
            storage=arguments.storage,
            settings=grid,
            preset=arguments.preset,
            cpus=arguments.cpus,
            gpus=arguments.gpus,
            max_retries=arguments.max_retries,
            address=arguments.address,
            set=arguments.set,
        )
    for result in results:
        print(line(result))
    failed = sum(result.error is not None for result in results)
    print(f"{len(results) - failed} of {len(results)} runs are complete in {arguments.storage}")
    return 1 if failed else 0


def run_fetch(arguments: argparse.Namespace) -> int:
    folders = fetch(arguments.storage, arguments.out)
    for folder in folders:
        print(folder)
    if not folders:
        raise FileNotFoundError(f"{arguments.storage} holds no runs")
    return 0


def line(result: Result) -> str:
    name = os.path.basename(result.folder)
    if result.summary is None:
        return f"{name}: failed: {result.error}"
    if result.summary["mean_return"] is None:
        return f"{name}: complete, and not evaluated"
    return f"{name}: {result.summary['mean_return']:.4g} ± {result.summary['standard_error']:.2g}"


# --- Words of the command line -------------------------------------------------------------------------------------------


def names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def seeds(text: str) -> list[int]:
    """Both ends of a range belong to it, as with `adfq train`."""
    first, dots, last = text.partition("..")
    try:
        found = list(range(int(first), int(last.lstrip("=")) + 1)) if dots else [int(seed) for seed in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} are no seeds: say 0..9 or 1,5,7") from None
    if not found:
        raise argparse.ArgumentTypeError("the first seed comes after the last")
    return found


def steps(text: str) -> int:
    """A whole number, also as 2e6."""
    try:
        number = float(text.replace("_", ""))
    except ValueError:
        number = 0.5
    if not number.is_integer() or number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of steps: say 200000 or 2e5")
    return int(number)


def axis(text: str) -> list[str]:
    """The values of a setting, each as an assignment."""
    name, equals, values = text.partition("=")
    if not equals or not values:
        raise argparse.ArgumentTypeError(f"{text!r} names no values: say learning.batch=32,64")
    return [f"{name}={value}" for value in values.split(",")]


if __name__ == "__main__":
    sys.exit(main())

"""Sweeps: agents × environments × seeds × settings, a task of Ray for each run."""

from __future__ import annotations

import json
import os
import pathlib
import tempfile
import time
import warnings
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Mapping, Sequence

import ray

from .. import _adfq
from .._many import host_of, listed, planned, train
from .._progress import Progress
from ..config import Config, assignments
from ._storage import Copy, Following, Store, is_uri

# How long a task waits for a folder that another process holds, in seconds. A server of NFS gives the locks of a dead node back after
# 90 seconds, as it is usually set up.
PATIENCE = 300.0

# How long tasks have to save their runs after Ctrl-C, in seconds.
SAVING = 60.0


@dataclass
class Result:
    """What became of a run."""

    folder: str
    """The run folder, or its URI."""
    summary: dict[str, Any] | None
    """What the run reached, as in `result.json`; None if it has failed."""
    error: str | None
    """Why it has failed, or None."""


@dataclass(frozen=True)
class Run:
    """A run to be trained, in words that another machine understands."""

    folder: str
    config: str
    """As in `config.toml`."""
    device: str
    threads: int
    trust: bool


def sweep(
    envs: str | Sequence[str],
    agents: str | Sequence[str] = (),
    seeds: Iterable[int] = (0,),
    steps: int | None = None,
    *,
    storage: str | os.PathLike[str],
    settings: Mapping[str, Any] | Sequence[Mapping[str, Any] | Sequence[str]] = (),
    preset: str | None = None,
    cpus: float = 1,
    gpus: float = 0,
    max_retries: int = 10,
    address: str | None = None,
    progress_bar: bool | None = None,
    trust: bool = True,
    set: Sequence[str] = (),
    **common: Any,
) -> list[Result]:
    """Trains every agent with every seed in every environment with each of the settings on a Ray cluster, a task for each run.

    `storage` is a folder that all nodes see, or a URI that `pyarrow.fs` knows, as `s3://bucket/runs`. Each run has a folder there
    with the name that `adfq.train_many` gives it, and the same bits. `settings` is a dictionary, or a list of them for a grid:
    `[{"learning.adam.rate": 1e-3}, {"learning.adam.rate": 1e-4}]`; a list of assignments, as in `set`, may take the place of
    each. All other keywords and `set` are settings of all runs.

    `cpus` and `gpus` are what a run occupies. With a part of a GPU it learns there. `address` is the cluster's; by default that
    which this process is connected to, or else the one that `ray.init()` finds or starts.

    A run whose worker or node dies goes on from its last checkpoint elsewhere, up to `max_retries` times; -1 is without end.
    A run that fails does not stop the others: its result says why, and a warning names it. The same call again goes on with what
    is missing.
    """
    place = place_of(os.fspath(storage))
    grid = [settings] if isinstance(settings, Mapping) else list(settings) or [{}]
    shared = assignments(common, {}) + list(set)
    changes = [shared + (assignments(own, {}) if isinstance(own, Mapping) else listed(own)) for own in grid]
    device, threads = device_for(gpus), threads_for(cpus)
    host, names = host_of(listed(envs), trust)
    given = list(seeds)
    plans = [plan for own in changes for plan in planned(host, names, listed(agents), given, steps, preset, own)]
    runs = [Run(f"{place}/{name}", config.to_toml(), device, threads, trust) for name, config in plans]
    check_apart(runs)
    if not ray.is_initialized():
        ray.init(address=address)
    lengths = [Config(config)["steps"] for _, config in plans]
    with Progress(progress_bar, 0, sum(lengths), f"{len(runs)} runs") as progress:
        results = gathered(runs, lengths, options(cpus, gpus, max_retries), progress)
    failed = [f"{result.folder}: {result.error}" for result in results if result.error is not None]
    if failed:
        warnings.warn(f"{len(failed)} of {len(runs)} runs failed:\n" + "\n".join(failed), stacklevel=2)
    return results


def place_of(storage: str) -> str:
    """The storage as all nodes know it. What is wrong with a URI is said before anything begins."""
    if not is_uri(storage):
        return os.path.abspath(storage)
    Store(storage)
    return storage.rstrip("/")


def check_apart(runs: Sequence[Run]) -> None:
    """Each run needs a folder of its own."""
    seen: dict[str, Run] = {}
    for run in runs:
        if run.folder in seen:
            raise ValueError(f"two runs of this sweep would share the folder {run.folder}: name each seed, agent and setting once")
        seen[run.folder] = run


def device_for(gpus: float) -> str:
    """Where a run learns that has this share of GPUs. Ray shows a task its own GPU alone, which is then the first."""
    if not 0 <= gpus <= 1:
        raise ValueError(f"a run learns on one GPU or a part of it: gpus must be from 0 to 1, and not {gpus}")
    return "cuda" if gpus > 0 else "cpu"


def threads_for(cpus: float) -> int:
    """The threads of a network, which change no bits."""
    return max(1, int(cpus))


def options(cpus: float, gpus: float, max_retries: int) -> dict[str, Any]:
    """What Ray is told of the tasks. An exception would come again, so only what kills a worker is tried again."""
    return {"num_cpus": cpus, "num_gpus": gpus, "max_retries": max_retries, "retry_exceptions": False}


def gathered(runs: Sequence[Run], lengths: Sequence[int], how: dict[str, Any], progress: Progress) -> list[Result]:
    """Runs all tasks and gives their results, in the order of the runs."""
    task = ray.remote(trained)
    waiting = {task.options(name=os.path.basename(run.folder), **how).remote(run): i for i, run in enumerate(runs)}
    results: dict[int, Result] = {}
    try:
        while waiting:
            [done], _ = ray.wait(list(waiting))
            i = waiting.pop(done)
            results[i] = result_of(done, runs[i])
            progress.at(sum(lengths[i] for i in results))
    except KeyboardInterrupt:
        # Each task saves its run.
        for unfinished in waiting:
            ray.cancel(unfinished)
        ray.wait(list(waiting), num_returns=len(waiting), timeout=SAVING)
        raise
    return [results[i] for i in range(len(runs))]


def result_of(done: Any, run: Run) -> Result:
    try:
        result: Result = ray.get(done)
    except ray.exceptions.RayError as error:
        return Result(run.folder, None, f"{type(error).__name__}: {error}")
    return result


# --- On a node of the cluster ----------------------------------------------------------------------------------------------


def trained(run: Run) -> Result:
    """Trains a run, or goes on with it, or finds it finished."""
    try:
        summary = trained_in_store(run) if is_uri(run.folder) else trained_here(run, run.folder)
    except Exception as error:
        return Result(run.folder, None, f"{type(error).__name__}: {error}")
    return Result(run.folder, summary, None)


def trained_here(run: Run, folder: str) -> dict[str, Any]:
    """Trains in a folder that this node sees."""
    config = _adfq.Config.from_toml(run.config)
    host, _ = host_of([Config(config)["env"]], run.trust)

    def attempt() -> BaseException | None:
        with Progress(False, 0, 0, "") as progress:
            [(_, _, error)] = train(host, [(folder, config)], progress, device=run.device, jobs=None, threads=run.threads)
        return error

    if (error := patiently(attempt)) is not None:
        raise error
    summary: dict[str, Any] = json.loads(pathlib.Path(folder, "result.json").read_bytes())
    return summary


def patiently(
    attempt: Callable[[], BaseException | None],
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> BaseException | None:
    """Tries again while another process holds the folder, for a while: a task of a driver that has died may still be ending, and
    a file server may take the locks of a dead node for held."""
    begun = clock()
    while isinstance(error := attempt(), BlockingIOError):
        if clock() - begun >= PATIENCE:
            return BlockingIOError(f"{error} (waited for {PATIENCE:.0f} s)")
        sleep(1.0)
    return error


def trained_in_store(run: Run) -> dict[str, Any]:
    """Trains in a folder of this node, with a copy in the store that follows."""
    store = Store(run.folder)
    if (summary := finished(store, run)) is not None:
        return summary
    with tempfile.TemporaryDirectory(prefix="adfq-") as place:
        folder = pathlib.Path(place) / "run"
        copy = Copy(store, folder)
        copy.download()
        with Following(copy):
            return trained_here(run, os.fspath(folder))


def finished(store: Store, run: Run) -> dict[str, Any] | None:
    """What a run reached that is complete in the store, so that nothing else of it has to be fetched."""
    config, result = store.read("config.toml"), store.read("result.json")
    if config is None or result is None or Config.from_toml(config.decode()) != Config.from_toml(run.config):
        return None
    summary: dict[str, Any] = json.loads(result)
    return summary

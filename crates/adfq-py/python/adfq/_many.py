"""Several runs at once."""

from __future__ import annotations

import os
import pathlib
import sys
from typing import Any, Iterable, Sequence

from . import _adfq
from ._adfq import AdfqError
from ._environments import environment
from ._learning import follow
from ._progress import Progress
from .config import Config, assignments
from .model import Model, load

# How a run ended, its step, and its exception.
Ending = tuple[str, int, "BaseException | None"]


def train_many(
    envs: str | Sequence[str],
    agents: str | Sequence[str] = (),
    seeds: Iterable[int] = (0,),
    steps: int | None = None,
    *,
    out: str | os.PathLike[str],
    preset: str | None = None,
    jobs: int | None = None,
    threads: int | None = None,
    device: str = "cpu",
    progress_bar: bool | None = None,
    trust: bool = True,
    set: Sequence[str] = (),
    **settings: Any,
) -> list[Model]:
    """Trains every agent with every seed in every environment, several runs at once, one for each core by default. Gives the
    models, each in a folder of `out` whose name says what it is, as `adfq train --agents … --seeds … --out` does.

    The same call again goes on with what is missing. A run that fails does not stop the others; its exception is raised at the end.
    """
    host, names = host_of(listed(envs), trust)
    changes = assignments(settings, {}) + list(set)
    runs = planned(host, names, listed(agents), list(seeds), steps, preset, changes)
    placed = [(os.fspath(pathlib.Path(out) / name), config) for name, config in runs]
    total = sum(Config(config)["steps"] for _, config in runs)
    with Progress(progress_bar, 0, total, f"{len(runs)} runs") as progress:
        endings = train(host, placed, progress, device=device, jobs=jobs, threads=threads)
    failed = [(folder, error) for (folder, _), (_, _, error) in zip(placed, endings) if error is not None]
    if failed:
        folder, error = failed[0]
        raise AdfqError(f"{len(failed)} of {len(runs)} runs failed; {folder}: {error}") from error
    return [load(folder, device=device, threads=threads, trust=trust) for folder, _ in placed]


def listed(words: str | Sequence[str]) -> list[str]:
    """One name, or several."""
    return [words] if isinstance(words, str) else list(words)


def host_of(envs: Sequence[str], trust: bool) -> tuple[_adfq.Host, list[str]]:
    """Where runs find these environments, and the names that configurations have for them."""
    found = [environment(name, None, trust) for name in envs]
    host = _adfq.Host(sys.executable, trust)
    for each in found:
        each.register(host)
    return host, [each.name for each in found]


def planned(
    host: _adfq.Host,
    envs: list[str],
    agents: list[str],
    seeds: list[int],
    steps: int | None,
    preset: str | None,
    changes: list[str],
) -> list[tuple[str, _adfq.Config]]:
    """Every agent with every seed in every environment: the name of its folder, and its configuration."""
    configs = _adfq.plan(
        host, envs, agents=agents, policy=None, seeds=seeds, preset=preset, config=None, steps=steps, settings=changes
    )
    return [(_adfq.folder_name(config, changes), config) for config in configs]


def train(
    host: _adfq.Host,
    runs: Sequence[tuple[str, _adfq.Config]],
    progress: Progress,
    *,
    device: str,
    jobs: int | None,
    threads: int | None,
) -> list[Ending]:
    """Trains these runs, each in its folder, and goes on with those that are there. Says how each ended."""
    training = _adfq.Training(
        host,
        [(folder, config, None) for folder, config in runs],
        device=device,
        at_once=jobs,
        threads=threads,
        stop_after=None,
        every=0,
        evaluations=False,
        checkpoints=False,
    )
    return follow(training, progress, lambda *_: None)

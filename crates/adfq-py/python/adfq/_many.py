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
    names = [envs] if isinstance(envs, str) else list(envs)
    words = [agents] if isinstance(agents, str) else list(agents)
    found = [environment(name, None, trust) for name in names]
    host = _adfq.Host(sys.executable, trust)
    for each in found:
        each.register(host)
    changes = assignments(settings, {}) + list(set)
    configs = _adfq.plan(
        host,
        [each.name for each in found],
        agents=words,
        policy=None,
        seeds=list(seeds),
        preset=preset,
        config=None,
        steps=steps,
        settings=changes,
    )
    place = pathlib.Path(out)
    folders = [os.fspath(place / _adfq.folder_name(config, changes)) for config in configs]
    training = _adfq.Training(
        host,
        [(folder, config, None) for folder, config in zip(folders, configs)],
        device=device,
        at_once=jobs,
        threads=threads,
        stop_after=None,
        every=0,
        evaluations=False,
        checkpoints=False,
    )
    total = sum(Config(config)["steps"] for config in configs)
    with Progress(progress_bar, 0, total, f"{len(configs)} runs") as progress:
        endings = follow(training, progress, lambda *_: None)
    failed = [(folder, error) for folder, (_, _, error) in zip(folders, endings) if error is not None]
    if failed:
        folder, error = failed[0]
        raise AdfqError(f"{len(failed)} of {len(configs)} runs failed; {folder}: {error}") from error
    return [load(folder, device=device, threads=threads, trust=trust) for folder in folders]

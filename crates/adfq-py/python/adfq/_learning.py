"""Waits for training, which runs on a thread of its own, and looks after what concerns Python meanwhile."""

from __future__ import annotations

import warnings
from typing import Any, Callable

from . import _adfq
from ._progress import Progress

# How long a nap is. In between Python handles signals, and the progress bar moves.
NAP = 0.05

Moment = Callable[[int, int, str, "dict[str, Any]"], object]


def follow(training: _adfq.Training, progress: Progress, tell: Moment) -> list[tuple[str, int, BaseException | None]]:
    """Waits for the end. `tell` is called at the moments that the training was asked to report, and stops it by False.

    Whatever is raised here, Ctrl-C too, stops training first, which saves it.
    """
    try:
        while (happened := training.wait(NAP)) is not True:
            progress.at(sum(training.steps()))
            for warning in training.warnings():
                warnings.warn(warning, stacklevel=4)
            if happened is not None:
                training.answer(tell(*happened) is not False)
    except BaseException:
        endings = training.stop()
        progress.at(sum(training.steps()))
        failed = [error for _, _, error in endings if error is not None]
        if failed:
            warnings.warn(f"what was learned last could not be saved: {failed[0]}", stacklevel=4)
        raise
    progress.at(sum(training.steps()))
    for warning in training.warnings():
        warnings.warn(warning, stacklevel=4)
    return training.finish()

"""How far training is, for people: tqdm's bar where it is installed, in notebooks too, or else a line of our own."""

from __future__ import annotations

import importlib.util
import sys
import time
from types import TracebackType
from typing import Any


class Progress:
    """A bar over the steps of one or more runs. Without one, it shows nothing."""

    def __init__(self, shown: bool | None, done: int, total: int, what: str) -> None:
        self.bar = bar(done, total, what) if is_shown(shown) else None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.bar is not None:
            self.bar.close()

    def at(self, done: int) -> None:
        """So many steps are done. Before a run is taken up none are known."""
        if self.bar is not None and done > self.bar.n:
            self.bar.update(done - self.bar.n)


def is_shown(shown: bool | None) -> bool:
    """By default a bar is drawn where somebody watches."""
    return sys.stderr.isatty() or is_notebook() if shown is None else shown


def is_notebook() -> bool:
    ipython: Any = sys.modules.get("IPython")
    return getattr(ipython and ipython.get_ipython(), "kernel", None) is not None


def bar(done: int, total: int, what: str) -> Any:
    if importlib.util.find_spec("tqdm") is None:
        return Line(done, total, what)
    from tqdm.auto import tqdm

    return tqdm(initial=done, total=total, desc=what, unit=" steps", unit_scale=True, mininterval=0.2)


class Line:
    """One line on stderr, drawn anew a few times a second."""

    EVERY = 0.2

    def __init__(self, done: int, total: int, what: str) -> None:
        self.n, self.total, self.what = done, total, what
        self.first, self.begun, self.drawn = done, time.monotonic(), 0.0

    def update(self, more: int) -> None:
        self.n += more
        now = time.monotonic()
        if now - self.drawn >= self.EVERY:
            self.drawn = now
            self.draw(now)

    def draw(self, now: float) -> None:
        rate = (self.n - self.first) / max(now - self.begun, 1e-9)
        share = self.n / max(self.total, 1)
        print(f"\r{self.what}: {share:4.0%}, {self.n:,} of {self.total:,} steps, {rate:,.0f}/s ", end="", file=sys.stderr)

    def close(self) -> None:
        self.draw(time.monotonic())
        print(file=sys.stderr, flush=True)

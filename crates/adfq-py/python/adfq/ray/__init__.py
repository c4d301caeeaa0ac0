"""Runs on a Ray cluster: sweeps, and trials of Ray Tune.

    from adfq.ray import sweep, Trainable

Both train with the code of the rest of the package and give the same bits. A run whose node dies goes on from its last
checkpoint on another node. `python -m adfq.ray sweep …` does the same from the shell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

try:
    import ray as _ray  # noqa: F401
except ImportError as error:
    raise ImportError("adfq.ray needs Ray: pip install 'adfq[ray]'") from error

from ._storage import fetch
from ._sweep import Result, sweep

if TYPE_CHECKING:
    from ._trainable import Trainable

__all__ = ["Result", "Trainable", "fetch", "sweep"]


def __getattr__(name: str) -> Any:
    # Ray Tune takes seconds to import, and the workers of a sweep do without.
    if name == "Trainable":
        from ._trainable import Trainable

        return Trainable
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

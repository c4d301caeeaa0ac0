"""Q-learning that knows what it does not know.

>>> import adfq
>>> model = adfq.ADFQ("cartpole", seed=0)
>>> model.learn(500)
ADFQ('cartpole', seed=0): 500 steps
>>> action, belief = model.predict([0.0, 0.0, 0.05, 0.0])
>>> belief.mean.shape
(2,)

A model is a run folder: what the program `adfq` writes, the package reads, and the other way round.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _registration
from ._adfq import AdfqError, __version__, env_names
from ._many import train_many
from ._update import update
from .belief import Belief, Evaluation
from .config import Config
from .model import ADFQ, DQN, Bootstrapped, Calibrated, DoubleDQN, Model, Split, load

if TYPE_CHECKING:
    from ._gymnasium import make, make_vec

__all__ = [
    "ADFQ",
    "AdfqError",
    "Belief",
    "Bootstrapped",
    "Calibrated",
    "Config",
    "DQN",
    "DoubleDQN",
    "Evaluation",
    "Model",
    "Split",
    "__version__",
    "env_names",
    "load",
    "make",
    "make_vec",
    "tabular",
    "train_many",
    "update",
]

# Importing Gymnasium takes longer than importing this package. What needs it is imported when it is asked for.
_LATER = {"make": "._gymnasium", "make_vec": "._gymnasium"}


def __getattr__(name: str) -> Any:
    import importlib

    if name in _LATER:
        return getattr(importlib.import_module(_LATER[name], __name__), name)
    if name == "tabular":
        return importlib.import_module(".tabular", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__


_registration.register_with_gymnasium()

"""Makes the native environments known to Gymnasium, now if it is imported already, or else when it is.

Importing Gymnasium takes longer than importing this package, and many who use it need none.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from types import ModuleType
from typing import Any, Sequence

from . import _adfq

# How Gymnasium would write these words of names.
WORDS = {"minatar": "MinAtar", "cartpole": "CartPole", "mountaincar": "MountainCar", "deepsea": "DeepSea", "mdp": "MDP"}


def register_with_gymnasium() -> None:
    if "gymnasium" in sys.modules:
        register()
    else:
        sys.meta_path.insert(0, Finder())


def register() -> None:
    """Every native environment is `adfq/NAME-v0`. What makes it is imported when it is made."""
    import gymnasium

    for name in _adfq.env_names():
        id = gymnasium_id(name)
        if id not in gymnasium.registry:
            one, several = "adfq._gymnasium:Env", "adfq._gymnasium:registered_vec"
            gymnasium.register(id, entry_point=one, vector_entry_point=several, kwargs={"name": name})


def gymnasium_id(name: str) -> str:
    """The id of a native environment: `adfq/MinAtar-Breakout-v0`."""
    words = name.replace("/", "-").replace(":", "-").split("-")
    return "adfq/" + "-".join(WORDS.get(word, word.capitalize()) for word in words) + "-v0"


class Finder(importlib.abc.MetaPathFinder):
    """Waits for the import of Gymnasium. It finds nothing itself."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != "gymnasium":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = Loader(spec.loader)
        return spec


class Loader(importlib.abc.Loader):
    """Loads Gymnasium as its own loader does, and then registers our environments."""

    def __init__(self, own: Any) -> None:
        self.own = own

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self.own.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        self.own.exec_module(module)
        register()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.own, name)

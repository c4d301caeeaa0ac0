"""Makes our environments known to Gymnasium, now if it is imported already, or else when it is."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from types import ModuleType
from typing import Any, Sequence


def register_with_gymnasium() -> None:
    if "gymnasium" in sys.modules:
        register()
    else:
        sys.meta_path.insert(0, Finder())


def register() -> None:
    from . import _gymnasium

    _gymnasium.register()


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

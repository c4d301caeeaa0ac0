"""Configurations: all that decides a run."""

from __future__ import annotations

import json
from typing import Any, Iterable, Mapping

from . import _adfq


class Config:
    """All that decides a run, as in `config.toml`.

    >>> config = Config.for_env("cartpole", **{"learning.batch": 64})
    >>> config["learning.batch"], config["learning"]["batch"]
    (64, 64)
    >>> Config.from_toml(config.to_toml()) == config
    True
    """

    def __init__(self, own: _adfq.Config) -> None:
        self._own = own
        self._values: dict[str, Any] = json.loads(own.to_json())

    @classmethod
    def for_env(cls, env: str, agent: str | None = None, **settings: Any) -> Config:
        """The configuration with which `Model(env, agent, **settings)` begins."""
        from .model import Model

        return Model(env, agent, **settings).config

    @classmethod
    def from_toml(cls, text: str) -> Config:
        """Reads TOML and checks it."""
        return cls(_adfq.Config.from_toml(text))

    def to_toml(self) -> str:
        """As the program writes it to `config.toml`."""
        return self._own.to_toml()

    def to_dict(self) -> dict[str, Any]:
        """As dictionaries."""
        values: dict[str, Any] = json.loads(self._own.to_json())
        return values

    def replace(self, **settings: Any) -> Config:
        """The same with some settings changed, named as in `Model`.

        >>> Config.for_env("cartpole").replace(learning={"batch": 16})["learning.batch"]
        16
        """
        return Config(self._own.assigned(assignments(settings, self._values)))

    def __getitem__(self, name: str) -> Any:
        value: Any = self._values
        for part in name.split("."):
            if not isinstance(value, dict) or part not in value:
                raise KeyError(name)
            value = value[part]
        return value

    def __contains__(self, name: str) -> bool:
        try:
            self[name]
        except KeyError:
            return False
        return True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and self._own == other._own

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Config.from_toml('''\n{self.to_toml()}''')"


def assignments(settings: Mapping[str, Any], values: Mapping[str, Any]) -> list[str]:
    """Settings as the program takes them: `learning.batch=64`.

    A dictionary changes the settings within, where there are settings of these names, and is a value itself elsewhere.
    """
    return list(assigned("", settings, values))


def assigned(prefix: str, settings: Mapping[str, Any], values: Any) -> Iterable[str]:
    for name, value in settings.items():
        path = f"{prefix}{name}"
        inner = values
        for part in name.split("."):
            inner = inner.get(part) if isinstance(inner, Mapping) else None
        is_free = path in ("env_args", "evaluation.env_args")
        if isinstance(value, Mapping) and (
            is_free or not prefix or isinstance(inner, Mapping) and all(key in inner for key in value)
        ):
            yield from assigned(f"{path}.", value, inner or {})
        else:
            yield f"{path}={as_toml(path, value)}"


def as_toml(path: str, value: Any) -> str:
    """A value in the words of TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(str(key))} = {as_toml(path, inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(as_toml(path, inner) for inner in value) + "]"
    if hasattr(value, "__index__"):
        return str(int(value))
    if hasattr(value, "__float__"):
        return repr(float(value))
    raise TypeError(f"{path} cannot be {value!r}: give a number, a string, a list or a dictionary")

"""What a user gives as an environment, as the name that a configuration has and what makes environments of that name.

Names of Rust's environments need nothing else. Those of Gymnasium are made and stepped in this process by the code that
the program's worker processes run, which the extension module brings with it.
"""

from __future__ import annotations

import copy
import functools
import json
import sys
import types
import warnings
from dataclasses import dataclass, field
from typing import Any, Callable, Sequence

from . import _adfq

# Makes environments as an order says, and gives what steps them.
Make = Callable[["dict[str, Any]"], Any]


@functools.cache
def worker() -> Any:
    """The code of worker processes, as a module."""
    module = types.ModuleType("adfq._worker", "Environments of Gymnasium as adfq has them.")
    exec(compile(_adfq.WORKER_SOURCE, "<adfq worker>", "exec"), module.__dict__)
    return module


@dataclass
class Environment:
    """An environment by name, and how environments of that name are made."""

    name: str
    make: Make | None = None
    """None for those that Rust makes itself."""
    wraps: bool = False
    """Whether wrappers are put around what it makes."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Settings that follow from it."""
    space: Any = None
    """The observation space, where it is known already."""

    def renamed(self, name: str) -> Environment:
        """The same under the name that a run has for it."""
        make = self.make
        if make is None and self.name.lower() != name.lower():
            raise ValueError(f"the run is one of {name}, and not of {self.name}")
        return Environment(name, make, self.wraps, space=self.space)

    def register(self, host: _adfq.Host) -> None:
        if self.make is not None:
            host.register(self.name, self.make, self.wraps)

    def view(self, args: dict[str, Any], wrappers: list[str]) -> View | None:
        """What becomes of observations; None for those of Rust's environments, which are what they are."""
        if self.make is None:
            return None
        if self.space is None:
            order = {"id": self.name[4:], "count": 1, "args": args, "wrappers": wrappers}
            held = self.make({**order, "path": [], "purpose": "evaluation", "pictures": False})
            self.space = held.envs[0].observation_space
            held.close()
        return View(self.space)


class View:
    """Observations of a Gymnasium space as rows of numbers."""

    def __init__(self, space: Any) -> None:
        import gymnasium
        import numpy as np

        self.space = space
        frame, element, _, self.writer = worker().view_of(gymnasium.spaces, space)
        self.frame, self.kind = tuple(frame), np.uint8 if element == "u8" else np.float32

    def row(self, observation: Any) -> Any:
        import numpy as np

        row = np.zeros(self.frame, self.kind)
        try:
            self.writer(row)(observation)
        except worker().Refused as refused:
            raise ValueError(f"this is {refused.details['what']}") from None
        return row


def environment(env: Any, eval_env: Any = None, trust: bool = True) -> Environment:
    """The environment that a user means."""
    if isinstance(env, Environment):
        return env
    if isinstance(env, str):
        return named(env, trust)
    import gymnasium

    if (native := of_native(env)) is not None:
        return native
    if isinstance(env, gymnasium.vector.VectorEnv):
        return of_vector(env, eval_env)
    if isinstance(env, (list, tuple)):
        if not env:
            raise ValueError("the list of environments is empty: give at least one")
        return of_objects(env, eval_env)
    if isinstance(env, gymnasium.Env) or callable(env):
        return of_objects([env], eval_env)
    raise TypeError(
        f"an environment is a name, a gymnasium.Env, a list of functions that make one, or a "
        f"gymnasium.vector.VectorEnv, and not {type(env).__name__}"
    )


def of_native(env: Any) -> Environment | None:
    """One of Rust's that was made for Gymnasium, without wrappers: Rust can do without Python there."""
    from . import _gymnasium

    if isinstance(env, _gymnasium.VecEnv):
        return Environment(env.name, settings={"envs": env.num_envs})
    return Environment(env.name) if isinstance(env, _gymnasium.Env) else None


def named(name: str, trust: bool) -> Environment:
    """That of a name: one of Rust's, or one of Gymnasium's, with or without `gym:`."""
    if name.startswith("gym:"):
        return of_gymnasium(name[4:], trust)
    if not name.startswith("atari:") and not _adfq.is_native(name) and is_gymnasium(name):
        return of_gymnasium(name, trust)
    # If nobody knows it, Rust says what there is.
    return Environment(name)


def is_gymnasium(name: str) -> bool:
    if ":" in name:
        # A module to import, as in my_package:MyEnv-v0.
        return not name.startswith(("bsuite:", "python:"))
    try:
        import gymnasium
    except ImportError:
        return False
    return name in gymnasium.registry


def of_gymnasium(name: str, trust: bool) -> Environment:
    modules = "any" if trust else "installed"
    return Environment(f"gym:{name}", lambda order: worker().Gym({**order, "modules": modules}), wraps=True)


def of_objects(given: Sequence[Any], eval_env: Any) -> Environment:
    """Environments that are there, or functions that make them."""
    import gymnasium

    envs = [checked(env if isinstance(env, gymnasium.Env) else env(), gymnasium) for env in given]
    settings: dict[str, Any] = {"envs": len(envs)} if len(envs) > 1 else {}
    name, args = name_of(envs[0])
    if args:
        settings["env_args"] = args
    evaluation = evaluation_of(given[0], envs[0], eval_env, gymnasium)
    if evaluation is None:
        settings["evaluation"] = {"every": 0}

    def make(order: dict[str, Any]) -> Any:
        if order["purpose"] == "evaluation":
            # Without an environment to evaluate in, the one to train in tells the space and is never played.
            return Held([evaluation if evaluation is not None else envs[0]])
        if order["count"] != len(envs):
            raise ValueError(f"envs must be {len(envs)}, the number of environments given")
        return Held(envs)

    return Environment(name, make, settings=settings, space=envs[0].observation_space)


def checked(env: Any, gymnasium: Any) -> Any:
    if isinstance(env, gymnasium.Env):
        return env
    raise TypeError(f"the function must make a gymnasium.Env, and it made {type(env).__name__}")


def name_of(env: Any) -> tuple[str, dict[str, Any]]:
    """A name by which the program can make the same environment, with its arguments, or else one that says what it is."""
    spec = env.spec
    if spec is not None and not spec.additional_wrappers and spec.id:
        args = {key: value for key, value in spec.kwargs.items() if key != "render_mode" and value is not None}
        if spec.max_episode_steps != registered_limit(spec.id):
            args["max_episode_steps"] = spec.max_episode_steps
        try:
            json.dumps(args)
        except TypeError:
            pass
        else:
            return f"gym:{spec.id}", args
    return f"python:{type(env.unwrapped).__name__}", {}


def registered_limit(id: str) -> int | None:
    """The time limit that an id has by itself."""
    import gymnasium

    spec = gymnasium.registry.get(id)
    return spec.max_episode_steps if spec is not None else None


def evaluation_of(given: Any, env: Any, eval_env: Any, gymnasium: Any) -> Any:
    """An environment of its own to evaluate in: playing in the one to train in would cut its episodes off."""
    if eval_env is not None:
        return checked(eval_env if isinstance(eval_env, gymnasium.Env) else eval_env(), gymnasium)
    if not isinstance(given, gymnasium.Env):
        return checked(given(), gymnasium)
    reasons = []
    for again in (made_again, copy.deepcopy):
        try:
            return again(env)
        except Exception as error:
            reasons.append(str(error))
    warnings.warn(
        f"{type(env.unwrapped).__name__} cannot be made a second time ({reasons[-1]}), so nothing is evaluated: give eval_env",
        stacklevel=6,
    )
    return None


def made_again(env: Any) -> Any:
    """Another environment of the same id, with the same arguments and wrappers. It opens no window."""
    import gymnasium

    if env.spec is None:
        raise ValueError("it has no spec")
    windowless = {"render_mode": None} if "render_mode" in env.spec.kwargs else {}
    return gymnasium.make(env.spec, **windowless)


def Held(envs: Sequence[Any]) -> Any:
    """Environments of the user's, stepped as those of a worker are. They stay open."""
    import gymnasium

    held = worker().Gym.__new__(worker().Gym)
    held.envs, held.here = list(envs), None
    held.look(gymnasium)
    held.close = lambda: None
    return held


# Arguments of vectors, and not of the environments in them.
OF_VECTORS = ("num_envs", "vectorization_mode", "vector_kwargs", "wrappers", "render_mode")


def of_vector(vector: Any, eval_env: Any) -> Environment:
    """A vector environment. Those of one process are taken apart, so that any way to begin episodes anew will do."""
    import gymnasium

    if isinstance(vector, gymnasium.vector.SyncVectorEnv):
        return of_objects(list(vector.envs), eval_env)
    mode = vector.metadata.get("autoreset_mode")
    if mode != gymnasium.vector.AutoresetMode.SAME_STEP:
        raise ValueError(
            f"this vector environment begins episodes anew in the mode {getattr(mode, 'value', mode)}: make it with "
            "autoreset_mode=gymnasium.vector.AutoresetMode.SAME_STEP"
        )
    evaluation = None
    if eval_env is not None:
        evaluation = checked(eval_env if isinstance(eval_env, gymnasium.Env) else eval_env(), gymnasium)
    elif vector.spec is not None:
        kwargs = {key: value for key, value in vector.spec.kwargs.items() if key not in OF_VECTORS}
        evaluation = gymnasium.make(vector.spec.id, **kwargs)
    settings: dict[str, Any] = {"envs": vector.num_envs}
    if evaluation is None:
        settings["evaluation"] = {"every": 0}
        warnings.warn("nothing is evaluated: give eval_env, an environment to evaluate in", stacklevel=4)
    name = f"gym:{vector.spec.id}" if vector.spec is not None else f"python:{type(vector.unwrapped).__name__}"

    def make(order: dict[str, Any]) -> Any:
        if order["purpose"] != "evaluation":
            return Vector(vector)
        return Held([evaluation]) if evaluation is not None else Vector(vector)

    return Environment(name, make, settings=settings, space=vector.single_observation_space)


class Vector:
    """A vector environment, stepped as a worker's environments are."""

    stack = 1

    def __init__(self, vector: Any) -> None:
        import gymnasium

        code = worker()
        self.vector, self.here = vector, None
        self.given = code.Actions(gymnasium.spaces, vector.single_action_space)
        view = code.view_of(gymnasium.spaces, vector.single_observation_space)
        self.frame, self.element, self.scale, self.writer = view
        self.actions, self.names = self.given.count, self.given.names
        self.each = gymnasium.vector.utils.iterate

    def use(self, memory: Any) -> None:
        self.memory = memory
        self.put = [self.writer(row) for row in memory.frames]
        self.put_last = [self.writer(row) for row in memory.successors]

    def reset(self, seeds: list[int | None]) -> None:
        # Gymnasium passes seeds on as they are.
        observations, _ = self.vector.reset(seed=seeds)
        self.write(observations)

    def write(self, observations: Any) -> None:
        for put, observation in zip(self.put, self.each(self.vector.observation_space, observations)):
            put(observation)

    def step(self) -> None:
        import numpy as np

        code, memory = worker(), self.memory
        actions = self.given.of(memory.actions)
        if not isinstance(actions, np.ndarray):
            import gymnasium

            space, utils = self.vector.single_action_space, gymnasium.vector.utils
            empty: Any = utils.create_empty_array(space, self.vector.num_envs)
            actions = utils.concatenate(space, list(actions), empty)
        observations, rewards, terminated, truncated, info = self.vector.step(actions)
        memory.rewards[:] = rewards
        memory.flags[:] = code.TERMINATED * np.asarray(terminated) + code.TRUNCATED * np.asarray(truncated)
        for i in np.flatnonzero(memory.flags):
            self.put_last[i](info["final_obs"][i])
        self.write(observations)

    def render(self) -> Any:
        return self.vector.render()[0]

    def close(self) -> None:
        """It is the user's."""


def host(env: Environment, trust: bool) -> _adfq.Host:
    """Where runs find this environment."""
    made = _adfq.Host(sys.executable, trust)
    env.register(made)
    return made

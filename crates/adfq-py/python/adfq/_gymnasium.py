"""Rust's environments as those of Gymnasium: one, and several that are stepped together."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode

from . import _adfq

Frame = npt.NDArray[Any]


def observation_space(described: tuple[list[int], bool, float, int]) -> spaces.Box:
    shape, is_bytes, scale, _ = described
    if is_bytes:
        return spaces.Box(0, 1 if scale == 1.0 else 255, tuple(shape), np.uint8)
    return spaces.Box(-np.inf, np.inf, tuple(shape), np.float32)


class Env(gymnasium.Env[Frame, np.int64]):
    """A native environment.

    >>> import adfq
    >>> env = adfq.make("cartpole")
    >>> observation, info = env.reset(seed=1)
    >>> observation.shape, env.action_space
    ((4,), Discrete(2))
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 25}

    def __init__(self, name: str, render_mode: str | None = None) -> None:
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"render_mode must be None or 'rgb_array', and not {render_mode!r}")
        self.name, self.render_mode = name, render_mode
        self._native = _adfq.NativeEnv(name)
        described = self._native.space()
        self.observation_space = observation_space(described)
        self.action_space = spaces.Discrete(described[3])

    def get_action_meanings(self) -> list[str]:
        """What the actions are called."""
        return self._native.action_names()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Frame, dict[str, Any]]:
        super().reset(seed=seed)
        return self._native.reset(seed), {}

    def step(self, action: Any) -> tuple[Frame, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated = self._native.step(action)
        return observation, reward, terminated, truncated, {}

    def render(self) -> Any:
        return self._native.render() if self.render_mode == "rgb_array" else None


class VecEnv(gymnasium.vector.VectorEnv[Frame, npt.NDArray[np.int64], Frame]):
    """Several native environments that are stepped together. An episode that ends starts anew in the same step; its last
    observation is a row of `info["final_obs"]`. `info["_final_obs"]` says where; the other rows mean nothing.

    >>> import adfq
    >>> envs = adfq.make_vec("minatar/breakout", 8)
    >>> observations, info = envs.reset(seed=0)
    >>> observations.shape
    (8, 10, 10, 4)
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": []}

    def __init__(self, name: str, num_envs: int) -> None:
        self._native = _adfq.NativeEnvs(name, num_envs)
        described = self._native.space()
        self.name, self.num_envs, self.render_mode = name, num_envs, None
        self.single_observation_space = observation_space(described)
        self.single_action_space = spaces.Discrete(described[3])
        self.observation_space = gymnasium.vector.utils.batch_space(self.single_observation_space, num_envs)
        self.action_space = gymnasium.vector.utils.batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Frame, dict[str, Any]]:
        """Starts an episode in each. Environment i draws from the stream `env i` of the seed, however many there are."""
        if isinstance(seed, list):
            raise ValueError("give one seed for all: each environment draws from a stream of its own")
        if seed is None:
            seed = int(np.random.default_rng().integers(2**63))
        return self._native.reset(seed), {}

    def seeds(self, seed: int) -> list[int]:
        """The seeds with which single environments do what these do after `reset(seed=seed)`."""
        return self._native.seeds(seed)

    def step(
        self, actions: Any
    ) -> tuple[Frame, npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_], dict[str, Any]]:
        return self._native.step(np.asarray(actions, np.int64))


def make(name: str, render_mode: str | None = None) -> Env:
    """A native environment as a `gymnasium.Env`."""
    return Env(name, render_mode)


def make_vec(name: str, num_envs: int) -> VecEnv:
    """Several native environments as a `gymnasium.vector.VectorEnv`."""
    return VecEnv(name, num_envs)


def registered_vec(num_envs: int = 1, *, name: str, **_: Any) -> VecEnv:
    """What `gymnasium.make_vec` calls."""
    return VecEnv(name, num_envs)

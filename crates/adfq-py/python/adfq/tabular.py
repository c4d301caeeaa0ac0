"""Finite MDPs, their exact solutions, and tabular agents.

>>> from adfq import tabular
>>> loop = tabular.Mdp.named("loop")
>>> learned = tabular.learn(loop, "adfq", steps=10_000, seed=7)
>>> bool(learned.p_best(0)[1] > 0.99)
True
>>> round(float(loop.solve().q[0, 1]), 4)
7.201
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _adfq

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Solution:
    """The exact values of an MDP."""

    q: Array
    """Q*(s,a)."""
    value: Array
    """V*(s)."""
    policy: npt.NDArray[np.int64]
    """An optimal action for each state."""
    bound: float | None
    """How far a value can be from V*. None where it is exact up to rounding."""


@dataclass(frozen=True)
class Learned:
    """What an agent learned in an MDP."""

    mean: Array
    """The mean of the belief about Q(s,a), or the estimate of an agent without beliefs."""
    var: Array
    """Its variance; 0 without beliefs."""
    steps: int
    """Steps taken."""
    episodes: int
    """Episodes that ended."""
    reward: float
    """All rewards, summed."""

    @property
    def sd(self) -> Array:
        """The standard deviation of the belief."""
        return np.sqrt(self.var)

    def p_best(self, state: int) -> Array:
        """The probability of each action in a state that it is the best, if the beliefs are independent."""
        if not (self.var[state] > 0).all():
            raise ValueError("this agent has no beliefs: ask split, adfq, ktd-q or bayesian-q")
        return _adfq.p_best(self.mean[state].tolist(), self.var[state].tolist())


class Mdp:
    """A finite MDP with an exact model."""

    def __init__(self, own: _adfq.Mdp) -> None:
        self._own = own

    @staticmethod
    def names() -> list[str]:
        """The domains that have names."""
        return _adfq.mdp_names()

    @classmethod
    def named(cls, name: str, gamma: float | None = None) -> Mdp:
        """A domain by name, with its own discount or another one."""
        own = _adfq.Mdp.named(name)
        return cls(own if gamma is None else own.with_gamma(gamma))

    @classmethod
    def from_arrays(
        cls,
        P: npt.ArrayLike,
        R: npt.ArrayLike,
        gamma: float,
        *,
        start: npt.ArrayLike | None = None,
        terminal: npt.ArrayLike | None = None,
        name: str = "mdp",
    ) -> Mdp:
        """From arrays. `P[s, a, t]` is the probability of state t after action a in state s. `R` is the reward, of shape (states,
        actions) or (states, actions, states). `start` is the probability of each state to begin in, state 0 by default. Where
        `terminal[t]` is true, reaching state t ends an episode.

        >>> P = [[[0.0, 1.0]], [[0.0, 1.0]]]
        >>> Mdp.from_arrays(P, [[1.0], [0.0]], 0.9, terminal=[False, True]).solve().value
        array([1., 0.])
        """
        chances = np.asarray(P, np.float64)
        if chances.ndim != 3 or chances.shape[0] != chances.shape[2]:
            raise ValueError(f"P has the shape {chances.shape}, and must have (states, actions, states)")
        states, actions, _ = chances.shape
        rewards = np.asarray(R, np.float64)
        if rewards.shape not in [(states, actions), chances.shape]:
            raise ValueError(f"R has the shape {rewards.shape}, and must have {(states, actions)} or {chances.shape}")
        rewards = np.broadcast_to(rewards[:, :, None] if rewards.ndim == 2 else rewards, chances.shape)
        ends = np.zeros(states, bool) if terminal is None else np.asarray(terminal, bool)
        begin = np.eye(1, states)[0] if start is None else np.asarray(start, np.float64)
        if ends.shape != (states,) or begin.shape != (states,):
            raise ValueError(f"start and terminal must have the shape {(states,)}")
        if not (np.isfinite(chances).all() and (chances >= 0).all()):
            raise ValueError("P must hold probabilities: finite numbers, none below 0")
        outcomes = [
            (int(s), int(a), float(chances[s, a, t]), int(t), float(rewards[s, a, t]), bool(ends[t]))
            for s, a, t in zip(*np.nonzero(chances))
            if not ends[s]
        ]
        return cls._made(name, states, actions, gamma, outcomes, begin)

    @classmethod
    def from_gymnasium(cls, env: Any, gamma: float = 0.99) -> Mdp:
        """The exact model of an environment that tells it as `P`, as those of Gymnasium's toy text do: FrozenLake, Taxi,
        CliffWalking. Its time limit is no part of it."""
        model = getattr(env.unwrapped, "P", None)
        if model is None:
            raise ValueError(f"{env} does not tell its model: only environments with P do, such as FrozenLake-v1")
        states, actions = int(env.observation_space.n), int(env.action_space.n)
        outcomes = [
            (int(s), int(a), float(p), int(t), float(reward), bool(done))
            for s in model
            for a in model[s]
            for p, t, reward, done in model[s][a]
            if p > 0
        ]
        begin = getattr(env.unwrapped, "initial_state_distrib", np.eye(1, states)[0])
        name = env.spec.id if env.spec is not None else type(env.unwrapped).__name__
        return cls._made(name, states, actions, gamma, outcomes, np.asarray(begin, np.float64))

    @classmethod
    def _made(cls, name: str, states: int, actions: int, gamma: float, outcomes: Any, begin: Array) -> Mdp:
        starts = [(int(state), float(begin[state])) for state in np.flatnonzero(begin)]
        return cls(_adfq.Mdp.from_outcomes(name, states, actions, gamma, outcomes, starts))

    @property
    def name(self) -> str:
        return self._own.name

    @property
    def states(self) -> int:
        return self._own.states

    @property
    def actions(self) -> int:
        return self._own.actions

    @property
    def gamma(self) -> float:
        return self._own.gamma

    def solve(self) -> Solution:
        """Q* and an optimal policy."""
        return Solution(*self._own.solve())

    def __repr__(self) -> str:
        return f"Mdp({self.name!r}, states={self.states}, actions={self.actions}, gamma={self.gamma})"


def agents() -> dict[str, list[str]]:
    """The tabular agents, each with the policies it can follow; its usual one comes first.

    >>> agents()["q-learning"]
    ['epsilon', 'greedy', 'boltzmann', 'uniform']
    """
    return dict(_adfq.tabular_agents())


def learn(
    mdp: Mdp,
    agent: str = "split",
    policy: str | None = None,
    steps: int | None = None,
    seed: int = 0,
    *,
    epsilon: float | None = None,
    temperature: float | None = None,
    prior: str | None = None,
) -> Learned:
    """An agent acts in an MDP and learns from every step, as with `adfq learn`. `prior` is `auto`, `MEAN,VAR` or
    `range:MIN,MAX`."""
    return Learned(*mdp._own.learn(agent, policy, steps, seed, epsilon, temperature, prior))

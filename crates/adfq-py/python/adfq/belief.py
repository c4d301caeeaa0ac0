"""What an agent believes, and what it earns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ._html import belief_html


@dataclass(frozen=True)
class Belief:
    """What is believed of each action: arrays with the actions along the last axis.

    An agent without beliefs, such as DQN, has its values as `mean` and NaN for the others.
    """

    mean: npt.NDArray[np.float64]
    """The mean of Q(s,a)."""
    sd: npt.NDArray[np.float64]
    """Its standard deviation."""
    p_best: npt.NDArray[np.float64]
    """The probability that the action is the best one, if the beliefs are independent."""

    def __len__(self) -> int:
        return len(self.mean)

    def _repr_html_(self) -> str:
        """The beliefs of one state as a picture: a line over mean ± 2 sd for each action."""
        return belief_html(self)

    def __getitem__(self, index: Any) -> Belief:
        """A part of a batch."""
        return Belief(self.mean[index], self.sd[index], self.p_best[index])


@dataclass(frozen=True)
class Evaluation:
    """Greedy episodes."""

    step: int
    """The environment step of training."""
    returns: npt.NDArray[np.float64]
    """The return of each episode."""
    lengths: npt.NDArray[np.int64]
    """The length of each."""

    @property
    def mean(self) -> float:
        """The mean return."""
        return float(self.returns.mean())

    @property
    def standard_error(self) -> float:
        """The standard error of the mean; 0 for one episode."""
        count = len(self.returns)
        return float(self.returns.std(ddof=1) / np.sqrt(count)) if count > 1 else 0.0

    def __repr__(self) -> str:
        return f"Evaluation({self.mean:.4g} ± {self.standard_error:.2g} over {len(self.returns)} episodes, step {self.step})"

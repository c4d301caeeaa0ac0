"""The update of the paper, and the exact one, over arrays."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import _adfq

# The paper's bound on variances from below.
FLOOR = 1e-10


def update(
    prior_mean: npt.ArrayLike,
    prior_var: npt.ArrayLike,
    reward: npt.ArrayLike,
    discount: npt.ArrayLike,
    next_mean: npt.ArrayLike,
    next_var: npt.ArrayLike,
    *,
    terminal: npt.ArrayLike | None = None,
    terminal_var: float = 1e-3,
    rule: Literal["analytic", "exact", "grid"] = "analytic",
    noise: Literal["none", "approximate", "exact"] = "none",
    noise_var: npt.ArrayLike = 0.0,
    floor: float = FLOOR,
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Posterior means and variances of Q(s,a) after transitions, one in each row.

    `prior_mean` and `prior_var` are the beliefs about Q(s,a) before, of shape (n,). `next_mean` and `next_var` are those about
    the next actions, of shape (n, actions). Where `terminal` is true the target is the reward alone, with the variance
    `terminal_var`. `rule` is the paper's update or the exact moments of the posterior. `noise` says how the noise of targets, of
    variance `noise_var`, is treated. Variances are not below `floor`.

    Contiguous arrays of one kind, float64 or float32, are not copied. Other threads of Python run meanwhile.

    >>> import adfq
    >>> mean, var = adfq.update([0.0], [1.0], [0.0], 0.9, [[-2.0, -2.0, 4.5]], [[2.0, 0.5, 0.5]], rule="exact")
    >>> print(f"{mean[0]:.2f} ± {var[0] ** 0.5:.2f}")
    2.88 ± 0.54
    """
    given = [prior_mean, prior_var, reward, next_mean, next_var]
    is_single = all(isinstance(array, np.ndarray) and array.dtype == np.float32 for array in given)
    kind: Any = np.float32 if is_single else np.float64
    mean = numbers("prior_mean", prior_mean, kind, 1)
    rows = len(mean)
    ends = np.empty(0, bool) if terminal is None else spread("terminal", terminal, bool, rows)
    compute: Any = _adfq.update_f32 if is_single else _adfq.update_f64
    posterior: tuple[npt.NDArray[Any], npt.NDArray[Any]] = compute(
        mean,
        spread("prior_var", prior_var, kind, rows),
        spread("reward", reward, kind, rows),
        numbers("discount", discount, kind, 1),
        numbers("next_mean", next_mean, kind, 2),
        numbers("next_var", next_var, kind, 2),
        ends,
        terminal_var,
        rule,
        noise,
        numbers("noise_var", noise_var, kind, 1),
        floor,
    )
    return posterior


def numbers(name: str, array: npt.ArrayLike, kind: Any, axes: int) -> npt.NDArray[Any]:
    """A contiguous array. A number alone is one of one element."""
    made = np.ascontiguousarray(array, kind)
    if made.ndim != axes:
        raise ValueError(f"{name} has the shape {np.shape(array)}, and must have {axes} {'axis' if axes == 1 else 'axes'}")
    return made


def spread(name: str, array: npt.ArrayLike, kind: Any, rows: int) -> npt.NDArray[Any]:
    """The same, where a number alone stands for all rows."""
    return np.full(rows, array, kind) if np.ndim(array) == 0 else numbers(name, array, kind, 1)

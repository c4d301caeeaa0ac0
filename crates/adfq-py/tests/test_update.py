"""The batched update: the golden values of the Rust crate, kinds of arrays, and mistakes."""

import gzip
import json
import pathlib

import numpy as np
import pytest

import adfq

GOLDEN = pathlib.Path(__file__).parents[2] / "adfq" / "tests" / "golden"


def random(rows, actions, kind=np.float64):
    rng = np.random.default_rng(0)
    column = lambda *shape: rng.normal(size=shape).astype(kind)  # noqa: E731
    width = lambda *shape: (rng.random(shape) + 0.1).astype(kind)  # noqa: E731
    return column(rows), width(rows), column(rows), 0.9, column(rows, actions), width(rows, actions)


def test_the_example_of_the_paper():
    words = ([0.0], [1.0], [0.0], 0.9, [[-2.0, -2.0, 4.5]], [[2.0, 0.5, 0.5]])
    mean, var = adfq.update(*words, rule="exact")
    assert abs(mean[0] - 2.88) < 0.005 and abs(np.sqrt(var[0]) - 0.54) < 0.005
    mean, _ = adfq.update(*words, rule="exact", noise="exact", noise_var=0.1)
    assert abs(mean[0] - 2.6911) < 1e-4


@pytest.mark.parametrize(
    ("name", "rule", "noise", "tolerance"),
    [("analytic", "analytic", "approximate", 1e-12), ("exact", "exact", "none", 1e-7), ("noise", "exact", "exact", 1e-7)],
)
def test_golden_values(name, rule, noise, tolerance):
    """Within the tolerances of `crates/adfq/tests/golden.rs`."""
    with gzip.open(GOLDEN / f"{name}.jsonl.gz", "rt") as lines:
        cases = [json.loads(line) for line in lines]
    for case in cases:
        columns = ([case["mu_sa"]], [case["var_sa"]], [case["r"]], case["gamma"], [case["mu_next"]], [case["var_next"]])
        [mean], [var] = adfq.update(*columns, rule=rule, noise=noise, noise_var=case["var_w"], floor=0.0)
        assert abs(mean - case["mean"]) <= np.sqrt(case["var"]) * (tolerance + 200 * max(case["cond_mean"], 1e-15)), case
        assert abs(var - case["var"]) <= case["var"] * (tolerance + 200 * max(case["cond_var"], 1e-15)), case
    assert len(cases) == 999


def test_terminal_rows_see_the_reward_alone():
    mean, var = adfq.update([0.0, 0.0], [1.0, 1.0], [1.0, 1.0], 0.9, [[9.0], [9.0]], [[1.0], [1.0]], terminal=[True, False])
    assert abs(mean[0] - 1) < 2e-3 and mean[1] > 4 and var[0] < 1e-3 + 1e-6


def test_float32_stays_float32():
    mean, var = adfq.update(*random(5000, 4, np.float32))
    assert mean.dtype == var.dtype == np.float32
    double, _ = adfq.update(*random(5000, 4))
    assert double.dtype == np.float64


def test_the_layout_does_not_matter():
    mean, var, reward, discount, next_mean, next_var = random(100, 4)
    scattered = (np.repeat(mean, 2)[::2], var, reward, np.full(100, discount), np.asfortranarray(next_mean), next_var)
    assert all((a == b).all() for a, b in zip(adfq.update(*scattered), adfq.update(*random(100, 4))))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (dict(prior_var=[0.0]), "variance"),
        (dict(prior_mean=[float("nan")]), "NaN"),
        (dict(reward=[float("inf")]), "inf"),
        (dict(discount=1.5), "discount"),
        (dict(next_mean=[[1.0, 2.0]]), "var_next|next_var"),
        (dict(next_mean=[1.0]), "must have 2 axes"),
        (dict(prior_mean=[[1.0]]), "must have 1 axis"),
        (dict(reward=[0.0, 0.0]), "reward"),
        (dict(rule="guess"), "there is no rule"),
        (dict(noise="loud"), "there is no noise"),
    ],
)
def test_mistakes_are_named(change, text):
    words = dict(prior_mean=[0.0], prior_var=[1.0], reward=[0.0], discount=0.9, next_mean=[[0.0]], next_var=[[1.0]])
    with pytest.raises(ValueError, match=text):
        adfq.update(**{**words, **change})

"""Finite MDPs and tabular agents."""

import gymnasium
import numpy as np
import pytest

from adfq import tabular


def test_named_domains_are_solved():
    assert "loop" in tabular.Mdp.names()
    loop = tabular.Mdp.named("loop")
    solution = loop.solve()
    assert (loop.states, loop.actions) == (9, 2) and solution.q.shape == (9, 2)
    assert abs(solution.q[0, 1] - 7.201040) < 1e-6 and solution.policy[0] == 1
    with pytest.raises(ValueError, match="did you mean"):
        tabular.Mdp.named("lop")


def test_arrays_are_solved_as_linear_equations_say():
    rng = np.random.default_rng(1)
    P = rng.dirichlet(np.ones(6), (6, 1))
    R = rng.normal(size=(6, 1, 6))
    value = np.linalg.solve(np.eye(6) - 0.9 * P[:, 0], (P * R).sum(2)[:, 0])
    assert np.allclose(tabular.Mdp.from_arrays(P, R, 0.9).solve().value, value)


WITHOUT_BELIEFS = {"q-learning", "q-optimistic", "vi", "rmax", "mbie", "beb", "ucbvi"}


def test_every_agent_learns_loop():
    assert set(tabular.agents()) > WITHOUT_BELIEFS
    loop = tabular.Mdp.named("loop")
    for agent, policies in tabular.agents().items():
        learned = tabular.learn(loop, agent, steps=20_000, seed=1)
        assert learned.steps == 20_000 and learned.mean.shape == (9, 2), agent
        assert (learned.var.max() > 0) == (agent not in WITHOUT_BELIEFS), agent
        assert policies
    with pytest.raises(ValueError, match="no beliefs"):
        tabular.learn(loop, "q-learning", steps=100).p_best(0)
    same = [tabular.learn(loop, "adfq", "thompson", 5000, 3).mean for _ in range(2)]
    assert (same[0] == same[1]).all()


def test_frozen_lake_is_solved_exactly():
    mdp = tabular.Mdp.from_gymnasium(gymnasium.make("FrozenLake-v1"), gamma=0.99)
    q = np.zeros((16, 4))
    P = gymnasium.make("FrozenLake-v1").unwrapped.P
    for _ in range(5000):
        for s in P:
            for a in P[s]:
                q[s, a] = sum(p * (r + 0.99 * (not done) * q[t].max()) for p, t, r, done in P[s][a])
    assert np.allclose(mdp.solve().q, q, atol=1e-8)
    assert tabular.Mdp.from_gymnasium(gymnasium.make("Taxi-v4")).states == 500


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (([[[1.0]]], [[0.0]], 1.5), "discount|gamma|γ"),
        (([[1.0]], [[0.0]], 0.9), "P has the shape"),
        (([[[1.0]]], [[0.0, 1.0]], 0.9), "R has the shape"),
        (([[[0.5]]], [[0.0]], 0.9), "sum|add up|1"),
        (([[[float("nan")]]], [[0.0]], 0.9), "probabilities"),
        (([[[1.0]]], [[float("nan")]], 0.9), "NaN|finite"),
    ],
)
def test_mistakes_are_named(words, text):
    with pytest.raises(ValueError, match=text):
        tabular.Mdp.from_arrays(*words)
    with pytest.raises(ValueError, match="does not tell its model"):
        tabular.Mdp.from_gymnasium(gymnasium.make("CartPole-v1"))

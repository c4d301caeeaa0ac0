"""Callbacks, Ctrl-C, kills, and errors in the middle: what was learned is saved, and the run goes on to the bit."""

import signal
import sys
import threading

import numpy as np
import pytest
from conftest import SHORT, start

import adfq

LEARNS = """
import sys, adfq
model = adfq.ADFQ("cartpole", out=sys.argv[1], learning={"warmup": 100}, logging={"checkpoint": 500},
                  evaluation={"every": 500, "episodes": 2, "final_episodes": 3})
def said(model, step):
    print(step)
    if step == 2000:
        input()
try:
    model.learn(4000, on_step=said, step_every=1000)
except KeyboardInterrupt:
    print("interrupted at", model.steps)
"""
WHOLE = dict(learning={"warmup": 100}, logging={"checkpoint": 500}, evaluation={"every": 500, "episodes": 2, "final_episodes": 3})


@pytest.fixture(scope="module")
def whole():
    return adfq.ADFQ("cartpole", **WHOLE).learn(4000).result


def test_a_killed_interpreter_resumes_to_the_bit(tmp_path, whole):
    process = start(LEARNS, tmp_path / "run")
    assert [process.stdout.readline() for _ in range(2)] == ["1000\n", "2000\n"]
    process.kill()
    process.communicate()
    model = adfq.load(tmp_path / "run")
    assert 0 < model.steps <= 2000
    assert model.learn().result == whole


def test_ctrl_c_saves_and_raises(tmp_path, whole):
    process = start(LEARNS, tmp_path / "run")
    assert [process.stdout.readline() for _ in range(2)] == ["1000\n", "2000\n"]
    process.send_signal(signal.SIGINT)
    said, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert said.startswith("interrupted at "), said
    model = adfq.load(tmp_path / "run")
    assert model.steps == int(said.split()[-1]) and 2000 <= model.steps < 4000
    assert model.learn().result == whole


def test_ctrl_c_while_an_error_is_handled_waits_until_all_is_saved(tmp_path):
    model = adfq.ADFQ("cartpole", out=tmp_path / "run", **SHORT)
    calls = []

    def interrupt(frame, event, called):
        """A signal that comes while the package calls its native part. Python handles it when the call returns."""
        if event == "c_return" and type(getattr(called, "__self__", None)).__name__ == "Training":
            calls.append(called.__name__)
            raise KeyboardInterrupt

    def fail(model, step):
        sys.setprofile(interrupt)
        raise ZeroDivisionError

    try:
        with pytest.raises(KeyboardInterrupt):
            model.learn(3000, on_step=fail, step_every=700)
    finally:
        sys.setprofile(None)
    assert calls == ["stop"]
    assert model.steps == 700 == adfq.load(tmp_path / "run").steps


def test_callbacks_see_the_run():
    steps, evaluations, checkpoints = [], [], []
    model = adfq.ADFQ("cartpole", **SHORT)
    model.learn(
        1000,
        on_step=lambda model, step: steps.append((model.steps, step)),
        on_evaluation=lambda model, evaluation: evaluations.append(evaluation),
        on_checkpoint=lambda model, step: checkpoints.append(step),
        step_every=300,
    )
    assert steps == [(300, 300), (600, 600), (900, 900)]
    assert [(evaluation.step, len(evaluation.returns)) for evaluation in evaluations] == [(500, 2), (1000, 3)]
    assert checkpoints == [500, 1000]
    assert evaluations[-1].mean == model.result["mean_return"]
    assert evaluations[-1].returns.tolist() == model.evaluations()["return"][2:].tolist()


def test_callbacks_change_nothing():
    watched = adfq.ADFQ("cartpole", **SHORT)
    watched.learn(1000, on_step=lambda model, step: model.predict(np.zeros(4)) and None, step_every=10)
    assert watched.result == adfq.ADFQ("cartpole", **SHORT).learn(1000).result


def test_callbacks_are_called_where_learn_was():
    threads = set()
    adfq.DQN("cartpole", **SHORT).learn(300, on_step=lambda *_: threads.add(threading.get_ident()), step_every=100)
    assert threads == {threading.get_ident()}


@pytest.mark.parametrize("name", ["on_step", "on_evaluation", "on_checkpoint"])
def test_false_stops(name):
    model = adfq.ADFQ("cartpole", **SHORT)
    model.learn(1500, **{name: lambda *_: False}, step_every=500)
    assert model.steps == 500 and model.result is None
    assert model.learn().result == adfq.ADFQ("cartpole", **SHORT).learn(1500).result


def test_an_exception_in_a_callback_saves_and_is_raised():
    model = adfq.ADFQ("cartpole", **SHORT)

    def fail(model, step):
        raise ZeroDivisionError("in the callback")

    with pytest.raises(ZeroDivisionError, match="in the callback"):
        model.learn(1500, on_step=fail, step_every=700)
    assert model.steps == 700
    assert model.learn().result == adfq.ADFQ("cartpole", **SHORT).learn(1500).result


def test_a_model_that_learns_does_nothing_else():
    model = adfq.DQN("cartpole", **SHORT)
    said = []

    def busy(model, step):
        for call in (lambda: model.learn(10), lambda: model.save("somewhere")):
            with pytest.raises(adfq.AdfqError, match="learning"):
                call()
            said.append(step)

    model.learn(200, on_step=busy, step_every=100)
    assert said == [100, 100, 200, 200]


def test_models_learn_in_threads_side_by_side():
    results = {}

    def learn(seed):
        results[seed] = adfq.DQN("cartpole", seed=seed, **SHORT).learn(800).result

    threads = [threading.Thread(target=learn, args=(seed,)) for seed in range(3)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert results[2] == adfq.DQN("cartpole", seed=2, **SHORT).learn(800).result and len(results) == 3


def test_progress_is_drawn_where_it_is_asked_for(capfd, monkeypatch):
    adfq.DQN("cartpole", **SHORT).learn(300, progress_bar=True)
    assert "cartpole" in capfd.readouterr().err
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    adfq.DQN("cartpole", **SHORT).learn(300, progress_bar=True)
    assert "300 of 300 steps" in capfd.readouterr().err
    adfq.DQN("cartpole", **SHORT).learn(300)
    assert capfd.readouterr().err == ""

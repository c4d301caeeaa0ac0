"""Environments of Gymnasium in this process: names, objects, lists and vectors."""

import gymnasium
import numpy as np
import pytest
from conftest import SHORT, SHORT_WORDS, files
from gymnasium import spaces

import adfq


class Corridor(gymnasium.Env):
    """Walk to the right end of five cells."""

    def __init__(self, observations=None, actions=None, gives=None, fails_at=None):
        self.observation_space = observations or spaces.Box(0, 5, (1,), np.float32)
        self.action_space = actions or spaces.Discrete(2)
        self.gives, self.fails_at, self.taken = gives, fails_at, 0

    def seen(self):
        return self.gives(self.cell) if self.gives else np.array([self.cell], np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.cell = 0
        return self.seen(), {}

    def step(self, action):
        self.taken += 1
        if self.taken == self.fails_at:
            raise OSError("the corridor caved in")
        self.cell = max(self.cell + (1 if action else -1), 0)
        return self.seen(), float(self.cell == 4), self.cell == 4, False, {}


def short(**more):
    return {**SHORT, **more}


def test_in_this_process_as_in_a_worker(program, tmp_path):
    words = [word for setting in SHORT_WORDS for word in ("--set", setting)]
    import sys

    folder = tmp_path / "worker"
    program("train", "gym:CartPole-v1", "--agent", "adfq", "--steps", 1200, "--python", sys.executable, "--out", folder, *words)
    adfq.ADFQ("gym:CartPole-v1", out=tmp_path / "name", **SHORT).learn(1200)
    adfq.ADFQ(gymnasium.make("CartPole-v1"), out=tmp_path / "object", **SHORT).learn(1200)
    assert files(tmp_path / "name") == files(tmp_path / "object") == files(folder)
    # And several at once.
    folder = tmp_path / "several"
    program("train", "gym:CartPole-v1", "--agent", "adfq", "--steps", 1200, "--envs", 3, "--python", sys.executable, "--out", folder, *words)
    made = [lambda: gymnasium.make("CartPole-v1") for _ in range(3)]
    adfq.ADFQ(made, out=tmp_path / "list", **SHORT).learn(1200)
    vector = gymnasium.make_vec("CartPole-v1", 3, vectorization_mode="sync")
    adfq.ADFQ(vector, out=tmp_path / "sync", **SHORT).learn(1200)
    assert files(tmp_path / "list") == files(tmp_path / "sync") == files(folder)


def test_the_program_evaluates_what_an_object_taught(program, tmp_path):
    import json, sys

    model = adfq.DQN(gymnasium.make("CartPole-v1"), out=tmp_path / "run", **SHORT).learn(600)
    said = json.loads(program("eval", tmp_path / "run", "--episodes", 3, "--json", "--python", sys.executable))
    assert [episode["total"] for episode in said["episodes"]] == model.evaluate(3).returns.tolist()


def test_vectors_of_other_processes_begin_anew_in_the_same_step():
    same = gymnasium.vector.AutoresetMode.SAME_STEP
    vector = gymnasium.make_vec(
        "CartPole-v1", 2, vectorization_mode="async", vector_kwargs={"autoreset_mode": same, "context": "spawn"}
    )
    listed = [lambda: gymnasium.make("CartPole-v1") for _ in range(2)]
    assert adfq.DQN(vector, **SHORT).learn(600).result == adfq.DQN(listed, **SHORT).learn(600).result
    vector.close()
    later = gymnasium.make_vec("CartPole-v1", 2, vectorization_mode="async", vector_kwargs={"context": "spawn"})
    with pytest.raises(ValueError, match="AutoresetMode.SAME_STEP"):
        adfq.DQN(later)
    later.close()


def test_native_environments_made_for_gymnasium_are_native():
    assert adfq.DQN(adfq.make("cartpole"), **SHORT).learn(300).result == adfq.DQN("cartpole", **SHORT).learn(300).result
    several = adfq.DQN(adfq.make_vec("cartpole", 3), **SHORT).learn(300)
    assert several.result == adfq.DQN("cartpole", envs=3, **SHORT).learn(300).result


def test_arguments_of_an_object_are_those_of_the_run():
    limited = adfq.DQN(gymnasium.make("CartPole-v1", max_episode_steps=9, sutton_barto_reward=True), **SHORT)
    assert limited.config["env_args"] == {"max_episode_steps": 9, "sutton_barto_reward": True}
    assert limited.learn(600).evaluations()["length"].max() <= 9
    # Wrappers have no name that the program would know.
    wrapped = gymnasium.wrappers.TransformReward(gymnasium.make("CartPole-v1"), lambda reward: 2 * reward)
    model = adfq.DQN(wrapped, **SHORT).learn(600)
    assert model.config["env"] == "python:CartPoleEnv"
    assert (model.evaluations()["return"] == 2 * model.evaluations()["length"]).all()


def test_wrapped_observations_are_seen_as_in_training():
    model = adfq.DQN("gym:CartPole-v1", wrappers=["FrameStackObservation(3)"], **SHORT).learn(200)
    assert model.predict(np.zeros((3, 4), np.float32))[1].mean.shape == (2,)
    with pytest.raises(ValueError, match=r"shape \(3, 4\)"):
        model.predict(np.zeros(4, np.float32))


def test_states_by_number():
    model = adfq.DQN("FrozenLake-v1", **SHORT).learn(300)
    assert model.config["env"] == "gym:FrozenLake-v1"
    actions, belief = model.predict(np.arange(16))
    assert belief.mean.shape == (16, 4) and model.predict(5)[0] == actions[5]
    with pytest.raises(ValueError, match="the space promises 0 to 15"):
        model.predict(16)


def test_an_object_of_the_user(tmp_path):
    model = adfq.DQN(Corridor(), out=tmp_path / "run", **SHORT).learn(1000)
    assert model.config["env"] == "python:Corridor" and model.evaluations()["step"].tolist() == [500, 500, 1000, 1000, 1000]
    assert model.predict(np.zeros(1, np.float32))[0] in (0, 1)
    with pytest.raises(ValueError, match="give such an environment as env"):
        adfq.load(tmp_path / "run")
    with pytest.raises(ValueError, match="the run is one of python:Corridor"):
        adfq.load(tmp_path / "run", env="cartpole")
    again = adfq.load(tmp_path / "run", env=Corridor())
    assert again.learn(500).steps == 1500


def test_observations_in_parts_are_flattened():
    space = spaces.Dict(cell=spaces.Discrete(6), near=spaces.Box(0, 1, (2,), np.float32))
    gives = lambda cell: {"cell": cell, "near": np.full(2, cell / 5, np.float32)}  # noqa: E731
    model = adfq.ADFQ(Corridor(space, gives=gives), **SHORT).learn(600)
    action, belief = model.predict(gives(3))
    assert belief.mean.shape == (2,) and model.beliefs([gives(0), gives(3)]).mean.shape == (2, 2)
    assert (model.beliefs([gives(3)]).mean[0] == belief.mean).all()
    with pytest.raises(ValueError, match="near"):
        model.predict({"cell": 1})


def test_actions_in_parts_are_counted():
    model = adfq.DQN(Corridor(actions=spaces.MultiDiscrete([2, 3])), **SHORT)
    assert model.predict(np.zeros(1, np.float32))[1].mean.shape == (6,)


def test_wrappers_by_name():
    words = dict(wrappers=["TimeLimit(max_episode_steps=7)"], **SHORT)
    model = adfq.DQN("gym:CartPole-v1", **words).learn(600)
    assert model.evaluations()["length"].max() <= 7


@pytest.mark.parametrize(
    ("env", "error", "text"),
    [
        (lambda: Corridor(actions=spaces.Box(-1, 1, (2,))), ValueError, "continuous actions are not supported"),
        (lambda: Corridor(spaces.Text(5)), ValueError, "supported are Box"),
        (lambda: "gym:Nothing-v0", ValueError, "cannot be made"),
        (lambda: lambda: 7, TypeError, "must make a gymnasium.Env"),
    ],
)
def test_what_cannot_be_trained_in(env, error, text):
    with pytest.raises(error, match=text):
        adfq.DQN(env())


@pytest.mark.parametrize(
    ("words", "error", "text"),
    [
        (dict(gives=lambda cell: np.full(1, np.nan, np.float32)), ValueError, "not finite"),
        (dict(gives=lambda cell: np.zeros(3, np.float32)), ValueError, "shape"),
        (dict(gives=lambda cell: "left"), ValueError, "no array of numbers"),
        (dict(fails_at=300), OSError, "caved in"),
    ],
)
def test_what_goes_wrong_in_an_environment_is_raised(words, error, text):
    model = adfq.DQN(Corridor(**words), eval_env=Corridor(), **SHORT)
    with pytest.raises(error, match=text):
        model.learn(1000)


def test_a_closed_environment_is_no_crash():
    env = gymnasium.make_vec("CartPole-v1", 2, vectorization_mode="sync")
    env.close()
    vector = gymnasium.make_vec(
        "CartPole-v1",
        1,
        vectorization_mode="async",
        vector_kwargs={"autoreset_mode": gymnasium.vector.AutoresetMode.SAME_STEP, "context": "spawn"},
    )
    vector.close()
    with pytest.raises(gymnasium.error.ClosedEnvironmentError):
        adfq.DQN(vector, eval_env=gymnasium.make("CartPole-v1"), **SHORT).learn(300)


def test_without_a_second_environment_nothing_is_evaluated():
    class Only(Corridor):
        def __deepcopy__(self, memo):
            raise TypeError("there is one alone")

    with pytest.warns(UserWarning, match="give eval_env"):
        model = adfq.DQN(Only(), **SHORT)
    assert model.learn(600).evaluations().get("step", np.empty(0)).size == 0
    assert adfq.DQN(Only(), eval_env=Corridor(), **SHORT).learn(600).result["mean_return"] is not None


def test_a_stranger_imports_nothing(tmp_path, monkeypatch):
    (tmp_path / "evil.py").write_text("raise SystemExit('it was run')")
    monkeypatch.syspath_prepend(str(tmp_path))
    adfq.DQN("gym:CartPole-v1", out=tmp_path / "run", **SHORT).learn(200)
    text = (tmp_path / "run" / "config.toml").read_text()
    (tmp_path / "run" / "config.toml").write_text(text.replace("gym:CartPole-v1", "gym:evil:CartPole-v1"))
    with pytest.raises(PermissionError, match="trust=True"):
        adfq.load(tmp_path / "run").evaluate(1)

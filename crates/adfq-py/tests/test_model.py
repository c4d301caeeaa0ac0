"""Models of native environments: the same bits as the program's, and everything a model can be asked."""

import gc
import pathlib

import numpy as np
import pytest
from conftest import SHORT, SHORT_WORDS, files, result

import adfq


def settings():
    return [word for setting in SHORT_WORDS for word in ("--set", setting)]


@pytest.mark.parametrize("agent", ["adfq", "ddqn", "split"])
def test_a_model_is_what_the_program_trains(agent, program, tmp_path):
    program("train", "cartpole", "--agent", agent, "--seed", 3, "--steps", 1500, "--out", tmp_path / "program", *settings())
    model = adfq.Model("cartpole", agent, seed=3, out=tmp_path / "package", **SHORT)
    model.learn(1500)
    assert files(tmp_path / "package") == files(tmp_path / "program")


def test_learning_again_is_a_longer_run_of_the_program(program, tmp_path):
    folder = tmp_path / "program"
    program("train", "cartpole", "--agent", "adfq", "--steps", 1000, "--keep-replay", "--out", folder, *settings())
    program("train", "--resume", folder, "--steps", 1700, "--keep-replay")
    model = adfq.ADFQ("cartpole", out=tmp_path / "package", **SHORT).learn(1000).learn(700)
    assert model.steps == 1700
    assert files(tmp_path / "package") == files(folder)


def test_a_saved_model_goes_on_to_the_bit(tmp_path):
    model = adfq.DQN("cartpole", seed=1, **SHORT).learn(1000)
    model.save(tmp_path / "half.adfq")
    loaded = adfq.load(tmp_path / "half.adfq")
    assert type(loaded) is adfq.DQN and loaded.steps == 1000 and loaded.config == model.config
    assert loaded.learn(600).result == model.learn(600).result


def test_program_and_package_read_each_other(program, tmp_path):
    model = adfq.ADFQ("cartpole", out=tmp_path / "run", **SHORT).learn(1000)
    said = program("eval", tmp_path / "run", "--episodes", 4, "--seed", 5, "--json")
    import json

    episodes = json.loads(said)["episodes"]
    played = model.evaluate(4, seed=5)
    assert [episode["total"] for episode in episodes] == played.returns.tolist()
    # The program goes on where Python was, and Python after it.
    program("train", "--resume", tmp_path / "run", "--steps", 1200, "--keep-replay")
    whole = adfq.ADFQ("cartpole", **SHORT).learn(1000).learn(200).learn(300)
    assert adfq.load(tmp_path / "run").learn(300).result == whole.result
    program("compare", tmp_path / "run", "--out", tmp_path / "comparison")


def test_a_stopped_run_goes_on(tmp_path):
    whole = adfq.ADFQ("cartpole", **SHORT).learn(1500)
    model = adfq.ADFQ("cartpole", **SHORT)
    model.learn(1500, on_step=lambda model, step: step < 700, step_every=100)
    assert model.steps == 700 and model.result is None
    assert model.learn(200).steps == 900
    assert model.learn().result == whole.result


def test_a_temporary_folder_goes_with_its_model():
    model = adfq.DQN("cartpole", **SHORT).learn(200)
    folder = model.folder
    assert folder.exists()
    del model
    gc.collect()
    assert not folder.exists()


def test_a_folder_that_was_named_stays(tmp_path):
    adfq.DQN("cartpole", out=tmp_path / "run", **SHORT).learn(200)
    gc.collect()
    assert (tmp_path / "run" / "result.json").exists()
    with pytest.raises(FileExistsError, match="holds a run already"):
        adfq.DQN("cartpole", out=tmp_path / "run")


def test_saving_replaces_runs_and_nothing_else(tmp_path):
    model = adfq.DQN("cartpole", **SHORT)
    with pytest.raises(adfq.AdfqError, match="learned nothing yet"):
        model.save(tmp_path / "model.adfq")
    model.learn(200).save(tmp_path / "model.adfq")
    model.learn(100).save(tmp_path / "model.adfq")
    assert result(tmp_path / "model.adfq")["steps"] == 300
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "dear.txt").write_text("dear")
    with pytest.raises(FileExistsError, match="no run of adfq"):
        model.save(tmp_path / "letters")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_beliefs_of_a_batch_are_those_of_each():
    model = adfq.ADFQ("cartpole", **SHORT).learn(500)
    observations = np.random.default_rng(0).normal(size=(20, 4)) * 0.1
    batch = model.beliefs(observations)
    assert batch.mean.shape == batch.sd.shape == batch.p_best.shape == (20, 2)
    assert (batch.sd > 0).all() and np.allclose(batch.p_best.sum(1), 1)
    actions, same = model.predict(observations)
    for i, observation in enumerate(observations):
        action, belief = model.predict(observation)
        assert (action, belief.mean.tolist()) == (actions[i], batch.mean[i].tolist())
        assert belief.p_best.tolist() == batch[i].p_best.tolist() == same[i].p_best.tolist()


def test_no_observations_have_no_beliefs():
    assert adfq.ADFQ("cartpole").beliefs(np.empty((0, 4))).mean.shape == (0, 2)


def test_an_agent_without_beliefs_says_so():
    action, belief = adfq.DQN("cartpole").predict(np.zeros(4))
    assert action in (0, 1) and np.isfinite(belief.mean).all()
    assert np.isnan(belief.sd).all() and np.isnan(belief.p_best).all()


def test_drawn_actions_follow_the_beliefs():
    model = adfq.ADFQ("cartpole", seed=1)
    observations = np.zeros((2000, 4))
    drawn, belief = model.predict(observations, deterministic=False)
    assert abs((drawn == 1).mean() - belief.p_best[0, 1]) < 0.05
    assert set(adfq.DQN("cartpole").predict(observations, deterministic=False)[0]) <= {0, 1}


def test_bytes_are_seen_as_in_training():
    model = adfq.DQN("minatar/breakout", **SHORT).learn(300)
    env = adfq.make("minatar/breakout")
    observation, _ = env.reset(seed=0)
    _, belief = model.predict(observation)
    assert np.isfinite(belief.mean).all() and belief.mean.shape == (env.action_space.n,)
    with pytest.raises(ValueError, match="must be a whole number from 0 to 255"):
        model.predict(observation + 0.5)


def test_metrics_and_evaluations():
    model = adfq.ADFQ("cartpole", **SHORT).learn(1000)
    metrics, evaluations = model.metrics(), model.evaluations()
    assert metrics["step"].tolist() == [250, 500, 750, 1000]
    assert np.isfinite(metrics["loss"]).all()
    assert evaluations["step"].tolist() == [500, 500, 1000, 1000, 1000]
    pandas = pytest.importorskip("pandas")
    frame = model.to_frame()
    assert isinstance(frame, pandas.DataFrame) and frame.index.tolist() == [250, 500, 750, 1000]


def test_a_new_model_has_no_metrics():
    assert adfq.ADFQ("cartpole").metrics() == {}


def test_settings_in_three_spellings():
    for words in ({"learning": {"batch": 64}}, {"learning.batch": 64}, {"set": ["learning.batch=64"]}):
        assert adfq.ADFQ("cartpole", **words).config["learning.batch"] == 64
    config = adfq.ADFQ("cartpole", learning={"target": {"soft": 0.01}, "adam": {"rate": 0.5}}).config
    assert config["learning.target"] == {"soft": 0.01} or abs(config["learning.target.soft"] - 0.01) < 1e-6
    assert config["learning.adam.rate"] == 0.5 and "beta1" in config["learning.adam"]
    assert adfq.ADFQ("cartpole", preset="default").config != adfq.ADFQ("cartpole").config
    assert adfq.Model("cartpole", "adfq-eps").config["policy"] == "epsilon"
    again = adfq.Model("cartpole", config=adfq.ADFQ("cartpole", seed=4).config).config
    assert again["seed"] == 4


@pytest.mark.parametrize(
    ("words", "error", "text"),
    [
        (dict(env="cartpol"), ValueError, 'did you mean "cartpole"'),
        (dict(env="cartpole", agent="sarsa"), ValueError, 'there is no agent "sarsa"'),
        (dict(env="cartpole", agent="dqn", policy="thompson"), ValueError, "cannot follow the policy"),
        (dict(env="cartpole", preset="best"), ValueError, 'there is no preset "best"'),
        (dict(env="cartpole", learning={"batch": 0}), ValueError, "learning.batch must be at least 1"),
        (dict(env="cartpole", learning={"bach": 1}), ValueError, "bach"),
        (dict(env="cartpole", learning={"batch": "many"}), ValueError, "batch"),
        (dict(env="cartpole", learning={"batch": None}), TypeError, "learning.batch cannot be None"),
        (dict(env="cartpole", steps=5), TypeError, "argument of learn"),
        (dict(env="cartpole", seed=-1), ValueError, "the seed must be"),
        (dict(env="cartpole", seed=2**64), ValueError, "the seed must be"),
        (dict(env=7), TypeError, "and not int"),
        (dict(env=[]), ValueError, "the list of environments is empty"),
    ],
)
def test_what_cannot_be_is_said_at_once(words, error, text):
    with pytest.raises(error, match=text):
        adfq.Model(**words)


def test_a_class_is_one_agent():
    with pytest.raises(TypeError, match="ADFQ is the agent adfq"):
        adfq.ADFQ("cartpole", "dqn")


def test_a_forked_child_leaves_the_folder_alone():
    import os

    model = adfq.DQN("cartpole", **SHORT).learn(200)
    child = os.fork()
    if child == 0:
        model._remove()
        os._exit(0)
    os.waitpid(child, 0)
    assert model.folder.exists()


def test_a_loaded_folder_that_is_gone(tmp_path):
    adfq.DQN("cartpole", out=tmp_path / "run", **SHORT).learn(200)
    model = adfq.load(tmp_path / "run")
    (tmp_path / "run").rename(tmp_path / "elsewhere")
    with pytest.raises(FileNotFoundError, match="is gone"):
        model.learn(100)


def test_wrong_observations():
    model = adfq.ADFQ("cartpole")
    for observation, text in [
        (np.zeros(5), r"has the shape \(4,\), and this one has \(5,\)"),
        (np.zeros((2, 2, 4)), "shape"),
        ([0.0, 0.0, float("nan"), 0.0], "number 2 of the observation is NaN"),
        ("left", "array of numbers"),
        ({"x": 1}, "array of numbers"),
    ]:
        with pytest.raises(ValueError, match=text):
            model.predict(observation)


def test_wrong_numbers_of_steps_and_episodes():
    model = adfq.ADFQ("cartpole")
    for call in (lambda: model.learn(0), lambda: model.learn(-5), lambda: model.learn(2**70), lambda: model.evaluate(0)):
        with pytest.raises(ValueError, match="at least 1"):
            call()


def test_a_device_that_is_not_there():
    with pytest.raises(ValueError, match="there is no device"):
        adfq.ADFQ("cartpole", device="tpu").learn(100)


def test_folders_that_are_no_runs(tmp_path):
    with pytest.raises(FileNotFoundError, match="is not a run"):
        adfq.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        adfq.load(tmp_path / "nothing")
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(FileExistsError, match="is not empty"):
        adfq.ADFQ("cartpole", out=tmp_path).learn(100)


def test_a_model_of_another_environment(tmp_path):
    adfq.DQN("cartpole", out=tmp_path / "run", **SHORT).learn(200)
    with pytest.raises(ValueError, match="is it one of cartpole"):
        adfq.load(tmp_path / "run").predict(np.zeros(6))
    text = (tmp_path / "run" / "config.toml").read_text()
    (tmp_path / "run" / "config.toml").write_text(text.replace('env = "cartpole"', 'env = "acrobot"'))
    with pytest.raises(adfq.AdfqError, match="config.toml was changed"):
        adfq.load(tmp_path / "run").learn(100)


def test_what_a_model_looks_like():
    model = adfq.ADFQ("cartpole", seed=2, **SHORT)
    assert repr(model) == "ADFQ('cartpole', seed=2): 0 steps" and "<svg" not in model._repr_html_()
    html = model.learn(500)._repr_html_()
    assert "<svg" in html and "500 of 500" in html and "[learning]" in html
    assert "batch" in repr(model.config)
    assert repr(adfq.Model("cartpole", "dqn")) == "Model('cartpole', 'dqn', seed=0): 0 steps"


def test_many_runs_at_once(tmp_path):
    words = dict(agents=["adfq", "dqn"], seeds=range(2), steps=300, out=tmp_path, **{"learning.warmup": 100})
    models = adfq.train_many("cartpole", **words)
    assert len(models) == 4 and {model.steps for model in models} == {300}
    alone = adfq.DQN("cartpole", seed=1, **{"learning.warmup": 100}).learn(300)
    assert models[3].result == alone.result
    # All there already.
    assert [model.result for model in adfq.train_many("cartpole", **words)] == [model.result for model in models]
    assert isinstance(models[0].folder, pathlib.Path)

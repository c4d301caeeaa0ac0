"""Networks for other programs."""

import numpy as np
import pytest
from conftest import SHORT

import adfq


@pytest.mark.parametrize(("env", "agent"), [("cartpole", "adfq"), ("cartpole", "dqn"), ("minatar/breakout", "ddqn")])
def test_onnx_says_what_the_model_says(env, agent, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    model = adfq.Model(env, agent, **SHORT).learn(600)
    model.export(tmp_path / "policy.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "policy.onnx")
    rng, shape = np.random.default_rng(0), adfq.make(env).observation_space.shape
    is_bytes = env.startswith("minatar")
    observations = (rng.integers(2, size=(1000, *shape)) if is_bytes else rng.normal(size=(1000, *shape))).astype(np.float32)
    names = [output.name for output in session.get_outputs()]
    given = dict(zip(names, session.run(None, {"observation": observations})))
    belief = model.beliefs(observations)
    assert np.allclose(given["mean"], belief.mean, rtol=1e-5, atol=1e-5)
    if agent == "adfq":
        assert np.allclose(given["sd"], belief.sd, rtol=1e-5, atol=1e-5)


def test_safetensors_hold_the_state(tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy")
    model = adfq.Model("cartpole", "split", **SHORT).learn(300)
    model.export(tmp_path / "policy.safetensors")
    read, state = safetensors.load_file(tmp_path / "policy.safetensors"), model.state_dict()
    assert read.keys() == state.keys() and all((read[name] == state[name]).all() for name in read)


def test_mistakes_are_named(tmp_path):
    model = adfq.DQN("cartpole")
    with pytest.raises(ValueError, match="must end in .onnx or .safetensors"):
        model.export(tmp_path / "policy.pt")
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        model.export(tmp_path / "file" / "policy.onnx")
    with pytest.raises(ValueError, match="cannot be written as ONNX"):
        adfq.Split("cartpole").export(tmp_path / "policy.onnx")

"""Native environments as Gymnasium's."""

import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import adfq

# One of each family.
NAMES = ["cartpole", "acrobot", "mountaincar", "deepsea-10", "deepsea-10-stochastic", "mdp/loop", "bsuite:catch/0"]
NAMES += [name for name in adfq.env_names() if name.startswith("minatar/")]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_the_checker_of_gymnasium_is_content(name):
    check_env(adfq.make(name), skip_render_check=True)


@pytest.mark.filterwarnings("ignore")
def test_every_registered_environment_can_be_made():
    ids = [id for id in gymnasium.registry if id.startswith("adfq/")]
    assert len(ids) == len(adfq.env_names()) and "adfq/MinAtar-Breakout-v0" in ids
    for id in ids:
        gymnasium.make(id).reset(seed=0)
    assert gymnasium.make_vec("adfq/CartPole-v0", 3).reset(seed=0)[0].shape == (3, 4)


@pytest.mark.parametrize("order", ["import gymnasium, adfq", "import adfq, gymnasium"])
def test_registered_whichever_is_imported_first(order):
    code = f"{order}; gymnasium.make('adfq/MinAtar-Breakout-v0').reset()"
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=60)


@pytest.mark.parametrize("code", ["adfq.make('cartpole').reset()", "adfq.make_vec('cartpole', 2)", "adfq.DQN('gym:CartPole-v1')"])
def test_gymnasium_is_imported_when_it_is_needed(code):
    subprocess.run([sys.executable, "-W", "ignore", "-c", f"import adfq; {code}"], check=True, timeout=60)


def test_importing_needs_no_gymnasium():
    code = "import sys, adfq; assert 'gymnasium' not in sys.modules and 'pandas' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize("name", ["cartpole", "minatar/asterix", "deepsea-10"])
def test_a_vector_does_what_its_environments_do_alone(name):
    count, steps = 3, 300
    envs, alone = adfq.make_vec(name, count), [adfq.make(name) for _ in range(count)]
    observations, _ = envs.reset(seed=7)
    now = [env.reset(seed=seed)[0] for env, seed in zip(alone, envs.seeds(7))]
    rng, ended = np.random.default_rng(0), 0
    for _ in range(steps):
        assert (observations == np.stack(now)).all()
        actions = rng.integers(envs.single_action_space.n, size=count)
        observations, rewards, terminated, truncated, info = envs.step(actions)
        for i, env in enumerate(alone):
            now[i], reward, *ends, _ = env.step(actions[i])
            assert (reward, ends) == (rewards[i], [terminated[i], truncated[i]])
            if any(ends):
                ended += 1
                assert info["_final_obs"][i] and (info["final_obs"][i] == now[i]).all()
                now[i], _ = env.reset()
    assert ended > 0 and envs.metadata["autoreset_mode"] == gymnasium.vector.AutoresetMode.SAME_STEP


def test_pictures_and_names():
    env = adfq.make("minatar/breakout", render_mode="rgb_array")
    env.reset(seed=0)
    assert env.render().ndim == 3 and env.render().dtype == np.uint8
    assert len(env.get_action_meanings()) == env.action_space.n


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="did you mean"):
        adfq.make("cartpol")
    env = adfq.make("cartpole")
    with pytest.raises(adfq.AdfqError, match="reset the environment first"):
        env.step(0)
    env.reset()
    with pytest.raises(ValueError, match="there is no action 2"):
        env.step(2)
    with pytest.raises((ValueError, OverflowError)):
        env.step(-1)
    with pytest.raises(ValueError, match="render_mode"):
        adfq.make("cartpole", render_mode="human")
    envs = adfq.make_vec("cartpole", 2)
    envs.reset(seed=0)
    with pytest.raises(ValueError, match="there is no action -1"):
        envs.step([0, -1])
    with pytest.raises(ValueError):
        envs.step([0])
    with pytest.raises(ValueError):
        adfq.make_vec("cartpole", 0)
    with pytest.raises(MemoryError, match="ask for fewer"):
        adfq.make_vec("cartpole", 10**12)

"""Records the steps of Gymnasium's classic control that tests/gymnasium.rs compares with.

    python3 -m venv v && v/bin/pip install gymnasium==1.4.0 numpy==2.4.6
    v/bin/python crates/adfq-env/tests/recorded/record.py

Writes one file an environment next to this script, gzip of JSON:

    version   of Gymnasium
    steps     single steps from states all over the space, each
              [state, action, next state, observation, reward, terminated]
    episodes  whole episodes of gymnasium.make(...), time limit included: name of the policy, "states" (the first, and
              the one after each action), "observations", "actions", "rewards", "terminated", "truncated" (of the last)

States are f64 and written such that they are read back exactly; observations are f32.
"""

import gzip
import json
import math
import pathlib

import gymnasium
import numpy as np

VERSION = "1.4.0"
HERE = pathlib.Path(__file__).parent


def numbers(array):
    """The shortest decimals that are read back as the same f64, or f32."""
    return [float(str(x)) for x in np.asarray(array)]


def single_step(env, state, action):
    env.reset()
    env.state = np.array(state, dtype=np.float64)
    observation, reward, terminated, truncated, _ = env.step(action)
    assert not truncated
    return [numbers(state), action, numbers(env.state), numbers(observation), float(reward), terminated]


def episode(name, policy_name, policy, seed):
    env = gymnasium.make(name, disable_env_checker=True)
    observation, _ = env.reset(seed=seed)
    states, observations = [numbers(env.unwrapped.state)], [numbers(observation)]
    actions, rewards, terminated, truncated = [], [], False, False
    while not (terminated or truncated):
        action = int(policy(env.unwrapped.state))
        observation, reward, terminated, truncated, _ = env.step(action)
        actions.append(action)
        rewards.append(float(reward))
        states.append(numbers(env.unwrapped.state))
        observations.append(numbers(observation))
    return {
        "policy": policy_name,
        "states": states,
        "observations": observations,
        "actions": actions,
        "rewards": rewards,
        "terminated": terminated,
        "truncated": truncated,
    }


def record(name, low, high, corners, policies):
    """`corners` are states at borders; `policies` are (name, policy, seeds)."""
    rng = np.random.default_rng(20)
    env = gymnasium.make(name, disable_env_checker=True).unwrapped
    env.reset(seed=0)
    states = list(rng.uniform(low, high, size=(400, len(low)))) + [np.array(state, dtype=float) for state in corners]
    actions = int(env.action_space.n)
    steps = [single_step(env, state, (i + int(rng.integers(actions))) % actions) for i, state in enumerate(states)]
    episodes = [episode(name, label, policy, seed) for label, policy, seeds in policies for seed in seeds]
    recorded = {"version": gymnasium.__version__, "steps": steps, "episodes": episodes}
    path = HERE / f"{name}.json.gz"
    # No time of writing inside: the same steps are the same bytes.
    path.write_bytes(gzip.compress(json.dumps(recorded, separators=(",", ":")).encode(), 9, mtime=0))
    ends = [(e["policy"], len(e["actions"]), "cut off" if e["truncated"] else "ended") for e in episodes]
    print(f"{path.name}: {path.stat().st_size} bytes, {sum(s[-1] for s in steps)} of {len(steps)} steps end; {ends}")


def uniform(actions):
    rng = np.random.default_rng(30)
    return lambda state: rng.integers(actions)


def balance(state):
    x, x_dot, theta, theta_dot = state
    return 0.1 * x + 0.2 * x_dot + 4 * theta + theta_dot > 0


def pump(state):
    """Torque along the motion of the lower link."""
    return 2 if state[3] > 0 else 0


def main():
    assert gymnasium.__version__ == VERSION, f"record with gymnasium=={VERSION}"
    angle = 12 * 2 * math.pi / 360
    fast = 0.07

    carts = [[s * 2.4, v, 0, 0] for s in (-1, 1) for v in (-1, 0, 1)]
    carts += [[s * 2.399, s, 0, 0] for s in (-1, 1)]
    carts += [[0, 0, s * angle, v] for s in (-1, 1) for v in (-1, 0, 1)]
    carts += [[0, 0, 0, 0]]
    record(
        "CartPole-v1",
        [-2.5, -4, -0.25, -4],
        [2.5, 4, 0.25, 4],
        carts,
        [
            ("random", uniform(2), range(8)),
            ("left", lambda state: 0, [8]),
            ("right", lambda state: 1, [9]),
            ("balance", balance, [10, 11]),
        ],
    )

    links = [[a, b, v, w] for a in (-math.pi, 0, math.pi) for b in (-math.pi, 0, math.pi) for v, w in ((0, 0), (4 * math.pi, -9 * math.pi))]
    record(
        "Acrobot-v1",
        [-math.pi, -math.pi, -4 * math.pi, -9 * math.pi],
        [math.pi, math.pi, 4 * math.pi, 9 * math.pi],
        links,
        [("random", uniform(3), [0]), ("still", lambda state: 1, [2]), ("pump", pump, [3, 4, 5])],
    )

    cars = [[p, v] for p in (-1.2, -1.15, 0.45, 0.49, 0.5, 0.55, 0.6) for v in (-fast, -0.01, 0, 0.01, fast)]
    record(
        "MountainCar-v0",
        [-1.2, -fast],
        [0.6, fast],
        cars,
        [
            ("random", uniform(3), [0, 1]),
            ("right", lambda state: 2, [2]),
            ("swing", lambda state: 2 if state[1] >= 0 else 0, [3, 4, 5]),
        ],
    )


if __name__ == "__main__":
    main()

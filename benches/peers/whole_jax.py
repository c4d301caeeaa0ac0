"""A whole DQN training on MinAtar's Breakout in one jitted JAX program, many runs at once by `vmap`.

    python whole_jax.py --runs 100 --steps 50000 [--json results.jsonl]

The peer of `adfq train minatar/breakout --agent dqn`: eight environments a run, the same network, batch of 32, a
gradient step every four environment steps, a target network that follows by .01 after each of them, Adam, ε from 1 to .05.
The replay memory is uniform and lies on the device, as do the environments: nothing leaves it until the end. Runs differ
in their seeds. The compilation is timed by itself and not part of the speed.
"""

import argparse
import functools
import json
import time

import jax
import jax.numpy as jnp

import breakout_jax as game

ENVS, BATCH, EVERY, WARMUP = 8, 32, 4, 5_000
GAMMA, RATE, TAU = 0.99, 1e-3, 0.01
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


def parameters(key):
    """Convolution of 16 filters 3x3, dense 128, one output for each action."""
    shapes = [(3, 3, game.SHAPE[-1], 16), (8 * 8 * 16, 128), (128, game.ACTIONS)]
    keys = jax.random.split(key, len(shapes))
    normal = lambda key, shape: jax.random.normal(key, shape) * (2 / functools.reduce(int.__mul__, shape[:-1])) ** 0.5
    return [(normal(k, shape), jnp.zeros(shape[-1])) for k, shape in zip(keys, shapes)]


def q_values(params, observations):
    (filters, bias), (hidden, hidden_bias), (out, out_bias) = params
    numbers = ("NHWC", "HWIO", "NHWC")
    x = jax.lax.conv_general_dilated(observations.astype(jnp.float32), filters, (1, 1), "VALID", dimension_numbers=numbers)
    x = jax.nn.relu(x + bias).reshape(observations.shape[0], -1)
    return jax.nn.relu(x @ hidden + hidden_bias) @ out + out_bias


def begin(key, capacity):
    """A run before its first step."""
    of_network, of_envs, key = jax.random.split(key, 3)
    params = parameters(of_network)
    zeros = jax.tree.map(jnp.zeros_like, params)
    memory = {
        "seen": jnp.zeros((capacity, *game.SHAPE), bool),
        "next": jnp.zeros((capacity, *game.SHAPE), bool),
        "action": jnp.zeros(capacity, jnp.int32),
        "reward": jnp.zeros(capacity),
        "goes_on": jnp.zeros(capacity),
    }
    envs = jax.vmap(game.reset)(jax.random.split(of_envs, ENVS))
    episodes = {"return": jnp.zeros(ENVS), "sum": jnp.zeros(()), "count": jnp.zeros(())}
    return {"online": params, "target": params, "adam": (zeros, zeros), "t": jnp.zeros(()), "memory": memory,
            "envs": envs, "key": key, "step": jnp.int32(0), "episodes": episodes}  # fmt: skip


def act(run, total):
    """A step in every environment, remembered."""
    key, of_action, of_choice, of_step, of_reset = jax.random.split(run["key"], 5)
    seen = jax.vmap(game.observe)(run["envs"])
    epsilon = jnp.clip(1 - 0.95 * run["step"] / (0.2 * total), 0.05, 1)
    greedy = q_values(run["online"], seen).argmax(-1)
    chance = jax.random.randint(of_action, (ENVS,), 0, game.ACTIONS)
    action = jnp.where(jax.random.uniform(of_choice, (ENVS,)) < epsilon, chance, greedy)
    envs, reward, over = jax.vmap(game.step)(run["envs"], action, jax.random.split(of_step, ENVS))
    after = jax.vmap(game.observe)(envs)
    fresh = jax.vmap(game.reset)(jax.random.split(of_reset, ENVS))
    envs = jax.tree.map(lambda new, old: jnp.where(over.reshape(-1, *[1] * (old.ndim - 1)), new, old), fresh, envs)
    memory, capacity = run["memory"], run["memory"]["action"].shape[0]
    places = (run["step"] + jnp.arange(ENVS)) % capacity
    values = {"seen": seen, "next": after, "action": action, "reward": reward, "goes_on": 1.0 - over}
    memory = {name: memory[name].at[places].set(value) for name, value in values.items()}
    returns = run["episodes"]["return"] + reward
    episodes = {"return": jnp.where(over, 0.0, returns), "sum": run["episodes"]["sum"] + (returns * over).sum(),
                "count": run["episodes"]["count"] + over.sum()}  # fmt: skip
    return {**run, "envs": envs, "memory": memory, "key": key, "step": run["step"] + ENVS, "episodes": episodes}


def loss(params, target, seen, after, action, reward, goes_on):
    goal = reward + GAMMA * goes_on * q_values(target, after).max(-1)
    taken = jnp.take_along_axis(q_values(params, seen), action[:, None], 1)[:, 0]
    size = jnp.abs(taken - jax.lax.stop_gradient(goal))
    return jnp.where(size < 1, 0.5 * size * size, size - 0.5).mean()


def learn(run):
    """A gradient step; before the warm-up is over it changes nothing."""
    key, of_batch = jax.random.split(run["key"])
    filled = jnp.minimum(run["step"], run["memory"]["action"].shape[0])
    rows = jax.random.randint(of_batch, (BATCH,), 0, jnp.maximum(filled, 1))
    batch = [run["memory"][name][rows] for name in ("seen", "next", "action", "reward", "goes_on")]
    gradients = jax.grad(loss)(run["online"], run["target"], *batch)
    t, (first, second) = run["t"] + 1, run["adam"]
    first = jax.tree.map(lambda m, g: BETA1 * m + (1 - BETA1) * g, first, gradients)
    second = jax.tree.map(lambda v, g: BETA2 * v + (1 - BETA2) * g * g, second, gradients)
    scale1, scale2 = 1 - BETA1**t, 1 - BETA2**t
    online = jax.tree.map(lambda p, m, v: p - RATE * (m / scale1) / (jnp.sqrt(v / scale2) + EPSILON), run["online"], first, second)
    target = jax.tree.map(lambda old, new: old + TAU * (new - old), run["target"], online)
    learned = {"online": online, "target": target, "adam": (first, second), "t": t}
    kept = {name: run[name] for name in learned}
    ready = run["step"] >= WARMUP
    return {**run, **jax.tree.map(lambda new, old: jnp.where(ready, new, old), learned, kept), "key": key}


def advance(run, steps, total):
    """So many environment steps of one run."""

    def both(run, _):
        run = act(run, total)
        return jax.lax.fori_loop(0, ENVS // EVERY, lambda _, run: learn(run), run), None

    return jax.lax.scan(both, run, None, length=steps // ENVS)[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--steps", type=int, default=50_000, help="environment steps of each run")
    parser.add_argument("--capacity", type=int, default=100_000)
    parser.add_argument("--parts", type=int, default=5, help="calls of the compiled program in which a training is done")
    parser.add_argument("--json", help="append the result to this file")
    args = parser.parse_args()
    part = args.steps // args.parts // ENVS * ENVS
    runs = jax.jit(jax.vmap(functools.partial(begin, capacity=args.capacity)))(jax.random.split(jax.random.key(0), args.runs))
    program = jax.jit(jax.vmap(functools.partial(advance, steps=part, total=args.steps)), donate_argnums=0)
    begun = time.perf_counter()
    program = program.lower(runs).compile()
    compiled = time.perf_counter()
    for _ in range(args.parts):
        runs = program(runs)
    jax.block_until_ready(runs)
    seconds = time.perf_counter() - compiled
    steps = args.runs * part * args.parts
    found = {
        "peer": "JAX whole training",
        "task": "train minatar breakout",
        "runs": args.runs,
        "steps": part * args.parts,
        "device": str(jax.devices()[0]),
        "seconds": round(seconds, 2),
        "compile_seconds": round(compiled - begun, 2),
        "steps_per_s": round(steps / seconds),
        "training_return": round(float(runs["episodes"]["sum"].sum() / runs["episodes"]["count"].sum()), 3),
    }
    print(json.dumps(found))
    if args.json:
        with open(args.json, "a", encoding="utf-8") as file:
            file.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()

"""MinAtar's Breakout as a pure function of arrays, for programs that live on a GPU from end to end.

The rules are those of the MinAtar package; `python breakout_jax.py` plays both beside each other and stops at the
first difference. Actions are the minimal set: stay, left, right.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

SIDE = 10
SHAPE = (SIDE, SIDE, 4)
ACTIONS = 3
STICKY = 0.1
# Ball directions, clockwise from up and left, and what they become at a wall, at a brick and at the paddle's edge.
DX, DY = jnp.array([-1, 1, 1, -1]), jnp.array([-1, -1, 1, 1])
AT_WALL, AT_BRICK, AT_EDGE = jnp.array([1, 0, 3, 2]), jnp.array([3, 2, 1, 0]), jnp.array([2, 3, 0, 1])


class State(NamedTuple):
    x: jax.Array
    y: jax.Array
    direction: jax.Array
    paddle: jax.Array
    bricks: jax.Array  # (10, 10)
    strike: jax.Array
    last_x: jax.Array
    last_y: jax.Array
    last_action: jax.Array


def full_wall():
    return jnp.zeros((SIDE, SIDE), bool).at[1:4].set(True)


def reset(key):
    right = jax.random.bernoulli(key)
    x = jnp.where(right, SIDE - 1, 0)
    return State(x, jnp.int32(3), jnp.where(right, 3, 2), jnp.int32(4), full_wall(), jnp.bool_(False), x, jnp.int32(3), jnp.int32(0))


def observe(state):
    """(10, 10, 4): paddle, ball, trail, bricks."""
    at = lambda y, x: jnp.zeros((SIDE, SIDE), bool).at[y, x].set(True)
    planes = [at(SIDE - 1, state.paddle), at(state.y, state.x), at(state.last_y, state.last_x), state.bricks]
    return jnp.stack(planes, -1)


def step(state, action, key):
    """The next state, the reward and whether the episode is over."""
    action = jnp.where(jax.random.bernoulli(key, STICKY), state.last_action, action)
    return move(state._replace(last_action=action), action)


def move(state, action):
    paddle = jnp.clip(state.paddle + (action == 2) - (action == 1), 0, SIDE - 1)
    direction = state.direction
    x, y = state.x + DX[direction], state.y + DY[direction]
    wall = (x < 0) | (x > SIDE - 1)
    x, direction = jnp.clip(x, 0, SIDE - 1), jnp.where(wall, AT_WALL[direction], direction)
    top = y < 0
    y = jnp.maximum(y, 0)
    brick = ~top & state.bricks[y, x]
    bottom = ~top & ~brick & (y == SIDE - 1)
    reward = jnp.where(brick & ~state.strike, 1.0, 0.0)
    bricks = state.bricks & ~(jnp.zeros((SIDE, SIDE), bool).at[y, x].set(brick & ~state.strike))
    bricks = jnp.where(bottom & ~bricks.any(), full_wall(), bricks)
    caught, edge = bottom & (state.x == paddle), bottom & (state.x != paddle) & (x == paddle)
    over = bottom & ~caught & ~edge
    hit = brick & ~state.strike
    direction = jnp.where(top | hit | caught, AT_BRICK[direction], jnp.where(edge, AT_EDGE[direction], direction))
    y = jnp.where(hit | caught | edge, state.y, y)
    return State(x, y, direction, paddle, bricks, brick, state.x, state.y, state.last_action), reward, over


def check(steps=20_000):
    import numpy as np
    from minatar import Environment

    env, chance = Environment("breakout", sticky_action_prob=0.0), np.random.default_rng(0)
    play = jax.jit(lambda state, action: (lambda s, r, o: (s, r, o, observe(s)))(*move(state, action)))

    def begin():
        env.reset()
        inner = env.env
        x = jnp.int32(inner.ball_x)
        return State(x, jnp.int32(inner.ball_y), jnp.int32(inner.ball_dir), jnp.int32(inner.pos), full_wall(), jnp.bool_(False), x, jnp.int32(inner.ball_y), jnp.int32(0))

    state, bricks_hit = begin(), 0
    for number in range(steps):
        # Mostly towards the ball, so that walls are cleared.
        wanted = 1 if env.env.ball_x < env.env.pos else 2 if env.env.ball_x > env.env.pos else 0
        action = wanted if chance.random() < 0.9 else int(chance.integers(ACTIONS))
        reward, over = env.act([0, 1, 3][action])
        state, ours, ours_over, seen = play(state, action)
        bricks_hit += reward
        same = bool((np.asarray(seen) == env.state()).all()) or over
        assert (float(ours), bool(ours_over), same) == (float(reward), bool(over), True), f"step {number}"
        if over:
            state = begin()
    print(f"{steps} steps as in the MinAtar package, {bricks_hit:.0f} bricks")


if __name__ == "__main__":
    check()

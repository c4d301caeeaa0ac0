"""Records games of the package MinAtar 1.0.15, so that ours can be compared with it step by step.

    python -m venv venv && venv/bin/pip install MinAtar==1.0.15
    venv/bin/python record.py [GAME...]

writes GAME.rec.gz beside this file, the same bytes every time. The package (GPL-3) is used from outside only: the random
generator of an environment is replaced by one that notes what was drawn; actions go in; rewards, ends and states come
out.

A recording is, after gunzip, one line of JSON and then for each of its `runs` six columns, one entry an event:
    event    u8   0-5 an action (n, l, u, r, d, f), 6 a reset
    reward   u8
    over     u8   0 or 1
    draws    u8   how many numbers were drawn
    state    the flags, row by row, channels innermost, eight to a byte (the first is the highest bit), the last byte
             filled with zeros; xor the state of the event before (of zeros for the first)
    drawn    five bytes a draw, all of a run: u8 n, then u32 (little endian) the result below n; where n is 0 it is a
             real number from [0, 1) times 2^16
"""

import copy
import gzip
import importlib.metadata
import json
import pathlib
import struct
import sys

import numpy as np
from minatar import Environment

VERSION = "1.0.15"
# Seaquest and Space Invaders are recorded by record_deep.py.
GAMES = ["asterix", "breakout", "freeway"]
UP, RESET = 2, 6


def runs(game):
    """Both settings of everything; players who do anything, and who look ahead and so see more of the game."""
    # To cross a road takes longer than anyone looks ahead, and its clock runs out after 2500 steps.
    sensible, events = ("up", 2600) if game == "freeway" else ("ahead", 2000)
    # With luck everything in Asterix is treasure, so that it goes on until it cannot get harder and all rows are full.
    lucky = {"sticky": 0.0, "ramping": True, "play": "up", "events": 1500, "luck": 0.25}
    return [lucky] * (game == "asterix") + [
        {"sticky": 0.1, "ramping": True, "play": "random", "events": 1500},
        {"sticky": 0.0, "ramping": False, "play": "random", "events": 1000},
        {"sticky": 0.1, "ramping": True, "play": sensible, "events": events},
        {"sticky": 0.0, "ramping": True, "play": sensible, "events": events},
        {"sticky": 0.1, "ramping": False, "play": sensible, "events": 1000},
    ]


class Noting:
    """A random generator that notes its draws. Real numbers are multiples of 2^-16, which keeps recordings small, and all
    below `luck`."""

    def __init__(self, seed, luck=1.0):
        self.source = np.random.RandomState(seed)
        self.luck = luck
        self.drawn = []

    def one(self, n):
        result = int(self.source.randint(n or int(self.luck * (1 << 16))))
        self.drawn.append((n, result))
        return result

    def rand(self, *shape):
        if not shape:
            return self.one(0) / (1 << 16)
        return np.array([self.one(0) / (1 << 16) for _ in range(int(np.prod(shape)))]).reshape(shape)

    def randint(self, low, high=None, size=None):
        low, high = (0, low) if high is None else (low, high)
        if size is None:
            return low + self.one(high - low)
        return np.array([low + self.one(high - low) for _ in range(int(np.prod(size)))]).reshape(size)


def use(env, random):
    env.random = env.env.random = random
    return env


def look_ahead(env, player):
    """The beginning of the best of some plans, tried out on copies: the same action some times over, then nothing."""
    best, action = -np.inf, 0
    plans = [(act, times) for act in env.minimal_action_set() for times in (1, 2, 4, 8)]
    for act, times in player.permutation(plans):
        sim = use(copy.deepcopy(env), Noting(player.randint(1 << 31)))
        value = 0.0
        for step in range(20):
            reward, over = sim.act(int(act) if step < times else 0)
            value += (reward - 10 * over) * 0.9**step
            if over:
                break
        if value > best:
            best, action = value, act
    return action


def choose(env, run, over, player):
    """The next event: after an end a reset, mostly at once, and in random play sometimes one in the middle."""
    if player.rand() < (0.7 if over else 0.002 * (run["play"] == "random")):
        return RESET
    # The sensible ones do anything now and then, and there is nothing to see ahead of an end.
    if over or run["play"] == "random" or player.rand() < 0.02:
        return int(player.randint(6))
    return UP if run["play"] == "up" else int(look_ahead(env, player))


def play(game, run, seed):
    """The columns of one run, as bytes."""
    random, player = Noting(seed, run.get("luck", 1.0)), np.random.RandomState(seed + 1000)
    env = use(Environment(game, run["sticky"], run["ramping"]), random)
    events, rewards, overs, draws, states, drawn = (bytearray() for _ in range(6))
    before, over = 0, False
    for count in range(run["events"]):
        event = choose(env, run, over, player) if count else RESET
        random.drawn = []
        reward, over = (env.reset() or 0, False) if event == RESET else env.act(event)
        flags = np.packbits(env.state()).tobytes()
        state = int.from_bytes(flags, "big")
        events.append(event)
        rewards.append(int(reward))
        overs.append(int(over))
        draws.append(len(random.drawn))
        states += (state ^ before).to_bytes(len(flags), "big")
        drawn += b"".join(struct.pack("<BI", n, result) for n, result in random.drawn)
        before = state
    episodes, ends = events.count(RESET), sum(a < b for a, b in zip(overs, overs[1:]))
    print(f"{game}: {run}, {episodes} episodes, {ends} ends, reward {sum(rewards)}")
    return events + rewards + overs + draws + states + drawn


def record(game):
    env = Environment(game)
    header = {
        "package": f"MinAtar {VERSION}",
        "game": game,
        "channels": env.state_shape()[2],
        "minimal_actions": [int(action) for action in env.minimal_action_set()],
        "runs": runs(game),
    }
    columns = b"".join(play(game, run, seed) for seed, run in enumerate(header["runs"]))
    path = pathlib.Path(__file__).parent / f"{game}.rec.gz"
    path.write_bytes(gzip.compress(json.dumps(header).encode() + b"\n" + columns, 9, mtime=0))
    print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    found = importlib.metadata.version("MinAtar")
    if found != VERSION:
        sys.exit(f"this needs MinAtar {VERSION}, not {found}")
    for name in sys.argv[1:] or GAMES:
        record(name)

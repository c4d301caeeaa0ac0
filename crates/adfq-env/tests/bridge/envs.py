"""Environments for the tests of the bridge: each does one thing, by the book or against it."""

import os
import signal
import subprocess
import time

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete


class Counter(gymnasium.Env):
    """Shows its seed, episode, step and last action; ends after `length` steps, or is cut off after `limit`."""

    action_space = Discrete(5, start=-2)

    def __init__(self, kind="float", length=7, limit=1000):
        self.kind, self.length, self.limit = kind, length, limit
        low, high = 0, 255
        self.observation_space = {
            "float": Box(-np.inf, np.inf, (4,), np.float32),
            "double": Box(-np.inf, np.inf, (4,), np.float64),
            "scalar": Box(-np.inf, np.inf, (), np.float32),
            "table": Box(-np.inf, np.inf, (2, 2), np.float32),
            "bytes": Box(low, high, (4,), np.uint8),
            "flags": Box(0, 1, (4,), np.uint8),
            "grey": Box(low, high, (20, 30), np.uint8),
            "colour": Box(low, high, (20, 30, 3), np.uint8),
            "channels_first": Box(low, high, (3, 20, 30), np.uint8),
            "discrete": Discrete(9, start=3),
            "integers": Box(low, high, (4,), np.int32),
            "dict": Dict(a=Box(0, 1, (2,))),
            "bits": MultiBinary(4),
            "board": Box(0, 1, (4, 5, 2), np.bool_),
            "several": MultiDiscrete([2, 4]),
        }[kind]
        self.episode = -1

    def numbers(self):
        return [self.seed % 251, self.episode, self.count, self.last]

    def observe(self):
        space, numbers = self.observation_space, self.numbers()
        if self.kind == "discrete":
            return 3 + self.count % 9
        if space.shape in [(4,), (2, 2)]:
            return np.array(numbers, space.dtype).reshape(space.shape)
        # Every element differs from its neighbours, and all from step to step.
        size = int(np.prod(space.shape))
        return (np.arange(size).reshape(space.shape) * 7 + self.count).astype(space.dtype)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        if seed is not None:
            self.seed = seed
        self.episode += 1
        self.count = self.last = 0
        return self.observe(), {}

    def step(self, action):
        assert self.action_space.contains(action) and isinstance(action, np.integer)
        self.count += 1
        self.last = int(action) + 2
        ended, cut = self.count >= self.length, self.count >= self.limit
        return self.observe(), self.count + self.last / 10, ended, cut, {}


class Continuous(Counter):
    action_space = Box(-1, 1, (2,))


class Nothing(gymnasium.Env):
    """Does nothing, as quickly as Python can."""

    observation_space, action_space = Box(-1, 1, (4,), np.float32), Discrete(2)

    def __init__(self, shape=None):
        if shape:
            self.observation_space = Box(0, 255, tuple(shape), np.uint8)
        self.observation = np.zeros(self.observation_space.shape, self.observation_space.dtype)

    def reset(self, *, seed=None, options=None):
        return self.observation, {}

    def step(self, action):
        return self.observation, 0.0, False, False, {}


class Wrong(Nothing):
    """Goes wrong in its tenth step, or earlier."""

    def __init__(self, how, pid=None, mark=None):
        super().__init__()
        self.how, self.count, self.mark = how, 0, mark
        if pid:
            with open(pid, "w") as file:
                file.write(str(os.getpid()))
        if how == "make":
            raise RuntimeError("no luck with making")

    def reset(self, *, seed=None, options=None):
        if self.how == "shape":
            return np.zeros(3, np.float32), {}
        if self.how == "reset":
            raise RuntimeError("no luck with resetting")
        return super().reset(seed=seed)

    def step(self, action):
        self.count += 1
        if self.count == 10:
            if self.mark:
                with open(self.mark, "w") as file:
                    file.write("now")
            if self.how == "busy":
                sum(iter(int, 1))  # Forever, and without ever giving up Python's lock.
            if self.how == "raise":
                return 1 / 0
            if self.how == "hang":
                while True:
                    pass
            if self.how == "sleep":
                time.sleep(10**6)
            if self.how == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            if self.how == "exit":
                os._exit(3)
            if self.how == "nan":
                return np.full(4, np.nan, np.float32), 0.0, False, False, {}
        return super().step(action)


class Gives(gymnasium.Env):
    """Gives something wrong: at its reset, in its third step, or in that and as the end of the episode."""

    action_space = Discrete(2)
    spaces = {
        "float": Box(-1, 1, (3,), np.float32),
        "bytes": Box(0, 255, (3,), np.uint8),
        "discrete": Discrete(4, start=2),
    }
    wrong = {
        "nan": np.array([0, np.nan, 0], np.float32),
        "infinite": np.array([0, np.inf, 0]),
        "overflowing": np.array([0, 1e300, 0]),
        "one": np.zeros(1, np.float32),
        "column": np.zeros((3, 1), np.float32),
        "none": None,
        "object": np.array([None, None, None]),
        "text": "abc",
        "ragged": [[0], [1, 2], 3],
        "large": np.array([0, 300, 0]),
        "negative": np.array([0, -1, 0]),
        "fraction": np.array([0, 1.5, 0]),
        "beyond": 6,
        "below": 1,
        "half": 2.5,
        "list": [0, 1, 0],
        "doubles": np.array([0.0, 1.0, 0.0]),
        "scalar": np.int32(3),
        "array": np.array([1.0]),
        "huge": 1e300,
        "integer": 1,
        "single": np.float32(1.0),
        "truth": np.True_,
        "two": 2,
    }

    def __init__(self, kind="float", what="observation", value="nan", when="step"):
        self.observation_space, self.what, self.when = self.spaces[kind], what, when
        self.right = 2 if kind == "discrete" else np.zeros(3, self.observation_space.dtype)
        self.value, self.count = (float("nan") if what == "reward" and value == "nan" else self.wrong[value]), 0

    def reset(self, *, seed=None, options=None):
        is_now = self.when == "reset" or (self.when == "next" and self.count >= 3)
        return (self.value if is_now else self.right), {}

    def step(self, action):
        self.count += 1
        now = self.count == 3
        is_end = now and self.when in ["end", "next"]
        given = {"observation": self.right, "reward": 1.0, "terminated": is_end, "truncated": False}
        if now and self.when in ["step", "end"]:
            given[self.what] = self.value
        return *given.values(), {}


class Once(gymnasium.Env):
    """Draws all it gives. The first to take its tenth step goes wrong then, and leaves the file `mark`."""

    observation_space, action_space = Box(-1, 1, (4,), np.float32), Discrete(2)

    def __init__(self, how, mark):
        self.how, self.mark, self.count = how, mark, 0

    def is_first(self):
        try:
            os.close(os.open(self.mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True

    def observe(self):
        return self.np_random.random(4, np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.observe(), {}

    def step(self, action):
        self.count += 1
        if self.count == 10 and self.is_first():
            if self.how == "raise":
                return 1 / 0
            if self.how == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            if self.how == "hang":
                time.sleep(10**6)
            if self.how == "nan":
                return np.full(4, np.nan, np.float32), 0.0, False, False, {}
        reward, ends = self.np_random.random(), self.np_random.random() < 0.05
        return self.observe(), reward, bool(ends), False, {}


class Parent(Nothing):
    """Has a child that runs for long, whose number it writes to the file `child`. Goes wrong in its tenth step."""

    def __init__(self, how, child):
        super().__init__()
        self.how, self.count = how, 0
        if how == "fork":
            # A child that holds all that this process has open.
            number = os.fork()
            if number == 0:
                time.sleep(1000)
                os._exit(0)
        else:
            number = subprocess.Popen(["sleep", "1000"]).pid
        with open(child, "a") as file:
            file.write(f"{number}\n")

    def step(self, action):
        self.count += 1
        if self.count == 10:
            if self.how == "raise":
                return 1 / 0
            if self.how in ["kill", "fork"]:
                os.kill(os.getpid(), signal.SIGKILL)
        return super().step(action)


class Painter(Nothing):
    """Has pictures, and writes a file when it is closed."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 30}

    def __init__(self, render_mode=None, farewell=None):
        super().__init__()
        self.render_mode, self.farewell = render_mode, farewell

    def render(self):
        if self.render_mode == "rgb_array":
            return np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)

    def close(self):
        if self.farewell:
            with open(self.farewell, "w") as file:
                file.write("closed")


for env in [Counter, Continuous, Nothing, Wrong, Gives, Once, Parent, Painter]:
    gymnasium.register(f"{env.__name__}-v0", env, disable_env_checker=True)

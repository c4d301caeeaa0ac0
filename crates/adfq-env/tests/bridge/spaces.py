"""Environments with observations and actions of several parts, for the tests of the bridge."""

import random

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, Graph, MultiBinary, MultiDiscrete, OneOf, Sequence, Text, Tuple
from gymnasium.spaces.utils import flatten


def some_space(draw, depth):
    """A space drawn at random, nested up to so deep."""
    shape = tuple(draw.randint(1, 3) for _ in range(draw.randint(0, 3)))
    kinds = ["float32", "float64", "int16", "int64", "bool", "uint8", "discrete", "discretes", "bits"]
    kind = draw.choice(kinds + ["dict", "tuple"] * 4 * (depth > 0))
    inner = lambda: some_space(draw, depth - 1)
    if kind == "dict":
        keys = draw.sample(["b", "a", "Z", "key 1", "10", "9"], draw.randint(1, 3))
        # In alphabetical order, or as they come.
        return Dict({key: inner() for key in keys}) if draw.random() < 0.5 else Dict([(key, inner()) for key in keys])
    if kind == "tuple":
        return Tuple([inner() for _ in range(draw.randint(1, 3))])
    if kind == "discrete":
        return Discrete(draw.randint(1, 6), start=draw.randint(-5, 5))
    if kind == "discretes":
        shape = shape or (2,)
        counts = np.array([draw.randint(1, 4) for _ in range(int(np.prod(shape)))]).reshape(shape)
        return MultiDiscrete(counts, start=counts * draw.randint(-2, 2))
    if kind == "bits":
        return MultiBinary(shape or draw.randint(1, 5))
    if kind == "bool":
        return Box(0, 1, shape, np.bool_)
    low, high = {"uint8": (0, draw.choice([1, 7, 255])), "int16": (-300, 300), "int64": (-(2**40), 2**40)}.get(kind, (-2, 2))
    return Box(low, high, shape, np.dtype(kind).type)


def without_bytes(space, value):
    """The same with numbers in place of bytes, between 0 and 1."""
    if isinstance(space, Dict):
        parts = {key: without_bytes(part, value[key]) for key, part in space.spaces.items()}
        inner = Dict([(key, part) for key, (part, _) in parts.items()])
        return inner, {key: part for key, (_, part) in parts.items()}
    if isinstance(space, Tuple):
        parts = [without_bytes(part, inner) for part, inner in zip(space.spaces, value)]
        return Tuple([part for part, _ in parts]), tuple(part for _, part in parts)
    if isinstance(space, Box) and space.dtype == np.uint8:
        return Box(0, 1, space.shape, np.float32), value * np.float32(1 / space.high.max())
    return space, value


class Nested(gymnasium.Env):
    """Shows samples of a random space. What Gymnasium's `flatten` makes of them is written to the file `flat`."""

    action_space = Discrete(1)

    def __init__(self, number, flat, bits=False):
        draw, self.flat = random.Random(number), flat
        make = draw.choice([Dict, Tuple])
        parts = [some_space(draw, 3) for _ in range(3)] + [Box(-1, 1, (2,))]
        if bits:
            parts = [Box(0, 1, (2, 2), np.bool_), MultiBinary((2, 1)), MultiDiscrete([2, 3]), Tuple([Discrete(2, start=1)])]
        self.observation_space = make(dict(zip("dbca", parts))) if make is Dict else make(parts)
        self.observation_space.seed(number)

    def observe(self):
        value = self.observation_space.sample()
        numbers = flatten(*without_bytes(self.observation_space, value))
        with open(self.flat, "wb") as file:
            file.write(np.asarray(numbers, np.float32).tobytes())
        return value

    def reset(self, *, seed=None, options=None):
        return self.observe(), {}

    def step(self, action):
        return self.observe(), 0.0, False, False, {}


class Parts(gymnasium.Env):
    """Observations of several parts. In its third step one of them is wrong."""

    action_space = Discrete(2)
    observation_space = Dict(
        image=Box(0, 255, (2, 2, 3), np.uint8),
        goal=Tuple([Discrete(3, start=2), MultiDiscrete([[2, 3], [4, 2]], start=[[1, 0], [-1, 5]]), MultiBinary(2)]),
        body=Dict(speed=Box(-1, 1, (2,), np.float64), place=Box(-9, 9, (2,), np.int16)),
    )
    wrong = {
        "missing": lambda given: given["body"].pop("speed"),
        "extra": lambda given: given["body"].update(mass=1),
        "no_dict": lambda given: given.update(body=[1, 2]),
        "short": lambda given: given.update(goal=given["goal"][:2]),
        "no_tuple": lambda given: given.update(goal="abc"),
        "beyond": lambda given: given["goal"].__setitem__(0, 5),
        "half": lambda given: given["goal"].__setitem__(0, 2.5),
        "entry": lambda given: given["goal"].__setitem__(1, np.array([[1, 0], [3, 5]])),
        "entries": lambda given: given["goal"].__setitem__(1, np.array([1, 0, 2, 5])),
        "bit": lambda given: given["goal"].__setitem__(2, np.array([0, 2])),
        "shape": lambda given: given["body"].update(speed=np.zeros(3)),
        "nan": lambda given: given["body"].update(speed=np.array([0, np.nan])),
        "text": lambda given: given["body"].update(speed="fast"),
        "fraction": lambda given: given["body"].update(place=np.array([0, 0.5])),
        "byte": lambda given: given.update(image=given["image"].astype(int) + 300),
        "list": lambda given: given["body"].update(speed=[0, 1]),
        "mapping": lambda given: None,
    }

    def __init__(self, how):
        self.how, self.count = how, 0
        self.observation_space.seed(0)

    def observe(self):
        given = self.observation_space.sample()
        given["goal"] = list(given["goal"])
        return given

    def reset(self, *, seed=None, options=None):
        return self.observe(), {}

    def step(self, action):
        self.count += 1
        given = self.observe()
        if self.count == 3:
            self.wrong[self.how](given)
        return given, 0.0, False, False, {}


class Acting(gymnasium.Env):
    """Shows the numbers of its last action, and spoils what it was given."""

    spaces = {
        "several": MultiDiscrete([2, 3]),
        "table": MultiDiscrete([[2, 1], [2, 3]], start=[[5, 0], [-1, 0]]),
        "bits": MultiBinary(3),
        "tuple": Tuple([Discrete(2, start=4), MultiBinary(1)]),
        "dict": Dict(b=Discrete(2), a=Tuple([Discrete(2, start=7)])),
        "most": MultiDiscrete([32, 32]),
        "too_many": MultiDiscrete([32, 33]),
        "far_too_many": MultiBinary(500),
        "box": Box(-1, 1, (2,)),
        "part_of_box": Tuple([Discrete(2), Box(-1, 1)]),
        "text": Text(3),
    }

    def __init__(self, kind):
        self.action_space = self.spaces[kind]
        self.observation_space = Box(-np.inf, np.inf, (4,))

    def reset(self, *, seed=None, options=None):
        return np.zeros(4, np.float32), {}

    def step(self, action):
        assert action in self.action_space, action
        shown, parts = np.zeros(4, np.float32), []
        values = lambda given: [x for part in given for x in values(part)] if isinstance(given, tuple) else np.ravel(given)
        parts = values(tuple(action.values()) if isinstance(action, dict) else action)
        shown[: len(parts)] = parts
        if isinstance(action, np.ndarray):
            action += 1
        return shown, 0.0, False, False, {}


class Unfit(Acting):
    """Observations that cannot be numbers."""

    def __init__(self, kind):
        super().__init__("several")
        self.observation_space = {
            "text": Dict(a=Tuple([Discrete(2), Text(3)])),
            "sequence": Sequence(Discrete(2)),
            "graph": Tuple([Graph(Box(0, 1), None)]),
            "one_of": Dict({"x y": OneOf([Discrete(2), Discrete(3)])}),
            "nothing": Tuple([]),
        }[kind]


class Doubled(gymnasium.ObservationWrapper):
    """Multiplies what is observed."""

    def __init__(self, env, factor=2, *, add=0):
        super().__init__(env)
        self.factor, self.add = factor, add

    def observation(self, observation):
        return (observation * self.factor + self.add).astype(np.float32)


class Broken(gymnasium.Wrapper):
    def __init__(self, env):
        raise RuntimeError("no luck with wrapping")


def cut(env, steps=3):
    return gymnasium.wrappers.TimeLimit(env, steps)


def nothing(env):
    return None


number = 3


for env in [Nested, Parts, Acting, Unfit]:
    gymnasium.register(f"{env.__name__}-v0", env, disable_env_checker=True)

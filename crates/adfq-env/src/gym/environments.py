"""Environments of Gymnasium or ALE, made as an order says and stepped together.

Where they read actions and write what happened is up to who holds them: shared memory in a worker, and arrays of the same
process in the Python package.
"""

import json
import os
import sys
import traceback

TERMINATED, TRUNCATED, LIFE_LOST = 1, 2, 4


class Refused(Exception):
    """Something the program has its own words for."""

    def __init__(self, kind, **details):
        super().__init__(kind)
        self.details = {"kind": kind, **details}


# --- Gymnasium -------------------------------------------------------------------------------------------------------


class Gym:
    """Environments of one Gymnasium id, stepped in order; an episode that ends starts anew at once."""

    stack = 1

    def __init__(self, spec):
        gymnasium = imported("gymnasium", "gymnasium>=1.0")
        arguments = dict(spec["args"])
        if spec["pictures"]:
            arguments.setdefault("render_mode", "rgb_array")
        if spec["id"].startswith("ALE/"):
            gymnasium.register_envs(imported("ale_py", "ale-py>=0.12"))
        module, colon, _ = spec["id"].partition(":")
        if colon:
            allow_module(spec, module, by=None)
        # Whatever is wrong with the name of a wrapper is said before anything is made.
        wrappers = [Wrapper(gymnasium, spec, text) for text in spec["wrappers"]]
        try:
            self.envs = [gymnasium.make(spec["id"], **arguments) for _ in range(spec["count"])]
        except (gymnasium.error.Error, ModuleNotFoundError) as error:
            raise Refused("id", reason=one_line(error)) from error
        for wrapper in wrappers:
            self.envs = [wrapper.around(env) for env in self.envs]
        self.look(gymnasium)

    def look(self, gymnasium):
        """What the environments give and take."""
        env = self.envs[0]
        self.given = Actions(gymnasium.spaces, env.action_space)
        self.frame, self.element, self.scale, self.writer = view_of(gymnasium.spaces, env.observation_space)
        self.actions = self.given.count
        self.names = meanings(env, self.actions) or self.given.names

    def use(self, memory):
        """What a step touches, looked up once."""
        self.memory, self.here = memory, None
        self.rewards, self.flags = memory.rewards.data, memory.flags.data
        self.put = [self.writer(row) for row in memory.frames]
        self.put_last = [self.writer(row) for row in memory.successors]
        self.steps = [(i, env.step, put) for i, (env, put) in enumerate(zip(self.envs, self.put))]

    def reset(self, seeds):
        for i, (env, seed) in enumerate(zip(self.envs, seeds)):
            self.here = i
            observation, _ = env.reset(seed=seed)
            self.put[i](observation)

    def step(self):
        rewards, flags = self.rewards, self.flags
        actions = self.given.of(self.memory.actions)
        for (i, step, put), action in zip(self.steps, actions):
            self.here = i
            observation, reward, terminated, truncated, _ = step(action)
            rewards[i] = reward if reward.__class__ is float else number(reward)
            if terminated is False and truncated is False:
                flags[i] = 0
            else:
                flags[i] = ends = TERMINATED * truth("terminated", terminated) | TRUNCATED * truth("truncated", truncated)
                if ends:
                    self.put_last[i](observation)
                    observation, _ = self.envs[i].reset()
            put(observation)

    def render(self):
        return self.envs[0].render()

    def close(self):
        for env in self.envs:
            env.close()


# --- What environments give ------------------------------------------------------------------------------------------
# Whether numbers are finite is checked by the program, for all environments alike.


def number(reward):
    try:
        if getattr(reward, "shape", ()) == () and not isinstance(reward, (str, bytes)):
            return float(reward)
    except (TypeError, ValueError, OverflowError):
        pass
    raise gave(f"a reward that is no number: {shown(reward)}")


def truth(name, value):
    """True or false, also as 0 and 1."""
    if getattr(value, "shape", ()) == () and (value == 0 or value == 1):
        return bool(value)
    raise gave(f"a value for {name} that is neither true nor false: {shown(value)}")


def gave(what):
    return Refused("gave", what=what)


def shown(value, most=60):
    """A value in a few words."""
    text = one_line(repr(value))
    return f"{text[: most - 3]}..." if len(text) > most else text


def meanings(env, actions):
    """What the actions are called, if the environment says so and no wrapper has changed them."""
    try:
        names = [str(name) for name in env.unwrapped.get_action_meanings()]
        same = env.action_space == env.unwrapped.action_space
    except Exception:
        return None
    return names if same and len(names) == actions else None


# --- Atari -----------------------------------------------------------------------------------------------------------


class Atari:
    """ALE's vector environment: one game, preprocessed as usual, emulated on all cores."""

    stack = 4
    # What training relies on; all else may be set by arguments.
    FIXED = {"stack_num": 1, "reward_clipping": False, "autoreset_mode": "SameStep", "episodic_life": False}
    LARGEST_SEED = 2**31

    def __init__(self, spec):
        ale_py = imported("ale_py", "ale-py>=0.12")
        imported("gymnasium", "gymnasium>=1.0")
        if version(ale_py) < (0, 12):
            raise Refused("package", package="ale-py 0.12 or later", install="ale-py>=0.12")
        from ale_py.vector_env import AtariVectorEnv

        game = spec["id"].lower().replace("-", "_")
        games = [str(name) for name in ale_py.roms.get_all_rom_ids()]
        if game not in games:
            raise Refused("game", games=games)
        fixed = {**self.FIXED, "life_loss_info": spec["purpose"] == "training"}
        taken = [name for name in spec["args"] if name in fixed]
        if taken:
            raise Refused("id", reason=f"{taken[0]} cannot be set: training relies on its own value of it")
        self.vector = AtariVectorEnv(game, spec["count"], **spec["args"], **fixed)
        self.count = spec["count"]
        # The vector shows the preprocessed screen alone. A twin with the same seeds and actions shows it in colour.
        colour = {"grayscale": False, "img_height": 210, "img_width": 160}
        args = {**spec["args"], **colour, **fixed}
        self.twin = AtariVectorEnv(game, 1, **args) if spec["pictures"] else None
        self.frame = [*self.vector.single_observation_space.shape[1:]]
        if len(self.frame) == 2:
            self.frame.append(1)
        self.element, self.scale = "u8", 1.0 / 255.0
        self.actions = int(self.vector.single_action_space.n)
        self.names = [ale_py.Action(action).name for action in self.vector.ale.get_action_set()]
        self.here = None

    def use(self, memory):
        self.memory = memory

    def reset(self, seeds):
        import numpy as np

        seeds = None if None in seeds else np.array([seed % self.LARGEST_SEED for seed in seeds])
        observations, info = self.vector.reset(seed=seeds)
        self.memory.frames[...] = observations.reshape(self.memory.frames.shape)
        self.lives = info["lives"]
        if self.twin:
            self.colours, _ = self.twin.reset(seed=None if seeds is None else seeds[:1])

    def step(self):
        memory = self.memory
        observations, rewards, terminated, truncated, info = self.vector.step(memory.actions)
        memory.frames[...] = observations.reshape(memory.frames.shape)
        memory.rewards[:] = rewards
        ended = terminated | truncated
        if ended.any():
            # Where a game is over the lives are those of the next one, so not fewer, or none shown yet.
            lost = terminated & (0 < info["lives"]) & (info["lives"] < self.lives)
            memory.flags[:] = TERMINATED * terminated + TRUNCATED * truncated + LIFE_LOST * lost
            memory.successors[lost] = memory.frames[lost]
            over = ended & ~lost
            if over.any():
                last = info["final_obs"].reshape(memory.frames.shape)
                memory.successors[over] = last[over]
        else:
            memory.flags[:] = 0
        self.lives = info["lives"]
        if self.twin:
            self.colours, *_ = self.twin.step(memory.actions[:1])

    def render(self):
        return self.colours[0, -1]

    def close(self):
        self.vector.close()


# --- What both need --------------------------------------------------------------------------------------------------


def imported(package, install):
    try:
        return __import__(package)
    except ImportError as error:
        if error.name and error.name.split(".")[0] != package:
            raise
        raise Refused("package", package=package, install=install) from error


def version(package):
    return tuple(int(part) for part in package.__version__.split(".")[:2])


def one_line(error):
    return " ".join(str(error).split())

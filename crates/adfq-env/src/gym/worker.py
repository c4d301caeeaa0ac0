"""The worker of adfq's bridge: environments of Gymnasium or ALE, stepped on demand for a Rust program.

The program starts this script with three open files: 0 is a pipe that closes when the program dies, 1 is the control
socket, 2 its own stderr. Observations, actions and rewards lie in shared memory, whose layout the program decides. A new
ticket there asks for a step, and its number comes back when the step is done; who sleeps is woken by a byte over the
socket, which also carries the few longer messages.

This is the first of three files that make one script. `modules.py` has what is imported by name, `spaces.py` what becomes
of observations and actions; the call of `main` is the last line.
"""

import sys

# Python puts the current folder first, where a file of any name would be taken for the package of that name.
if sys.path and sys.path[0] == "":
    del sys.path[0]

import fcntl
import json
import mmap
import os
import select
import signal
import socket
import struct
import traceback

RING, MESSAGE, FAILED = b"r", b"m", b"f"
TERMINATED, TRUNCATED, LIFE_LOST = 1, 2, 4
# How often the ticket is looked at before the worker goes to sleep, and how often in between others may have the
# processor: some 100 microseconds in all.
LOOKS, GLANCES = 50, 40
# Every so many steps it is tried again whether looking pays.
TRY_AGAIN = 64
# A sleeper looks again after so many seconds.
NAP = 0.1


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


class Memory:
    """The shared memory as arrays of this worker's environments."""

    def __init__(self, descriptor, layout, frame, element):
        import numpy as np

        self.map = mmap.mmap(descriptor, layout["bytes"])
        os.close(descriptor)
        self.words = memoryview(self.map).cast("Q")
        first, count = layout["first"], layout["count"]

        def array(name, kind, *shape):
            whole = np.frombuffer(self.map, kind, (first + count) * int(np.prod(shape)), layout[name])
            return whole.reshape(first + count, *shape)[first:]

        kind = {"u8": np.uint8, "f32": np.float32}[element]
        self.actions = array("actions", np.int64)
        self.rewards = array("rewards", np.float64)
        self.flags = array("flags", np.uint8)
        self.frames = array("frames", kind, *frame)
        self.successors = array("successors", kind, *frame)


class Control:
    """The socket to the program."""

    def __init__(self, descriptor):
        self.socket = socket.socket(fileno=descriptor)

    def read(self, count):
        data = b""
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            if not more:
                os._exit(0)  # The program is gone or wants no more.
            data += more
        return data

    def message(self):
        return json.loads(self.read(struct.unpack("<I", self.read(4))[0]))

    def say(self, kind, message, data=b""):
        text = json.dumps(message).encode()
        self.socket.sendall(kind + struct.pack("<I", len(text)) + text + bytes(data))


def die_with_the_program(lifeline):
    """The kernel ends this process and its children when the pipe closes, whatever they are busy with then.

    The program made this process the leader of a group, to which its children belong.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpgrp())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([lifeline], [], [], 0)[0]:
        os._exit(0)


class Turns:
    """Whose turn it is: words in the shared memory, and a bell for who sleeps.

    Looking at a word is far quicker than falling asleep and waking up. On processors that may reorder the writes of
    two words (`spin` is false there) the bell rings always, and nobody looks.
    """

    def __init__(self, control, memory, layout):
        self.socket, self.words, self.spin = control.socket, memory.words, layout["spin"]
        self.ticket, self.program_sleeps = 0, 1
        self.done, self.asleep = layout["done"] // 8, layout["asleep"] // 8
        self.seen, self.quick, self.waits = self.words[self.ticket], self.spin, 0

    def wait(self):
        """Until a step is asked for (true) or there is a message to read (false)."""
        if self.look():
            return True
        while True:
            kind = self.sleep() if self.spin else self.socket.recv(1)
            if kind == MESSAGE:
                return False
            if not kind:
                os._exit(0)
            if self.words[self.ticket] != self.seen:
                self.seen = self.words[self.ticket]
                return True

    def sleep(self):
        """Until there is a new ticket or the socket has something to say, which it is."""
        self.words[self.asleep] = 1
        os.sched_yield()  # The kernel makes our write visible before it goes on.
        while self.words[self.ticket] == self.seen:
            if select.select([self.socket], [], [], NAP)[0]:
                self.words[self.asleep] = 0
                return self.socket.recv(1)
        self.words[self.asleep] = 0
        return RING

    def look(self):
        self.waits += 1
        if not self.quick and (not self.spin or self.waits % TRY_AGAIN):
            return False
        words, ticket, seen = self.words, self.ticket, self.seen
        for _ in range(LOOKS):
            for _ in range(GLANCES):
                if words[ticket] != seen:
                    self.seen = words[ticket]
                    self.quick = True
                    return True
            os.sched_yield()
        self.quick = False
        return False

    def finish(self):
        """The step is done."""
        self.words[self.done] = self.seen
        if not self.spin or self.words[self.program_sleeps]:
            self.socket.send(RING)


def serve(control, envs, turns):
    """Answers until there is nobody to answer to."""
    wait, step, finish = turns.wait, envs.step, turns.finish
    while True:
        if wait():
            step()
            finish()
        else:
            answer(control, envs, control.message())


def answer(control, envs, message):
    todo = message["do"]
    if todo == "reset":
        envs.reset(message["seeds"])
        control.say(MESSAGE, {})
    elif todo == "render":
        picture = envs.render()
        if picture is None or getattr(picture, "ndim", 0) != 3 or picture.shape[2] != 3:
            raise ValueError("render gave no picture: the environment does not support render_mode rgb_array")
        height, width, _ = picture.shape
        control.say(MESSAGE, {"height": height, "width": width}, picture.astype("uint8").tobytes())
    elif todo == "close":
        envs.close()
        control.say(MESSAGE, {})
        os._exit(0)


def main():
    control = Control(os.dup(1))
    os.dup2(2, 1)  # What an environment prints is for people.
    die_with_the_program(0)
    envs = None
    try:
        if sys.version_info < (3, 9):
            raise Refused("id", reason="Python 3.9 or later is needed: name another interpreter (Gym::python)")
        control.read(1)
        spec = control.message()
        sys.path[:0] = spec["path"]
        envs = {"gym": Gym, "atari": Atari}[spec["kind"]](spec)
        control.say(
            MESSAGE,
            {
                "frame": envs.frame,
                "element": envs.element,
                "scale": envs.scale,
                "actions": envs.actions,
                "names": envs.names,
                "stack": envs.stack,
            },
        )
        _, descriptors, *_ = socket.recv_fds(control.socket, 1, 1)
        layout = control.message()
        memory = Memory(descriptors[0], layout, envs.frame, envs.element)
        envs.use(memory)
        turns = Turns(control, memory, layout)
        control.say(MESSAGE, {})
        serve(control, envs, turns)
    except Refused as refusal:
        control.say(FAILED, {"env": getattr(envs, "here", None), **refusal.details})
    except (BrokenPipeError, ConnectionResetError):
        pass
    except BaseException as error:
        details = {"kind": "raised", "error": f"{type(error).__name__}: {error}", "traceback": traceback.format_exc()}
        control.say(FAILED, {**details, "env": getattr(envs, "here", None)})
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(1)

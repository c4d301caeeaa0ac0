"""The worker of adfq's bridge: environments of Gymnasium or ALE, stepped on demand for a Rust program.

The program starts this script with three open files: 0 is a pipe that closes when the program dies, 1 is the control
socket, 2 its own stderr. Observations, actions and rewards lie in shared memory, whose layout the program decides. A new
ticket there asks for a step, and its number comes back when the step is done; who sleeps is woken by a byte over the
socket, which also carries the few longer messages.
"""

import sys

# Python puts the current folder first, where a file of any name would be taken for the package of that name.
if sys.path and sys.path[0] == "":
    del sys.path[0]

import fcntl
import functools
import importlib.machinery
import importlib.util
import json
import mmap
import operator
import os
import select
import signal
import site
import socket
import struct
import sysconfig
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


# --- Modules ---------------------------------------------------------------------------------------------------------


def allow_module(spec):
    """Lets Gymnasium import the module of an id such as `my_module:MyEnv-v0`, or refuses it without importing anything.

    Whoever named the environment may be a stranger: then the module has to be an installed package.
    """
    module, colon, _ = spec["id"].partition(":")
    if not colon:
        return
    if not all(part.isidentifier() for part in module.split(".")):
        raise Refused("id", reason=f"{module!r} is not the name of a Python module")
    package = module.split(".")[0]
    found = places_of(package)
    if spec["modules"] == "installed":
        folders = [*installed_packages(), *spec["path"]]
        if not found or not all(within(place, folders) for place in found):
            raise Refused("untrusted", module=module, file=(found or places_of(package, [os.getcwd()]) or [None])[0])
    elif not found:
        # Last, so that nothing there is taken for an installed package.
        sys.path.append(os.getcwd())


def places_of(package, path=None):
    """The file of a package, or the folders of one without; none if it is not found. Nothing is imported."""
    find = importlib.util.find_spec if path is None else importlib.machinery.PathFinder.find_spec
    try:
        spec = find(package) if path is None else find(package, path)
    except ValueError:  # A module that was not found by a search, such as __main__.
        spec = None
    if spec is None:
        return []
    return [spec.origin] if spec.origin else list(spec.submodule_search_locations or [])


def installed_packages():
    folders = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), site.getusersitepackages()]
    return folders + getattr(site, "getsitepackages", list)()


def within(place, folders):
    place = os.path.realpath(place)
    return any(place.startswith(os.path.realpath(folder) + os.sep) for folder in folders)


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
        allow_module(spec)
        try:
            self.envs = [gymnasium.make(spec["id"], **arguments) for _ in range(spec["count"])]
        except (gymnasium.error.Error, ModuleNotFoundError) as error:
            raise Refused("id", reason=one_line(error)) from error
        env = self.envs[0]
        if not isinstance(env.action_space, gymnasium.spaces.Discrete):
            raise Refused("space", what="actions", space=repr(env.action_space))
        self.first_action = int(env.action_space.start)
        self.frame, self.element, self.scale, self.writer = view_of(gymnasium.spaces, env.observation_space)
        self.actions = int(env.action_space.n)
        self.names = meanings(env, self.actions)

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
        rewards, flags, actions = self.rewards, self.flags, self.memory.actions
        if self.first_action:
            actions = actions + self.first_action
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


def view_of(spaces, space):
    """The frame's shape, its kind of number, what scales it to about 1, and what writes observations into a frame."""
    import numpy as np

    if isinstance(space, spaces.Discrete):
        return [int(space.n)], "u8", 1.0, functools.partial(one_hot, int(space.start), int(space.n))
    if not isinstance(space, spaces.Box):
        raise Refused("space", what="observations", space=repr(space))
    shape = list(space.shape)
    if space.dtype == np.uint8:
        element, scale = "u8", 1.0 / max(float(space.high.max(initial=0)), 1.0)
    elif np.issubdtype(space.dtype, np.floating):
        element, scale = "f32", 1.0
    else:
        raise Refused("space", what="observations", space=repr(space))
    put = functools.partial(whole, space.dtype)
    # Channels come last in a frame; an image whose first axis is its shortest has them first.
    if len(shape) == 3 and shape[0] < min(shape[1:]):
        return [*shape[1:], shape[0]], element, scale, lambda row: put(np.moveaxis(row, -1, 0))
    if len(shape) == 3:
        return shape, element, scale, put
    if len(shape) == 2 and element == "u8":
        return [*shape, 1], element, scale, lambda row: put(row[..., 0])
    return [int(np.prod(shape))], element, scale, lambda row: put(row.reshape(shape))


def whole(promised, row):
    """Writes observations into an array of their shape. One that is as the space promises goes there at once."""
    import numpy as np

    array, shape = np.ndarray, row.shape

    def put(observation):
        if observation.__class__ is array and observation.dtype is promised and observation.shape == shape:
            row[...] = observation
        else:
            row[...] = fitting(observation, shape, row.dtype)

    return put


def one_hot(first, count, row):
    def put(observation):
        try:
            place = operator.index(observation) - first
        except TypeError:
            raise gave(f"an observation that is no integer: {shown(observation)}") from None
        if not 0 <= place < count:
            raise gave(f"the observation {observation}, the space promises {first} to {first + count - 1}")
        row.fill(0)
        row[place] = 1

    return put


# --- What environments give ------------------------------------------------------------------------------------------
# Whether numbers are finite is checked by the program, for all environments alike.


def fitting(observation, shape, dtype):
    """An observation that is not quite what the space promises, if no number of it changes by writing it."""
    import numpy as np

    try:
        array = np.asarray(observation)
    except ValueError:  # Rows of several lengths.
        array = np.asarray(None)
    if array.dtype.kind not in "biuf":
        raise gave(f"an observation that is no array of numbers: {shown(observation)}")
    if array.shape != shape:
        raise gave(f"an observation of shape {array.shape}, the space promises {shape}")
    if dtype == np.uint8:
        with np.errstate(invalid="ignore"):
            wrong = array[array.astype(np.uint8) != array]
        if wrong.size:
            raise gave(f"an observation with the number {wrong.flat[0]}, the space promises uint8")
    return array


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


def shown(value):
    """A value in a few words."""
    text = one_line(repr(value))
    return f"{text[:57]}..." if len(text) > 60 else text


def meanings(env, actions):
    """What the actions are called, if the environment says so."""
    try:
        names = [str(name) for name in env.unwrapped.get_action_meanings()]
    except Exception:
        return None
    return names if len(names) == actions else None


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


main()

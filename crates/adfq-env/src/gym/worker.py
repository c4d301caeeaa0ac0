"""The worker of adfq's bridge: environments of Gymnasium or ALE, stepped on demand for a Rust program.

The program starts this script with three open files: 0 is a pipe that closes when the program dies, 1 is the control
socket, 2 its own stderr. Observations, actions and rewards lie in shared memory, whose layout the program decides. A new
ticket there asks for a step, and its number comes back when the step is done; who sleeps is woken by a byte over the
socket, which also carries the few longer messages.

This is the first of four files that make one script. `environments.py` has what is stepped, `modules.py` what is imported by
name, `spaces.py` what becomes of observations and actions; the call of `main` is the last line.
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
# How often the ticket is looked at before the worker goes to sleep, and how often in between others may have the
# processor: some 100 microseconds in all.
LOOKS, GLANCES = 50, 40
# Every so many steps it is tried again whether looking pays.
TRY_AGAIN = 64
# A sleeper looks again after so many seconds.
NAP = 0.1


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

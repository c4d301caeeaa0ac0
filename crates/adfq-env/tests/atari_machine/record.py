"""Plays games with ale-py and writes the memory and the screen after every frame.

    record.py SEED FRAMES GAME...

For each game: the number of bytes of a screen (4 bytes), then records of one byte for what was done (an action, or 255 for
`reset_game`), the memory and the screen. Actions are held for one to twenty frames. Games that are over are reset, and now
and then others.
"""

import os
import random
import struct
import sys

import ale_py

RESET = 255


def play(game, seed, frames, out):
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    ale = ale_py.ALEInterface()
    ale.setFloat("repeat_action_probability", 0.0)
    ale.setInt("frame_skip", 1)
    ale.loadROM(os.path.join(os.path.dirname(ale_py.__file__), "roms", f"{game}.bin"))
    chance = random.Random(f"{game} {seed}")
    actions = [action.value for action in ale.getLegalActionSet()]
    height, width = ale.getScreenDims()
    out.write(struct.pack("<I", height * width))

    def record(what):
        out.write(bytes([what]) + ale.getRAM().tobytes() + ale.getScreen().tobytes())

    record(RESET)
    action, held = 0, 0
    for _ in range(frames - 1):
        if ale.game_over() or chance.random() < 1 / 2000:
            ale.reset_game()
            held = 0
            record(RESET)
            continue
        if held == 0:
            action, held = chance.choice(actions), chance.choice([1, 1, 2, 4, 20])
        ale.act(action)
        held -= 1
        record(action)


if __name__ == "__main__":
    for game in sys.argv[3:]:
        play(game, int(sys.argv[1]), int(sys.argv[2]), sys.stdout.buffer)

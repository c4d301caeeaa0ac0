"""Plays an Atari game in ale-py and tells what it says after every frame: the reference for the tests.

    python ram.py GAME SEED FRAMES > frames

For each frame: the 128 bytes of memory, the reward (i32), the lives (i16), and a byte: 0 for a frame, 1 for the last of a
game, 2 for the state that a game starts from. Actions are random, each held for 1 to 80 frames; how long differs from game to game.
"""

import random
import struct
import sys

import ale_py
from ale_py import ALEInterface, roms

FRAME, LAST, FIRST = 0, 1, 2


def main():
    game, seed, frames = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    ale = ALEInterface()
    ale.setFloat("repeat_action_probability", 0.0)
    ale.setInt("random_seed", seed)
    ale.setInt("max_num_frames_per_episode", 0)
    ale.loadROM(roms.get_rom_path(game))
    rng, actions, out = random.Random(seed), ale.getMinimalActionSet(), sys.stdout.buffer

    def tell(reward, what):
        out.write(ale.getRAM().tobytes() + struct.pack("<ihB", reward, ale.lives(), what))

    over, left = True, 0
    for _ in range(frames):
        if over:
            ale.reset_game()
            longest = rng.choice([1, 4, 10, 30, 80])
            tell(0, FIRST)
            over, left = False, 0
            continue
        if left == 0:
            action, left = rng.choice(actions), rng.randint(1, longest)
        left -= 1
        reward = ale.act(action)
        over = ale.game_over()
        tell(reward, LAST if over else FRAME)


main()

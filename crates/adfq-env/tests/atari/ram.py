"""Plays an Atari game in ale-py and tells what it says after every frame: the reference for the tests.

    python ram.py GAME SEED FRAMES [BYTE...] > frames

For each frame: the 128 bytes of memory, the reward (i32), the lives (i16), and a byte: 0 for a frame, 1 for the last of a
game, 2 for the state that a game starts from. Actions are random, each held for 1 to 80 frames; how long differs from game to game.
Where bytes of memory are named, one of them is changed before every tenth frame or so: scores and lives that random play does
not come to, and ends.
"""

import random
import struct
import sys

import ale_py
from ale_py import ALEInterface, roms

FRAME, LAST, FIRST = 0, 1, 2


def main():
    game, seed, frames, *changed = sys.argv[1], *map(int, sys.argv[2:])
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
        if changed and rng.random() < 0.1:
            # Two decimal digits, a small number, or anything.
            digits = 16 * rng.randrange(10) + rng.randrange(10)
            ale.setRAM(rng.choice(changed), rng.choice([digits, rng.randrange(10), rng.randrange(256)]))
        reward = ale.act(action)
        over = ale.game_over()
        tell(reward, LAST if over else FRAME)


main()

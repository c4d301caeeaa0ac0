"""What ale-py shows for each palette index: the reference for the tests.

    python colours.py GAME FRAMES > colours

For each of the 256 indices: red, green, blue, the brightness, and whether it was seen. Random bytes of memory are changed while the game is
played, so that it shows colours that it has not.
"""

import random
import sys

import ale_py
import numpy as np
from ale_py import ALEInterface, roms

ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
ale = ALEInterface()
ale.loadROM(roms.get_rom_path(sys.argv[1]))
rng, actions, seen = random.Random(1), ale.getLegalActionSet(), np.zeros((256, 5), np.uint8)
for frame in range(int(sys.argv[2])):
    if frame % 200 == 0 or ale.game_over():
        ale.reset_game()
    ale.setRAM(rng.randrange(128), rng.randrange(256))
    ale.act(rng.choice(actions))
    indices = ale.getScreen().reshape(-1, 1)
    seen[indices[:, 0]] = np.hstack([ale.getScreenRGB().reshape(-1, 3), ale.getScreenGrayscale().reshape(-1, 1), indices >= 0])
sys.stdout.buffer.write(seen.tobytes())

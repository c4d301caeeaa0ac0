"""Plays an Atari game with Gymnasium's AtariPreprocessing: the reference for tests/bridge/atari.rs.

    python atari.py GAME SEED STICKY < actions > answer

Starts are those of ALE's vector environment, worked out anew: FIRE for a frame where there is such an action, then
no-ops, as many as its generator says. A lost life is an end, and the game goes on.
"""

import sys

import ale_py
import gymnasium
import numpy as np

gymnasium.register_envs(ale_py)
NOOPS = 30
TERMINATED, TRUNCATED, LIFE_LOST = 1, 2, 4


def draws(seed):
    """Numbers below NOOPS as C++ draws them: std::mt19937 with std::uniform_int_distribution of libstdc++."""
    generator = np.random.RandomState(seed)._bit_generator
    while True:
        product = int(generator.random_raw()) * NOOPS
        if product % 2**32 >= 2**32 % NOOPS:
            yield product >> 32


class Game:
    def __init__(self, game, seed, sticky):
        name = "".join(part.capitalize() for part in game.split("_"))
        self.raw = gymnasium.make(f"ALE/{name}-v5", frameskip=1, repeat_action_probability=sticky)
        self.env = gymnasium.wrappers.AtariPreprocessing(self.raw, noop_max=0)
        self.ale, self.seed, self.noops = self.raw.unwrapped.ale, seed, draws(seed)
        self.fire = "FIRE" in self.raw.unwrapped.get_action_meanings()

    def start(self, seeded=False):
        if seeded:
            self.ale.setInt("random_seed", self.seed)
            self.raw.unwrapped.load_game()
        self.env.reset()
        left = next(self.noops)
        if self.fire:
            self.ale.act(ale_py.Action.FIRE)
            left -= 1
        for _ in range(left):
            self.ale.act(ale_py.Action.NOOP)
        self.lives = self.ale.lives()
        self.ale.getScreenGrayscale(self.env.obs_buffer[0])
        self.env.obs_buffer[1].fill(0)
        return self.env._get_obs()

    def step(self, action):
        """The frame to act on, the last of the episode, reward and flags."""
        frame, reward, terminated, truncated, info = self.env.step(action)
        lost = not terminated and 0 < info["lives"] < self.lives
        self.lives = info["lives"]
        flags = TERMINATED * (terminated or lost) + TRUNCATED * truncated + LIFE_LOST * lost
        return self.start() if terminated or truncated else frame, frame, reward, flags


def main():
    name, seed, sticky = sys.argv[1], int(sys.argv[2]) % 2**31, float(sys.argv[3])
    game = Game(name, seed, sticky)
    first = game.start(seeded=True)
    frames, lasts, rewards, flags = zip(*[game.step(action) for action in sys.stdin.buffer.read()])
    out = sys.stdout.buffer
    out.write(np.stack([first, *frames]).tobytes() + np.stack(lasts).tobytes())
    out.write(np.array(rewards, np.float64).tobytes() + np.array(flags, np.uint8).tobytes())


main()

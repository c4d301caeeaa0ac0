"""Plays an Atari game with Gymnasium's AtariPreprocessing and FrameStackObservation: the reference for the tests.

    python atari.py GAME SEED STICKY < actions > answer

The answer: stacked observations to act on, one more than actions; the observations that the actions led to, which differ
where an episode ended; rewards; flags. Starts are those of ALE's vector environment, worked out anew: FIRE for a frame
where there is such an action, then no-ops, as many as its generator says. A lost life is an end, and the game goes on.
"""

import sys

import ale_py
import gymnasium
import numpy as np
from gymnasium.wrappers import AtariPreprocessing, FrameStackObservation

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


class Game(gymnasium.Wrapper):
    def __init__(self, game, seed, sticky):
        name = "".join(part.capitalize() for part in game.split("_"))
        raw = gymnasium.make(f"ALE/{name}-v5", frameskip=1, repeat_action_probability=sticky)
        super().__init__(AtariPreprocessing(raw, noop_max=0))
        self.ale, self.noops, self.lost = raw.unwrapped.ale, draws(seed), False
        self.fire = "FIRE" in raw.unwrapped.get_action_meanings()
        self.ale.setInt("random_seed", seed)
        raw.unwrapped.load_game()

    def reset(self, *, seed=None, options=None):
        if self.lost:
            return self.frame, {}
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
        return self.env._get_obs(), {}

    def step(self, action):
        self.frame, reward, terminated, truncated, info = self.env.step(action)
        self.lost = not terminated and 0 < info["lives"] < self.lives
        self.lives = info["lives"]
        return self.frame, reward, terminated or self.lost, truncated, {}


def main():
    name, seed, sticky = sys.argv[1], int(sys.argv[2]) % 2**31, float(sys.argv[3])
    game = Game(name, seed, sticky)
    env = FrameStackObservation(game, 4)
    observation, _ = env.reset()
    observations, successors, rewards, flags = [observation], [], [], []
    for action in sys.stdin.buffer.read():
        observation, reward, terminated, truncated, _ = env.step(action)
        successors.append(observation)
        rewards.append(reward)
        flags.append(TERMINATED * terminated + TRUNCATED * truncated + LIFE_LOST * game.lost)
        if terminated or truncated:
            observation, _ = env.reset()
        observations.append(observation)
    out = sys.stdout.buffer
    out.write(np.stack(observations).tobytes() + np.stack(successors).tobytes())
    out.write(np.array(rewards, np.float64).tobytes() + np.array(flags, np.uint8).tobytes())


main()

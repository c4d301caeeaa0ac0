"""DQN on CartPole in PyTorch, as one plain loop. NOT CleanRL: written anew after the pattern of its dqn.py.

It has the same parts (a vector environment of one, episode statistics, a replay buffer of NumPy arrays,
squared error, Adam, a hard copy of the target) and takes the width of the layers as an argument, which
CleanRL's script does not. `cartpole.py` measures both at 120-84, which shows how far this stands for it.
"""

import copy
import random
import time

import gymnasium
import numpy as np
import torch
from torch import nn


class Replay:
    """A ring of transitions."""

    def __init__(self, capacity, width):
        self.before, self.after = (np.zeros((capacity, width), np.float32) for _ in range(2))
        self.action = np.zeros((capacity, 1), np.int64)
        self.reward, self.terminal = (np.zeros(capacity, np.float32) for _ in range(2))
        self.next, self.length = 0, 0

    def add(self, before, after, action, reward, terminal):
        i = self.next
        self.before[i], self.after[i], self.action[i] = before, after, action
        self.reward[i], self.terminal[i] = reward, terminal
        self.next = (i + 1) % len(self.reward)
        self.length = min(self.length + 1, len(self.reward))

    def sample(self, size):
        rows = np.random.randint(0, self.length, size)
        parts = (self.before, self.after, self.action, self.reward, self.terminal)
        return [torch.from_numpy(part[rows]) for part in parts]


def make():
    """CartPole with the return and length of episodes recorded, as training scripts have it."""
    return gymnasium.wrappers.RecordEpisodeStatistics(gymnasium.make("CartPole-v1"))


def train(s):
    """Trains with settings `s` (cartpole.Settings).

    Returns the seconds of the whole loop, the steps per second once learning, and the gradient steps.
    """
    random.seed(s.seed)
    np.random.seed(s.seed)
    torch.manual_seed(s.seed)
    envs = gymnasium.vector.SyncVectorEnv([make], autoreset_mode=gymnasium.vector.AutoresetMode.SAME_STEP)
    envs.action_space.seed(s.seed)
    layers, width = [], envs.single_observation_space.shape[0]
    for units in s.hidden:
        layers += [nn.Linear(width, units), nn.ReLU()]
        width = units
    online = nn.Sequential(*layers, nn.Linear(width, int(envs.single_action_space.n)))
    target = copy.deepcopy(online)
    optimiser = torch.optim.Adam(online.parameters(), lr=s.learning_rate)
    replay = Replay(s.buffer, envs.single_observation_space.shape[0])

    gradient_steps, learning_since = 0, None
    begin = time.perf_counter()
    observation, _ = envs.reset(seed=s.seed)
    for step in range(s.steps):
        if random.random() < s.epsilon(step):
            action = envs.action_space.sample()
        else:
            with torch.no_grad():
                action = online(torch.from_numpy(observation)).argmax(1).numpy()
        after, reward, terminal, truncated, info = envs.step(action)
        # Where an episode ended, `after` is already the next one's beginning.
        real_after = info["final_obs"][0] if terminal[0] or truncated[0] else after[0]
        replay.add(observation[0], real_after, action[0], reward[0], terminal[0])
        observation = after

        if step <= s.learning_starts:
            continue
        learning_since = learning_since or (step, time.perf_counter())
        if step % s.train_every == 0:
            before, following, taken, rewards, terminals = replay.sample(s.batch)
            with torch.no_grad():
                goal = rewards + s.gamma * (1 - terminals) * target(following).max(1).values
            loss = nn.functional.mse_loss(online(before).gather(1, taken).squeeze(1), goal)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            gradient_steps += 1
        if step % s.target_every == 0:
            target.load_state_dict(online.state_dict())
    end = time.perf_counter()
    return end - begin, (s.steps - learning_since[0]) / (end - learning_since[1]), gradient_steps

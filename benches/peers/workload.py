"""What every framework is given: the networks, their first parameters and the batches, as NumPy arrays.

Nothing of a framework lives here. Layout is NHWC for inputs and HWIO for convolutions; a framework that wants
another one converts before the clock starts.
"""

from dataclasses import dataclass

import numpy as np

BATCH = 32
BATCHES = 8  # cycled through, so that the loss does not vanish and leave denormal numbers to calculate with
GAMMA = 0.99
LEARNING_RATE = 2.5e-4
CLIP = 10.0  # norm of the gradient of one tensor
SEED = 7


@dataclass(frozen=True)
class Conv:
    """A convolution with ReLU: output channels, side of the square filter, stride, "SAME" or "VALID"."""

    channels: int
    side: int
    stride: int
    padding: str


@dataclass(frozen=True)
class Network:
    """Convolutions, then dense layers with ReLU, then a linear head of two groups: mu and -log sigma."""

    observation: tuple
    convolutions: tuple
    dense: tuple
    actions: int


NETWORKS = {
    "mlp 4-64-64": Network((4,), (), (64, 64), 2),
    "minatar": Network((10, 10, 4), (Conv(16, 3, 1, "VALID"),), (128,), 6),
    "atari": Network(
        (84, 84, 4), (Conv(32, 8, 4, "SAME"), Conv(64, 4, 2, "SAME"), Conv(64, 3, 1, "SAME")), (256,), 6
    ),
}


def output_side(side, conv):
    """Side of the image a convolution leaves."""
    if conv.padding == "SAME":
        return -(-side // conv.stride)
    return (side - conv.side) // conv.stride + 1


def same_padding(side, conv):
    """Pixels added (before, after) each side; with SAME the odd one comes after."""
    if conv.padding == "VALID":
        return 0, 0
    total = max((output_side(side, conv) - 1) * conv.stride + conv.side - side, 0)
    return total // 2, total - total // 2


def parameters(network):
    """He-normal weights and zero biases as [(weight, bias), ...]; dense weights are (inputs, outputs)."""
    rng = np.random.default_rng(SEED)
    shapes, side, width = [], network.observation[0], network.observation[-1]
    for conv in network.convolutions:
        shapes.append((conv.side, conv.side, width, conv.channels))
        side, width = output_side(side, conv), conv.channels
    if network.convolutions:
        width *= side * side
    for outputs in (*network.dense, 2 * network.actions):
        shapes.append((width, outputs))
        width = outputs
    return [
        (rng.normal(0, np.sqrt(2 / np.prod(s[:-1])), s).astype(np.float32), np.zeros(s[-1], np.float32))
        for s in shapes
    ]


def batches(network):
    """Batches of (observations, taken actions, reward, discount, weight).

    Observations are s in the first half of the rows and s' in the second, so that the target network sees both
    in one pass. Reward and discount have a column for each group: (r, 0) and (gamma (1 - terminal), 1).
    """
    rng = np.random.default_rng(SEED + 1)
    result = []
    for _ in range(BATCHES):
        shape = (2 * BATCH, *network.observation)
        images = bool(network.convolutions)
        observations = rng.random(shape) if images else rng.normal(0, 1, shape)
        reward = np.stack([rng.normal(0, 1, BATCH), np.zeros(BATCH)], 1)
        discount = np.stack([GAMMA * (rng.random(BATCH) > 0.05), np.ones(BATCH)], 1)
        weight = rng.uniform(0.2, 1.0, (BATCH, 1)) / BATCH  # importance weight and the mean of the batch
        actions = rng.integers(0, network.actions, BATCH)
        floats = [x.astype(np.float32) for x in (observations, reward, discount, weight)]
        result.append((floats[0], actions.astype(np.int64), *floats[1:]))
    return result

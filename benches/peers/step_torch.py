"""The gradient step in PyTorch, in three ways of writing it.

`plain` is the way most agents are written: modules, `clip_grad_norm_` on each tensor, Adam as it comes.
`tuned` keeps eager mode and takes what PyTorch offers for speed: multi-tensor clipping and the fused Adam.
`compiled` is `tuned` with the loss, its gradient and the clipping through `torch.compile`.
"""

import functools

import torch
import torch.nn.functional as F
from torch import nn

import workload as w


class Body(nn.Module):
    """The network of a specification, with parameters given as NumPy arrays in NHWC order."""

    def __init__(self, network, parameters):
        super().__init__()
        layers, side = [], network.observation[0]
        for conv, (weight, bias) in zip(network.convolutions, parameters):
            before, after = w.same_padding(side, conv)
            if before != after:
                layers.append(nn.ZeroPad2d((before, after, before, after)))
            layer = nn.Conv2d(
                weight.shape[2], conv.channels, conv.side, conv.stride, before if before == after else 0
            )
            load(layer, weight.transpose(3, 2, 0, 1), bias)
            layers += [layer, nn.ReLU()]
            side = w.output_side(side, conv)
        dense = parameters[len(network.convolutions) :]
        for i, (weight, bias) in enumerate(dense):
            if i == 0 and network.convolutions:
                layers.append(nn.Flatten())
                # Rows from (height, width, channel) to PyTorch's (channel, height, width).
                channels = network.convolutions[-1].channels
                weight = weight.reshape(side, side, channels, -1).transpose(2, 0, 1, 3).reshape(weight.shape)
            layer = nn.Linear(*weight.shape)
            load(layer, weight.T, bias)
            layers += [layer, nn.ReLU()]
        self.layers = nn.Sequential(*layers[:-1])  # the head is linear
        self.actions = network.actions

    def forward(self, observations):
        return self.layers(observations).view(-1, 2, self.actions)


def load(layer, weight, bias):
    """Overwrites the parameters of a layer."""
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(weight.copy()))
        layer.bias.copy_(torch.from_numpy(bias))


def at(output, actions):
    """Both groups of the output at one action per row: (batch, 2)."""
    return output.gather(2, actions.view(-1, 1, 1).expand(-1, 2, 1)).squeeze(2)


def loss_of(online, target, batch):
    """Weighted Huber loss against the mean of the prior belief and the bootstrapped one."""
    observations, actions, reward, discount, weight = batch
    with torch.no_grad():
        output = target(observations)
        prior, after = output[: w.BATCH], output[w.BATCH :]
        goal = 0.5 * (at(prior, actions) + reward + discount * at(after, after[:, 0].argmax(1)))
    predicted = at(online(observations[: w.BATCH]), actions)
    return (F.huber_loss(predicted, goal, reduction="none") * weight).sum()


def clip_each(gradients):
    """Scales each tensor to a norm of at most `CLIP`, with one call for all tensors where there is one."""
    scales = w.CLIP / torch.stack(torch._foreach_norm(gradients)).clamp(min=w.CLIP)
    torch._foreach_mul_(gradients, list(scales.unbind()))


def tensors(network, channels_last):
    """The batches as tensors; images become NCHW."""
    result = []
    for observations, *rest in w.batches(network):
        x = torch.from_numpy(observations)
        if network.convolutions:
            x = x.permute(0, 3, 1, 2)
            x = x.contiguous(memory_format=torch.channels_last if channels_last else torch.contiguous_format)
        result.append((x, *map(torch.from_numpy, rest)))
    return result


def build(network, way, threads):
    """Returns step(i) -> loss."""
    torch.set_num_threads(threads)
    online, target = (Body(network, w.parameters(network)) for _ in range(2))
    for p in target.parameters():
        p.requires_grad_(False)
    channels_last = way.endswith("nhwc")
    if channels_last:
        online, target = (net.to(memory_format=torch.channels_last) for net in (online, target))
    data = tensors(network, channels_last)
    parameters = list(online.parameters())
    if way == "plain":
        optimiser = torch.optim.Adam(parameters, lr=w.LEARNING_RATE)

        def step(i):
            loss = loss_of(online, target, data[i % w.BATCHES])
            optimiser.zero_grad()
            loss.backward()
            for p in parameters:
                nn.utils.clip_grad_norm_([p], w.CLIP)
            optimiser.step()
            return loss.detach()

        return step

    optimiser = torch.optim.Adam(parameters, lr=w.LEARNING_RATE, fused=True)

    forward, clip = functools.partial(loss_of, online, target), clip_each
    if way.startswith("compiled"):
        forward, clip = torch.compile(forward), torch.compile(clip)

    def step(i):
        loss = forward(data[i % w.BATCHES])
        optimiser.zero_grad()
        # Not `autograd.grad`: compiled convolutions return gradients in another memory order than their
        # weights, which the fused Adam reads wrongly; `backward` brings them into the order of the weights.
        loss.backward()
        clip([p.grad for p in parameters])
        optimiser.step()
        return loss.detach()

    return step

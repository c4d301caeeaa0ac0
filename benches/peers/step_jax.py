"""The gradient step in JAX: forward passes, gradient, clipping and Adam in one jitted function.

Parameters and moments are donated, so that XLA may write the new ones in place.
"""

import jax
import jax.numpy as jnp

import workload as w


def forward(network, parameters, x):
    """(rows, 2, actions): mu and -log sigma."""
    for conv, (weight, bias) in zip(network.convolutions, parameters):
        strides = (conv.stride, conv.stride)
        x = jax.lax.conv_general_dilated(
            x, weight, strides, conv.padding, dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        x = jax.nn.relu(x + bias)
    x = x.reshape(x.shape[0], -1)
    *hidden, (weight, bias) = parameters[len(network.convolutions) :]
    for matrix, offset in hidden:
        x = jax.nn.relu(x @ matrix + offset)
    return (x @ weight + bias).reshape(-1, 2, network.actions)


def at(output, actions):
    """Both groups of the output at one action per row: (batch, 2)."""
    return jnp.take_along_axis(output, actions[:, None, None], axis=2)[:, :, 0]


def huber(x):
    """Half the square up to 1, linear beyond."""
    size = jnp.abs(x)
    return jnp.where(size < 1, 0.5 * x * x, size - 0.5)


def build(network, way, threads):
    """Returns step(i) -> loss, ready. Threads are set by the affinity of the process, which XLA follows."""
    assert way == "jit"
    del threads
    beta1, beta2, epsilon = 0.9, 0.999, 1e-8

    def loss_of(parameters, target, batch):
        observations, actions, reward, discount, weight = batch
        output = jax.lax.stop_gradient(forward(network, target, observations))
        prior, after = output[: w.BATCH], output[w.BATCH :]
        goal = 0.5 * (at(prior, actions) + reward + discount * at(after, after[:, 0].argmax(1)))
        predicted = at(forward(network, parameters, observations[: w.BATCH]), actions)
        return (huber(predicted - goal) * weight).sum()

    def learn(state, target, batch):
        parameters, first, second, count = state
        loss, gradients = jax.value_and_grad(loss_of)(parameters, target, batch)
        gradients = jax.tree.map(
            lambda g: g * (w.CLIP / jnp.maximum(jnp.sqrt((g * g).sum()), w.CLIP)), gradients
        )
        count = count + 1
        first = jax.tree.map(lambda m, g: beta1 * m + (1 - beta1) * g, first, gradients)
        second = jax.tree.map(lambda v, g: beta2 * v + (1 - beta2) * g * g, second, gradients)
        rate1, rate2 = 1 - beta1**count, 1 - beta2**count
        parameters = jax.tree.map(
            lambda p, m, v: p - w.LEARNING_RATE * (m / rate1) / (jnp.sqrt(v / rate2) + epsilon),
            parameters,
            first,
            second,
        )
        return (parameters, first, second, count), loss

    learn = jax.jit(learn, donate_argnums=0)
    target = jax.tree.map(jnp.array, w.parameters(network))
    parameters = jax.tree.map(jnp.array, w.parameters(network))
    zeros = [jax.tree.map(jnp.zeros_like, parameters) for _ in range(2)]
    state = (parameters, *zeros, jnp.zeros((), jnp.float32))
    data = [jax.tree.map(jnp.array, (o, a.astype("int32"), *rest)) for o, a, *rest in w.batches(network)]

    def step(i):
        nonlocal state
        state, loss = learn(state, target, data[i % w.BATCHES])
        jax.block_until_ready(state)
        return loss

    return step

"""Outputs, gradients and parameters after three Adam steps, from JAX and Optax, for tests/framework.rs.

    pip install jax==0.10.2 optax==0.2.8
    python generate.py > jax.json

Parameters and inputs are rounded to thousandths; everything else is computed from them in f64.
"""

import json

import jax
import jax.numpy as jnp
import numpy as np
import optax

jax.config.update("jax_enable_x64", True)


def conv(filters, kernel, stride, padding):
    return {"conv": {"filters": filters, "kernel": kernel, "stride": stride, "padding": padding}}


def dense(units):
    return {"dense": {"units": units}}


CASES = [
    ("vector, linear head", [3], [dense(5), dense(4)], {"actions": 2, "groups": 2}, {"per-tensor": 0.05}),
    ("SAME and VALID, linear head", [7, 6, 2], [conv(4, 3, 2, "same"), conv(3, 2, 1, "valid"), dense(5)],
     {"actions": 3, "groups": 1}, {"global": 0.1}),
    ("SAME of even kernels, dueling head", [9, 8, 1], [conv(3, 4, 3, "same"), conv(4, 2, 2, "same"), dense(6)],
     {"actions": 3, "groups": 2, "dueling": 4}, {"per-tensor": 0.02}),
    ("VALID with a rest, dueling head", [6, 7, 3], [conv(4, 3, 2, "valid")],
     {"actions": 2, "groups": 1, "dueling": 3}, "none"),
]
ADAM = {"rate": 0.01, "beta1": 0.8, "beta2": 0.95, "epsilon": 1e-4}
ROWS = 4


def shapes(inputs, layers, head):
    """The tensors in their order: of each layer its weights, then its bias."""
    shape, out = list(inputs), []
    for layer in layers:
        if "conv" in layer:
            c = layer["conv"]
            out += [[c["kernel"], c["kernel"], shape[2], c["filters"]], [c["filters"]]]
            steps = [-(-(n if c["padding"] == "same" else n - c["kernel"] + 1) // c["stride"]) for n in shape[:2]]
            shape = steps + [c["filters"]]
        else:
            out += [[int(np.prod(shape)), layer["dense"]["units"]], [layer["dense"]["units"]]]
            shape = [layer["dense"]["units"]]
    features, actions = int(np.prod(shape)), head["actions"]
    if "dueling" not in head:
        return out + [[features, actions * head["groups"]], [actions * head["groups"]]]
    units = head["dueling"]
    for _ in range(head["groups"]):
        for width in (1, actions):
            out += [[features, units], [units], [units, width], [width]]
    return out


def forward(layers, head, params, x):
    params = iter(params)
    take = lambda: (next(params), next(params))
    for layer in layers:
        w, b = take()
        if "conv" in layer:
            c = layer["conv"]
            strides = (c["stride"], c["stride"])
            x = jax.lax.conv_general_dilated(x, w, strides, c["padding"].upper(),
                                             dimension_numbers=("NHWC", "HWIO", "NHWC")) + b
        else:
            x = x.reshape(len(x), -1) @ w + b
        x = jax.nn.relu(x)
    x = x.reshape(len(x), -1)
    if "dueling" not in head:
        w, b = take()
        return x @ w + b
    outputs = []
    for _ in range(head["groups"]):
        streams = []
        for _ in range(2):
            w, b = take()
            hidden = jax.nn.relu(x @ w + b)
            w, b = take()
            streams.append(hidden @ w + b)
        outputs.append(streams[0] + streams[1] - streams[1].mean(axis=1, keepdims=True))
    return jnp.concatenate(outputs, axis=1)


def optimiser(clip):
    adam = optax.adam(ADAM["rate"], b1=ADAM["beta1"], b2=ADAM["beta2"], eps=ADAM["epsilon"])
    if clip == "none":
        return adam
    return optax.chain(optax.clip_by_global_norm(next(iter(clip.values()))), adam)


def train(clip, gradient, params, steps):
    # Clipping tensor by tensor is an optimiser for each of them.
    apart = clip != "none" and "per-tensor" in clip
    parts = [[i] for i in range(len(params))] if apart else [list(range(len(params)))]
    tx = optimiser(clip)
    states = [tx.init([params[i] for i in part]) for part in parts]
    for _ in range(steps):
        grads, params = gradient(params), list(params)
        for n, part in enumerate(parts):
            updates, states[n] = tx.update([grads[i] for i in part], states[n])
            for i, update in zip(part, updates):
                params[i] = params[i] + update
    return params


def flat(tensors, digits=9):
    return [float(f"{v:.{digits}g}") for t in tensors for v in np.asarray(t).ravel()]


def case(rng, name, inputs, layers, head, clip):
    draw = lambda shape, scale: np.round(rng.uniform(-scale, scale, shape), 3)
    params = [draw(shape, 0.6) for shape in shapes(inputs, layers, head)]
    x, target = draw([ROWS, *inputs], 1.0), draw([ROWS, head["actions"] * head["groups"]], 2.0)
    loss = lambda params: optax.huber_loss(forward(layers, head, params, x), target, delta=0.5).sum() / ROWS
    gradient = jax.grad(loss)
    return {
        "name": name,
        "spec": {"input": inputs, "layers": layers, "head": head},
        "clip": clip,
        "adam": ADAM,
        "params": flat(params),
        "input": flat([x]),
        "target": flat([target]),
        "outputs": flat([forward(layers, head, params, x)]),
        "loss": float(loss(params)),
        "grads": flat(gradient(params)),
        "trained": flat(train(clip, gradient, params, 3)),
    }


rng = np.random.default_rng(4)
print(json.dumps([case(rng, *c) for c in CASES], separators=(",", ":")))

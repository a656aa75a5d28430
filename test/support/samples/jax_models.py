"""Networks in JAX that the compiler is tested with: functions of a key and a batch size.

Each returns a function and arguments for it. Sizes are small, odd, and different from each other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

Model = tuple[Callable[..., Any], tuple[Any, ...]]


def normal(*shapes: tuple[int, ...], seed: int = 0, scale: float = 0.3) -> list[Any]:
    """Arrays of random numbers."""
    rng = np.random.default_rng(seed)
    return [jnp.asarray(scale * rng.standard_normal(shape), jnp.float32) for shape in shapes]


def mlp(batch: int) -> Model:
    """Three layers with parameters in a tree, which are arguments."""
    arrays = normal((70, 33), (33,), (33, 17), (17,), (17, 5), (5,))
    layers = [{"w": w, "b": b} for w, b in zip(arrays[::2], arrays[1::2], strict=True)]

    def network(layers: Any, x: Any) -> Any:
        *hidden, last = layers
        for layer in hidden:
            x = jax.nn.relu(x @ layer["w"] + layer["b"])
        return jax.nn.log_softmax(x @ last["w"] + last["b"])

    return network, (layers, *normal((batch, 70), seed=1, scale=1))


def _convolution(x: Any, kernel: Any, stride: int = 1, padding: str = "SAME") -> Any:
    return jax.lax.conv_general_dilated(
        x, kernel, (stride, stride), padding, dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def lenet(batch: int) -> Model:
    """Convolutions, tanh, average pools and dense layers."""
    c1, c2, d1, d2 = normal((5, 5, 1, 6), (3, 3, 6, 9), (81, 21), (21, 10))

    def pooled(x: Any) -> Any:
        window = (1, 2, 2, 1)
        return jax.lax.reduce_window(x, 0.0, jax.lax.add, window, window, "VALID") / 4

    def network(images: Any) -> Any:
        x = pooled(jnp.tanh(_convolution(images, c1, padding="VALID")))
        x = pooled(jnp.tanh(_convolution(x, c2, padding="VALID")))
        return jax.nn.softmax(jnp.tanh(x.reshape(batch, -1) @ d1) @ d2)

    return network, tuple(normal((batch, 20, 20, 1), seed=2, scale=1))


def _batch_norm(x: Any, scale: Any, offset: Any, mean: Any, variance: Any) -> Any:
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + offset


def residual(batch: int) -> Model:
    """Two residual blocks with batch norm, the second one with a stride; max and mean pools."""
    kernels = normal((3, 3, 3, 8), (3, 3, 8, 8), (3, 3, 8, 8), (3, 3, 8, 12), (1, 1, 8, 12))
    norms = [normal(*[(k.shape[-1],)] * 3, seed=i) for i, k in enumerate(kernels)]
    (dense,) = normal((12, 7), seed=9)

    def block(x: Any, index: int, stride: int = 1) -> Any:
        scale, offset, mean = norms[index]
        x = _convolution(x, kernels[index], stride)
        return _batch_norm(x, 1 + scale, offset, mean, 1 + mean**2)

    def network(images: Any) -> Any:
        x = jax.nn.relu(block(images, 0))
        window = ((1, 3, 3, 1), (1, 2, 2, 1))
        x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, *window, "SAME")
        x = jax.nn.relu(x + block(jax.nn.relu(block(x, 1)), 2))
        x = jax.nn.relu(block(x, 3, stride=2) + block(x, 4, stride=2))
        return x.mean(axis=(1, 2)) @ dense

    return network, tuple(normal((batch, 13, 11, 3), seed=3, scale=1))


def residual_folded(batch: int) -> Model:
    """The same in two dimensions, channels first, batch norm folded into kernels beforehand."""
    kernels = normal((8, 3, 3, 3), (8, 8, 3, 3), (8, 8, 3, 3))
    biases = normal((8, 1, 1), (8, 1, 1), (8, 1, 1), seed=4)

    def network(images: Any) -> Any:
        x = images
        for index, (kernel, bias) in enumerate(zip(kernels, biases, strict=True)):
            y = jax.lax.conv(x, kernel, (1, 1), "SAME") + bias
            x = jax.nn.relu(y if index == 0 else x + y)
        return x.max(axis=(2, 3))

    return network, tuple(normal((batch, 3, 9, 10), seed=5, scale=1))


def _layer_norm(x: Any, scale: Any, offset: Any) -> Any:
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(variance + 1e-6) * scale + offset


def _attention(x: Any, qkv: Any, out: Any, heads: int, mask: Any = None) -> Any:
    batch, count, width = x.shape
    q, k, v = jnp.moveaxis((x @ qkv).reshape(batch, count, 3, heads, width // heads), 2, 0)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(width // heads)
    if mask is not None:
        scores = jnp.where(mask, scores, jnp.finfo(scores.dtype).min)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)
    return mixed.reshape(batch, count, width) @ out


def vit(batch: int) -> Model:
    """Patches by a convolution, a class token, one block, and the class token's scores."""
    patch, qkv, out, up, down = normal(
        (4, 4, 3, 24), (24, 72), (24, 24), (24, 50), (50, 24), scale=0.2
    )
    token, places, head = normal((1, 1, 24), (1, 10, 24), (24, 7), seed=6)
    norm = normal((24,), (24,), seed=7)

    def network(images: Any) -> Any:
        x = _convolution(images, patch, 4, "VALID").reshape(batch, 9, 24)
        x = jnp.concatenate([jnp.broadcast_to(token, (batch, 1, 24)), x], axis=1) + places
        x = x + _attention(_layer_norm(x, *norm), qkv, out, heads=3)
        x = x + jax.nn.gelu(_layer_norm(x, *norm) @ up, approximate=False) @ down
        return _layer_norm(x, *norm)[:, 0] @ head

    return network, tuple(normal((batch, 12, 12, 3), seed=8, scale=1))


def gpt(batch: int) -> Model:
    """Two blocks with causal attention between embeddings and scores of letters."""
    blocks = [
        normal((20, 60), (20, 20), (20, 44), (44, 20), (20,), (20,), seed=seed) for seed in (1, 2)
    ]
    letters, places = normal((31, 20), (13, 20), seed=3)

    def network(codes: Any) -> Any:
        x = letters[codes] + places
        causal = jnp.tril(jnp.ones((13, 13), bool))
        for qkv, out, up, down, *norm in blocks:
            x = x + _attention(_layer_norm(x, *norm), qkv, out, heads=5, mask=causal)
            x = x + jax.nn.gelu(_layer_norm(x, *norm) @ up) @ down
        return x @ letters.T

    codes = np.random.default_rng(4).integers(0, 31, (batch, 13)).astype(np.int32)
    return network, (codes,)


def cached_attention(batch: int) -> Model:
    """One step of attention with a cache: the new key and value go to a place given at run time."""
    wq, wk, wv = normal((12, 12), (12, 12), (12, 12))

    def step(x: Any, place: Any, cache: Any) -> Any:
        keys = jax.lax.dynamic_update_slice(cache["k"], (x @ wk)[:, None], (0, place, 0))
        values = jax.lax.dynamic_update_slice(cache["v"], (x @ wv)[:, None], (0, place, 0))
        scores = jnp.einsum("bd,bkd->bk", x @ wq, keys)
        scores = jnp.where(jnp.arange(9) <= place, scores, -jnp.inf)
        mixed = jnp.einsum("bk,bkd->bd", jax.nn.softmax(scores), values)
        return mixed, {"k": keys, "v": values}

    x, keys, values = normal((batch, 12), (batch, 9, 12), (batch, 9, 12), seed=5, scale=1)
    return step, (x, jnp.int32(4), {"k": keys, "v": values})


def training_step(batch: int) -> Model:
    """Forward, backward and update of the three layers, with momentum."""
    network, (layers, x) = mlp(batch)
    labels = jnp.arange(batch) % 5

    def loss(layers: Any, x: Any, labels: Any) -> Any:
        return -jnp.take_along_axis(network(layers, x), labels[:, None], axis=1).mean()

    def step(layers: Any, momentum: Any, x: Any, labels: Any) -> Any:
        value, slopes = jax.value_and_grad(loss)(layers, x, labels)
        momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, slopes)
        return jax.tree.map(lambda p, m: p - 0.1 * m, layers, momentum), momentum, value

    return step, (layers, jax.tree.map(jnp.zeros_like, layers), x, labels)


def convolution_training_step(batch: int) -> Model:
    """Slopes of a loss behind a convolution and a max pool."""
    kernel, dense = normal((3, 3, 2, 5), (5 * 3 * 4, 3))

    def loss(parameters: Any, x: Any) -> Any:
        x = jax.nn.relu(_convolution(x, parameters[0]))
        window = (1, 2, 2, 1)
        x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, window, window, "VALID")
        return (jax.nn.log_softmax(x.reshape(batch, -1) @ parameters[1]) ** 2).mean()

    return jax.grad(loss), ([kernel, dense], *normal((batch, 6, 8, 2), seed=6, scale=1))


def _gru_cell(weights: Any, state: Any, x: Any) -> Any:
    inputs, states = x @ weights["x"], state @ weights["h"]
    (xr, xz, xn), (hr, hz, hn) = jnp.split(inputs, 3, -1), jnp.split(states, 3, -1)
    update = jax.nn.sigmoid(xz + hz)
    return (1 - update) * jnp.tanh(xn + jax.nn.sigmoid(xr + hr) * hn) + update * state


def gru(batch: int) -> Model:
    """A GRU over five steps, unrolled in Python."""
    x_weights, h_weights = normal((6, 33), (11, 33))

    def network(xs: Any) -> Any:
        state = jnp.zeros((batch, 11))
        for step in range(5):
            state = _gru_cell({"x": x_weights, "h": h_weights}, state, xs[:, step])
        return state

    return network, tuple(normal((batch, 5, 6), seed=7, scale=1))


def lstm(batch: int) -> Model:
    """An LSTM over four steps, unrolled in Python, with all states as results."""
    weights, bias = normal((6 + 9, 36), (36,))

    def network(xs: Any) -> Any:
        h = c = jnp.zeros((batch, 9))
        states = []
        for step in range(4):
            gates = jnp.concatenate([xs[:, step], h], -1) @ weights + bias
            i, f, g, o = jnp.split(gates, 4, -1)
            c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            states.append(h)
        return jnp.stack(states, 1), c

    return network, tuple(normal((batch, 4, 6), seed=8, scale=1))


def scanned(batch: int) -> Model:
    """The GRU as `lax.scan`, a loop whose number of turns is known."""
    x_weights, h_weights = normal((6, 33), (11, 33))

    def network(xs: Any) -> Any:
        def turn(state: Any, x: Any) -> Any:
            state = _gru_cell({"x": x_weights, "h": h_weights}, state, x)
            return state, state.sum(-1)

        return jax.lax.scan(turn, jnp.zeros((batch, 11)), jnp.moveaxis(xs, 1, 0))

    return network, tuple(normal((batch, 5, 6), seed=9, scale=1))


MODELS: dict[str, Callable[[int], Model]] = {
    model.__name__: model
    for model in (
        mlp,
        lenet,
        residual,
        residual_folded,
        vit,
        gpt,
        cached_attention,
        training_step,
        convolution_training_step,
        gru,
        lstm,
        scanned,
    )
}

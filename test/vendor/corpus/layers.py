"""Layers of models: norms, embeddings, encodings, losses, recurrent cells, mixtures of experts."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from corpus.program import Family

FAMILY = Family()


def layer_norm(x: Array, w: Array, b: Array) -> Array:
    """Layer norm over the last dimension."""
    mean = jnp.mean(x, axis=-1, keepdims=True)
    variance = jnp.mean((x - mean) ** 2, axis=-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * w + b


def rms_norm(x: Array, w: Array) -> Array:
    """Root mean square norm over the last dimension, in f32 as language models do."""
    wide = x.astype(jnp.float32)
    scaled = wide * lax.rsqrt(jnp.mean(wide * wide, axis=-1, keepdims=True) + 1e-6)
    return scaled.astype(x.dtype) * w


def group_norm(x: Array, w: Array, b: Array, groups: int) -> Array:
    """Group norm of images with the channels last."""
    count, height, width, channels = x.shape
    grouped = x.reshape(count, height, width, groups, channels // groups)
    mean = jnp.mean(grouped, axis=(1, 2, 4), keepdims=True)
    variance = jnp.var(grouped, axis=(1, 2, 4), keepdims=True)
    return ((grouped - mean) * lax.rsqrt(variance + 1e-5)).reshape(x.shape) * w + b


def batch_norm(x: Array, mean: Array, variance: Array, w: Array, b: Array) -> Array:
    """Batch norm in inference; the channels are last."""
    return (x - mean) * lax.rsqrt(variance + 1e-5) * w + b


def rotate(x: Array) -> Array:
    """Rotary position encoding of `batch, heads, positions, features`."""
    half = x.shape[-1] // 2
    frequencies = 10000.0 ** (-jnp.arange(half, dtype=jnp.float32) / half)
    angles = jnp.arange(x.shape[2], dtype=jnp.float32)[:, None] * frequencies
    cosine, sine = jnp.cos(angles).astype(x.dtype), jnp.sin(angles).astype(x.dtype)
    first, second = x[..., :half], x[..., half:]
    return jnp.concatenate([first * cosine - second * sine, second * cosine + first * sine], -1)


def _norms() -> None:
    add = FAMILY.add
    for dtype in ("f32", "bf16"):
        add("layer_norm", layer_norm, f"{dtype} 2x33x64", f"{dtype} 64", f"{dtype} 64")
        add("rms_norm", rms_norm, f"{dtype} 33x64", f"{dtype} 64")
        add(
            "group_norm",
            lambda x, w, b: group_norm(x, w, b, 4),
            f"{dtype} 1x8x8x32",
            f"{dtype} 32",
            f"{dtype} 32",
        )
        add(
            "batch_norm",
            batch_norm,
            f"{dtype} 2x8x8x32",
            f"{dtype} 32",
            f"{dtype} 32 in 0.5 2",
            f"{dtype} 32",
            f"{dtype} 32",
        )
        add("rope", rotate, f"{dtype} 1x4x33x32")
    add("layer_norm", layer_norm, "bf16 31x70", "bf16 70", "bf16 70", variant="odd")
    add("layer_norm", lambda x: jax.nn.standardize(x, axis=-1), "f32 31x65", variant="standardize")
    add(
        "layer_norm_gradient",
        jax.grad(lambda x, w, b: jnp.sum(layer_norm(x, w, b) ** 2), (0, 1, 2)),
        "f32 5x33",
        "f32 33",
        "f32 33",
    )
    add("batch_norm", _batch_norm_training, "f32 4x8x8x16", "f32 16", "f32 16", variant="training")
    add(
        "instance_norm",
        lambda x: (
            (x - x.mean((1, 2), keepdims=True)) * lax.rsqrt(x.var((1, 2), keepdims=True) + 1e-5)
        ),
        "f32 2x8x8x5",
    )
    add(
        "l2_norm",
        lambda x: x / jnp.maximum(jnp.sqrt(jnp.sum(x * x, -1, keepdims=True)), 1e-12),
        "bf16 33x70",
    )
    add(
        "adaptive_norm",
        lambda x, s, t: jax.nn.standardize(x) * (1 + s[:, None]) + t[:, None],
        "bf16 2x33x64",
        "bf16 2x64",
        "bf16 2x64",
    )


def _batch_norm_training(x: Array, w: Array, b: Array) -> tuple[Array, Array, Array]:
    mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
    return batch_norm(x, mean, variance, w, b), mean, variance


def _encodings() -> None:
    add = FAMILY.add
    add("positions", _sinusoidal, "bf16 2x33x64", variant="sinusoidal")
    add(
        "positions",
        lambda x, p: x + p[: x.shape[1]],
        "f32 2x33x64",
        "f32 128x64",
        variant="learned",
    )
    add("positions", _alibi, "f32 1x4x33x33", variant="alibi")
    add("timestep", lambda t: _timestep(t, 64), "f32 5 in 0 1000")
    add(
        "token_and_position",
        lambda i, t, p: t[i] + p[jnp.arange(i.shape[1])],
        "i32 2x33 in 0 100",
        "bf16 100x64",
        "bf16 64x64",
    )
    add("embedding_bag", lambda i, t: jnp.mean(t[i], axis=1), "i32 5x7 in 0 100", "f32 100x32")
    add("unembedding", lambda x, t: x @ t.T, "bf16 1x33x64", "bf16 1000x64")


def _sinusoidal(x: Array) -> Array:
    return x + _timestep(jnp.arange(x.shape[1], dtype=jnp.float32), x.shape[2]).astype(x.dtype)


def _timestep(t: Array, size: int) -> Array:
    frequencies = jnp.exp(-np.log(10000.0) * jnp.arange(size // 2) / (size // 2))
    angles = t[:, None] * frequencies
    return jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], axis=-1)


def _alibi(scores: Array) -> Array:
    slopes = 2.0 ** (-8.0 * jnp.arange(1, scores.shape[1] + 1) / scores.shape[1])
    distances = jnp.arange(scores.shape[3])[None, :] - jnp.arange(scores.shape[2])[:, None]
    return scores + slopes[:, None, None] * distances


def _losses() -> None:
    add = FAMILY.add
    add("loss", lambda x, y: jnp.mean((x - y) ** 2), "f32 33x7", "f32 33x7", variant="mse")
    add("loss", lambda x, y: jnp.mean(jnp.abs(x - y)), "bf16 33x7", "bf16 33x7", variant="l1")
    add(
        "loss",
        lambda x, y: jnp.mean(
            jnp.where(jnp.abs(x - y) < 1, 0.5 * (x - y) ** 2, jnp.abs(x - y) - 0.5)
        ),
        "f32 33x7",
        "f32 33x7",
        variant="huber",
    )
    add(
        "loss",
        lambda x, y: -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(x), y[:, None], 1)),
        "f32 33x10",
        "i32 33 in 0 10",
        variant="cross_entropy",
    )
    add(
        "loss",
        lambda x, y: -jnp.mean(jnp.sum(jax.nn.one_hot(y, 10) * jax.nn.log_softmax(x), -1)),
        "f32 33x10",
        "i32 33 in 0 10",
        variant="cross_entropy_one_hot",
    )
    add(
        "loss",
        lambda x, y: jnp.mean(jnp.maximum(x, 0) - x * y + jnp.log1p(jnp.exp(-jnp.abs(x)))),
        "f32 33x7",
        "f32 33x7 in 0 1",
        variant="binary",
    )
    add(
        "loss",
        lambda x, y: jnp.sum(y * (jnp.log(y) - jax.nn.log_softmax(x))),
        "f32 5x33",
        "f32 5x33 in 0.1 1",
        variant="kl",
    )
    add(
        "loss",
        lambda x, y: jnp.mean(jnp.maximum(0, 1 - x * y)),
        "f32 33",
        "f32 33",
        variant="hinge",
    )
    add("loss", _contrastive, "f32 16x32", "f32 16x32", variant="contrastive")
    add(
        "cosine_similarity",
        lambda x, y: (
            jnp.sum(x * y, -1) / (jnp.linalg.norm(x, axis=-1) * jnp.linalg.norm(y, axis=-1))
        ),
        "f32 33x70",
        "f32 33x70",
    )
    add(
        "accuracy",
        lambda x, y: jnp.mean(jnp.argmax(x, -1) == y),
        "f32 33x10 distinct",
        "i32 33 in 0 10",
    )


def _contrastive(x: Array, y: Array) -> Array:
    scores = x @ y.T / 0.07
    return -jnp.mean(jnp.diagonal(jax.nn.log_softmax(scores, axis=-1)))


def _cells() -> None:
    add = FAMILY.add
    add(
        "rnn_cell",
        lambda x, h, w, u, b: jnp.tanh(x @ w + h @ u + b),
        "f32 2x33",
        "f32 2x16",
        "f32 33x16",
        "f32 16x16",
        "f32 16",
    )
    add("lstm_cell", _lstm, "f32 2x33", "f32 2x16", "f32 2x16", "f32 33x64", "f32 16x64", "f32 64")
    add("gru_cell", _gru, "f32 2x33", "f32 2x16", "f32 33x48", "f32 16x48", "f32 48")
    add("lstm", _lstm_sequence, "f32 5x2x33", "f32 33x64", "f32 16x64", "f32 64")
    add(
        "gated_mlp",
        lambda x, g, u, d: (jax.nn.silu(x @ g) * (x @ u)) @ d,
        "bf16 33x64",
        "bf16 64x128",
        "bf16 64x128",
        "bf16 128x64",
    )
    add("experts", _experts, "f32 33x16", "f32 16x4", "f32 4x16x32", "f32 4x32x16")
    add("state_space", _state_space, "f32 2x9x8", "f32 8x4 in -1 0", "f32 2x9x4", "f32 2x9x4")
    add(
        "squeeze_excite",
        lambda x, w, v: x * jax.nn.sigmoid(jax.nn.relu(x.mean((1, 2)) @ w) @ v)[:, None, None],
        "bf16 1x8x8x32",
        "bf16 32x8",
        "bf16 8x32",
    )
    add(
        "bilinear",
        lambda x, y, w: jnp.einsum("bi,oij,bj->bo", x, w, y),
        "f32 5x7",
        "f32 5x9",
        "f32 3x7x9",
    )
    add(
        "lora",
        lambda x, w, a, b: x @ w + (x @ a) @ b * 0.5,
        "bf16 33x64",
        "bf16 64x96",
        "bf16 64x4",
        "bf16 4x96",
    )
    add(
        "quantized_linear",
        lambda x, w, s: x @ (w.astype(jnp.bfloat16) * s),
        "bf16 33x64",
        "i8 64x32",
        "bf16 32",
    )


def _lstm(x: Array, h: Array, c: Array, w: Array, u: Array, b: Array) -> tuple[Array, Array]:
    i, f, g, o = jnp.split(x @ w + h @ u + b, 4, axis=-1)
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    return jax.nn.sigmoid(o) * jnp.tanh(c), c


def _lstm_sequence(x: Array, w: Array, u: Array, b: Array) -> Array:
    zero = jnp.zeros((x.shape[1], u.shape[0]))

    def step(state: tuple[Array, Array], v: Array) -> tuple[tuple[Array, Array], Array]:
        h, c = _lstm(v, *state, w, u, b)
        return (h, c), h

    return lax.scan(step, (zero, zero), x)[1]


def _gru(x: Array, h: Array, w: Array, u: Array, b: Array) -> Array:
    size = h.shape[-1]
    given, kept = x @ w + b, h @ u
    r = jax.nn.sigmoid(given[:, :size] + kept[:, :size])
    z = jax.nn.sigmoid(given[:, size : 2 * size] + kept[:, size : 2 * size])
    n = jnp.tanh(given[:, 2 * size :] + r * kept[:, 2 * size :])
    return (1 - z) * n + z * h


def _experts(x: Array, router: Array, up: Array, down: Array) -> Array:
    """Two of four experts for each token; all are computed, the others weigh nothing."""
    values, indices = lax.top_k(jax.nn.softmax(x @ router, axis=-1), 2)
    weights = jnp.sum(jax.nn.one_hot(indices, 4) * values[..., None], axis=1)
    hidden = jax.nn.gelu(jnp.einsum("ti,eih->teh", x, up))
    return jnp.einsum("teh,ehi,te->ti", hidden, down, weights)


def _state_space(x: Array, a: Array, b: Array, c: Array) -> Array:
    """A selective state space: the state decays, takes the input, and is read, step by step."""

    def step(state: Array, now: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        v, taken, read = now
        state = state * jnp.exp(a) + v[..., None] * taken[:, None]
        return state, jnp.sum(state * read[:, None], -1)

    start = jnp.zeros((x.shape[0], *a.shape))
    series = tuple(jnp.swapaxes(each, 0, 1) for each in (x, b, c))
    return jnp.swapaxes(lax.scan(step, start, series)[1], 0, 1)


_norms()
_encodings()
_losses()
_cells()
PROGRAMS = FAMILY.programs

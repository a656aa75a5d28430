"""Whole small models, with their weights as arguments."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array, lax

from corpus.attention import attend_to_itself
from corpus.layers import batch_norm, group_norm, layer_norm, rms_norm
from corpus.program import Family

FAMILY = Family()


def convolve(x: Array, w: Array, stride: int = 1, groups: int = 1) -> Array:
    """Convolve images with the channels last."""
    return lax.conv_general_dilated(
        x,
        w,
        (stride, stride),
        "SAME",
        feature_group_count=groups,
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
    )


def pool(x: Array) -> Array:
    """The greatest of each two by two."""
    lowest = -jnp.inf
    return lax.reduce_window(x, lowest, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def mlp(x: Array, *weights: Array) -> Array:
    """Layers with biases and relu between them."""
    for number in range(0, len(weights), 2):
        x = x @ weights[number] + weights[number + 1]
        x = jax.nn.relu(x) if number + 2 < len(weights) else x
    return x


def _mlp_3(x: Array, a: Array, b: Array, c: Array, d: Array, e: Array, f: Array) -> Array:
    return mlp(x, a, b, c, d, e, f)


def _lenet(x: Array, a: Array, b: Array, c: Array, d: Array) -> Array:
    x = pool(jax.nn.relu(convolve(x, a)))
    x = pool(jax.nn.relu(convolve(x, b)))
    return jax.nn.relu(x.reshape(x.shape[0], -1) @ c) @ d


def _residual(
    x: Array, a: Array, b: Array, mean: Array, variance: Array, w: Array, s: Array
) -> Array:
    hidden = jax.nn.relu(batch_norm(convolve(x, a), mean, variance, w, s))
    return jax.nn.relu(x + batch_norm(convolve(hidden, b), mean, variance, w, s))


def _residual_down(x: Array, a: Array, b: Array, skip: Array) -> Array:
    return jax.nn.relu(convolve(jax.nn.relu(convolve(x, a, 2)), b) + convolve(x, skip, 2))


def _inverted(x: Array, up: Array, deep: Array, down: Array) -> Array:
    hidden = jax.nn.relu6(convolve(x, up))
    hidden = jax.nn.relu6(convolve(hidden, deep, groups=hidden.shape[-1]))
    return x + convolve(hidden, down)


def _convnext(x: Array, deep: Array, w: Array, b: Array, up: Array, down: Array) -> Array:
    hidden = layer_norm(convolve(x, deep, groups=x.shape[-1]), w, b)
    return x + jax.nn.gelu(hidden @ up) @ down


def _unet(x: Array, a: Array, b: Array, c: Array, d: Array) -> Array:
    first = jax.nn.silu(convolve(x, a))
    below = jax.nn.silu(convolve(pool(first), b))
    above = jax.image.resize(below, (*first.shape[:3], below.shape[3]), "nearest")
    return convolve(jax.nn.silu(convolve(jnp.concatenate([first, above], -1), c)), d)


def _diffusion(x: Array, t: Array, a: Array, b: Array, w: Array, s: Array) -> Array:
    hidden = jax.nn.silu(group_norm(convolve(x, a), w, s, 4))
    return x + convolve(hidden + (jax.nn.silu(t) @ b)[:, None, None], jnp.swapaxes(a, 2, 3))


def _encoder(x: Array, w: Array, b: Array, qkv: Array, out: Array, up: Array, down: Array) -> Array:
    x = x + attend_to_itself(layer_norm(x, w, b), qkv, out)
    return x + jax.nn.gelu(layer_norm(x, w, b) @ up) @ down


def _post_norm(
    x: Array, w: Array, b: Array, qkv: Array, out: Array, up: Array, down: Array
) -> Array:
    x = layer_norm(x + attend_to_itself(x, qkv, out), w, b)
    return layer_norm(x + jax.nn.relu(x @ up) @ down, w, b)


def _llama(
    x: Array, w: Array, qkv: Array, out: Array, gate: Array, up: Array, down: Array
) -> Array:
    x = x + attend_to_itself(rms_norm(x, w), qkv, out)
    hidden = rms_norm(x, w)
    return x + (jax.nn.silu(hidden @ gate) * (hidden @ up)) @ down


def _gpt(
    tokens: Array, table: Array, places: Array, w: Array, b: Array, qkv: Array, out: Array
) -> Array:
    x = table[tokens] + places[: tokens.shape[1]]
    x = x + attend_to_itself(layer_norm(x, w, b), qkv, out)
    return layer_norm(x, w, b) @ table.T


def _vit(x: Array, patch: Array, places: Array, qkv: Array, out: Array, head: Array) -> Array:
    size = patch.shape[0]
    x = lax.conv_general_dilated(
        x, patch, (size, size), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    x = x.reshape(x.shape[0], -1, x.shape[3]) + places
    return (x + attend_to_itself(x, qkv, out)).mean(1) @ head


def _mixer(
    x: Array, w: Array, b: Array, up: Array, down: Array, wide: Array, narrow: Array
) -> Array:
    hidden = jnp.swapaxes(layer_norm(x, w, b), 1, 2)
    x = x + jnp.swapaxes(jax.nn.gelu(hidden @ up) @ down, 1, 2)
    return x + jax.nn.gelu(layer_norm(x, w, b) @ wide) @ narrow


def _autoencoder(
    x: Array, a: Array, b: Array, noise: Array, c: Array, d: Array
) -> tuple[Array, Array]:
    mean, spread = jnp.split(jax.nn.relu(x @ a) @ b, 2, axis=-1)
    sample = mean + jnp.exp(0.5 * spread) * noise
    loss = -0.5 * jnp.sum(1 + spread - mean**2 - jnp.exp(spread))
    return jax.nn.sigmoid(jax.nn.relu(sample @ c) @ d), loss


def _graph(x: Array, edges: Array, a: Array, b: Array) -> Array:
    """Two layers of a graph network; `edges` has a row of sources and one of targets."""
    for w in (a, b):
        received = jax.ops.segment_sum((x @ w)[edges[0]], edges[1], x.shape[0])
        x = jax.nn.relu(received)
    return x


def _ranker(users: Array, items: Array, a: Array, b: Array, w: Array, v: Array) -> Array:
    return jax.nn.sigmoid(jax.nn.relu(jnp.concatenate([a[users], b[items]], -1) @ w) @ v)[:, 0]


def _generate(token: Array, table: Array, w: Array, u: Array) -> Array:
    """Five steps of a recurrent language model, each with its likeliest token."""

    def step(state: tuple[Array, Array], _: None) -> tuple[tuple[Array, Array], Array]:
        token, h = state
        h = jnp.tanh(table[token] @ w + h @ u)
        token = jnp.argmax(h @ table.T, axis=-1).astype(jnp.int32)
        return (token, h), token

    start = token, jnp.zeros((token.shape[0], u.shape[0]))
    return lax.scan(step, start, None, length=5)[1]


def _add() -> None:
    add = FAMILY.add
    for dtype in ("f32", "bf16"):
        add(
            "mlp",
            _mlp_3,
            f"{dtype} 33x64",
            f"{dtype} 64x128",
            f"{dtype} 128",
            f"{dtype} 128x128",
            f"{dtype} 128",
            f"{dtype} 128x10",
            f"{dtype} 10",
        )
        add(
            "lenet",
            _lenet,
            f"{dtype} 2x28x28x1",
            f"{dtype} 5x5x1x6",
            f"{dtype} 5x5x6x16",
            f"{dtype} 784x84",
            f"{dtype} 84x10",
        )
        block = [f"{dtype} 64", f"{dtype} 64", f"{dtype} 64x192", f"{dtype} 64x64"]
        add("encoder", _encoder, f"{dtype} 1x33x64", *block, f"{dtype} 64x256", f"{dtype} 256x64")
    norm = ["bf16 16", "bf16 16 in 0.5 2", "bf16 16", "bf16 16"]
    add("resnet_block", _residual, "bf16 1x16x16x16", "bf16 3x3x16x16", "bf16 3x3x16x16", *norm)
    add(
        "resnet_block",
        _residual_down,
        "bf16 1x16x16x16",
        "bf16 3x3x16x32",
        "bf16 3x3x32x32",
        "bf16 1x1x16x32",
        variant="down",
    )
    add(
        "mobilenet_block",
        _inverted,
        "bf16 1x16x16x8",
        "bf16 1x1x8x32",
        "bf16 3x3x1x32",
        "bf16 1x1x32x8",
    )
    add(
        "convnext_block",
        _convnext,
        "f32 1x8x8x32",
        "f32 7x7x1x32",
        "f32 32",
        "f32 32",
        "f32 32x128",
        "f32 128x32",
    )
    add(
        "unet",
        _unet,
        "bf16 1x16x16x4",
        "bf16 3x3x4x8",
        "bf16 3x3x8x16",
        "bf16 3x3x24x8",
        "bf16 3x3x8x4",
    )
    add(
        "diffusion_block",
        _diffusion,
        "f32 1x8x8x16",
        "f32 1x32",
        "f32 3x3x16x16",
        "f32 32x16",
        "f32 16",
        "f32 16",
    )
    block = ["f32 64", "f32 64", "f32 64x192", "f32 64x64", "f32 64x128", "f32 128x64"]
    add("post_norm_block", _post_norm, "f32 1x33x64", *block)
    block = ["bf16 64", "bf16 64x192", "bf16 64x64", "bf16 64x128", "bf16 64x128", "bf16 128x64"]
    add("llama_block", _llama, "bf16 1x32x64", *block)
    add(
        "gpt",
        _gpt,
        "i32 1x33 in 0 100",
        "f32 100x64",
        "f32 64x64",
        "f32 64",
        "f32 64",
        "f32 64x192",
        "f32 64x64",
    )
    add(
        "gpt",
        _gpt,
        "i32 2x32 in 0 256",
        "bf16 256x64",
        "bf16 64x64",
        "bf16 64",
        "bf16 64",
        "bf16 64x192",
        "bf16 64x64",
        variant="bf16",
    )
    add(
        "vit",
        _vit,
        "bf16 1x32x32x3",
        "bf16 8x8x3x64",
        "bf16 16x64",
        "bf16 64x192",
        "bf16 64x64",
        "bf16 64x10",
    )
    add(
        "mixer_block",
        _mixer,
        "f32 2x16x32",
        "f32 32",
        "f32 32",
        "f32 16x64",
        "f32 64x16",
        "f32 32x64",
        "f32 64x32",
    )
    add(
        "autoencoder",
        _autoencoder,
        "f32 5x70",
        "f32 70x32",
        "f32 32x16",
        "f32 5x8",
        "f32 8x32",
        "f32 32x70",
    )
    add("graph", _graph, "f32 9x7", "i32 2x33 in 0 9", "f32 7x16", "f32 16x5")
    add(
        "ranker",
        _ranker,
        "i32 33 in 0 100",
        "i32 33 in 0 50",
        "f32 100x16",
        "f32 50x16",
        "f32 32x16",
        "f32 16x1",
    )
    add("generator", _generate, "i32 2 in 0 33", "f32 33x16", "f32 16x16", "f32 16x16")


_add()
PROGRAMS = FAMILY.programs

"""Attention: masks, groups of queries, caches, positions, windows, encoder and decoder."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from corpus.layers import rms_norm, rotate
from corpus.program import Family

FAMILY = Family()


def attend(q: Array, k: Array, v: Array, mask: Array | None = None) -> Array:
    """Attention of `batch, heads, positions, features`; the mask is true where to look."""
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) * (q.shape[-1] ** -0.5)
    if mask is not None:
        scores = jnp.where(mask, scores, jnp.finfo(scores.dtype).min)
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, axis=-1), v)


def causal(q: Array, k: Array, v: Array) -> Array:
    """Attention to positions that are not later."""
    size = q.shape[2]
    return attend(q, k, v, jnp.tril(jnp.ones((size, size), bool)))


def split_heads(x: Array, heads: int) -> Array:
    """`batch, positions, features` to `batch, heads, positions, features`."""
    return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)


def join_heads(x: Array) -> Array:
    """The inverse of `split_heads`."""
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


def attend_to_itself(x: Array, qkv: Array, out: Array, heads: int = 4) -> Array:
    """Causal attention of a sequence to itself, with one product for queries, keys and values."""
    q, k, v = (split_heads(part, heads) for part in jnp.split(x @ qkv, 3, axis=-1))
    return join_heads(causal(q, k, v)) @ out


def _grouped(q: Array, k: Array, v: Array) -> Array:
    count = q.shape[1] // k.shape[1]
    return causal(q, jnp.repeat(k, count, axis=1), jnp.repeat(v, count, axis=1))


def _grouped_without_copies(q: Array, k: Array, v: Array) -> Array:
    batch, heads, positions, features = q.shape
    grouped = q.reshape(batch, k.shape[1], heads // k.shape[1], positions, features)
    scores = jnp.einsum("bgnqd,bgkd->bgnqk", grouped, k) * (features**-0.5)
    weights = jax.nn.softmax(scores.astype(jnp.float32), axis=-1).astype(q.dtype)
    return jnp.einsum("bgnqk,bgkd->bgnqd", weights, v).reshape(q.shape)


def _decode(
    q: Array, k: Array, v: Array, new_k: Array, new_v: Array, position: Array
) -> tuple[Array, Array, Array]:
    """A step of generation: the caches take a position, and all until it are looked at."""
    k = lax.dynamic_update_slice_in_dim(k, new_k, position, 2)
    v = lax.dynamic_update_slice_in_dim(v, new_v, position, 2)
    mask = jnp.arange(k.shape[2]) <= position
    return attend(q, k, v, mask), k, v


def _cross(x: Array, y: Array, q: Array, kv: Array, out: Array) -> Array:
    keys, values = jnp.split(y @ kv, 2, axis=-1)
    mixed = attend(split_heads(x @ q, 4), split_heads(keys, 4), split_heads(values, 4))
    return join_heads(mixed) @ out


def _windowed(q: Array, k: Array, v: Array) -> Array:
    far = jnp.arange(q.shape[2])[:, None] - jnp.arange(k.shape[2])[None, :]
    return attend(q, k, v, (far >= 0) & (far < 8))


def _linear(q: Array, k: Array, v: Array) -> Array:
    q, k = jax.nn.elu(q) + 1, jax.nn.elu(k) + 1
    context = jnp.einsum("bhkd,bhke->bhde", k, v)
    return jnp.einsum("bhqd,bhde->bhqe", q, context) / (q @ k.sum(2)[..., None])


def _add() -> None:
    add = FAMILY.add
    for dtype in ("f32", "bf16"):
        add("attention", attend, *[f"{dtype} 2x4x33x16"] * 3)
        add("attention", causal, *[f"{dtype} 1x4x32x64"] * 3, variant="causal")
        add(
            "attention_block",
            attend_to_itself,
            f"{dtype} 1x33x64",
            f"{dtype} 64x192",
            f"{dtype} 64x64",
        )
    add("attention", attend, *["f32 2x4x33x16"] * 3, "i1 2x1x33x33", variant="masked")
    add(
        "attention",
        lambda q, k, v, m: attend(q, k, v, m[:, None, None, :]),
        *["bf16 2x4x33x16"] * 3,
        "i1 2x33",
        variant="padding",
    )
    add(
        "attention",
        lambda q, k, v, b: _biased(q, k, v, b),
        *["f32 1x4x31x16"] * 3,
        "f32 1x4x31x31",
        variant="bias",
    )
    add("attention", attend, "bf16 1x4x7x32", "bf16 1x4x65x32", "bf16 1x4x65x32", variant="cross")
    add(
        "attention",
        _grouped,
        "bf16 1x8x32x32",
        "bf16 1x2x32x32",
        "bf16 1x2x32x32",
        variant="grouped",
    )
    add(
        "attention",
        _grouped_without_copies,
        "bf16 1x8x33x32",
        "bf16 1x2x33x32",
        "bf16 1x2x33x32",
        variant="grouped_einsum",
    )
    add(
        "attention",
        _grouped,
        "f32 1x4x33x16",
        "f32 1x1x33x16",
        "f32 1x1x33x16",
        variant="multi_query",
    )
    add("attention", _windowed, *["f32 1x4x33x16"] * 3, variant="window")
    add("attention", _linear, *["f32 1x4x33x16"] * 3, variant="linear")
    add(
        "attention",
        lambda q, k, v: causal(rotate(q), rotate(k), v),
        *["bf16 1x4x32x32"] * 3,
        variant="rope",
    )
    add(
        "attention",
        lambda q, k, v, w: causal(rms_norm(q, w), rms_norm(k, w), v),
        *["bf16 1x4x32x32"] * 3,
        "bf16 32",
        variant="query_key_norm",
    )
    add(
        "attention",
        lambda q, k, v: jax.nn.dot_product_attention(q, k, v),
        *["f32 2x33x4x16"] * 3,
        variant="jax",
    )
    add(
        "attention",
        lambda q, k, v: jax.nn.dot_product_attention(q, k, v, is_causal=True),
        "bf16 1x32x8x32",
        "bf16 1x32x2x32",
        "bf16 1x32x2x32",
        variant="jax_causal_grouped",
    )
    for dtype in ("f32", "bf16"):
        add(
            "attention_decode",
            _decode,
            f"{dtype} 1x4x1x32",
            *[f"{dtype} 1x4x64x32"] * 2,
            *[f"{dtype} 1x4x1x32"] * 2,
            "i32 scalar in 0 63",
        )
    add(
        "attention_cross",
        _cross,
        "f32 1x9x64",
        "f32 1x33x64",
        "f32 64x64",
        "f32 64x128",
        "f32 64x64",
    )
    add(
        "attention_gradient",
        jax.grad(lambda q, k, v: jnp.sum(causal(q, k, v) ** 2), (0, 1, 2)),
        *["f32 1x2x9x16"] * 3,
    )
    add(
        "attention_prefill",
        lambda k, n: lax.dynamic_update_slice(k, n, (0, 0, 0, 0)),
        "bf16 1x4x64x32",
        "bf16 1x4x33x32",
        donated=(0,),
    )
    add(
        "attention_mask",
        lambda n: jnp.where(jnp.tril(jnp.ones((33, 33), bool)), 0.0, -np.inf)[None] * n,
        "f32 scalar in 1 2",
    )


def _biased(q: Array, k: Array, v: Array, bias: Array) -> Array:
    scores = q @ jnp.swapaxes(k, 2, 3) / np.sqrt(q.shape[-1]) + bias
    return jax.nn.softmax(scores, axis=-1) @ v


_add()
PROGRAMS = FAMILY.programs

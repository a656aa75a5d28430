"""Reductions of every kind, windows, cumulative operations, choices of the greatest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from corpus.program import Family

FAMILY = Family()

REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum": jnp.sum,
    "max": jnp.max,
    "min": jnp.min,
    "prod": jnp.prod,
    "mean": jnp.mean,
}


def _reduce() -> None:
    add = FAMILY.add
    for name, function in REDUCTIONS.items():
        for dtype in ("f32", "bf16"):
            add(name, lambda x, f=function: f(x, axis=1), f"{dtype} 33x70")
            add(name, lambda x, f=function: f(x, axis=0), f"{dtype} 31x65", variant="axis_0")
        add(name, lambda x, f=function: f(x), "f32 5x7", variant="all")
        add(
            name,
            lambda x, f=function: f(x, axis=(2, 3), keepdims=True),
            "bf16 2x3x5x33",
            variant="image",
        )
    for dtype in ("i32", "u32", "i8", "i64", "f16", "f64"):
        add("sum", lambda x: lax.reduce(x, jnp.array(0, x.dtype), lax.add, (1,)), f"{dtype} 33x70")
        add("max", lambda x: jnp.max(x, axis=1), f"{dtype} 33x70")
    add("min", lambda x: jnp.min(x, axis=1), "i32 5x33")
    add("prod", lambda x: jnp.prod(x, axis=1), "i32 5x7 in 1 3")
    add("sum", lambda x: jnp.sum(x, axis=(0, 2)), "f32 3x5x7", variant="axes_0_2")
    add("sum", lambda x: jnp.sum(x, axis=-2, keepdims=True), "f32 2x3x31x33", variant="keep")
    add("sum", lambda x: jnp.sum(x), "bf16 scalar", variant="all")
    add("sum", lambda x: jnp.sum(x, axis=(1, 3)), "f32 2x1x3x5x7", variant="axes_1_3")
    for dtype in ("i1", "i32"):
        add("any", lambda x: jnp.any(x, axis=1), f"{dtype} 5x33")
        add("all", lambda x: jnp.all(x, axis=0), f"{dtype} 5x33")
    add("all", lambda x: jnp.all(x), "i1 31x65", variant="all")
    add("reduce_and", lambda x: lax.reduce_and(x, (1,)), "i32 5x7")
    add("reduce_or", lambda x: lax.reduce_or(x, (1,)), "u8 5x7")
    add("reduce_xor", lambda x: lax.reduce_xor(x, (0,)), "i32 5x7")
    for dtype in ("f32", "bf16", "i32"):
        add("argmax", lambda x: jnp.argmax(x, axis=1), f"{dtype} 5x33 distinct")
        add("argmin", lambda x: jnp.argmin(x, axis=0), f"{dtype} 33x5 distinct")
    add("argmax", lambda x: jnp.argmax(x), "f32 5x7 distinct", variant="flat")
    add(
        "argmax",
        lambda x: jnp.argmax(x, axis=-1, keepdims=True),
        "bf16 2x3x33 distinct",
        variant="keep",
    )
    add("max_and_argmax", lambda x: (jnp.max(x, 1), jnp.argmax(x, 1)), "f32 5x33 distinct")
    add("variance", lambda x: jnp.var(x, axis=-1), "f32 33x70")
    add("std", lambda x: jnp.std(x, axis=0), "bf16 33x70")
    add("logsumexp", lambda x: jax.nn.logsumexp(x, axis=-1), "f32 31x65")
    add("norm", lambda x: jnp.linalg.norm(x), "f32 5x7")
    add("norm", lambda x: jnp.linalg.norm(x, axis=1), "bf16 33x70", variant="rows")
    add("count_nonzero", lambda x: jnp.count_nonzero(x, axis=1), "i32 5x33")
    add("trace", jnp.trace, "f32 33x33")
    add(
        "reduce_two",
        lambda x, y: lax.reduce(
            (x, y),
            (jnp.float32(0), jnp.float32(1)),
            lambda a, b: (a[0] + b[0], a[1] * b[1]),
            (1,),
        ),
        "f32 5x7",
        "f32 5x7",
    )
    for name in ("softmax", "log_softmax"):
        function = {"softmax": jax.nn.softmax, "log_softmax": jax.nn.log_softmax}[name]
        for dtype in ("f32", "bf16"):
            add(name, lambda x, f=function: f(x, axis=-1), f"{dtype} 33x70")
        add(name, lambda x, f=function: f(x, axis=1), "f32 2x33x5", variant="axis_1")
    add("softmax", lambda x: jax.nn.softmax(x, axis=-1), "bf16 2x4x33x33", variant="rank_4")
    add(
        "softmax",
        lambda x, m: jax.nn.softmax(x, axis=-1, where=m),
        "f32 33x70",
        "i1 33x70",
        variant="where",
    )


def _windows() -> None:
    add = FAMILY.add
    for dtype in ("f32", "bf16"):
        add("max_pool", lambda x: _pool(x, lax.max, -jnp.inf, 2, 2), f"{dtype} 1x32x32x8")
        add("sum_pool", lambda x: _pool(x, lax.add, 0.0, 2, 2), f"{dtype} 1x32x32x8")
        add("avg_pool", lambda x: _pool(x, lax.add, 0.0, 2, 2) / 4, f"{dtype} 1x32x32x8")
    add(
        "max_pool",
        lambda x: _pool(x, lax.max, -jnp.inf, 3, 2, "SAME"),
        "bf16 2x31x33x5",
        variant="same",
    )
    add("max_pool", lambda x: _pool(x, lax.max, -jnp.inf, 3, 1), "f32 1x9x11x4", variant="stride_1")
    add("min_pool", lambda x: _pool(x, lax.min, jnp.inf, 2, 2), "f32 1x8x10x4")
    add(
        "avg_pool",
        lambda x: _pool(x, lax.add, 0.0, 3, 2, "SAME") / 9,
        "bf16 2x31x33x5",
        variant="same",
    )
    add(
        "max_pool",
        lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 3), (1, 1, 2, 3), "VALID"),
        "bf16 1x4x32x33",
        variant="channels_first",
    )
    add(
        "max_pool",
        lambda x: lax.reduce_window(
            x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 1, 1, 1), "VALID", window_dilation=(1, 2, 2, 1)
        ),
        "f32 1x16x16x4",
        variant="dilated",
    )
    add(
        "max_pool",
        lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 1), (1, 2, 1), "SAME"),
        "f32 2x33x5",
        variant="rank_3",
    )
    add("global_avg_pool", lambda x: jnp.mean(x, axis=(1, 2)), "bf16 2x7x7x64")
    add("adaptive_avg_pool", lambda x: x.reshape(1, 4, 2, 4, 2, 8).mean((2, 4)), "f32 1x8x8x8")
    add(
        "max_pool_gradient",
        jax.grad(lambda x: jnp.sum(_pool(x, lax.max, -jnp.inf, 2, 2) ** 2)),
        "f32 1x8x10x4",
    )
    for name, function in {
        "cumsum": lax.cumsum,
        "cumprod": lax.cumprod,
        "cummax": lax.cummax,
        "cummin": lax.cummin,
        "cumlogsumexp": lax.cumlogsumexp,
    }.items():
        add(name, lambda x, f=function: f(x, axis=1), "f32 5x33")
    add("cumsum", lambda x: jnp.cumsum(x, axis=0), "bf16 33x70", variant="axis_0")
    add("cumsum", lambda x: jnp.cumsum(x, axis=-1), "i32 31x65")
    add("cumsum", lambda x: lax.cumsum(x, axis=1, reverse=True), "f32 5x33", variant="reverse")
    add("cumsum", lambda x: jnp.cumsum(x, axis=2), "bf16 2x3x33x5", variant="rank_4")
    add("diff", lambda x: jnp.diff(x, axis=1), "f32 5x33")
    add("moving_average", lambda x: jnp.convolve(x, jnp.ones(5) / 5, mode="valid"), "f32 70")


def _pool(
    x: Array,
    function: Callable[..., Any],
    start: float,
    size: int,
    stride: int,
    padding: str = "VALID",
) -> Array:
    """A window over the middle dimensions of images with the channels last."""
    window, strides = (1, size, size, 1), (1, stride, stride, 1)
    return lax.reduce_window(x, np.array(start, x.dtype), function, window, strides, padding)


_reduce()
_windows()
PROGRAMS = FAMILY.programs

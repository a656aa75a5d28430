"""Functions of tensors without elements, as arguments and as constants, against JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import ttmlir


def some(*shape: int, dtype: Any = np.float32) -> Any:
    """Numbers that differ, in steps of a half; nothing if an extent is 0."""
    return ((np.arange(int(np.prod(shape))) - 3) / 2).reshape(shape).astype(dtype)


def ints(*shape: int) -> Any:
    """The numbers from 0 on."""
    return np.arange(int(np.prod(shape)), dtype=np.int32).reshape(shape)


def conv(**options: Any) -> Callable[..., Any]:
    """A convolution of an image (batch, features, height, width)."""
    choices = {"window_strides": (1, 1), "padding": "VALID", **options}
    return lambda image, weight: lax.conv_general_dilated(image, weight, **choices)


def pool(init: Any, combine: Any, padding: Any = "VALID") -> Callable[..., Any]:
    """A pooling of an image (batch, height, width, features) by windows of 3 by 2."""
    return lambda x: lax.reduce_window(x, init, combine, (1, 3, 2, 1), (1, 2, 1, 1), padding)


def total(function: Callable[..., Any]) -> Callable[..., Any]:
    """The sum of what a function gives."""
    return lambda *arguments: function(*arguments).sum()


PAD = ((0, 0), (1, 2), (1, 1), (0, 0))
CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    **{
        f.__name__: (f, (some(0, 3),))
        for f in (jnp.exp, jnp.cbrt, jnp.isfinite, lax.lgamma, lax.digamma, jnp.sort, jnp.tril)
    },
    **{f.__name__: (f, (some(2, 0), some(2, 0))) for f in (jnp.power, jnp.less, lax.nextafter)},
    "left_shift": (jnp.left_shift, (ints(0), ints(0))),
    "sum of nothing": (lambda x: (x.sum(0), x.sum(1), x.sum()), (some(0, 3),)),
    "product of nothing": (lambda x: x.prod(0), (some(0, 3),)),
    "truth of nothing": (lambda x: ((x > 0).any(0), (x > 0).all(0)), (some(0, 3),)),
    "maximum of nothing": (lambda x: x.max(0, initial=-jnp.inf), (some(0, 3),)),
    "mean of nothing": (lambda x: x.mean(0), (some(0, 3),)),
    "largest": (lambda x: x.argmax(1), (some(0, 3),)),
    "running": (lambda x: (jnp.cumsum(x, 0), jnp.cumsum(x, 1), lax.cummax(x, 0)), (some(0, 3),)),
    "softmax": (lambda x: (jax.nn.softmax(x, 1), jax.nn.softmax(x, 0)), (some(3, 0),)),
    "no rows": (jnp.matmul, (some(0, 3), some(3, 2))),
    "no terms": (jnp.matmul, (some(2, 0), some(0, 2))),
    "no columns": (jnp.matmul, (some(2, 3), some(3, 0))),
    "no batches": (jnp.matmul, (some(0, 2, 3), some(0, 3, 2))),
    "no terms of integers": (jnp.matmul, (ints(2, 0), ints(0, 2))),
    "moves": (lambda x: (x.reshape(3, 0, 2), x.T, x[::-1], x[:, ::2]), (some(0, 3),)),
    "repeated": (lambda x: (jnp.broadcast_to(x, (0, 3)), jnp.tile(x, (0, 2))), (some(1, 3),)),
    "joined": (lambda x, y: jnp.concatenate([x, y]), (some(0, 3), some(2, 3))),
    "padded": (lambda x: jnp.pad(x, ((1, 2), (0, 0))), (some(0, 3),)),
    "padded inside": (
        lambda x: lax.pad(x, np.float32(0.5), ((1, 1, 1), (0, 0, 2))),
        (some(0, 3),),
    ),
    "cut off": (lambda x: lax.pad(x, np.float32(0.5), ((-1, -1, 0),)), (some(2),)),
    "no part": (lambda x: x[1:1], (some(3, 2),)),
    "no places": (lambda x, i: (x[i], x.at[i].set(0), x.at[i].add(1)), (some(4, 3), ints(0))),
    "places of nothing": (lambda x, i: x[:, i], (some(0, 3), ints(2))),
    "dropped": (lambda x, i, u: x.at[i].add(u), (some(0, 3), ints(2), some(2, 3))),
    "no part at a place": (
        lambda x, i: (lax.dynamic_slice(x, (i, 0), (0, 2)), x[:, :0][i]),
        (some(4, 3), np.int32(1)),
    ),
    "part put in": (
        lambda x, u, i: lax.dynamic_update_slice(x, u, (i, 0)),
        (some(4, 3), some(0, 3), np.int32(1)),
    ),
    "sorted": (lambda x: (jnp.argsort(x, 0), lax.top_k(x, 2), jnp.median(x, 1)), (some(0, 3),)),
    "searched": (jnp.searchsorted, (some(0), some(3))),
    "searched for nothing": (jnp.searchsorted, (some(3), some(0))),
    "other types": (
        lambda x: (x.astype(jnp.int32), lax.bitcast_convert_type(x, jnp.int32)),
        (some(0, 3),),
    ),
    "bytes": (lambda x: lax.bitcast_convert_type(x, jnp.uint8), (some(0, 3),)),
    "convolution, no position": (conv(), (some(1, 1, 2, 2), some(1, 1, 3, 3))),
    "convolution, far from one": (conv(), (some(1, 1, 1, 2), some(1, 1, 4, 3))),
    "convolution, no position, dilated": (
        conv(rhs_dilation=(2, 2)),
        (some(1, 1, 4, 4), some(1, 1, 3, 3)),
    ),
    "convolution, no image": (conv(), (some(0, 1, 4, 4), some(1, 1, 3, 3))),
    "convolution, no filter": (conv(), (some(1, 1, 4, 4), some(0, 1, 3, 3))),
    "convolution, no features": (conv(padding="SAME"), (some(1, 0, 4, 4), some(2, 0, 3, 3))),
    "convolution of padding": (
        conv(padding=((1, 1), (1, 1))),
        (some(1, 1, 0, 4), some(1, 1, 1, 1)),
    ),
    "convolution, groups": (
        conv(feature_group_count=2),
        (some(0, 2, 3, 4), some(2, 1, 2, 2)),
    ),
    "convolution, transposed": (
        lambda x, w: lax.conv_transpose(x, w, (2, 3), "VALID"),
        (some(1, 3, 4, 0), some(3, 2, 0, 5)),
    ),
    "convolution of lines": (
        conv(window_strides=(2,)),
        (some(2, 3, 1), some(4, 3, 2)),
    ),
    "gradient of a convolution": (
        jax.grad(total(conv()), (0, 1)),
        (some(1, 1, 2, 2), some(1, 1, 3, 3)),
    ),
    "maxima, no position": (pool(-jnp.inf, lax.max), (some(2, 2, 5, 3),)),
    "maxima, no image": (pool(-jnp.inf, lax.max, "SAME"), (some(0, 7, 5, 3),)),
    "maxima of padding": (pool(-jnp.inf, lax.max, PAD), (some(2, 0, 5, 3),)),
    "sums, no position": (pool(0.0, lax.add), (some(2, 2, 5, 3),)),
    "sums of padding": (pool(0.0, lax.add, PAD), (some(2, 0, 5, 3),)),
    "sums of integers": (pool(np.int32(0), lax.add), (ints(2, 2, 5, 3),)),
    "gradient of maxima": (jax.grad(total(pool(-jnp.inf, lax.max))), (some(2, 2, 5, 3),)),
    "scan": (
        lambda xs: lax.scan(lambda c, x: (c + x, c * x), jnp.zeros(2), xs),
        (some(0, 2),),
    ),
    "loop": (lambda x: lax.while_loop(lambda c: c.sum() > 1, lambda c: c * 2, x), (some(0),)),
    "no matrices": (jnp.linalg.cholesky, (some(0, 2, 2),)),
    "matrices of nothing": (lambda a: (jnp.linalg.cholesky(a), jnp.linalg.inv(a)), (some(0, 0),)),
    "eigenvalues of nothing": (jnp.linalg.eigvals, (some(0, 0),)),
    "no right hand side": (jnp.linalg.solve, (np.eye(2, dtype=np.float32), some(2, 0))),
    "complex": (lambda x: jnp.abs(jnp.fft.fft(x)), (some(0, 4),)),
    "random": (lambda s: jax.random.normal(jax.random.key(s), (0, 3)), (np.uint32(1),)),
    "attention": (
        lambda q: jax.nn.softmax(q @ q.transpose(0, 2, 1)) @ q,
        (some(2, 0, 3),),
    ),
    "one-hot": (lambda i: jax.nn.one_hot(i, 0), (ints(2),)),
}


@pytest.mark.parametrize("constant", [False, True], ids=["arguments", "constants"])
@pytest.mark.parametrize("name", CASES)
def test_as_in_jax(name: str, constant: bool) -> None:
    """Shapes, types and numbers."""
    function, arguments = CASES[name]
    expected = jax.tree.leaves(jax.jit(function)(*arguments))
    if constant:
        values, arguments = tuple(map(jnp.asarray, arguments)), ()
        compiled = ttmlir.compile(lambda: function(*values))
    else:
        compiled = ttmlir.compile(function, *arguments)
    for found, value in zip(jax.tree.leaves(compiled(*arguments)), expected, strict=True):
        assert (found.shape, found.dtype) == (value.shape, value.dtype)
        np.testing.assert_allclose(found, value, rtol=1e-4, atol=1e-5)


def test_products_without_terms_of_2026() -> None:
    """They have no tiles that cores could share."""
    none, x = jnp.zeros((0, 3)), jnp.ones((4, 3))

    def multiply(none: Any, x: Any) -> Any:
        return none @ x.T, x[:, :0] @ none

    found = ttmlir.compile(multiply, none, x, spelling="2026")(none, x)
    for result, expected in zip(found, multiply(none, x), strict=True):
        np.testing.assert_array_equal(result, expected)

"""Programs as people write them in JAX: functions with example arguments, and their gradients.

`CORPUS` maps a name to a function that makes the program; `lowered(name)` is JAX's lowering of it.
The numbers are small and asymmetric, so that a swapped axis shows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

Program = tuple[Callable[..., Any], tuple[Any, ...]]
CORPUS: dict[str, Callable[[], Program]] = {}


def program(make: Callable[[], Program]) -> Callable[[], Program]:
    """Enter a program in the corpus under the name of its maker."""
    CORPUS[make.__name__.strip("_")] = make
    return make


def gradient(make: Callable[[], Program]) -> Callable[[], Program]:
    """Enter a program and the gradient of the sum of its squares by all arguments."""

    def graded() -> Program:
        function, arguments = make()

        def loss(*values: Any) -> Any:
            leaves = jax.tree.leaves(function(*values))
            return sum(jnp.sum(leaf * leaf) for leaf in leaves)

        numbers = tuple(range(len(arguments)))
        return jax.grad(loss, argnums=numbers), arguments

    CORPUS[f"{make.__name__.strip('_')}_grad"] = graded
    return program(make)


def values(*shape: int, seed: int = 0, dtype: Any = np.float32) -> Any:
    """Numbers between -2 and 2, or small whole numbers, that do not repeat."""
    generator = np.random.default_rng([seed, *shape])
    if np.issubdtype(dtype, np.integer):
        return generator.integers(0, 5, shape).astype(dtype)
    return (generator.random(shape) * 4 - 2).astype(dtype)


@cache
def lowered(name: str) -> Any:
    """JAX's lowering of a program to StableHLO."""
    function, arguments = CORPUS[name]()
    return jax.jit(function).lower(*arguments)


@gradient
def _mlp() -> Program:
    def f(x, w1, b1, w2):
        return jnp.tanh(x @ w1 + b1) @ w2

    return f, (values(3, 5), values(5, 7), values(7), values(7, 2))


@gradient
def _softmax_cross_entropy() -> Program:
    labels = np.array([1, 0, 3])

    def f(x):
        return -jnp.sum(jax.nn.one_hot(labels, 4) * jax.nn.log_softmax(x), axis=-1)

    return f, (values(3, 4),)


@gradient
def _activations() -> Program:
    def f(x):
        functions = (
            *(jax.nn.relu, jax.nn.gelu, jax.nn.silu, jax.nn.sigmoid, jax.nn.softplus),
            *(jax.nn.elu, jax.nn.leaky_relu, jax.nn.hard_swish, jax.nn.selu, jax.nn.relu6),
        )
        return [function(x) for function in functions]

    return f, (values(3, 5),)


@program
def _elementwise_floats() -> Program:
    def f(x, y):
        unary = (
            *(jnp.abs, jnp.ceil, jnp.floor, jnp.round, jnp.sign, jnp.exp, jnp.expm1, jnp.log),
            *(jnp.log1p, jnp.sqrt, lax.rsqrt, jnp.cbrt, jnp.sin, jnp.cos, jnp.tan, jnp.tanh),
            *(jnp.isfinite, jnp.isnan, jnp.arcsin, jnp.arccos, jnp.arctan, jnp.sinh, jnp.cosh),
            *(jnp.arcsinh, jnp.square, jnp.reciprocal, lax.erf, lax.erfc, lax.erf_inv),
            *(lax.lgamma, lax.digamma, jnp.trunc),
        )
        binary = (
            *(jnp.add, jnp.subtract, jnp.multiply, jnp.divide, jnp.maximum, jnp.minimum),
            *(jnp.power, jnp.remainder, jnp.arctan2, jnp.hypot, jnp.copysign, lax.nextafter),
            *(jnp.less, jnp.equal, jnp.greater_equal, jnp.not_equal, jnp.floor_divide),
        )
        return [g(x) for g in unary], [g(x, y) for g in binary]

    return f, (values(3, 5), values(3, 5, seed=1))


@program
def _elementwise_integers() -> Program:
    def f(x, y, u):
        binary = (
            *(jnp.add, jnp.multiply, jnp.maximum, jnp.bitwise_and, jnp.bitwise_or),
            *(jnp.bitwise_xor, jnp.left_shift, jnp.right_shift, jnp.less),
        )
        unary = (jnp.abs, jnp.sign, jnp.invert, jnp.negative, lax.population_count, lax.clz)
        return (
            [g(x, y) for g in binary],
            [g(x) for g in unary],
            (u >> 2, u // 3, u % 3, x // 3, x % 3),
        )

    ints = values(3, 5, dtype=np.int32)
    return f, (ints, values(3, 5, seed=1, dtype=np.int32), ints.astype(np.uint32))


@program
def _booleans() -> Program:
    def f(x, y):
        return x & y, x | y, x ^ y, ~x, x.any(), y.all(axis=0), jnp.where(x, 1.0, y)

    return f, (values(3, 5) > 0, values(3, 5, seed=1) > 0)


@program
def _types() -> Program:
    def f(x, h, i, u):
        return (
            *(x.astype(jnp.bfloat16), x.astype(jnp.int32), h * 2, i.astype(jnp.float32)),
            *(lax.bitcast_convert_type(x, jnp.int32), u.astype(jnp.uint8), i.astype(bool)),
            *(x.astype(jnp.float16), lax.reduce_precision(x, 5, 10)),
        )

    return f, (
        values(3, 5),
        values(3, 5).astype(jnp.bfloat16),
        values(3, 5, dtype=np.int32),
        values(3, 5, dtype=np.int64).astype(np.uint32),
    )


@gradient
def _conv_2d() -> Program:
    def f(x, w):
        return lax.conv_general_dilated(
            x, w, (2, 1), ((1, 2), (0, 1)), dimension_numbers=("NHWC", "HWIO", "NHWC")
        )

    return f, (values(2, 7, 5, 3), values(3, 2, 3, 4))


@gradient
def _conv_grouped_dilated() -> Program:
    def f(x, w):
        return lax.conv_general_dilated(
            *(x, w, (1, 2), "SAME"),
            rhs_dilation=(2, 1),
            feature_group_count=2,
            dimension_numbers=("NCHW", "OIHW", "NCHW"),
        )

    return f, (values(1, 4, 6, 7), values(6, 2, 3, 2))


@program
def _conv_transposed() -> Program:
    def f(x, w):
        return lax.conv_transpose(x, w, (2, 3), "SAME")

    return f, (values(1, 3, 4, 2), values(3, 2, 2, 5))


@program
def _conv_1d_and_3d() -> Program:
    def f(x, w, y, v):
        return (
            lax.conv(x, w, (2,), "VALID"),
            lax.conv(y, v, (1, 1, 2), "SAME", precision=lax.Precision.HIGHEST),
        )

    return f, (values(2, 3, 9), values(4, 3, 2), values(1, 2, 3, 4, 5), values(2, 2, 2, 1, 3))


@gradient
def _max_pool() -> Program:
    def f(x):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 2, 1), (1, 2, 1, 1), "SAME")

    return f, (values(2, 7, 5, 3),)


@gradient
def _average_pool() -> Program:
    def f(x):
        return lax.reduce_window(x, 0.0, lax.add, (1, 2, 3, 1), (1, 2, 2, 1), "VALID") / 6

    return f, (values(2, 7, 5, 3),)


@gradient
def _batch_norm() -> Program:
    def f(x, scale, offset):
        mean = x.mean(axis=(0, 1, 2))
        variance = x.var(axis=(0, 1, 2))
        return (x - mean) * lax.rsqrt(variance + 1e-5) * scale + offset

    return f, (values(2, 3, 4, 5), values(5), values(5, seed=1))


@gradient
def _layer_norm() -> Program:
    def f(x, scale):
        centred = x - x.mean(-1, keepdims=True)
        return centred / jnp.sqrt((centred**2).mean(-1, keepdims=True) + 1e-6) * scale

    return f, (values(3, 4, 6), values(6))


@gradient
def _attention() -> Program:
    def f(x, wq, wk, wv):
        q, k, v = (jnp.einsum("btd,dhe->bhte", x, w) for w in (wq, wk, wv))
        scores = jnp.einsum("bhte,bhse->bhts", q, k) / 2.0
        mask = jnp.tril(jnp.ones((5, 5), bool))
        weights = jax.nn.softmax(jnp.where(mask, scores, -1e9), axis=-1)
        return jnp.einsum("bhts,bhse->bthe", weights, v).reshape(2, 5, 12)

    return f, (values(2, 5, 6), *(values(6, 3, 4, seed=seed) for seed in range(3)))


@gradient
def _embedding() -> Program:
    tokens = np.array([[1, 3, 0], [2, 2, 5]])

    def f(table):
        return table[tokens] + table[0]

    return f, (values(6, 4),)


@gradient
def _gru() -> Program:
    def f(xs, w, u):
        def step(h, x):
            z = jax.nn.sigmoid(x @ w + h @ u)
            h = (1 - z) * h + z * jnp.tanh(x @ w)
            return h, h

        return lax.scan(step, jnp.zeros((2, 4)), xs)

    return f, (values(5, 2, 3), values(3, 4), values(4, 4))


@program
def _lstm_reversed() -> Program:
    def f(xs, w, u):
        def step(state, x):
            h, c = state
            i, g, o = jnp.split(x @ w + h @ u, 3, axis=-1)
            c = jax.nn.sigmoid(i) * jnp.tanh(g) + c
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        start = (jnp.zeros((2, 4)), jnp.ones((2, 4)))
        return lax.scan(step, start, xs, reverse=True)

    return f, (values(5, 2, 3), values(3, 12), values(4, 12))


@program
def _loops_and_branches() -> Program:
    def f(x, n):
        x = lax.fori_loop(0, 4, lambda i, v: v * 1.5 + i, x)
        x = lax.while_loop(lambda v: v.sum() < 1000, lambda v: v * 2 + 1, x)
        x = lax.cond(n > 2, lambda v: v + 1, lambda v: v - 1, x)
        return lax.switch(n, [jnp.sin, jnp.cos, lambda v: v * 3], x)

    return f, (np.abs(values(3, 5)), np.int32(1))


@gradient
def _checkpointed() -> Program:
    def f(x, w):
        layer = jax.checkpoint(lambda v: jnp.sin(v @ w))
        return layer(layer(x))

    return f, (values(3, 5), values(5, 5))


@program
def _dropout() -> Program:
    def f(seed, x):
        key = jax.random.key(seed)
        keep = jax.random.bernoulli(key, 0.7, x.shape)
        noise = jax.random.normal(jax.random.fold_in(key, 1), x.shape)
        return jnp.where(keep, x / 0.7, 0.0) + noise

    return f, (np.uint32(7), values(3, 5))


@program
def _random_bits() -> Program:
    def f(state):
        return lax.rng_bit_generator(state, (3, 5)), lax.rng_uniform(0.0, 1.0, (2, 3))

    return f, (np.array([1, 2, 3, 4], np.uint32),)


@program
def _indexing() -> Program:
    def f(x, i, u):
        return (
            *(x[1], x[:, 2:5:2], x[::-1], x[i], x[i, i], x[..., None], x[1:3, i]),
            *(x.at[i].set(u), x.at[i].add(u), x.at[1, 2].set(3.0), x.at[:, 1].multiply(2.0)),
            *(x.at[i].max(u), x.at[2:].min(0.0), jnp.take(x, i, axis=1)),
            *(jnp.take_along_axis(x, jnp.argsort(x, axis=1), axis=1),),
            *(lax.dynamic_slice(x, (i[0], i[1]), (2, 3)), lax.dynamic_index_in_dim(x, i[2], 1)),
            *(lax.dynamic_update_slice(x, u, (i[0], 1)),),
        )

    return f, (values(4, 6), np.array([2, 0, 3], np.int32), values(3, 6))


@program
def _sorting() -> Program:
    def f(x, i):
        return (
            *(jnp.sort(x), jnp.argsort(x, axis=0), lax.top_k(x, 2), jnp.argmax(x, axis=1)),
            *(jnp.argmin(x), lax.sort_key_val(x, i), jnp.median(x, axis=1), -jnp.sort(-x)),
            jnp.searchsorted(jnp.sort(x[0]), x[1]),
        )

    return f, (values(4, 6), values(4, 6, dtype=np.int32))


@program
def _reductions() -> Program:
    def f(x, i):
        return (
            *(x.sum(), x.sum(1), x.prod(0), x.max(2), x.min((0, 2)), x.mean(), x.std(1)),
            *(jnp.logsumexp(x, axis=0) if hasattr(jnp, "logsumexp") else x, i.sum(), i.max(0)),
            *(jnp.cumsum(x, axis=1), jnp.cumprod(x, axis=2), lax.cummax(x, axis=0)),
            *((x > 0).any(1), (x > 0).all(), jnp.linalg.norm(x, axis=-1), lax.reduce_and(i, (1,))),
        )

    return f, (values(2, 3, 4), values(2, 3, 4, dtype=np.int32))


@program
def _shapes() -> Program:
    def f(x):
        return (
            *(x.reshape(6, 4), x.T, jnp.transpose(x, (1, 0, 2)), x[None], jnp.squeeze(x[:1])),
            *(
                jnp.concatenate([x, x * 2], 1),
                jnp.stack([x, x]),
                jnp.pad(x, ((1, 2), (0, 0), (3, 1))),
            ),
            *(jnp.tile(x, (2, 1, 3)), jnp.repeat(x, 2, axis=1), jnp.broadcast_to(x[0], (5, 3, 4))),
            *(jnp.flip(x, 1), jnp.roll(x, 1, axis=2), jnp.split(x, 2, axis=2), jnp.arange(7)),
            *(lax.pad(x, 0.5, ((0, 0, 1), (1, -1, 0), (-1, 2, 2))), jnp.eye(3), jnp.tri(4)),
            *(jnp.linspace(0, 1, 5), jnp.full((2, 3), 1.5), jnp.meshgrid(x[0, 0], x[1, :, 0])),
        )

    return f, (values(2, 3, 4),)


@program
def _contractions() -> Program:
    def f(x, y, z):
        return (
            *(x @ y, jnp.dot(x[0], y), jnp.outer(x[0], y[0]), jnp.tensordot(x, x, ((1,), (1,)))),
            *(
                jnp.einsum("ij,kjl->ilk", x, z),
                jnp.einsum("bij,bjk->bik", z, z[:, ::-1, :3]),
            ),
            jnp.dot(x, y, precision=lax.Precision.HIGHEST),
            lax.dot(x, y, preferred_element_type=jnp.float32),
        )

    return f, (values(3, 5), values(5, 2), values(4, 5, 5))


@program
def _linear_algebra() -> Program:
    def f(a, b):
        spd = a @ a.T + 3 * jnp.eye(4)
        return (
            jnp.linalg.cholesky(spd),
            lax.linalg.triangular_solve(spd, b, left_side=True, lower=True),
        )

    return f, (values(4, 4), values(4, 3))


@program
def _complex_numbers() -> Program:
    def f(x, y):
        c = lax.complex(x, y)
        return jnp.real(c * c), jnp.imag(jnp.exp(c)), jnp.abs(c), jnp.fft.fft(x), jnp.fft.rfft(y)

    return f, (values(3, 4), values(3, 4, seed=1))


@program
def _nested_calls() -> Program:
    @jax.jit
    def inner(v):
        return jnp.sin(v) * 2

    def f(x):
        return inner(x) + inner(x + 1), jax.vmap(inner)(x)

    return f, (values(3, 5),)


@program
def _optimizer_step() -> Program:
    def f(w, m, v, x):
        loss, g = jax.value_and_grad(lambda p: jnp.mean((x @ p) ** 2))(w)
        m = 0.9 * m + 0.1 * g
        v = 0.99 * v + 0.01 * g * g
        return loss, w - 0.1 * m / (jnp.sqrt(v) + 1e-8), m, v

    return f, (values(5, 2), values(5, 2, seed=1), np.abs(values(5, 2, seed=2)), values(3, 5))


@program
def _select_and_clip() -> Program:
    def f(x, y):
        return (
            *(jnp.clip(x, -1, 1), jnp.where(x > y, x, y), lax.clamp(-0.5, x, 0.5)),
            *(
                jnp.select([x > 1, x > 0], [x, y], 0.0),
                jnp.nan_to_num(x / y),
                lax.optimization_barrier((x, y)),
            ),
            *(jnp.heaviside(x, 0.5), jnp.piecewise(x[0, 0], [x[0, 0] > 0], [1.0, 2.0])),
        )

    return f, (values(3, 5), values(3, 5, seed=1))


@program
def _scalars_and_empty() -> Program:
    def f(x, i):
        return x * 2, x + i, jnp.zeros((0, 3)), jnp.zeros((0, 3)).sum(0), jnp.ones((1, 1, 1)) * x

    return f, (np.float32(1.5), np.int32(3))

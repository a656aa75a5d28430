"""Steps of training: losses with their gradients, and the updates of optimizers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from corpus.attention import attend_to_itself
from corpus.layers import layer_norm
from corpus.models import convolve, mlp, pool
from corpus.program import Family

FAMILY = Family()

MLP = ("64x32", "32", "32x10", "10")


def _cross_entropy(scores: Array, labels: Array) -> Array:
    chosen = jnp.take_along_axis(jax.nn.log_softmax(scores), labels[:, None], axis=1)
    return -jnp.mean(chosen)


def _mlp_loss(weights: tuple[Array, ...], x: Array, labels: Array) -> Array:
    return _cross_entropy(mlp(x, *weights), labels)


def _sgd(x: Array, labels: Array, *weights: Array) -> tuple[Array, Any]:
    loss, gradients = jax.value_and_grad(_mlp_loss)(weights, x, labels)
    return loss, jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradients)


def _sgd_4(x: Array, labels: Array, a: Array, b: Array, c: Array, d: Array) -> tuple[Array, Any]:
    return _sgd(x, labels, a, b, c, d)


def _momentum(w: Array, g: Array, v: Array) -> tuple[Array, Array]:
    v = 0.9 * v + g
    return w - 0.1 * v, v


def _adam(w: Array, g: Array, m: Array, v: Array, step: Array) -> tuple[Array, Array, Array]:
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    mean, spread = m / (1 - 0.9**step), v / (1 - 0.999**step)
    return w - 1e-3 * mean / (jnp.sqrt(spread) + 1e-8), m, v


def _adamw(w: Array, g: Array, m: Array, v: Array, step: Array) -> tuple[Array, Array, Array]:
    updated, m, v = _adam(w, g, m, v, step)
    return updated - 1e-3 * 0.01 * w, m, v


def _rmsprop(w: Array, g: Array, v: Array) -> tuple[Array, Array]:
    v = 0.9 * v + 0.1 * g * g
    return w - 1e-3 * g / jnp.sqrt(v + 1e-8), v


def _linear_adam(x: Array, y: Array, w: Array, m: Array, v: Array, step: Array) -> Any:
    loss, gradient = jax.value_and_grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)
    return loss, *_adam(w, gradient, m, v, step)


def _cnn(x: Array, labels: Array, a: Array, b: Array, c: Array) -> tuple[Array, Any]:
    def loss(weights: tuple[Array, ...]) -> Array:
        hidden = pool(jax.nn.relu(convolve(x, weights[0])))
        hidden = pool(jax.nn.relu(convolve(hidden, weights[1])))
        return _cross_entropy(hidden.reshape(x.shape[0], -1) @ weights[2], labels)

    value, gradients = jax.value_and_grad(loss)((a, b, c))
    return value, jax.tree.map(lambda w, g: w - 0.01 * g, (a, b, c), gradients)


def _transformer(tokens: Array, table: Array, w: Array, b: Array, qkv: Array, out: Array) -> Any:
    def loss(weights: tuple[Array, ...]) -> Array:
        table, w, b, qkv, out = weights
        x = table[tokens[:, :-1]]
        x = layer_norm(x + attend_to_itself(x, qkv, out), w, b)
        scores = jax.nn.log_softmax(x @ table.T)
        return -jnp.mean(jnp.take_along_axis(scores, tokens[:, 1:, None], axis=2))

    return jax.value_and_grad(loss)((table, w, b, qkv, out))


def _gradients() -> None:
    add = FAMILY.add
    functions: dict[str, Callable[[Array], Array]] = {
        "tanh": jnp.tanh,
        "relu": jax.nn.relu,
        "gelu": jax.nn.gelu,
        "softmax": jax.nn.softmax,
        "sigmoid": jax.nn.sigmoid,
        "silu": jax.nn.silu,
        "log_softmax": jax.nn.log_softmax,
        "max": lambda x: jnp.max(x, axis=-1),
        "mean": lambda x: jnp.mean(x, axis=0),
        "sort": lambda x: jnp.sort(x),
        "cumsum": lambda x: jnp.cumsum(x, axis=-1),
        "logsumexp": lambda x: jax.nn.logsumexp(x, axis=-1),
        "abs": jnp.abs,
    }
    for name, function in functions.items():
        add(
            "gradient", jax.grad(lambda x, f=function: jnp.sum(f(x) ** 2)), "f32 5x33", variant=name
        )
    for name in ("tanh", "gelu", "softmax"):
        function = functions[name]
        add(
            "gradient",
            jax.grad(lambda x, f=function: jnp.sum(f(x) ** 2)),
            "bf16 33x64",
            variant=name,
        )
    add(
        "gradient",
        jax.grad(lambda x, y: jnp.sum((x @ y) ** 2), (0, 1)),
        "f32 5x33",
        "f32 33x7",
        variant="matmul",
    )
    add(
        "gradient",
        jax.grad(lambda t, i: jnp.sum(t[i] ** 2)),
        "f32 33x7",
        "i32 5 in 0 33",
        variant="embedding",
    )
    add("hessian", jax.hessian(lambda x: jnp.sum(x**3)), "f32 5")
    add("jacobian", jax.jacrev(lambda x: jnp.tanh(x) * x), "f32 5")
    add("jvp", lambda x, t: jax.jvp(jnp.sin, (x,), (t,)), "f32 5x7", "f32 5x7")
    add("vmap", jax.vmap(lambda x, y: x @ y), "f32 3x5x7", "f32 3x7x9")


def _steps() -> None:
    add = FAMILY.add
    for dtype in ("f32", "bf16"):
        weights = [f"{dtype} {shape}" for shape in MLP]
        add("sgd_mlp", _sgd_4, f"{dtype} 33x64", "i32 33 in 0 10", *weights)
    add(
        "sgd_mlp",
        _sgd_4,
        "f32 32x64",
        "i32 32 in 0 10",
        *[f"f32 {s}" for s in MLP],
        variant="donated",
        donated=(2, 3, 4, 5),
    )
    add("momentum", _momentum, *["f32 33x70"] * 3)
    state = ["f32 33x70 zero", "f32 33x70 in 0 0.1"]
    add("adam", _adam, *["f32 33x70"] * 2, *state, "f32 scalar in 1 9")
    add("adamw", _adamw, *["f32 33x70"] * 2, *state, "f32 scalar in 1 9")
    add("rmsprop", _rmsprop, *["f32 33x70"] * 2, "f32 33x70 in 0 0.1")
    add(
        "adam_linear",
        _linear_adam,
        "f32 33x16",
        "f32 33x4",
        "f32 16x4",
        "f32 16x4 zero",
        "f32 16x4 zero",
        "f32 scalar in 1 9",
    )
    add("sgd_cnn", _cnn, "f32 4x8x8x1", "i32 4 in 0 10", "f32 3x3x1x4", "f32 3x3x4x8", "f32 32x10")
    add(
        "gradient_transformer",
        _transformer,
        "i32 2x9 in 0 33",
        "f32 33x64",
        "f32 64",
        "f32 64",
        "f32 64x192",
        "f32 64x64",
    )
    add("clip_by_norm", lambda g: g * jnp.minimum(1.0, 1.0 / jnp.sqrt(jnp.sum(g * g))), "f32 33x70")
    add("moving_mean", lambda m, x: 0.99 * m + 0.01 * x.mean(0), "f32 70", "f32 33x70")
    add("schedule", lambda n: 0.5 * (1 + jnp.cos(jnp.pi * n / 1000)), "f32 scalar in 0 1000")


_gradients()
_steps()
PROGRAMS = FAMILY.programs

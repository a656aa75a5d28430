"""Control flow, calls, several functions, locations, donated memory, barriers."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array, lax

from corpus.program import Family

FAMILY = Family()


def _loops() -> None:
    add = FAMILY.add
    add(
        "while",
        lambda x: lax.while_loop(lambda v: jnp.sum(v) < 100.0, lambda v: v * 2 + 1, x),
        "f32 5x7 in 0.1 1",
    )
    add(
        "while",
        lambda n: lax.while_loop(lambda v: v < 100, lambda v: v * 3, n),
        "i32 scalar in 1 9",
    )
    add("fori", lambda x: lax.fori_loop(0, 5, lambda i, v: v @ v * 0.1 + i, x), "f32 7x7")
    add(
        "fori",
        lambda x, n: lax.fori_loop(0, n, lambda i, v: v + jnp.float32(i), x),
        "f32 33x70",
        "i32 scalar in 1 5",
        variant="dynamic",
    )
    add(
        "fori",
        lambda x: lax.fori_loop(0, 3, lambda i, v: jnp.tanh(v), x, unroll=True),
        "bf16 31x65",
        variant="unrolled",
    )
    add("scan", lambda x: lax.scan(lambda c, v: (c + v, c * v), jnp.zeros(33), x), "f32 5x33")
    add(
        "scan",
        lambda x: lax.scan(lambda c, v: (c + v, None), jnp.zeros(33), x, reverse=True)[0],
        "f32 5x33",
        variant="reverse",
    )
    add(
        "scan",
        lambda x, w: lax.scan(lambda h, v: (jnp.tanh(h @ w + v), h), jnp.zeros((2, 7)), x),
        "f32 5x2x7",
        "f32 7x7",
        variant="recurrent",
    )
    add("map", lambda x: lax.map(lambda v: jnp.dot(v, v), x), "f32 5x33")
    add("associative_scan", lambda x: lax.associative_scan(jnp.add, x, axis=0), "f32 8x33")


def _branches() -> None:
    add = FAMILY.add
    add(
        "cond",
        lambda p, x: lax.cond(p, lambda v: v + 1, lambda v: v * 2, x),
        "i1 scalar",
        "f32 33x70",
    )
    add(
        "cond",
        lambda x: lax.cond(jnp.sum(x) > 0, lambda v: v, lambda v: -v, x),
        "f32 5x7",
        variant="by_sum",
    )
    add(
        "switch",
        lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, jnp.tanh], x),
        "i32 scalar in 0 3",
        "f32 5x7",
    )


@jax.jit
def _scaled(x: Array) -> Array:
    return x * 2.0 + 1.0


@jax.jit
def _normed(x: Array) -> Array:
    return _scaled(x) / jnp.sum(x * x)


def _calls() -> None:
    add = FAMILY.add
    add("call", _scaled, "f32 33x70")
    add("call", lambda x: _scaled(_scaled(x)), "f32 5x7", variant="twice")
    add("call", lambda x, y: (_scaled(x), _scaled(y)), "f32 5x7", "f32 33", variant="two_types")
    add("call", lambda x: _normed(_scaled(x)), "bf16 31x65", variant="nested")
    add(
        "checkpoint",
        jax.grad(lambda x: jnp.sum(jax.checkpoint(lambda v: jnp.sin(jnp.sin(v)))(x))),
        "f32 5x7",
    )
    add("custom_jvp", jax.grad(lambda x: jnp.sum(jax.nn.relu(x) * x)), "f32 5x7")
    add(
        "optimization_barrier",
        lambda x, y: lax.optimization_barrier((x + 1, y)),
        "f32 5x7",
        "f32 33",
    )
    add("stop_gradient", lambda x: lax.stop_gradient(x) * 2, "f32 5x7")
    add("donated", lambda x, y: x + y, "f32 33x70", "f32 33x70", donated=(0,))
    add(
        "donated",
        lambda c, y: lax.dynamic_update_slice(c, y, (0, 3, 0)),
        "bf16 2x33x64",
        "bf16 2x1x64",
        donated=(0,),
        variant="cache",
    )
    add(
        "composite",
        lambda x: lax.composite(lambda v: v * jax.nn.sigmoid(v), "corpus.swish")(x),
        "f32 33x70",
    )


def _locations() -> None:
    add = FAMILY.add
    add("located", lambda x, y: x + y, "f32 33x70", "f32 33x70", located=True)
    add(
        "located",
        lambda x, w, b: jax.nn.relu(x @ w + b),
        "bf16 33x64",
        "bf16 64x70",
        "bf16 70",
        located=True,
        variant="linear",
    )
    add("located", lambda x: _normed(x), "f32 5x7", located=True, variant="call")
    add(
        "located",
        lambda x: jax.nn.softmax(x, axis=-1),
        "f32 31x65",
        located=True,
        variant="softmax",
    )
    add("located", _named, "f32 5x7", located=True, variant="scopes")
    add(
        "located",
        jax.grad(lambda x: jnp.sum(jnp.tanh(x) ** 2)),
        "f32 5x7",
        located=True,
        variant="gradient",
    )
    add(
        "located",
        lambda x: lax.fori_loop(0, 3, lambda i, v: v * 2 + i, x),
        "f32 5x7",
        located=True,
        variant="loop",
    )
    add(
        "located",
        lambda i, t: t[i] @ t.T,
        "i32 5 in 0 33",
        "bf16 33x64",
        located=True,
        variant="embedding",
    )


def _named(x: Array) -> Array:
    with jax.named_scope("first"):
        x = jnp.exp(x)
        with jax.named_scope("inner"):
            x = x + 1
    with jax.named_scope("second"):
        return jnp.log(x)


_loops()
_branches()
_calls()
_locations()
PROGRAMS = FAMILY.programs

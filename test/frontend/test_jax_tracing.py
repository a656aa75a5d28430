"""What JAX cannot trace is refused at the user's line, with what to write instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="needs JAX")

import jax.numpy as jnp  # noqa: E402

import ttmlir  # noqa: E402

X = jnp.ones(4)
SHAPE = "a shape depends on the numbers in an array; size= fixes that of jnp.nonzero"
DECIDES = "Python decides by the numbers in an array; jnp.where(condition, a, b) chooses"
TAKES = "Python takes a number out of an array; compute with the array"
COUNTS = "Python indexes or counts with a number in an array; jnp.asarray(list)[i] takes"
CASES: list[tuple[Callable[[Any], Any], str]] = [
    (lambda x: x.nonzero(), SHAPE),
    (lambda x: jnp.unique(x), SHAPE),
    (lambda x: x[x > 0], SHAPE),
    (lambda x: jnp.where(x > 0), SHAPE),
    (lambda x: jnp.repeat(x, x.astype(int)), SHAPE),
    (lambda x: jnp.zeros(x.sum().astype(int)), SHAPE),
    (lambda x: x[: x.sum().astype(int)], "jax.lax.dynamic_slice takes a part of a known size"),
    (lambda x: x if x.sum() > 0 else -x, DECIDES),
    (lambda x: x * float(x.sum()), TAKES),
    (lambda x: x * x.sum().item(), TAKES),
    (lambda x: [x, -x][x[0].astype(int)], COUNTS),
    (lambda x: np.sin(x), "NumPy computes with an array of JAX"),
]


@pytest.mark.parametrize(("function", "reason"), CASES)
@pytest.mark.parametrize("wrap", [lambda function: function, jax.jit], ids=["plain", "jitted"])
def test_numbers_that_are_not_known(wrap: Any, function: Any, reason: str) -> None:
    """JAX's words about tracers do not reach the user."""
    with pytest.raises(ttmlir.CompilationError) as caught:
        ttmlir.compile(wrap(function), X)
    place, line, _ = str(caught.value).splitlines()
    assert "test_jax_tracing.py:" in place
    assert "error: JAX cannot trace this: " in place
    assert reason in place
    assert "lambda x:" in line
    assert "racer" not in str(caught.value)


def test_what_the_remedies_say_works() -> None:
    """As the messages write it."""

    def remedied(x: Any, n: Any) -> Any:
        places = jnp.nonzero(x > 0.5, size=3, fill_value=-1)[0]
        part = jax.lax.dynamic_slice(x, (n,), (2,))
        chosen = jnp.asarray([2.0, 3.0, 5.0])[n]
        repeated = jnp.repeat(x, n + jnp.arange(4), total_repeat_length=6)
        return places, part, chosen, repeated, jnp.where(x > 0.5, x, 0)

    x, n = jnp.asarray([0.25, 1.0, 0.5, 2.0]), jnp.int32(1)
    compiled = ttmlir.compile(remedied, x, n)
    for ours, theirs in zip(compiled(x, n), remedied(x, n), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_errors_of_the_model_itself_stay() -> None:
    """They are about something else, and have a traceback to the line."""

    def wrong(x: Any) -> Any:
        raise TypeError("of my own")

    with pytest.raises(TypeError, match="of my own"):
        ttmlir.compile(wrong, X)

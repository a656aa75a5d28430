"""Loops and branches of JAX that are programs of their own, compared with JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import ttmlir
from ttmlir.limits import ITERATIONS_VARIABLE
from ttmlir.runtime import ExecutionError

F32 = np.float32


def floats(*shape: int, seed: int = 0) -> np.ndarray:
    """Numbers near 0."""
    return np.random.default_rng(seed).standard_normal(shape, F32)


def check(function: Callable[..., Any], *args: Any, tolerance: float = 1e-5, **options: Any) -> Any:
    """Compile and run a function; the compiled model. It computes what JAX computes."""
    compiled = ttmlir.compile(function, *args, **options)
    expected = jax.tree_util.tree_leaves(jax.jit(function)(*args))
    for _ in range(2):
        # What the first call leaves behind must not change the second.
        results = jax.tree_util.tree_leaves(compiled(*args))
        for result, wanted in zip(results, expected, strict=True):
            assert result.dtype == wanted.dtype
            np.testing.assert_allclose(
                np.asarray(result, np.float64), np.asarray(wanted, np.float64), tolerance, tolerance
            )
    return compiled


def rnn(w: Any, u: Any, xs: Any, h: Any) -> Any:
    """A recurrent network; a row of results for each step."""

    def step(h: Any, x: Any) -> Any:
        h = jnp.tanh(h @ w + x @ u)
        return h, h * 2

    return lax.scan(step, h, xs)


RNN_ARGS = (floats(5, 5) / 3, floats(3, 5, seed=1), floats(130, 7, 3, seed=2), floats(7, 5, seed=3))


def test_a_scan_is_one_loop() -> None:
    """Its results are stacked; the text has one body."""
    compiled = check(rnn, *RNN_ARGS)
    assert compiled.text("ttnn").count('"ttcore.while_loop"') == 1
    assert compiled.text("ttnn").count("op_type = tanh>") == 1


@pytest.mark.parametrize("steps", [65, 111])
def test_the_file_does_not_grow_with_the_steps(steps: int) -> None:
    """It does with the digits of types alone, of which there are as many."""
    w, u, _, h = RNN_ARGS
    most = 10 ** len(str(steps)) - 1
    short, long = (
        len(ttmlir.compile(rnn, w, u, floats(n, 7, 3), h).to_bytes()) for n in (steps, most)
    )
    assert abs(long - short) < 100


def nested(x: Any) -> Any:
    """A scan of scans: 40 times 40 iterations."""

    def inner(carry: Any, row: Any) -> Any:
        carry = carry * 0.5 + jnp.sin(row)
        return carry, carry.sum()

    def outer(carry: Any, i: Any) -> Any:
        carry, sums = lax.scan(inner, carry, x * i)
        return carry, sums

    return lax.scan(outer, jnp.zeros(x.shape[1:]), jnp.arange(40.0))


def test_loops_in_loops() -> None:
    """Neither of them is written out, so the program is short."""
    compiled = check(nested, floats(40, 3))
    text = compiled.text("ttnn")
    assert text.count('"ttcore.while_loop"') == 2
    assert text.count("op_type = sin>") == 1


CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "fori_loop": (lambda x: lax.fori_loop(0, 100, lambda i, c: c * 0.9 + i, x), (floats(3, 5),)),
    "down": (lambda x: lax.fori_loop(3, 90, lambda i, c: c + x / (100 - i), x), (floats(33),)),
    "bounds of data": (
        lambda x, n: lax.fori_loop(0, n, lambda i, c: c * 0.9 + i, x),
        (floats(3, 5), np.int32(77)),
    ),
    "no iteration": (
        lambda x, n: lax.fori_loop(0, n, lambda i, c: c * 0.9 + i, x),
        (floats(3, 5), np.int32(-3)),
    ),
    "while": (
        lambda x: lax.while_loop(
            lambda c: c[0].max() < 50, lambda c: (c[0] * 1.5 + 1, c[1] + 1), (x, 0)
        ),
        (np.abs(floats(4, 3)),),
    ),
    "newton": (
        lambda a: lax.while_loop(
            lambda x: jnp.abs(x * x - a).max() > 1e-4, lambda x: (x + a / x) / 2, a
        ),
        (np.abs(floats(6)) + 1,),
    ),
    "map": (
        lambda xs: lax.map(lambda x: x @ x.T, xs),
        (floats(80, 3, 4),),
    ),
    "reverse": (
        lambda xs: lax.scan(lambda c, x: (c + x, c * x), jnp.zeros(3), xs, reverse=True),
        (floats(70, 3),),
    ),
    "gradient": (
        lambda w, xs: jax.grad(
            lambda w: (lax.scan(lambda c, x: (jnp.tanh(c @ w + x), c), xs[0], xs)[0] ** 2).sum()
        )(w),
        (floats(4, 4) / 3, floats(90, 4)),
    ),
    "rows written and read": (
        lambda x: lax.fori_loop(1, 70, lambda i, c: c.at[i].set(c[i - 1] * 0.5 + c[i]), x),
        (floats(70, 5),),
    ),
    "swapped": (
        lambda x, y: lax.fori_loop(0, 101, lambda i, c: (c[1], c[0] + 0.01), (x, y)),
        (floats(3), floats(3, seed=1)),
    ),
    "old value after a write": (
        lambda x: lax.fori_loop(
            0, 70, lambda i, c: (c[0].at[i].set(1.0), c[1] + c[0]), (x, jnp.zeros((70, 2)))
        ),
        (floats(70, 2),),
    ),
    "one buffer for two": (
        lambda x: lax.fori_loop(
            0, 70, lambda i, c: (lambda w: (w, w))(c[0].at[i].set(1.0)), (x, x)
        ),
        (floats(70, 2),),
    ),
    "integers": (
        lambda x: lax.scan(lambda c, v: (c * 3 + v, c), jnp.int32(1), x),
        (np.arange(80, dtype=np.int32),),
    ),
    "truths": (
        lambda x: lax.scan(lambda c, v: (c ^ v, c & v), jnp.bool_(True), x > 0),
        (floats(80),),
    ),
}


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("case", CASES)
def test_loops(case: str) -> None:
    """All kinds of loops compute what they compute in JAX."""
    function, args = CASES[case]
    compiled = check(function, *args)
    assert "ttcore.while_loop" in compiled.text("ttnn")


def deep(x: Any, i: Any, scale: float) -> Any:
    """Work that is no longer small."""
    for n in range(9):
        x = jnp.sin(x * scale + n) + i
    return x


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("index", [-1, 0, 1, 2, 7])
def test_branches_that_are_called(index: int) -> None:
    """`switch` clamps its index."""

    def choose(i: Any, x: Any) -> Any:
        scales = (0.5, 0.7, 0.9)
        branches = [lambda x, s=s: deep(x, i, s) for s in scales]
        return lax.switch(i, branches, x)

    compiled = check(choose, np.int32(index), floats(3, 35))
    assert "ttcore.case" in compiled.text("ttnn")


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_one_branch_of_two(sign: float) -> None:
    """With a loop in one of them."""

    def choose(x: Any) -> Any:
        return lax.cond(
            x.sum() > 0, lambda x: lax.fori_loop(0, 90, lambda i, c: c + i, x), jnp.sin, x
        )

    check(choose, np.full((3, 4), sign, F32))


def test_loops_are_written_out_when_asked_for() -> None:
    """By an option of `ttmlir.compile`."""
    function, args = CASES["fori_loop"]
    compiled = check(function, *args, options="max-trip-count=100")
    assert "while" not in compiled.text("ttnn")


def test_a_loop_without_end_comes_to_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a limit that the message names."""
    monkeypatch.setenv(ITERATIONS_VARIABLE, "1000")
    endless = ttmlir.compile(
        lambda x: lax.while_loop(lambda c: c.max() > -1, lambda c: c * 0.5, x), floats(3)
    )
    with pytest.raises(ExecutionError) as caught:
        endless(floats(3))
    assert "the loops of the program have made 1000 iterations and would go on" in str(caught.value)

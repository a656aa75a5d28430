"""What JAX cannot trace is refused at the user's line, with what to write instead."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="needs JAX")

import jax.numpy as jnp  # noqa: E402

import ttmlir  # noqa: E402
from ttmlir.frontend import errors  # noqa: E402

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


LIBRARY = """
import jax
import jax.scipy.linalg

def decide(x):
    return x if x.sum() > 0 else -x

def roots(x):
    with jax.named_scope("Block_1"):
        return jax.lax.linalg.tridiagonal(x)[0]
"""


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A package of models that is installed."""
    folder = f"{tmp_path}{os.sep}"
    (tmp_path / "installed_models.py").write_text(LIBRARY)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(errors, "PACKAGES", (*errors.PACKAGES, folder))
    monkeypatch.setattr(errors, "LIBRARIES", (*errors.LIBRARIES, folder))
    monkeypatch.delitem(sys.modules, "installed_models", raising=False)
    return import_module("installed_models")


@pytest.mark.parametrize(
    ("name", "line", "reason"),
    [
        ("decide", "    return x if x.sum() > 0 else -x", DECIDES),
        ("roots", "        return jax.lax.linalg.tridiagonal(x)[0]", "(in the module 'Block_1"),
    ],
)
def test_models_of_libraries(library: Any, name: str, line: str, reason: str) -> None:
    """The message is at the library's line, with a note at the user's, which calls it."""
    with pytest.raises(ttmlir.CompilationError) as caught:
        ttmlir.compile(lambda x: getattr(library, name)(x) * 2, jnp.eye(4))
    place, source, _, where, own, _ = str(caught.value).splitlines()
    assert "installed_models.py:" in place
    assert reason in place
    assert source == line
    assert "test_jax_tracing.py:" in where
    assert where.endswith("note: the model is called here")
    assert "ttmlir.compile(lambda x: getattr(library, name)(x) * 2" in own


class Counter:
    """Stands for a module of flax.nnx, whose variables know where they were made."""

    def __init__(self, *, is_inside: bool) -> None:
        """Made inside of a trace, or outside."""
        self.is_inside = is_inside

    def __call__(self, x: Any) -> Any:
        """Change a variable."""
        if not self.is_inside:
            raise TraceContextError("Cannot mutate RngCount from a different trace level")
        return x + 1


class TraceContextError(RuntimeError):
    """flax's error of this name."""


def test_modules_that_change_their_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """The module itself is copied into the trace; a function that holds one is refused."""
    module = Counter(is_inside=False)
    with pytest.raises(ttmlir.CompilationError) as caught:
        ttmlir.compile(lambda x: module(x), X)
    assert "call a copy that the function makes: nnx.clone(model)(x)" in str(caught.value)
    nnx = SimpleNamespace(Module=Counter, clone=lambda _: Counter(is_inside=True))
    monkeypatch.setitem(sys.modules, "flax.nnx", nnx)
    np.testing.assert_array_equal(ttmlir.compile(module, X)(X), np.full(4, 2, np.float32))


@pytest.mark.nightly
def test_the_jit_of_flax() -> None:
    """Modules that a call changes are changed in place; files take and return their variables."""
    nnx: Any = import_module("flax.nnx")

    class Layer(nnx.Module):
        def __init__(self) -> None:
            rngs = nnx.Rngs(0)
            self.parts = nnx.List([nnx.Linear(4, 3, rngs=rngs), nnx.BatchNorm(3, rngs=rngs)])
            self.drop, self.tied = nnx.Dropout(0.2, rngs=rngs), self.parts[0]

        def __call__(self, x: Any) -> Any:
            return self.drop(self.parts[1](self.tied(x))) @ self.parts[0].kernel.T

    @nnx.jit
    def step(models: Any, x: Any, *, rate: float) -> Any:
        loss, change = nnx.value_and_grad(lambda model: (model(x) ** 2).mean())(models[0])
        change = jax.tree.map(
            lambda old, new: old - rate * new, nnx.state(models[0], nnx.Param), change
        )
        nnx.update(models[0], change)
        return loss

    ours, theirs, x = Layer(), Layer(), jnp.outer(jnp.arange(5.0), X) - 1
    compiled = ttmlir.compile(step, [ours], x, example_kwargs={"rate": 0.5})
    for _ in range(2):
        loss, expected = compiled([ours], x, rate=0.5), step([theirs], x, rate=0.5)
        np.testing.assert_allclose(loss, expected, rtol=1e-5)
    pairs = [jax.tree.leaves(nnx.to_pure_dict(nnx.state(each))) for each in (ours, theirs)]
    for mine, other in zip(*pairs, strict=True):
        if jax.dtypes.issubdtype(mine.dtype, jax.dtypes.prng_key):
            mine, other = jax.random.key_data(mine), jax.random.key_data(other)
        np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-5)
    variables = nnx.to_pure_dict(nnx.state({"models": [ours]}))
    loss, changed = pickle.loads(pickle.dumps(compiled))(variables, x, rate=0.5)
    np.testing.assert_allclose(loss, step([theirs], x, rate=0.5), rtol=1e-5)
    assert len(changed) + 1 == len(compiled.outputs)

    states = [nnx.state(nnx.Rngs(2)) for _ in range(2)]
    look = nnx.graphdef(nnx.Rngs(2))
    draw = nnx.jit(lambda state: jax.random.bits(nnx.merge(look, state).default(), (2,)))
    drawn = ttmlir.compile(draw, states[0])
    for _ in range(2):
        np.testing.assert_array_equal(drawn(states[0]), draw(states[1]))

    class Growing(nnx.Module):
        def __call__(self, x: Any) -> Any:
            self.last = nnx.BatchStat(x)
            return x

    with pytest.raises(TypeError, match="gives a module variables that it did not have; call it"):
        ttmlir.compile(nnx.jit(lambda model, x: model(x)), Growing(), x)

"""Kernels as operations of JAX, against JAX's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from running.randomness import TestGenerator
from samples.framework_functions import build_add, build_exp

import ttmlir
from ttmlir.bridge import JAXKernel
from ttmlir.runtime import Tensor, open_device, read_binary, submit

EXP = JAXKernel("exp", build_exp, grid=(3,))
ADD = JAXKernel("add", build_add, grid=(2, 2))
RANDOM = TestGenerator(__name__)
X = RANDOM.uniform(-1, 1, (5, 70)).astype(np.float32)
CLOSE = {"rtol": 2**-8, "atol": 2**-9}
"""What is left of numbers that pass through 19 bits."""


def model(x: Any, y: Any) -> Any:
    """Kernels between ordinary operations: two of one function and one of another."""
    first = EXP(jnp.sin(x), out_shape=x)
    second = EXP(first * 0.5, out_shape=x)
    return ADD(first, second + y, out_shape=x).sum(axis=1)


def expected(x: Any, y: Any) -> Any:
    """The model in NumPy."""
    first = np.exp(np.sin(x))
    return (first + np.exp(first * 0.5) + y).sum(axis=1)


def test_eager_and_jitted_are_what_jax_computes() -> None:
    """The simulator computes both."""
    np.testing.assert_allclose(model(X, 2 * X), expected(X, 2 * X), rtol=2**-6)
    np.testing.assert_allclose(jax.jit(model)(X, 2 * X), expected(X, 2 * X), rtol=2**-6)
    assert EXP.last_run is not None
    assert EXP.last_run.cycles > 0


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16])
@pytest.mark.parametrize("shape", [(7,), (3, 40), (2, 33, 65)])
def test_shapes_and_dtypes(dtype: Any, shape: tuple[int, ...]) -> None:
    """Results have those of `out_shape`, whatever they are."""
    x = jnp.asarray(RANDOM.uniform(-1, 1, shape), dtype)
    result = jax.jit(lambda x: EXP(x, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype)))(x)
    assert (result.shape, result.dtype) == (shape, dtype)
    np.testing.assert_allclose(
        np.asarray(result, np.float64), np.exp(np.asarray(x, np.float64)), rtol=2**-7
    )


def test_outputs_may_be_given_by_reference() -> None:
    """As in the kernel's function: the last argument is a result."""
    np.testing.assert_allclose(ADD(X, X, jnp.zeros_like(X)), 2 * X, **CLOSE)
    np.testing.assert_allclose(
        ADD(X, X, out=jax.ShapeDtypeStruct(X.shape, X.dtype)), 2 * X, **CLOSE
    )


def test_a_compiled_model_keeps_its_kernels(tmp_path: Path) -> None:
    """And the file runs without anything else, with the same results."""
    compiled = ttmlir.compile(model, X, 2 * X)
    assert compiled.text("ttir").count("ttir.custom_kernel") == 3
    np.testing.assert_allclose(compiled(X, 2 * X), expected(X, 2 * X), rtol=1e-5)
    path = tmp_path / "model.ttnn"
    compiled.save(str(path))
    binary = read_binary(path.read_bytes(), "model.ttnn")
    device = open_device()
    (result,) = submit(device, binary, 0, [Tensor.from_numpy(X), Tensor.from_numpy(2 * X)])
    np.testing.assert_allclose(result.to_numpy(), expected(X, 2 * X), rtol=1e-5)


def test_kernels_of_a_compiled_model_round_as_the_model_does() -> None:
    """A call alone rounds as the device does: to 19 bits on the way through the units."""
    alone = np.asarray(ADD(X, X[::-1], out_shape=X))
    compiled = ttmlir.compile(lambda x, y: ADD(x, y, out_shape=x), X, X[::-1])
    np.testing.assert_array_equal(compiled(X, X[::-1], numerics="device"), alone)
    np.testing.assert_array_equal(compiled(X, X[::-1]), X + X[::-1])
    assert not np.array_equal(alone, X + X[::-1])


def test_the_text_of_a_lowered_program_is_complete() -> None:
    """What JAX lowers for the platform tt compiles by itself, exported programs too."""
    lowered = jax.jit(model).trace(X, X).lower(lowering_platforms=("tt",))
    text = lowered.as_text()
    assert text.count("stablehlo.custom_call @tt.kernel") == 3
    np.testing.assert_allclose(ttmlir.compile(text)(X, X), expected(X, X), rtol=1e-5)
    np.testing.assert_allclose(ttmlir.compile(lowered)(X, X), expected(X, X), rtol=1e-5)
    allowed = [jax.export.DisabledSafetyCheck.custom_call("tt.kernel")]
    exported = jax.export.export(jax.jit(model), platforms=["tt"], disabled_checks=allowed)(X, X)
    np.testing.assert_allclose(ttmlir.compile(exported)(X, X), expected(X, X), rtol=1e-5)


def test_programs_lowered_for_the_cpu_are_refused_at_the_users_line() -> None:
    """There the kernel has become a call of Python."""
    with pytest.raises(ttmlir.CompilationError) as caught:
        ttmlir.compile(jax.jit(model).lower(X, X))
    message = str(caught.value)
    assert "test_jax_kernel.py:" in message.splitlines()[0]
    assert "calls a function of Python, which is not part of the program; compute it" in message
    assert "kernels are kept where ttmlir.compile gets the function itself" in message
    assert "EXP(jnp.sin(x), out_shape=x)" in message


@pytest.mark.parametrize("method", ["sequential", "broadcast_all"])
def test_vmap(method: str) -> None:
    """A call for each element, or one with the batch in front; also jitted and compiled."""
    kernel = JAXKernel("add", build_add, grid=(2,), vmap_method=method)

    def add(x: Any, y: Any) -> Any:
        return kernel(x, y, out_shape=x)

    batch = RANDOM.uniform(-1, 1, (5, 3, 70)).astype(np.float32)
    mapped = jax.vmap(add, in_axes=(1, None), out_axes=1)
    wanted = batch + batch[:, :1]
    np.testing.assert_allclose(mapped(batch, batch[:, 0]), wanted, **CLOSE)
    np.testing.assert_allclose(jax.jit(mapped)(batch, batch[:, 0]), wanted, **CLOSE)
    compiled = ttmlir.compile(mapped, batch, batch[:, 0])
    calls = {"sequential": 3, "broadcast_all": 1}[method]
    assert compiled.text("ttir").count("ttir.custom_kernel") == calls
    np.testing.assert_allclose(compiled(batch, batch[:, 0]), wanted, rtol=1e-5, atol=1e-6)


def test_long_batches_are_refused() -> None:
    """With what to do instead."""
    with pytest.raises(ValueError, match="at most 256 are made: build the program for the whole"):
        jax.vmap(lambda x: EXP(x, out_shape=x))(jnp.zeros((257, 1, 1), jnp.float32))
    with pytest.raises(ValueError, match="vmap_method 'all' is not supported; supported are 'seq"):
        JAXKernel("exp", build_exp, vmap_method="all")


def test_gradients_come_from_custom_vjp() -> None:
    """The forward pass is the kernel's, the backward pass the user's."""

    @jax.custom_vjp
    def exp(x: Any) -> Any:
        return EXP(x, out_shape=x)

    def forward(x: Any) -> Any:
        y = exp(x)
        return y, y

    exp.defvjp(forward, lambda y, cotangent: (cotangent * y,))

    def loss(x: Any) -> Any:
        return (exp(x) ** 2).sum()

    wanted = 2 * np.exp(2 * X)
    np.testing.assert_allclose(jax.grad(loss)(X), wanted, rtol=2**-6)
    np.testing.assert_allclose(jax.jit(jax.grad(loss))(X), wanted, rtol=2**-6)
    np.testing.assert_allclose(ttmlir.compile(jax.grad(loss), X)(X), wanted, rtol=1e-5)


def test_kernels_without_a_derivative_say_so() -> None:
    """Instead of a wrong one."""
    with pytest.raises(NotImplementedError, match=r"give 'exp' one by jax\.custom_vjp"):
        jax.grad(lambda x: EXP(x, out_shape=x).sum())(X)


def test_calls_that_only_tell_are_left_out() -> None:
    """`jax.debug.print` and callbacks without results, in loops too, with a warning."""

    def told(x: Any) -> Any:
        jax.debug.print("{}", x)

        def double(_: Any, x: Any) -> Any:
            jax.debug.callback(print, x)
            return x * 2

        return jax.lax.fori_loop(0, 3, double, x)

    with pytest.warns(UserWarning, match=r"as of jax.debug.print, are left out of the program"):
        compiled = ttmlir.compile(told, X)
    np.testing.assert_array_equal(compiled(X), X * 8)


def test_calls_in_order_are_left_out() -> None:
    """Like others that only tell."""

    def told(x: Any) -> Any:
        jax.debug.print("{}", x, ordered=True)
        return x * 2

    with pytest.warns(UserWarning, match=r"as of jax.debug.print, are left out of the program"):
        compiled = ttmlir.compile(told, X)
    np.testing.assert_array_equal(compiled(X), X * 2)

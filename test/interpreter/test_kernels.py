"""Calls of kernels and of registered functions, interpreted and compared at every level."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from samples.framework_functions import build_exp

import ttmlir
from ttmlir.bridge import JAXKernel, NumPyKernel
from ttmlir.compiler import parse
from ttmlir.interpreter import execute
from ttmlir.interpreter.bisection import bisect
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.program import unregister_custom_call
from ttmlir.runtime.tensor import Numerics

X = np.random.default_rng(0).uniform(-1, 1, (5, 70)).astype(np.float32)
EXP = JAXKernel("exp", build_exp, grid=(2,))


def lower(model: Any, x: Any) -> str:
    """The text of a model with its kernels."""
    return jax.jit(model).trace(x).lower(lowering_platforms=("tt",)).as_text()


def registered(type_: str = "5x70xf32") -> str:
    """A program with a call of a function of the user's."""
    return f"""func.func @main(%x: tensor<{type_}>) -> tensor<{type_}> {{
  %0 = stablehlo.add %x, %x : tensor<{type_}>
  %1 = stablehlo.custom_call @my.exp(%0) : (tensor<{type_}>) -> tensor<{type_}>
  %2 = stablehlo.cosine %1 : tensor<{type_}>
  return %2 : tensor<{type_}>
}}"""


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    """Every test starts without registered calls."""
    yield
    unregister_custom_call("my.exp")


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
def test_kernels_mean_what_the_simulator_computes(dtype: Any) -> None:
    """With all digits."""
    x = X.astype(dtype)
    module = parse(lower(lambda x: jnp.cos(EXP(x, out_shape=x)), x))
    (found,) = execute(module, [x])
    expected = np.cos(np.exp(x.astype(np.float64)))
    np.testing.assert_allclose(
        found.astype(np.float64), expected, atol=1e-6 if dtype is np.float32 else 2**-6
    )


@pytest.mark.parametrize("numerics", list(Numerics))
def test_programs_with_kernels_are_bisected(numerics: Numerics) -> None:
    """The operations around the kernel, and the results of the program."""
    report = bisect(lower(lambda x: jnp.cos(EXP(2 * x, out_shape=x)), X), [X], numerics=numerics)
    assert report.agrees, str(report)
    assert not report.skipped
    assert report.reference == "stablehlo"
    assert "calls of kernels without a reference: 1; the simulator computes" in str(report)
    assert report.as_dict()["kernels"] == 1


def test_functions_are_the_reference_of_kernels() -> None:
    """A kernel that computes something else is found by its results."""
    kernel = NumPyKernel("exp", build_exp, grid=(2,))
    ttmlir.register_custom_call("my.exp", kernel=kernel, numpy=np.exp)
    report = bisect(registered(), [X])
    assert report.agrees
    assert report.kernels == 0
    ttmlir.register_custom_call("my.exp", kernel=kernel, numpy=lambda x: np.exp(x) + x**3)
    report = bisect(registered(), [X])
    assert report.first is not None
    assert "stablehlo.custom_call" in report.first.op
    assert report.first.level == "ttir"


def test_functions_are_called_where_a_program_is_interpreted() -> None:
    """With arrays of the types that the program says."""
    seen: list[np.dtype[Any]] = []

    def exp(x: Any) -> Any:
        seen.append(x.dtype)
        return np.exp(x.astype(np.float32))

    ttmlir.register_custom_call("my.exp", numpy=exp)
    (found,) = execute(parse(registered()), [X])
    np.testing.assert_allclose(found, np.cos(np.exp(2 * X)), rtol=1e-6)
    execute(parse(registered("5x70xbf16")), [X.astype(ml_dtypes.bfloat16)])
    assert seen == [np.float32, ml_dtypes.bfloat16]
    # A kernel alone is run.
    ttmlir.register_custom_call("my.exp", kernel=NumPyKernel("exp", build_exp, grid=(2,)))
    (found,) = execute(parse(registered()), [X])
    np.testing.assert_allclose(found, np.cos(np.exp(2 * X)), atol=1e-5)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: (x, x), "'my.exp' was registered with returned 2 arrays; expected 1"),
        (lambda x: x[:2], r"a result of shape \(2, 70\), but its type says \(5, 70\)"),
        (lambda x: x @ x, "cannot be executed: matmul"),
    ],
)
def test_faults_of_functions_are_shown_at_the_call(function: Any, message: str) -> None:
    """In the program's text."""
    ttmlir.register_custom_call("my.exp", numpy=function)
    with pytest.raises(DiagnosticError, match=message) as caught:
        execute(parse(registered(), file_name="x.mlir"), [X])
    assert "x.mlir:3:" in str(caught.value)


def test_compiled_programs_hold_no_python() -> None:
    """The refusal names both ways that can be gone, and each of them works."""
    ttmlir.register_custom_call("my.exp", numpy=np.exp)
    with pytest.raises(ttmlir.CompilationError) as caught:
        ttmlir.compile(registered())
    text = str(caught.value)
    assert "operand #0 of 'my.exp' is no constant, and no file holds Python" in text
    assert "ttmlir.register_custom_call('my.exp', kernel=...)" in text
    assert "ttmlir.interpreter.execute runs the program in this process" in text
    kernel = NumPyKernel("exp", build_exp, grid=(2,))
    ttmlir.register_custom_call("my.exp", kernel=kernel, numpy=np.exp)
    np.testing.assert_allclose(ttmlir.compile(registered())(X), np.cos(np.exp(2 * X)), atol=1e-5)

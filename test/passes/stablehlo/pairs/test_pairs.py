"""What pairs compute, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ttmlir.dialects import DIALECTS
from ttmlir.interpreter import execute
from ttmlir.mlir.context import make_context
from ttmlir.mlir.reader import parse_module
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.stablehlo.pairs.stablehlo_complex_data_type_conversion import (
    StableHLOComplexDataTypeConversionPass,
)
from ttmlir.passes.stablehlo.pairs.stablehlo_complex_math_expander import (
    StableHLOComplexMathExpanderPass,
)
from ttmlir.passes.stablehlo.pairs.stablehlo_uint64_data_type_conversion import (
    StableHLOUInt64DataTypeConversionPass,
)

COMPLEX: list[ModulePass] = [
    StableHLOComplexMathExpanderPass(),
    StableHLOComplexDataTypeConversionPass(),
]


def run(text: str, passes: list[ModulePass], *inputs: Any) -> Any:
    """The result of a function of one result, after passes."""
    context = make_context(DIALECTS)
    module = parse_module(text, "program.mlir", context)
    for each in passes:
        each.run(context, module)
    return execute(module, list(inputs))[0]


def unary(operation: str, type_: str) -> str:
    """A module that applies an operation."""
    return f"""func.func @main(%a: {type_}) -> {type_} {{
      %0 = stablehlo.{operation} %a : {type_}
      return %0 : {type_}
    }}"""


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "exponential": np.exp,
    "exponential_minus_one": np.expm1,
    "log": np.log,
    "log_plus_one": np.log1p,
    "logistic": lambda z: 1 / (1 + np.exp(-z)),
    "negate": np.negative,
    "rsqrt": lambda z: 1 / np.sqrt(z),
    "sign": lambda z: z / np.abs(z),
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_complex_numbers(name: str) -> None:
    """In all quadrants."""
    parts = np.random.default_rng(3).standard_normal((3, 7, 2)).astype(np.float32)
    found = run(unary(name, "tensor<3x7xcomplex<f32>>"), COMPLEX, parts)
    expected = FUNCTIONS[name](parts.astype(np.float64)[..., 0] + 1j * parts[..., 1])
    np.testing.assert_allclose(found[..., 0], expected.real, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found[..., 1], expected.imag, rtol=1e-4, atol=1e-5)


def test_powers_of_complex_numbers() -> None:
    """With exponents that are complex, too."""
    base, exponent = np.random.default_rng(5).standard_normal((2, 3, 7, 2)).astype(np.float32)
    text = """func.func @main(%a: tensor<3x7xcomplex<f32>>, %b: tensor<3x7xcomplex<f32>>)
        -> tensor<3x7xcomplex<f32>> {
      %0 = stablehlo.power %a, %b : tensor<3x7xcomplex<f32>>
      return %0 : tensor<3x7xcomplex<f32>>
    }"""
    found = run(text, COMPLEX, base, exponent)
    expected = np.power(base[..., 0] + 1j * base[..., 1], exponent[..., 0] + 1j * exponent[..., 1])
    np.testing.assert_allclose(found[..., 0] + 1j * found[..., 1], expected, rtol=1e-4)


def test_sizes_of_complex_numbers_do_not_overflow() -> None:
    """Squares of these parts are infinite or 0."""
    parts = np.array([[3e30, 4e30], [3e-30, -4e-30], [0, 0], [np.inf, 1], [-5, 12]], np.float32)
    text = """func.func @main(%a: tensor<5xcomplex<f32>>) -> tensor<5xf32> {
      %0 = stablehlo.abs %a : (tensor<5xcomplex<f32>>) -> tensor<5xf32>
      return %0 : tensor<5xf32>
    }"""
    found = run(text, COMPLEX, parts)
    np.testing.assert_allclose(found, np.array([5e30, 5e-30, 0, np.inf, 13], np.float32), rtol=1e-6)


def test_large_constants_of_one_number_are_repeated_later() -> None:
    """Their bytes are not."""
    text = """func.func @main(%a: tensor<300x400xcomplex<f32>>) -> tensor<300x400xcomplex<f32>> {
      %c = stablehlo.constant dense<(1.0, -2.0)> : tensor<300x400xcomplex<f32>>
      %0 = stablehlo.add %a, %c : tensor<300x400xcomplex<f32>>
      return %0 : tensor<300x400xcomplex<f32>>
    }"""
    found = run(text, COMPLEX, np.zeros((300, 400, 2), np.float32))
    np.testing.assert_array_equal(found[..., 0], 1)
    np.testing.assert_array_equal(found[..., 1], -2)


def test_sums_of_integers_carry() -> None:
    """Into the upper half, and not out of it."""
    a = np.array([2**32 - 1, 2**63, 2**31, 7, 2**64 - 1], np.uint64)
    b = np.array([1, 2**63 + 5, 2**31, 2**40, 2**64 - 1], np.uint64)
    text = """func.func @main(%a: tensor<5xui64>, %b: tensor<5xui64>) -> tensor<5xui64> {
      %0 = stablehlo.add %a, %b : tensor<5xui64>
      return %0 : tensor<5xui64>
    }"""
    pairs = [each.view(np.uint32).reshape(5, 2) for each in (a, b)]
    found = run(text, [StableHLOUInt64DataTypeConversionPass()], *pairs)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(np.ascontiguousarray(found).view(np.uint64)[:, 0], a + b)

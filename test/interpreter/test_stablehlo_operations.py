"""Operations that JAX's programs do not contain: what they compute is compared with XLA."""

# ruff: noqa: E501 (operations stand on one line)

from __future__ import annotations

import numpy as np
import pytest
from oracles.stablehlo_oracle import executed

from ttmlir.dialects import DIALECTS
from ttmlir.interpreter import execute
from ttmlir.mlir.context import make_context
from ttmlir.mlir.reader import parse_module

RANDOM = np.random.default_rng(5)
REAL = RANDOM.standard_normal((3, 5)).astype(np.float32)
COMPLEX = (REAL + 1j * RANDOM.standard_normal((3, 5))).astype(np.complex64)
SPECIAL = np.array([np.inf, -np.inf, np.nan, 0.0, 1.0], np.float32)
SQUARE = RANDOM.standard_normal((2, 4, 4)).astype(np.float32)
POSITIVE = (SQUARE @ np.swapaxes(SQUARE, 1, 2) + 4 * np.eye(4)).astype(np.float32)
HERMITIAN = (POSITIVE + 0.5j * (np.triu(SQUARE, 1) - np.swapaxes(np.triu(SQUARE, 1), 1, 2))).astype(
    np.complex64
)
TRIANGULAR = (SQUARE + 5 * np.eye(4)).astype(np.float32)
SIDES = RANDOM.standard_normal((2, 4, 3)).astype(np.float32)
WINDOW = "^bb0(%p: tensor<f32>, %q: tensor<f32>):\n %s = stablehlo.abs %q : tensor<f32>\n %t = stablehlo.add %p, %s : tensor<f32>\n stablehlo.return %t : tensor<f32>\n"

TYPES = {"float32": "f32", "int32": "i32", "complex64": "complex<f32>", "bool": "i1"}
COMPLEX_FUNCTIONS = (
    "cosine",
    "exponential",
    "exponential_minus_one",
    "log",
    "log_plus_one",
    "negate",
    "sine",
    "sqrt",
    "tan",
    "tanh",
    "abs",
)
REAL_FUNCTIONS = (
    "cosine",
    "sine",
    "tan",
    "tanh",
    "exponential",
    "negate",
    "abs",
    "ceil",
    "floor",
    "round_nearest_afz",
    "round_nearest_even",
)


def type_of(array: np.ndarray) -> str:
    """The tensor type of an array."""
    extents = "".join(f"{extent}x" for extent in array.shape)
    return f"tensor<{extents}{TYPES[array.dtype.name]}>"


def solved(side: bool, lower: bool, unit: bool, transpose: str) -> str:
    """A triangular_solve without its types."""
    flags = f"left_side = {side}, lower = {lower}, unit_diagonal = {unit}".lower()
    kind = f"transpose_a = #stablehlo<transpose {transpose}>"
    return f'"stablehlo.triangular_solve"(%a, %b) <{{{flags}, {kind}}}>'


CASES: dict[str, tuple[str, str, list[np.ndarray]]] = {
    **{f"{name} of complex numbers": (f"stablehlo.{name} %a", "tensor<3x5xf32>" if name == "abs" else "tensor<3x5xcomplex<f32>>", [COMPLEX]) for name in COMPLEX_FUNCTIONS},
    **{name: (f"stablehlo.{name}", "", [REAL]) for name in REAL_FUNCTIONS},
    **{f"{name} of numbers above 0": (f"stablehlo.{name}", "", [np.abs(REAL)]) for name in ("log", "sqrt")},
    **{f"{name} of two complex numbers": (f"stablehlo.{name}", "", [COMPLEX, COMPLEX[::-1] + 1]) for name in ("add", "subtract", "multiply", "divide", "power")},
    **{f"{name} of two numbers": (f"stablehlo.{name}", "", [np.abs(REAL), REAL[::-1]]) for name in ("add", "subtract", "multiply", "divide", "power", "maximum", "minimum", "remainder", "atan2")},
    **{f"{name} of truth values": (f"stablehlo.{name}", "", [REAL > 0, REAL[::-1] > 0.3]) for name in ("add", "multiply", "maximum", "minimum", "and", "or", "xor")},
    **{f"{name} of integers": (f"stablehlo.{name}", "", [np.array([[6, -5], [12, 0]], np.int32), np.array([[3, 9], [-10, 7]], np.int32)]) for name in ("and", "or", "xor", "maximum", "minimum", "subtract")},
    "not of truth values": ("stablehlo.not", "", [REAL > 0]),
    "not of integers": ("stablehlo.not", "", [np.array([6, -5, 0], np.int32)]),
    "complex": ("stablehlo.complex %a, %b", "tensor<3x5xcomplex<f32>>", [REAL, REAL[::-1]]),
    "convert of a complex number to another": ("stablehlo.convert %a", "tensor<3x5xcomplex<f32>>", [COMPLEX]),
    "convert of a number to a complex one": ("stablehlo.convert %a", "tensor<3x5xcomplex<f32>>", [REAL]),
    "convert of a number to an integer": ("stablehlo.convert %a", "tensor<3x5xi32>", [REAL * 100]),
    "convert of a number to a truth value": ("stablehlo.convert %a", "tensor<5xi1>", [np.array([0, 0.5, -1, 3, 0], np.float32)]),
    "convert of a truth value": ("stablehlo.convert %a", "tensor<3x5xf32>", [REAL > 0]),
    **{f"iota along {at}": (f"stablehlo.iota dim = {at}", "tensor<3x5xi32>", []) for at in (0, 1)},
    **{f"reduce_precision to {form}": (f"stablehlo.reduce_precision %a, format = {form}", "tensor<3x5xf32>", [REAL * 1000]) for form in ("e5m2", "e4m3", "e8m7", "e5m10", "e3m0")},
    **{f"compare {how}": (f"stablehlo.compare {how}, %a, %b", "tensor<6xi1>", [np.array([1, 2, 3, -1, np.nan, 0], np.float32), np.array([2, 2, 1, -1, 1, -0.0], np.float32)]) for how in ("EQ", "NE", "LT", "LE", "GT", "GE")},
    "convert of a complex number to a number": ("stablehlo.convert %a", "tensor<3x5xf32>", [COMPLEX]),
    "dot of vectors": ("stablehlo.dot %a, %b", "tensor<f32>", [REAL[0], REAL[1]]),
    "dot of a matrix": ("stablehlo.dot %a, %b", "tensor<3xf32>", [REAL, REAL[1]]),
    "broadcast": ('"stablehlo.broadcast"(%a) <{broadcast_sizes = array<i64: 2, 4>}>', "tensor<2x4x3x5xf32>", [REAL]),
    "logistic": ("stablehlo.logistic", "", [REAL]),
    "logistic of complex numbers": ("stablehlo.logistic", "", [COMPLEX]),
    "sign": ("stablehlo.sign", "", [SPECIAL]),
    "sign of complex numbers": ("stablehlo.sign", "", [COMPLEX * (COMPLEX.real > 0)]),
    "rsqrt": ("stablehlo.rsqrt", "", [np.abs(REAL)]),
    "rsqrt of complex numbers": ("stablehlo.rsqrt", "", [COMPLEX]),
    "cbrt": ("stablehlo.cbrt", "", [REAL]),
    "log_plus_one": ("stablehlo.log_plus_one", "", [np.abs(REAL)]),
    "exponential_minus_one": ("stablehlo.exponential_minus_one", "", [REAL]),
    "is_finite": ("stablehlo.is_finite %a", "tensor<5xi1>", [SPECIAL]),
    "real": ("stablehlo.real %a", "tensor<3x5xf32>", [COMPLEX]),
    "imag": ("stablehlo.imag %a", "tensor<3x5xf32>", [COMPLEX]),
    "cholesky": ('"stablehlo.cholesky"(%a) <{lower = true}>', "tensor<2x4x4xf32>", [POSITIVE]),
    "cholesky above": ('"stablehlo.cholesky"(%a) <{lower = false}>', "tensor<2x4x4xf32>", [POSITIVE]),
    "cholesky of complex numbers": ('"stablehlo.cholesky"(%a) <{lower = true}>', "tensor<2x4x4xcomplex<f32>>", [HERMITIAN]),
    **{
        f"solve {side} {lower} {unit} {transpose}": (solved(side, lower, unit, transpose), type_of(rhs), [TRIANGULAR, rhs])
        for side, rhs in ((True, SIDES), (False, np.ascontiguousarray(np.swapaxes(SIDES, 1, 2))))
        for lower, unit, transpose in ((True, False, "NO_TRANSPOSE"), (False, False, "TRANSPOSE"), (True, True, "TRANSPOSE"), (False, True, "NO_TRANSPOSE"))
    },
    "solve with conjugates": (solved(True, True, False, "ADJOINT"), "tensor<2x4x3xcomplex<f32>>", [HERMITIAN, (SIDES * (1 + 2j)).astype(np.complex64)]),
    "fft": ("stablehlo.fft %a, type = FFT, length = [5]", "tensor<3x5xcomplex<f32>>", [COMPLEX]),
    "ifft of two dimensions": ("stablehlo.fft %a, type = IFFT, length = [3, 5]", "tensor<3x5xcomplex<f32>>", [COMPLEX]),
    "rfft": ("stablehlo.fft %a, type = RFFT, length = [5]", "tensor<3x3xcomplex<f32>>", [REAL]),
    "irfft of an odd length": ("stablehlo.fft %a, type = IRFFT, length = [9]", "tensor<3x9xf32>", [COMPLEX]),
    "irfft of an even length": ("stablehlo.fft %a, type = IRFFT, length = [8]", "tensor<3x8xf32>", [COMPLEX]),
    "reduce_window by a function": (f'"stablehlo.reduce_window"(%a, %b) <{{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>, window_dilations = array<i64: 1, 2>, base_dilations = array<i64: 2, 1>, padding = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}}> ({{\n{WINDOW}}})', "tensor<5x2xf32>", [REAL, np.float32(0)]),
    "reduce_window without options": (f'"stablehlo.reduce_window"(%a, %b) <{{window_dimensions = array<i64: 2, 3>}}> ({{\n{WINDOW}}})', "tensor<2x3xf32>", [REAL, np.float32(0)]),
    "sort of a number": ('"stablehlo.sort"(%a) ({\n^bb0(%p: tensor<f32>, %q: tensor<f32>):\n %t = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>\n stablehlo.return %t : tensor<i1>\n})', "tensor<5xf32>", [REAL[0]]),
    "if": ('"stablehlo.if"(%a) ({\n stablehlo.return %b : tensor<3x5xf32>\n}, {\n stablehlo.return %c : tensor<3x5xf32>\n})', "tensor<3x5xf32>", [np.bool_(True), REAL, -REAL]),
    "if not": ('"stablehlo.if"(%a) ({\n stablehlo.return %b : tensor<3x5xf32>\n}, {\n stablehlo.return %c : tensor<3x5xf32>\n})', "tensor<3x5xf32>", [np.bool_(False), REAL, -REAL]),
    "shifts": ("stablehlo.shift_right_arithmetic", "", [np.array([-9, 9, 2**31 - 1, -1], np.int32), np.array([1, 2, 31, 32], np.int32)]),
    "logical shifts": ("stablehlo.shift_right_logical", "", [np.array([-9, 9, -1, -1], np.int32), np.array([1, 2, 31, 32], np.int32)]),
    "left shifts": ("stablehlo.shift_left", "", [np.array([-9, 9, 1, 1], np.int32), np.array([1, 2, 31, 40], np.int32)]),
    "population": ("stablehlo.popcnt", "", [np.array([0, -1, 6, 2**31 - 1], np.int32)]),
    "leading zeros": ("stablehlo.count_leading_zeros", "", [np.array([0, -1, 6, 1], np.int32)]),
    "remainders": ("stablehlo.remainder", "", [np.array([-7, 7, -7, 7, -7, 0], np.int32), np.array([3, -3, -3, 3, 0, 0], np.int32)]),
    "quotients": ("stablehlo.divide", "", [np.array([-7, 7, -7, 7], np.int32), np.array([3, -3, -3, 3], np.int32)]),
    "powers": ("stablehlo.power", "", [np.array([-2, 3, -1, 2], np.int32), np.array([3, 4, 5, 0], np.int32)]),
    "clamp by numbers": ("stablehlo.clamp %b, %a, %c", "tensor<3x5xf32>", [REAL, np.float32(-0.5), np.float32(0.25)]),
}  # fmt: skip
"""An operation, its result's type if it differs from the operands', and the operands."""


def program_of(name: str) -> str:
    """A module with the operation; operands are called a, b and c."""
    operation, result, inputs = CASES[name]
    types = [type_of(array) for array in inputs]
    names = ["%a", "%b", "%c"][: len(inputs)]
    result = result or types[0]
    if "%" not in operation:
        operation = f"{operation} {', '.join(names)}"
    passed = types[:1] if ".if" in operation else types
    order = [1, 0, 2] if "clamp" in operation else range(len(passed))
    signature = f"({', '.join(passed[at] for at in order)}) -> {result}" if inputs else result
    arguments = ", ".join(f"{each}: {type_}" for each, type_ in zip(names, types, strict=True))
    return f"func.func public @main({arguments}) -> {result} {{\n %r = {operation} : {signature}\n return %r : {result}\n}}"


@pytest.mark.parametrize("name", CASES)
def test_operations_compute_what_xla_does(name: str) -> None:
    """Same type; numbers agree to the accuracy of 32 bits, integers and truth values exactly."""
    text, inputs = program_of(name), CASES[name][2]
    [got] = execute(parse_module(text, "program.mlir", make_context(DIALECTS)), inputs)
    [expected] = executed(text, inputs)
    assert got.shape == expected.shape
    if expected.dtype.kind in "ib":
        np.testing.assert_array_equal(got, expected)
    else:
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-4)


ZEROS = np.array([[0, -0.0], [-0.0, 0], [0, 0], [-0.0, -0.0], [-0.0, -1], [0, -1]] * 3, np.float32)
EXTREME = "^bb0(%p: tensor<f32>, %q: tensor<f32>):\n %s = stablehlo.{0} %p, %q : tensor<f32>\n stablehlo.return %s : tensor<f32>\n"
FOLDED = f"%r = stablehlo.reduce(%a init: %i) applies stablehlo.{{0}} across dimensions = [1] : ({type_of(ZEROS)}, tensor<f32>) -> tensor<18xf32>"
WINDOWED = f'%r = "stablehlo.reduce_window"(%a, %i) <{{{{window_dimensions = array<i64: 1, 2>}}}}> ({{{{\n{EXTREME}}}}}) : ({type_of(ZEROS)}, tensor<f32>) -> tensor<18x1xf32>'
SIGNED_ZEROS = {
    "sign": ("%r = stablehlo.sign %a : tensor<18x2xf32>", "tensor<18x2xf32>"),
    "clamp": (
        "%z = stablehlo.constant dense<0.0> : tensor<f32>\n %r = stablehlo.clamp %z, %a, %i : (tensor<f32>, tensor<18x2xf32>, tensor<f32>) -> tensor<18x2xf32>",
        "tensor<18x2xf32>",
    ),
    **{
        f"{name} {how}": (text.format(name), result)
        for name in ("maximum", "minimum")
        for how, text, result in (
            (
                "of two",
                "%b = stablehlo.reverse %a, dims = [1] : tensor<18x2xf32>\n %r = stablehlo.{0} %a, %b : tensor<18x2xf32>",
                "tensor<18x2xf32>",
            ),
            ("of many", FOLDED, "tensor<18xf32>"),
            ("of windows", WINDOWED, "tensor<18x1xf32>"),
        )
    },
}
"""Operations on zeros with signs, whose value to begin with is called i."""


@pytest.mark.parametrize("name", SIGNED_ZEROS)
def test_zeros_have_the_signs_that_xla_gives(name: str) -> None:
    """-0 stays -0 in sign, and is smaller than 0."""
    operation, result = SIGNED_ZEROS[name]
    text = f"func.func public @main(%a: {type_of(ZEROS)}, %i: tensor<f32>) -> {result} {{\n {operation}\n return %r : {result}\n}}"
    inputs = [ZEROS, np.float32(np.inf if "minimum" in name or name == "clamp" else -np.inf)]
    [got] = execute(parse_module(text, "program.mlir", make_context(DIALECTS)), inputs)
    [expected] = executed(text, inputs)
    np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(expected))

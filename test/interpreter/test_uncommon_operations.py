"""Operations that frameworks hardly write: what they compute by hand, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ttmlir.dialects import DIALECTS
from ttmlir.interpreter import execute
from ttmlir.mlir.context import make_context
from ttmlir.mlir.reader import parse_module
from ttmlir.mlir.reporting import DiagnosticError

T = "tensor<2x3xf32>"
NUMBERS = np.array([[1, -2, np.inf], [np.nan, -np.inf, 0]], np.float32)


def run(body: str, result: str, *inputs: Any, types: str = f"%x: {T}", after: str = "") -> Any:
    """The result %r of a function whose inputs are x, y ..."""
    text = f"func.func @main({types}) -> {result} {{\n{body}\nreturn %r : {result}\n}}\n{after}"
    module = parse_module(text, "x.mlir", make_context(DIALECTS))
    [found] = execute(module, list(inputs) or [NUMBERS], function="main")
    return found


OPERATIONS: dict[str, tuple[str, str, Any]] = {
    "chlo.constant_like": (
        f'%r = "chlo.constant_like"(%x) <{{value = 2.5 : f32}}> : ({T}) -> {T}',
        T,
        np.full((2, 3), 2.5),
    ),
    "chlo.is_inf": (
        f"%r = chlo.is_inf %x : {T} -> tensor<2x3xi1>",
        "tensor<2x3xi1>",
        [[False, False, True], [False, True, False]],
    ),
    "chlo.is_pos_inf": (
        f"%r = chlo.is_pos_inf %x : {T} -> tensor<2x3xi1>",
        "tensor<2x3xi1>",
        [[False, False, True], [False, False, False]],
    ),
    "chlo.is_neg_inf": (
        f"%r = chlo.is_neg_inf %x : {T} -> tensor<2x3xi1>",
        "tensor<2x3xi1>",
        [[False, False, False], [False, True, False]],
    ),
    "stablehlo.get_dimension_size": (
        f'%r = "stablehlo.get_dimension_size"(%x) <{{dimension = 1 : i64}}> : ({T}) -> tensor<i32>',
        "tensor<i32>",
        3,
    ),
    "stablehlo.tuple": (
        f"%i = stablehlo.iota dim = 0 : tensor<2xi32>\n"
        f"%t = stablehlo.tuple %x, %i : tuple<{T}, tensor<2xi32>>\n"
        f'%r = "stablehlo.get_tuple_element"(%t) <{{index = 1 : i32}}> : '
        f"(tuple<{T}, tensor<2xi32>>) -> tensor<2xi32>",
        "tensor<2xi32>",
        [0, 1],
    ),
    "stablehlo.composite": (
        f'%r = "stablehlo.composite"(%x) <{{decomposition = @negated, name = "a.b"}}> : '
        f"({T}) -> {T}",
        T,
        -NUMBERS,
    ),
    "stablehlo.optimization_barrier": (
        f'%r = "stablehlo.optimization_barrier"(%x) : ({T}) -> {T}',
        T,
        NUMBERS,
    ),
    "stablehlo.custom_call of a placement": (
        f"%r = stablehlo.custom_call @Sharding(%x) : ({T}) -> {T}",
        T,
        NUMBERS,
    ),
    "func.call": (f"%r = func.call @negated(%x) : ({T}) -> {T}", T, -NUMBERS),
    "arith.constant of a tensor": (
        "%r = arith.constant dense<[1, -2]> : tensor<2xi16>",
        "tensor<2xi16>",
        [1, -2],
    ),
    "arith.constant": ("%r = arith.constant 1.5 : f32", "f32", 1.5),
    "tensor.empty": (f"%r = tensor.empty() : {T}", T, np.zeros((2, 3))),
}
NEGATED = (
    f"func.func private @negated(%a: {T}) -> {T} {{\n"
    f"%b = stablehlo.negate %a : {T}\nreturn %b : {T}\n}}"
)


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations(name: str) -> None:
    """The whole result."""
    body, result, expected = OPERATIONS[name]
    found = run(body, result, after=NEGATED)
    np.testing.assert_array_equal(found, expected)
    assert found.shape == np.shape(expected)


def test_einsum() -> None:
    """As NumPy's, whose letters it has."""
    x, y = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([1, 10, 100], np.float32)
    body = (
        f'%r = "stablehlo.einsum"(%x, %y) <{{einsum_config = "ab,b->a"}}> : '
        f"({T}, tensor<3xf32>) -> tensor<2xf32>"
    )
    found = run(body, "tensor<2xf32>", x, y, types=f"%x: {T}, %y: tensor<3xf32>")
    assert found.tolist() == [210, 543]


@pytest.mark.parametrize(
    ("element", "given", "expected"),
    [
        ("i4", [9, -9, 7, -8], [-7, 7, 7, -8]),
        ("ui4", [9, 17, 15, 16], [9, 1, 15, 0]),
        ("i2", [1, 2, 3, -3], [1, -2, -1, 1]),
        ("i12", [2047, 2048, -2049, 5], [2047, -2048, 2047, 5]),
    ],
)
def test_integers_of_other_widths(element: str, given: list[int], expected: list[int]) -> None:
    """They wrap at their own width."""
    type_ = f"tensor<4x{element}>"
    body = f"%r = stablehlo.add %x, %y : {type_}"
    zeros = np.zeros(4, np.int64)
    types = f"%x: {type_}, %y: {type_}"
    assert run(body, type_, np.array(given), zeros, types=types).tolist() == expected


@pytest.mark.parametrize(
    ("element", "expected"),
    [("i2", [-1, -1, -1]), ("i4", [7, -1, -5]), ("i8", [23, -1, -21]), ("i32", [23, -1, -21])],
)
def test_values_in_functions_of_elements_have_their_types(
    element: str, expected: list[int]
) -> None:
    """Each operation's result is converted before the next one takes it."""
    body = f"""%r = "stablehlo.map"(%x) <{{dimensions = array<i64: 0>}}> ({{
^bb0(%e: tensor<i32>):
  %n = stablehlo.convert %e : (tensor<i32>) -> tensor<{element}>
  %s = stablehlo.add %n, %n : tensor<{element}>
  %t = stablehlo.subtract %s, %one : tensor<{element}>
  %u = stablehlo.convert %t : (tensor<{element}>) -> tensor<i32>
  stablehlo.return %u : tensor<i32>
}}) : (tensor<3xi32>) -> tensor<3xi32>"""
    one = f"%one = stablehlo.constant dense<1> : tensor<{element}>\n"
    given = np.array([12, 0, -10], np.int32)
    found = run(one + body, "tensor<3xi32>", given, types="%x: tensor<3xi32>")
    assert found.tolist() == expected


def test_floating_point_numbers_as_small_integers() -> None:
    """They saturate; what is no number is 0."""
    given = np.array([7.9, 8.5, -8.9, -300, np.nan], np.float32)
    body = "%r = stablehlo.convert %x : (tensor<5xf32>) -> tensor<5xi4>"
    found = run(body, "tensor<5xi4>", given, types="%x: tensor<5xf32>")
    assert found.tolist() == [7, 7, -8, -8, 0]


REFUSED = {
    "a bitcast of truth values": (
        "%c = stablehlo.constant dense<true> : tensor<8xi1>\n"
        "%r = stablehlo.bitcast_convert %c : (tensor<8xi1>) -> tensor<i8>",
        "tensor<i8>",
        "cannot be executed: the bits of 'i1' cannot be looked at",
    ),
    "code that nobody has": (
        f"%r = stablehlo.custom_call @secret(%x) : ({T}) -> {T}",
        T,
        "calls 'secret', which only the framework's own runtime has",
    ),
    "a function without body": (
        f"%r = func.call @nothing(%x) : ({T}) -> {T}",
        T,
        "calls 'nothing', which has no body in this module",
    ),
    "calls without end": (
        f"%r = func.call @main(%x) : ({T}) -> {T}",
        T,
        "calls nest more than 100 deep",
    ),
    "a wide integer": (
        "%r = stablehlo.constant dense<1> : tensor<2xi128>",
        "tensor<2xi128>",
        "constants of type 'i128' cannot be computed with",
    ),
    "a resource that is not there": (
        f"%r = stablehlo.constant dense_resource<lost> : {T}",
        T,
        "the module does not hold the resource 'lost'",
    ),
}

UNKNOWN = "tensors of 'f8E4M3B11FNUZ' cannot be computed with"
FLOAT8 = "%r = stablehlo.convert %x : (tensor<2x3xf32>) -> tensor<2x3xf8E4M3B11FNUZ>"
REFUSED["a result of an unknown type"] = (FLOAT8, "tensor<2x3xf8E4M3B11FNUZ>", UNKNOWN)
REFUSED["a value of an unknown type in a function of elements"] = (
    f"""%r = "stablehlo.map"(%x) <{{dimensions = array<i64: 0, 1>}}> ({{
^bb0(%e: tensor<f32>):
  %s = stablehlo.convert %e : (tensor<f32>) -> tensor<f8E4M3B11FNUZ>
  %t = stablehlo.convert %s : (tensor<f8E4M3B11FNUZ>) -> tensor<f32>
  stablehlo.return %t : tensor<f32>
}}) : ({T}) -> {T}""",
    T,
    UNKNOWN,
)


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_executed(name: str) -> None:
    """Said at the operation."""
    body, result, message = REFUSED[name]
    nothing = f"func.func private @nothing({T}) -> {T}"
    with pytest.raises(DiagnosticError) as caught:
        run(body, result, after=nothing)
    assert message in str(caught.value)
    assert str(caught.value).startswith("x.mlir:")


RESOURCE = """func.func @main() -> tensor<2x3xf32> {
  %r = stablehlo.constant dense_resource<r> : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
{-# dialect_resources: { builtin: { r: "0x04000000DATA" } } #-}"""


def test_resources_of_the_wrong_size() -> None:
    """Bytes that are no tensor of the type."""
    numbers = np.arange(6, dtype=np.float32)
    text = RESOURCE.replace("DATA", numbers.tobytes().hex().upper())
    [found] = execute(parse_module(text, "x.mlir", make_context(DIALECTS)), [])
    assert found.tolist() == numbers.reshape(2, 3).tolist()
    short = parse_module(RESOURCE.replace("DATA", "00" * 20), "x.mlir", make_context(DIALECTS))
    with pytest.raises(DiagnosticError, match="the resource 'r' has 20 bytes instead of 24") as it:
        execute(short, [])
    assert str(it.value).startswith("x.mlir:2:8: error: 'stablehlo.constant' op ")


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ((), "'main' takes 1 input; 0 were given"),
        ((NUMBERS, NUMBERS), "'main' takes 1 input; 2 were given"),
        ((NUMBERS[0],), "input 0 of 'main' has shape (3,); its type is tensor<2x3xf32>"),
    ],
)
def test_inputs_that_do_not_fit(inputs: tuple[Any, ...], message: str) -> None:
    """Their number and shapes, at the function."""
    module = parse_module(
        f"func.func @main(%x: {T}) -> {T} {{\n return %x : {T}\n}}",
        "x.mlir",
        make_context(DIALECTS),
    )
    with pytest.raises(DiagnosticError) as caught:
        execute(module, list(inputs), function="main")
    assert f"x.mlir:1:1: error: {message}" in str(caught.value)

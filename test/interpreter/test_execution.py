"""Modules are executed by the meaning of their operations; what cannot be is refused."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from running.randomness import TestGenerator

from ttmlir.compiler import lower
from ttmlir.interpreter import Execution, execute
from ttmlir.mlir.reporting import DiagnosticError

CONSTRAINT = "#tt.operand_constraint<dram|l1|scalar|tile|any_layout|any_device|any_device_tile>"


def constraints(count: int) -> str:
    """The attribute that ttir operations carry."""
    return f"operand_constraints = [{', '.join([CONSTRAINT] * count)}]"


def unary(op: str, source: str, target: str, attributes: str = "") -> str:
    """A function of one operation in destination-passing style with one result."""
    more = f"{attributes}, " if attributes else ""
    return (
        f"func.func @main(%a: {source}) -> {target} {{\n"
        f"  %0 = tensor.empty() : {target}\n"
        f'  %1 = "ttir.{op}"(%a, %0) <{{{more}{constraints(2)}}}> : '
        f"({source}, {target}) -> {target}\n"
        f"  return %1 : {target}\n}}\n"
    )


RANDOM = TestGenerator(__name__)
IMAGE = RANDOM.standard_normal((2, 5, 7, 3)).astype(np.float32)
MATRIX = RANDOM.standard_normal((3, 5)).astype(np.float32)


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        (
            unary(
                "sum", "tensor<3x5xf32>", "tensor<5xf32>", "dim_arg = [0 : i32], keep_dim = false"
            ),
            MATRIX,
            MATRIX.sum(0),
        ),
        (
            unary("max", "tensor<3x5xf32>", "tensor<1xf32>", "keep_dim = false"),
            MATRIX,
            MATRIX.max().reshape(1),
        ),
        (
            unary(
                "transpose",
                "tensor<3x5xf32>",
                "tensor<5x3xf32>",
                "dim0 = 0 : si32, dim1 = 1 : si32",
            ),
            MATRIX,
            MATRIX.T,
        ),
        (
            unary("reshape", "tensor<3x5xf32>", "tensor<15xf32>", "shape = [15 : i32]"),
            MATRIX,
            MATRIX.ravel(),
        ),
        (
            unary("broadcast", "tensor<5xf32>", "tensor<3x5xf32>", "dimension = [1]"),
            MATRIX[0],
            np.tile(MATRIX[0], (3, 1)),
        ),
        (
            unary(
                "typecast",
                "tensor<3x5xf32>",
                "tensor<3x5xbf16>",
                "operandSegmentSizes = array<i32: 1, 1>",
            ),
            MATRIX,
            MATRIX.astype(ml_dtypes.bfloat16),
        ),
        (
            unary(
                "typecast",
                "tensor<4xf32>",
                "tensor<4xi32>",
                "operandSegmentSizes = array<i32: 1, 1>",
            ),
            np.array([-2.7, 2.7, np.nan, 1e30], np.float32),
            np.array([-2, 2, 0, 2147483647], np.int32),
        ),
        (
            unary("exp", "tensor<f32>", "tensor<f32>", "operandSegmentSizes = array<i32: 1, 1>"),
            np.float32(0.5),
            np.exp(np.float32(0.5)),
        ),
        (
            unary(
                "neg",
                "tensor<0x2xf32>",
                "tensor<0x2xf32>",
                "operandSegmentSizes = array<i32: 1, 1>",
            ),
            np.zeros((0, 2), np.float32),
            np.zeros((0, 2), np.float32),
        ),
    ],
    ids=lambda value: value.split('"')[1] if isinstance(value, str) else "",
)
def test_operations_have_their_meaning(text: str, value: Any, expected: Any) -> None:
    """Definitions of every family agree with NumPy."""
    [result] = execute(lower(text, ""), [value])
    assert result.dtype == expected.dtype
    np.testing.assert_allclose(result.astype(np.float64), expected.astype(np.float64), rtol=1e-6)


def test_windows_with_uneven_padding() -> None:
    """A maximum over windows and a convolution agree with loops over all positions."""
    padding = (1, 2, 0, 3)  # top, bottom, left, right
    sides = ", ".join(
        f"padding_{side} = {count} : si32"
        for side, count in zip(("top", "bottom", "left", "right"), padding, strict=True)
    )
    numbers = (
        "stride_height = 2 : si32, stride_width = 1 : si32, "
        "dilation_height = 1 : si32, dilation_width = 2 : si32"
    )
    pool = unary(
        "max_pool2d",
        "tensor<2x5x7x3xf32>",
        "tensor<2x4x8x3xf32>",
        f"{sides}, {numbers}, kernel_height = 2 : si32, kernel_width = 2 : si32, ceil_mode = false",
    )
    top, bottom, left, right = padding
    margins = ((0, 0), (top, bottom), (left, right), (0, 0))
    padded = np.pad(IMAGE, margins, constant_values=-np.inf)
    expected = np.empty((2, 4, 8, 3), np.float32)
    for y in range(4):
        for x in range(8):
            window = padded[:, 2 * y : 2 * y + 2, x : x + 3 : 2]
            expected[:, y, x] = window.max((1, 2))
    [result] = execute(lower(pool, ""), [IMAGE])
    np.testing.assert_array_equal(result, expected)

    weight = RANDOM.standard_normal((4, 3, 2, 2)).astype(np.float32)
    types = "tensor<2x5x7x3xf32>", "tensor<4x3x2x2xf32>", "tensor<2x4x8x4xf32>"
    conv = (
        f"func.func @main(%a: {types[0]}, %w: {types[1]}) -> {types[2]} {{\n"
        f"  %0 = tensor.empty() : {types[2]}\n"
        f'  %1 = "ttir.conv2d"(%a, %w, %0) <{{{sides}, {numbers}, groups = 1 : si32, '
        f"operandSegmentSizes = array<i32: 1, 1, 0, 1>, {constraints(3)}}}> : "
        f"({', '.join(types)}) -> {types[2]}\n  return %1 : {types[2]}\n}}\n"
    )
    padded = np.pad(IMAGE, margins)
    sums = np.empty((2, 4, 8, 4), np.float32)
    for y in range(4):
        for x in range(8):
            window = padded[:, 2 * y : 2 * y + 2, x : x + 3 : 2]
            sums[:, y, x] = np.einsum("nijc,ocij->no", window, weight)
    [result] = execute(lower(conv, ""), [IMAGE, weight])
    np.testing.assert_allclose(result, sums, rtol=1e-5, atol=1e-5)


def test_averages_and_transposed_convolutions() -> None:
    """Averages over what lies in the image, and a convolution that spreads each pixel."""
    sides = "padding_top = 1 : si32, padding_bottom = 0 : si32, padding_left = 0 : si32, "
    sides += "padding_right = 2 : si32"
    numbers = ", ".join(
        f"{name} = {value} : si32"
        for name, value in {
            **{"stride_height": 2, "stride_width": 3, "dilation_height": 1, "dilation_width": 1},
            **{"kernel_height": 3, "kernel_width": 3},
        }.items()
    )
    text = unary(
        "avg_pool2d",
        "tensor<2x5x7x3xf32>",
        "tensor<2x2x3x3xf32>",
        f"{sides}, {numbers}, ceil_mode = false, count_include_pad = false",
    )
    padded = np.pad(IMAGE, ((0, 0), (1, 0), (0, 2), (0, 0)), constant_values=np.nan)
    averages = np.empty((2, 2, 3, 3), np.float32)
    for y in range(2):
        for x in range(3):
            averages[:, y, x] = np.nanmean(padded[:, 2 * y : 2 * y + 3, 3 * x : 3 * x + 3], (1, 2))
    [result] = execute(lower(text, ""), [IMAGE])
    np.testing.assert_allclose(result, averages, rtol=1e-5, atol=1e-6)

    weight = RANDOM.standard_normal((3, 4, 2, 3)).astype(np.float32)
    spread = np.zeros((2, 10, 15, 4), np.float32)
    for y in range(5):
        for x in range(7):
            part = np.einsum("nc,coij->nijo", IMAGE[:, y, x], weight)
            spread[:, 2 * y : 2 * y + 2, 2 * x : 2 * x + 3] += part
    expected = spread[:, 1:, :-2]
    types = "tensor<2x5x7x3xf32>", "tensor<3x4x2x3xf32>", "tensor<2x9x13x4xf32>"
    steps = "stride_height = 2 : si32, stride_width = 2 : si32, dilation_height = 1 : si32, "
    steps += "dilation_width = 1 : si32, groups = 1 : si32, output_padding_height = 0 : si32, "
    steps += "output_padding_width = 0 : si32"
    conv = (
        f"func.func @main(%a: {types[0]}, %w: {types[1]}) -> {types[2]} {{\n"
        f"  %0 = tensor.empty() : {types[2]}\n"
        f'  %1 = "ttir.conv_transpose2d"(%a, %w, %0) <{{{sides}, {steps}, '
        f"operandSegmentSizes = array<i32: 1, 1, 0, 1>, {constraints(3)}}}> : "
        f"({', '.join(types)}) -> {types[2]}\n  return %1 : {types[2]}\n}}\n"
    )
    [result] = execute(lower(conv, ""), [IMAGE, weight])
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


CALLS = """
func.func private @twice(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tensor.empty() : tensor<2xf32>
  %1 = "ttir.add"(%a, %a, %0) <{operandSegmentSizes = array<i32: 2, 1>,
      operand_constraints = [C, C, C]}>
      : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
func.func @main(%a: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xi64>, tensor<3xi1>) {
  %0 = func.call @twice(%a) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = call @twice(%0) : (tensor<2xf32>) -> tensor<2xf32>
  %2 = "ttir.constant"() <{value = dense<[-3, 9223372036854775807]> : tensor<2xi64>}>
      : () -> tensor<2xi64>
  %3 = arith.constant dense<true> : tensor<3xi1>
  return %1, %2, %3 : tensor<2xf32>, tensor<2xi64>, tensor<3xi1>
}
""".replace("C, C, C", ", ".join([CONSTRAINT] * 3))


def test_calls_and_constants() -> None:
    """`main` is executed rather than the first function; calls may repeat."""
    doubled, numbers, flags = execute(lower(CALLS, ""), [[1.0, -2.5]])
    np.testing.assert_array_equal(doubled, np.array([4.0, -10.0], np.float32))
    np.testing.assert_array_equal(numbers, [-3, 9223372036854775807])
    assert numbers.dtype == np.int64
    assert flags.dtype == np.bool_
    assert flags.tolist() == [True] * 3
    [once] = execute(lower(CALLS, ""), [[1.0, -2.5]], function="twice")
    np.testing.assert_array_equal(once, [2.0, -5.0])


def test_resources() -> None:
    """The elements of a `dense_resource` come from the end of the text."""
    text = """
    func.func @main() -> tensor<2xf32> {
      %0 = "ttir.constant"() <{value = dense_resource<w> : tensor<2xf32>}> : () -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }
    {-# dialect_resources: { builtin: { w: "0x040000000000803F000000C0" } } #-}
    """
    [result] = execute(lower(text, ""), [])
    assert result.tolist() == [1.0, -2.0]


def test_observer_sees_every_operation() -> None:
    """The observer gets operands and results, those of called functions included."""
    seen: list[tuple[str, int, int]] = []
    execute(
        lower(CALLS, ""),
        [[1.0, 2.0]],
        observer=lambda op, operands, results: seen.append((op.name, len(operands), len(results))),
    )
    inner = [("tensor.empty", 0, 1), ("ttir.add", 3, 1)]
    call = ("func.call", 1, 1)
    assert seen == [*inner, call, *inner, call, ("ttir.constant", 0, 1), ("arith.constant", 0, 1)]


@pytest.mark.parametrize(
    ("text", "inputs", "message"),
    [
        ("module {}", [], "the module has no function to execute"),
        (CALLS, [], "'main' takes 1 input; 0 were given"),
        (CALLS, [np.zeros(3)], "input 0 of 'main' has shape (3,); its type is tensor<2xf32>"),
        (
            "func.func @main(%a: tensor<2xf32>, %i: index) -> index {\n"
            "  %0 = tensor.dim %a, %i : tensor<2xf32>\n  return %0 : index\n}",
            [np.zeros(2), 0],
            "<text>:2:8: error: 'tensor.dim' op cannot be interpreted; of tensor, tensor.cast",
        ),
        (
            "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
            '  %0 = "ttnn.exp"(%a, %a) <{operandSegmentSizes = array<i32: 1, 1>}> : '
            "(tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>\n  return %0 : tensor<2xf32>\n}",
            [np.zeros(2)],
            "cannot be interpreted; the dialects that can be are affine, arith, chlo, d2m",
        ),
        (
            "func.func @main(%a: tensor<2xf32>, %s: tensor<f32>) -> tensor<f32> {\n"
            "  %0 = stablehlo.reduce(%a init: %s) across dimensions = [0] : "
            "(tensor<2xf32>, tensor<f32>) -> tensor<f32>\n"
            "   reducer(%x: tensor<f32>, %y: tensor<f32>) {\n"
            "    %1 = stablehlo.reshape %x : (tensor<f32>) -> tensor<f32>\n"
            "    stablehlo.return %1 : tensor<f32>\n  }\n  return %0 : tensor<f32>\n}",
            [np.zeros(2), np.zeros(())],
            "<text>:4:10: error: 'stablehlo.reshape' op cannot be interpreted in a function of "
            "elements; elementwise operations can be",
        ),
        (
            "func.func @main() { call @main() : () -> () return }",
            [],
            "calls nest more than 100 deep",
        ),
        (
            "func.func private @f()\nfunc.func @main() { call @f() : () -> () return }",
            [],
            "calls 'f', which has no body in this module",
        ),
        (
            "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
            "  cf.br ^bb1\n^bb1:\n  return %a : tensor<2xf32>\n}",
            [np.zeros(2)],
            "'func.func' op has 2 blocks; only one can be interpreted",
        ),
    ],
)
def test_refusals(text: str, inputs: list[Any], message: str) -> None:
    """Each refusal says where and what."""
    with pytest.raises(DiagnosticError) as caught:
        execute(lower(text, ""), inputs)
    assert message in str(caught.value)


def test_missing_functions_are_named() -> None:
    """Naming a function that is not there lists those that are."""
    with pytest.raises(
        DiagnosticError, match=r"2:1: error: there is no function 'f'; the module has twice, main"
    ):
        execute(lower(CALLS, ""), [], function="f")


def test_values_are_forgotten_after_their_last_use() -> None:
    """No more than the values that are still needed are held while a chain runs."""
    lines = [
        f"%{i} = call @twice(%{i - 1}) : (tensor<2xf32>) -> tensor<2xf32>" for i in range(1, 9)
    ]
    text = CALLS.replace("@main", "@other") + (
        "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
        "  %0 = call @twice(%a) : (tensor<2xf32>) -> tensor<2xf32>\n"
        + "\n".join(lines)
        + "\n  return %8 : tensor<2xf32>\n}"
    )
    module = lower(text, "")
    execution = Execution(module)
    from ttmlir.interpreter.execution import find_function

    held: list[int] = []
    main = find_function(module, "main")

    def observe(op: Any, operands: Any, results: Any) -> None:
        if op.name == "func.call":
            held.append(len(execution._frames[-1]))

    execution.observer = observe
    [result] = execution.run(main, [np.ones(2, np.float32)])
    assert result.tolist() == [512.0, 512.0]
    assert max(held) <= 3

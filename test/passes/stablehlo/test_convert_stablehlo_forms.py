"""Forms of StableHLO that JAX does not write compute after conversion what XLA computes."""

# ruff: noqa: E501 (operations stand on one line)

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from oracles import stablehlo_oracle
from running.pass_runner import executed, printed
from running.randomness import TestGenerator

from ttmlir.mlir.reporting import DiagnosticError

PIPELINE = "stablehlo-to-ttnn-pipeline"
RANDOM = TestGenerator(__name__)
SPECIAL = np.array([[np.inf, -np.inf, np.nan, 0.0], [-1.5, 2.5, np.inf, -np.inf]], np.float32)
IMAGE = RANDOM.permutation(48).reshape(6, 8).astype(np.float32)

IMAGE_TYPE = "tensor<6x8xf32>"
ADD = "^bb0(%p: tensor<f32>, %q: tensor<f32>):\n %s = stablehlo.add %p, %q : tensor<f32>\n stablehlo.return %s : tensor<f32>\n"
MAX = ADD.replace("add", "maximum")


def compared(direction: str) -> str:
    """A body that compares its arguments."""
    return f"^bb0(%p: tensor<f32>, %q: tensor<f32>):\n %s = stablehlo.compare {direction}, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>\n stablehlo.return %s : tensor<i1>\n"


def function(line: str, result: str, *types: str) -> str:
    """A function of one operation on %0, %1 ..."""
    arguments = ", ".join(f"%{number}: {type}" for number, type in enumerate(types))
    return f"func.func public @main({arguments}) -> {result} {{\n %i = stablehlo.constant dense<2.5> : tensor<f32>\n %z = stablehlo.constant dense<0.0> : tensor<f32>\n %l = stablehlo.constant dense<0xFF800000> : tensor<f32>\n %r = {line}\n return %r : {result}\n}}"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("chlo.is_inf", np.isinf(SPECIAL)),
        ("chlo.is_pos_inf", np.isposinf(SPECIAL)),
        ("chlo.is_neg_inf", np.isneginf(SPECIAL)),
    ],
)
def test_infinities(name: str, expected: np.ndarray) -> None:
    """Both, one or the other; NaN is neither."""
    line = f'"{name}"(%0) : (tensor<2x4xf32>) -> tensor<2x4xi1>'
    (result,) = executed(function(line, "tensor<2x4xi1>", "tensor<2x4xf32>"), [SPECIAL], PIPELINE)
    np.testing.assert_array_equal(result, expected)


def check(line: str, result: str, *inputs: np.ndarray) -> None:
    """Compare with XLA."""
    types = [f"tensor<{''.join(f'{extent}x' for extent in array.shape)}f32>" for array in inputs]
    text = function(line, result, *types)
    (got,) = executed(text, list(inputs), PIPELINE)
    (expected,) = stablehlo_oracle.executed(text, inputs)
    assert got.shape == expected.shape
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def window(**options: Any) -> str:
    """The attributes of a window: lists of integers, and pairs for `padding`."""
    words = [
        f"{name} = array<i64: {', '.join(map(str, value))}>"
        for name, value in options.items()
        if name != "padding"
    ]
    if "padding" in options:
        words.append(f"padding = dense<{options['padding']}> : tensor<2x2xi64>")
    return f"<{{{', '.join(words)}}}>"


def test_broadcast() -> None:
    """New dimensions come first."""
    line = "stablehlo.broadcast %0, sizes = [3, 2] : (tensor<6x8xf32>) -> tensor<3x2x6x8xf32>"
    check(line, "tensor<3x2x6x8xf32>", IMAGE)


@pytest.mark.parametrize(
    ("options", "body", "init", "shape"),
    [
        ({"window_dimensions": (2, 3)}, ADD, "%z", "5x6"),
        ({"window_dimensions": (2, 3)}, MAX, "%l", "5x6"),
        ({"window_dimensions": (2, 3), "window_strides": (2, 1)}, ADD, "%z", "3x6"),
        ({"window_dimensions": (2, 3), "window_dilations": (1, 2)}, MAX, "%i", "5x4"),
        ({"window_dimensions": (2, 3), "padding": [[1, 0], [0, 2]]}, ADD, "%z", "6x8"),
        ({"window_dimensions": (2, 3), "padding": [[0, 1], [2, 0]], "base_dilations": (2, 1)}, MAX, "%l", "11x8"),
    ],
)  # fmt: skip
def test_reduce_window(options: Any, body: str, init: str, shape: str) -> None:
    """Whatever is left out has its default; a maximum may begin with a number."""
    result = f"tensor<{shape}xf32>"
    line = f'"stablehlo.reduce_window"(%0, {init}) {window(**options)} ({{\n{body}}}) : ({IMAGE_TYPE}, tensor<f32>) -> {result}'
    check(line, result, IMAGE)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("direction", ["GE", "LE", "GT", "LT"])
@pytest.mark.parametrize(
    ("options", "init", "shape"),
    [
        ({"window_dimensions": (2, 2), "window_strides": (2, 2)}, "%z", (3, 4)),
        ({"window_dimensions": (3, 2), "window_strides": (1, 2)}, "%i", (4, 4)),
        ({"window_dimensions": (2, 3), "window_strides": (2, 3), "padding": [[1, 1], [0, 1]]}, "%i", (4, 3)),
    ],
)  # fmt: skip
def test_select_and_scatter(
    direction: str, options: Any, init: str, shape: tuple[int, int]
) -> None:
    """Every element begins with the given number."""
    source = RANDOM.standard_normal(shape).astype(np.float32)
    source_type = f"tensor<{shape[0]}x{shape[1]}xf32>"
    line = f'"stablehlo.select_and_scatter"(%0, %1, {init}) {window(**options)} ({{\n{compared(direction)}}}, {{\n{ADD}}}) : ({IMAGE_TYPE}, {source_type}, tensor<f32>) -> {IMAGE_TYPE}'
    check(line, IMAGE_TYPE, IMAGE, source)


@pytest.mark.parametrize(
    ("operation", "argument", "result", "message"),
    [
        (
            "stablehlo.pad %x, %c, low = [0, 3000000000], high = [0, 0], interior = [0, 0] : "
            "(T, tensor<f32>) -> R",
            "2x4",
            "2x3000000004",
            "'ttir.pad' has no room for 3000000000: its parameter 'padding' takes numbers of 32",
        ),
        (
            "stablehlo.pad %x, %c, low = [-3000000000], high = [3000000000], interior = [0] : "
            "(T, tensor<f32>) -> R",
            "4",
            "4",
            "'ttir.pad' has no room for 3000000000",
        ),
        (
            "stablehlo.slice %x [3000000000:3000000004] : (T) -> R",
            "3000000004",
            "4",
            "'ttir.slice' has no room for 3000000000: its parameter 'begins' takes",
        ),
        (
            "stablehlo.reshape %x : (T) -> R",
            "2147483648",
            "1x2147483648",
            "'ttir.reshape' has no room for 2147483648: its parameter 'shape' takes",
        ),
    ],
    ids=["pad", "cut and pad", "slice", "reshape"],
)
def test_numbers_beyond_those_of_attributes(
    operation: str, argument: str, result: str, message: str
) -> None:
    """Extents that parameters of ttir have no bits for are refused where they are asked for."""
    text = (
        f"func.func @f(%x: tensor<{argument}xf32>, %c: tensor<f32>) -> tensor<{result}xf32> {{\n"
        f"  %0 = {operation}\n  return %0 : tensor<{result}xf32>\n}}"
    )
    text = text.replace("(T", f"(tensor<{argument}xf32>").replace(
        "-> R", f"-> tensor<{result}xf32>"
    )
    for year in ("2024", "2026"):
        with pytest.raises(DiagnosticError) as error:
            printed(text, f"stablehlo-to-ttir-pipeline=spelling={year}")
        assert str(error.value).startswith(f"test.mlir:2:8: error: {message}")

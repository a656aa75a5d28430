"""The operations of tosa, held against torch and NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from running.randomness import TestGenerator
from torch.nn import functional

from ttmlir.compiler import parse
from ttmlir.interpreter import execute
from ttmlir.interpreter.bisection import bisect
from ttmlir.interpreter.levels import Level

MODELS = Path(__file__).resolve().parents[1] / "models"
RNG = TestGenerator(__name__)
IMAGE = RNG.standard_normal((2, 9, 11, 3)).astype(np.float32)
X = RNG.standard_normal((3, 5, 7)).astype(np.float32)
ZERO = '%zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>\n'


def run(body: str, *inputs: np.ndarray[Any, Any], result: str) -> np.ndarray[Any, Any]:
    """The result of a function of tensors `%0`, `%1`, ... whose body makes `%r`."""
    names = {"float32": "f32", "int32": "i32", "int8": "i8"}
    types = [f"tensor<{'x'.join(map(str, x.shape))}x{names[x.dtype.name]}>" for x in inputs]
    arguments = ", ".join(f"%x{i}: {type}" for i, type in enumerate(types))
    text = f"func.func @f({arguments}) -> {result} {{\n{body}\nreturn %r : {result}\n}}"
    [found] = execute(parse(text), list(inputs))
    return found


def nchw(array: np.ndarray[Any, Any]) -> torch.Tensor:
    """An image with its channels first."""
    return torch.tensor(array).permute(0, 3, 1, 2)


def nhwc(tensor: torch.Tensor) -> np.ndarray[Any, Any]:
    """An image with its channels last."""
    return tensor.permute(0, 2, 3, 1).numpy()


def test_convolution() -> None:
    """With paddings that differ, strides and dilations."""
    weight = RNG.standard_normal((4, 3, 2, 3)).astype(np.float32)
    bias = np.arange(4, dtype=np.float32)
    found = run(
        f"""{ZERO}%r = tosa.conv2d %x0, %x1, %x2, %zp, %zp {{acc_type = f32,
            pad = array<i64: 1, 2, 0, 3>, stride = array<i64: 2, 1>, dilation = array<i64: 1, 2>}}
            : (tensor<2x9x11x3xf32>, tensor<4x3x2x3xf32>, tensor<4xf32>, tensor<1xf32>,
               tensor<1xf32>) -> tensor<2x5x12x4xf32>""",
        *(IMAGE, weight, bias),
        result="tensor<2x5x12x4xf32>",
    )
    padded = functional.pad(nchw(IMAGE), (0, 3, 1, 2))
    expected = functional.conv2d(
        padded, nchw(weight), torch.tensor(bias), stride=(2, 1), dilation=(1, 2)
    )
    np.testing.assert_allclose(found, nhwc(expected), atol=1e-5)


def test_depthwise_convolution() -> None:
    """Channel c and multiplier m make channel c * M + m."""
    weight = RNG.standard_normal((3, 2, 3, 2)).astype(np.float32)
    bias = np.arange(6, dtype=np.float32)
    found = run(
        f"""{ZERO}%r = tosa.depthwise_conv2d %x0, %x1, %x2, %zp, %zp {{acc_type = f32,
            pad = array<i64: 0, 0, 1, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>}}
            : (tensor<2x9x11x3xf32>, tensor<3x2x3x2xf32>, tensor<6xf32>, tensor<1xf32>,
               tensor<1xf32>) -> tensor<2x7x11x6xf32>""",
        *(IMAGE, weight, bias),
        result="tensor<2x7x11x6xf32>",
    )
    kernels = torch.tensor(weight).permute(2, 3, 0, 1).reshape(6, 1, 3, 2)
    padded = functional.pad(nchw(IMAGE), (1, 0, 0, 0))
    expected = functional.conv2d(padded, kernels, torch.tensor(bias), groups=3)
    np.testing.assert_allclose(found, nhwc(expected), atol=1e-5)


def test_poolings() -> None:
    """The average leaves padding out."""
    window = "kernel = array<i64: 3, 2>, stride = array<i64: 2, 3>, pad = array<i64: 1, 1, 1, 0>"
    type = "tensor<2x5x4x3xf32>"
    found = run(
        f"%r = tosa.max_pool2d %x0 {{{window}, nan_mode = PROPAGATE}} : "
        f"(tensor<2x9x11x3xf32>) -> {type}",
        IMAGE,
        result=type,
    )
    padded = functional.pad(nchw(IMAGE), (1, 0, 1, 1), value=-torch.inf)
    expected = functional.max_pool2d(padded, (3, 2), (2, 3))
    np.testing.assert_array_equal(found, nhwc(expected))
    found = run(
        f"{ZERO}%r = tosa.avg_pool2d %x0, %zp, %zp {{acc_type = f32, {window}}} : "
        f"(tensor<2x9x11x3xf32>, tensor<1xf32>, tensor<1xf32>) -> {type}",
        IMAGE,
        result=type,
    )
    padded = functional.pad(nchw(IMAGE), (1, 0, 1, 1))
    ones = functional.pad(torch.ones(1, 1, 9, 11), (1, 0, 1, 1))
    expected = functional.avg_pool2d(padded, (3, 2), (2, 3)) / functional.avg_pool2d(
        ones, (3, 2), (2, 3)
    )
    np.testing.assert_allclose(found, nhwc(expected), atol=1e-6)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tosa.transpose %x0 {perms = array<i32: 2, 0, 1>}", X.transpose(2, 0, 1)),
        ("tosa.reverse %x0 {axis = 1 : i32}", X[:, ::-1]),
        ("tosa.reduce_sum %x0 {axis = 1 : i32}", X.sum(1, keepdims=True)),
        ("tosa.argmax %x0 {axis = 2 : i32, nan_mode = PROPAGATE}", X.argmax(2).astype(np.int32)),
        (
            "tosa.clamp %x0 {min_val = -0.5 : f32, max_val = 1.0 : f32, nan_mode = PROPAGATE}",
            X.clip(-0.5, 1.0),
        ),
        ("tosa.cast %x0", np.rint(X).astype(np.int32)),
        ("tosa.tanh %x0", np.tanh(X)),
        ("tosa.identity %x0", X),
    ],
)
def test_operations_of_one_tensor(text: str, expected: np.ndarray[Any, Any]) -> None:
    """As NumPy computes them."""
    element = "i32" if expected.dtype == np.int32 else "f32"
    type = f"tensor<{'x'.join(map(str, expected.shape))}x{element}>"
    found = run(f"%r = {text} : (tensor<3x5x7xf32>) -> {type}", X, result=type)
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tosa.tile %x0, %s", np.tile(X, (2, 1, 3))),
        ("tosa.reshape %x0, %s", X.reshape(7, 3, 5)),
        ("tosa.slice %x0, %t, %s", X[1:3, 2:4, 3:7]),
    ],
)
def test_operations_with_shapes(text: str, expected: np.ndarray[Any, Any]) -> None:
    """Shapes are constants of their own type."""
    extents = ", ".join(map(str, expected.shape if "tile" not in text else (2, 1, 3)))
    type = f"tensor<{'x'.join(map(str, expected.shape))}xf32>"
    operands = ", ".join(["!tosa.shape<3>"] * text.count("%", text.index("%x0") + 1))
    found = run(
        f"%s = tosa.const_shape {{values = dense<[{extents}]> : tensor<3xindex>}} : () -> "
        "!tosa.shape<3>\n"
        "%t = tosa.const_shape {values = dense<[1, 2, 3]> : tensor<3xindex>} : () -> "
        "!tosa.shape<3>\n"
        f"%r = {text} : (tensor<3x5x7xf32>, {operands}) -> {type}",
        X,
        result=type,
    )
    np.testing.assert_array_equal(found, expected)


def test_a_product() -> None:
    """Of batches."""
    other = RNG.standard_normal((3, 7, 2)).astype(np.float32)
    found = run(
        f"{ZERO}%r = tosa.matmul %x0, %x1, %zp, %zp : (tensor<3x5x7xf32>, tensor<3x7x2xf32>, "
        "tensor<1xf32>, tensor<1xf32>) -> tensor<3x5x2xf32>",
        *(X, other),
        result="tensor<3x5x2xf32>",
    )
    np.testing.assert_allclose(found, X @ other, atol=1e-5)


@pytest.mark.parametrize(("element", "can_run"), [("f32", True), ("i8", False)])
def test_what_is_written_down_for_floats_only(element: str, can_run: bool) -> None:
    """A pooling of integers rounds in a way of its own; such programs are compared from ttir on."""
    zero = "0.0" if element == "f32" else "0"
    module = parse(
        f"""func.func @f(%x: tensor<1x4x4x2x{element}>) -> tensor<1x2x2x2x{element}> {{
          %zp = "tosa.const"() <{{values = dense<{zero}> : tensor<1x{element}>}}>
              : () -> tensor<1x{element}>
          %0 = tosa.avg_pool2d %x, %zp, %zp {{acc_type = {"f32" if can_run else "i32"},
              kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>}}
              : (tensor<1x4x4x2x{element}>, tensor<1x{element}>, tensor<1x{element}>)
              -> tensor<1x2x2x2x{element}>
          return %0 : tensor<1x2x2x2x{element}>
        }}"""
    )
    assert Level("tosa", module, "f").can_run == can_run


def test_bisection_begins_with_tosa() -> None:
    """It is the level that ttir is held against."""
    report = bisect((MODELS / "tosa_convnet.mlir").read_text(), seed=2)
    assert report.reference == "tosa"
    assert report.agrees, str(report)
    assert report.levels[0].compared >= 15

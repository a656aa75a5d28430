"""Quantized tensors of StableHLO, against the formulas of the specification in NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from running.randomness import TestGenerator

import ttmlir
from ttmlir.compiler import parse
from ttmlir.mlir.module_printer import print_module

Numbers = NDArray[Any]
RANDOM = TestGenerator(__name__)


def dequantize(q: Numbers, scale: Any, zero: Any) -> Numbers:
    """`(q - zero) * scale` in f32."""
    return ((q.astype(np.int64) - zero).astype(np.float32) * np.float32(scale)).astype(np.float32)


def quantize(x: Numbers, scale: Any, zero: Any, low: int, high: int, dtype: Any) -> Numbers:
    """`clamp(round(x / scale) + zero)`; ties go to even integers."""
    integer = np.rint(x.astype(np.float32) / np.float32(scale)) + zero
    return np.clip(integer.astype(np.float64), low, high).astype(dtype)


def run(text: str, *arguments: Numbers) -> Sequence[Numbers]:
    """The results of a function, which are the same in both numerics."""
    compiled = ttmlir.compile(text)
    exact, device = (
        compiled.flatten_results(compiled(*arguments, numerics=each))
        for each in ("exact", "device")
    )
    for one, other in zip(exact, device, strict=True):
        np.testing.assert_array_equal(one, other)
    return exact


def bytes_of(*shape: int, low: int = -128, high: int = 128, dtype: Any = np.int8) -> Numbers:
    """Integers from `low` to `high` - 1."""
    return RANDOM.integers(low, high, shape).astype(dtype)


def numbers(*shape: int) -> Numbers:
    """Numbers, some of them beyond what integers stand for."""
    return (RANDOM.standard_normal(shape) * 5).astype(np.float32)


@pytest.mark.parametrize(
    ("type", "low", "high", "dtype", "scale", "zero"),
    [
        ("i8:f32, 0.05:5", -128, 127, np.int8, 0.05, 5),
        ("i8<-127:127>:f32, 0.1", -127, 127, np.int8, 0.1, 0),
        ("u8:f32, 0.1:128", 0, 255, np.uint8, 0.1, 128),
        ("i4:f32, 0.5:-1", -8, 7, np.int8, 0.5, -1),
        ("u4<0:9>:f32, 0.5:3", 0, 9, np.uint8, 0.5, 3),
        ("i16:f32, 1.0e-03:100", -32768, 32767, np.int16, 1e-3, 100),
        ("i32:f32, 1.0e-03", -(2**31), 2**31 - 1, np.int32, 1e-3, 0),
    ],
)
def test_quantizing(type: str, low: int, high: int, dtype: Any, scale: float, zero: int) -> None:
    """To integers and back, for all storage types; ties are among the numbers."""
    text = f"""
    func.func @main(%x: tensor<5x33xf32>)
        -> (tensor<5x33x!quant.uniform<{type}>>, tensor<5x33xf32>) {{
      %0 = stablehlo.uniform_quantize %x
          : (tensor<5x33xf32>) -> tensor<5x33x!quant.uniform<{type}>>
      %1 = stablehlo.uniform_dequantize %0
          : (tensor<5x33x!quant.uniform<{type}>>) -> tensor<5x33xf32>
      return %0, %1 : tensor<5x33x!quant.uniform<{type}>>, tensor<5x33xf32>
    }}"""
    x = numbers(5, 33)
    x[0] = np.arange(33) * np.float32(scale) / 2
    x[1, :2] = np.inf, -np.inf
    x[2] *= 100
    integer, number = run(text, x)
    expected = quantize(x, scale, zero, low, high, dtype)
    assert integer.dtype == dtype
    in_f32 = np.abs(expected.astype(np.int64)) < 2**24
    np.testing.assert_array_equal(integer[in_f32], expected[in_f32])
    np.testing.assert_array_equal(number, dequantize(integer, scale, zero))


# Plain integers of 4 bits are kept in 8.
@pytest.mark.filterwarnings("ignore:.*tensors of i4 are kept as i8")
@pytest.mark.parametrize(
    ("type", "plain", "low", "high", "zero"),
    [
        ("i8:f32, 0.1:5", "i8", -128, 127, 5),
        ("u8:f32, 0.1:128", "i8", 0, 255, 128),
        ("u4:f32, 0.1:3", "i4", 0, 15, 3),
        ("i4:f32, 0.1:-3", "i4", -8, 7, -3),
    ],
)
def test_casts_of_the_quant_dialect(type: str, plain: str, low: int, high: int, zero: int) -> None:
    """Numbers to integers, to the bits of these and back, and to numbers."""
    text = f"""
    !q = !quant.uniform<{type}>
    func.func @main(%x: tensor<5x33xf32>) -> (tensor<5x33x{plain}>, tensor<5x33xf32>) {{
      %0 = quant.qcast %x : tensor<5x33xf32> to tensor<5x33x!q>
      %1 = quant.scast %0 : tensor<5x33x!q> to tensor<5x33x{plain}>
      %2 = quant.scast %1 : tensor<5x33x{plain}> to tensor<5x33x!q>
      %3 = quant.dcast %2 : tensor<5x33x!q> to tensor<5x33xf32>
      return %1, %3 : tensor<5x33x{plain}>, tensor<5x33xf32>
    }}"""
    x = numbers(5, 33)
    expected = quantize(x, 0.1, zero, low, high, np.int32)
    integer, number = run(text, x)
    wrapped = (
        np.where(expected > high // 2, expected - high - 1, expected) if low == 0 else expected
    )
    np.testing.assert_array_equal(integer, wrapped)
    np.testing.assert_array_equal(number, dequantize(expected, 0.1, zero))
    printed = print_module(parse(text, file_name="a.mlir"))
    assert print_module(parse(printed, file_name="b.mlir")) == printed


@pytest.mark.parametrize(
    ("operation", "operand", "result", "message"),
    [
        ("qcast", "3xf32", "3xi8", "tensor<3xi8> is no tensor of a quantized type"),
        ("qcast", "3xbf16", "3x!q", "expressed type f32 is not the element type bf16"),
        ("dcast", "3x!q", "4xf32", "requires the same shape for all operands and results"),
        ("scast", "3xi16", "3x!q", "storage type i8 is not the element type i16"),
        ("scast", "3xi8", "3xi8", "tensor<3xi8> is no tensor of a quantized type"),
    ],
)
def test_wrong_casts(operation: str, operand: str, result: str, message: str) -> None:
    """Types that do not belong together, at the operation."""
    text = f"""
    !q = !quant.uniform<i8:f32, 0.1>
    func.func @main(%x: tensor<{operand}>) -> tensor<{result}> {{
      %0 = quant.{operation} %x : tensor<{operand}> to tensor<{result}>
      return %0 : tensor<{result}>
    }}"""
    with pytest.raises(ttmlir.CompilationError) as caught:
        ttmlir.compile(text)
    assert message in str(caught.value)


_TYPES = """
    !a = !quant.uniform<i8:f32, 0.05:5>
    !b = !quant.uniform<i8:f32, 0.2:-7>
    !u = !quant.uniform<u8:f32, 0.1:128>
    !w = !quant.uniform<i8<-127:127>:f32:1, {0.01,0.02,0.04}>
    !acc = !quant.uniform<i32:f32:1, {0.0005,0.001,0.002}>
"""


def test_elementwise() -> None:
    """By the numbers, or, of one scale, by the integers; other scales round once more."""
    text = f"""{_TYPES}
    func.func @main(%x: tensor<3x7x!a>, %y: tensor<3x7x!a>, %z: tensor<3x7x!b>) ->
        (tensor<3x7x!b>, tensor<3x7x!a>, tensor<3x7x!a>, tensor<3x7x!b>, tensor<3x7x!a>,
         tensor<3x7xi1>) {{
      %0 = stablehlo.add %x, %z : (tensor<3x7x!a>, tensor<3x7x!b>) -> tensor<3x7x!b>
      %1 = stablehlo.tanh %x : tensor<3x7x!a>
      %2 = stablehlo.maximum %x, %y : tensor<3x7x!a>
      %3 = stablehlo.uniform_quantize %x : (tensor<3x7x!a>) -> tensor<3x7x!b>
      %4 = stablehlo.clamp %x, %y, %x : tensor<3x7x!a>
      %5 = stablehlo.compare LT, %x, %z : (tensor<3x7x!a>, tensor<3x7x!b>) -> tensor<3x7xi1>
      return %0, %1, %2, %3, %4, %5 : tensor<3x7x!b>, tensor<3x7x!a>, tensor<3x7x!a>,
          tensor<3x7x!b>, tensor<3x7x!a>, tensor<3x7xi1>
    }}"""
    x, y, z = bytes_of(3, 7), bytes_of(3, 7), bytes_of(3, 7)
    a, b = dequantize(x, 0.05, 5), dequantize(z, 0.2, -7)
    results = run(text, x, y, z)
    expected = (
        quantize(a + b, 0.2, -7, -128, 127, np.int8),
        quantize(np.tanh(a), 0.05, 5, -128, 127, np.int8),
        np.maximum(x, y),
        quantize(a, 0.2, -7, -128, 127, np.int8),
        np.minimum(np.maximum(x, y), x),
        a < b,
    )
    for got, want in zip(results, expected, strict=True):
        np.testing.assert_array_equal(got, want)


def test_products() -> None:
    """Sums of integers are exact; scales by column go with the results."""
    text = f"""{_TYPES}
    func.func @main(%x: tensor<4x70x!a>, %w: tensor<70x3x!w>, %y: tensor<4x70xf32>)
        -> (tensor<4x3x!acc>, tensor<4x3x!u>, tensor<3x4x!u>, tensor<4x3xf32>) {{
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
          : (tensor<4x70x!a>, tensor<70x3x!w>) -> tensor<4x3x!acc>
      %1 = stablehlo.uniform_quantize %0 : (tensor<4x3x!acc>) -> tensor<4x3x!u>
      %2 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
          : (tensor<4x70x!a>, tensor<70x3x!w>) -> tensor<4x3x!u>
      %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<4x3x!u>) -> tensor<3x4x!u>
      %4 = stablehlo.dot_general %y, %w, contracting_dims = [1] x [0]
          : (tensor<4x70xf32>, tensor<70x3x!w>) -> tensor<4x3xf32>
      return %0, %1, %3, %4 : tensor<4x3x!acc>, tensor<4x3x!u>, tensor<3x4x!u>, tensor<4x3xf32>
    }}"""
    x, w, y = bytes_of(4, 70), bytes_of(70, 3, low=-127), numbers(4, 70)
    sums = (x.astype(np.int64) - 5) @ w.astype(np.int64)
    scales = np.array([0.01, 0.02, 0.04])
    compiled = ttmlir.compile(text)
    accumulated, rounded, turned, hybrid = compiled(x, w, y)
    np.testing.assert_array_equal(accumulated, sums)
    expected = quantize(sums * 0.05 * scales, 0.1, 128, 0, 255, np.uint8)
    # Ties of the scales' products are where f32 and f64 round differently.
    assert np.abs(rounded.astype(int) - expected).max() <= 1
    assert np.abs(turned.T.astype(int) - expected).max() <= 1
    weights = w.astype(np.float64) * scales
    np.testing.assert_allclose(hybrid, y.astype(np.float64) @ weights, rtol=1e-5, atol=1e-4)
    for exact, device in zip(
        (accumulated, rounded), compiled(x, w, y, numerics="device"), strict=False
    ):
        np.testing.assert_array_equal(exact, device)


def test_convolutions() -> None:
    """What is padded stands for 0, whatever the zero point; kernels have scales by feature."""
    text = """
    !a = !quant.uniform<i8:f32, 0.05:5>
    !w = !quant.uniform<i8<-127:127>:f32:3, {0.01,0.02,0.04}>
    !acc = !quant.uniform<i32:f32:3, {0.0005,0.001,0.002}>
    func.func @main(%x: tensor<2x6x5x4x!a>, %w: tensor<3x2x4x3x!w>) -> tensor<2x6x5x3x!acc> {
      %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
          window = {stride = [1, 1], pad = [[1, 1], [0, 1]]}
          {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
          : (tensor<2x6x5x4x!a>, tensor<3x2x4x3x!w>) -> tensor<2x6x5x3x!acc>
      return %0 : tensor<2x6x5x3x!acc>
    }"""
    x, w = bytes_of(2, 6, 5, 4), bytes_of(3, 2, 4, 3, low=-127)
    padded = np.pad(x.astype(np.int64) - 5, ((0, 0), (1, 1), (0, 1), (0, 0)))
    expected = sum(
        padded[:, i : i + 6, j : j + 5] @ w[i, j].astype(np.int64)
        for i in range(3)
        for j in range(2)
    )
    [result] = run(text, x, w)
    np.testing.assert_array_equal(result, expected)


def test_moves_and_windows() -> None:
    """The integers are moved as they are; the largest of a window is that of the integers."""
    text = f"""{_TYPES}
    func.func @main(%x: tensor<4x6x!a>, %i: tensor<2x1xi32>, %c: tensor<i1>)
        -> (tensor<3x4x!a>, tensor<2x3x!a>, tensor<2x6x!a>, tensor<4x!a>, tensor<4x6x!a>) {{
      %pad = stablehlo.constant() <{{value = dense<5> : tensor<i8>}}> : () -> tensor<!a>
      %least = stablehlo.constant() <{{value = dense<-128> : tensor<i8>}}> : () -> tensor<!a>
      %0 = stablehlo.slice %x [0:4, 1:4] : (tensor<4x6x!a>) -> tensor<4x3x!a>
      %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x3x!a>) -> tensor<3x4x!a>
      %2 = "stablehlo.reduce_window"(%x, %least) <{{window_dimensions = array<i64: 2, 2>,
          window_strides = array<i64: 2, 2>}}> ({{
        ^bb0(%a: tensor<!a>, %b: tensor<!a>):
          %m = stablehlo.maximum %a, %b : tensor<!a>
          stablehlo.return %m : tensor<!a>
        }}) : (tensor<4x6x!a>, tensor<!a>) -> tensor<2x3x!a>
      %3 = "stablehlo.gather"(%x, %i) <{{dimension_numbers = #stablehlo.gather<offset_dims = [1],
          collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
          slice_sizes = array<i64: 1, 6>}}> : (tensor<4x6x!a>, tensor<2x1xi32>) -> tensor<2x6x!a>
      %zero = stablehlo.constant() <{{value = dense<5> : tensor<i8>}}> : () -> tensor<!a>
      %4 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
          : (tensor<4x6x!a>, tensor<!a>) -> tensor<4x!a>
      %5 = stablehlo.pad %0, %pad, low = [0, 1], high = [0, 2], interior = [0, 0]
          : (tensor<4x3x!a>, tensor<!a>) -> tensor<4x6x!a>
      %6 = "stablehlo.if"(%c) ({{
          stablehlo.return %5 : tensor<4x6x!a>
        }}, {{
          %s = stablehlo.add %5, %x : tensor<4x6x!a>
          stablehlo.return %s : tensor<4x6x!a>
        }}) : (tensor<i1>) -> tensor<4x6x!a>
      return %1, %2, %3, %4, %6 : tensor<3x4x!a>, tensor<2x3x!a>, tensor<2x6x!a>, tensor<4x!a>,
          tensor<4x6x!a>
    }}"""
    x, places = bytes_of(4, 6), np.array([[3], [1]], np.int32)
    padded = np.pad(x[:, 1:4], ((0, 0), (1, 2)), constant_values=5)
    sums = dequantize(x, 0.05, 5).sum(1)
    both = quantize(
        dequantize(padded, 0.05, 5) + dequantize(x, 0.05, 5), 0.05, 5, -128, 127, np.int8
    )
    for condition, last in ((True, padded), (False, both)):
        results = run(text, x, places, np.array(condition))
        expected = (
            x[:, 1:4].T,
            x.reshape(2, 2, 3, 2).max((1, 3)),
            x[[3, 1]],
            quantize(sums, 0.05, 5, -128, 127, np.int8),
            last,
        )
        for got, want in zip(results, expected, strict=True):
            np.testing.assert_array_equal(got, want)


def test_text() -> None:
    """Types are printed as mlir-opt 19 prints them, and read again; zero may be out of range."""
    text = """
    func.func @main(%x: tensor<2x3x!quant.uniform<i8<-127:127>:f32:1, {0.1:5,2.0e+2,0.5:-1}>>,
        %y: tensor<!quant.uniform<ui8:bf16, 0.25>>,
        %z: tensor<!quant.uniform<i8:f32, 1.0e-50:500>>) {
      return
    }"""
    printed = print_module(parse(text, file_name="a.mlir"))
    first = "i8<-127:127>:f32:1, {1.000000e-01:5,2.000000e+02,5.000000e-01:-1}"
    assert f"tensor<2x3x!quant.uniform<{first}>>" in printed
    assert "tensor<!quant.uniform<u8:bf16, 2.500000e-01>>" in printed
    assert "tensor<!quant.uniform<i8:f32, 1.000000e-50:500>>" in printed
    assert print_module(parse(printed, file_name="b.mlir")) == printed


@pytest.mark.parametrize(
    ("type", "message"),
    [
        ("i8:f32, 0.0", "illegal scale: 0.0; scales are above 0 and finite"),
        ("i64:f32, 0.1", "illegal storage type size: 64; it has 2 to 32 bits"),
        ("f32:f32, 0.1", "expected a type of integers as storage, such as i8 or u8"),
        ("i8:i32, 0.1", "expressed type must be floating point"),
        ("i8<0:200>:f32, 0.1", "illegal range of storage 0:200; the first number is less than"),
        ("i8<5:2>:f32, 0.1", "5:2; the first number is less than the second, and both are within"),
        *(
            (f"i8:f32, {scale}", "scales have a point, as in 1.0 or 1.0e-50")
            for scale in ("1e-50", "1e400", "1")
        ),
        ("i8:f32, 1.0e400", "illegal scale: inf; scales are above 0 and finite"),
        ("i8:f32:-1, {0.1}", "illegal quantized dimension: -1"),
        (
            "i8:f32:0, {0.1,0.2}",
            "has 2 scales along dimension 0; give one for each index of a dimension",
        ),
    ],
)
def test_refusals(type: str, message: str) -> None:
    """Wrong types, at their place."""
    tensor = f"tensor<3x!quant.uniform<{type}>>"
    text = f"""
    func.func @main(%x: {tensor}) -> tensor<3xf32> {{
      %0 = stablehlo.uniform_dequantize %x : ({tensor}) -> tensor<3xf32>
      return %0 : tensor<3xf32>
    }}"""
    with pytest.raises(ttmlir.CompilationError) as caught:
        ttmlir.compile(text)
    assert message in str(caught.value)
    assert "error: " in str(caught.value)

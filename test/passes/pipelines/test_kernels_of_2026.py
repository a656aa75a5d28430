"""Operations in the form of 2026 through kernels to numbers, against NumPy.

Operations that are new in 2026 and those whose parameters are others than in 2024; what both years
share is tested in `test_kernel_operations.py`. Kernels compute with exact numerics in float32: sums
of at most 140 terms are good to 140 * 2^-24 of the sum of the terms' sizes, which are at most 4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from running.kernel_runs import run_kernels
from running.randomness import TestGenerator
from samples.ttir_text import tensor

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]
RANDOM = TestGenerator(__name__)
A = (33, 70)


def softmax(x: Array) -> Array:
    """Along the last dimension."""
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def normalize(x: Array, weight: Array, bias: Array) -> Array:
    """Layer norm over the last dimension."""
    deviation = np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    return (x - x.mean(-1, keepdims=True)) / deviation * weight + bias


def convolve(x: Array, kernel: Array) -> Array:
    """A 3x3 convolution of 9x11 images, channels last, without padding."""
    return sum(
        np.einsum("nhwc,oc->nhwo", x[:, i : i + 7, j : j + 9], kernel[:, :, i, j])
        for i in range(3)
        for j in range(3)
    )


CASES: dict[str, tuple[str, tuple[Shape, ...], Callable[..., Any]]] = {
    "add": ("", (A, (1, 70)), np.add),
    "softsign": ("", (A,), lambda x: x / (1 + np.abs(x))),
    "frac": ("", (A,), lambda x: x - np.trunc(x)),
    "mish": ("", (A,), lambda x: x * np.tanh(np.log1p(np.exp(x)))),
    "clamp_tensor": ("", (A, A, A), lambda x, low, high: np.minimum(np.maximum(x, low), high)),
    "where": ("", (A, A, A), lambda choice, x, y: np.where(choice != 0, x, y)),
    "sum": (
        "dim_arg = [1 : i32, 2 : i32], keep_dim = true",
        ((3, *A),),
        lambda x: x.sum((1, 2), keepdims=True),
    ),
    "max": ("dim_arg = [0 : i32], keep_dim = false", (A,), lambda x: x.max(0)),
    "matmul": (
        "transpose_a = true, transpose_b = true",
        ((70, 33), (45, 70)),
        lambda x, y: x.T @ y.T,
    ),
    "linear": ("transpose_b = true", (A, (45, 70), (45,)), lambda x, y, z: x @ y.T + z),
    "dot_general": (
        "batch_dims_lhs = array<i64: 0>, batch_dims_rhs = array<i64: 0>, "
        "contract_dims_lhs = array<i64: 2>, contract_dims_rhs = array<i64: 1>",
        ((3, *A), (3, 70, 45)),
        np.matmul,
    ),
    "permute": (
        "permutation = array<i64: 2, 0, 1>",
        ((3, *A),),
        lambda x: x.transpose(2, 0, 1),
    ),
    "rearrange": (
        'pattern = "b h w -> h (w b)"',
        ((3, *A),),
        lambda x: x.transpose(1, 2, 0).reshape(33, 210),
    ),
    "concatenate_heads": (
        "",
        ((1, 3, 33, 16),),
        lambda x: x.transpose(0, 2, 1, 3).reshape(1, 33, 48),
    ),
    "repeat_interleave": (
        "repeats = 3 : ui32, dim = 0 : si32",
        (A,),
        lambda x: np.repeat(x, 3, 0),
    ),
    "slice_static": (
        "begins = [3 : i32, 4 : i32], ends = [23 : i32, 70 : i32], step = [2 : i32, 3 : i32]",
        (A,),
        lambda x: x[3:23:2, 4:70:3],
    ),
    "pad": (
        "padding = array<i32: 1, 2, 2, 3>, value = 1.5 : f32",
        (A,),
        lambda x: np.pad(x, ((1, 2), (2, 3)), constant_values=1.5),
    ),
    "softmax": ("dimension = 1 : si32", (A,), softmax),
    "layer_norm": (
        "normalized_shape = array<i64: 70>, epsilon = 1.0e-5 : f32, "
        "operandSegmentSizes = array<i32: 1, 1, 1>",
        (A, (70,), (70,)),
        normalize,
    ),
    "arange": (
        "start = 2 : si64, end = 142 : si64, step = 2 : si64, arange_dimension = 1 : i64",
        (),
        lambda: np.broadcast_to(np.arange(2, 142, 2, np.float32), A),
    ),
    "conv2d": (
        "stride = array<i32: 1, 1>, padding = array<i32: 0, 0>, dilation = array<i32: 1, 1>, "
        "groups = 1 : i32",
        ((1, 9, 11, 3), (5, 3, 3, 3)),
        convolve,
    ),
    "max_pool2d": (
        "kernel = array<i32: 2, 2>, stride = array<i32: 2, 2>, padding = array<i32: 0, 0>, "
        "dilation = array<i32: 1, 1>, ceil_mode = false",
        ((1, 8, 10, 3),),
        lambda x: x.reshape(1, 4, 2, 5, 2, 3).max((2, 4)),
    ),
    "global_avg_pool2d": ("", ((1, 8, 10, 3),), lambda x: x.mean((1, 2), keepdims=True)),
}
"""Parameters, shapes of the operands, and the oracle, by the name of the operation."""


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("name", CASES)
def test_operation(name: str) -> None:
    """One operation without destination, inside the module of a device."""
    parameters, shapes, oracle = CASES[name]
    inputs = [RANDOM.normal(size=shape).astype(np.float32) for shape in shapes]
    expected = np.asarray(oracle(*inputs))
    types = [tensor(*shape) for shape in shapes]
    result = tensor(*expected.shape)
    arguments = ", ".join(f"%{number}: {type_}" for number, type_ in enumerate(types))
    operands = ", ".join(f"%{number}" for number in range(len(types)))
    operation = f'"ttir.{name}"({operands})' + (f" <{{{parameters}}}>" if parameters else "")
    text = f"""ttcore.device_module {{
      builtin.module {{
        func.func @main({arguments}) -> {result} {{
          %r = {operation} : ({", ".join(types)}) -> {result}
          return %r : {result}
        }}
      }}
    }}"""
    (output,) = run_kernels(text, *inputs).outputs
    assert output.shape == expected.shape
    np.testing.assert_allclose(output, expected, rtol=1e-5, atol=140 * 4 * 2.0**-24)


@pytest.mark.parametrize(
    ("mnemonic", "oracle"),
    [
        ("eq", np.equal),
        ("ne", np.not_equal),
        ("gt", np.greater),
        ("ge", np.greater_equal),
        ("lt", np.less),
        ("le", np.less_equal),
    ],
)
def test_comparisons_without_differences(mnemonic: str, oracle: np.ufunc) -> None:
    """Infinities equal themselves, and integers compare where their difference overflows."""
    floats = np.array([np.inf, -np.inf, np.nan, 3e38, -3e38, 0.0, -0.0, 1.0], np.float32)
    integers = np.array([2**31 - 1, -(2**31), 2**30, -(2**30), 1, 0, -1], np.int32)
    for ends, element in ((floats, "f32"), (integers, "i32")):
        x, y = (np.ascontiguousarray(each) for each in np.meshgrid(ends, ends))
        type_ = tensor(*x.shape, element=element)
        text = f"""
            func.func @compare(%x: {type_}, %y: {type_}) -> {type_} {{
              %0 = "ttir.{mnemonic}"(%x, %y) : ({type_}, {type_}) -> {type_}
              return %0 : {type_}
            }}"""
        (result,) = run_kernels(text, x, y).outputs
        np.testing.assert_array_equal(result != 0, oracle(x, y))

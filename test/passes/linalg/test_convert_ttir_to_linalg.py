"""Operations of ttir as linalg, read again as ttir and run, against NumPy."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from running.pass_runner import printed
from running.randomness import TestGenerator

import ttmlir
from ttmlir.mlir.reporting import DiagnosticError

RNG = TestGenerator(__name__)
Array = np.ndarray[Any, Any]
DTYPES: dict[str, Any] = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "i32": np.int32}


@dataclass(frozen=True)
class Case:
    """An operation on arguments by number: its properties, the result, and what NumPy gives."""

    operation: str
    arguments: tuple[int, ...]
    result: str
    function: Callable[..., Any]
    properties: str = ""


def module(types: tuple[str, ...], cases: tuple[Case, ...]) -> str:
    """A function that returns what all cases compute of its arguments."""
    arguments = ", ".join(f"%x{n}: tensor<{type_}>" for n, type_ in enumerate(types))
    lines = [
        f'  %{n} = "ttir.{case.operation}"({", ".join(f"%x{m}" for m in case.arguments)}) '
        f"{f'<{{{case.properties}}}>' if case.properties else ''} : "
        f"({', '.join(f'tensor<{types[m]}>' for m in case.arguments)}) -> tensor<{case.result}>"
        for n, case in enumerate(cases)
    ]
    results = ", ".join(f"tensor<{case.result}>" for case in cases)
    values = ", ".join(f"%{n}" for n in range(len(cases)))
    return "\n".join(
        (
            f"func.func @main({arguments}) -> ({results}) {{",
            *lines,
            f"  return {values} : {results}",
            "}",
        )
    )


def erf(x: Array) -> Array:
    """The error function."""
    return np.vectorize(math.erf)(x)


def softmax(x: Array) -> Array:
    """Along the last dimension."""
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def by_torch(function: Callable[..., torch.Tensor]) -> Callable[..., Array]:
    """A function of images with channels last, by one of torch's with channels first."""

    def compute(image: Array, *others: Array) -> Array:
        moved = torch.tensor(image).permute(0, 3, 1, 2)
        return function(moved, *map(torch.tensor, others)).permute(0, 2, 3, 1).numpy()

    return compute


def dims(*numbers: int, keep: bool = True) -> str:
    """The properties of a reduction."""
    listed = ", ".join(f"{n} : i32" for n in numbers)
    return f"dim_arg = [{listed}], keep_dim = {str(keep).lower()}"


FLOATS = ("33x70xf32", "33x70xf32", "1x70xf32", "70x45xf32", "2x9x13x3xf32", "5x3x3x2xf32")
POOL = "kernel = array<i32: 3, 3>, stride = array<i32: 2, 2>"
WINDOW = "dilation = array<i32: 1, 1>, padding = array<i32: 1, 1>"
ON_FLOATS = (
    Case("exp", (0,), "33x70xf32", np.exp),
    Case("tan", (0,), "33x70xf32", np.tan),
    Case("sigmoid", (0,), "33x70xf32", lambda x: 1 / (1 + np.exp(-x))),
    Case("gelu", (0,), "33x70xf32", lambda x: x / 2 * (1 + erf(x / np.sqrt(2)))),
    Case("relu", (0,), "33x70xf32", lambda x: np.maximum(x, 0)),
    Case("sign", (0,), "33x70xf32", np.sign),
    Case("signbit", (0,), "33x70xf32", np.signbit),
    Case("softsign", (0,), "33x70xf32", lambda x: x / (1 + np.abs(x))),
    Case("subtract", (0, 2), "33x70xf32", np.subtract),
    Case("maximum", (2, 0), "33x70xf32", np.maximum),
    Case("lt", (0, 1), "33x70xf32", np.less),
    Case("ne", (0, 1), "33x70xbf16", np.not_equal),
    Case("where", (0, 1, 2), "33x70xf32", lambda c, x, y: np.where(c != 0, x, y)),
    Case(
        "clamp_scalar",
        (0,),
        "33x70xf32",
        lambda x: np.clip(x, -0.5, 0.25),
        "min = -5.0e-01 : f32, max = 2.5e-01 : f32",
    ),
    Case("typecast", (0,), "33x70xi32", np.trunc),
    Case("sum", (0,), "33x1xf32", lambda x: x.sum(1, keepdims=True), dims(1)),
    Case("mean", (0,), "70xf32", lambda x: x.mean(0), dims(0, keep=False)),
    Case("max", (0,), "1x1xf32", lambda x: x.max(keepdims=True), dims(0, 1)),
    Case("argmax", (0,), "33xi32", lambda x: x.argmax(1), dims(1, keep=False)),
    Case("cumsum", (0,), "33x70xf32", lambda x: x.cumsum(1), "dim = 1 : i64"),
    Case("softmax", (0,), "33x70xf32", softmax, "dimension = 1 : si32"),
    Case("matmul", (0, 3), "33x45xf32", np.matmul),
    Case(
        "matmul",
        (3, 0),
        "45x33xf32",
        lambda a, b: (b @ a).T,
        "transpose_a = true, transpose_b = true",
    ),
    Case(
        "dot_general",
        (0, 1),
        "70x33x33xf32",
        lambda a, b: np.einsum("ib,jb->bij", a, b),
        "batch_dims_lhs = array<i64: 1>, batch_dims_rhs = array<i64: 1>, "
        "contract_dims_lhs = array<i64>, contract_dims_rhs = array<i64>",
    ),
    Case(
        "permute",
        (4,),
        "3x2x9x13xf32",
        lambda x: x.transpose(3, 0, 1, 2),
        "permutation = array<i64: 3, 0, 1, 2>",
    ),
    Case("reshape", (4,), "6x117xf32", lambda x: x.reshape(6, 117), "shape = [6 : i32, 117 : i32]"),
    Case(
        "repeat",
        (0,),
        "66x140xf32",
        lambda x: np.tile(x, (2, 2)),
        "repeat_dimensions = array<i64: 2, 2>",
    ),
    Case("concat", (0, 2), "34x70xf32", lambda a, b: np.concatenate([a, b]), "dim = 0 : si32"),
    Case(
        "slice_static",
        (0,),
        "10x22xf32",
        lambda x: x[3:23:2, 4:70:3],
        "begins = [3 : i32, 4 : i32], ends = [23 : i32, 70 : i32], step = [2 : i32, 3 : i32]",
    ),
    Case(
        "slice_static",
        (0,),
        "10x22xf32",
        lambda x: x[3:23:2, -66::3],
        "begins = [3 : i32, -66 : i32], ends = [23 : i32, 70 : i32], step = [2 : i32, 3 : i32]",
    ),
    Case(
        "pad",
        (0,),
        "36x75xf32",
        lambda x: np.pad(x, ((1, 2), (2, 3)), constant_values=1.5),
        "padding = array<i32: 1, 2, 2, 3>, value = 1.5 : f32",
    ),
    Case(
        "conv2d",
        (4, 5),
        "2x5x14x5xf32",
        by_torch(lambda x, w: F.conv2d(x, w, stride=(2, 1), padding=1)),
        f"{WINDOW}, stride = array<i32: 2, 1>, groups = 1 : i32",
    ),
    Case(
        "max_pool2d",
        (4,),
        "2x5x7x3xf32",
        by_torch(lambda x: F.max_pool2d(x, 3, 2, 1)),
        f"{WINDOW}, {POOL}, ceil_mode = false",
    ),
    Case(
        "avg_pool2d",
        (4,),
        "2x5x7x3xf32",
        by_torch(lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False)),
        f"{WINDOW}, {POOL}, ceil_mode = false, count_include_pad = false",
    ),
)
OTHERS = ("33x70xi32", "33x70xi32", "70x600xbf16")
ON_OTHERS = (
    Case("add", (0, 1), "33x70xi32", np.add),
    Case("minimum", (0, 1), "33x70xi32", np.minimum),
    Case("bitwise_xor", (0, 1), "33x70xi32", np.bitwise_xor),
    Case("neg", (0,), "33x70xi32", np.negative),
    Case("ge", (0, 1), "33x70xi32", np.greater_equal),
    Case("max", (0,), "33x1xi32", lambda x: x.max(1, keepdims=True), dims(1)),
    Case("typecast", (0,), "33x70xf32", lambda x: x),
    Case("sum", (2,), "70x1xbf16", lambda x: x.sum(1, keepdims=True), dims(1)),
)


@pytest.mark.parametrize(
    ("types", "cases"), [(FLOATS, ON_FLOATS), (OTHERS, ON_OTHERS)], ids=["floats", "others"]
)
def test_round_trip(types: tuple[str, ...], cases: tuple[Case, ...]) -> None:
    """All operations at once."""
    text = printed(module(types, cases), "convert-ttir-to-linalg")
    assert "ttir." not in text
    assert "linalg." in text
    inputs: list[Array] = []
    for each in types:
        *shape, element = each.split("x")
        numbers = RNG.normal(size=tuple(map(int, shape))) * (50 if element == "i32" else 1)
        inputs.append(numbers.astype(DTYPES[element]))
    wide = [x if x.dtype == np.int32 else x.astype(np.float64) for x in inputs]
    results = ttmlir.compile(printed(text, "convert-linalg-to-ttir"))(*inputs)
    for case, result in zip(cases, results, strict=True):
        expected = np.asarray(case.function(*(wide[n] for n in case.arguments)))
        actual = np.asarray(result).astype(np.float64)
        assert actual.shape == expected.shape, case
        most = 2.0**-7 if "bf16" in case.result else 2.0**-11
        scale = max(1.0, float(np.abs(expected).max()))
        np.testing.assert_allclose(
            actual, expected, rtol=0, atol=most * scale, err_msg=case.operation
        )


def test_a_module_of_tensor_operations_is_one_of_linalg() -> None:
    """There may be nothing of linalg itself."""
    text = printed(
        """func.func @f(%x: tensor<4x5xf32>) -> tensor<4x10xf32> {
          %0 = "ttir.concat"(%x, %x) <{dim = -1 : si32}>
              : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x10xf32>
          return %0 : tensor<4x10xf32>
        }""",
        "convert-ttir-to-linalg",
    )
    assert "tensor.concat" in text
    x = np.arange(20, dtype=np.float32).reshape(4, 5)
    assert np.array_equal(ttmlir.compile(text)(x), np.concatenate([x, x], 1))


def test_named_operations_and_broadcasting() -> None:
    """A short operand is brought to the shape of the result."""
    text = printed(
        """func.func @f(%x: tensor<3x5xf32>, %y: tensor<1x5xf32>) -> tensor<3x5xf32> {
          %0 = "ttir.add"(%x, %y) : (tensor<3x5xf32>, tensor<1x5xf32>) -> tensor<3x5xf32>
          return %0 : tensor<3x5xf32>
        }""",
        "convert-ttir-to-linalg",
    )
    assert "linalg.broadcast ins(%collapsed : tensor<5xf32>)" in text
    assert re.search(r"linalg.add ins\(%arg0, %\w+ : tensor<3x5xf32>, tensor<3x5xf32>\)", text)


@pytest.mark.parametrize(
    ("operation", "types", "message"),
    [
        (
            "reverse",
            ("3x5xf32", "3x5xf32"),
            "failed to legalize operation 'ttir.reverse': there is nothing in linalg for it; "
            "supported are elementwise operations, arange, argmax, ",
        ),
        (
            "abs",
            ("3x5xui32", "3x5xui32"),
            "arith computes on integers without ui and si, got ui32; convert them to i8, i16 or "
            "i32 by ttir.typecast",
        ),
        (
            "erfinv",
            ("3x5xf32", "3x5xf32"),
            "there is nothing in linalg, math or arith for it on f32",
        ),
    ],
)
def test_what_is_refused(operation: str, types: tuple[str, str], message: str) -> None:
    """At the operation."""
    properties = "<{dimensions = array<i64: 1>}>" if operation == "reverse" else ""
    source, target = (f"tensor<{each}>" for each in types)
    text = f"""func.func @f(%x: {source}) -> {target} {{
      %0 = "ttir.{operation}"(%x) {properties} : ({source}) -> {target}
      return %0 : {target}
    }}"""
    with pytest.raises(DiagnosticError) as caught:
        printed(text, "convert-ttir-to-linalg")
    assert "test.mlir:2:" in str(caught.value)
    assert message in str(caught.value)

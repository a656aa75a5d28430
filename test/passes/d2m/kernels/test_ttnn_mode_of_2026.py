"""Ttir of 2026 on tensors of ttnn, by kernels, to numbers in a `.ttnn` file, against NumPy.

Tensors are bfloat16, and so are what kernels exchange: an error of 2^-8 of the largest number for
each of at most two roundings, that of a product and that of a sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from running.pass_runner import lowered
from running.randomness import TestGenerator
from samples.ttir_text import tensor

import ttmlir
from ttmlir.target.flatbuffer.ttnn import ttnn_to_flatbuffer

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]
RANDOM = TestGenerator(__name__)
A = (33, 70)
CASES: dict[str, tuple[str, tuple[Shape, ...], Callable[..., Any]]] = {
    "matmul": (
        "transpose_a = true, transpose_b = true",
        ((70, 33), (45, 70)),
        lambda x, y: x.T @ y.T,
    ),
    "linear": ("transpose_b = true", (A, (45, 70), (1, 45)), lambda x, y, z: x @ y.T + z),
    "mish": ("", (A,), lambda x: x * np.tanh(np.log1p(np.exp(x)))),
    "rearrange": (
        'pattern = "b h w -> h (b w)"',
        ((3, *A),),
        lambda x: x.transpose(1, 0, 2).reshape(33, 210),
    ),
    "repeat_interleave": ("repeats = 3 : ui32, dim = 0 : si32", (A,), lambda x: np.repeat(x, 3, 0)),
    "sum": (
        "dim_arg = [1 : i32], keep_dim = true",
        (A,),
        lambda x: x.sum(1, keepdims=True),
    ),
}
"""Parameters, shapes of the operands, and the oracle, by the name of the operation."""


def in_dram(shape: Shape) -> str:
    """The type of a tensor of tiles in DRAM."""
    height = -(-shape[-2] // 32)
    tiles = f"{math.prod(shape[:-2]) * height}x{-(-shape[-1] // 32)}"
    rows = {2: "(d0, d1) -> (d0, d1)", 3: f"(d0, d1, d2) -> (d0 * {32 * height} + d1, d2)"}
    layout = (
        f"#ttnn.ttnn_layout<{rows[len(shape)]}, <1x1>, memref<{tiles}x!ttcore.tile<32x32, bf16>, "
        "#ttnn.buffer_type<dram>>, <interleaved>>"
    )
    return tensor(*shape, element=f"bf16, {layout}")


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", CASES)
def test_operation(name: str, tmp_path: Path) -> None:
    """One operation, whose parts exchange tensors that have no layout of ttnn."""
    parameters, shapes, oracle = CASES[name]
    inputs = [RANDOM.normal(size=shape).astype(ml_dtypes.bfloat16) for shape in shapes]
    expected = np.asarray(oracle(*[x.astype(np.float32) for x in inputs]))
    types = [in_dram(shape) for shape in shapes]
    arguments = ", ".join(f"%{number}: {type_}" for number, type_ in enumerate(types))
    operands = ", ".join(f"%{number}" for number in range(len(types)))
    operation = f'"ttir.{name}"({operands})' + (f" <{{{parameters}}}>" if parameters else "")
    result = in_dram(expected.shape)
    text = f"""func.func @main({arguments}) -> {result} {{
      %r = {operation} : ({", ".join(types)}) -> {result}
      return %r : {result}
    }}"""
    module = lowered(text, "ttir-to-ttmetal-pipeline=ttnn-mode=true")
    path = tmp_path / "kernels.ttnn"
    path.write_bytes(ttnn_to_flatbuffer(module, mlir_source="", cpp_source=""))
    output = ttmlir.load(path)(*inputs)
    assert output.shape == expected.shape
    found = np.asarray(output).astype(np.float32)
    np.testing.assert_allclose(found, expected, rtol=0, atol=2 * 2**-8 * np.abs(expected).max())

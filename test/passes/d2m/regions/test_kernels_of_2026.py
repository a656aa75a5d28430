"""Programs of ttir, by tt-mlir's passes one after the other, to kernels that run, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from running.pass_runner import lowered
from running.randomness import TestGenerator

from ttmlir.compiler import write_ttm
from ttmlir.runtime import read_binary
from ttmlir.runtime.metal_program import MetalBinary
from ttmlir.runtime.metal_session import execute
from ttmlir.sim.options import SimOptions

RNG = TestGenerator(__name__)
Array = np.ndarray[Any, Any]
PASSES = (
    *("ttcore-register-device", "ttir-to-d2m", "d2m-materialize-view-returns"),
    *("d2m-grid-selection", "canonicalize", "d2m-lower-to-layout", "ttcore-one-shot-bufferize"),
    *("d2m-allocate", "d2m-generate-outer-loops", "d2m-generic-tile-compute-loops"),
    *("d2m-linalg-to-affine", "d2m-insert-dst-register-access", "d2m-sfpu-tile-loop-fission"),
    *("d2m-generic-linearize-memref", "d2m-generic-lower-to-explicit-form", "canonicalize"),
    *("d2m-split-unified-thread", "d2m-preallocate-mcast-semaphores", "d2m-schedule-dma"),
    *("d2m-lower-load-store-ops-to-dma", "d2m-lower-dma-to-fully-indexed-form", "canonicalize"),
    *("d2m-generic-regions-to-funcs", "convert-d2m-to-ttkernel", "ttkernel-control-dst-section"),
    "convert-d2m-to-ttmetal",
)
"""In the order of tt-mlir's pipeline of August 2026."""


@dataclass(frozen=True)
class Case:
    """An operation of ttir on tensors of these shapes."""

    operation: str
    shapes: tuple[tuple[int, ...], ...]
    result: tuple[int, ...]
    function: Callable[..., Array]
    element: str = "f32"
    properties: str = ""
    made: str = ""
    """The element type of the result, if it is another one."""
    is_nested: bool = False
    """In a module for a device, as compilers of 2026 have it."""

    def text(self) -> str:
        """The module."""
        types = [self._type(shape) for shape in self.shapes]
        names = [f"%x{number}" for number in range(len(types))]
        taken = ", ".join(f"{name}: {type_}" for name, type_ in zip(names, types, strict=True))
        result = self._type(self.result, self.made)
        text = f"""func.func @main({taken}) -> {result} {{
          %0 = "ttir.{self.operation}"({", ".join(names)}) {self.properties}
              : ({", ".join(types)}) -> {result}
          return %0 : {result}
        }}"""
        nested = f"module {{ ttcore.device_module {{ builtin.module {{\n{text}\n}} }} }}"
        return nested if self.is_nested else text

    def _type(self, shape: tuple[int, ...], element: str = "") -> str:
        return f"tensor<{'x'.join(map(str, shape))}x{element or self.element}>"


CASES = (
    Case("exp", ((33, 70),), (33, 70), np.exp, is_nested=True),
    Case("subtract", ((64, 128), (64, 128)), (64, 128), np.subtract, "bf16"),
    Case("add", ((33, 70), (1, 70)), (33, 70), np.add),
    Case("matmul", ((33, 70), (70, 45)), (33, 45), np.matmul),
    Case("matmul", ((2, 33, 70), (2, 70, 45)), (2, 33, 45), np.matmul),
    Case(
        "sum",
        ((2, 64, 96),),
        (2, 64, 1),
        lambda x: x.sum(2, keepdims=True),
        "f32",
        "<{dim_arg = [2 : i32], keep_dim = true}>",
    ),
    Case("sum", ((33, 70),), (1, 1), lambda x: x.sum(keepdims=True), "f32", "<{keep_dim = true}>"),
    Case("typecast", ((33, 70),), (33, 70), np.trunc, made="i32"),
    Case(
        "reduce_or",
        ((33, 70),),
        (33, 1),
        lambda x: np.any(x, 1, keepdims=True),
        "f32",
        "<{dim_arg = [1 : i32], keep_dim = true}>",
    ),
    Case(
        "max",
        ((33, 70),),
        (1, 70),
        lambda x: x.max(0, keepdims=True),
        "f32",
        "<{dim_arg = [0 : i32], keep_dim = true}>",
    ),
    Case(
        "permute",
        ((64, 160),),
        (160, 64),
        np.transpose,
        "f32",
        "<{permutation = array<i64: 1, 0>}>",
    ),
)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("case", CASES, ids=[case.operation for case in CASES])
def test_kernels_run(case: Case) -> None:
    """In device numerics, clean under the sanitizer; tiles go to DST with 10 bits of mantissa."""
    inputs = [RNG.normal(size=shape).astype(np.float32) for shape in case.shapes]
    if case.operation == "sum":
        inputs = [np.abs(x) for x in inputs]
    if case.operation == "max":
        inputs = [-np.abs(x) for x in inputs]  # padding is 0
    if case.element == "bf16":
        inputs = [x.astype(ml_dtypes.bfloat16) for x in inputs]
    binary = read_binary(write_ttm(lowered(case.text(), *PASSES)), "test.ttm")
    assert isinstance(binary, MetalBinary)
    run = execute(binary.metal_programs[0], inputs, SimOptions(numerics="device"))
    assert not [finding for each in run.reports for finding in each.report.findings]
    (output,) = run.outputs
    expected = case.function(*(x.astype(np.float64) for x in inputs))
    # The matrix unit adds up 70 or 96 products and sums.
    most = 2.0**-8 * max(1.0, float(np.abs(expected).max()))
    if case.operation == "subtract":
        # The vector unit cuts differences for a DST of 16 bits.
        most *= 2
    np.testing.assert_allclose(np.asarray(output).astype(np.float64), expected, rtol=0, atol=most)

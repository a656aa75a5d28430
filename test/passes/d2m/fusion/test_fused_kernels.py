"""Fused generics become kernels: limits of cores end a fusion, and never fail a program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from running.d2m_interpreter import normal
from running.kernel_runs import run_kernels
from running.pass_runner import lowered
from samples.ttir_text import FunctionText, tensor

from ttmlir.dialects import d2m

Array = np.ndarray[Any, Any]
PASSES = ("ttir-composite-decomposition", "ttir-to-d2m", "d2m-mask-padding", "d2m-generic-fusion")


def softmax(x: Array, axis: int) -> Array:
    """As in textbooks."""
    powers = np.exp(x - x.max(axis, keepdims=True))
    return np.asarray(powers / powers.sum(axis, keepdims=True))


def check(text: str, inputs: Sequence[Array], expected: Array, launches: int) -> None:
    """A function runs on the simulator in so many launches, and gives what is expected."""
    module = lowered(text, *PASSES)
    assert sum(isinstance(op, d2m.GenericOp) for op in module.walk()) == launches
    (result,) = run_kernels(text, *inputs).outputs
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("axis", [0, 1])
def test_sums_of_many_softmaxes(axis: int) -> None:
    """Each needs buffers for masked tiles, which count, too."""
    shape, count = tensor(33, 5), 8
    text = FunctionText([shape])
    value, total = "%arg0", ""
    x = np.asarray(normal(33, 5))
    expected = np.zeros_like(x)
    for _ in range(count):
        value = text.op("softmax", [value], shape, f"dimension = {axis} : si32")
        x = softmax(x, axis)
        total = text.op("add", [total, value], shape) if total else value
        expected += x
    check(text.returning(total), [normal(33, 5)], expected, 3)


def test_a_reduction_within_blocks_does_not_run_in_steps() -> None:
    """Softmax of columns, then the largest number of rows: both dimensions are whole."""
    shape = tensor(70, 40)
    text = FunctionText([shape])
    value = text.op("softmax", ["%arg0"], shape, "dimension = 0 : si32")
    over = "dim_arg = [1 : i32], keep_dim = true"
    result = text.op("max", [value], tensor(70, 1), over)
    x = normal(70, 40)
    check(text.returning(result), [x], softmax(x, 0).max(1, keepdims=True), 1)


def test_rows_of_one_tile_that_change_places() -> None:
    """Dimensions of one tile are followed from stage to stage, as those of many are."""
    text = FunctionText([tensor(33, 5)])
    over = "dim_arg = [0 : i32], keep_dim = true"
    largest = text.op("max", ["%arg0"], tensor(1, 5), over)
    column = text.op("permute", [largest], tensor(5, 1), "permutation = array<i64: 1, 0>")
    order = "permutation = array<i64: 1, 0>"
    turned = text.op("permute", ["%arg0"], tensor(5, 33), order)
    product = text.op("matmul", [turned, "%arg0"], tensor(5, 5))
    result = text.op("multiply", [product, column], tensor(5, 5))
    x = normal(33, 5)
    expected = (x.T @ x) * x.max(0)[:, None]
    check(text.returning(result), [x], expected, 1)

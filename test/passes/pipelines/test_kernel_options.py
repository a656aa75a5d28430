"""Options of `ttir-to-ttmetal-pipeline` that change kernels, on the simulator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from running.d2m_interpreter import normal, text_of
from running.kernel_runs import KERNEL_PIPELINE, run_kernels
from running.pass_runner import lowered
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import SSAValue


def number(value: SSAValue) -> int:
    """What a constant is."""
    assert isinstance(value.owner, ConstantOp)
    assert isinstance(value.owner.value, IntegerAttr)
    return value.owner.value.value.data


@pytest.mark.parametrize("by_tile", [False, True])
def test_products_by_tile(by_tile: bool) -> None:
    """Blocks of products are of one tile."""
    a, b = normal(70, 96), normal(96, 130, seed=1)
    expected: Any = a.astype(np.float64) @ b
    options = f"use-tile-matmul={str(by_tile).lower()} override-device-shape=1,1"
    text = text_of("matmul", [a, b], expected.astype(np.float32))
    module = lowered(text, f"{KERNEL_PIPELINE}={options}")
    blocks = [
        tuple(number(each) for each in op.operands[-3:-1])
        for op in module.walk()
        if op.name == "ttkernel.matmul_block"
    ]
    assert blocks
    assert ({*blocks} == {(1, 1)}) is by_tile
    (result,) = run_kernels(text, a, b, options=options).outputs
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)

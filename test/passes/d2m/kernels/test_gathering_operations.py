"""Operations that move parts of tiles before they compute, on the simulator, beside NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from running.d2m_interpreter import normal, reduce_attributes, text_of, whole
from running.kernel_runs import run_kernels
from samples.ttir_text import FunctionText, tensor

Array = np.ndarray[Any, Any]


def check(
    mnemonic: str,
    inputs: list[Array],
    expected: Array,
    attributes: str = "",
    tolerance: float = 0,
    *,
    exact: bool = True,
) -> None:
    """Compare an operation on the simulator with what is expected of it."""
    run = run_kernels(text_of(mnemonic, inputs, expected, attributes), *inputs, exact=exact)
    (output,) = run.outputs
    np.testing.assert_allclose(
        output.astype(np.float64), expected.astype(np.float64), rtol=tolerance, atol=tolerance
    )


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("mnemonic", "function"),
    [("sum", np.add), ("max", np.maximum), ("min", np.minimum), ("prod", np.multiply)],
)
def test_reductions_of_integers(mnemonic: str, function: np.ufunc) -> None:
    """Over columns, with the wrap of 32 bits."""
    x = whole(np.int32, 5, 40)
    expected = function.reduce(x, axis=1, keepdims=True, dtype=np.int32)
    check(mnemonic, [x], expected, reduce_attributes((1,), keep=True))


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16, np.int32])
def test_positions_of_the_largest(dtype: Any) -> None:
    """With the roundings of the chip, which must not decide."""
    x = (np.random.default_rng(0).integers(-9, 9, (5, 40)) + 0.0).astype(dtype)
    if dtype is np.float32:
        x += np.float32(1 + 2**-20)
        x[:, 33] = x.max(1) + np.float32(2**-19)
    expected = x.argmax(1).astype(np.int32)
    check("argmax", [x], expected, reduce_attributes((1,), keep=False), exact=False)


def test_running_sums() -> None:
    """Along columns."""
    x = normal(3, 40)
    check("cumsum", [x], x.cumsum(1), "dim = 1 : si32", 1e-4)


def test_rows_of_a_table() -> None:
    """Exact in 16 bits, with the roundings of the chip."""
    table = normal(70, 40).astype(ml_dtypes.bfloat16)
    rows = np.random.default_rng(1).integers(0, 70, (2, 5), np.int32)
    check("embedding", [rows, table], table[rows], exact=False)


@pytest.mark.exhaustive
def test_heads_of_attention() -> None:
    """Splitting, transposing and merging heads of 40 columns, and of 64, which are whole tiles."""
    for width in (40, 64):
        text = FunctionText([tensor(1, 33, 2 * width)] * 3)
        heads: list[str] = []
        for name in ("%arg0", "%arg1", "%arg2"):
            listed = f"shape = [1 : i32, 33 : i32, 2 : i32, {width} : i32]"
            split = text.op("reshape", [name], tensor(1, 33, 2, width), listed)
            order = "permutation = array<i64: 0, 2, 1, 3>"
            heads.append(text.op("permute", [split], tensor(1, 2, 33, width), order))
        order = "permutation = array<i64: 0, 1, 3, 2>"
        keys = text.op("permute", [heads[1]], tensor(1, 2, width, 33), order)
        scores = text.op("matmul", [heads[0], keys], tensor(1, 2, 33, 33))
        mixed = text.op("matmul", [scores, heads[2]], tensor(1, 2, 33, width))
        order = "permutation = array<i64: 0, 2, 1, 3>"
        back = text.op("permute", [mixed], tensor(1, 33, 2, width), order)
        listed = f"shape = [1 : i32, 33 : i32, {2 * width} : i32]"
        merged = text.op("reshape", [back], tensor(1, 33, 2 * width), listed)
        inputs = [normal(1, 33, 2 * width, seed=seed) for seed in range(3)]
        run = run_kernels(text.returning(merged), *inputs)
        q, k, v = (x.reshape(1, 33, 2, width).transpose(0, 2, 1, 3) for x in inputs)
        expected = ((q @ k.swapaxes(-1, -2)) @ v).transpose(0, 2, 1, 3).reshape(1, 33, -1)
        np.testing.assert_allclose(run.outputs[0], expected, rtol=1e-3, atol=1e-3)

"""Products of integers, which the vector unit computes column by row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from running.kernel_runs import KERNEL_PIPELINE, run_kernels
from running.pass_runner import lowered
from samples.ttir_text import FunctionText, tensor

from ttmlir.target.flatbuffer.ttmetal import ttmetal_to_flatbuffer
from ttmlir.tools import ttrt

Shape = tuple[int, ...]


def product(first: Shape, second: Shape, element: str) -> str:
    """Of matrices, or batches of them."""
    text = FunctionText([tensor(*each, element=element) for each in (first, second)])
    shape = (*first[:-1], second[-1])
    return text.returning(text.op("matmul", ["%arg0", "%arg1"], tensor(*shape, element=element)))


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("first", "second", "element"),
    [
        ((33, 5), (5, 40), "i32"),
        ((2, 5, 33), (1, 33, 7), "ui32"),
        ((5, 40), (40, 3), "i16"),
    ],
)
def test_products(first: Shape, second: Shape, element: str, tmp_path: Path) -> None:
    """Of any integers, with the wrap of their type; references say the same of each program."""
    dtype = np.dtype({"i32": np.int32, "ui32": np.uint32, "i16": np.int16}[element])
    ends = np.iinfo(dtype)
    random = np.random.default_rng(3)
    x, y = (
        random.integers(ends.min, ends.max, shape, dtype, endpoint=True)
        for shape in (first, second)
    )
    text = product(first, second, element)
    [result] = run_kernels(text, x, y, exact=False).outputs
    np.testing.assert_array_equal(result, np.matmul(x, y, dtype=dtype))
    file, inputs = tmp_path / "product.ttm", tmp_path / "inputs.npz"
    file.write_bytes(ttmetal_to_flatbuffer(lowered(text, KERNEL_PIPELINE)))
    np.savez(inputs, x, y)
    assert ttrt.main(["run", "--golden", "--inputs", str(inputs), str(file)]) == 0

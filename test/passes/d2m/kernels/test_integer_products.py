"""Products of integers, which the matrix unit computes digit by digit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from running.kernel_runs import KERNEL_PIPELINE, run_kernels
from running.pass_runner import lowered
from samples.ttir_text import FunctionText, tensor

from ttmlir.target.flatbuffer.ttmetal import ttmetal_to_flatbuffer
from ttmlir.tools import ttrt

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]


def product(first: Shape, second: Shape, element: str) -> str:
    """Of matrices, or batches of them."""
    text = FunctionText([tensor(*each, element=element) for each in (first, second)])
    shape = (*first[:-1], second[-1])
    return text.returning(text.op("matmul", ["%arg0", "%arg1"], tensor(*shape, element=element)))


def factors(first: Shape, second: Shape, element: str) -> tuple[np.dtype[Any], Array, Array]:
    """Any numbers of a type."""
    dtype = np.dtype(element.replace("i", "int"))
    ends = np.iinfo(dtype)
    random = np.random.default_rng(3)
    x, y = (
        random.integers(ends.min, ends.max, shape, dtype, endpoint=True)
        for shape in (first, second)
    )
    return dtype, x, y


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("first", "second", "element"),
    [
        ((33, 5), (5, 40), "i32"),
        ((2, 5, 33), (1, 33, 7), "ui32"),
        ((5, 40), (40, 3), "i16"),
        ((3, 530), (530, 2), "ui16"),
        ((7, 33), (33, 40), "i8"),
    ],
)
def test_products(first: Shape, second: Shape, element: str, tmp_path: Path) -> None:
    """Of any integers, with the wrap of their type; references say the same of each program."""
    dtype, x, y = factors(first, second, element)
    text = product(first, second, element)
    [result] = run_kernels(text, x, y, exact=False).outputs
    np.testing.assert_array_equal(result, np.matmul(x, y, dtype=dtype))
    file, inputs = tmp_path / "product.ttm", tmp_path / "inputs.npz"
    file.write_bytes(ttmetal_to_flatbuffer(lowered(text, KERNEL_PIPELINE)))
    np.savez(inputs, x, y)
    assert ttrt.main(["run", "--golden", "--inputs", str(inputs), str(file)]) == 0


def test_coarse_products_of_integers_are_exact() -> None:
    """The matrix unit takes five bits of a factor at LoFi, so kernels of integers have HiFi2."""
    dtype, x, y = factors((40, 33), (33, 5), "i8")
    options = "set-math-fidelity=lofi"
    run = run_kernels(product(x.shape, y.shape, "i8"), x, y, exact=False, options=options)
    np.testing.assert_array_equal(run.outputs[0], np.matmul(x, y, dtype=dtype))


@pytest.mark.parametrize("sign", [-1, 1])
def test_the_largest_sums_of_digits(sign: int) -> None:
    """512 products of -128 and -128 or 127, and what takes them to -1 and 1: all bits are right."""
    x = np.full((2, 640), -128, np.int32)
    y = np.full((640, 3), 127 if sign < 0 else -128, np.int32)
    x[1, 1:], y[1:, 1] = 1, -sign
    x[1, 0], y[0, 1] = sign, 640 - sign
    run = run_kernels(product(x.shape, y.shape, "i32"), x, y, exact=False)
    np.testing.assert_array_equal(run.outputs[0], x @ y)


def test_products_of_integers_are_about_as_fast_as_others() -> None:
    """Ten products of digits, and their sum, in less than four times the cycles of ten."""
    _, x, y = factors((128, 128), (128, 128), "i32")
    slow = run_kernels(product(x.shape, y.shape, "i32"), x, y, timed=True)
    a, b = (each.astype(np.float32) for each in (x, y))
    fast = run_kernels(product(a.shape, b.shape, "bf16"), a, b, timed=True)
    assert slow.cycles < 40 * fast.cycles

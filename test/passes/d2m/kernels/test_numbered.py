"""Kernels that read what numbers name, on the simulator with all its checks, beside NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from running.d2m_interpreter import Shape, normal, text_of, whole
from running.kernel_runs import KERNEL_PIPELINE, run_kernels
from running.pass_runner import lowered

from ttmlir.runtime import read_binary
from ttmlir.runtime.metal_program import MetalBinary
from ttmlir.runtime.metal_session import execute
from ttmlir.sim.options import SimOptions
from ttmlir.target.flatbuffer.ttmetal import ttmetal_to_flatbuffer

Array = np.ndarray[Any, Any]


def check(
    mnemonic: str,
    inputs: Sequence[Array],
    expected: Array,
    attributes: str = "",
    options: str = "",
) -> None:
    """Compare an operation on the simulator with what is expected of it, bit by bit."""
    text = text_of(mnemonic, inputs, expected, attributes)
    run = run_kernels(text, *inputs, options=options)
    np.testing.assert_array_equal(run.outputs[0], expected)


def numbers(most: int, *shape: int, dtype: Any = np.int32) -> Array:
    """Numbers from 0 to below `most`."""
    return np.random.default_rng(most).integers(0, most, shape, np.int32).astype(dtype)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("dtype", "index"),
    [
        (np.float32, np.int32),
        (ml_dtypes.bfloat16, np.uint32),
        (np.int32, np.uint8),
        (np.int8, np.int64),
    ],
)
def test_rows_of_a_table(dtype: Any, index: Any) -> None:
    """Exactly, with tables in all widths and numbers of any type."""
    table = whole(np.int8, 70, 40).astype(dtype)
    rows = numbers(70, 2, 33, dtype=index)
    check("embedding", [rows, table], table[rows])


def test_numbers_beyond_the_table() -> None:
    """They mean the first row, and the last one: kernels stay in the table."""
    table, rows = whole(np.int32, 70, 40), np.array([-5, 70, 3, 2**31 - 1], np.int32)
    check("embedding", [rows, table], table[np.clip(rows, 0, 69)])


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("memory", ["l1", "dram"])
@pytest.mark.parametrize(("index", "dim"), [((5, 70), 0), ((33, 5), 1), ((40, 1), 0), ((1, 40), 1)])
def test_elements_along_a_dimension(memory: str, index: Shape, dim: int) -> None:
    """A number for each element, and for each row or column."""
    x = whole(np.int32, 33, 70).astype(ml_dtypes.bfloat16)
    picked = numbers(33, *index)
    outside = (index[0], 70) if dim == 0 else (33, index[1])
    expected = np.take_along_axis(x, np.broadcast_to(picked, outside), dim)
    options = f"default-input-memspace={memory}"
    check("gather", [x, picked], expected, f"dim = {dim} : si32", options)


@pytest.mark.parametrize(
    ("shape", "dim", "count", "bytes_read"),
    [
        # A core reads the 2 x 3 faces of a row of tiles once, for the numbers of two tiles.
        ((32, 45), 1, 45, (2 * 3 * 256 + 2 * 2 * 1024 + 1024) * 4),
        # Of 3 matrices, each element may be in any; of 9 there would be too many faces.
        ((3, 5, 7), 0, 2, (3 * 256 + 2 * 2 * 1024 + 2 * 1024) * 4),
        ((9, 5, 7), 0, 2, (2 * 5 * 7 * 16 + 2 * 2 * 1024 + 2 * 1024) * 4),
        # There are too many for 5 rows of 7 elements, too: 16 elements are read for each.
        ((5, 4000), 1, 7, (5 * 7 * 16 + 2 * 1024 + 1024) * 4),
    ],
)
def test_faces_that_elements_are_in(shape: Shape, dim: int, count: int, bytes_read: int) -> None:
    """They are read once, numbers to find elements and as an operand, and zeros at the end."""
    x = normal(*shape)
    wanted = tuple(count if each == dim else extent for each, extent in enumerate(shape))
    picked = numbers(shape[dim], *wanted)
    expected = np.take_along_axis(x, picked, dim)
    text = text_of("gather", [x, picked], expected, f"dim = {dim} : si32")
    run = run_kernels(text, x, picked, options="override-device-shape=1,1", timed=True)
    np.testing.assert_array_equal(run.outputs[0], expected)
    (report,) = run.reports
    found = [each.counters.get("bytes read", 0) for each in report.report.times("").threads]
    assert sum(found) == bytes_read


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("sizes", "begins"), [((5, 64), (7, 3)), ((33, 5), (40, -3)), ((20, 70), (9, 0))]
)
def test_slices_from_computed_places(sizes: Shape, begins: Shape) -> None:
    """Read and written, moved inside where they would reach over the border."""
    x = whole(np.int32, 33, 70)
    starts = np.array(begins, np.int32)
    where = tuple(
        slice(first := min(max(begin, 0), extent - size), first + size)
        for begin, extent, size in zip(begins, x.shape, sizes, strict=True)
    )
    listed = ", ".join(map(str, sizes))
    check("slice_dynamic", [x, starts], x[where], f"sizes = array<i64: {listed}>")
    expected = x.copy()
    expected[where] = update = whole(np.int32, *sizes) + 1000
    check("slice_write", [x, update, starts], expected)


def test_sums_at_numbered_places() -> None:
    """One of them is beyond the tensor, two are the same."""
    x, source = whole(np.int32, 33, 40), whole(np.int32, 4, 40)
    places = np.array([[5], [32], [33], [5]], np.int32)
    expected = x.copy()
    np.add.at(expected, places[[0, 1, 3], 0], source[[0, 1, 3]])
    check("scatter_add", [x, places, source], expected, "dim = 0 : si32")


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(("seed", "late"), [(1, False), (2, True), (3, True)])
def test_other_orders_and_late_copies(seed: int, late: bool) -> None:
    """Numbers have arrived before they are read."""
    table, rows = whole(np.int32, 70, 40), numbers(70, 40)
    text = text_of("embedding", [rows, table], table[rows])
    binary = read_binary(ttmetal_to_flatbuffer(lowered(text, KERNEL_PIPELINE)), "test.ttm")
    assert isinstance(binary, MetalBinary)
    options = SimOptions(schedule_seed=seed, delay_copies=late)
    run = execute(binary.metal_programs[0], [rows, table], options)
    assert not [finding for each in run.reports for finding in each.report.findings]
    np.testing.assert_array_equal(run.outputs[0], table[rows])

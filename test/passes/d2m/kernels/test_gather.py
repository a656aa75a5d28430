"""Kernels that gather parts of tiles, on the simulator with all its checks, beside NumPy."""

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


def check(mnemonic: str, inputs: Sequence[Array], expected: Array, attributes: str) -> None:
    """Compare a move on the simulator with what is expected of it, bit by bit."""
    run = run_kernels(text_of(mnemonic, inputs, expected, attributes), *inputs)
    np.testing.assert_array_equal(run.outputs[0], expected)


def slice_attributes(*parts: tuple[int, int, int]) -> str:
    """First, end and step of each dimension."""
    names = ("begins", "ends", "step")
    return ", ".join(
        f"{name} = [{', '.join(f'{each} : i32' for each in numbers)}]"
        for name, numbers in zip(names, zip(*parts, strict=True), strict=True)
    )


def tensor_of(dtype: Any, *shape: int) -> Array:
    """Numbers of a type."""
    return whole(np.int8, *shape).astype(dtype)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(
    "dtype", [np.float32, ml_dtypes.bfloat16, np.float16, np.int32, np.uint16, np.int8, np.uint8]
)
def test_formats(dtype: Any) -> None:
    """Elements of one, two and four bytes, at places with and without the alignment of memory."""
    x = tensor_of(dtype, 40, 70)
    check("slice", [x], x[3:38], slice_attributes((3, 38, 1), (0, 70, 1)))
    check("slice", [x], x[4:36, 5:70], slice_attributes((4, 36, 1), (5, 70, 1)))


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("dtype", "rows", "columns"),
    [
        (np.float32, (5, 70), (1, 97)),
        (np.float32, (33, 37), (30, 63)),
        (ml_dtypes.bfloat16, (0, 40), (17, 33)),
        (ml_dtypes.bfloat16, (5, 70), (6, 90)),
        (np.int8, (33, 70), (1, 35)),
        (np.uint8, (4, 5), (15, 29)),
    ],
)
def test_rows_that_move_sideways(dtype: Any, rows: Shape, columns: Shape) -> None:
    """By words and parts of words, from one face or from two, with rows of one face or of two."""
    x = tensor_of(dtype, 70, 100)
    expected = x[slice(*rows), slice(*columns)]
    check("slice", [x], expected, slice_attributes((*rows, 1), (*columns, 1)))


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(("seed", "late"), [(1, False), (2, True), (3, True)])
def test_other_orders_and_late_copies(seed: int, late: bool) -> None:
    """Nothing depends on when transactions arrive."""
    x = tensor_of(ml_dtypes.bfloat16, 70, 100)
    expected = x[5:70, 3:90]
    text = text_of("slice", [x], expected, slice_attributes((5, 70, 1), (3, 90, 1)))
    binary = read_binary(ttmetal_to_flatbuffer(lowered(text, KERNEL_PIPELINE)), "test.ttm")
    assert isinstance(binary, MetalBinary)
    run = execute(binary.metal_programs[0], [x], SimOptions(schedule_seed=seed, delay_copies=late))
    assert not [finding for each in run.reports for finding in each.report.findings]
    np.testing.assert_array_equal(run.outputs[0], expected)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    "parts",
    [
        ((0, 5, 2), (1, 40, 1), (0, 70, 1)),
        ((0, 5, 1), (0, 40, 1), (16, 70, 1)),
        ((1, 2, 1), (2, 39, 3), (48, 64, 1)),
        ((4, 5, 1), (39, 40, 1), (69, 70, 1)),
        # The last tile of every other column ends in faces that there are not.
        ((1, 3, 1), (0, 40, 1), (0, 70, 2)),
    ],
)
def test_slices(parts: Sequence[tuple[int, int, int]]) -> None:
    """From anywhere, by any step; whole rows of faces are aligned."""
    x = normal(5, 40, 70)
    expected = x[tuple(slice(*each) for each in parts)]
    check("slice", [x], expected, slice_attributes(*parts))


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("shape", "order"),
    [((2, 5, 3, 40), (0, 2, 1, 3)), ((3, 5, 7), (2, 1, 0)), ((40, 2, 33), (1, 0, 2))],
)
def test_permutations(shape: Shape, order: Shape) -> None:
    """An outer dimension changes places with one that tiles divide."""
    x = normal(*shape)
    listed = ", ".join(map(str, order))
    check("permute", [x], x.transpose(order), f"permutation = array<i64: {listed}>")


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("shape", "target"), [((5, 7), (7, 5)), ((3, 33, 64), (99, 64)), ((6, 35), (2, 105))]
)
def test_reshapes(shape: Shape, target: Shape) -> None:
    """Rows that are cut elsewhere."""
    x = normal(*shape)
    listed = ", ".join(f"{extent} : i32" for extent in target)
    check("reshape", [x], x.reshape(target), f"shape = [{listed}]")


@pytest.mark.parametrize(("shapes", "dim"), [(((5, 40), (70, 40)), 0), (((33, 5), (33, 40)), 1)])
def test_concatenations(shapes: Sequence[Shape], dim: int) -> None:
    """Parts that share a tile."""
    parts = [normal(*shape, seed=n) for n, shape in enumerate(shapes)]
    check("concat", parts, np.concatenate(parts, dim), f"dim = {dim} : si32")


def test_padding() -> None:
    """In front of rows and columns."""
    x = normal(33, 40)
    attributes = "padding = array<i32: 1, 2, 3, 4>, value = -1.5 : f32"
    check("pad", [x], np.pad(x, ((1, 2), (3, 4)), constant_values=-1.5), attributes)


def test_opposite_order() -> None:
    """Rows and columns."""
    x = normal(33, 40)
    check("reverse", [x], x[::-1, ::-1].copy(), "dimensions = array<i64: 0, 1>")


def test_repetitions() -> None:
    """Of a few rows."""
    x = normal(5, 40)
    check("repeat", [x], np.tile(x, (7, 2)), "repeat_dimensions = array<i64: 7, 2>")

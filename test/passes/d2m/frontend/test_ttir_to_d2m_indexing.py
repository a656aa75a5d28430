"""Operations whose numbers name elements become views by numbers and choices, beside NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from running.d2m_interpreter import Shape, check, normal, refusal, text_of, whole
from running.pass_runner import lowered

from ttmlir.dialects import d2m

Array = np.ndarray[Any, Any]


def numbers(most: int, *shape: int) -> Array:
    """Numbers from 0 to below `most`."""
    return np.random.default_rng(most).integers(0, most, shape, np.int32)


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16, np.int32, np.uint8])
@pytest.mark.parametrize("shape", [(5,), (2, 33)])
def test_rows_of_a_table(dtype: Any, shape: Shape) -> None:
    """Of any numbers, unlike a product."""
    table = whole(np.int8, 70, 40).astype(dtype)
    rows = numbers(70, *shape)
    check("embedding", [rows, table], table[rows])


@pytest.mark.parametrize(
    ("shape", "index", "dim"),
    [
        ((33, 70), (5, 70), 0),
        ((33, 70), (33, 5), 1),
        ((33, 70), (5, 1), 0),
        ((1, 70), (33, 5), 1),
        ((2, 5, 40), (2, 7, 1), 1),
        ((3, 5, 40), (7, 5, 40), -3),
        ((40,), (70,), 0),
    ],
)
def test_elements_along_a_dimension(shape: Shape, index: Shape, dim: int) -> None:
    """The others are repeated where one tensor has one element."""
    x = whole(np.int32, *shape)
    picked = numbers(shape[dim], *index)
    axis = dim % len(shape)
    outside = [
        1 if each == axis else max(pair) for each, pair in enumerate(zip(shape, index, strict=True))
    ]
    both = [
        np.broadcast_to(
            each, [own if here == axis else outside[here] for here, own in enumerate(each.shape)]
        )
        for each in (x, picked)
    ]
    expected = np.take_along_axis(both[0], both[1], dim)
    check("gather", [x, picked], expected, f"dim = {dim} : si32")


@pytest.mark.parametrize(
    ("shape", "sizes", "begins"),
    [
        ((33, 70), (5, 64), (7, 3)),
        ((33, 70), (33, 5), (40, -3)),
        ((3, 40, 33), (2, 5, 33), (9, 34, 5)),
        ((70,), (33,), (5,)),
    ],
)
def test_slices_from_computed_places(shape: Shape, sizes: Shape, begins: Shape) -> None:
    """Those that would reach over the border are moved inside; and the same is written to."""
    x = whole(np.int32, *shape)
    starts = np.array(begins, np.int32)
    where = tuple(
        slice(first := min(max(begin, 0), extent - size), first + size)
        for begin, extent, size in zip(begins, shape, sizes, strict=True)
    )
    listed = ", ".join(map(str, sizes))
    check("slice_dynamic", [x, starts], x[where], f"sizes = array<i64: {listed}>")
    update = whole(np.int32, *sizes) + 1000
    expected = x.copy()
    expected[where] = update
    check("slice_write", [x, update, starts], expected)


COMBINATIONS: dict[str, Any] = {
    "scatter": None,
    "scatter_add": np.add,
    "scatter_multiply": np.multiply,
    "scatter_maximum": np.maximum,
    "scatter_minimum": np.minimum,
}


@pytest.mark.parametrize("mnemonic", COMBINATIONS)
@pytest.mark.parametrize(("index", "dim"), [((5, 1), 0), ((33, 4), 1)])
def test_writes_to_numbered_places(mnemonic: str, index: Shape, dim: int) -> None:
    """Places beyond the tensor are dropped."""
    x = whole(np.int32, 33, 40)
    source = whole(np.int32, *((5, 40) if dim == 0 else (33, 4))) % 7
    # Each place once along the dimension, as any of several elements for one may win.
    lines = np.tile(np.arange(50, dtype=np.int32), (index[1 - dim], 1))
    places = np.random.default_rng(0).permuted(lines, axis=1)[:, : index[dim]]
    places = np.ascontiguousarray(places if dim else places.T)
    expected = x.copy()
    for place in np.ndindex(source.shape):
        number = places[place if dim else (place[0], 0)]
        if number < x.shape[dim]:
            at = (number, place[1]) if dim == 0 else (place[0], number)
            combine = COMBINATIONS[mnemonic]
            value = source[place]
            expected[at] = value if combine is None else combine(expected[at], value)
    check(mnemonic, [x, places, source], expected, f"dim = {dim} : si32")


@pytest.mark.parametrize("mnemonic", COMBINATIONS)
def test_writes_of_vectors(mnemonic: str) -> None:
    """The last one for a place counts, or all of them; of floats sums have all bits."""
    places = np.random.default_rng(1).integers(-2, 40, 70, np.int32)
    for x, source in ((whole(np.int32, 37), whole(np.int32, 70)), (normal(37), normal(70))):
        expected = x.copy()
        for place, value in zip(places, source, strict=True):
            if 0 <= place < 37:
                combine = COMBINATIONS[mnemonic]
                expected[place] = value if combine is None else combine(expected[place], value)
        check(mnemonic, [x, places, source], expected, "dim = 0 : si32")


def test_scatters_are_taken_apart_before() -> None:
    """The message names the pass."""
    x = whole(np.int32, 33, 40)
    message = refusal("scatter", [x, numbers(33, 33, 1), x], x, "dim = 0 : si32")
    assert "there are no kernels for it; run ttir-composite-decomposition before, or" in message


def test_the_numbers_are_an_operand() -> None:
    """Of the generic that reads the view by numbers."""
    table, rows = whole(np.int32, 70, 40), numbers(70, 5)
    module = lowered(text_of("embedding", [rows, table], table[rows]), "ttir-to-d2m")
    (view,) = [op for op in module.walk() if isinstance(op, d2m.ViewNumberedOp)]
    (use,) = view.results[0].uses
    assert isinstance(use.operation, d2m.GenericOp)
    assert [*use.operation.inputs] == [view.results[0], view.numbers]

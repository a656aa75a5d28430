"""Reference functions and shapes of definitions that read and write by number, and of general
products."""

from __future__ import annotations

import numpy as np
import pytest

from ttmlir.optable import definition
from ttmlir.optable.indexing import check_numbers, window_at

X = np.arange(12.0).reshape(3, 4)


def call(mnemonic: str, *inputs: object, **parameters: object) -> list[object]:
    """Evaluate a definition and hold the result against the shape that the definition announces."""
    arrays = [np.asarray(value) for value in inputs]
    entry = definition(mnemonic)
    assert entry.result_shape is not None
    result = entry.reference(np, *arrays, **parameters)
    assert result.shape == entry.result_shape(*(array.shape for array in arrays), **parameters)
    return result.tolist()


def test_gather() -> None:
    """Extents of 1 repeat, of the index and of the input."""
    assert call("gather", X, [[1, 0, 2, 2]], dim=0) == [[4, 1, 10, 11]]
    assert call("gather", X, [[3], [0], [1]], dim=-1) == [[3], [4], [9]]
    assert call("gather", X, [[3, 0]], dim=1) == [[3, 0], [7, 4], [11, 8]]
    assert call("gather", [[5, 6]], [[1, 0], [0, 0]], dim=1) == [[6, 5], [5, 5]]


def test_scatter() -> None:
    """Elements for one place meet there; those for places that do not exist vanish."""
    zeros = np.zeros((3, 2))
    rows, source = [[2], [-1], [2], [3]], [[1, 2], [3, 4], [5, 6], [7, 8]]
    assert call("scatter_add", zeros, rows, source, dim=0) == [[0, 0], [0, 0], [6, 8]]
    assert call("scatter_maximum", zeros, rows, source, dim=0) == [[0, 0], [0, 0], [5, 6]]
    assert call("scatter_minimum", zeros + 3, rows, source, dim=0)[2] == [1, 2]
    assert call("scatter_multiply", zeros + 2, rows, source, dim=0)[2] == [10, 24]
    each = call("scatter", zeros, [[1, 0]], [[8, 9]], dim=-2)
    assert each == [[0, 9], [8, 0], [0, 0]]


def test_slices_stay_inside() -> None:
    """Begins are moved, not sizes."""
    assert call("slice_dynamic", X, [-5, 2], sizes=(2, 2)) == [[2, 3], [6, 7]]
    assert call("slice_dynamic", X, [2, 9], sizes=(2, 1)) == [[7], [11]]
    written = call("slice_write", X, [[0, -1]], [9, 1])
    assert written == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 0, -1, 11]]
    assert X[2, 1] == 9, "the operand stays as it is"


def test_cumsum() -> None:
    """Sums down the columns."""
    assert call("cumsum", X[:, :2], dim=0) == [[0, 1], [4, 6], [12, 15]]


def test_windows_need_a_begin_and_a_size_for_each_dimension() -> None:
    """Begins beyond the last place where the window fits, or before the first, are moved."""
    assert window_at(np, (3, 4), [1, 2], (2, 2)) == (slice(1, 3), slice(2, 4))
    assert window_at(np, (3, 4), [2, -1], (2, 4)) == (slice(1, 3), slice(0, 4))
    for begins, sizes in (([1], (1, 1)), ([1, 1], (1,)), ([1, 1, 1], (1, 1))):
        with pytest.raises(ValueError, match="zip"):
            window_at(np, (3, 4), begins, sizes)


@pytest.mark.parametrize("numbers", [[3], [-1], [0, 3, 1], [-1, 2]])
def test_numbers_of_elements_that_do_not_exist_are_refused(numbers: list[int]) -> None:
    """The message names the smallest and the largest."""
    message = f"Elements {min(numbers)} to {max(numbers)} were picked from a dimension of 3."
    with pytest.raises(ValueError, match=f"^{message}$"):
        check_numbers(np.asarray(numbers), 3)
    with pytest.raises(ValueError, match=f"^{message}$"):
        definition("gather").reference(np, X, np.asarray(numbers)[:, None], dim=0)
    rows = f"Row numbers from {min(numbers)} to {max(numbers)} were looked up in a table of 3 rows."
    with pytest.raises(ValueError, match=rows):
        definition("embedding").reference(np, np.asarray(numbers), X)
    check_numbers(np.asarray([0, 2]), 3)
    check_numbers(np.asarray([], int), 0)


DIMS = {
    "batch_dims_lhs": (),
    "contract_dims_lhs": (1,),
    "batch_dims_rhs": (),
    "contract_dims_rhs": (0,),
}


@pytest.mark.parametrize(
    ("mnemonic", "shapes", "parameters", "message"),
    [
        ("gather", [(3, 4), (3,)], {"dim": 0}, "as many dimensions as the input, 2"),
        ("gather", [(3, 4), (3, 2)], {"dim": 2}, "Dimension 2 is out of range for rank 2"),
        ("gather", [(3, 4), (2, 2)], {"dim": 1}, "2 elements along dimension 0, the input 3"),
        ("scatter", [(3, 4), (3,), (3, 4)], {"dim": 0}, "Index and source must have as many"),
        ("scatter", [(3, 4), (1, 4), (2, 4)], {"dim": 0}, "1 elements along dimension 0, the sou"),
        ("scatter_add", [(3, 4), (2, 1), (2, 3)], {"dim": 0}, "Source has 3 elements along dim"),
        ("slice_dynamic", [(3, 4), (1,)], {"sizes": (1, 1)}, "one dimension and 2 elements"),
        ("slice_dynamic", [(3, 4), (2,)], {"sizes": (1,)}, "one entry for each of the 2"),
        ("slice_dynamic", [(3, 4), (2,)], {"sizes": (1, 5)}, "Size 5 of dimension 1 must be"),
        ("slice_write", [(3, 4), (4,), (2,)], {}, "Update must have as many dimensions"),
        ("slice_write", [(3, 4), (4, 1), (2,)], {}, "4 elements along dimension 0, more than"),
        ("cumsum", [(3, 4)], {"dim": -3}, "Dimension -3 is out of range for rank 2"),
        ("dot_general", [(3, 4), (5, 2)], DIMS, r"contracting dimensions \[1\] of lhs and \[0\]"),
        (
            "dot_general",
            [(3, 4), (4, 2)],
            {**DIMS, "batch_dims_lhs": (1,), "batch_dims_rhs": (1,)},
            "Batch and contracting dimensions must differ",
        ),
        (
            "dot_general",
            [(3, 4), (4, 2)],
            {**DIMS, "contract_dims_rhs": (-1,)},
            "Dimension -1 is out of range for rank 2",
        ),
    ],
)
def test_shapes_that_do_not_fit(
    mnemonic: str, shapes: list[tuple[int, ...]], parameters: dict[str, object], message: str
) -> None:
    """Each rule says what is wrong with which number."""
    rule = definition(mnemonic).result_shape
    assert rule is not None
    with pytest.raises(ValueError, match=message):
        rule(*shapes, **parameters)


def test_numbers_that_no_element_has() -> None:
    """A gather does not count from the end."""
    with pytest.raises(ValueError, match="Elements -1 to 3 were picked from a dimension of 4"):
        call("gather", X, [[-1, 3]], dim=1)

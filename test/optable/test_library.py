"""Operations that only files of 2026 hold, against numbers worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from ttmlir.optable.library import DEFINITIONS


def test_slices_are_gathered_at_places_of_an_index() -> None:
    """Of rows and of single numbers; a slice that would reach over the border is moved inside."""
    rows = DEFINITIONS["rows_gather"]
    x = np.arange(12).reshape(1, 4, 3)
    found = rows.reference(np, x, np.array([[[2, 9]]]), sizes=(4,), windows=(2,), column=False)
    assert found.tolist() == [[[6, 7, 8], [9, 10, 11], [6, 7, 8], [9, 10, 11]]]
    places = np.array([[[0, 3], [2, 1]]])
    found = rows.reference(np, x, places, sizes=(4, 3), windows=(1, 1), column=True)
    assert found.tolist() == [[2, 10]]
    found = rows.reference(np, x, places[..., :1], sizes=(4, 3), windows=(2, 1), column=True)
    assert found.tolist() == [[2, 5]]
    # What is indexed by two places may be one dimension: x[places] of x as 2x3 rows of 2.
    x = np.arange(12).reshape(1, 6, 2)
    places = np.array([[[1, 0, 1], [2, 1, 0]]])
    found = rows.reference(np, x, places, sizes=(2, 3), windows=(1, 1), column=False)
    wanted = x.reshape(2, 3, 2)[[1, 0, 1], [2, 1, 0]]
    assert found.tolist() == [wanted.tolist()]
    # Outside of the rows there is nothing.
    places = np.array([[[1, -1, 4, 3]]])
    options = {"sizes": (4,), "windows": (1,), "column": False, "fill_out_of_bounds": True}
    found = rows.reference(np, np.arange(1, 13).reshape(1, 4, 3), places, **options)
    assert found.tolist() == [[[4, 5, 6], [0, 0, 0], [0, 0, 0], [10, 11, 12]]]
    shape = rows.result_shape
    assert shape is not None
    assert shape((1, 6, 2), (1, 2, 3), sizes=(2, 3), windows=(1, 1), column=False) == (1, 3, 2)
    assert shape((1, 4, 3), (1, 1, 2), sizes=(4,), windows=(2,), column=False) == (1, 4, 3)
    with pytest.raises(ValueError, match="must be those of the input"):
        shape((1, 4, 3), (1, 1, 2), sizes=(5,), windows=(2,), column=False)


def test_slices_are_scattered() -> None:
    """Those that reach outside are dropped."""
    rows = DEFINITIONS["rows_scatter"]
    x, index = np.zeros((1, 3, 2)), np.array([[[1, 1, 3]]])
    updates = np.arange(1.0, 7.0).reshape(1, 3, 2)
    slices = {"sizes": (3,), "windows": (1,), "column": False}
    found = rows.reference(np, x, index, updates, **slices, reduction="sum")
    assert found.tolist() == [[[0, 0], [4, 6], [0, 0]]]
    found = rows.reference(np, x, index, updates, **slices, reduction="invalid")
    assert found.tolist() == [[[0, 0], [3, 4], [0, 0]]]


def test_running_results() -> None:
    """From the front or the back."""
    running = DEFINITIONS["cumulative"].reference
    x = np.array([[1.0, 3.0, 2.0]])
    assert running(np, x, dim=1, reduction="max", reverse=False).tolist() == [[1, 3, 3]]
    assert running(np, x, dim=1, reduction="min", reverse=True).tolist() == [[1, 2, 2]]
    assert running(np, x, dim=1, reduction="prod", reverse=False).tolist() == [[1, 3, 6]]
    last = running(np, x, dim=1, reduction="logsumexp", reverse=False)[0, -1]
    assert last == pytest.approx(np.log(np.exp(x).sum()))


def test_bits() -> None:
    """Numbers of fewer bits, and integers whose bits are combined."""
    round_to = DEFINITIONS["reduce_precision"].reference
    x = np.array([1.1, 70000.0, -1e-9, np.inf])
    found = round_to(np, x, exponent_bits=5, mantissa_bits=2)
    assert found.tolist() == [1.0, np.inf, -0.0, np.inf]
    numbers = np.array([[6, 3], [12, 5]])
    for name, wanted in (("and", [2, 4]), ("or", [7, 13]), ("xor", [5, 9])):
        reduce = DEFINITIONS[f"reduce_bitwise_{name}"].reference
        assert reduce(np, numbers, keep_dim=False, dim_arg=(1,)).tolist() == wanted


def test_places_of_the_largest_numbers() -> None:
    """Counted row by row in the image."""
    pool = DEFINITIONS["max_pool2d_with_indices"].reference
    image = np.array([[1, 5, 2, 0], [3, 4, 8, 7]], float).reshape(1, 1, 8, 1)
    window = {"kernel_height": 2, "kernel_width": 2, "stride_height": 2, "stride_width": 2}
    extents = {"batch_size": 1, "input_height": 2, "input_width": 4, "channels": 1}
    plain = {
        f"{n}_{a}": v for n, v in (("dilation", 1), ("padding", 0)) for a in ("height", "width")
    }
    values, places = pool(np, image, **window, **extents, **plain)
    assert values.ravel().tolist() == [5, 8]
    assert places.ravel().tolist() == [1, 6]

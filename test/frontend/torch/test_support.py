"""What is said of operations without a rule, and which indices are slices."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from ttmlir.arrays.carriers import array_of
from ttmlir.composites.indexing import find_slice
from ttmlir.frontend.torch.support import near

torch: Any = import_module("torch")

NAMES = ("aten.sinh.default", "aten.sin.default", "aten.asin.default", "aten.sinc.default")
DIFFERENT = (
    "the number of different elements is known only at run time; x.sort() keeps the shape, and "
    "torch.histc(x, bins, min, max) counts"
)
RANDOM = (
    "random numbers that take an unknown number of tries are not supported; make them outside and "
    "pass them as an argument"
)
AT_RUN_TIME = (
    "the number of selected elements is known only at run time; torch.where(mask, x, other) keeps "
    "the shape"
)
INSTEAD = {
    **dict.fromkeys(["unique_dim", "unique_consecutive", "_unique2"], DIFFERENT),
    **dict.fromkeys(["poisson", "binomial", "_standard_gamma", "_sample_dirichlet"], RANDOM),
    **dict.fromkeys(["masked_select", "nonzero"], AT_RUN_TIME),
}


@pytest.mark.parametrize("name", INSTEAD)
def test_what_to_do_instead(name: str) -> None:
    """Whatever the overload, and although other names are near."""
    assert near(f"aten.{name}.default", [name]) == INSTEAD[name]
    assert near(f"aten.{name}", []) == INSTEAD[name]


def test_the_nearest_names() -> None:
    """Four at most, the nearest first; none where none is near."""
    several = ["sinha", "sinhb", "sinhc", "sinhd", "sinhe", "cosh"]
    start = "this operation is not supported"
    found = near("aten.sinhx.out", several)
    assert found.startswith(f"{start}; the nearest supported ones are ")
    assert len(found.split(", ")) == 4
    assert "cosh" not in found
    assert near("aten.sinhx", ["cosh", "sinh"]).endswith("the nearest supported ones are sinh")
    assert near("aten.qqq.default", several) == start


PROGRESSIONS: list[tuple[Any, tuple[int, int, int] | None]] = [
    ([3], (3, 4, 1)),
    ([0], (0, 1, 1)),
    ([2, 3, 4], (2, 5, 1)),
    ([1, 4, 7], (1, 8, 3)),
    ([0, 2], (0, 3, 2)),
    ([], None),
    ([[0, 1]], None),
    (3, None),
    ([-1], None),
    ([-2, -1, 0], None),
    ([2, 2], None),
    ([2, 1], None),
    ([0, 1, 3], None),
    ([0, 2, 3], None),
]


@pytest.mark.parametrize(("indices", "bounds"), PROGRESSIONS, ids=str)
def test_numbers_that_a_slice_selects(indices: Any, bounds: tuple[int, int, int] | None) -> None:
    """Begin, end and step, one for a single number; others are looked up one by one."""
    tensor = torch.tensor(indices, dtype=torch.int64)
    assert find_slice(array_of(tensor.numpy())) == bounds
    if bounds is not None:
        assert torch.arange(9)[slice(*bounds)].tolist() == tensor.tolist()

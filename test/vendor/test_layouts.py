"""Layouts that Tenstorrent's compiler of 2026 chooses at optimization levels 1 and 2, chosen here.

`Inputs/n150_level1.tar.xz` and `n150_level2.tar.xz` have its ttir and ttnn of small programs, as
`Archive` reads them.
"""

from __future__ import annotations

import pytest
from answers import Archive
from compare_ttnn import Equality, compare

ARCHIVES = {level: Archive(f"n150_level{level}") for level in (1, 2)}
_PRODUCTS = "products are divided over cores, too"
DIFFERENT = {
    1: {},
    2: {
        "add-tanh-mul-neg-bf16-4096x4096": "half of it does not fit: one operand stays in DRAM",
        "add-tanh-mul-neg-bf16-5x6x7": "shards of many rows that are padding",
        "dot-add-bf16-96x160": _PRODUCTS,
        "dot-bf16-32x1024": _PRODUCTS,
        "dot-bf16-7x96x64": _PRODUCTS,
    },
}
"""Programs with other layouts there, and which."""
EQUAL = {1: (57, 57), 2: (44, 49)}
"""So many programs are equal, of all."""
GROUPS = 6


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize(
    "number",
    [n if n < 1 else pytest.param(n, marks=pytest.mark.exhaustive) for n in range(GROUPS)],
)
def test_layouts_are_those_of_the_vendor(number: int, level: int) -> None:
    """Byte for byte, beside locations."""
    archive = ARCHIVES[level]
    names = archive.names()[number::GROUPS]
    found = {
        name
        for name in names
        if compare(archive[name], board="n150", level=level)[0] is Equality.DIFFERENT
    }
    assert found == set(names) & set(DIFFERENT[level])


@pytest.mark.parametrize("level", [1, 2])
def test_most_layouts_are_equal(level: int) -> None:
    """Figures that the documents name."""
    names = set(ARCHIVES[level].names())
    assert set(DIFFERENT[level]) <= names
    assert (len(names - set(DIFFERENT[level])), len(names)) == EQUAL[level]

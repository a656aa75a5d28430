"""Layouts that Tenstorrent's compiler of 2026 chooses at optimization level 2, chosen here.

`Inputs/n150_level2.tar.xz` has its ttir and ttnn of small programs, as `Archive` reads them.
"""

from __future__ import annotations

import pytest
from answers import Archive
from compare_ttnn import Equality, compare

ARCHIVE = Archive("n150_level2")
DIFFERENT = {
    "add-tanh-mul-neg-bf16-4096x4096": "half of it does not fit: one operand stays in DRAM",
    "add-mul-i32-96x160": "integers stay rows from the arguments on",
    "dot-add-bf16-96x160": "products are divided over cores, too",
    "add-tanh-mul-neg-bf16-5x6x7": "shards of many rows that are padding",
}
"""Programs with other layouts there, and which."""
GROUPS = 6


@pytest.mark.parametrize(
    "number",
    [n if n < 1 else pytest.param(n, marks=pytest.mark.exhaustive) for n in range(GROUPS)],
)
def test_layouts_are_those_of_the_vendor(number: int) -> None:
    """Byte for byte, beside locations."""
    names = ARCHIVE.names()[number::GROUPS]
    found = {
        name
        for name in names
        if compare(ARCHIVE[name], board="n150", level=2)[0] is Equality.DIFFERENT
    }
    assert found == set(names) & set(DIFFERENT)


def test_most_layouts_are_equal() -> None:
    """40 of 44."""
    names = set(ARCHIVE.names())
    assert set(DIFFERENT) <= names
    assert (len(names - set(DIFFERENT)), len(names)) == (40, 44)

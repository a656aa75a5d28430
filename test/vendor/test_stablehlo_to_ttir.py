"""The ttir that Tenstorrent's compiler of 2026 makes of StableHLO, made here.

`equality.py --record` writes the list of programs that are equal.
"""

from __future__ import annotations

import pytest
from answers import Archive
from equality import BOARD, Equality, compare, compared, recorded

ARCHIVE = Archive(BOARD)
GROUPS = 24
"""So many tests share the programs."""
EQUAL, LOCATED = 1019, 1009
"""At least so many of the 1,039 modules are equal, beside locations and with them."""


@pytest.mark.parametrize(
    "number",
    [n if n < 2 else pytest.param(n, marks=pytest.mark.exhaustive) for n in range(GROUPS)],
)
def test_programs_are_as_equal_as_recorded(number: int) -> None:
    """Nothing that was equal is lost, and what became equal is recorded."""
    names = compared(ARCHIVE)[number::GROUPS]
    known = recorded()
    found = {name: compare(ARCHIVE[name])[0] for name in names}
    expected = {name: known.get(name, Equality.DIFFERENT) for name in names}
    assert found == expected


def test_most_programs_are_equal() -> None:
    """Of those that the vendor's compiler has a module of ttir for."""
    names = compared(ARCHIVE)
    known = recorded()
    assert set(known) <= set(names)
    assert len(names) == 1039
    assert len(known) >= EQUAL
    assert sum(each is Equality.LOCATIONS for each in known.values()) >= LOCATED

"""The ttnn that Tenstorrent's compiler of 2026 makes of ttir, made here.

`compare_ttnn.py --record` writes the list of programs that are equal.
"""

from __future__ import annotations

import pytest
from answers import Archive
from compare_ttnn import BOARD, Equality, compare, compared, recorded

ARCHIVE = Archive(BOARD)
OF_OTHER_BOARD = Archive("n150")
GROUPS = 24
"""So many tests share the programs."""
EQUAL, LOCATED = 979, 958
"""At least so many of the 1,033 modules are equal, beside locations and with them."""


@pytest.mark.parametrize(
    "number",
    [n if n < 1 else pytest.param(n, marks=pytest.mark.exhaustive) for n in range(GROUPS)],
)
def test_programs_are_as_equal_as_recorded(number: int) -> None:
    """Nothing that was equal is lost, and what became equal is recorded."""
    names = compared(ARCHIVE)[number::GROUPS]
    known = recorded()
    found = {name: compare(ARCHIVE[name])[0] for name in names}
    assert found == {name: known.get(name, Equality.DIFFERENT) for name in names}


def test_many_programs_are_equal() -> None:
    """Of those that the vendor's compiler has a module of ttnn for."""
    names = compared(ARCHIVE)
    known = recorded()
    assert len(names) == 1033
    assert set(known) <= set(names)
    assert len(known) >= EQUAL
    assert sum(each is Equality.LOCATIONS for each in known.values()) >= LOCATED


@pytest.mark.parametrize("name", ["add-bf16-2x3x31x33", "tanh-f32-31x65"])
def test_both_stages_are_equal(name: str) -> None:
    """The module that is written to a file is that of ttnn."""
    assert compare(ARCHIVE[name], "ttnn_runtime")[0] is Equality.LOCATIONS


def test_other_boards_have_machines_of_their_own() -> None:
    """The machine and the device of a Wormhole card, beside a function that is equal there, too."""
    names = [name for name in compared(OF_OTHER_BOARD) if recorded().get(name)]
    equal = recorded()[names[0]]
    assert compare(OF_OTHER_BOARD[names[0]], board="n150")[0] is equal

"""Facts about operations, one row each: data and reference functions; no xDSL, no NumPy import."""

from collections.abc import Callable

from ttmlir.optable import (
    contraction,
    creation,
    elementwise,
    indexing,
    movement,
    normalization,
    ordering,
    reduction,
    window,
)
from ttmlir.optable.row import Row

ROWS: dict[str, Row] = {
    row.mnemonic: row
    for row in (
        *elementwise.ROWS,
        *reduction.ROWS,
        *contraction.ROWS,
        *movement.ROWS,
        *indexing.ROWS,
        *window.ROWS,
        *normalization.ROWS,
        *ordering.ROWS,
        *creation.ROWS,
    )
}


COMPARISONS = {row.direction: row for row in ROWS.values() if row.direction}
"""The comparisons by StableHLO's directions."""


def row(mnemonic: str) -> Row:
    """The row of an operation; KeyError naming the operation if there is none."""
    return ROWS[mnemonic]


def named_in(*spaces: str) -> dict[str, Row]:
    """Rows by the full names of the operations of some dialects that mean the same."""
    return _named(spaces, lambda row: row.aliases)


def named_on_truth(*spaces: str) -> dict[str, Row]:
    """Rows by the names of operations that mean the same on truth values alone."""
    return _named(spaces, lambda row: row.truth_aliases)


def named_unsigned(*spaces: str) -> dict[str, Row]:
    """Rows by the names of operations that mean the same on numbers without sign."""
    return _named(spaces, lambda row: row.unsigned_aliases)


def named_on_numbers(*spaces: str) -> dict[str, Row]:
    """Rows by the names of operations that mean the same where no operand is NaN."""
    return _named(spaces, lambda row: row.number_aliases)


def _named(spaces: tuple[str, ...], names: Callable[[Row], tuple[str, ...]]) -> dict[str, Row]:
    prefixes = tuple(f"{space}." for space in spaces)
    found = ((name, row) for row in ROWS.values() for name in names(row))
    return {name: row for name, row in found if name.startswith(prefixes)}

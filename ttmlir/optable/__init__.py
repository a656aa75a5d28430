"""Facts about operations, one row each: data and reference functions; no xDSL, no NumPy import."""

from ttmlir.optable import (
    batch_norm,
    contraction,
    convolution,
    creation,
    elementwise,
    indexing,
    movement,
    pooling,
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
        *convolution.ROWS,
        *pooling.ROWS,
        *batch_norm.ROWS,
        *creation.ROWS,
    )
}


def row(mnemonic: str) -> Row:
    """The row of an operation; KeyError naming the operation if there is none."""
    return ROWS[mnemonic]

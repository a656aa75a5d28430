"""Operations on single tiles, as kernels of the direct-to-metal path compute them in DST.

Every elementwise operation that is computed by calls on tiles is one, and the comparisons with zero
that the calls have besides. Names are those of tt-mlir's dialect d2m.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ttmlir.optable.elementwise import ROWS
from ttmlir.optable.kernel.tile_calls import TILE_CALLS, Step, TileCall
from ttmlir.optable.row import Row

_NAMES = {
    "reciprocal": "recip",
    "neg": "negative",
    "multiply": "mul",
    "subtract": "sub",
    "clamp": "clamp_scalar",
}
"""What operations are called on tiles, where it is not the mnemonic of the row."""

_WITH_ZERO = {
    "eqz": "1 where the element is 0, else 0.",
    "nez": "1 where the element is not 0, else 0.",
    "gtz": "1 where the element is above 0, else 0.",
    "gez": "1 where the element is not below 0, else 0.",
    "ltz": "1 where the element is below 0, else 0.",
    "lez": "1 where the element is not above 0, else 0.",
}
"""Comparisons with zero, which are no operations on tensors."""


@dataclass(frozen=True, kw_only=True)
class TileOperation:
    """An elementwise operation on tiles."""

    mnemonic: str
    """With the `tile_` before the name."""
    summary: str
    operands: tuple[str, ...]
    call: TileCall
    row: Row | None = None
    """The operation on tensors; None for a comparison with zero."""

    @property
    def in_place(self) -> bool:
        """True where the result takes the place of the operand in DST."""
        return len(self.operands) == 1


def _of_rows() -> Iterator[TileOperation]:
    for row in ROWS:
        call = TILE_CALLS[row.mnemonic]
        if call.floats is None and call.integers is None:
            continue
        yield TileOperation(
            mnemonic=f"tile_{_NAMES.get(row.mnemonic, row.mnemonic)}",
            summary=row.summary,
            operands=tuple(operand.name for operand in row.operands),
            call=call,
            row=row,
        )


def _with_zero() -> Iterator[TileOperation]:
    for name, summary in _WITH_ZERO.items():
        call = TileCall(
            floats=(Step(call=f"{name}_tile", slots=(0,)),),
            integers=(Step(call=f"{name}_tile_int32", slots=(0,)),),
        )
        yield TileOperation(
            mnemonic=f"tile_{name}", summary=summary, operands=("input",), call=call
        )


TILE_OPERATIONS: Mapping[str, TileOperation] = {
    each.mnemonic: each for each in (*_of_rows(), *_with_zero())
}
"""Every operation on tiles by its mnemonic."""

TILE_OPERATION_OF_ROW: Mapping[str, TileOperation] = {
    each.row.mnemonic: each for each in TILE_OPERATIONS.values() if each.row is not None
}
"""The operation on tiles by the mnemonic of the operation on tensors."""

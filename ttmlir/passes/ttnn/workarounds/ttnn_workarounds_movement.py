"""What moves and orders of ttnn want of their tensors, and where tiles become rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import IntegerType, Signedness, bf16, f32

from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.ir.ttnn_types import is_tiled, set_type, stored_in
from ttmlir.passes.ttir.value_rewriting import parameters_of
from ttmlir.passes.ttnn.workarounds.ttnn_workarounds import ANYTHING, Want, Wants, convert

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation

    from ttmlir.passes.ttnn.workarounds.ttnn_workarounds import Wanting

_TILE = 32
_ROWS = Want(tiled=False)
_UI16, _UI32 = (IntegerType(bits, Signedness.UNSIGNED) for bits in (16, 32))
_SI32 = IntegerType(32, Signedness.SIGNED)


def _properties(op: Operation) -> dict[str, Any]:
    return parameters_of(op)


def _concat(op: Operation) -> Wants:
    """Columns that are no whole tiles are put together as rows."""
    rank = len(value_shape(op.results[0]))
    dim = cast("int", _properties(op)["dim"]) % rank
    columns = [value_shape(value)[dim] for value in op.operands]
    if dim != rank - 1 or all(extent % _TILE == 0 for extent in columns):
        return Wants()
    return Wants((_ROWS,) * len(op.operands), (_ROWS,))


def _reshape(op: Operation) -> Wants:
    """Bytes are reshaped as integers."""
    want = Want(element=_SI32) if _holds_bytes(op) else ANYTHING
    return Wants((want,), (want,))


def _pad(op: Operation) -> Wants:
    """Tiles get margins at their ends alone; bytes are padded as integers."""
    margins = cast("tuple[int, ...]", _properties(op)["padding"])
    element = _SI32 if _holds_bytes(op) else None
    want = Want(tiled=False if any(margins[::2]) else None, element=element)
    return Wants((want,), (want,))


def _holds_bytes(op: Operation) -> bool:
    return str(stored_in(op.operands[0].type)) == "ui8"


def _sort(op: Operation) -> Wants:
    return Wants((ANYTHING,), (ANYTHING, Want(element=_UI16)))


def _topk(op: Operation) -> Wants:
    is_narrow = element_type(op.operands[0]) == bf16
    return Wants((ANYTHING,), (ANYTHING, Want(element=_UI16) if is_narrow else ANYTHING))


def _embedding(op: Operation) -> Wants:
    return Wants((Want(element=_UI32),))


def _rows(op: Operation) -> Wants:
    return Wants((_ROWS,) * len(op.operands), (_ROWS,))


def _slice_dynamic(op: Operation) -> Wants:
    bounds = Want(element=_UI32)
    return Wants((_ROWS, bounds, bounds), (_ROWS,))


def _cumulative(op: Operation) -> Wants:
    """Integers are added in f32."""
    if isinstance(element_type(op.operands[0]), IntegerType):
        return Wants((Want(element=f32),), (Want(element=f32),))
    return Wants()


WANTS: Mapping[str, Wanting] = {
    "ttnn.concat": _concat,
    "ttnn.embedding": _embedding,
    "ttnn.mesh_partition": _rows,
    "ttnn.pad": _pad,
    "ttnn.reshape": _reshape,
    "ttnn.sort": _sort,
    "ttnn.topk": _topk,
    "ttnn.rows_gather": _rows,
    "ttnn.rows_scatter": _rows,
    "ttnn.slice_dynamic": _slice_dynamic,
    "ttnn.cumsum": _cumulative,
}
"""What operations want, by their names."""

# --- Where tiles become rows ----------------------------------------------------------------------

_MOVES = frozenset({"ttnn.reshape", "ttnn.permute", "ttnn.concat"})
"""Operations that move rows as well as tiles."""


_TAKES_ROWS = frozenset({"ttnn.rows_gather", "ttnn.rows_scatter"})


def raise_rows(module: ModuleOp) -> None:
    """Make rows of tiles before the moves of what elements are picked from, not after them."""
    raised: set[Operation] = set()
    for op in tuple(module.walk(reverse=True)):
        if op.name in _MOVES and op.parent is not None and _raise_before(op, raised):
            raised.add(op)


def _raise_before(op: Operation, raised: set[Operation]) -> bool:
    result = op.results[0]
    users = [use.operation for use in result.uses]
    if not users or not all(_makes_rows(user) for user in users):
        return False
    takers = {use.operation for user in users for use in user.results[0].uses}
    if not all(taker.name in _TAKES_ROWS or taker in raised for taker in takers):
        return False
    type_ = users[0].results[0].type
    for index, value in enumerate(op.operands):
        want = _ROWS.type_for(value.type)
        if want != value.type:
            op.operands[index] = convert(value, want, op)
    new = set_type(result, type_)
    for user in users:
        user.results[0].replace_all_uses_with(new)
        user.detach()
        user.drop_all_references()
    return True


def _makes_rows(op: Operation) -> bool:
    """True for a conversion that changes tiles to rows and nothing else."""
    if op.name != "ttnn.to_tensor_spec":
        return False
    before, after = op.operands[0], op.results[0]
    return is_tiled(before) and _ROWS.type_for(before.type) == after.type

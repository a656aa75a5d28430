"""Canonical forms of moves, and of operations on constants, for `ttir_value_forms.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ttmlir.dialects.ttir import TTIRTableOp
from ttmlir.ir.tensor_types import value_shape
from ttmlir.passes.ttir.ttir_constant_folding import (
    permutation_of,
)
from ttmlir.passes.ttir.value_rewriting import (
    Shape,
    adapted,
    made_by,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.builder import Builder
    from ttmlir.ir.greedy_rewriting import Rule


def _reorder(op: Operation, builder: Builder) -> SSAValue | None:
    """Dimensions of extent 1 move by a reshape; orders one after another are one."""
    order, source = permutation_of(cast("TTIRTableOp", op)), op.operands[0]
    shape = value_shape(op.results[0])
    if _moves_nothing(source, order):
        return builder.reshape(source, shape)
    before = made_by(source, "transpose", "permute")
    if before is not None:
        inner = permutation_of(cast("TTIRTableOp", before))
        return builder.permute(before.operands[0], [inner[dim] for dim in order])
    narrow = made_by(source, "reshape")
    before = None if narrow is None else made_by(narrow.operands[0], "transpose", "permute")
    if before is not None and _wide_extents(before.results[0]) == _wide_extents(source):
        return _reorder_narrow(op, before, builder)
    return builder.permute(source, order) if op.name == "ttir.transpose" else None


def _moves_nothing(value: SSAValue, order: Shape) -> bool:
    """True for an order that changes the places of dimensions of extent 1 alone."""
    moved = [dim for dim in order if value_shape(value)[dim] != 1]
    return moved == sorted(moved)


def _wide_extents(value: SSAValue) -> list[int]:
    return [extent for extent in value_shape(value) if extent != 1]


def _reorder_narrow(op: Operation, before: Operation, builder: Builder) -> SSAValue:
    """Two orders in one, between which dimensions of extent 1 come or go."""
    source = before.operands[0]
    inner, outer = (permutation_of(cast("TTIRTableOp", each)) for each in (before, op))
    wide = [dim for dim in inner if value_shape(source)[dim] != 1]
    kept = [dim for dim, extent in enumerate(value_shape(op.operands[0])) if extent != 1]
    order = [wide[kept.index(dim)] for dim in outer if dim in kept]
    places = sorted(wide)
    value = builder.reshape(source, [value_shape(source)[dim] for dim in places])
    value = builder.permute(value, [places.index(dim) for dim in order])
    return builder.reshape(value, value_shape(op.results[0]))


RULES: Mapping[str, Sequence[Rule]] = adapted(
    {
        "permute": [_reorder],
        "transpose": [_reorder],
    }
)
"""Rules by the name of the operation."""

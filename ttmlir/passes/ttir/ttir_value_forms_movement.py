"""Canonical forms of moves, and of operations on constants, for `ttir_value_forms.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ttmlir.dialects.ttir import TTIRTableOp
from ttmlir.ir.tensor_types import value_shape
from ttmlir.passes.ttir.constants.ttir_constant_folding import (
    permutation_of,
)
from ttmlir.passes.ttir.value_rewriting import (
    Shape,
    adapted,
    made_by,
    parameters_of,
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
    if narrow is not None and (_fills_tiles_badly(source) or _fills_tiles_badly(op.results[0])):
        return _reorder_wide(op, source, order, builder)
    return builder.permute(source, order) if op.name == "ttir.transpose" else None


def _moves_nothing(value: SSAValue, order: Shape) -> bool:
    """True for an order that changes the places of dimensions of extent 1 alone."""
    moved = [dim for dim in order if value_shape(value)[dim] != 1]
    return moved == sorted(moved)


def _fills_tiles_badly(value: SSAValue) -> bool:
    """True if a dimension of extent 1 is one of the last two, which tiles pad to 32."""
    shape = value_shape(value)
    return len(shape) > 2 and 1 in shape[-2:]


def _wide_extents(value: SSAValue) -> list[int]:
    return [extent for extent in value_shape(value) if extent != 1]


def _reorder_narrow(op: Operation, before: Operation, builder: Builder) -> SSAValue:
    """Two orders in one, between which dimensions of extent 1 come or go."""
    source = before.operands[0]
    inner, outer = (permutation_of(cast("TTIRTableOp", each)) for each in (before, op))
    wide = [dim for dim in inner if value_shape(source)[dim] != 1]
    kept = [dim for dim, extent in enumerate(value_shape(op.operands[0])) if extent != 1]
    order = [wide[kept.index(dim)] for dim in outer if dim in kept]
    return _reorder_wide(op, source, order, builder)


def _reorder_wide(
    op: Operation, source: SSAValue, order: Sequence[int], builder: Builder
) -> SSAValue:
    """The result of an order, by a permutation without dimensions of extent 1."""
    wide = [dim for dim in order if value_shape(source)[dim] != 1]
    places = sorted(wide)
    value = builder.reshape(source, [value_shape(source)[dim] for dim in places])
    value = builder.permute(value, [places.index(dim) for dim in wide])
    return builder.reshape(value, value_shape(op.results[0]))


def _slice(op: Operation, builder: Builder) -> SSAValue | None:
    """A slice of what is moved is one before it, where nobody takes the whole."""
    source = op.operands[0]
    move = made_by(source, "permute", "reshape")
    if move is None or any(use.operation.name != "ttir.slice" for use in source.uses):
        return None
    value, said = move.operands[0], parameters_of(op)
    bounds = list(zip(said["begins"], said["ends"], said["step"], strict=True))
    shape = value_shape(op.results[0])
    if move.name == "ttir.permute":
        order = permutation_of(cast("TTIRTableOp", move))
        places = [order.index(dim) for dim in range(len(order))]
        extents = [shape[place] for place in places]
        if not _is_in_order([dim for dim in order if extents[dim] != 1]):
            return None
        begins, ends, steps = zip(*(bounds[place] for place in places), strict=True)
        return builder.reshape(builder.slice(value, begins, ends, steps), shape)
    wide = [n for n, extent in enumerate(value_shape(source)) if extent != 1]
    kept = [n for n, extent in enumerate(value_shape(value)) if extent != 1]
    if _without_leading_ones(value) != _without_leading_ones(source):
        return None
    own = dict(zip(kept, (bounds[n] for n in wide), strict=True))
    found = [own.get(n, (0, 1, 1)) for n in range(len(value_shape(value)))]
    begins, ends, steps = zip(*found, strict=True)
    return builder.reshape(builder.slice(value, begins, ends, steps), shape)


def _without_leading_ones(value: SSAValue) -> Shape:
    shape = value_shape(value)
    first = next((n for n, extent in enumerate(shape) if extent != 1), len(shape))
    return shape[first:]


def _is_in_order(dims: Sequence[int]) -> bool:
    return list(dims) == sorted(dims)


def _as_reshape(op: Operation, builder: Builder) -> SSAValue:
    """A dimension of extent 1 that comes or goes."""
    return builder.reshape(op.operands[0], value_shape(op.results[0]))


def _reverse(op: Operation, builder: Builder) -> SSAValue | None:
    """What is reversed twice is not; nothing reversed is the operand."""
    dims = parameters_of(op)["dimensions"]
    before = made_by(op.operands[0], "reverse")
    if before is None:
        return None if dims else op.operands[0]
    rest = sorted({*dims} ^ {*parameters_of(before)["dimensions"]})
    source = before.operands[0]
    if not rest:
        return source
    return builder.create("reverse", (source,), op.results[0].type, dimensions=tuple(rest))


RULES: Mapping[str, Sequence[Rule]] = adapted(
    {
        "permute": [_reorder],
        **{key: [_as_reshape] for key in ("squeeze", "unsqueeze")},
        "reverse": [_reverse],
        "slice": [_slice],
        "transpose": [_reorder],
    }
)
"""Rules by the name of the operation."""

"""Canonical forms of ttnn operations that make their results, for the pass `canonicalize`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ModuleOp

from ttmlir.ir.tensor_types import value_shape
from ttmlir.ir.ttnn_types import elements_in, memory_of, set_type
from ttmlir.layout.enums import BufferType
from ttmlir.passes.ttir.ttir_value_forms_elementwise import holds_all
from ttmlir.passes.ttir.value_rewriting import parameters_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.ir import Attribute, Operation, SSAValue

    from ttmlir.dialects.ttcore import DeviceOp
    from ttmlir.ir.greedy_rewriting import GreedyRewriter, Rule

_CONVERSIONS = ("ttnn.to_tensor_spec", "ttnn.to_layout")


def fold(op: Operation) -> SSAValue | Attribute | None:
    """What the result of an operation is without it; None if it is needed."""
    if len(op.operands) < 1 or len(op.results) != 1:
        return None
    repeated = _fold_repeated(op)
    if repeated is not None:
        return repeated
    if op.operands[0].type != op.results[0].type:
        return None
    return op.operands[0] if op.name in _VANISHES_WHERE_EQUAL or _is_identity(op) else None


_VANISHES_WHERE_EQUAL = frozenset((*_CONVERSIONS, "ttnn.reshape", "ttnn.typecast"))


def _fold_repeated(op: Operation) -> SSAValue | None:
    """What there was before an operation and one that takes it back."""
    inner = op.operands[0].owner
    if getattr(inner, "name", "") != op.name:
        return None
    before = cast("Operation", inner)
    source = before.operands[0]
    if source.type != op.results[0].type:
        return None
    if op.name == "ttnn.permute":
        first, last = (parameters_of(each)["permutation"] for each in (before, op))
        goes_back = tuple(first[dim] for dim in last) == tuple(range(len(first)))
    else:
        pairs = zip(elements_in(source.type), elements_in(op.operands[0].type), strict=True)
        goes_back = op.name == "ttnn.typecast" and all(
            holds_all(str(narrow), str(wide)) for narrow, wide in pairs
        )
    return source if goes_back else None


_COLLECTIVES = frozenset(("ttnn.all_gather", "ttnn.all_reduce", "ttnn.reduce_scatter"))


def _is_identity(op: Operation) -> bool:
    """True for an order that is that of the input, and for a collective of single devices."""
    if op.name == "ttnn.permute":
        order: tuple[int, ...] = parameters_of(op)["permutation"]
        return order == tuple(range(len(order)))
    if op.name not in _COLLECTIVES:
        return False
    mesh, axis = _mesh(op), parameters_of(op).get("cluster_axis")
    return isinstance(axis, int) and axis < len(mesh) and mesh[axis] == 1


def _mesh(op: Operation) -> Sequence[int]:
    """The extents of the mesh that the module is for, none if it does not say."""
    above = op.parent_op()
    while above is not None:
        if isinstance(above, ModuleOp):
            for inner in above.body.block.ops:
                if inner.name == "ttcore.device":
                    return cast("DeviceOp", inner).device.mesh_shape
        above = above.parent_op()
    return ()


def _merge(op: Operation, rewriter: GreedyRewriter) -> bool:
    """A conversion after another is one."""
    inner = op.operands[0].owner
    if getattr(inner, "name", "") not in _CONVERSIONS:
        return False
    rewriter.set_operand(op, 0, cast("Operation", inner).operands[0])
    rewriter.add(cast("Operation", inner))
    return True


_CREATIONS = ("ttnn.full", "ttnn.zeros", "ttnn.ones")
_MADE_ELSEWHERE = ("ttnn.arange", "ttnn.constant", "ttnn.rand")
"""What is made in other memories and layouts, but not of other elements."""


def _make_converted(op: Operation, rewriter: GreedyRewriter) -> bool:
    """What is made to be converted alone is made so."""
    operand = op.operands[0]
    maker = operand.owner
    # What the host has is no call that has a device.
    stays = getattr(memory_of(op.results[0].type), "buffer", None) is not BufferType.SYSTEM_MEMORY
    further = _MADE_ELSEWHERE if stays else ("ttnn.rand",)
    if elements_in(operand.type) != elements_in(op.results[0].type):
        further = ()
    makers = (*_CREATIONS, *further) if op.name == "ttnn.to_tensor_spec" else _CREATIONS
    if getattr(maker, "name", "") not in makers or not operand.has_one_use():
        return False
    rewriter.replace(op, set_type(operand, op.results[0].type))
    rewriter.add(cast("Operation", maker))
    return True


def _merge_reshapes(op: Operation, rewriter: GreedyRewriter) -> bool:
    """A reshape of what is reshaped for it alone is one, and one back none."""
    operand = op.operands[0]
    if getattr(operand.owner, "name", "") != op.name:
        return False
    inner = cast("Operation", operand.owner)
    if inner.operands[0].type == op.results[0].type:
        rewriter.replace(op, inner.operands[0])
    elif operand.has_one_use():
        rewriter.set_operand(op, 0, inner.operands[0])
    else:
        return False
    rewriter.add(inner)
    return True


def _part_of_concat(op: Operation, rewriter: GreedyRewriter) -> bool:
    """The part of a concatenation that is one of its operands."""
    joined = op.operands[0].owner
    if getattr(joined, "name", "") != "ttnn.concat":
        return False
    said, shape = parameters_of(op), value_shape(op.operands[0])
    begins, ends, steps = (
        cast("tuple[int, ...]", tuple(said[name])) for name in ("begins", "ends", "step")
    )
    dim = cast("int", parameters_of(cast("Operation", joined))["dim"]) % len(shape)
    whole = all((begins[d], ends[d]) == (0, shape[d]) for d in range(len(shape)) if d != dim)
    if not whole or set(steps) != {1}:
        return False
    begin = 0
    for operand in cast("Operation", joined).operands:
        end = begin + value_shape(operand)[dim]
        if (begin, end) == (begins[dim], ends[dim]) and operand.type == op.results[0].type:
            rewriter.replace(op, operand)
            rewriter.add(cast("Operation", joined))
            return True
        begin = end
    return False


RULES: Mapping[str, Sequence[Rule]] = {
    **dict.fromkeys(("ttnn.slice", "ttnn.slice_static"), (_part_of_concat,)),
    **dict.fromkeys(_CONVERSIONS, (_merge, _make_converted)),
    "ttnn.reshape": (_merge_reshapes,),
}
"""Rules by the name of the operation."""

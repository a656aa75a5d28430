"""Canonical forms of ttir operations, which the pass `canonicalize` brings them into.

Operations on tensors that have a layout are left alone: there, each move has its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import NoneAttr, TensorType
from xdsl.dialects.tensor import EmptyOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.rewriter import InsertPoint

from ttmlir.dialects.ttir.families import TTIRRowOp
from ttmlir.dialects.ttir.folding import constant_elements, folded
from ttmlir.mlir.attributes.elements import splat_bytes, unpack_values

if TYPE_CHECKING:
    from ttmlir.dialects.row_ops import ParameterValue

Shape = tuple[int, ...]


class Canonicalization(RewritePattern):
    """Applies the rule of an operation, or computes it if its inputs are constants."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Replace the operation if there is something simpler."""
        if not isinstance(op, TTIRRowOp) or len(op.results) != 1:
            return
        if not all(map(_is_plain, (*op.operands, op.results[0]))):
            return
        elements = folded(op)
        if elements is not None:
            _replace(op, rewriter, _constant(op, rewriter, elements))
            return
        rule = _RULES.get(op.ROW.mnemonic)
        value = None if rule is None else rule(op, rewriter)
        if value is not None and value.type == op.results[0].type:
            _replace(op, rewriter, value)


Rule = Callable[[TTIRRowOp, PatternRewriter], SSAValue | None]
"""What stands for the result of an operation; None if the operation stays."""


def _is_plain(value: SSAValue) -> bool:
    type_ = value.type
    if not isinstance(type_, TensorType):
        return False
    tensor = cast("TensorType[Attribute]", type_)
    return tensor.has_static_shape() and isinstance(tensor.encoding, NoneAttr)


def _shape(value: SSAValue) -> Shape:
    return cast("TensorType[Attribute]", value.type).get_shape()


def _element(value: SSAValue) -> Attribute:
    return cast("TensorType[Attribute]", value.type).element_type


def _replace(op: TTIRRowOp, rewriter: PatternRewriter, value: SSAValue) -> None:
    """Let `value` stand for the result, and remove what only the operation has used."""
    from ttmlir.dialects.ttir.structure import ConstantOp

    candidates = [operand.owner for operand in op.operands]
    rewriter.replace(op, (), [value])
    while candidates:
        owner = candidates.pop()
        is_ours = isinstance(owner, TTIRRowOp | EmptyOp | ConstantOp)
        if is_ours and owner.parent is not None and all(r.first_use is None for r in owner.results):
            candidates += [operand.owner for operand in owner.operands]
            rewriter.erase(owner)


def _constant(op: TTIRRowOp, rewriter: PatternRewriter, elements: Attribute) -> SSAValue:
    from ttmlir.dialects.ttir.structure import ConstantOp

    new = ConstantOp.create(
        result_types=[op.results[0].type], properties={"value": elements}, location=op.location
    )
    rewriter.insert(new, InsertPoint.before(op))
    return new.results[0]


def _built(
    op: TTIRRowOp,
    rewriter: PatternRewriter,
    mnemonic: str,
    input: SSAValue,
    **parameters: ParameterValue,
) -> SSAValue:
    """The result of an operation on one tensor that takes the place of another such."""
    from ttmlir.dialects.ttir import op_class

    cls = cast("type[TTIRRowOp]", op_class(mnemonic))
    empty = EmptyOp.create(result_types=[op.results[0].type], location=op.location)
    new = cls.dps(
        [input],
        [empty.results[0]],
        {
            **cls.parameter_properties(parameters),
            "operand_constraints": op.properties["operand_constraints"],
        },
        location=op.location,
    )
    rewriter.insert([empty, new], InsertPoint.before(op))
    return new.results[0]


def _producer(value: SSAValue, *mnemonics: str) -> TTIRRowOp | None:
    """The operation that makes a value, if it is one of these and has no layouts."""
    owner = value.owner
    if isinstance(owner, TTIRRowOp) and owner.ROW.mnemonic in mnemonics:
        return owner if _is_plain(owner.operands[0]) else None
    return None


# -- moves -----------------------------------------------------------------------------------------


def _permutation(op: TTIRRowOp) -> Shape:
    rank = len(_shape(op.results[0]))
    parameters = op.parameters()
    if op.ROW.mnemonic == "permute":
        return cast("Shape", parameters["permutation"])
    first, second = (cast("int", parameters[name]) % rank for name in ("dim0", "dim1"))
    order = list(range(rank))
    order[first], order[second] = second, first
    return tuple(order)


def _reorder(op: TTIRRowOp, rewriter: PatternRewriter) -> SSAValue | None:
    """An order of dimensions that changes nothing vanishes; one after another is one."""
    order, source = _permutation(op), op.operands[0]
    before = _producer(source, "transpose", "permute")
    if before is not None:
        order = tuple(_permutation(before)[dim] for dim in order)
        source = before.operands[0]
    moved = [place for place, dim in enumerate(order) if place != dim]
    if not moved:
        return source
    if before is None:
        return None
    if len(moved) == 2:
        return _built(op, rewriter, "transpose", source, dim0=moved[0], dim1=moved[1])
    return _built(op, rewriter, "permute", source, permutation=order)


_RESHAPES = ("reshape", "squeeze", "unsqueeze")


def _reshape(op: TTIRRowOp, rewriter: PatternRewriter) -> SSAValue | None:
    """A reshape to the same shape vanishes; one after another is one."""
    source = op.operands[0]
    before = _producer(source, *_RESHAPES)
    if before is not None:
        source = before.operands[0]
    shape = _shape(op.results[0])
    if _shape(source) == shape:
        return source
    return None if before is None else _built(op, rewriter, "reshape", source, shape=shape)


def _broadcast_dimensions(op: TTIRRowOp) -> Shape | None:
    """For each dimension of the input of a broadcast, the dimension of the output it becomes."""
    rank = len(_shape(op.operands[0]))
    named = cast("Shape", op.parameters()["dimension"])
    if rank == len(_shape(op.results[0])):
        return tuple(range(rank))
    return named if len(named) == rank else None


def _broadcast(op: TTIRRowOp, rewriter: PatternRewriter) -> SSAValue | None:
    """A broadcast to the same shape vanishes; one after another is one."""
    source = op.operands[0]
    if source.type == op.results[0].type:
        return source
    before = _producer(source, "broadcast")
    outer = _broadcast_dimensions(op)
    inner = None if before is None else _broadcast_dimensions(before)
    if before is None or outer is None or inner is None:
        return None
    dimension = tuple(outer[dim] for dim in inner)
    return _built(op, rewriter, "broadcast", before.operands[0], dimension=dimension)


# -- numbers ---------------------------------------------------------------------------------------

# Bits of mantissa and exponent.
_FLOATS = {"f16": (10, 5), "bf16": (7, 8), "f32": (23, 8), "f64": (52, 11)}


def _holds_all(narrow: str, wide: str) -> bool:
    """True if a type has all numbers of another of its kind; any type has truth values."""
    if narrow == "i1":
        return True
    if narrow in _FLOATS and wide in _FLOATS:
        return all(own <= other for own, other in zip(_FLOATS[narrow], _FLOATS[wide], strict=True))
    own, other = (re.fullmatch(r"([us]?)i(\d+)", text) for text in (narrow, wide))
    if own is None or other is None or wide == "i1":
        return False
    return int(own[2]) <= int(other[2]) and (own[1] == "u") == (other[1] == "u")


def _typecast(op: TTIRRowOp, rewriter: PatternRewriter) -> SSAValue | None:
    """A cast to the same type vanishes; one after an exact one is one."""
    source = op.operands[0]
    if source.type == op.results[0].type:
        # A cast to a narrow type rounds what was computed with more digits.
        return None if str(_element(source)) in ("f16", "bf16") else source
    before = _producer(source, "typecast")
    if before is None or _shape(before.operands[0]) != _shape(source):
        return None
    first = before.operands[0]
    if not _holds_all(str(_element(first)), str(_element(source))):
        return None
    return first if first.type == op.results[0].type else _built(op, rewriter, "typecast", first)


def _is_splat(value: SSAValue, *texts: str) -> bool:
    """True for a constant of one number, which is spelled in one of these ways."""
    elements = constant_elements(value)
    splat = None if elements is None else splat_bytes(elements)
    if elements is None or splat is None:
        return False
    (number,) = unpack_values(splat, elements.get_element_type())
    return str(number) in texts


def _neutral(*texts: str, commutes: bool) -> Rule:
    """The rule of an operation that one number, spelled so, leaves everything as it is."""

    def rule(op: TTIRRowOp, rewriter: PatternRewriter) -> SSAValue | None:
        first, second = op.operands[:2]
        if _is_splat(second, *texts):
            return first
        return second if commutes and _is_splat(first, *texts) else None

    return rule


_RULES: dict[str, Rule] = {
    "transpose": _reorder,
    "permute": _reorder,
    **dict.fromkeys(_RESHAPES, _reshape),
    "broadcast": _broadcast,
    "typecast": _typecast,
    # The sum of -0.0 and 0.0 is 0.0, so only -0.0 changes no floating point number.
    "add": _neutral("0", "-0.0", commutes=True),
    "subtract": _neutral("0", "0.0", commutes=False),
    "multiply": _neutral("1", "1.0", commutes=True),
    "div": _neutral("1", "1.0", commutes=False),
}

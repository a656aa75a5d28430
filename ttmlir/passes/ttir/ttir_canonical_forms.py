"""Canonical forms of ttir operations, which the pass `canonicalize` brings them into.

Operations on tensors that have a layout are left alone: there, each move has its place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from xdsl.dialects.tensor import EmptyOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.rewriter import InsertPoint

from ttmlir.dialects.ttir import ConstantOp, TTIRTableOp
from ttmlir.ir.builder import Builder, OpT
from ttmlir.ir.constants import constant_elements
from ttmlir.ir.tensor_types import element_type, is_plain_and_static, value_shape
from ttmlir.mlir.attributes import splat_value
from ttmlir.passes.ttir.constants.ttir_constant_folding import fold_constants, permutation_of
from ttmlir.passes.ttir.ttir_value_forms_elementwise import holds_all

Shape = tuple[int, ...]


class Canonicalization(RewritePattern):
    """Applies the rule of an operation, or computes it if its inputs are constants."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Replace the operation if there is something simpler."""
        if not isinstance(op, TTIRTableOp) or len(op.results) != 1:
            return
        if not all(map(is_plain_and_static, (*op.operands, op.results[0]))):
            return
        builder = _RewritingBuilder(op, rewriter)
        elements = fold_constants(op)
        if elements is not None:
            _replace(op, rewriter, builder.create_constant(elements, op.results[0].type))
            return
        rule = _RULES.get(op.DEFINITION.mnemonic)
        value = None if rule is None else rule(op, builder)
        if value is not None and value.type == op.results[0].type:
            _replace(op, rewriter, value)


CanonicalRule = Callable[[TTIRTableOp, Builder], SSAValue | None]
"""What stands for the result of an operation; None if the operation stays."""


def _replace(op: TTIRTableOp, rewriter: PatternRewriter, value: SSAValue) -> None:
    """Let `value` stand for the result, and remove what only the operation has used."""
    candidates = [operand.owner for operand in op.operands]
    rewriter.replace(op, (), [value])
    while candidates:
        owner = candidates.pop()
        is_ours = isinstance(owner, TTIRTableOp | EmptyOp | ConstantOp)
        if is_ours and owner.parent is not None and all(r.first_use is None for r in owner.results):
            candidates += [operand.owner for operand in owner.operands]
            rewriter.erase(owner)


class _RewritingBuilder(Builder):
    """Creates what takes the place of an operation, and tells the driver to visit it."""

    def __init__(self, op: TTIRTableOp, rewriter: PatternRewriter) -> None:
        """Create operations before `op`."""
        block = op.parent
        assert block is not None, "only operations in a block are rewritten"
        super().__init__(block, op.location, before=op)
        self._op = op
        self._rewriter = rewriter

    def insert(self, op: OpT) -> OpT:
        """Put an operation there through the rewriter, and return it."""
        self._rewriter.insert(op, InsertPoint.before(self._op))
        return op

    def operand_constraints(self, operands: int) -> Attribute:
        """Those of the operation that is replaced."""
        return self._op.properties["operand_constraints"]


def _producer(value: SSAValue, *mnemonics: str) -> TTIRTableOp | None:
    """The operation that makes a value, if it is one of these and has no layouts."""
    owner = value.owner
    if isinstance(owner, TTIRTableOp) and owner.DEFINITION.mnemonic in mnemonics:
        return owner if is_plain_and_static(owner.operands[0]) else None
    return None


# -- moves -----------------------------------------------------------------------------------------


def _reorder(op: TTIRTableOp, builder: Builder) -> SSAValue | None:
    """An order of dimensions that changes nothing vanishes; one after another is one."""
    order, source = permutation_of(op), op.operands[0]
    before = _producer(source, "transpose", "permute")
    if before is not None:
        order = tuple(permutation_of(before)[dim] for dim in order)
        source = before.operands[0]
    moved = [place for place, dim in enumerate(order) if place != dim]
    if not moved:
        return source
    if before is None:
        return None
    if len(moved) == 2:
        # The canonical form names the first dimension first.
        return builder.transpose(source, *moved)
    return builder.permute(source, order)


_RESHAPES = ("reshape", "squeeze", "unsqueeze")


def _reshape(op: TTIRTableOp, builder: Builder) -> SSAValue | None:
    """A reshape to the same shape vanishes; one after another is one."""
    source = op.operands[0]
    before = _producer(source, *_RESHAPES)
    if before is not None:
        source = before.operands[0]
    shape = value_shape(op.results[0])
    if value_shape(source) == shape:
        return source
    return None if before is None else builder.reshape(source, shape)


def _broadcast_dimensions(op: TTIRTableOp) -> Shape | None:
    """For each dimension of the input of a broadcast, the dimension of the output it becomes."""
    rank = len(value_shape(op.operands[0]))
    named = cast("Shape", op.parameters()["dimension"])
    if rank == len(value_shape(op.results[0])):
        return tuple(range(rank))
    return named if len(named) == rank else None


def _broadcast(op: TTIRTableOp, builder: Builder) -> SSAValue | None:
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
    return builder.create("broadcast", before.operands[:1], op.results[0].type, dimension=dimension)


# -- numbers ---------------------------------------------------------------------------------------


def _typecast(op: TTIRTableOp, builder: Builder) -> SSAValue | None:
    """A cast to the same type vanishes; one after an exact one is one."""
    source = op.operands[0]
    if source.type == op.results[0].type:
        # A cast to a narrow type rounds what was computed with more digits.
        return None if str(element_type(source)) in ("f16", "bf16") else source
    before = _producer(source, "typecast")
    if before is None or value_shape(before.operands[0]) != value_shape(source):
        return None
    first = before.operands[0]
    if not holds_all(str(element_type(first)), str(element_type(source))):
        return None
    return builder.cast(first, element_type(op.results[0]))


def _is_splat(value: SSAValue, *texts: str) -> bool:
    """True for a constant of one number, which is spelled in one of these ways."""
    elements = constant_elements(value)
    return elements is not None and str(splat_value(elements)) in texts


def _neutral(*texts: str, commutes: bool) -> CanonicalRule:
    """The rule of an operation that one number, spelled so, leaves everything as it is."""

    def rule(op: TTIRTableOp, builder: Builder) -> SSAValue | None:
        first, second = op.inputs
        if _is_splat(second, *texts):
            return first
        return second if commutes and _is_splat(first, *texts) else None

    return rule


_RULES: dict[str, CanonicalRule] = {
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

"""Canonical forms of d2m."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import MemRefType, TensorType
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from ttmlir.dialects.d2m.generic import GenericOp
from ttmlir.dialects.d2m.movement import ReserveOp, WaitOp
from ttmlir.dialects.d2m.operation import element_type_of_value
from ttmlir.dialects.d2m.structure import StreamLayoutOp, ToLayoutOp, ViewLayoutOp
from ttmlir.dialects.tt.layout import element_of
from ttmlir.dialects.ttcore import MetalLayoutAttr, ViewLayoutAttr
from ttmlir.layout.affine import AffineMap
from ttmlir.layout.metal.reblocking import compose_views


class ToLayoutFoldIdentityPattern(RewritePattern):
    """A change of layout that changes nothing is its input."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Let the input stand for the result."""
        if (
            isinstance(op, ToLayoutOp)
            and len(op.results) == 1
            and op.input.type == op.results[0].type
        ):
            rewriter.replace(op, (), [op.input])


class ToLayoutFoldRedundantPattern(RewritePattern):
    """Two changes of layout one after another are one.

    The numbers in between must be in the format of one of the ends: else they were rounded there.
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Start from the first input."""
        if not isinstance(op, ToLayoutOp) or len(op.results) != 1:
            return
        before = op.input.owner
        if not isinstance(before, ToLayoutOp) or len(before.results) != 1:
            return
        formats = [_format(value) for value in (before.input, op.input, op.output)]
        if formats[1] in (formats[0], formats[2]):
            host_info = op.properties.get("layout", before.properties.get("layout"))
            folded = ToLayoutOp.of(
                before.input, op.output, cast("MetalLayoutAttr | None", host_info)
            )
            rewriter.replace(op, folded)


def _format(value: SSAValue) -> str:
    return element_of(element_type_of_value(value)).scalar.data_type.keyword


def _map_of(type: Attribute) -> AffineMap | None:
    """The map of a view to what is below it; None for a type that tells none."""
    if isinstance(type, TensorType):
        encoding = cast("TensorType[Attribute]", type).encoding
        return encoding.data.index_map if isinstance(encoding, MetalLayoutAttr) else None
    if isinstance(type, MemRefType):
        layout: Attribute = cast("MemRefType[Attribute]", type).layout
        return layout.data if isinstance(layout, ViewLayoutAttr) else None
    return None


def _on_buffer(type: Attribute, below: Attribute) -> Attribute | None:
    """The type of a view on a view, as a view on the buffer of that."""
    upper, lower = _map_of(type), _map_of(below)
    if upper is None or lower is None:
        return None
    composed = compose_views(upper, lower)
    if isinstance(type, TensorType):
        tensor = cast("TensorType[Attribute]", type)
        layout = cast("MetalLayoutAttr", tensor.encoding).data.with_index_map(composed)
        return TensorType(tensor.element_type, tensor.shape, MetalLayoutAttr(layout))
    memref = cast("MemRefType[Attribute]", type)
    return MemRefType(
        memref.element_type, memref.shape, ViewLayoutAttr(composed), memref.memory_space
    )


def _only_d2m_uses(value: SSAValue) -> bool:
    """True if the type of a value may change: no other operation says it again."""
    return all(
        use.operation.dialect_name() == "d2m" and use.operation.name != "d2m.yield"
        for use in value.uses
    )


def _view_below(value: SSAValue) -> ViewLayoutOp | None:
    owner = value.owner
    return owner if isinstance(owner, ViewLayoutOp) and not owner.reinterprets else None


class ViewOfViewPattern(RewritePattern):
    """A view of a view is a view of the buffer, with both maps in one."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Compose the maps."""
        if not isinstance(op, ViewLayoutOp) or op.reinterprets:
            return
        below = _view_below(op.input)
        if below is None or not _only_d2m_uses(op.results[0]):
            return
        type = _on_buffer(op.results[0].type, below.results[0].type)
        if type is not None:
            rewriter.replace(op, ViewLayoutOp.of(below.input, type))


class StreamOfViewPattern(RewritePattern):
    """A stream of a view is a stream of the buffer."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Compose the maps."""
        if not isinstance(op, StreamLayoutOp):
            return
        below = _view_below(op.input)
        if below is None or not _only_d2m_uses(op.results[0]):
            return
        type = op.results[0].type
        if type != below.results[0].type:
            type = _on_buffer(type, below.results[0].type)
        if type is not None:
            rewriter.replace(op, StreamLayoutOp.of(below.input, op.storage, type))


class ComputeIntoOutputPattern(RewritePattern):
    """What a region computes into the buffer of an input, or into a fresh one, goes to the output.

    The operation must be in destination-passing style and on tensors; its result is what the region
    yields.
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewire the destinations of what the regions yield."""
        if not isinstance(op, GenericOp):
            return
        for region in op.regions:
            first = region.blocks.first
            end = None if first is None else first.last_op
            if end is None or end.name != "d2m.yield" or len(op.outputs) != 1:
                continue
            target = _output_shard(op, region.block.args[len(op.inputs)])
            if target is None:
                continue
            for value in end.operands:
                _rewire(op, value, target, rewriter)


def _output_shard(op: GenericOp, cb: BlockArgument[Attribute]) -> SSAValue | None:
    """The shard that the region reserves, or waits for, of the output."""
    for use in cb.uses:
        if isinstance(use.operation, ReserveOp | WaitOp):
            return use.operation.results[0]
    return None


def _rewire(op: GenericOp, value: SSAValue, target: SSAValue, rewriter: PatternRewriter) -> None:
    owner = value.owner
    inits = getattr(owner, "outputs", None)
    if not isinstance(owner, Operation) or owner.name != "linalg.generic" or len(inits or ()) != 1:
        return
    number = len(owner.operands) - 1
    init = owner.operands[number]
    if init is target or init.type != target.type or not _is_foreign(op, init):
        return
    shard = target.owner
    if not isinstance(shard, Operation) or not _stands_before(shard, owner):
        return
    owner.operands[number] = target
    rewriter.handle_operation_modification(owner)


def _is_foreign(op: GenericOp, init: SSAValue) -> bool:
    """True for a fresh buffer, and for a shard of an input."""
    owner = init.owner
    if not isinstance(owner, Operation):
        return False
    if owner.name in ("d2m.empty", "tensor.empty"):
        return True
    if not isinstance(owner, ReserveOp | WaitOp):
        return False
    cb = owner.operands[0]
    return isinstance(cb, BlockArgument) and cb.index < len(op.inputs)


def _stands_before(first: Operation, second: Operation) -> bool:
    if first.parent is not second.parent:
        return False
    following = first.next_op
    while following is not None:
        if following is second:
            return True
        following = following.next_op
    return False


TO_LAYOUT_PATTERNS = (ToLayoutFoldIdentityPattern(), ToLayoutFoldRedundantPattern())
VIEW_PATTERNS = (ViewOfViewPattern(),)
STREAM_PATTERNS = (StreamOfViewPattern(),)
GENERIC_PATTERNS = (ComputeIntoOutputPattern(),)

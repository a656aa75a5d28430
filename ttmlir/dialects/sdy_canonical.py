"""Regions of sdy that say what one device computes, which programs for one device do not need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.pattern_rewriter import RewritePattern

from ttmlir.dialects import sdy
from ttmlir.mlir.reporting import around

if TYPE_CHECKING:
    from xdsl.ir import Operation
    from xdsl.pattern_rewriter import PatternRewriter


def is_for_one_device(op: Operation) -> bool:
    """True for a region in which each tensor is the whole."""
    module = around(op, ModuleOp)
    return module is not None and sdy.count_devices(module) == 1


def enter(op: Operation) -> None:
    """Let the body of a region stand where the region stood."""
    block = op.regions[0].block
    end = block.last_op
    assert end is not None, "verified: regions end with sdy.return"
    for argument, value in zip(block.args, op.operands, strict=True):
        argument.replace_all_uses_with(value)
    around = op.parent
    assert around is not None, "regions stand in blocks"
    for inner in [each for each in block.ops if each is not end]:
        inner.detach()
        around.insert_op_before(inner, op)
    for old, new in zip(op.results, end.operands, strict=True):
        old.replace_all_uses_with(new)
    op.detach()
    op.erase()


class _Enter(RewritePattern):
    """A region for one device is left away."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if isinstance(op, sdy.ManualComputationOp) and is_for_one_device(op):
            enter(op)
            rewriter.handle_operation_removal(op)


PATTERNS = (_Enter(),)
"""What the operations refer to."""

"""Hoist loop-invariant operations.

Before:

    func.func @main(%x: tensor<33x70xf32>, %w: tensor<33x70xf32>) -> tensor<33x70xf32> {
      %0 = "ttir.while"(%x, %w) <{body = @body, trip_count = 1000 : i64}>
          : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
      return %0 : tensor<33x70xf32>
    }
    func.func private @body(%x: tensor<33x70xf32>, %w: tensor<33x70xf32>) -> tensor<33x70xf32> {
      %0 = tensor.empty() : tensor<33x70xf32>
      %1 = "ttir.exp"(%w, %0) <{operandSegmentSizes = array<i32: 1, 1>,
          operand_constraints = [#tt.operand_constraint<tile>, #tt.operand_constraint<tile>]}>
          : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
      return %1 : tensor<33x70xf32>
    }

After:

    #operand_constraint = #tt.operand_constraint<tile>
    module {
      func.func @main(%arg0: tensor<33x70xf32>, %arg1: tensor<33x70xf32>) -> tensor<33x70xf32> {
        %0 = tensor.empty() : tensor<33x70xf32>
        %1 = "ttir.exp"(%arg1, %0) ...
        %2 = "ttir.while"(%arg0, %arg1, %1) ...
        return %2 : tensor<33x70xf32>
      }
      func.func private @body(%arg0: tensor<33x70xf32>, %arg1: tensor<33x70xf32>,
          %arg2: tensor<33x70xf32>) -> tensor<33x70xf32> {
        return %arg2 : tensor<33x70xf32>
      }
    }

Requires: constants in front of loops (`ttir-hoist-loop-constants`).
Ensures: functions that one loop alone calls compute nothing from shared operands alone.
Options: none.
Not done here: branches keep what they compute, as it may not be needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.tensor import EmptyOp
from xdsl.ir import Operation

from ttmlir.dialects.definition.table_ops import TableOperation
from ttmlir.ir.rewriting import erase_unused, insert_before
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.ttir.ttir_hoist_loop_constants import add_arguments, hoist_out_of_loops

if TYPE_CHECKING:
    from collections import Counter

    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.dialects.func import FuncOp
    from xdsl.ir import Block, SSAValue

    from ttmlir.dialects import ttir


@dataclass(frozen=True)
class TTIRLoopInvariantCodeMotionPass(ModulePass):
    """Hoist loop-invariant operations."""

    name = "ttir-loop-invariant-code-motion"
    title = "TTIRLoopInvariantCodeMotion"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Move out of all loops, out of inner loops first."""
        hoist_out_of_loops(module, _hoist)


def _hoist(loop: ttir.WhileOp, functions: dict[str, FuncOp], calls: Counter[str]) -> bool:
    """Move what is invariant in front of a loop; False if there is nothing."""
    parts = [functions[name] for name in loop.callees()]
    if any(calls[part.sym_name.data] != 1 for part in parts):
        return False
    found = [_copy_invariant(loop, part) for part in parts]
    first = len(loop.operands)
    # Each part gets the values of both, in the same places.
    outside = [new for pairs in found for _, new in pairs]
    if not outside:
        return False
    place = first
    for part, pairs in zip(parts, found, strict=True):
        add_arguments(part, [value.type for value in outside])
        for old, _ in pairs:
            old.replace_all_uses_with(part.body.block.args[place])
            place += 1
        erase_unused(op for op in part.body.block.ops if isinstance(op, (TableOperation, EmptyOp)))
    loop.operands = [*loop.operands, *outside]
    return True


def _copy_invariant(loop: ttir.WhileOp, part: FuncOp) -> list[tuple[SSAValue, SSAValue]]:
    """Values of a part that others of it use, and what they are in front of the loop."""
    block = part.body.block
    count = len(loop.results)
    outer: dict[SSAValue, SSAValue] = dict(
        zip(block.args[count:], loop.operands[count:], strict=True)
    )
    moved: list[Operation] = []
    for op in block.ops:
        if isinstance(op, TableOperation) and all(
            value in outer or _is_empty(value) for value in op.operands
        ):
            for value in op.operands:
                if value not in outer:
                    outer[value] = _copy(loop, value.owner, outer).results[0]
            outer.update(zip(op.results, _copy(loop, op, outer).results, strict=True))
            moved.append(op)
    kept = set(moved)
    return [
        (result, outer[result])
        for op in moved
        for result in op.results
        if any(use.operation not in kept for use in result.uses)
    ]


def _is_empty(value: SSAValue) -> bool:
    return isinstance(value.owner, EmptyOp) and not value.owner.operands


def _copy(loop: Operation, op: Operation | Block, values: dict[SSAValue, SSAValue]) -> Operation:
    assert isinstance(op, Operation), "arguments that vary are not moved"
    copy = op.clone(dict(values))
    insert_before(loop, copy)
    return copy

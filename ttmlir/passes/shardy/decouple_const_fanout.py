"""Let each user of a constant, of a repeated constant, or of an iota have its own.

Shardings then spread to one user and not, by way of the constant, to the others.

Before:

    func.func @main(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>)
        -> (tensor<4x8xf32>, tensor<4x8xf32>) {
      %0 = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
      %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
      %2 = stablehlo.add %a, %1 : tensor<4x8xf32>
      %3 = stablehlo.add %b, %1 : tensor<4x8xf32>
      return %2, %3 : tensor<4x8xf32>, tensor<4x8xf32>
    }

After:

    module {
      func.func @main(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>)
          -> (tensor<4x8xf32>, tensor<4x8xf32>) {
        %cst = stablehlo.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]>
            : tensor<4xf32>
        %0 = stablehlo.broadcast_in_dim %cst, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
        %1 = stablehlo.broadcast_in_dim %cst, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
        %2 = stablehlo.add %arg0, %1 : tensor<4x8xf32>
        %3 = stablehlo.add %arg1, %0 : tensor<4x8xf32>
        return %2, %3 : tensor<4x8xf32>, tensor<4x8xf32>
      }
    }

Requires: nothing.
Ensures: what repeats a constant has one use.
Options: none.
Not done here: constants themselves, which shardings do not spread through.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.ir import Operation

from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

_REPEATING = "stablehlo.broadcast_in_dim"
_CONSTANT = "stablehlo.constant"


@dataclass(frozen=True)
class DecoupleConstFanoutPass(ModulePass):
    """Let each user of a repeated constant have its own."""

    name = "decouple-const-fanout"
    title = "DecoupleConstFanoutPass"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Copy what has several uses."""
        for op in [op for op in module.walk() if op.name == _REPEATING]:
            source = op.operands[0].owner
            if isinstance(source, Operation) and source.name == _CONSTANT:
                _decouple(op)


def _decouple(op: Operation) -> None:
    # Users are known by the last first; all but the first of them get copies.
    uses = sorted(
        op.results[0].uses, key=lambda use: (_place(use.operation), use.index), reverse=True
    )
    block, after = op.parent, op
    assert block is not None, "operations stand in blocks"
    for use in uses[1:]:
        new = op.clone()
        new.location = op.location
        block.insert_op_after(new, after)
        use.operation.operands[use.index] = new.results[0]
        after = new


def _place(op: Operation) -> int:
    block = op.parent
    return 0 if block is None else block.get_operation_index(op)

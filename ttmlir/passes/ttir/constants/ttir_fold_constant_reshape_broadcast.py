"""Reshape and repeat constants while compiling.

Before:

    func.func @main() -> tensor<2x3xf32> {
      %0 = "ttir.constant"() <{value = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>}>
          : () -> tensor<3xf32>
      %1 = "ttir.reshape"(%0) <{shape = [1 : i32, 3 : i32]}> : (tensor<3xf32>) -> tensor<1x3xf32>
      %2 = "ttir.broadcast"(%1) <{broadcast_dimensions = array<i64: 2, 1>}>
          : (tensor<1x3xf32>) -> tensor<2x3xf32>
      return %2 : tensor<2x3xf32>
    }

After:

    module {
      func.func @main() -> tensor<2x3xf32> {
        %0 = "ttir.constant"() <{value = dense<[[1.000000e+00, 2.000000e+00, 3.000000e+00],
            [1.000000e+00, 2.000000e+00, 3.000000e+00]]> : tensor<2x3xf32>}> : () -> tensor<2x3xf32>
        return %0 : tensor<2x3xf32>
      }
    }

Requires: ttir of 2026.
Ensures: no reshape or broadcast has a constant as its operand.
Options: none.
Not done here: permutations, which `ttir-erase-inverse-ops` computes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.ir import SSAValue

from ttmlir.dialects.ttir import TTIRTableOp
from ttmlir.ir.greedy_rewriting import GreedyRewriter, materialize
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.ttir.constants.ttir_constant_folding import evaluate
from ttmlir.passes.ttir.ttir_value_forms import elements_known, fold
from ttmlir.passes.ttir.value_rewriting import adapted

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation

    from ttmlir.ir.builder import Builder


@dataclass(frozen=True)
class TTIRFoldConstantReshapeBroadcastPass(ModulePass):
    """Reshape and repeat constants while compiling."""

    name = "ttir-fold-constant-reshape-broadcast"
    title = "TTIRFoldConstantReshapeBroadcast"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Fold what has a constant as its operand."""
        GreedyRewriter(adapted({"reshape": (_fold,), "broadcast": (_fold,)})).run(module)


def _fold(op: Operation, builder: Builder) -> SSAValue | None:
    elements = elements_known(op.operands[0])
    if elements is None or not isinstance(op, TTIRTableOp):
        return None
    # What repeats one number stays one; other elements are copied.
    found = fold(op) or evaluate(op, [elements])
    if found is None or isinstance(found, SSAValue):
        return found
    return materialize(builder, found, op.results[0].type)

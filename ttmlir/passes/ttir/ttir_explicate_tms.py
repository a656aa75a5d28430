"""Write what elementwise operations do to the shapes of their operands as operations.

Before:

    func.func @main(%a: tensor<33x70xf32>, %b: tensor<70xf32>) -> tensor<33x70xf32> {
      %0 = "ttir.add"(%a, %b) : (tensor<33x70xf32>, tensor<70xf32>) -> tensor<33x70xf32>
      return %0 : tensor<33x70xf32>
    }

After:

    module {
      func.func @main(%arg0: tensor<33x70xf32>, %arg1: tensor<70xf32>) -> tensor<33x70xf32> {
        %0 = "ttir.reshape"(%arg1) <{shape = [1 : i32, 70 : i32]}>
            : (tensor<70xf32>) -> tensor<1x70xf32>
        %1 = "ttir.broadcast"(%0) <{broadcast_dimensions = array<i64: 33, 1>}>
            : (tensor<1x70xf32>) -> tensor<33x70xf32>
        %2 = "ttir.add"(%arg0, %1) : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
        return %2 : tensor<33x70xf32>
      }
    }

Requires: ttir of 2026.
Ensures: the operands of elementwise operations have the shape of the result.
Options: none.
Not done here: products, which repeat batches themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.ir.greedy_rewriting import GreedyRewriter, Rule
from ttmlir.ir.tensor_types import tensor_like, value_shape
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.ttir.ttir_implicit_broadcast_fold import elementwise_names

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation


@dataclass(frozen=True)
class TTIRExplicateTMsPass(ModulePass):
    """Write what elementwise operations do to the shapes of their operands as operations."""

    name = "ttir-explicate-tms"
    title = "TTIRExplicateTMs"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Reshape and repeat operands."""
        rules: dict[str, tuple[Rule, ...]] = dict.fromkeys(elementwise_names(), (_explicate,))
        GreedyRewriter(rules, top_down=True).run(module)


def _explicate(op: Operation, rewriter: GreedyRewriter) -> bool:
    changed = False
    shape = value_shape(op.results[0])
    for index, operand in enumerate(op.operands):
        extents = value_shape(operand)
        if extents == shape or 0 in shape:
            continue
        builder = rewriter.builder(op)
        extents = (1,) * (len(shape) - len(extents)) + extents
        value = builder.reshape(operand, extents)
        factors = tuple(whole // part for whole, part in zip(shape, extents, strict=True))
        if extents != shape:
            type_ = tensor_like(operand, shape)
            value = builder.create("broadcast", (value,), type_, broadcast_dimensions=factors)
        rewriter.set_operand(op, index, value)
        changed = True
    return changed

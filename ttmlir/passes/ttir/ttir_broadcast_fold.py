"""Repeat results instead of operands.

Where all operands of an elementwise operation are repeated, it computes less before: the result is
repeated, once.

Before:

    func.func @main(%a: tensor<5x1xf32>, %b: tensor<1x1xf32>) -> tensor<5x33xf32> {
      %0 = "ttir.broadcast"(%a) <{broadcast_dimensions = array<i64: 1, 33>}> :
          (tensor<5x1xf32>) -> tensor<5x33xf32>
      %1 = "ttir.add"(%0, %b) : (tensor<5x33xf32>, tensor<1x1xf32>) -> tensor<5x33xf32>
      return %1 : tensor<5x33xf32>
    }

After:

    module {
      func.func @main(%arg0: tensor<5x1xf32>, %arg1: tensor<1x1xf32>) -> tensor<5x33xf32> {
        %0 = "ttir.add"(%arg0, %arg1) : (tensor<5x1xf32>, tensor<1x1xf32>) -> tensor<5x1xf32>
        %1 = "ttir.broadcast"(%0) <{broadcast_dimensions = array<i64: 1, 33>}> :
            (tensor<5x1xf32>) -> tensor<5x33xf32>
        return %1 : tensor<5x33xf32>
      }
    }

Requires: static shapes.
Ensures: the operands of an elementwise operation that come from broadcasts are not all of the
extents that are repeated; the results are the same.
Options: none.
Not done here: `ttir-implicit-broadcast-fold` leaves broadcasts out where the operation repeats.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.ir import Operation, SSAValue

from ttmlir.dialects.ttir import ElementwiseOp
from ttmlir.ir.tensor_types import tensor_like, value_shape
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.ttir.ttir_implicit_broadcast_fold import (
    ELEMENTWISE,
    broadcast_shape,
    broadcast_source,
    remade,
)
from ttmlir.passes.ttir.value_rewriting import inputs_of, is_plain, rewrite_values

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

    from ttmlir.ir.builder import Builder


@dataclass(frozen=True)
class TTIRBroadcastFoldPass(ModulePass):
    """Repeat results instead of operands."""

    name = "ttir-broadcast-fold"
    title = "TTIRBroadcastFold"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Move the broadcasts before every elementwise operation behind it."""
        rewrite_values(module, dict.fromkeys(ELEMENTWISE, [_move]))


def _move(op: Operation, builder: Builder) -> SSAValue | None:
    if not isinstance(op, ElementwiseOp) or not is_plain(op):
        return None
    operands = [broadcast_source(value) for value in inputs_of(op)]
    result = op.results[0]
    shape = broadcast_shape([value_shape(value) for value in operands])
    if shape == value_shape(result):
        return None
    new = remade(op, builder, operands, tensor_like(result, shape))
    return builder.broadcast(new, value_shape(result))

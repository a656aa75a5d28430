"""Write permutations as exchanges of the last two dimensions and orders of those before the last.

Before:

    func.func @main(%a: tensor<2x3x5xf32>) -> tensor<3x5x2xf32> {
      %0 = "ttir.permute"(%a) <{permutation = array<i64: 1, 2, 0>}>
          : (tensor<2x3x5xf32>) -> tensor<3x5x2xf32>
      return %0 : tensor<3x5x2xf32>
    }

After:

    module {
      func.func @main(%arg0: tensor<2x3x5xf32>) -> tensor<3x5x2xf32> {
        %0 = "ttir.permute"(%arg0) <{permutation = array<i64: 1, 0, 2>}>
            : (tensor<2x3x5xf32>) -> tensor<3x2x5xf32>
        %1 = "ttir.permute"(%0) <{permutation = array<i64: 0, 2, 1>}>
            : (tensor<3x2x5xf32>) -> tensor<3x5x2xf32>
        return %1 : tensor<3x5x2xf32>
      }
    }

Requires: ttir of 2026.
Ensures: a permutation exchanges the last two dimensions, which transposes tiles, or leaves the last
one in its place.
Options: none.
Not done here: nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.ir.greedy_rewriting import GreedyRewriter
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.ttir.value_rewriting import adapted, parameters_of

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.builder import Builder


@dataclass(frozen=True)
class TTIRDecomposeComplexPermutePass(ModulePass):
    """Write permutations as exchanges of the last two dimensions and orders of those before."""

    name = "ttir-decompose-complex-permute"
    title = "TTIRDecomposeComplexPermute"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Decompose every permutation that does both."""
        GreedyRewriter(adapted({"permute": (_decompose,)})).run(module)


def _decompose(op: Operation, build: Builder) -> SSAValue | None:
    order: tuple[int, ...] = parameters_of(op)["permutation"]
    rank = len(order)
    exchange = (*range(rank - 2), rank - 1, rank - 2)
    if rank < 3 or order[-1] == rank - 1 or order == exchange:
        return None
    # The dimension that becomes the last one is brought before it, and exchanged with it.
    others = [dim for dim in order[:-1] if dim != rank - 1]
    place = order.index(rank - 1)
    value = build.permute(op.operands[0], (*others, order[-1], rank - 1))
    value = build.permute(value, exchange)
    return build.permute(value, (*range(place), rank - 2, *range(place, rank - 2), rank - 1))

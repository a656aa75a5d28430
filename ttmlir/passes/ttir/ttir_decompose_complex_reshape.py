"""Write reshapes that give or take a last dimension of extent 1 as permutation and reshape.

Before:

    func.func @main(%a: tensor<3x40x1xf32>) -> tensor<3x40xf32> {
      %0 = "ttir.reshape"(%a) <{shape = [3 : i32, 40 : i32]}>
          : (tensor<3x40x1xf32>) -> tensor<3x40xf32>
      return %0 : tensor<3x40xf32>
    }

After:

    module {
      func.func @main(%arg0: tensor<3x40x1xf32>) -> tensor<3x40xf32> {
        %0 = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 1>}>
            : (tensor<3x40x1xf32>) -> tensor<3x1x40xf32>
        %1 = "ttir.reshape"(%0) <{shape = [3 : i32, 40 : i32]}>
            : (tensor<3x1x40xf32>) -> tensor<3x40xf32>
        return %1 : tensor<3x40xf32>
      }
    }

Requires: ttir of 2026.
Ensures: no reshape has a last extent of 1 on one side and the extent before it as the last of the
other: a permutation, which transposes tiles, moves it between columns and rows.
Options: none.
Not done here: reshapes to which more happens stay; `canonicalize` makes reshapes of them again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.ir.greedy_rewriting import GreedyRewriter
from ttmlir.ir.tensor_types import value_shape
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.ttir.value_rewriting import adapted

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.builder import Builder
    from ttmlir.passes.ttir.value_rewriting import Shape


@dataclass(frozen=True)
class TTIRDecomposeComplexReshapePass(ModulePass):
    """Write reshapes that give or take a last dimension of extent 1 as permutation and reshape."""

    name = "ttir-decompose-complex-reshape"
    title = "TTIRDecomposeComplexReshape"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Decompose every reshape that turns a column into a row, or back."""
        GreedyRewriter(adapted({"reshape": (_decompose,)})).run(module)


def _decompose(op: Operation, build: Builder) -> SSAValue | None:
    source, result = value_shape(op.operands[0]), value_shape(op.results[0])
    if _is_column_of(source, result):
        row = build.permute(op.operands[0], _exchange(len(source)))
        return build.reshape(row, result)
    if _is_column_of(result, source):
        row = build.reshape(op.operands[0], (*result[:-2], 1, result[-2]))
        return build.permute(row, _exchange(len(result)))
    return None


def _is_column_of(column: Shape, row: Shape) -> bool:
    """True if the one extent before a last one of 1 is the last of the other shape."""
    return (
        len(column) > 1
        and len(row) > 0
        and column[-1] == 1
        and column[-2] != 1
        and row[-1] == column[-2]
    )


def _exchange(rank: int) -> Shape:
    return (*range(rank - 2), rank - 1, rank - 2)
